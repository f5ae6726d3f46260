"""What a page never shows, and what it does not show where that is asked for."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from deadheat.pages.report import Report, report

from deadheat.corpus import read
from deadheat.paper.kit import kit_files
from deadheat.study.ledger.ledger import Ledger
from deadheat.study.ledger.sealing import seal
from tests.pages.section_checks import column, section, texts
from tests.questions.report_cases import CORPORA, Ran, comparison
from tests.questions.report_cases import ran as ran


@pytest.fixture(scope="module")
def made(ran: Ran) -> Report:
    return report(ran.store, ledger=ran.ledger)


def shown_sentences(made: Report) -> list[str]:
    return [figure.name for figure in made.figures if "disagreement" in figure.name]


def kept_sentences(made: Report) -> set[str]:
    """Corpora of which the documents still have sentences."""
    blocks = made.documents[0]["blocks"]
    return {block["corpus"] for block in blocks if any(each["sentences"] for each in block["agreement"])}


def test_sentences_are_shown_and_can_be_left_out(made: Report, ran: Ran) -> None:
    assert len(shown_sentences(made)) == 4
    assert kept_sentences(made) == set(CORPORA)
    without = report(ran.store, sentences=False)
    assert shown_sentences(without) == []
    assert kept_sentences(without) == set()
    agreement = [section(each.page.sections, "Where the systems agree").tables for each in (made, without)]
    assert agreement[0] == agreement[1]


def test_sentences_of_a_sealed_test_set_are_never_shown(ran: Ran, tmp_path: Path) -> None:
    ledger = Ledger.at(tmp_path / "ledger.jsonl")
    seal(ledger, read(ran.path.parent / "corpus0" / "x-ud-test.conllu"), tmp_path / "handed-out.conllu")
    hidden = report(ran.store, ledger=ledger)
    assert shown_sentences(hidden) == []  # those of the first corpus would be
    assert kept_sentences(hidden) == set(CORPORA) - {"zeta"}


def test_sentences_are_not_shown_where_the_ledger_cannot_be_read(ran: Ran, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    unknown = report(ran.store, ledger=Ledger.at(tmp_path / "folder"))
    assert kept_sentences(unknown) == set()
    told = section(unknown.page.sections, "What is left out").notes
    assert "No sentences: which test sets are sealed cannot be told, because the ledger cannot be read." in told


def test_who_ran_it_can_be_left_out(made: Report, ran: Ran) -> None:
    host, user = (made.provenance[0][name] for name in ("host", "user"))
    hidden = report(ran.store, ledger=ran.ledger, anonymous=True)
    for each, names in ((made, {host, user}), (hidden, set())):
        tables = section(each.page.sections, "What was run").tables
        assert {cell for table in tables for row in table.rows for cell in row} & {host, user} == names
    assert not {"host", "user"} & set(hidden.provenance[0])
    looks = section(hidden.page.sections, "Looks at test sets").tables[0]
    assert set(column(looks, "users").values()) == {"user 1"}
    assert made.page.verdicts == hidden.page.verdicts
    lines = [{"user": "ana", "event": "look"}, {"user": "bo", "event": "look"}]
    sets = [each | {"users": ["bo"]} for each in made.documents[-1]["test_sets"]]
    told = report(
        {"kind": "ledger", "test_sets": sets, "lines": lines, "name": "x", "ledger": "/home/ana/l"}, anonymous=True
    )
    assert not [text for text in texts(told.page.sections) if "ana" in text.split("/") or text == "bo"]


@pytest.mark.parametrize(("sealed", "shown"), [(False, 5), (True, 0)])
def test_a_comparison_on_a_sealed_test_set_shows_no_sentences(*, sealed: bool, shown: int) -> None:
    made = report(comparison(looks=[{"test_set": "ab", "sealed": sealed}]))
    assert len(shown_sentences(made)) == shown
    assert section(made.page.sections, "Where the systems disagree").said[0].startswith("Krippendorff's alpha")


def test_a_comparison_on_a_test_set_that_was_sealed_since_shows_no_sentences(tmp_path: Path) -> None:
    gold = tmp_path / "x-test.txt"
    gold.write_text("a_X b_Y c_Z\n" * 9)
    ledger = Ledger.at(tmp_path / "ledger.jsonl")
    sealed = seal(ledger, read(gold))
    made = report(comparison(looks=[{"test_set": sealed.test_set.hash, "sealed": False}]), ledger=ledger)
    assert shown_sentences(made) == []


HOME = "/home/ana-b/my project"


def homely(store: Path, folder: Path, *, ended: bool = True) -> Path:
    """A copy of a store whose texts name the folder of somebody: in settings, errors, places and notes."""
    path = Path(shutil.copy(store, folder / "homely.sqlite"))
    connection = sqlite3.connect(path, isolation_level=None)
    command = f"command.v1(train='python {HOME}/train.py --in={HOME}/x', predict='tools/ana-b/predict')"
    for (text,) in connection.execute("SELECT text FROM results").fetchall():
        found = json.loads(text)
        found["systems"] = {name if label != "broken" else command: label for name, label in found["systems"].items()}
        found["notes"].append(f"read from {HOME}/notes.txt")
        assert found["failed"]
        for each in found["failed"]:
            each["error"] = f"FileNotFoundError: {HOME}/model of ana-b is gone"
        for block in found["blocks"]:
            for agreement in block["agreement"]:
                for sentence in agreement["sentences"]:
                    sentence["place"] = f"{HOME}/{sentence['place']}"
        connection.execute("UPDATE results SET text = ?", (json.dumps(found),))
    if not ended:
        connection.execute("DELETE FROM results")
    connection.execute("UPDATE names SET name = ? WHERE name LIKE 'command.v1%'", (command,))
    changed = connection.execute("UPDATE runs SET error = ? WHERE error != ''", (f"no {HOME}/model for ana-b",))
    assert changed.rowcount
    connection.close()
    return path


@pytest.mark.parametrize("ended", [True, False])
def test_no_folder_of_a_user_is_on_an_anonymous_page_or_in_its_kit(ran: Ran, tmp_path: Path, *, ended: bool) -> None:
    store = homely(ran.store, tmp_path, ended=ended)
    open_page = report(store, ledger=ran.ledger)
    assert "ana-b" in open_page.html()
    hidden = report(store, ledger=ran.ledger, anonymous=True)
    assert "ana-b" not in hidden.html()
    assert "my project" not in hidden.html()
    assert "train.py" in hidden.html()
    files = kit_files(hidden.documents, provenance=hidden.provenance, figures=hidden.figures, formats=["svg"])
    assert any(name.startswith("figures/study-disagreement") for name in files) == ended
    assert not [name for name, data in files.items() if b"ana-b" in data or b"my project" in data]
    assert hidden.page.verdicts == open_page.page.verdicts


def test_why_a_run_failed_stays_where_it_names_nobody(ran: Ran) -> None:
    tables = section(report(ran.store, anonymous=True).page.sections, "What was run").tables
    why = [set(column(table, "why").values()) for table in tables if "why" in table.header]
    assert [len(each) for each in why] == [1]
    assert all("exit code 1, and said nothing" in each for each in why[0])
