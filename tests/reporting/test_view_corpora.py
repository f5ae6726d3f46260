"""A study of several corpora as blocks: all of them together, a planned pair, and corpora unlike the others."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from deadheat.questions.study import study_verdict
from deadheat.reporting.model import Verdict
from deadheat.reporting.views import headline, view
from deadheat.results.compare import PairwiseSettings
from deadheat.results.study import StudyResult
from tests.reporting.blocks import column, drawn, headings, rows, section, tables, texts
from tests.reporting.test_view_study import ACCURACY, block_of
from tests.reporting.test_view_study import bed as bed
from tests.reporting.test_view_study import two as two
from tests.results.samples import study_of_corpora


def test_all_corpora_together_decide(two: StudyResult) -> None:
    """Over random splits first; the numbers are those of the joint comparison."""
    by_unit = {comparison.unit: comparison for comparison in two.comparisons if comparison.dataset == "test"}
    assert by_unit.keys() == {"split", "document or sentence"}
    assert two.verdict.claims == by_unit["split"].verdict.claims
    assert two.verdict.sources == ["these data sets", "data sets like these"]
    joint = by_unit["split"]
    means = {row.system: row.value for row in joint.systems}
    for pair in joint.pairs:
        by_corpus = [
            (1 if item.a == pair.a else -1) * item.overall.difference
            for corpus in ("velani", "dzari")
            for item in block_of(two, corpus, "test", "random").pairs
            if {item.a, item.b} == {pair.a, pair.b}
        ]
        assert pair.difference == pytest.approx(np.mean(by_corpus)) == pytest.approx(means[pair.a] - means[pair.b])
        assert [row.difference for row in pair.by_dataset] == pytest.approx(by_corpus)
    shown = section(view(two), f"2 corpora together: {ACCURACY} on test over random splits")
    names = [table.name for table in tables(view(two)) if table.name]
    assert len(set(names)) == len(names)
    assert len(drawn(shown)) == 3  # a forest for every pair
    systems, pairs, differences = tables(shown)
    assert column(systems, joint.ranked[0].system)["average"] == f"{100 * joint.ranked[0].value:.2f}"
    assert len(rows(pairs)) == 3
    assert len(rows(differences)) == 6


def test_a_planned_pair_comes_first_and_is_said_to_be_planned() -> None:
    result = study_of_corpora()
    assert result.hypothesis == "unigram > majority"
    first = result.verdict.claims[0]
    assert first.is_planned
    assert {first.better, first.worse} == {"unigram", "majority"}
    assert headline(result).startswith("Planned comparison: ")
    (verdict,) = [block for block in view(result) if isinstance(block, Verdict)]
    assert "unigram > majority was planned before the study ran, and is tested alone." in str(verdict.remarks[-1])
    joint = next(item for item in result.comparisons if item.dataset == "test")
    (pair,) = [pair for pair in joint.pairs if {pair.a, pair.b} == {"unigram", "majority"}]
    assert pair.p_corrected == pair.p
    small, large = sorted((item for item in joint.pairs if item is not pair), key=lambda item: item.p)
    assert small.p_corrected == pytest.approx(min(1, 2 * small.p))  # Holm's method for the two others
    assert large.p_corrected == pytest.approx(min(1, max(2 * small.p, large.p)))


def many(two: StudyResult, corpora: int, *, twisted: int = 3) -> StudyResult:
    """The same study on many corpora; on the first of them the order of the systems is turned around."""
    blocks = []
    for at, part in product(range(corpora), ("test", "dev")):
        block = block_of(two, "velani", part, "random")
        ranked = [replace(row, by_run=()) for row in block.ranked]
        means = [0.9 - 0.01 * i + 0.001 * at + 0.02 * (part == "dev") for i in range(len(ranked))]
        means = means[::-1] if at < twisted else means
        rows_ = [replace(row, mean=mean) for row, mean in zip(ranked, means, strict=True)]
        rows_.sort(key=lambda row: -row.mean)
        blocks.append(replace(block, corpus=f"corpus {at}", systems=tuple(rows_), metrics=("accuracy.v1",)))
    verdict, _ = study_verdict(blocks, (), two.metric_names, two.scale, PairwiseSettings())
    return replace(two, blocks=tuple(blocks), verdict=verdict, comparisons=())


def test_many_corpora_are_shown_together_with_the_most_unlike(two: StudyResult) -> None:
    result = many(two, 12)
    blocks = view(result)
    assert headings(blocks)[:5] == [
        f"12 corpora: {ACCURACY} on test",
        f"12 corpora: {ACCURACY} on dev",
        *(f"corpus {at}: {ACCURACY} on test" for at in range(3)),
    ]
    summary, every = tables(section(blocks, f"12 corpora: {ACCURACY} on test"))
    best, worst = (row.system for row in (result.blocks[-2].ranked[0], result.blocks[-2].ranked[-1]))
    assert (column(summary, "first on")[best], column(summary, "first on")[worst]) == ("9", "3")
    mean = np.mean([row.mean for b in result.blocks if b.part == "test" for row in b.ranked if row.system == best])
    assert column(summary, "average")[best] == f"{100 * mean:.2f}"
    assert [row[-1] for row in rows(every)[:4]] == ["-1.000", "-1.000", "-1.000", "1.000"]
    said = " ".join(texts(section(blocks, f"12 corpora: {ACCURACY} on test")))
    assert "On 9 of 12 corpora the systems have the same order as by the average." in said
    (gaps,) = tables(section(blocks, "Dev against test"))
    assert set(column(gaps, "mean of dev - test").values()) == {"+2.00"}
    assert sum(isinstance(block, Verdict) for block in blocks) == 1
    assert len(result.verdict.claims) <= 24
    for corpora in (7, 40):
        assert len(headings(view(many(two, corpora)))) == 2 + 3 + 3


def test_a_system_without_a_score_on_some_corpus_is_averaged_over_the_others(two: StudyResult) -> None:
    result = many(two, 9)
    last = result.blocks[-2]
    lacking = last.ranked[1].system
    short = replace(last, systems=tuple(row for row in last.systems if row.system != lacking), pairs=())
    blocks = view(replace(result, blocks=(*result.blocks[:-2], short, result.blocks[-1])))
    own = section(blocks, f"9 corpora: {ACCURACY} on test")
    assert "Averages are over the 8 corpora on which every system has a score." in texts(own)
    assert column(tables(own)[1], lacking)["corpus 8"] == "-"
