from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from deadheat.corpus import read
from deadheat.corpus.corpus import text_hash
from tests.cli.running import Commands


@pytest.fixture
def held_out(gold: Path) -> Path:
    return gold.rename(gold.with_name("en-ud-test.conllu"))


def lines_of(ledger: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in ledger.read_text().splitlines()]


def test_a_score_on_a_test_set_is_counted_on_standard_error(
    commands: Commands, held_out: Path, guess: Path, ledger_path: Path
) -> None:
    one = commands("score", held_out, guess, "-m", "las", "--purpose", "table 1")
    two = commands("score", held_out, guess, "-m", "las")
    assert one.err == "note: ledger: 1 evaluation of this test set so far, 1 system\n"
    assert two.err == "note: ledger: 2 evaluations of this test set so far, 1 system\n"
    assert one.out == two.out
    assert [line["purpose"] for line in lines_of(ledger_path)] == ["table 1", ""]


def test_a_comparison_is_counted_and_reported_in_json(
    commands: Commands, held_out: Path, guess: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.conllu"
    copy.write_bytes(held_out.read_bytes())
    outcome = commands("compare", held_out, f"a={guess}", f"b={copy}", "--json")
    (tally,) = json.loads(outcome.out)["evaluations"]
    assert (tally["evaluations"], tally["systems"], tally["name"]) == (2, ["a", "b"], "en-ud-test.conllu")
    assert outcome.err.startswith("note: ledger: 2 evaluations of this test set so far, 2 systems\n")


def test_power_evaluates_the_test_set_too(
    commands: Commands, held_out: Path, guess: Path, ledger_path: Path, tmp_path: Path
) -> None:
    copy, right = tmp_path / "copy.conllu", tmp_path / "right.conllu"
    right.write_bytes(held_out.read_bytes())
    copy.write_text(guess.read_text().replace("1\tYes\tyes\tINTJ", "1\tYes\tyes\tX"))
    commands.refused("power", held_out, f"a={guess}", f"b={copy}", "-m", "lass", "--difference", 1)
    commands.refused("power", held_out, f"a={guess}", f"b={copy}")
    assert not ledger_path.exists()
    outcome = commands("power", held_out, f"a={right}", f"b={copy}", "-m", "upos", "--difference", 1)
    assert outcome.code == 0
    assert "2 evaluations of this test set so far" in outcome.err
    assert [line["event"] for line in lines_of(ledger_path)] == ["look", "look"]


def test_other_files_leave_no_trace(commands: Commands, gold: Path, guess: Path, ledger_path: Path) -> None:
    outcome = commands("score", gold, guess, "-m", "las", "--json")
    assert json.loads(outcome.out)["evaluations"] == []
    assert outcome.err == ""
    assert not ledger_path.parent.exists()


def test_a_guarded_file_is_counted_whatever_its_name_up_to_its_budget(
    commands: Commands, gold: Path, guess: Path, ledger_path: Path
) -> None:
    outcome = commands("ledger", "guard", gold, "--budget", 1)
    name = text_hash(read(gold))[:12]
    assert outcome.out == (f"gold.conllu: guarded, a budget of 1 evaluation, 0 evaluations so far (test set {name})\n")
    assert "0 left of a budget of 1" in commands("score", gold, guess).err
    line = commands.refused("score", gold, guess)
    assert line == (
        f"gold.conllu: 1 evaluation requested, 0 left of a budget of 1 (ledger {ledger_path}); "
        'expected --over-budget "reason" to evaluate nevertheless'
    )
    assert "--over-budget without a reason" in commands.refused("score", gold, guess, "--over-budget", " ")
    assert commands("score", gold, guess, "--over-budget", "a typo in the table").code == 0
    assert lines_of(ledger_path)[-1]["over_budget"] == "a typo in the table"
    again = commands("ledger", "guard", gold, "--budget", 5).out
    assert "guarded, a budget of 5 evaluations, 2 evaluations so far" in again
    assert "guarded already, a budget of 5 evaluations" in commands("ledger", "guard", gold).out
    assert [line["event"] for line in lines_of(ledger_path)] == ["guard", "look", "look", "guard"]


def test_the_table_has_one_row_per_test_set(commands: Commands, held_out: Path, guess: Path, ledger_path: Path) -> None:
    assert commands("ledger").out.startswith("No evaluation of a test set is recorded.\n")
    commands("score", held_out, guess, guess, "-m", "las")
    commands("ledger", "guard", held_out, "--budget", 10)
    verdict, _, header, row, *_ = commands("ledger").out.splitlines()
    assert verdict == "en-ud-test.conllu: 2 evaluations."
    assert header.split()[-10:] == "users sealed evaluations looks systems predictions budget left over budget".split()
    assert row.split()[:2] == ["en-ud-test.conllu", text_hash(read(held_out))[:12]]
    assert row.split()[-8:] == ["no", "2", "1", "1", "1", "10", "8", "0"]
    found = json.loads(commands("ledger", "--json").out)
    assert (found["kind"], found["ledger"], found["test_sets"][0]["predictions"]) == ("ledger", str(ledger_path), 1)


def test_evaluations_are_shown_by_file_and_by_hash(commands: Commands, held_out: Path, guess: Path) -> None:
    assert commands("ledger", "show", held_out).out.startswith("No evaluation of a test set is recorded.")
    commands("score", held_out, guess, "--purpose", "first try")
    shown = commands("ledger", "show", held_out).out
    assert shown == commands("ledger", "show", text_hash(read(held_out))[:8]).out
    row = next(line for line in shown.splitlines() if str(guess) in line)
    assert "  evaluation  " in row
    assert row.endswith("tokens.v1, sentences.v1, words.v1 and 10 more  first try")
    assert "no test set of" in commands.refused("ledger", "show", "0123456789")
    found = json.loads(commands("ledger", "show", held_out, "--json").out)
    assert (found["kind"], found["lines"][0]["purpose"]) == ("ledger", "first try")
    assert found["test_sets"][0]["evaluations"] == 1


def test_an_edited_ledger_does_not_verify(commands: Commands, held_out: Path, guess: Path, ledger_path: Path) -> None:
    assert "no such ledger" in commands.refused("ledger", "--verify")
    for _ in range(3):
        commands("score", held_out, guess, "-m", "las")
    good = commands("ledger", "--verify").out
    assert good.startswith(f"{ledger_path}: 3 lines, hash chain intact; last hash ")
    published = good.split()[-1]
    commands("score", held_out, guess, "-m", "las")
    assert commands("ledger", "--verify", "--head", published[:12]).out.splitlines()[1] == (
        f"{published[:12]} is line 3 of 4"
    )
    assert "no line has the hash" in commands.refused("ledger", "--verify", "--head", "0" * 12)
    assert json.loads(commands("ledger", "--verify", "--json").out)["lines"] == 4
    ledger_path.write_text(ledger_path.read_text().replace("las.v1", "uas.v1", 1))
    assert commands.refused("ledger", "--verify").startswith(f"{ledger_path}:2: follows ")
    ledger_path.write_text("".join(ledger_path.read_text().splitlines(keepends=True)[:-2]))
    assert commands("ledger", "--verify").err.count("\n") == 2


def test_an_incomplete_last_line_is_repaired_with_a_note(
    commands: Commands, held_out: Path, guess: Path, ledger_path: Path
) -> None:
    commands("score", held_out, guess, "-m", "las")
    with ledger_path.open("a") as file:
        file.write('{"event":"lo')
    assert "an incomplete last line" in commands("ledger", "--verify").err
    assert "the last line was incomplete" in commands("score", held_out, guess, "-m", "las").err
    assert [line["event"] for line in lines_of(ledger_path)] == ["look", "repair", "look"]


def test_a_sealed_test_set_can_be_scored_without_its_labels(
    commands: Commands, held_out: Path, guess: Path, ledger_path: Path
) -> None:
    expected = commands("score", held_out, guess, "-m", "las").out
    outcome = commands("ledger", "seal", held_out, "--budget", 9)
    copy = held_out.with_name("en-ud-test.unlabelled.conllu")
    assert outcome.out.splitlines()[1] == f"copy without labels, to hand out: {copy}"
    assert outcome.err == f"note: {held_out} still exists with its labels; delete it or move it away yourself\n"
    held_out.unlink()
    found = commands("score", copy, guess, "-m", "las")
    assert found.out == expected
    assert f"{copy}: no labels; scored against the sealed labels of en-ud-test.conllu" in found.err
    assert "yes" in commands("ledger").out
    assert "sealed already" not in commands("ledger", "show", copy).out
    assert "no labels; expected a test set" in commands("ledger", "seal", copy, "--missing-heads").err
    assert json.loads(commands("ledger", "--json").out)["test_sets"][0]["budget"] == 9


def test_another_ledger_can_be_named(commands: Commands, held_out: Path, guess: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    commands("score", held_out, guess, "--ledger", other)
    assert len(lines_of(other)) == 1
    assert "No evaluation" in commands("ledger").out
    assert "en-ud-test.conllu" in commands("ledger", "--ledger", other).out


def test_a_test_set_is_scored_where_no_ledger_can_be_kept(commands: Commands, held_out: Path, guess: Path) -> None:
    outcome = commands("score", held_out, guess, "-m", "las", "--ledger", held_out / "ledger.jsonl")
    assert outcome.code == 0
    assert "87.50" in outcome.out
    assert outcome.err.endswith("(not a directory); this evaluation was not recorded\n")


def test_nothing_is_printed_when_the_budget_is_spent_and_nothing_recorded_when_input_is_wrong(
    commands: Commands, held_out: Path, guess: Path, ledger_path: Path
) -> None:
    commands.refused("score", held_out, guess, "-m", "lass")
    assert not ledger_path.exists()
    commands("ledger", "guard", held_out, "--budget", 0)
    commands.refused("score", held_out, guess, "--json")
    commands.refused("compare", held_out, f"a={guess}", f"b={os.path.relpath(guess)}")
    assert [line["event"] for line in lines_of(ledger_path)] == ["guard"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["guard"], "no file; expected deadheat ledger guard FILE"),
        (["--budget", "3"], "--budget without guard or seal"),
        (["show", "x", "--out", "y"], "--out without seal"),
        (["--verify", "show", "x"], "--verify beside show"),
        (["repair"], "repair without a reason"),
        (["repair", "x", "--reason", "y"], "repair with a file"),
        (["--reason", "y"], "--reason without repair"),
        (["--head", "0" * 12], "--head without --verify"),
        (["--verify", "--head", "xyz"], "expected 8 to 64 digits of a hash"),
        (["show", "missing.conllu"], "missing.conllu: cannot be read (no such file or directory)"),
        (["guard", "x", "--budget", "-1"], "'-1'; expected a whole number"),
        (["burn"], "invalid choice"),
        (["--by", "day"], "invalid choice"),
        (["show", "x", "--by", "year"], "--by beside an action or --verify"),
        (["--counts", "x.csv"], "--counts without --by year"),
        (["--by", "month", "--counts", "x.csv"], "--counts without --by year"),
    ],
)
def test_mistakes_are_one_line(commands: Commands, arguments: list[str], message: str) -> None:
    assert message in commands.refused("ledger", *arguments)


def test_a_folder_is_no_test_set(commands: Commands, held_out: Path, guess: Path) -> None:
    assert "2 files; expected one test set at a time" in commands.refused("ledger", "guard", held_out.parent)


def test_what_is_no_ledger_is_not_written_to(commands: Commands, held_out: Path, guess: Path, tmp_path: Path) -> None:
    other = tmp_path / "treebank.conllu"
    other.write_bytes(guess.read_bytes())
    outcome = commands("score", held_out, guess, "-m", "las", "--ledger", other)
    assert "not a ledger" in outcome.err
    assert other.read_bytes() == guess.read_bytes()
    assert "not a ledger" in commands.refused("ledger", "--ledger", other)
    assert "not a ledger" in commands.refused("ledger", "guard", held_out, "--ledger", other)


def test_only_a_ledger_that_is_there_verifies(commands: Commands, tmp_path: Path) -> None:
    assert "no such ledger" in commands.refused("ledger", "--verify", "--ledger", tmp_path / "nothing.jsonl")


def test_an_evaluation_after_lines_were_deleted_warns(
    commands: Commands, held_out: Path, guess: Path, ledger_path: Path
) -> None:
    for _ in range(2):
        commands("score", held_out, guess, "-m", "las")
    ledger_path.unlink()
    assert "lines were deleted at the end; evaluations may be missing here" in commands("score", held_out, guess).err


def test_sentences_of_sealed_labels_are_not_shown(
    commands: Commands, held_out: Path, guess: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.conllu"
    other.write_bytes(held_out.read_bytes())
    shown = json.loads(commands("compare", held_out, f"a={guess}", f"b={other}", "--json").out)
    assert shown["agreement"]["sentences"]
    commands("ledger", "seal", held_out, "--out", tmp_path / "text.conllu")
    sealed = json.loads(commands("compare", tmp_path / "text.conllu", f"a={guess}", f"b={other}", "--json").out)
    assert sealed["agreement"]["sentences"] == []
    assert sealed["pairs"] == shown["pairs"]


def test_an_empty_file_is_no_test_set(commands: Commands, tmp_path: Path) -> None:
    empty = tmp_path / "test.conllu"
    empty.write_text("")
    assert "no words; expected a test set" in commands.refused("ledger", "guard", empty)


def test_a_look_is_a_command_and_the_same_one_again_is_no_new_look(
    commands: Commands, held_out: Path, guess: Path, tmp_path: Path
) -> None:
    right = tmp_path / "right.conllu"
    right.write_bytes(held_out.read_bytes())
    systems = (f"a={guess}", f"b={right}")

    def look(*arguments: object) -> tuple[int, int, int]:
        (tally,) = json.loads(commands(*arguments, "--json").out)["evaluations"]
        return tally["look"], tally["looks"], tally["evaluations"]

    assert look("compare", held_out, *systems) == (1, 1, 2)
    assert look("score", held_out, guess, "-m", "las") == (2, 2, 3)
    assert look("compare", held_out, *systems, "-m", "upos") == (3, 3, 5)
    assert look("compare", held_out, *systems) == (1, 3, 7)
    assert json.loads(commands("ledger", "--json").out)["test_sets"][0]["looks"] == 3


def test_evaluations_are_counted_by_year_and_by_month(
    commands: Commands, held_out: Path, guess: Path, ledger_path: Path
) -> None:
    commands("score", held_out, guess, guess, "-m", "las")
    year = str(lines_of(ledger_path)[0]["time"])[:4]
    result = json.loads(commands("ledger", "--by", "year", "--json").out)
    assert (result["by"], result["periods"]) == ("year", [{"period": year, "counts": [2]}])
    shown = commands("ledger", "--by", "month").out
    assert "median per test set" in shown
    assert f"{str(lines_of(ledger_path)[0]['time'])[:7]} " in shown
    assert "month" not in commands("ledger").out


def test_counts_by_year_can_come_from_a_table(commands: Commands, tmp_path: Path) -> None:
    """Two papers of 2010 with 2 and 4 models, three of 2020 with 3, 8 and 10."""
    table = tmp_path / "papers.csv"
    table.write_text("year,count\n2020,8\n2010,2\n2020,3\n2010,4\n2020,10\n")
    shown = commands("ledger", "--by", "year", "--counts", table).out.splitlines()
    assert shown[0] == "27 evaluations in 2 years."
    assert [line.split() for line in shown if line.startswith("20")] == [
        ["2010", "2", "6", "3", "4"],
        ["2020", "3", "21", "8", "10"],
    ]
    table.write_text("year,count\n2020,2.5\n")
    assert "papers.csv:2: count 2.5; expected a whole number" in commands.refused(
        "ledger", "--by", "year", "--counts", table
    )


def test_a_guarded_test_set_is_not_scored_by_a_changed_ledger_until_somebody_accepts_it(
    commands: Commands, held_out: Path, guess: Path, ledger_path: Path
) -> None:
    commands("ledger", "guard", held_out, "--budget", 1)
    commands("score", held_out, guess, "-m", "las")
    ledger_path.write_text(ledger_path.read_text().replace('"budget":1', '"budget":900'))
    for extra in ((), ("--over-budget", "no budget seems right")):
        line = commands.refused("score", held_out, guess, "-m", "las", *extra)
        assert line.startswith("en-ud-test.conllu: guarded, but the ledger was changed (")
        assert "a line was edited, deleted or moved here" in line
        assert 'deadheat ledger repair --reason "..."' in line
    assert "deadheat ledger --verify" in commands("ledger").err
    assert "deadheat ledger --verify" in commands("ledger", "show", held_out).err
    assert "deadheat ledger --verify" in commands("ledger", "guard", held_out).err
    accepted = commands("ledger", "repair", "--reason", "a typo").out.splitlines()
    assert accepted[0] == f"{ledger_path}: accepted as it is; check the budgets (deadheat ledger)"
    assert len(accepted) == 2
    assert "accepted by" in commands("ledger", "--verify").err
    assert commands("score", held_out, guess, "-m", "las").code == 0
    assert commands("ledger").err == ""
    assert "the hash chain is intact" in commands.refused("ledger", "repair", "--reason", "once more")


def test_a_deleted_head_is_reported_by_every_later_command(
    commands: Commands, held_out: Path, guess: Path, ledger_path: Path
) -> None:
    for _ in range(3):
        commands("score", held_out, guess, "-m", "las")
    ledger_path.write_text(ledger_path.read_text().partition("\n")[0] + "\n")
    ledger_path.with_name("ledger.jsonl.head").unlink()
    for _ in range(2):
        assert "deadheat ledger --verify" in commands("score", held_out, guess, "-m", "las").err
    assert "lines before it may have been deleted" in commands.refused("ledger", "--verify")
    assert "deadheat ledger --verify" in commands("ledger", "--json").err


def test_evaluations_are_shown_by_a_part_of_a_test_set(
    commands: Commands, held_out: Path, guess: Path, tmp_path: Path
) -> None:
    commands("score", held_out, guess, "-m", "las")
    part = tmp_path / "part.conllu"
    part.write_text("".join(held_out.read_text().partition("\n\n")[:2]))
    shown = commands("ledger", "show", part)
    assert "part.conllu: 100 % of its words are in sentences of en-ud-test.conllu" in shown.err
    assert shown.out == commands("ledger", "show", held_out).out


def test_names_in_the_output_cannot_move_the_cursor(commands: Commands, held_out: Path, guess: Path) -> None:
    evil = held_out.rename(held_out.with_name("\x1b[2J\udcff-test.conllu"))
    shown = [commands("ledger", "guard", evil, "--budget", 9), commands("score", evil, guess, "-m", "las")]
    shown += [commands("ledger"), commands("ledger", "show", evil), commands("ledger", "seal", evil)]
    shown += [commands("ledger", "--json"), commands("info", evil), commands("score", evil, guess, "--json")]
    for outcome in shown:
        assert outcome.code == 0, outcome.err
        assert "\x1b" not in outcome.out + outcome.err
        assert (outcome.out + outcome.err).encode()
