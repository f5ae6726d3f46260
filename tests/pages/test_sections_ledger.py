from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from deadheat.pages.ledger import in_words, sections
from deadheat.pages.study_runs import MOST_SENTENCES

from deadheat.cli.main import main
from deadheat.testbed import DEFAULT_SYSTEMS, generate, simulate
from tests.pages.section_checks import HOSTILE, check, column, section


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    gold = generate("velani", sentences=20, seed=0)
    found = {"gold": tmp_path / "velani-ud-test.conllu"}
    found["gold"].write_text(gold)
    for each in DEFAULT_SYSTEMS[:2]:
        found[each.name] = tmp_path / f"{each.name}.conllu"
        found[each.name].write_text(simulate(gold, each, seed=0))
    return found


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    capsys.readouterr()
    assert main([str(each) for each in arguments]) == 0
    shown: dict[str, Any] = json.loads(capsys.readouterr().out)
    return shown


def test_looks_are_told_in_words_and_in_a_table(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    gold, strong, middle = files["gold"], files["strong"], files["middle"]
    for system in (strong, middle, strong):
        main(["score", str(gold), str(system), "-m", "las"])
    (made,) = check(sections, printed(capsys, "ledger", "--json"))
    assert made.said[0] == "velani-ud-test.conllu was looked at 3 times, with 2 systems, by 1 user."
    (row,) = made.tables[0].rows
    shown = dict(zip(made.tables[0].header, row, strict=True))
    assert (shown["looks"], shown["systems"], shown["predictions"]) == ("3", "2", "2")
    assert (shown["budget"], shown["left"], shown["over budget"], shown["sealed"]) == ("none", "-", "-", "no")


def test_a_budget_that_is_spent_is_told(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    gold, strong = str(files["gold"]), str(files["strong"])
    main(["ledger", "guard", gold, "--budget", "2"])
    main(["score", gold, strong, "-m", "las"])
    (half,) = check(sections, printed(capsys, "ledger", "--json"))
    assert half.said[0].endswith("Of a budget of 2 looks, 1 is left.")
    main(["score", gold, strong, "-m", "las"])
    main(["score", gold, strong, "-m", "las", "--over-budget", "the <b>reviewers</b> asked"])
    (made,) = check(sections, printed(capsys, "ledger", "--json"))
    assert made.said[0].endswith("Its budget of 2 looks is spent; 1 look went past it.")
    assert made.said[1] == "Looked at past the budget: velani-ud-test.conllu."
    shown = dict(zip(made.tables[0].header, made.tables[0].rows[0], strict=True))
    assert (shown["budget"], shown["left"], shown["over budget"]) == ("2", "0", "1")
    looks = section(check(sections, printed(capsys, "ledger", "show", gold, "--json")), "Every look")
    assert [row[2] for row in looks.tables[0].rows] == ["guard", "look", "look", "look"]
    assert looks.tables[0].rows[-1][-1] == "the <b>reviewers</b> asked"
    assert looks.tables[0].rows[-1][5] == "las.v1"


def test_an_empty_ledger_has_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    (made,) = check(sections, printed(capsys, "ledger", "--json"))
    assert made.said[0] == "No look at a test set was recorded."
    assert made.tables == ()


def tally(name: str, looks: int, **more: Any) -> dict[str, Any]:
    usual = {"systems": ["a"], "predictions": 1, "users": ["u"], "first": "", "last": "", "guarded": False}
    ends = {"budget": None, "over_budget": 0, "sealed": False}
    return {"name": name, "test_set": "0" * 64, "looks": looks, **usual, **ends, **more}


def test_of_many_test_sets_those_looked_at_most_are_told_first() -> None:
    sets = [tally(f"set {looks}", looks) for looks in range(MOST_SENTENCES + 3)]
    (made,) = check(sections, {"kind": "ledger", "test_sets": sets})
    assert made.said[0] == "set 10 was looked at 10 times, with 1 system, by 1 user."
    assert made.said[MOST_SENTENCES] == "3 other test sets had 3 looks together."
    assert list(column(made.tables[0], "looks").values()) == [str(looks) for looks in reversed(range(11))]


def test_a_test_set_that_was_guarded_and_not_looked_at() -> None:
    assert in_words(tally("x", 0, budget=3)) == "x was looked at 0 times. Of a budget of 3 looks, 3 are left."


def test_names_of_any_kind_are_shown_as_they_are() -> None:
    sets = [tally(name, 1, systems=list(HOSTILE), users=list(HOSTILE)) for name in HOSTILE]
    (made,) = check(sections, {"kind": "ledger", "ledger": HOSTILE[0], "test_sets": sets})
    assert {row[0] for row in made.tables[0].rows} == set(HOSTILE)
    assert made.said[0].endswith("with 5 systems, by 5 users.")
