"""One page from stores, tables and results: what stands on it, in which order, and what never does."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from deadheat.pages.opening import KINDS
from deadheat.pages.report import Report, Took, report
from deadheat.pages.section import Section

import deadheat
from deadheat.charts.chart import LAYOUTS
from deadheat.errors import InputError
from deadheat.questions.compare import compare_scores
from deadheat.questions.demo import Demo
from deadheat.questions.rank import rank
from deadheat.questions.seeds import seeds
from deadheat.report.report import demo_report
from deadheat.report.report import CHAPTERS
from deadheat.report.report import is_page
from deadheat.study.store.store import Store
from deadheat.tables.table import Runs
from tests.pages.section_checks import column, section, texts
from tests.questions.report_cases import CORPORA, LABEL, Made, Ran, comparison, grid, made_store
from tests.questions.report_cases import demonstrated as demonstrated
from tests.questions.report_cases import ran as ran

SCORES = {"A": {"en": 90, "de": 80, "fi": 70, "ta": 60}, "B": {"en": 80, "de": 81, "fi": 69, "ta": 50}}
CHAPTERS_OF_A_STUDY = [
    "Scores and differences", "Over seeds", "Over data sets", "How much test data is enough",
    "How often the test sets were used", "",
]  # fmt: skip


@pytest.fixture(scope="module")
def made(ran: Ran) -> Report:
    return report(ran.store, ledger=ran.ledger)


def chapters(made: Report) -> list[str]:
    """As they follow each other; one that is torn apart is there twice."""
    return [chapter for chapter, _ in groupby(section.chapter for section in made.page.sections)]


def headings(made: Report) -> list[str]:
    return [section.heading for section in made.page.sections]


def test_every_kind_has_a_chapter() -> None:
    assert tuple(CHAPTERS) == KINDS


def test_a_study_has_its_chapters_in_the_order_of_the_evidence(made: Report) -> None:
    assert chapters(made) == CHAPTERS_OF_A_STUDY
    assert headings(made)[0] == "zeta: accuracy on test"
    assert headings(made)[-1] == "What is left out"
    assert (made.page.title, made.page.foot[-1]) == ("small study", f"deadheat {deadheat.__version__}")
    assert [document["kind"] for document in made.documents] == ["study", "seeds", "rank", "size", "ledger"]


def test_of_many_corpora_only_the_first_is_open(made: Report) -> None:
    folded = {each.heading: each.folded for each in made.page.sections}
    assert [name for name in CORPORA if not folded[f"{name}: accuracy on test"]] == ["zeta"]
    assert [name for name in CORPORA if not folded[f"Scores over seeds: corpus {name}"]] == ["zeta"]
    assert not folded["What was run"]


def test_verdicts_put_all_the_evidence_together(made: Report) -> None:
    first, *_ = made.page.verdicts
    assert first.startswith("seeded and short are a dead heat: the lead of seeded ")
    assert "random splits" in first
    assert "of the 5 data sets" in first
    assert "too few seeds to tell" in first


def test_failed_cells_are_told_with_their_reason(made: Report) -> None:
    runs = section(made.page.sections, "What was run")
    assert runs.said[0] == "Of 63 cells, each one training with its predictions, 56 are done and 7 failed."
    (table,) = [each for each in runs.tables if each.caption == "Cells that failed."]
    assert set(column(table, "system")) == {"broken"}
    assert table.rows[0][-1] == (
        "InputError: command.v1: predict command: false failed with exit code 1, and said nothing"
    )


def test_what_was_spent_is_known(made: Report, ran: Ran) -> None:
    with Store.read(ran.store) as store:
        runs = store.runs()
    assert made.took.runs == 63
    assert made.took.cpu_s == pytest.approx(runs["cpu_s"].sum())
    assert made.took.peak_mb == runs["peak_mb"].max()
    both = made.took + Took(2, 1.0, 3.0, 9e9)
    assert both == Took(65, made.took.cpu_s + 1, made.took.wall_s + 3, 9e9)


def test_every_figure_has_a_name_of_its_own_and_can_be_drawn(made: Report) -> None:
    names = [figure.name for figure in made.figures]
    assert len(set(names)) == len(names) > 20
    for layout in LAYOUTS.values():
        assert all(figure.draw(layout).rows for figure in made.figures)


def test_a_study_that_was_killed_has_scores_and_no_tests(ran: Ran, tmp_path: Path) -> None:
    path = Path(shutil.copy(ran.store, tmp_path / "killed.sqlite"))
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("DELETE FROM results")
    connection.close()
    cut = report(path)
    told = "The study has not come to its end: 56 cells done, 7 failed; no test was made on splits."
    assert (cut.page.title, cut.page.verdicts[0]) == ("killed", told)
    runs = section(cut.page.sections, "What was run")
    assert runs.said[0] == "The study did not come to its end: 56 cells done, 7 failed. Nothing was tested."
    assert any(table.caption == "Cells that failed." for table in runs.tables)
    scores = section(cut.page.sections, "zeta: accuracy on test")
    assert len(scores.tables[0].rows) == 4
    assert not [table for table in scores.tables if table.header[0] == "pair"]
    assert cut.html()


def test_a_result_of_an_older_version_still_makes_a_page(ran: Ran, tmp_path: Path) -> None:
    path = Path(shutil.copy(ran.store, tmp_path / "old.sqlite"))
    with Store.open(path) as store:
        result = store.result()
        assert result is not None
        for key in ("systems", "seeds", "corpora", "strategies", "cells", "failed", "test_sets", "keys", "notes"):
            del result[key]
        for block in result["blocks"]:
            for key in ("numbers", "train_words", "agreement"):
                del block[key]
            for each in block["systems"]:
                del each["by_split"]
        store.set_result(result)
    old = report(path)
    assert "zeta: accuracy on test" in headings(old)
    assert "Where the systems agree" not in headings(old)
    assert old.html()


DEV = [Made(each.system, each.corpus, each.value, part="dev") for each in grid(3, 2)]
ODD = {
    "nothing": [],
    "one cell": [Made("s.v1")],
    "one system": grid(1, 3),
    "one corpus": grid(3, 1, seeds=2),
    "dev only": DEV,
    "failed only": [Made("s.v1", status="timed out")],
    "no number": [Made("a.v1", value=None), Made("b.v1", value=None)],
    "some numbers": [Made("a.v1", value=None), Made("b.v1"), Made("b.v1", value=None, seed=1)],
    "not shares": [Made("a.v1", value=-12.5), Made("b.v1", value=250.0)],
    "many corpora": grid(3, 9),
}


@pytest.mark.parametrize("cells", ODD.values(), ids=ODD)
def test_odd_stores_make_pages(cells: Sequence[Made], tmp_path: Path) -> None:
    odd = report(made_store(tmp_path / "odd.sqlite", cells))
    assert odd.page.verdicts[0].startswith("The study has not come to its end: ")
    assert "What was run" in headings(odd)
    assert odd.html()
    assert not [text for text in texts(odd.page.sections) if "nan" in text.split() or "None" in text.split()]


def test_a_page_of_one_result_has_no_chapters_and_nothing_folded() -> None:
    runs = pl.DataFrame(
        {"system": ["A", "A", "B", "B"] * 2, "task": ["x"] * 4 + ["y"] * 4, "score": [1.0, 2, 3, 4] * 2}
    )
    found = seeds(Runs("runs", runs, np.zeros(0, np.int64)), score="score", by="task")
    single = report(found)
    assert chapters(single) == [""]
    assert not any(each.folded for each in single.page.sections)
    assert single.page.title == "deadheat seeds"
    both = report(found, rank(SCORES))
    assert chapters(both) == ["Over seeds", "Over data sets"]
    assert [each.heading for each in both.page.sections if each.folded] == [
        "Scores over seeds: task y", "Which systems differ: task y"
    ]  # fmt: skip


def test_results_of_the_same_kind_are_told_apart_by_their_files(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / f"{name}.json").write_text(json.dumps(rank(SCORES).to_dict()))
    made = report(tmp_path / "old.json", compare_scores(SCORES), tmp_path / "new.json")
    assert made.page.title == "old, deadheat compare and new"
    assert chapters(made) == ["old: Over data sets", "deadheat compare: Over data sets", "new: Over data sets"]
    unlike = report(tmp_path / "old.json", comparison())
    assert chapters(unlike) == ["Over data sets", "Systems compared"]


def test_two_studies_are_told_apart_and_do_not_speak_for_each_other(tmp_path: Path) -> None:
    one = made_store(tmp_path / "one.sqlite", grid(2, 1, seeds=6))
    two = made_store(tmp_path / "two.sqlite", [Made(each.system, each.corpus, each.value) for each in grid(2, 3)])
    both = report(one, two)
    assert both.page.title == "one and two"
    assert chapters(both) == [
        "one: Scores and differences", "one: Over seeds", "two: Scores and differences", "two: Over data sets", ""
    ]  # fmt: skip
    assert all(verdict.startswith(("one \u2013 ", "two \u2013 ")) for verdict in both.page.verdicts)
    alone = [
        f"{name} \u2013 {said}" for name, path in (("one", one), ("two", two)) for said in report(path).page.verdicts
    ]
    assert list(both.page.verdicts) == alone


def test_single_results_are_judged_one_by_one(made: Report, ran: Ran) -> None:
    """They may be of different origins, though their systems have the same names."""
    study, ranked = ran.conducted.to_dict(), made.documents[2]
    together = report(study, ranked).page.verdicts
    assert together == (*report(study).page.verdicts, *report(ranked).page.verdicts)
    assert together[0] != made.page.verdicts[0]


def test_nothing_cannot_be_reported_on() -> None:
    with pytest.raises(InputError, match="nothing to report on"):
        report()


def test_the_demo_shows_the_truth_beside_what_was_measured(demonstrated: Demo) -> None:
    made = demo_report(demonstrated)
    assert made.page.title == "Deadheat demo"
    assert chapters(made) == [
        *CHAPTERS_OF_A_STUDY[:-1], "How the data were split", "Systems compared", ""
    ]  # fmt: skip
    truth: Section = section(made.page.sections, "What is true of the simulated parsers")
    assert truth.chapter == "Systems compared"
    measured = {row.file: f"{100 * row.value:.2f}" for row in demonstrated.parsers.systems}
    assert column(truth.tables[0], "measured LAS") == measured
    assert column(truth.tables[0], "true LAS") == {
        name: f"{100 * value:.2f}" for name, value in demonstrated.truth.items()
    }
    page = demonstrated.folder.parent / "page.html"
    page.write_text(made.html(), encoding="utf-8")
    assert is_page(page)
    page.unlink()


def test_only_our_pages_are_taken_for_such(tmp_path: Path) -> None:
    assert not is_page(tmp_path / "missing.html")
    (tmp_path / "other.html").write_text("<!doctype html><p>My own page</p>")
    assert not is_page(tmp_path / "other.html")


def test_names_in_a_result_are_text(made: Report, tmp_path: Path) -> None:
    assert LABEL in texts(made.page.sections)
    assert LABEL not in made.html()
    (tmp_path / "s.csv").write_text("system,score\nA,1\n")
    text = report(tmp_path / "s.csv", title=f"A & B {LABEL}").html()
    assert "<title>A &amp; B &lt;script&gt;alert(1)&lt;/script&gt;</title>" in text
    assert LABEL not in text
