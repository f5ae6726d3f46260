"""Pairs of systems in a study: on every split, on all of them, on all corpora, and what was planned."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from deadheat.metrics.metric import accuracy
from deadheat.questions.study_pairs import SplitTest, pair_over_splits
from deadheat.results.study import OverallTest
from deadheat.results.verdict import State
from deadheat.stats.corrections import holm
from deadheat.stats.differences import corrected_resampled_t
from deadheat.stats.estimates import RunScores
from deadheat.stats.paired import mcnemar
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from tests.study.study_cases import corpus_text, study_file
from tests.study.study_results import (
    SYSTEMS,
    block_of,
    right_counts,
    right_words,
    run_result,
    runs_of,
    standing,
    versioned,
    words_of_splits,
)


@pytest.mark.parametrize("part", ["dev", "test"])
def test_pairs_over_splits_are_mcnemars_test_split_by_split_and_bonferroni_where_asked_for(
    tmp_path: Path, part: str
) -> None:
    path = study_file(tmp_path, SYSTEMS, times=6)
    (tmp_path / "small.conllu").write_text(corpus_text(400))
    block = block_of(run_result(path, "compare.test=mcnemar-midp", "compare.correction=bonferroni"), part)
    right = right_words(path, part)
    means = {
        name: np.mean([np.mean(right[versioned(name), number, 0]) for number in range(6)]) for name in SYSTEMS.split()
    }
    ranked = sorted(means, key=lambda name: -means[name])
    assert [(pair.a, pair.b) for pair in block.pairs] == list(combinations(ranked, 2))
    for pair in block.pairs:
        p, gaps = [], []
        for number in range(6):
            a, b = (np.array(right[versioned(name), number, 0]) for name in (pair.a, pair.b))
            p.append(mcnemar(int(np.sum(a & ~b)), int(np.sum(b & ~a)), method="midp").p)
            gaps.append(a.mean() - b.mean())
        assert (pair.test, pair.unit) == ("mcnemar-midp", "token")
        assert pair.p == pytest.approx(p, rel=1e-12)
        assert pair.p_corrected == pytest.approx(np.minimum(1, 6 * np.array(p)), rel=1e-12)
        assert pair.difference == pytest.approx(np.mean(gaps), abs=1e-12)
        clear = [gap for gap, p_value in zip(gaps, p, strict=True) if 6 * p_value <= 0.05]
        assert (pair.splits, pair.ahead) == (6, sum(gap > 0 for gap in gaps))
        assert (pair.significant, pair.reversed) == (sum(gap > 0 for gap in clear), sum(gap < 0 for gap in clear))
    assert any(pair.significant for pair in block.pairs)
    assert any(pair.significant < pair.splits for pair in block.pairs)


def test_pairs_are_tested_on_every_split_by_all_seeds_and_holm(tmp_path: Path) -> None:
    path = study_file(tmp_path, "majority unigram perceptron", "seeds = 3", times=4)
    (tmp_path / "small.conllu").write_text(corpus_text(200))
    block = block_of(run_result(path), "test")
    counts, seeds = right_counts(path, "test"), {"majority": 1, "unigram": 1, "perceptron": 3}
    assert len(block.pairs) == 3
    for pair in block.pairs:
        estimates = []
        for number in range(4):
            a, b = (runs_of(counts, name, number, seeds[name]) for name in (pair.a, pair.b))
            estimates.append(a.minus(b).estimate)
        p = [estimate.p for estimate in estimates]
        assert (pair.test, pair.unit, pair.splits) == ("clustered-t", "sentence", 4)
        assert pair.p == pytest.approx(p, rel=1e-9)
        assert pair.p_corrected == pytest.approx(holm(p), rel=1e-9)
        assert pair.difference == pytest.approx(np.mean([estimate.value for estimate in estimates]))
        assert pair.significant == sum(value <= 0.05 for value in holm(p))
        assert not pair.overall.about_runs


def test_other_tests_and_corrections_are_used_as_asked_for(tmp_path: Path) -> None:
    path = study_file(tmp_path, times=2)
    block = block_of(run_result(path, "compare.test=sign", "compare.correction=none"), "test")
    [pair] = block.pairs
    assert (pair.test, pair.unit) == ("sign", "sentence")
    assert pair.p == pair.p_corrected
    for metric in ("sentence-accuracy", "upos"):
        [pair] = block_of(run_result(path, f"metrics=['{metric}']"), "test").pairs
        assert pair.test == "clustered-t"
    [pair] = block_of(run_result(path, "metrics=['unknown']", "splits.seed=7"), "dev").pairs
    assert 1 <= pair.splits <= 2


def test_a_split_counts_for_the_system_that_the_test_favours() -> None:
    tests = [SplitTest("sign", "sentence", 0.001, 0.3, -19.0), SplitTest("sign", "sentence", 0.001, 0.2, 4.0)]
    third = SplitTest("sign", "sentence", 0.9, 0.1, -1.0)
    pair = pair_over_splits(("a", "b"), [*tests, third], "bonferroni", 0.05)
    assert (pair.ahead, pair.significant, pair.reversed) == (3, 1, 1)
    overall = OverallTest(0.3, 0.1, 0.5, 0.001, 0.001, 1, 1)  # the interval is of the scores
    single = pair_over_splits(("a", "b"), tests[:1], "bonferroni", 0.05, overall)
    assert (single.state(0.05), single.winner(0.05)) == (State.OPPOSITE, "b")


def test_splits_together_are_tested_by_the_corrected_resampled_t_test(tmp_path: Path) -> None:
    path = study_file(tmp_path, f"{SYSTEMS} perceptron", "seeds = 2", times=6)
    (tmp_path / "small.conllu").write_text(corpus_text(400))
    result = run_result(path)
    block = block_of(result, "test")
    share = sum(words_of_splits(path, "test", 6)) / sum(words_of_splits(path, "train", 6))
    gaps = {}
    for pair in block.pairs:
        a, b = (np.array(standing(block, name, "accuracy.v1").by_split) for name in (pair.a, pair.b))
        gaps[pair.a, pair.b] = a - b
    p = [corrected_resampled_t(gap, test_share=share).p for gap in gaps.values()]
    for pair, raw, corrected in zip(block.pairs, p, holm(p).tolist(), strict=True):  # for all six pairs
        gap, test = gaps[pair.a, pair.b], pair.overall
        assert (test.p, test.p_corrected) == pytest.approx((raw, corrected))
        widened = corrected_resampled_t(gap, test_share=share, alpha=0.05 * raw / corrected)
        assert (test.difference, test.low, test.high) == pytest.approx((gap.mean(), widened.low, widened.high))
        assert (test.low > 0 or test.high < 0) == (corrected <= 0.05)
        assert (test.splits, test.ahead) == (6, int(np.count_nonzero(gap > 0)))
    claims = {(claim.better, claim.worse): claim for claim in result.verdict.claims}
    assert list(claims) == list(pairwise(row.system for row in block.ranked))
    for pair in block.pairs:
        if (pair.a, pair.b) in claims:
            (evidence,) = claims[pair.a, pair.b].evidence
            assert (evidence.source, evidence.count, evidence.ahead) == ("splits", 6, pair.overall.ahead)
            assert (evidence.state is State.SHOWN) == (pair.overall.p_corrected <= 0.05)
            assert (evidence.margin, evidence.detectable) == (0.005, pair.overall.detectable)
    assert {evidence.state for claim in claims.values() for evidence in claim.evidence} >= {State.SHOWN}
    assert result.verdict.omitted == 6 - 3


def test_a_single_split_is_evidence_by_its_sentences_and_systems_without_chance_are_no_runs(tmp_path: Path) -> None:
    path = study_file(tmp_path, SYSTEMS, times=1)
    (tmp_path / "small.conllu").write_text(corpus_text(400))
    result = run_result(path)
    counts, pairs = right_counts(path, "test"), block_of(result, "test").pairs
    expected = [runs_of(counts, pair.a, 0, 1).minus(runs_of(counts, pair.b, 0, 1)).estimate for pair in pairs]
    assert [pair.p[0] for pair in pairs] == pytest.approx([estimate.p for estimate in expected])
    corrected = dict(zip(((pair.a, pair.b) for pair in pairs), holm([pair.p[0] for pair in pairs]), strict=True))
    for claim in result.verdict.claims:
        (evidence,) = claim.evidence
        assert (evidence.source, evidence.ahead, claim.dataset) == ("sentences", None, "small")
        assert evidence.p == pytest.approx(corrected[claim.better, claim.worse])  # three pairs
        assert not claim.about_runs  # another run would be the same


@pytest.mark.parametrize(("seeds", "about_runs"), [(1, True), (2, False)])
def test_one_seed_beside_a_system_without_chance_is_about_this_run(
    tmp_path: Path, seeds: int, *, about_runs: bool
) -> None:
    path = study_file(tmp_path, "hmm perceptron", f"seeds = {seeds}", times=1)
    (tmp_path / "small.conllu").write_text(corpus_text(300))
    result = run_result(path)
    (claim,) = result.verdict.claims
    assert claim.about_runs == about_runs
    (pair,) = block_of(result, "test").pairs
    counts = right_counts(path, "test")
    numbers = {"hmm": 1, "perceptron": seeds}
    a, b = (runs_of(counts, name, 0, numbers[name]) for name in (pair.a, pair.b))
    assert pair.p[0] == pytest.approx(a.minus(b).estimate.p)
    if seeds > 1:  # of the perceptron alone: the other system adds nothing
        scores = [np.mean(right_words(path, "test")["perceptron.v2", 0, seed]) for seed in range(seeds)]
        assert a.minus(b).variance_of("runs") == pytest.approx(np.var(scores, ddof=1) / seeds)


DOCUMENTS = 12


def with_documents(sentences: int, seed: int = 0) -> str:
    """The same sentences in twelve documents."""
    blocks = corpus_text(sentences, seed).strip().split("\n\n")
    each = sentences // DOCUMENTS
    return (
        "\n\n".join(f"# newdoc id = d{at // each}\n" * (at % each == 0) + row for at, row in enumerate(blocks)) + "\n\n"
    )


def test_documents_are_the_units_where_they_are_marked(tmp_path: Path) -> None:
    path = study_file(tmp_path, times=2)
    (tmp_path / "small.conllu").write_text(with_documents(240))
    result = run_result(path, "evaluate=['test']")
    (pair,) = result.blocks[0].pairs
    assert pair.unit == "document"
    plan = Plan.of(path)
    for at, split in enumerate(plan.corpus_splits[:2]):
        rows = plan.partition(split).parts["test"]
        documents = plan.materials["small"].corpus.documents[rows]
        sums = []
        for name in (pair.a, pair.b):
            with Store.read(plan.store_path) as store:
                keys = [
                    cell.key for cell in plan.cells if (plan.labels[cell.system], cell.number) == (name, split.number)
                ]
                counts = store.counts(keys, part="test", metric="accuracy.v1")[0, :, :3]
            sums.append(np.stack([counts[documents == code].sum(axis=0) for code in np.unique(documents)]))
        a, b = (RunScores.of(rows_NF[None], accuracy) for rows_NF in sums)
        assert pair.p[at] == pytest.approx(a.minus(b).estimate.p)
    few = run_result(path, "evaluate=['test']", "splits.unit=document")  # a tenth of twelve documents is one
    assert few.blocks[0].pairs[0].unit == "sentence"


def test_a_hypothesis_is_tested_alone_and_comes_first(tmp_path: Path) -> None:
    path = study_file(tmp_path, SYSTEMS, "[hypothesis]\nprimary = 'hmm > majority'\nmargin = 2", times=3)
    (tmp_path / "small.conllu").write_text(corpus_text(300))
    result = run_result(path)
    pairs = {frozenset((pair.a, pair.b)): pair.overall for pair in block_of(result, "test").pairs}
    planned = pairs.pop(frozenset(("majority", "hmm")))
    assert planned.p_corrected == planned.p
    assert [test.p_corrected for test in pairs.values()] == pytest.approx(holm([test.p for test in pairs.values()]))
    first, *others = result.verdict.claims
    assert {first.better, first.worse} == {"majority", "hmm"}
    assert (first.is_planned, any(claim.is_planned for claim in others)) == (True, False)
    assert str(result).startswith("Planned comparison: ")
    assert (result.hypothesis, result.margin) == ("hmm > majority", 2)
    assert {test.margin for test in pairs.values()} == {0.02}


def two_corpora(folder: Path, more: str = "", *, times: int) -> Path:
    path = study_file(folder, SYSTEMS, more, times=times)
    (folder / "small.conllu").write_text(corpus_text(200))
    (folder / "other.conllu").write_text(corpus_text(240, seed=5))
    return path


@pytest.mark.parametrize(("times", "test"), [(1, "clustered-t"), (3, "corrected-resampled-t")])
def test_corpora_together_are_the_average_of_their_estimates(tmp_path: Path, times: int, test: str) -> None:
    """The estimate of a corpus is found again from the p-values and differences of its block."""
    path = two_corpora(tmp_path, times=times)
    result = run_result(path, "corpora.other.files=other.conllu", "evaluate=['test']", "compare.correction=none")
    (comparison,) = result.comparisons
    assert (comparison.test, comparison.dataset) == (test, "test")
    assert [row.dataset for row in comparison.datasets] == ["small", "other"]
    for pair in comparison.pairs:
        rows = []
        for block in result.blocks:
            (found,) = [item for item in block.pairs if {item.a, item.b} == {pair.a, pair.b}]
            sign = 1 if found.a == pair.a else -1
            rows.append(
                (sign * found.overall.difference, (found.overall.high - found.overall.low) / 2, found.overall.p)
            )
        assert pair.difference == pytest.approx(np.mean([gap for gap, *_ in rows]))
        assert [row.difference for row in pair.by_dataset] == pytest.approx([gap for gap, *_ in rows])
        assert [row.p for row in pair.by_dataset] == pytest.approx([p for *_, p in rows])
        reaches = [(row.interval.high - row.interval.low) / 2 for row in pair.by_dataset]
        assert reaches == pytest.approx([reach for _, reach, _ in rows])
        assert pair.elsewhere is not None
        assert pair.elsewhere.p >= pair.p * (1 - 1e-9)
    assert result.verdict.claims == comparison.verdict.claims
    assert [evidence.source for evidence in result.verdict.claims[0].evidence] == [
        "these data sets",
        "data sets like these",
    ]


def test_p_values_are_corrected_for_all_pairs_on_all_corpora(tmp_path: Path) -> None:
    path = two_corpora(tmp_path, "[hypothesis]\nprimary = 'unigram > majority'", times=2)
    result = run_result(path, "corpora.other.files=other.conllu", "evaluate=['test']")
    tests = [pair.overall for block in result.blocks for pair in block.pairs]
    assert len(tests) == 6
    assert [test.p_corrected for test in tests] == pytest.approx(holm([test.p for test in tests]))
    (comparison,) = result.comparisons
    planned, *others = comparison.pairs
    assert {planned.a, planned.b} == {"unigram", "majority"}
    assert planned.p_corrected == planned.p  # planned for all corpora together
    assert [pair.p_corrected for pair in others] == pytest.approx(holm([pair.p for pair in others]))
    assert result.verdict.claims[0].is_planned


def test_splits_that_repeat_count_once(tmp_path: Path) -> None:
    """Four sentences of which one is tested make four different splits at most."""
    path = study_file(tmp_path, times=12)
    (tmp_path / "small.conllu").write_text(corpus_text(4))
    result = run_result(path, "splits.sizes='train=3 sentences,test=1 sentences'", "evaluate=['test']")
    (pair,) = result.blocks[0].pairs
    assert pair.splits == 12
    assert pair.overall.splits <= 4
    assert any("splits repeat others" in note for note in result.notes)
