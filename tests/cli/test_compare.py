from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Commands


def test_compare_prints_scores_pairs_and_who_is_tied(
    commands: Commands, gold: Path, guess: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.conllu"
    other.write_text(gold.read_text(), encoding="utf-8")
    shown = commands("compare", gold, f"guess={guess}", f"other={other}")
    assert shown.code == 0
    assert "permutation-exact, by sentence" in shown.out
    assert "tied with the best: other, guess" in shown.out
    assert "Where they disagree most" in shown.out
    told = json.loads(commands("compare", gold, f"guess={guess}", f"other={other}", "--json").out)
    assert told["tied"] == ["other", "guess"]
    assert [row["system"] for row in told["systems"]] == ["guess", "other"]


def test_power_is_told(commands: Commands, gold: Path, guess: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.conllu"
    other.write_text(gold.read_text(), encoding="utf-8")
    assert "units needed" in commands("power", gold, f"a={guess}", f"b={other}").out
    arguments = ("power", "--size", 1000, "--accuracies", 0.95, 0.93, "--agreement", 0.96)
    told = json.loads(commands(*arguments, "--json").out)
    assert (told["kind"], told["units"]) == ("power", 1000)
    named = json.loads(commands("power", gold, f"a={guess}", f"b={other}", "--json").out)
    assert (named["systems"], named["metric"], named["unit"]) == (["a", "b"], "LAS", "sentence")
    assert commands(*arguments).out.startswith("difference")


def test_a_table_of_scores_can_be_compared(commands: Commands, tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("data,A,B\nen,90,89\nde,85,84\nfi,80,78\n")
    told = json.loads(commands("compare", "--scores", table, "--json").out)
    assert told["pairs"][0]["p"] == 0.25
    assert "84.00" not in commands("compare", "--scores", table, "--test", "sign").err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["GOLD", "GUESS"], "expected NAME=FILE"),
        (["GOLD", "a=GUESS", "a=GUESS"], "two systems are named a"),
        (["GOLD", "a=GOLD", "b=GUESS"], "the gold file itself"),
        (["GOLD", "a=GUESS"], "1 system; expected at least two"),
        (["GOLD", "a=GUESS", "b=GUESS", "--test", "mcnemr-exact"], "did you mean 'mcnemar-exact'"),
        (["GOLD", "a=GUESS", "b=GUESS", "--metric", "lass"], "did you mean 'las'"),
        (["GOLD", "a=GUESS", "b=GUESS", "--alpha", "2"], "alpha 2.0; expected between 0 and 1"),
        (["GOLD", "a=GUESS", "b=GUESS", "--reference", "c"], "reference 'c' is unknown"),
        (["--scores", "GOLD", "GOLD"], "expected files or a table, not both"),
        ([], "expected GOLD NAME=PRED"),
    ],
)
def test_wrong_input_is_one_line(arguments: list[str], told: str, commands: Commands, gold: Path, guess: Path) -> None:
    filled = [each.replace("GOLD", str(gold)).replace("GUESS", str(guess)) for each in arguments]
    if "--scores" in filled:
        filled = [filled[2], *filled[:2]]
    assert told in commands.refused("compare", *filled)


def test_words_that_differ_are_told(commands: Commands, gold: Path, guess: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.conllu"
    other.write_text(gold.read_text().replace("Cats", "Rats"), encoding="utf-8")
    assert f"{other}:9:" in commands.refused("compare", gold, f"a={guess}", f"b={other}")


def test_two_metrics_at_once_are_refused(commands: Commands, gold: Path, guess: Path) -> None:
    arguments = ("compare", gold, f"a={guess}", f"b={guess}", "-m", "las", "-m", "uas")
    assert commands.refused(*arguments) == "deadheat compare: 2 metrics; expected one at a time"


def test_options_for_files_are_refused_with_a_table(commands: Commands, tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("data,A,B\nen,90,89\nde,85,84\n")
    assert "expected none with --scores" in commands.refused("compare", "--scores", table, "--unit", "token")
