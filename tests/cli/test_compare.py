from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Commands


def test_compare_prints_a_verdict_scores_pairs_and_disagreement(
    commands: Commands, gold: Path, guess: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.conllu"
    other.write_text(gold.read_text(), encoding="utf-8")
    shown = commands("compare", gold, f"guess={guess}", f"other={other}")
    assert shown.code == 0
    assert shown.out.startswith(
        "other is ahead of guess by 12.50 points of LAS, but there are too few sentences to tell"
    )
    assert "the exact permutation test on sentences: every unit has the same total for all systems" in shown.out
    assert "guess - other      -12.50  [-27.27, +0.00]" in shown.out
    assert "Where the systems disagree" in shown.out
    result = json.loads(commands("compare", gold, f"guess={guess}", f"other={other}", "--json").out)
    assert result["tied"] == ["other", "guess"]
    assert [row["system"] for row in result["systems"]] == ["guess", "other"]


def test_a_table_of_scores_can_be_compared(commands: Commands, tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("data,A,B\nen,90,89\nde,85,84\nfi,80,78\n")
    result = json.loads(commands("compare", "--scores", table, "--json").out)
    assert result["pairs"][0]["p"] == 0.25


@pytest.mark.parametrize(
    ("arguments", "message"),
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
def test_wrong_input_is_one_line(
    arguments: list[str], message: str, commands: Commands, gold: Path, guess: Path
) -> None:
    filled = [argument.replace("GOLD", str(gold)).replace("GUESS", str(guess)) for argument in arguments]
    if "--scores" in filled:
        filled = [filled[2], *filled[:2]]
    assert message in commands.refused("compare", *filled)


def test_words_that_differ_are_refused_with_their_line(
    commands: Commands, gold: Path, guess: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.conllu"
    other.write_text(gold.read_text().replace("Cats", "Rats"), encoding="utf-8")
    assert f"{other}:9:" in commands.refused("compare", gold, f"a={guess}", f"b={other}")


def test_two_metrics_at_once_are_refused(commands: Commands, gold: Path, guess: Path) -> None:
    arguments = ("compare", gold, f"a={guess}", f"b={guess}", "-m", "las", "-m", "uas")
    assert commands.refused(*arguments) == (
        "deadheat compare: argument -m/--metric: given twice; expected one value; see deadheat compare --help"
    )


def test_options_for_files_are_refused_with_a_table(commands: Commands, tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("data,A,B\nen,90,89\nde,85,84\n")
    assert "expected none with --scores" in commands.refused("compare", "--scores", table, "--unit", "token")
