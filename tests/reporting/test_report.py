"""One page from stores, tables and results: what it shows, in which order, and how each source is named."""

import json
import math
import re
import shutil
import sqlite3
from collections.abc import Sequence
from html import unescape
from pathlib import Path

import pytest

import deadheat
from deadheat.errors import InputError
from deadheat.questions.compare import compare
from deadheat.questions.demo import Demo
from deadheat.questions.rank import rank
from deadheat.reporting.html import Page
from deadheat.reporting.model import Heading, Paragraph, Shown, Signature, Table, Text, Verdict
from deadheat.reporting.report import CHAPTERS, DECIDING, Report, demo_report, is_page, report
from deadheat.results.base import KINDS
from deadheat.results.study import StudyResult
from tests.charts.svg_reading import LAYOUTS
from tests.questions.report_cases import CORPORA, LABEL, FakeCell, FinishedStudy, fake_store, grid
from tests.questions.report_cases import finished_study as finished_study
from tests.questions.report_cases import quick_demo as quick_demo
from tests.reporting.blocks import column, rows, section, tables, texts
from tests.results.samples import FAIR, GOLD, GOOD, POOR
from tests.study.store_outcomes import vouch

SCORES = {"A": {"en": 90, "de": 80, "fi": 70, "ta": 60}, "B": {"en": 80, "de": 81, "fi": 69, "ta": 50}}


@pytest.fixture(scope="module")
def page(finished_study: FinishedStudy) -> Report:
    return report(finished_study.store, ledger=finished_study.ledger)


def headings(page: Report, level: int) -> list[str]:
    return [str(block.text) for block in page.page.blocks if isinstance(block, Heading) and block.level == level]


def test_every_kind_has_a_chapter() -> None:
    assert set(CHAPTERS) == set(KINDS)


def test_a_study_opens_with_its_verdict_and_has_its_chapters_in_order(page: Report) -> None:
    blocks = page.page.blocks
    assert isinstance(blocks[0], Verdict)
    assert blocks[0].claims is not None
    sources = ["over these data sets", "over data sets like these"]
    assert [column.heading for column in blocks[0].claims.columns] == ["higher > lower", *sources]
    assert headings(page, 1) == [*(CHAPTERS[result.kind] for result in page.results), "What was left out"]
    assert [result.kind for result in page.results] == ["study", "seeds", "rank", "size", "ledger"]
    assert headings(page, 2)[:3] == [
        "5 corpora together: Accuracy (upos) on test on single splits",
        "5 corpora together: Accuracy (upos) on dev on single splits",
        "zeta: Accuracy (upos) on test",
    ]
    assert page.page.title == "small study"
    assert blocks[-1] == Signature(f"deadheat {deadheat.__version__}")


def test_the_result_that_can_tell_most_gives_the_verdict_and_others_stay_in_their_chapters(page: Report) -> None:
    """A study speaks for runs and rankings of the same scores, which are not put together with it."""
    study = page.results[0]
    assert isinstance(study, StudyResult)
    assert DECIDING.index("study") < min(DECIDING.index(kind) for kind in ("seeds", "rank"))
    verdict = page.page.blocks[0]
    assert isinstance(verdict, Verdict)
    assert verdict.claims is not None
    (joint,) = [comparison for comparison in study.comparisons if comparison.dataset == "test"]
    assert len(joint.datasets) == 5
    best = joint.ranked[0].system
    for claim, row in zip(study.verdict.claims, rows(verdict.claims), strict=True):
        assert claim.better == best
        (pair,) = [pair for pair in joint.pairs if {pair.a, pair.b} == {claim.better, claim.worse}]
        forward = pair if pair.a == best else pair.turned()
        assert forward.elsewhere is not None
        ahead = f", ahead on {forward.ahead_on} of 5"
        for cell, bounds, more in zip(
            row[1:], (forward.interval, forward.elsewhere.interval), (ahead, ""), strict=True
        ):
            low, high = (f"{100 * end:+.2f}" for end in bounds.bounds)
            assert cell.endswith(f": {100 * forward.difference:+.2f} [{low}, {high}]{more}")
    assert page.verdicts[0].startswith(f"{best} has the best Accuracy (upos) on these 5 data sets")
    assert not any("over runs" in text for text in page.verdicts)


def test_a_comparison_speaks_before_a_ranking_and_a_ranking_before_runs(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    for treebanks, kinds, deciding in (
        ("abcdef", ("seeds", "rank", "compare"), "compare"),
        ("ab", ("seeds",), "seeds"),
    ):
        runs = [
            f"{system},{treebank},{60 + 5 * at - (system == 'B') + run / 10}"
            for system in "AB"
            for at, treebank in enumerate(treebanks)
            for run in range(6)
        ]
        path.write_text("\n".join(["system,treebank,score", *runs]))
        made = report(path)
        assert tuple(result.kind for result in made.results if result.kind != "table") == kinds
        (result,) = [result for result in made.results if result.kind == deciding]
        assert made.verdicts == report(result).verdicts


def test_of_several_corpora_only_the_first_is_open(page: Report) -> None:
    folded = {str(block.text): block.folded for block in page.page.blocks if isinstance(block, Heading)}
    assert [name for name in CORPORA if not folded[f"{name}: Accuracy (upos) on test"]] == ["zeta"]
    assert not folded["What was run"]


def test_failed_cells_are_listed_with_their_reason(page: Report) -> None:
    runs = section(page.page.blocks, "What was run")
    assert texts(runs)[0] == "Of 63 cells (one training with its predictions each), 56 are done, 7 failed."
    (table,) = [table for table in tables(runs) if str(table.caption) == "Cells that failed."]
    assert set(column(table, "system")) == {"broken"}
    assert "exit code 1" in column(table, "reason")["broken"]


def test_every_figure_has_a_name_and_can_be_drawn(page: Report) -> None:
    names = [figure.name for figure in page.figures]
    assert len(set(names)) == len(names) > 20
    for layout in LAYOUTS.values():
        assert all(figure.draw(layout).rows for figure in page.figures)


def test_a_study_that_was_killed_has_scores_and_no_tests(finished_study: FinishedStudy, tmp_path: Path) -> None:
    path = Path(shutil.copy(finished_study.store, tmp_path / "killed.sqlite"))
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("DELETE FROM results")
    vouch(connection)
    connection.close()
    killed = report(path)
    assert killed.page.title == "killed"
    assert killed.verdicts[0].startswith("The study is not finished: 56 cells done, 7 failed. Nothing was tested.")
    scores = section(killed.page.blocks, "zeta: Accuracy (upos) on test")
    assert len(tables(scores)[0].rows) == 4
    assert not [table for table in tables(scores) if table.columns[0].heading == "pair"]
    assert killed.html()


ODD = {
    "nothing": [],
    "one cell": [FakeCell("s.v1")],
    "one system": grid(1, 3),
    "one corpus": grid(3, 1, seeds=2),
    "dev only": [FakeCell(cell.system, cell.corpus, cell.value, part="dev") for cell in grid(3, 2)],
    "failed only": [FakeCell("s.v1", status="timed out")],
    "no number": [FakeCell("a.v1", value=None), FakeCell("b.v1", value=None)],
    "some numbers": [FakeCell("a.v1", value=None), FakeCell("b.v1"), FakeCell("b.v1", value=None, seed=1)],
    "not shares": [FakeCell("a.v1", value=-12.5), FakeCell("b.v1", value=250.0)],
    "many corpora": grid(3, 9),
}


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("cells", ODD.values(), ids=ODD)
def test_odd_stores_make_pages(cells: Sequence[FakeCell], tmp_path: Path, *, finished: bool) -> None:
    odd = report(fake_store(tmp_path / "odd.sqlite", cells, finished=finished))
    assert odd.verdicts[0].startswith("The study is not finished: ") != finished
    assert "What was run" in headings(odd, 2)
    words = re.sub(r"<[^>]*>", " ", odd.html()[odd.html().index("<body") :].partition("<script")[0]).split()
    assert not {"nan", "None", "inf"} & set(words)


def test_a_single_result_has_no_chapters(tmp_path: Path) -> None:
    single = report(rank(SCORES))
    assert (headings(single, 1), single.page.title) == ([], "deadheat rank")
    both = report(rank(SCORES), compare(GOLD, {"good": GOOD, "poor": POOR}))
    assert headings(both, 1) == ["Over data sets", "Systems compared"]


def test_a_report_that_ends_a_cell_of_a_notebook_shows_its_verdicts_and_not_all_of_its_blocks() -> None:
    both = report(rank(SCORES), compare(GOLD, {"good": GOOD, "poor": POOR}))
    assert repr(both) == f"<Report: {' '.join(both.verdicts)}>"
    shown = both._repr_html_()
    assert shown.startswith('<div class="deadheat">')
    assert all(verdict in unescape(shown) for verdict in both.verdicts)
    assert len(shown) < len(both.html()) / 10
    unsaid = Report(Page("<b>Scores</b>", ()), ())
    assert repr(unsaid) == "<Report: <b>Scores</b>>"
    assert "&lt;b&gt;Scores&lt;/b&gt;" in unsaid._repr_html_()


def test_where_several_results_are_on_a_page_each_sentence_and_table_names_its_source(tmp_path: Path) -> None:
    for name, worse in (("old", POOR), ("new", FAIR)):
        (tmp_path / f"{name}.json").write_text(compare(GOLD, {"good": GOOD, "other": worse}).to_json())
    both = report(tmp_path / "old.json", tmp_path / "new.json")
    assert both.page.title == "old and new"
    assert headings(both, 1) == ["old: Systems compared", "new: Systems compared"]
    assert [verdict.partition(": ")[0] for verdict in both.verdicts] == ["old", "new"]
    source = ""
    for block in both.page.blocks:
        if isinstance(block, Heading) and block.level == 1:
            source = str(block.text).partition(":")[0]
        if isinstance(block, Table):
            assert str(block.caption).partition(":")[0] == source
        if isinstance(block, Paragraph) and isinstance(block.text, Text):
            has_values = any(isinstance(piece, Shown) for piece in block.text.pieces)
            assert str(block.text).startswith(f"{source}: ") == has_values
    alone = report(tmp_path / "old.json")
    assert both.verdicts[0] == f"old: {alone.verdicts[0]}"


def test_two_studies_are_named_and_judged_one_by_one(tmp_path: Path) -> None:
    one = fake_store(tmp_path / "one.sqlite", grid(2, 1, seeds=6))
    two = fake_store(tmp_path / "two.sqlite", grid(2, 3))
    both = report(one, two)
    assert headings(both, 1) == [
        *(f"one: {CHAPTERS[kind]}" for kind in ("study", "seeds")),
        *(f"two: {CHAPTERS[kind]}" for kind in ("study", "rank", "compare")),
    ]
    alone = [f"{path.stem}: {verdict}" for path in (one, two) for verdict in report(path).verdicts]
    assert both.verdicts == alone


def test_results_given_one_by_one_do_not_speak_for_each_other(page: Report) -> None:
    study, ranked = page.results[0], page.results[2]
    together = report(study, ranked).verdicts
    assert [verdict.partition(": ")[2] for verdict in together] == report(study).verdicts + report(ranked).verdicts


def test_nothing_cannot_be_reported_on() -> None:
    with pytest.raises(InputError, match="nothing to report on; expected a store, a table of scores or a result"):
        report()


def test_the_demo_shows_the_truth_beside_what_was_measured(quick_demo: Demo) -> None:
    made = demo_report(quick_demo)
    assert made.page.title == "Deadheat demo"
    verdict = made.page.blocks[0]
    assert isinstance(verdict, Verdict)
    study = made.results[0]
    assert isinstance(study, StudyResult)
    systems, claims = study.verdict.systems, len(study.verdict.claims)
    assert (systems, len(study.corpora)) == (4, 6)
    assert claims == systems - 1  # the best against each of the others, over all treebanks
    assert [str(remark) for remark in verdict.below_claims() if "more pair" in str(remark)] == [
        f"The tables have {math.comb(systems, 2) - claims} more pairs."
    ]
    assert headings(made, 1)[-1] == "The truth about the simulated parsers"
    assert {"How the data were split", "Systems compared"} < set(headings(made, 1))
    (truth,) = tables(section(made.page.blocks, "The truth about the simulated parsers"))
    assert column(truth, "measured LAS") == {row.system: f"{100 * row.value:.2f}" for row in quick_demo.parsers.systems}
    assert column(truth, "true LAS") == {name: f"{100 * value:.2f}" for name, value in quick_demo.truth.items()}
    path = quick_demo.folder.parent / "page.html"
    path.write_text(made.html(), encoding="utf-8")
    assert is_page(path)
    path.unlink()


def test_only_our_pages_are_taken_for_such(tmp_path: Path) -> None:
    assert not is_page(tmp_path / "missing.html")
    (tmp_path / "other.html").write_text("<!doctype html><p>My own page</p>")
    assert not is_page(tmp_path / "other.html")


def test_names_are_text_on_a_page(page: Report, tmp_path: Path) -> None:
    assert LABEL not in page.html()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.html()
    (tmp_path / "s.csv").write_text("system,score\nA,1\n")
    html = report(tmp_path / "s.csv", title=f"A & B {LABEL}").html()
    assert "<title>A &amp; B &lt;script&gt;alert(1)&lt;/script&gt;</title>" in html
    assert LABEL not in html


def test_a_table_opens_with_its_verdict_and_scores(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("treebank,A,B\nen,90,80\nde,80,81\nfi,70,69\nta,60,\n")
    made = report(path)
    assert (made.page.title, headings(made, 1)[0]) == ("scores", "Scores")
    assert "data sets" in made.verdicts[0]
    assert report(path, sentences=False).verdicts == made.verdicts


def test_a_study_file_stands_for_its_store(finished_study: FinishedStudy, tmp_path: Path) -> None:
    study = tmp_path / "small.toml"
    shutil.copy(finished_study.path, study)
    with pytest.raises(
        InputError, match=r"no store .*small.sqlite; expected deadheat run .* first, or the store itself"
    ):
        report(study)
    shutil.copy(finished_study.store, tmp_path / "small.sqlite")
    assert report(study).page.title == "small study"
    study.write_text('store = "elsewhere.sqlite"\n')
    (tmp_path / "small.sqlite").rename(tmp_path / "elsewhere.sqlite")
    assert report(study).page.title == "small study"
    study.write_text("store = [")
    with pytest.raises(InputError, match="not valid TOML"):
        report(study)


def test_a_file_is_recognized_by_its_contents(tmp_path: Path) -> None:
    result = rank(SCORES)
    (tmp_path / "no-suffix").write_text(result.to_json(indent=1))
    (tmp_path / "one-line.txt").write_text(result.to_json())
    for name in ("no-suffix", "one-line.txt"):
        assert report(tmp_path / name).results == (result,)
    lines = [{"system": "A", "kind": "parser", "score": 1.0}, {"system": "B", "kind": "parser", "score": 2.0}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert report(tmp_path / "rows.jsonl").results[0].kind == "table"


def test_json_that_is_no_result_is_refused_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "given.json"
    for text in ("", "{}", "[1, 2]", '{"kind": "rang"}', '{"kind": "rank"}', "[" * 100_000):
        path.write_text(text)
        with pytest.raises(InputError, match=re.escape(f"{path}: ")) as refused:
            report(path)
        assert "\n" not in str(refused.value)


def test_a_table_is_judged_over_all_its_data_sets(tmp_path: Path) -> None:
    """A is ahead by 1 on each of n data sets: with random signs all agree with probability 2 / 2**n."""
    path = tmp_path / "scores.csv"
    for treebanks in ("abcdefgh", "abcdef"):
        lines = [f"{name},{a},{a - 1}" for name, a in zip(treebanks, range(60, 100, 5), strict=False)]
        path.write_text("\n".join(["treebank,A,B", *lines]))
        p = f"{2 / 2 ** len(treebanks):.4f}"
        assert report(path).verdicts == [f"A is better than B by 1.00 in score (95% CI [+1.00, +1.00], p = {p})."]
