"""What a page never shows, and what it does not show where that is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadheat.corpus import read
from deadheat.pages.report import Report, report
from deadheat.study.ledger import Ledger
from deadheat.study.sealing import seal
from tests.analyses.report_cases import CORPORA, Ran, comparison
from tests.analyses.report_cases import ran as ran
from tests.pages.section_checks import column, section, texts


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
    made = report(comparison(looks=[{"test_set": sealed.watched.hash, "sealed": False}]), ledger=ledger)
    assert shown_sentences(made) == []
