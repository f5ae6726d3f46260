from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from deadheat.pages.section import Section
from deadheat.pages.study import sections

from deadheat.charts.chart import Chart
from deadheat.documents import Document
from deadheat.questions.run import run
from deadheat.questions.study import StudyResult
from deadheat.report.model import Block
from deadheat.study.store.store import Store
from deadheat.testbed import write_testbed
from tests.pages.section_checks import HOSTILE, check, column, drawn, rows, section, shown, texts

LABEL = HOSTILE[0]
STUDY = """
name = "two languages"
metrics = ["accuracy", "sentence-accuracy"]
[corpora.velani]
files = "bed/velani"
[corpora.dzari]
files = "bed/dzari"
[[splits]]
strategy = "standard"
[[splits]]
strategy = "random"
times = 5
unit = "document"
[[systems]]
name = "majority"
[[systems]]
name = "hmm"
[[systems]]
name = "perceptron"
label = "{label}"
seeds = 3
[[systems]]
name = "command"
label = "broken"
train = "true"
predict = "false"
[engine]
workers = 2
"""


@dataclass(frozen=True, eq=False)
class Ran:
    """A study that was run, and the frames of its store."""

    document: Mapping[str, Any]
    result: StudyResult
    scores: pl.DataFrame
    runs: pl.DataFrame
    provenance: list[dict[str, Any]]

    @property
    def make(self) -> Callable[[Document], list[Section]]:
        return partial(sections, scores=self.scores, runs=self.runs)

    def block(self, corpus: str, part: str, split: str) -> Block:
        (found,) = [
            each
            for each in self.result.blocks
            if (each.corpus, each.part) == (corpus, part) and each.split.startswith(split)
        ]
        return found

    def values(self, corpus: str, part: str, split: str, system: str) -> list[float]:
        """Accuracies as the store has them."""
        chosen = pl.col("split").str.starts_with(split) & pl.col("system").str.starts_with(system)
        own = self.scores.filter(chosen).filter(corpus=corpus, part=part, metric="accuracy.v1")
        found: list[float] = own["value"].to_list()
        return found


def ran(path: Path, *overrides: str) -> Ran:
    found = run(path, overrides=overrides)
    with Store.read(found.store) as store:
        return Ran(found.to_dict(), found.result, store.scores(), store.runs(), store.provenances())


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    write_testbed(folder / "bed", sentences=240, languages=["velani", "dzari"], seeds=[])
    (folder / "study.toml").write_text(STUDY.format(label=LABEL))
    return folder


@pytest.fixture(scope="module")
def two(bed: Path) -> Ran:
    return ran(bed / "study.toml")


def smaller(folder: Path, bed: Path, splits: str, systems: str = "majority hmm", more: str = "") -> Path:
    """A study of one language."""
    entries = "".join(f"[[systems]]\nname = {name!r}\n" for name in systems.split())
    corpus = f"[corpora.velani]\nfiles = '{bed / 'bed/velani'}'\n"
    (folder / "study.toml").write_text(f"{more}\n{corpus}{splits}{entries}[engine]\nworkers = 2\n")
    return folder / "study.toml"


def values_of(chart: Chart, name: str) -> list[float]:
    """What a chart of distributions has of one system."""
    return [float(str(value)) for system, value in chart.rows if system == name]


def test_test_comes_before_dev_and_all_figures_can_be_drawn(two: Ran) -> None:
    made = check(two.make, two.document)
    assert [each.heading for each in made] == [
        "velani: accuracy on test",
        "dzari: accuracy on test",
        "velani: accuracy on dev",
        "dzari: accuracy on dev",
        "Dev against test",
        "Where the systems agree",
        "What was run",
    ]
    names = [figure.name for each in made for figure in each.figures]
    assert len(names) == len(set(names))


def test_standings_are_those_of_the_result(two: Ran) -> None:
    table = section(two.make(two.document), "velani: accuracy on test").tables[0]
    standard, random = (two.block("velani", "test", split) for split in ("standard", "random"))
    places = [place for place, name in enumerate(table.header) if name.startswith("accuracy, ")]
    assert [table.header[place] for place in places] == ["accuracy, standard", "accuracy, random(unit='document')"]
    by_name = {row[0]: row for row in table.rows}
    for place, block in zip(places, (standard, random), strict=True):
        for each in block.standings:
            if each.metric == "accuracy.v1":
                mean, spread, _, runs = by_name[each.system][place : place + 4]
                low, high = each.interval if block is standard and each.interval else (each.least, each.most)
                assert (mean, runs) == (f"{100 * each.mean:.2f}", str(each.runs))
                assert spread == f"{100 * low:.2f} to {100 * high:.2f}"
    assert [row[0] for row in table.rows] == [LABEL, "hmm", "majority"]
    others = section(two.make(two.document), "velani: accuracy on test").tables[1]
    assert others.folded
    assert others.header[1] == "sentence-accuracy"


def test_the_standard_split_is_drawn_beside_random_ones(two: Ran) -> None:
    chart = drawn(two.make(two.document))["study-velani-test-accuracy-splits"]
    standard, random = (two.block("velani", "test", split) for split in ("standard", "random"))
    told = rows(chart)
    for block, name in ((standard, "standard"), (random, "random")):
        for each in block.standings:
            if each.metric != "accuracy.v1":
                continue
            own = [row for row in told if row["name"] == each.system and name in str(row["split"])]
            assert sorted(row["value"] for row in own) == pytest.approx(sorted(100 * value for value in each.by_split))
            if block is standard:
                assert each.interval is not None
                assert [own[0]["low"], own[0]["high"]] == pytest.approx([100 * end for end in each.interval])
    assert len(told) == 3 * (1 + 5)


def test_pairs_say_on_how_many_splits_one_is_better(two: Ran) -> None:
    made = section(two.make(two.document), "velani: accuracy on test")
    block = two.block("velani", "test", "random")
    table = made.tables[-1]
    assert len(table.rows) == len(block.pairs) == 3
    for row, pair in zip(table.rows, block.pairs, strict=True):
        counts = [f"{count} of 5" for count in (pair.ahead, pair.significant, pair.reversed)]
        assert list(row[:5]) == [f"{pair.a} - {pair.b}", f"{100 * pair.difference:+.2f}", *counts]
    said = next(each for each in made.said if each.startswith("Over 5 splits (random(unit='document')), by the test"))
    first, _, last = block.pairs
    assert f"{first.a} is better than {first.b} on {first.significant} of 5 splits" in said
    assert f"{last.a} is better than {last.b} on {last.significant} of 5 splits" in said
    cells = {(row["row"], row["column"]): row for row in rows(drawn([made])[made.figures[-1].name])}
    for pair in block.pairs:
        cell = cells[pair.a, pair.b]
        assert cell["difference"] == pytest.approx(100 * pair.difference)
        assert cell["significant"] == ("yes" if pair.significant >= 4 and not pair.reversed else "no")
    assert {row["significant"] for row in cells.values()} == {"yes", "no"}
    assert any("mcnemar-midp on every split, bonferroni over the splits, alpha 0.05" in note for note in made.notes)


def test_a_pair_on_the_standard_split_has_its_p_value(two: Ran) -> None:
    made = section(two.make(two.document), "dzari: accuracy on test")
    block = two.block("dzari", "test", "standard")
    said = next(each for each in made.said if each.startswith("On the standard split, by the test: "))
    for pair in (block.pairs[0], block.pairs[-1]):
        verdict = "is better than" if pair.significant else "is not told apart from"
        assert f"{pair.a} {verdict} {pair.b} (p = " in said


def test_dev_and_test_of_the_same_runs_are_set_against_each_other(two: Ran) -> None:
    made = section(two.make(two.document), "Dev against test")
    chart = drawn([made])["study-velani-test-accuracy-dev-and-test"]
    points = sorted((row[1], row[2]) for row in chart.rows if row[0] == LABEL)
    expected = [
        (100 * dev, 100 * test)
        for split in ("standard", "random")
        for dev, test in zip(
            two.values("velani", "dev", split, "perceptron"),
            two.values("velani", "test", split, "perceptron"),
            strict=True,
        )
    ]
    assert len(expected) == 3 + 15
    assert np.array(points, float) == pytest.approx(np.array(sorted(expected)))
    gaps = {row[:3]: row[-1] for row in made.tables[0].rows}
    for corpus in ("velani", "dzari"):
        for split in ("standard", "random"):
            means = [np.mean(two.values(corpus, part, split, "hmm")) for part in ("dev", "test")]
            way = "standard" if split == "standard" else "random(unit='document')"
            assert gaps[corpus, way, "hmm"] == f"{100 * (means[0] - means[1]):+.2f}"
    assert any(note.startswith("dev was used in training") for note in made.notes)


def test_agreement_is_told_and_the_disputed_sentences_are_drawn(two: Ran) -> None:
    made = section(two.make(two.document), "Where the systems agree")
    block = two.block("velani", "test", "standard")
    (found,) = block.agreement
    assert f"Krippendorff's alpha of all systems on upos is {found.alpha:.3f}" in made.said[0]
    assert f"some system is right on {100 * found.oracle:.2f} % of the words" in made.said[0]
    assert len(made.figures) == min(4, len(found.sentences))
    charts = drawn([made])
    for place, sentence in enumerate(found.sentences[:4], start=1):
        chart = charts[f"study-disagreement-{place}"]
        assert [row[0] if row[0] in sentence.words else row[1] for row in chart.rows] == list(sentence.words)
    random = two.block("velani", "test", "random")
    (row,) = [row for row in made.tables[0].rows if row[:3] == ("velani", "test", "random(unit='document')")]
    assert row[4] == f"{np.mean([each.alpha for each in random.agreement]):.3f}"


def test_what_was_run_and_what_failed_is_listed_with_its_reason(two: Ran) -> None:
    made = section(two.make({**two.document, "provenance": two.provenance}), "What was run")
    assert made.said[0] == "Of 72 cells, each one training with its predictions, 60 are done and 12 failed."
    assert "All that ran took" in made.said[1]
    tables = {table.header[0]: table for table in made.tables}
    assert column(tables["corpus"], "words") == {
        each["corpus"]: f"{each['words']:,}" for each in two.document["corpora"]
    }
    systems = next(table for table in made.tables if "name with settings" in table.header)
    assert column(systems, "name with settings")[LABEL] == "perceptron.v1"
    assert column(systems, "seeds")[LABEL] == "0 to 2"
    assert (column(systems, "done")[LABEL], column(systems, "failed")["broken"]) == ("36", "12")
    failures = next(table for table in made.tables if table.header[-1] == "why")
    assert len(failures.rows) == 12
    assert {row[0] for row in failures.rows} == {"broken"}
    assert all("predict command" in row[-1] for row in failures.rows)
    machine = tables["host"].rows[0]
    assert f"python {two.provenance[0]['python']}" in machine[3]
    unnamed = {key: value for key, value in two.document.items() if key != "failed"}
    again = section(two.make(unnamed), "What was run")
    assert len(next(table for table in again.tables if table.header[-1] == "why").rows) == 12


def test_the_document_alone_is_enough_for_all_that_is_about_splits(two: Ran) -> None:
    alone = check(sections, two.document)
    both = two.make(two.document)
    for heading in ("velani: accuracy on test", "dzari: accuracy on dev", "Where the systems agree"):
        assert shown([section(alone, heading)]) == shown([section(both, heading)])
    chart = drawn(alone)["study-velani-test-accuracy-dev-and-test"]
    assert len([row for row in chart.rows if row[0] == LABEL]) == 1 + 5  # means over seeds
    assert not [text for text in texts(alone) if "of CPU" in text]


def test_systems_under_their_labels_are_the_same_as_under_their_names(two: Ran) -> None:
    labels = two.document["systems"]
    renamed = [frame.with_columns(pl.col("system").replace(labels)) for frame in (two.scores, two.runs)]
    assert shown(sections(two.document, *renamed)) == shown(two.make(two.document))


def test_without_a_standard_split_the_runs_are_drawn_as_distributions(tmp_path: Path, bed: Path) -> None:
    splits = "[splits]\nstrategy = 'random'\ntimes = 3\n"
    found = ran(smaller(tmp_path, bed, splits, "majority perceptron", "seeds = 2"))
    made = check(found.make, found.document)
    charts = drawn(made)
    values = values_of(charts["study-velani-test-accuracy-scores"], "perceptron")
    expected = found.values("velani", "test", "random", "perceptron")
    assert len(expected) == 6
    assert sorted(values) == pytest.approx(sorted(100 * each for each in expected))
    stale = found.scores.filter(~((pl.col("number") == 2) & (pl.col("seed") == 1)))
    fewer = drawn(sections(found.document, stale, found.runs))["study-velani-test-accuracy-scores"]
    means = [100 * each for each in found.block("velani", "test", "random").standings[0].by_split]
    assert sorted(values_of(fewer, "perceptron")) == pytest.approx(sorted(means))


def test_a_single_run_has_its_interval(tmp_path: Path, bed: Path) -> None:
    found = ran(smaller(tmp_path, bed, "[splits]\nstrategy = 'standard'\n"))
    charts = drawn(check(found.make, found.document))
    told = {row["name"]: row for row in rows(charts["study-velani-test-accuracy-scores"])}
    for each in found.block("velani", "test", "standard").standings[:2]:
        assert each.interval is not None
        values = [told[each.system][name] for name in ("value", "low", "high")]
        assert values == pytest.approx([100 * value for value in (each.mean, *each.interval)])


def test_seeds_of_splits_are_told_apart_by_the_runs(tmp_path: Path, bed: Path) -> None:
    splits = "".join(f"[[splits]]\nstrategy = 'random'\ntimes = 2\nseed = {seed}\n" for seed in (0, 7))
    found = ran(smaller(tmp_path, bed, splits, "majority perceptron", "seeds = 2\nevaluate = ['test']"))
    made = check(found.make, found.document)
    seven = found.runs.filter(split_seed=7, system="perceptron.v1")["key"].to_list()
    expected = found.scores.filter(pl.col("key").is_in(seven)).filter(metric="accuracy.v1")["value"].to_list()
    names = [name for name in drawn(made) if name.endswith("scores-random-seed-7")]
    values = values_of(drawn(made)[names[0]], "perceptron")
    assert sorted(values) == pytest.approx(sorted(100 * each for each in expected))
    assert len(drawn(sections(found.document, found.scores))) == len(drawn(made))  # by the means of splits


def test_seeds_of_splits_are_told_apart_where_the_study_did_not_come_to_its_end(tmp_path: Path, bed: Path) -> None:
    splits = "".join(f"[[splits]]\nstrategy = 'random'\ntimes = 1\nseed = {seed}\n" for seed in (0, 1))
    found = ran(smaller(tmp_path, bed, splits, "majority hmm", "evaluate = ['test']"))
    bare = {"kind": "study", "study": "x", "blocks": []}
    made = check(partial(sections, scores=found.scores, runs=found.runs), bare)
    said = section(made, "velani: accuracy on test").said
    assert said[0].startswith("On one split (random), ")
    assert said[1].startswith("On one split (random, seed 1), ")
    assert not [each for each in said if "over 2 runs" in each]
    assert not [each for each in texts(made) if "Wilson" in each or "95 % interval" in each]


def test_no_interval_is_claimed_where_there_is_none(two: Ran) -> None:
    def claims(document: Document) -> list[str]:
        return [each for each in texts(two.make(document)) if "95 % interval" in each or "Wilson" in each]

    def bare(block: Mapping[str, Any]) -> dict[str, Any]:
        return {**block, "systems": [{**each, "interval": None} for each in block["systems"]]}

    assert claims(two.document)
    assert not claims({**two.document, "blocks": [bare(block) for block in two.document["blocks"]]})


def test_sizes_of_train_make_a_curve(tmp_path: Path, bed: Path) -> None:
    sizes = ("train=20%,dev=rest,test=20%", "train=40%,dev=rest,test=20%", "train=80%,test=20%")
    splits = "".join(f"[[splits]]\nstrategy = 'random'\ntimes = 2\nsizes = '{size}'\n" for size in sizes)
    found = ran(smaller(tmp_path, bed, splits, more="evaluate = ['test']"))
    made = check(found.make, found.document)
    curve = rows(drawn(made)["study-velani-accuracy-learning"])
    blocks = found.result.blocks
    assert [len(block.train_words) for block in blocks] == [2, 2, 2]
    points = [(row["x"], row["y"], row["low"], row["high"]) for row in curve if row["series"] == "hmm"]
    expected = []
    for block in blocks:
        each = next(each for each in block.standings if (each.system, each.metric) == ("hmm", "accuracy.v1"))
        expected.append((np.mean(block.train_words), 100 * each.mean, 100 * each.least, 100 * each.most))
    assert points == [pytest.approx(each) for each in expected]
    assert "Scores by the size of train" in [each.heading for each in made]


def test_two_ways_to_split_with_about_the_same_train_make_no_curve(two: Ran) -> None:
    assert not [each for each in two.make(two.document) if each.heading.startswith("Scores by")]


def test_a_study_that_did_not_come_to_its_end_shows_its_scores(two: Ran) -> None:
    bare = {"kind": "study", "study": "x", "blocks": []}
    made = check(partial(sections, scores=two.scores, runs=two.runs), bare)
    assert made[-1].said[0] == "The study did not come to its end: 60 cells done, 12 failed. Nothing was tested."
    table = section(made, "velani: accuracy on test").tables[0]
    mean = np.mean(two.values("velani", "test", "standard", "hmm"))
    assert column(table, "accuracy, standard")["hmm.v1"] == f"{100 * mean:.2f}"
    assert not [each for each in texts(made) if "by the test" in each]


def test_nothing_at_all_is_said_to_be_nothing() -> None:
    (made,) = check(sections, {"kind": "study", "study": "x", "blocks": []})
    assert made.said == ("The study did not come to its end: 0 cells done. Nothing was tested.",)


def test_cells_that_were_not_run_are_told_from_those_that_failed(two: Ran) -> None:
    document = {**two.document, "cells": 80, "missing": 20}
    said = section(two.make(document), "What was run").said[0]
    assert said.endswith("60 are done, 12 failed and 8 were not run.")


def test_systems_of_two_columns_have_sections_of_their_own(tmp_path: Path, bed: Path) -> None:
    path = smaller(tmp_path, bed, "[splits]\nstrategy = 'random'\ntimes = 2\n", more="evaluate = ['test']")
    found = ran(path, "systems.0.column=['upos', 'xpos']", "systems.1.column=['upos', 'xpos']")
    made = check(found.make, found.document)
    assert [each.heading for each in made[:2]] == ["velani: accuracy on test", "velani: accuracy xpos on test"]
    for each, ending in zip(made[:2], ("column=upos", "column=xpos"), strict=True):
        assert [row[0] for row in each.tables[0].rows] == [f"hmm {ending}", f"majority {ending}"]
        assert [row[0] for row in each.tables[-1].rows] == [f"hmm {ending} - majority {ending}"]
    assert {row[3] for row in section(made, "Where the systems agree").tables[0].rows} == {"upos", "xpos"}


def test_one_system_on_one_part_has_no_pairs_and_nothing_to_agree_on(tmp_path: Path, bed: Path) -> None:
    path = smaller(tmp_path, bed, "[splits]\nstrategy = 'standard'\n", "hmm", "evaluate = ['dev']")
    found = ran(path)
    made = check(found.make, found.document)
    assert [each.heading for each in made] == ["velani: accuracy on dev", "What was run"]
    (standing, *_) = found.result.blocks[0].standings
    assert made[0].said[0] == f"On the standard split, accuracy of hmm is {100 * standing.mean:.2f}."
