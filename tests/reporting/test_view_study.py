"""A study as blocks: numbers of its tables and figures against the store, and what the verdict says."""

import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from deadheat.questions.run import run_plan
from deadheat.questions.store_report import read_study
from deadheat.questions.study import study_verdict
from deadheat.reporting.html import Page, page_html
from deadheat.reporting.plan import WorkLeft, plan_view
from deadheat.reporting.terminal import render
from deadheat.reporting.verdict import MARKS
from deadheat.reporting.views import headline, view
from deadheat.results.compare import PairwiseSettings
from deadheat.results.oracle import oracle_row
from deadheat.results.study import StudyBlock, StudyResult
from deadheat.results.verdict import State
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from deadheat.testbed import write_testbed
from tests.reporting.blocks import column, data, drawn, headings, marks, rows, section, tables, texts
from tests.reporting.latex_compiler import compile_latex
from tests.study.study_cases import in_this_process

ACCURACY = "Accuracy (upos)"
LABEL = "<b>50% a_b & c</b>"
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
times = 4
sizes = "70/15/15"
[[systems]]
name = "majority"
[[systems]]
name = "hmm"
[[systems]]
name = "perceptron"
label = "{label}"
seeds = 2
[[systems]]
name = "command"
label = "broken"
train = "true"
predict = "false"
"""


def result_of(path: Path, *overrides: str) -> StudyResult:
    plan = Plan.of(path, overrides)
    with Store.read(run_plan(plan, executor=in_this_process).store) as store:
        return read_study(store).result


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    write_testbed(folder / "bed", sentences=160, languages=["velani", "dzari"], seeds=[])
    (folder / "study.toml").write_text(STUDY.format(label=LABEL))
    return folder


@pytest.fixture(scope="module")
def two(bed: Path) -> StudyResult:
    return result_of(bed / "study.toml")


@pytest.fixture(scope="module")
def scores(bed: Path, two: StudyResult) -> pl.DataFrame:
    with Store.read(bed / "study.sqlite") as store:
        return store.scores().filter(metric="accuracy.v1")


def smaller(folder: Path, bed: Path, splits: str, systems: str = "majority hmm", more: str = "") -> Path:
    entries = "".join(f"[[systems]]\nname = {name!r}\n" for name in systems.split())
    (folder / "study.toml").write_text(f"{more}\n[corpora.velani]\nfiles = '{bed / 'bed/velani'}'\n{splits}{entries}")
    return folder / "study.toml"


def block_of(result: StudyResult, corpus: str, part: str, strategy: str) -> StudyBlock:
    (block,) = [b for b in result.blocks if (b.corpus, b.part, b.strategy) == (corpus, part, strategy)]
    return block


def test_test_comes_before_dev_and_everything_can_be_drawn(two: StudyResult) -> None:
    blocks = view(two)
    assert headings(blocks)[:4] == [
        f"2 corpora together: {ACCURACY} on {part} {splits}"
        for part in ("test", "dev")
        for splits in ("on single splits", "over random splits")
    ]
    assert headings(blocks)[4:] == [
        f"velani: {ACCURACY} on test",
        f"dzari: {ACCURACY} on test",
        f"velani: {ACCURACY} on dev",
        f"dzari: {ACCURACY} on dev",
        "Dev against test",
        "Where the systems agree",
        "What was run",
    ]
    assert drawn(blocks)
    assert page_html(Page("page", blocks)).count("<figure>") == len(drawn(blocks))


def test_tables_compile(two: StudyResult, tmp_path: Path) -> None:
    compile_latex(two.to_latex(), tmp_path)


def test_scores_and_their_marks(two: StudyResult) -> None:
    standard, _, random, _ = [
        table for table in tables(section(view(two), f"velani: {ACCURACY} on test")) if table.name
    ]
    for table, strategy in ((standard, "standard"), (random, "random")):
        block = block_of(two, "velani", "test", strategy)
        for row, shown in zip([*block.ranked, oracle_row(block)], rows(table), strict=True):
            assert row is not None
            low, high = row.interval or (row.min, row.max)
            ends = f"[{100 * low:.2f}, {100 * high:.2f}]" if row.interval else f"{100 * low:.2f} to {100 * high:.2f}"
            ends = "-" if row.system == "oracle" and strategy == "standard" else ends
            assert shown[:3] == [row.system, f"{100 * row.mean:.2f}", ends]
            assert shown[4] == str(row.runs)
        states = {pair.b: pair.state(two.alpha) for pair in block.pairs if pair.a == block.ranked[0].system}
        expected = {block.ranked[0].system: "", "oracle": ""} | {name: MARKS[s] for name, s in states.items()}
        assert marks(table) == expected
    assert standard.columns[2].heading == "95% CI"
    assert random.columns[2].heading == "min-max"


def test_pairs_over_splits_and_on_one(two: StudyResult) -> None:
    _, single, _, several = [table for table in tables(section(view(two), f"velani: {ACCURACY} on test")) if table.name]
    for pair, shown in zip(block_of(two, "velani", "test", "random").pairs, rows(several), strict=True):
        test = pair.overall
        assert shown[:3] == [
            f"{pair.a} - {pair.b}",
            f"{100 * test.difference:+.2f}",
            f"[{100 * test.low:+.2f}, {100 * test.high:+.2f}]",
        ]
        assert shown[6:9] == [f"{count} of 4" for count in (test.ahead, pair.significant, pair.reversed)]
    assert "corrected resampled t-test" in str(several.caption)
    for pair, shown in zip(block_of(two, "velani", "test", "standard").pairs, rows(single), strict=True):
        state = pair.state(two.alpha)
        assert shown[-1] == (f"{pair.a} is better" if state is State.SHOWN else state.value)
    for table, strategy in ((single, "standard"), (several, "random")):
        unit = block_of(two, "velani", "test", strategy).pairs[0].unit
        assert f"the clustered t-test on {unit}s, p-values corrected by Holm's method for " in str(table.caption)
        assert "p-values corrected by Holm's method for 6 pairs" in str(table.caption)  # three on each of two corpora


def test_figures_have_the_scores_of_the_store(two: StudyResult, scores: pl.DataFrame) -> None:
    charts = drawn(view(two))
    ranges = data(charts["study-velani-test-accuracy-upos-splits"])
    own = scores.filter(corpus="velani", part="test", system="hmm.v1").filter(pl.col("split").str.starts_with("random"))
    drawn_values = [row["value"] for row in ranges if row["name"] == "hmm" and row["split"] != "standard"]
    assert sorted(map(float, map(str, drawn_values))) == pytest.approx(sorted(100 * own["value"]))
    points = [row for row in charts["study-velani-test-accuracy-upos-dev-and-test"].rows if row[0] == LABEL]
    both = [
        scores.filter(corpus="velani", part=part, system="perceptron.v2").sort("split", "number", "seed")["value"]
        for part in ("dev", "test")
    ]
    expected = sorted((100 * x, 100 * y) for x, y in zip(*both, strict=True))
    assert len(expected) == 2 * (1 + 4)
    assert np.array(sorted((row[1], row[2]) for row in points), float) == pytest.approx(np.array(expected))


def test_dev_against_test_and_agreement_are_means(two: StudyResult, scores: pl.DataFrame) -> None:
    (table,) = tables(section(view(two), "Dev against test"))
    for row in rows(table):
        if row[2] == "hmm":
            own = scores.filter(corpus=row[0], system="hmm.v1").filter(
                pl.col("split").str.starts_with(row[1].partition("(")[0])
            )
            dev, test = (np.mean(own.filter(part=part)["value"].to_numpy()) for part in ("dev", "test"))
            assert row[4:] == [f"{100 * dev:.2f}", f"{100 * test:.2f}", f"{100 * (dev - test):+.2f}"]
    (table,) = tables(section(view(two), "Where the systems agree"))
    block = block_of(two, "velani", "test", "random")
    (row,) = [row for row in rows(table) if row[:3] == ["velani", "test", "random(sizes='70/15/15')"]]
    assert row[4] == f"{np.mean([item.alpha for item in block.agreement]):.3f}"
    assert len(drawn(section(view(two), "Where the systems agree"))) == len(two.blocks[1].agreement[0].sentences)


def test_what_was_run_and_what_failed(two: StudyResult) -> None:
    blocks = section(view(two), "What was run")
    assert texts(blocks)[0] == "Of 50 cells (one training with its predictions each), 40 are done, 10 failed."
    corpora, _, systems, failed, machines = tables(blocks)
    assert column(corpora, "words") == {corpus.name: f"{corpus.words:,}" for corpus in two.corpora}
    assert column(systems, "name with settings")[LABEL] == "perceptron.v2"
    assert (column(systems, "done")[LABEL], column(systems, "failed")["broken"]) == ("20", "10")
    assert {row[0] for row in rows(failed)} == {"broken"}
    assert len(failed.rows) == 10
    assert f"deadheat {two.version}" in rows(machines)[0][3]
    assert "10 of 50 cells failed and are left out." in render(view(two))
    assert "10 failed, 4 were not run." in texts(section(view(replace(two, cells=54, missing=14)), "What was run"))[0]


def test_the_result_alone_shows_all_but_what_the_store_knows(two: StudyResult) -> None:
    alone = view(replace(two, runs=None, provenance=()))
    assert headings(alone) == headings(view(two))
    assert len(tables(section(alone, "What was run"))) == 4


def test_a_study_that_is_not_finished_shows_its_scores(bed: Path, two: StudyResult, tmp_path: Path) -> None:
    plan = Plan.of(bed / "study.toml")
    with Store.read(bed / "study.sqlite") as store, Store.open(tmp_path / "new.sqlite", create=True) as new:
        assert not read_study(new).result.blocks
        assert headline(read_study(new).result) == "The study is not finished: 0 cells done. Nothing was tested."
        finished = read_study(store).result
    assert finished == two
    other = tmp_path / "other.sqlite"
    run_plan(plan, other, executor=in_this_process)
    with Store.open(other) as store:
        with store._writing():
            store._connection.execute("DELETE FROM results")
        result = read_study(store).result
    assert headline(result) == "The study is not finished: 40 cells done, 10 failed. Nothing was tested."
    for old, new_block in product(two.blocks, result.blocks):
        if (old.corpus, old.split, old.part) == (new_block.corpus, new_block.split, new_block.part):
            means = {row.system: row.mean for row in new_block.ranked}
            assert means == pytest.approx({row.system: row.mean for row in old.ranked})
    assert not any(block.pairs for block in result.blocks)
    assert page_html(Page("page", view(result)))


def test_without_a_standard_split_runs_are_distributions(tmp_path: Path, bed: Path) -> None:
    splits = "".join(f"[[splits]]\nstrategy = 'random'\ntimes = 2\nseed = {seed}\n" for seed in (0, 7))
    more = "seeds = 2\nevaluate = ['test']"
    result = result_of(smaller(tmp_path, bed, splits, "majority perceptron", more))
    charts = drawn(view(result))
    (name,) = [name for name in charts if name.endswith("scores-random-seed-7")]
    values = [float(str(row[1])) for row in charts[name].rows if row[0] == "perceptron"]
    (block,) = [block for block in result.blocks if block.seed == 7]
    (row,) = [row for row in block.ranked if row.system == "perceptron"]
    assert sorted(values) == pytest.approx(sorted(100 * value for split in row.by_run for value in split))
    assert [len(split) for split in row.by_run] == [2, 2]
    sources = [evidence.source for evidence in result.verdict.claims[0].evidence]
    assert sources == ["splits (random)", "splits (random, seed 7)"]


def test_sizes_of_train_make_a_curve(tmp_path: Path, bed: Path, two: StudyResult) -> None:
    sizes = ("train=20%,dev=rest,test=20%", "train=40%,dev=rest,test=20%", "train=80%,test=20%")
    splits = "".join(f"[[splits]]\nstrategy = 'random'\ntimes = 2\nsizes = '{size}'\n" for size in sizes)
    result = result_of(smaller(tmp_path, bed, splits, more="evaluate = ['test']"))
    curve = data(drawn(view(result))["study-velani-accuracy-upos-learning"])
    points = [(row["x"], row["y"], row["low"], row["high"]) for row in curve if row["series"] == "hmm"]
    expected = []
    for block in result.blocks:
        row = block.scores("hmm", "accuracy.v1")
        assert row is not None
        expected.append((np.mean(block.train_words), 100 * row.mean, 100 * row.min, 100 * row.max))
    assert points == [pytest.approx(point) for point in expected]
    assert "Scores by the size of train" not in headings(view(two))


def test_systems_of_two_columns_are_shown_apart(tmp_path: Path, bed: Path) -> None:
    path = smaller(tmp_path, bed, "[splits]\nstrategy = 'random'\ntimes = 2\n", more="evaluate = ['test']")
    result = result_of(path, "systems.0.column=['upos', 'xpos']", "systems.1.column=['upos', 'xpos']")
    blocks = view(result)
    assert headings(blocks)[:2] == [f"velani: {ACCURACY} on test", "velani: Accuracy (xpos) on test"]
    for heading, ending in ((ACCURACY, "column=upos"), ("Accuracy (xpos)", "column=xpos")):
        systems, pairs = [table for table in tables(section(blocks, f"velani: {heading}")) if table.name]
        assert [row[0] for row in rows(systems)] == [f"hmm {ending}", f"majority {ending}", "oracle"]
        assert [row[0] for row in rows(pairs)] == [f"hmm {ending} - majority {ending}"]
    names = [table.name for table in tables(blocks) if table.name]
    assert len(set(names)) == len(names)


def test_a_single_system_has_its_score(tmp_path: Path, bed: Path) -> None:
    result = result_of(smaller(tmp_path, bed, "[splits]\nstrategy = 'standard'\n", "hmm", "evaluate = ['dev']"))
    score = f"{100 * result.blocks[0].ranked[0].mean:.2f}"
    assert headline(result) == f"hmm has {ACCURACY} {score} on dev of velani, on the standard split."
    assert "Where the systems agree" not in headings(view(result))


@pytest.mark.parametrize(
    ("bounds", "margin", "state", "said"),
    [
        ((0.01, 0.03), 0.005, State.SHOWN, "On velani, {} is better than {} by 2.00 points"),
        ((-0.01, 0.05), 0.005, State.NOT_SHOWN, "On velani, {} and {} are not told apart"),
        ((-0.01, 0.05), 0.05, State.EQUAL, "A dead heat: on velani, {} and {} are equal within 5.00 points"),
        ((math.nan, math.nan), 0.005, State.TOO_FEW, "On velani, {} is ahead of {} by 2.00 points"),
    ],
)
def test_the_verdict_says_what_splits_show(
    two: StudyResult, bounds: tuple[float, float], margin: float, state: State, said: str
) -> None:
    block = block_of(two, "velani", "test", "random")
    first, second, _ = block.ranked
    low, high = bounds
    overall = replace(block.pairs[0].overall, low=low, high=high, difference=0.02, margin=margin, p_corrected=0.5)
    pair = replace(block.pairs[0], overall=overall)
    block = replace(block, systems=(first, second), pairs=(pair,), metrics=("accuracy.v1",))
    verdict, _ = study_verdict([block], (), two.metric_names, two.scale, PairwiseSettings())
    result = replace(two, blocks=(block,), verdict=verdict, comparisons=())
    assert [evidence.state for claim in verdict.claims for evidence in claim.evidence] == [state]
    assert headline(result).startswith(said.format(first.system, second.system))
    assert ("too few splits to tell" in headline(result)) == (state is State.TOO_FEW)
    assert marks(tables(section(view(result), "velani"))[0])[second.system] == MARKS[state]


def test_random_splits_speak_before_the_standard_one(two: StudyResult) -> None:
    """Of one corpus, all random splits together are the first evidence, and decide."""
    blocks = [block_of(two, "velani", "test", strategy) for strategy in ("standard", "random")]
    verdict, _ = study_verdict(blocks, (), two.metric_names, two.scale, PairwiseSettings())
    unit = blocks[0].pairs[0].unit
    assert verdict.sources == ["splits", f"{unit}s"]


def test_a_plan_says_what_will_run(bed: Path) -> None:
    plan = Plan.of(bed / "study.toml")
    shown = render(plan_view(plan, WorkLeft(50, 50, 0), finals=0, evaluations=50, test_sets=10, seconds=90.0))
    cells = "50 cells: 50 to run; 50 evaluations of 10 test sets"
    assert f"{cells}; about 1 min 30 s, by the time of earlier cells." in shown
    assert "random.v1(sizes='70/15/15')      4  0" in shown
