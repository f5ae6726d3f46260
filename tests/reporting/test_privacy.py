"""What a page never shows, and what it leaves out on request."""

import json
import shutil
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from deadheat.corpus import read
from deadheat.paper.kit import kit_files
from deadheat.questions.compare import compare
from deadheat.reporting.model import Figure
from deadheat.reporting.privacy import Anonymizer
from deadheat.reporting.report import Report, report
from deadheat.results.compare import Comparison
from deadheat.results.ledger import LedgerLine, LedgerReport, Tally
from deadheat.results.study import StudyResult
from deadheat.study.ledger.ledger import Ledger
from deadheat.study.ledger.sealing import seal
from tests.questions.report_cases import CORPORA, LABEL, FinishedStudy
from tests.questions.report_cases import finished_study as finished_study
from tests.reporting.blocks import column, rows, section, tables, texts
from tests.study.store_outcomes import vouch

HOME = "/home/ana-b/my project"


@pytest.fixture(scope="module")
def page(finished_study: FinishedStudy) -> Report:
    return report(finished_study.store, ledger=finished_study.ledger)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    gold, good, bad = (read(text=f"{row}\n" * 9) for row in ("a_X b_Y c_Z", "a_X b_Y c_X", "a_X b_X c_X"))
    return compare(gold, {"good": good, "bad": bad})


def study(page: Report) -> StudyResult:
    result = page.results[0]
    assert isinstance(result, StudyResult)
    return result


def drawn_sentences(page: Report) -> list[str]:
    return [figure.name for figure in page.figures if "disagreement" in figure.name]


def corpora_with_sentences(page: Report) -> set[str]:
    return {block.corpus for block in study(page).blocks if any(item.sentences for item in block.agreement)}


def test_sentences_are_shown_and_can_be_left_out(page: Report, finished_study: FinishedStudy) -> None:
    assert len(drawn_sentences(page)) == 5
    assert corpora_with_sentences(page) == set(CORPORA)
    without = report(finished_study.store, sentences=False)
    assert drawn_sentences(without) == []
    assert corpora_with_sentences(without) == set()
    agreement = [tables(section(item.page.blocks, "Where the systems agree"))[0] for item in (page, without)]
    assert rows(agreement[0]) == rows(agreement[1])


def test_sentences_of_a_sealed_test_set_are_never_shown(finished_study: FinishedStudy, tmp_path: Path) -> None:
    ledger = Ledger.at(tmp_path / "ledger.jsonl")
    seal(ledger, read(finished_study.path.parent / "corpus0" / "x-ud-test.conllu"), tmp_path / "handed-out.conllu")
    hidden = report(finished_study.store, ledger=ledger)
    assert drawn_sentences(hidden) == []  # those of the first corpus would be
    assert corpora_with_sentences(hidden) == set(CORPORA) - {"zeta"}


def test_sentences_are_not_shown_where_the_ledger_cannot_be_read(finished_study: FinishedStudy, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    unknown = report(finished_study.store, ledger=Ledger.at(tmp_path / "folder"))
    assert corpora_with_sentences(unknown) == set()
    left_out = texts(section(unknown.page.blocks, "What was left out"))
    assert "No sentences: which test sets are sealed is unknown, because the ledger cannot be read." in left_out


@pytest.mark.parametrize(("sealed", "shown"), [(False, 5), (True, 0)])
def test_a_comparison_on_a_sealed_test_set_shows_no_sentences(
    comparison: Comparison, *, sealed: bool, shown: int
) -> None:
    made = report(replace(comparison, evaluations=(Tally("x", "ab", 1, sealed=sealed),)))
    assert len(drawn_sentences(made)) == shown
    assert texts(section(made.page.blocks, "Where the systems disagree"))[0].startswith("Agreement on tag: ")


def test_a_test_set_that_was_sealed_later_hides_its_sentences(comparison: Comparison, tmp_path: Path) -> None:
    gold = tmp_path / "x-test.txt"
    gold.write_text("a_X b_Y c_Z\n" * 9)
    ledger = Ledger.at(tmp_path / "ledger.jsonl")
    tally = Tally("x", seal(ledger, read(gold)).test_set.hash, 1)
    assert drawn_sentences(report(replace(comparison, evaluations=(tally,)), ledger=ledger)) == []


def with_base_names(verdicts: Sequence[str]) -> list[str]:
    """Verdicts with the name of a system that could be a path, as an anonymous page has it."""
    return [verdict.replace(LABEL, Anonymizer().text(LABEL, strict=True)) for verdict in verdicts]


def test_machines_and_users_can_be_left_out(page: Report, finished_study: FinishedStudy) -> None:
    provenance = study(page).provenance[0]
    hidden = report(finished_study.store, ledger=finished_study.ledger, anonymous=True)
    for item, expected in ((page, {provenance.host, provenance.user}), (hidden, set())):
        cells = {
            cell for table in tables(section(item.page.blocks, "What was run")) for row in rows(table) for cell in row
        }
        assert cells & {provenance.host, provenance.user} == expected
    assert (study(hidden).provenance[0].host, study(hidden).provenance[0].user) == ("", "user 1")
    ledger = tables(section(hidden.page.blocks, "Evaluations of test sets"))[0]
    assert set(column(ledger, "users").values()) == {"user 1"}
    assert hidden.verdicts == with_base_names(page.verdicts)


def test_an_anonymous_ledger_tells_users_apart_without_naming_them() -> None:
    lines = tuple(LedgerLine("2026-01-01T10:00:00", user, "look") for user in ("ana", "bo", "ana"))
    ledger = LedgerReport((Tally("x", "ab", 3, users=("bo", "ana")),), f"{HOME}/ledger.jsonl", lines)
    hidden = Anonymizer().result(ledger)
    assert isinstance(hidden, LedgerReport)
    assert hidden.ledger == ""
    assert [line.user for line in hidden.lines] == ["user 2", "user 1", "user 2"]
    assert "ana" not in hidden.to_json()
    assert hidden == Anonymizer().result(ledger)


def store_with_folders(store: Path, folder: Path, *, finished: bool) -> Path:
    """A copy of a store whose texts name the folder of somebody: in settings, errors, locations and notes."""
    path = Path(shutil.copy(store, folder / "homely.sqlite"))
    connection = sqlite3.connect(path, isolation_level=None)
    command = f"command.v2(train='python {HOME}/train.py --in={HOME}/x', predict='tools/ana-b/predict')"
    for (text,) in connection.execute("SELECT text FROM results").fetchall():
        document = json.loads(text)
        for system in document["systems"]:
            system["name"] = command if system["label"] == "broken" else system["name"]
        document["notes"].append(f"read from {HOME}/notes.txt")
        for cell in document["failed"]:
            cell["error"] = f"FileNotFoundError: {HOME}/model of ana-b is gone"
        for block in document["blocks"]:
            for agreement in block["agreement"]:
                for sentence in agreement["sentences"]:
                    sentence["location"] = f"{HOME}/{sentence['location']}"
        connection.execute("UPDATE results SET text = ?", (json.dumps(document),))
    if not finished:
        connection.execute("DELETE FROM results")
    connection.execute("UPDATE names SET name = ? WHERE name LIKE 'command.v2%'", (command,))
    changed = connection.execute("UPDATE runs SET error = ? WHERE error != ''", (f"no {HOME}/model for ana-b",))
    assert changed.rowcount
    vouch(connection)
    connection.close()
    return path


@pytest.mark.parametrize("finished", [True, False])
def test_no_folder_of_a_user_is_on_an_anonymous_page_or_in_its_kit(
    finished_study: FinishedStudy, tmp_path: Path, *, finished: bool
) -> None:
    store = store_with_folders(finished_study.store, tmp_path, finished=finished)
    public = report(store, ledger=finished_study.ledger)
    assert "ana-b" in public.html()
    hidden = report(store, ledger=finished_study.ledger, anonymous=True)
    assert "ana-b" not in hidden.html()
    assert "my project" not in hidden.html()
    assert "train.py" in hidden.html()
    files = kit_files(hidden.results, figures=hidden.figures, formats=["svg"])
    assert any(name.startswith("figures/study-disagreement") for name in files) == finished
    assert not [name for name, data in files.items() if b"ana-b" in data or b"my project" in data]
    assert hidden.verdicts == with_base_names(public.verdicts)


def test_why_a_run_failed_stays_where_it_names_nobody(finished_study: FinishedStudy) -> None:
    runs = tables(section(report(finished_study.store, anonymous=True).page.blocks, "What was run"))
    (failed,) = [table for table in runs if str(table.caption) == "Cells that failed."]
    assert all("exit code 1" in reason for reason in column(failed, "reason").values())


def test_figures_of_sentences_are_tables_where_nothing_can_be_drawn(comparison: Comparison) -> None:
    figures = [block for block in report(comparison).page.blocks if isinstance(block, Figure) and block.alternative]
    assert len(figures) == 5
