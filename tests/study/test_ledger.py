from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deadheat import compare, read, score
from deadheat.corpus.corpus import content_hash, text_hash
from deadheat.errors import InputError
from deadheat.results.ledger import PeriodCounts, Tally, look_note
from deadheat.study.ledger.ledger import Evaluation, Ledger, LedgerEntry, LedgerTestSet, is_test_name

GOLD, GOOD, BAD = "the_DT heat_NN\nis_VBZ dead_JJ\n", "the_DT heat_NN\nis_VBZ dead_NN\n", "the_X heat_X\nis_X dead_X\n"
TEST = LedgerTestSet("test.txt", "ab" * 32)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return written(tmp_path / "en-test.txt", GOLD)


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def scored(system: str, prediction: str = "") -> Evaluation:
    return Evaluation(system, prediction or system, ("tag",), "settings")


def test_the_ledger_is_the_given_one_else_that_of_the_environment_else_the_users(
    monkeypatch: pytest.MonkeyPatch, ledger_path: Path
) -> None:
    assert Ledger.at("a.jsonl").path == Path("a.jsonl")
    assert Ledger.at().path == ledger_path
    monkeypatch.setenv("DEADHEAT_LEDGER", "")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert Ledger.at().path == Path("/data/deadheat/ledger.jsonl")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/someone")
    assert Ledger.at().path == Path("/home/someone/.local/share/deadheat/ledger.jsonl")


def test_a_file_with_the_word_test_in_its_name_is_a_test_set() -> None:
    assert all(map(is_test_name, "en_ewt-ud-test.conllu test.conllu 0/test.conllu TEST a.test.gz test_1".split()))
    assert not any(map(is_test_name, ["latest.conllu", "tests.conllu", "test/dev.conllu", "test2.txt", "-", ""]))


def test_a_look_says_who_when_what_and_how(ledger: Ledger, gold: Path, tmp_path: Path) -> None:
    mine = written(tmp_path / "mine.txt", GOOD)
    result = score(gold, mine, ledger_entry=LedgerEntry(ledger, purpose="table 2"))
    (line,) = ledger.events()
    assert line["event"] == "look"
    assert line["test_set"] == text_hash(read(gold)) == hashlib.sha256(b"the\nheat\n\nis\ndead\n\n").hexdigest()
    assert line["prediction"] == content_hash(read(mine))
    assert (line["name"], line["system"], line["purpose"]) == ("en-test.txt", str(mine), "table 2")
    assert line["metrics"] == list(result.settings.metrics)
    assert line["settings"] == hashlib.sha256(result.signature.encode()).hexdigest()[:16]
    assert line["time"].endswith("Z")
    assert line["user"]
    assert result.notes[0] == "ledger: 1 evaluation of this test set so far, 1 system"
    assert result.evaluations[0].evaluations == 1


def test_the_functions_record_nothing_unless_they_are_asked_to(ledger: Ledger, gold: Path, tmp_path: Path) -> None:
    mine, other = written(tmp_path / "mine.txt", GOOD), written(tmp_path / "other.txt", BAD)
    assert score(gold, mine).evaluations == ()
    assert compare(gold, {"a": mine, "b": other}).evaluations == ()
    assert not ledger.path.exists()


def test_the_same_text_is_the_same_test_set_whatever_its_path_and_labels(ledger: Ledger, tmp_path: Path) -> None:
    mine = written(tmp_path / "mine.txt", GOOD)
    ledger_entry = LedgerEntry(ledger)
    score(written(tmp_path / "gold.txt", GOLD), mine, ledger_entry=ledger_entry)
    assert not ledger.path.exists()  # not called a test set, and not known as one
    score(written(tmp_path / "test.txt", GOLD), mine, ledger_entry=ledger_entry)
    result = score(
        written(tmp_path / "sub" / "gold.txt", GOLD), written(tmp_path / "b.txt", BAD), ledger_entry=ledger_entry
    )
    assert [event["name"] for event in ledger.events()] == ["test.txt", "gold.txt"]
    assert result.notes[0] == "ledger: 2 evaluations of this test set so far, 2 systems"


def test_of_several_gold_files_the_test_sets_alone_are_counted(ledger: Ledger, tmp_path: Path) -> None:
    dev, test = written(tmp_path / "dev.txt", BAD.replace("dead", "on")), written(tmp_path / "test.txt", GOLD)
    both = written(tmp_path / "both.txt", dev.read_text() + test.read_text())
    score([dev, test], both, ledger_entry=LedgerEntry(ledger))
    assert [event["test_set"] for event in ledger.events()] == [text_hash(read(test))]
    score([test, test], written(tmp_path / "twice.txt", 2 * GOLD), ledger_entry=LedgerEntry(ledger))
    assert len(ledger.events()) == 2


def test_systems_are_told_apart_by_name_and_prediction(ledger: Ledger) -> None:
    for system, prediction in [("a", "1"), ("a", "2"), ("b", "2"), ("c", "3"), ("c", "3"), ("d", "4"), ("e", "5")]:
        ledger.record([TEST], [scored(system, prediction)])
    result = ledger.record([TEST], [scored("e", "4")]).tallies[0]
    # a and b share prediction 2; e came with 5 and then with that of d
    assert result.systems == ("a", "c", "d")
    assert (result.evaluations, result.predictions) == (8, 5)


def test_a_comparison_is_one_look_a_system(ledger: Ledger, gold: Path, tmp_path: Path) -> None:
    mine, other = written(tmp_path / "mine.txt", GOOD), written(tmp_path / "other.txt", BAD)
    score(gold, [mine, other], ledger_entry=LedgerEntry(ledger))
    result = compare(gold, {"mine": mine, "other": other}, ledger_entry=LedgerEntry(ledger))
    assert result.notes[0] == "ledger: 4 evaluations of this test set so far, 2 systems"
    assert [event["system"] for event in ledger.events()] == [str(mine), str(other), "mine", "other"]


def test_wrong_input_is_no_look(ledger: Ledger, gold: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        score(gold, written(tmp_path / "wrong.txt", "other_X words_X\n"), ledger_entry=LedgerEntry(ledger))
    with pytest.raises(InputError):
        score(gold, written(tmp_path / "mine.txt", GOOD), metrics=["las"], ledger_entry=LedgerEntry(ledger))
    assert not ledger.path.exists()


def test_looks_past_the_budget_are_refused_all_or_none(ledger: Ledger) -> None:
    ledger.guard(TEST, budget=3)
    ledger.record([TEST], [scored("a"), scored("b")])
    with pytest.raises(
        InputError, match=r"test.txt: 2 evaluations requested, 1 left of a budget of 3 \(ledger .*--over-budget"
    ):
        ledger.record([TEST], [scored("c"), scored("d")])
    assert ledger.tally(TEST.hash).evaluations == 2
    assert ledger.record([TEST], [scored("c")]).notes == (
        "ledger: 3 evaluations of this test set so far, 3 systems; 0 left of a budget of 3",
    )
    with pytest.raises(InputError, match="1 evaluation requested, 0 left"):
        ledger.record([TEST], [scored("a")])


def test_a_reason_goes_past_the_budget_and_is_recorded(ledger: Ledger) -> None:
    ledger.guard(TEST, budget=1)
    ledger.record([TEST], [scored("a")], over_budget="not needed yet")
    with pytest.raises(InputError):
        ledger.record([TEST], [scored("b")], over_budget="  ")
    ledger.record([TEST], [scored("b")], over_budget="reviewer 2")
    assert [event.get("over_budget") for event in ledger.events()] == [None, None, "reviewer 2"]
    assert ledger.tally(TEST.hash).over_budget == 1


def test_a_budget_can_be_raised_and_both_stay_in_the_ledger(ledger: Ledger) -> None:
    ledger.guard(TEST, budget=0)
    with pytest.raises(InputError):
        ledger.record([TEST], [scored("a")])
    ledger.guard(TEST, budget=2)
    ledger.guard(TEST)  # says nothing of the budget
    ledger.record([TEST], [scored("a")])
    assert ledger.tally(TEST.hash).left == 1
    assert [event.get("budget") for event in ledger.events()] == [0, 2, None, None]
    with pytest.raises(InputError, match="a budget of -1 evaluations; expected 0 or more"):
        ledger.guard(TEST, budget=-1)


SCORER = """
import sys
from deadheat.errors import InputError
from deadheat.study.ledger.ledger import Ledger, Evaluation, LedgerTestSet
allowed = 0
for number in range(10):
    try:
        Ledger.at(sys.argv[1]).record([LedgerTestSet("t", "ab" * 32)], [Evaluation(sys.argv[2], str(number), (), "")])
        allowed += 1
    except InputError:
        pass
print(allowed)
"""


def test_a_budget_holds_for_processes_at_the_same_time(ledger: Ledger) -> None:
    ledger.guard(TEST, budget=25)
    command = [sys.executable, "-c", SCORER, str(ledger.path)]
    running = [subprocess.Popen([*command, f"s{i}"], stdout=subprocess.PIPE, text=True) for i in range(5)]
    assert sum(int(process.communicate(timeout=60)[0]) for process in running) == 25
    assert ledger.tally(TEST.hash).evaluations == 25
    assert not ledger.verify().faults


def test_a_ledger_that_cannot_be_written_matters_only_for_guarded_sets(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, gold: Path, tmp_path: Path
) -> None:
    def readonly(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    mine = written(tmp_path / "mine.txt", GOOD)
    score(gold, mine, ledger_entry=LedgerEntry(ledger))
    monkeypatch.setattr(os, "write", readonly)
    result = score(gold, mine, ledger_entry=LedgerEntry(ledger))
    assert result.evaluations == ()
    assert "cannot be written (permission denied); this evaluation was not recorded" in result.notes[0]
    monkeypatch.undo()
    ledger.guard(LedgerTestSet.of(read(gold)))
    monkeypatch.setattr(os, "write", readonly)
    with pytest.raises(InputError, match=r"permission denied.*the test set is guarded"):
        score(gold, mine, ledger_entry=LedgerEntry(ledger))


def test_a_ledger_that_cannot_be_read_is_told(tmp_path: Path, gold: Path) -> None:
    result = score(gold, written(tmp_path / "mine.txt", GOOD), ledger_entry=LedgerEntry(Ledger.at(tmp_path)))
    assert "the ledger cannot be read (not a plain file); this evaluation was not recorded" in result.notes[0]
    with pytest.raises(InputError, match="cannot be read"):
        Ledger.at(tmp_path).tallies()


def test_lines_that_somebody_mangled_are_counted_as_far_as_they_go(ledger: Ledger) -> None:
    ledger.record([TEST], [scored("a")])
    with ledger.path.open("a") as file:
        file.write(
            f'{{"event":"look","test_set":"{TEST.hash}"}}\n{{"event":"guard","budget":"x","test_set":"{TEST.hash}"}}\n'
        )
    assert ledger.tally(TEST.hash).evaluations == 2
    assert ledger.tallies()[0].budget is None
    assert len(ledger.verify().faults) == 2


def test_looks_of_a_study_are_one_and_lines_without_looks_are_told_by_time_and_settings(ledger: Ledger) -> None:
    for system in ("a", "b"):
        tally = ledger.record([TEST], [scored(system)], look="study").tallies[0]
        assert (tally.look, tally.looks, tally.evaluations) == (1, 1, 1 + (system == "b"))
    other = ledger.record([TEST], [scored("a"), scored("b")]).tallies[0]
    assert (other.look, other.looks) == (2, 2)
    swapped = ledger.record([TEST], [scored("b"), scored("a")]).tallies[0]
    assert (swapped.look, swapped.looks, swapped.evaluations) == (2, 2, 6)
    first = ledger.record([TEST], [scored("c")], look="study").tallies[0]
    assert (first.look, first.looks) == (1, 2)
    assert ledger.tally(TEST.hash).look == 0
    older = {"event": "look", "test_set": "ef" * 32, "name": "old", "settings": "s", "prediction": "p"}
    times = ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z", "2021-02-01T00:00:00Z")
    ledger.chain.append(lambda _: [{**older, "time": time} for time in times], repair={})
    assert ledger.tally("ef" * 32).looks == 2
    assert ledger.periods("month", {"ef" * 32}) == (PeriodCounts("2020-01", (2,)), PeriodCounts("2021-02", (1,)))
    assert [item.period for item in ledger.periods()][:2] == ["2020", "2021"]


def test_what_looks_do_to_a_p_value_by_hand() -> None:
    """7 looks: 7 x 0.003 = 0.021, and 0.05 / (7 x 8) = 0.00089."""
    tally = Tally("test.txt", "ab" * 32, looks=7, look=7)
    assert look_note([tally], 0.003) == (
        "look 7 at this test set: if any of them could have been the last, p is at most 0.0210; "
        "--spend-alpha tests this look at 0.0009 instead of 0.05"
    )
    again, other = Tally("test.txt", "ab" * 32, looks=7, look=2), Tally("b", "cd" * 32, looks=1, look=1)
    assert look_note([again, other], 0.01, alpha=0.06) == (
        "look 2 of 7 at this test set: if any of them could have been the last, p is at most 0.0700; "
        "--spend-alpha tests this look at 0.0100 instead of 0.06"
    )
    # Nothing is shown, so that earlier looks cannot have made it too easy.
    for p in (0.5, float("nan")):
        assert (
            look_note([tally], p) == "look 7 at this test set; --spend-alpha tests this look at 0.0009 instead of 0.05"
        )
    assert look_note([], 0.01) == look_note([Tally("b", "cd" * 32, looks=1, look=1)], 0.01) == ""
