"""What a report says about a store is what the commands say about its tables, and incomplete stores are read too."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
import pytest

from deadheat.errors import InputError
from deadheat.questions.size import size
from deadheat.questions.store_report import StoredStudy, read_study, store_report
from deadheat.questions.table_report import ScoreSelection, SourceReport
from deadheat.results.base import from_json
from deadheat.results.compare import Comparison
from deadheat.results.ledger import LedgerReport
from deadheat.results.rank import Ranking, SizeStudy
from deadheat.results.runs import Seeds
from deadheat.results.study import StudyResult
from deadheat.study.ledger.ledger import Ledger
from deadheat.study.store.store import Store
from tests.cli.running import Commands
from tests.questions.report_cases import CORPORA, LABEL, FakeCell, FinishedStudy, fake_store, grid
from tests.questions.report_cases import finished_study as finished_study
from tests.study.store_outcomes import vouch

T = TypeVar("T")
METRIC, METRIC_LABEL = "accuracy.v1", "Accuracy (upos)"
LABELS = ["unigram", LABEL, "seeded", "short", "broken"]


@pytest.fixture(scope="module")
def report(finished_study: FinishedStudy) -> SourceReport:
    return store_report(finished_study.store, ledger=finished_study.ledger)


@pytest.fixture
def commands(capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(capsys)


def result_of(report: SourceReport, kind: type[T]) -> T:
    """The only result of a type."""
    (only,) = [result for result in report.results if isinstance(result, kind)]
    return only


def kinds(path: Path) -> list[str]:
    """The kinds of results besides that of the study."""
    study, *others = store_report(path).results
    assert study.kind == "study"
    return [result.kind for result in others]


def opened(path: Path) -> StoredStudy:
    with Store.read(path) as store:
        return read_study(store)


def exported(finished_study: FinishedStudy, folder: Path, commands: Commands) -> pl.DataFrame:
    """What `deadheat export` writes of the test scores on standard splits, under labels, in the order of the study."""
    assert commands("export", finished_study.store, "--out", folder / "all.csv").code == 0
    labels = {system.name: system.label for system in finished_study.run.result.systems}
    order = {name: position for position, name in enumerate([*CORPORA, *LABELS])}
    positions = (pl.col(name).replace_strict(order, return_dtype=pl.Int64) for name in ("corpus", "system"))
    selected = pl.col("part") == "test", pl.col("metric") == METRIC, pl.col("split") == "standard.v1"
    frame = pl.read_csv(folder / "all.csv").filter(*selected).with_columns(pl.col("system").replace(labels))
    return frame.sort([*positions, "seed"])


def test_seeds_are_those_of_the_command_on_the_exported_table(
    finished_study: FinishedStudy, report: SourceReport, tmp_path: Path, commands: Commands
) -> None:
    frame = exported(finished_study, tmp_path, commands)
    frame.select("corpus", "system", "seed", score="value").write_csv(tmp_path / "runs.csv")
    selected = ["--where", "system=seeded", "--where", "system=short", "--ignore", "seed"]
    printed = commands("seeds", tmp_path / "runs.csv", "--score", "score", "--by", "corpus", *selected, "--json")
    expected, seeds = from_json(printed.out), result_of(report, Seeds)
    assert isinstance(expected, Seeds)
    claims = tuple(replace(claim, metric=METRIC_LABEL) for claim in expected.verdict.claims)
    assert seeds == replace(
        expected,
        part="test",
        metric=METRIC_LABEL,
        verdict=replace(expected.verdict, claims=claims),
        notes=(*expected.notes, "runs are those on the first split of each corpus (standard.v1)"),
    )
    assert [block.level for block in seeds.blocks] == list(CORPORA)
    assert f"no distributions over seeds of unigram and {LABEL}: one run each" in report.notes


def test_the_ranking_is_that_of_the_command_on_the_exported_means(
    finished_study: FinishedStudy, report: SourceReport, tmp_path: Path, commands: Commands
) -> None:
    frame = exported(finished_study, tmp_path, commands)
    means = frame.group_by("system", "corpus").agg(score=pl.col("value").mean()).sort("system", "corpus")
    path = tmp_path / "means.csv"
    means.with_columns(metric=pl.lit(METRIC_LABEL)).write_csv(path)
    ranking = result_of(report, Ranking)
    assert ranking == from_json(commands("rank", path, "--metric", METRIC_LABEL, "--samples", "100000", "--json").out)
    assert len(ranking.systems) == 4  # a system that failed everywhere is not ranked
    assert ranking.datasets == 5
    (study,) = [result for result in report.results if isinstance(result, StudyResult)]
    assert study.comparisons  # which test the corpora together by their sentences and seeds
    assert not [result for result in report.results if isinstance(result, Comparison)]


def test_tests_over_corpora_are_those_of_the_command_on_the_exported_scores(tmp_path: Path, commands: Commands) -> None:
    path = fake_store(tmp_path / "a.sqlite", grid(2, 6))
    assert commands("export", path, "--out", tmp_path / "scores.csv").code == 0
    table = tmp_path / "labelled.csv"
    table.write_text((tmp_path / "scores.csv").read_text().replace(METRIC, METRIC_LABEL))
    printed = commands("compare", "--scores", table, "--metric", METRIC_LABEL, "--json")
    comparison = result_of(store_report(path), Comparison)
    assert comparison == from_json(printed.out)
    assert (comparison.metric, comparison.unit) == (METRIC_LABEL, "data set")


def test_sizes_are_those_from_gold_and_the_predictions_in_the_store(
    finished_study: FinishedStudy, report: SourceReport, tmp_path: Path
) -> None:
    labels = {system.name: system.label for system in finished_study.run.result.systems}
    with Store.read(finished_study.store) as store:
        runs = store.runs().filter(corpus="zeta", split="standard.v1", status="done")
        runs = runs.sort(pl.col("system").replace_strict(dict(zip(labels, range(5), strict=True))), "seed")
        systems: dict[str, list[str]] = {}
        for key, system in runs.select("key", "system").iter_rows():
            path = tmp_path / f"{key}.conllu"
            path.write_bytes(store.prediction(key, "test"))
            systems.setdefault(labels[system], []).append(str(path))
    gold = finished_study.path.parent / "corpus0" / "x-ud-test.conllu"
    (expected,) = size(gold, systems, metric="accuracy").sets
    sets = result_of(report, SizeStudy).sets
    assert sets[0] == replace(expected, name="zeta")
    assert [test_set.name for test_set in sets] == list(CORPORA)


def test_evaluations_are_those_of_the_ledger(
    finished_study: FinishedStudy, report: SourceReport, commands: Commands
) -> None:
    printed = from_json(commands("ledger", "--ledger", finished_study.ledger.path, "--json").out)
    assert isinstance(printed, LedgerReport)
    assert result_of(report, LedgerReport).test_sets == printed.test_sets
    assert len(printed.test_sets) == 7  # five standard ones, and two random ones of the first corpus


def test_a_changed_ledger_is_a_note_of_the_report(finished_study: FinishedStudy, tmp_path: Path) -> None:
    ledger = Ledger.at(tmp_path / "ledger.jsonl")
    for suffix in ("", ".head"):
        shutil.copy(f"{finished_study.ledger.path}{suffix}", f"{ledger.path}{suffix}")
    before = store_report(finished_study.store, ledger=ledger).notes
    ledger.path.write_bytes(ledger.path.read_bytes().replace(b'"user":"', b'"user":"x', 1))
    (note,) = set(store_report(finished_study.store, ledger=ledger).notes) - set(before)
    assert "ledger.jsonl:2: follows" in note
    assert "deadheat ledger --verify" in note


def test_the_study_is_that_of_the_run(finished_study: FinishedStudy, report: SourceReport) -> None:
    study = result_of(report, StudyResult)
    assert replace(study, runs=None, provenance=()) == finished_study.run.result
    assert report.name == study.name == "small study"
    assert study.runs is not None
    assert (study.runs.cells, study.runs.done) == (63, 56)
    assert [(row.system, row.done, row.failed) for row in study.runs.systems[-1:]] == [("broken", 0, 7)]
    reason = "command.v2: predict command: false\n  failed with exit code 1, and printed nothing"
    assert [(cell.system, cell.error) for cell in study.failed] == [("broken", reason)] * 7
    assert set(opened(finished_study.store).scores["system"]) == set(LABELS[:-1])


@pytest.fixture
def copied(finished_study: FinishedStudy, tmp_path: Path) -> Path:
    """The store, to be changed."""
    return Path(shutil.copy(finished_study.store, tmp_path / "copy.sqlite"))


def altered(path: Path, *statements: str) -> Path:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    if "DROP TABLE checksums" not in statements:
        vouch(connection)
    connection.close()
    return path


def test_cells_of_another_study_in_the_same_store_are_left_out_with_a_note(report: SourceReport, copied: Path) -> None:
    with Store.open(copied) as store:
        store.add(FakeCell("stranger.v1", "elsewhere", 0.1).outcome())
        store.add(FakeCell("stranger.v1", "elsewhere", status="failed", seed=1).outcome())
    mixed = store_report(copied)
    assert mixed.results == report.results[:-1]  # no ledger was given
    assert mixed.notes[0] == (
        "the store has 2 more cells, of another study or run since the end of this one; "
        "they are not part of this report"
    )


def test_a_study_that_was_killed_is_read_without_its_end(report: SourceReport, copied: Path) -> None:
    incomplete = store_report(altered(copied, "DELETE FROM results"))
    study = result_of(incomplete, StudyResult)
    assert (study.finished, incomplete.name) == (False, "copy")
    assert [result.kind for result in incomplete.results] == ["study"]
    whole = result_of(report, StudyResult)
    assert {row.system for block in study.blocks for row in block.systems} == set(LABELS) - {"broken"}
    assert {cell.system for cell in study.failed} == {"broken"}
    assert {(row.label, row.name) for row in study.systems} == {(row.label, row.name) for row in whole.systems}
    assert study.store == str(copied)


def test_pieces_of_a_study_on_different_splits_are_not_pooled(tmp_path: Path) -> None:
    """Which splits belong together is in the study file alone."""
    cells = [
        FakeCell(f"{name}.v1", value=value + 0.01 * seed, seed=seed, split="random.v1", split_seed=split_seed)
        for name, value in (("a", 0.8), ("b", 0.6))
        for seed in range(3)
        for split_seed in range(2)
    ]
    (study,) = store_report(fake_store(tmp_path / "a", cells, finished=False)).results
    assert isinstance(study, StudyResult)
    assert [(block.seed, len(block.systems), block.pairs) for block in study.blocks] == [(0, 2, ()), (1, 2, ())]


def test_an_older_layout_is_read(copied: Path) -> None:
    first = (
        "DROP TABLE checksums",
        "DROP TABLE results",
        "ALTER TABLE runs DROP COLUMN setup",
        "PRAGMA user_version=1",
    )
    (study,) = store_report(altered(copied, *first)).results
    assert isinstance(study, StudyResult)
    assert study.blocks


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """The store with another result."""
    connection = sqlite3.connect(path, isolation_level=None)
    ((text,),) = connection.execute("SELECT text FROM results ORDER BY id DESC LIMIT 1").fetchall()
    document = json.loads(text)
    change(document)
    connection.execute("UPDATE results SET text = ?", (json.dumps(document),))
    vouch(connection)
    connection.close()
    return path


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda result: result.pop("blocks"), "object missing required field `blocks`"),
        (lambda result: result["blocks"][0].pop("part"), "field 'blocks[0]': object missing required field `part`"),
        (lambda result: result.update(alpha="high"), "field 'alpha': expected `float`, got `str`"),
        (lambda result: result.update(schema=99), "schema 99 is from a later version of Deadheat"),
        (lambda result: result.pop("schema"), "was written by Deadheat 0.1; run deadheat run on the study again"),
    ],
)
def test_a_result_that_this_version_cannot_read_is_refused(
    copied: Path, change: Callable[[dict[str, Any]], object], problem: str
) -> None:
    with pytest.raises(InputError) as refusal:
        store_report(rewritten(copied, change))
    assert str(refusal.value).startswith(f"{copied}: the result of its study")
    assert problem in str(refusal.value)


def test_a_broken_result_is_refused(copied: Path) -> None:
    with pytest.raises(InputError, match="broken"):
        store_report(altered(copied, "UPDATE results SET text = '[1]'"))


def test_a_ledger_that_cannot_be_read_gives_a_note(finished_study: FinishedStudy, tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    report = store_report(finished_study.store, ledger=Ledger.at(tmp_path / "folder.jsonl"))
    assert report.notes[-1].startswith("the number of evaluations of the test sets is unknown: ")
    assert "ledger" not in [result.kind for result in report.results]


def test_one_system_is_not_ranked(tmp_path: Path) -> None:
    assert kinds(fake_store(tmp_path / "a", grid(1, 6))) == []
    assert kinds(fake_store(tmp_path / "b", grid(1, 6, seeds=3))) == ["seeds"]


def test_one_corpus_has_seeds_and_no_ranking(tmp_path: Path) -> None:
    path = fake_store(tmp_path / "a", grid(3, 1, seeds=4))
    assert kinds(path) == ["seeds"]
    (block,) = result_of(store_report(path), Seeds).blocks
    assert [row.summary.n for row in block.systems] == [4, 4, 4]


def test_dev_is_used_where_there_is_no_test(tmp_path: Path) -> None:
    cells = [replace(cell, part="dev") for cell in grid(2, 6, seeds=2)]
    path = fake_store(tmp_path / "a", cells)
    assert kinds(path) == ["seeds", "rank", "compare"]
    assert result_of(store_report(path), Seeds).part == "dev"


@pytest.mark.parametrize(
    ("systems", "corpora", "expected"), [(2, 2, []), (2, 3, ["rank", "compare"]), (3, 6, ["rank", "compare"])]
)
def test_corpora_are_ranked_and_tested_over_if_there_are_three(
    systems: int, corpora: int, expected: list[str], tmp_path: Path
) -> None:
    assert kinds(fake_store(tmp_path / "a", grid(systems, corpora))) == expected


def test_an_empty_store_has_an_empty_result(tmp_path: Path) -> None:
    empty = store_report(fake_store(tmp_path / "a", []))
    assert (len(empty.results), empty.notes) == (1, ())
    assert result_of(empty, StudyResult).runs is None
    failed = result_of(store_report(fake_store(tmp_path / "b", [FakeCell("s.v1", status="killed")])), StudyResult)
    assert failed.runs is not None
    assert (failed.runs.cells, failed.runs.done) == (1, 0)
    assert [(cell.system, cell.status) for cell in failed.failed] == [("s", "killed")]


def test_a_store_that_is_being_written_to_is_read(tmp_path: Path) -> None:
    path = fake_store(tmp_path / "a", grid(2, 3), finished=False)
    with Store.open(path) as writing:
        writing.add(FakeCell("late.v1", "corpus 00").outcome())
        runs = result_of(store_report(path), StudyResult).runs
    assert runs is not None
    assert runs.done == 7


def test_scores_that_are_not_numbers_are_left_out(tmp_path: Path) -> None:
    complete = grid(2, 7)
    incomplete = [replace(cell, value=None) if position == 4 else cell for position, cell in enumerate(complete)]
    report = store_report(fake_store(tmp_path / "a", incomplete))
    ranking = result_of(report, Ranking)
    assert ranking.datasets == 6
    assert ranking.notes == ("1 data set left out because some system has no score on them",)
    assert result_of(report, Comparison).notes == ("1 data set without a score of every system left out",)
    assert kinds(fake_store(tmp_path / "b", [replace(cell, value=None) for cell in complete])) == []


def test_too_few_common_corpora_give_a_note(tmp_path: Path) -> None:
    cells = [FakeCell("a.v1", f"c{corpus}") for corpus in range(4)] + [FakeCell("b.v1", "c0", 0.8)]
    note = "no ranking over corpora: of 4 corpora, 1 have a score of every system; expected at least 3"
    assert store_report(fake_store(tmp_path / "a", cells)).notes == (note,)


@pytest.mark.parametrize(("words", "expected"), [(100, []), (110, ["size"])])
def test_a_tiny_test_set_is_not_sampled(words: int, expected: list[str], tmp_path: Path) -> None:
    cells = [FakeCell(f"{name}.v1", value=0.9, words=words) for name in "abc"]
    assert kinds(fake_store(tmp_path / "a", cells)) == expected


def test_the_significance_level_is_that_of_the_study(tmp_path: Path) -> None:
    def level(cells: list[FakeCell], kind: type[Seeds] | type[Comparison]) -> float:
        keys = tuple(cell.outcome().cell.key for cell in cells)
        strict = StudyResult("strict", (), {}, "none", alpha=0.01, keys=keys)
        result = result_of(store_report(fake_store(tmp_path / kind.__name__, cells, strict)), kind)
        return result.alpha if isinstance(result, Seeds) else result.settings.alpha

    assert level(grid(2, 1, seeds=2), Seeds) == level(grid(2, 8), Comparison) == 0.01


def test_the_standard_split_is_used_before_others_and_one_seed_of_splits() -> None:
    rows = [("a", "x", "random.v1", 0, 0), ("b", "x", "standard.v1", 0, 0), ("c", "y", "random.v1", 5, 0),
            ("d", "y", "random.v1", 2, 0), ("e", "y", "random.v1", 2, 1), ("f", "y", "zebra.v1", 0, 0)]  # fmt: skip
    names = ("key", "corpus", "split", "split_seed", "number")
    frame = pl.DataFrame(rows, schema=names, orient="row").with_columns(
        system=pl.lit("s"), part=pl.lit("test"), metric=pl.lit("m"), value=pl.lit(0.5), seed=pl.lit(0)
    )
    selection = ScoreSelection.of("here", frame)
    assert selection is not None
    assert selection.scores["key"].to_list() == ["b", "d", "e"]
    assert selection.first_splits()["key"].to_list() == ["b", "d"]


def test_the_order_in_which_cells_finished_changes_nothing(tmp_path: Path) -> None:
    cells = grid(2, 3, seeds=2)
    forwards = store_report(fake_store(tmp_path / "a", cells))
    backwards = store_report(fake_store(tmp_path / "b", cells[::-1]))
    assert forwards.results[1:] == backwards.results[1:]
