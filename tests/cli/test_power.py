"""The power command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import deadheat
from deadheat.testbed import built_in
from tests.cli.item_files import inspect_log, right
from tests.cli.running import Commands
from tests.questions.item_worlds import ItemDesign, draw


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Gold and one prediction of two systems; documents are not marked."""
    folder, made = tmp_path_factory.mktemp("power"), built_in(sentences=60, seed=2)
    gold = "".join(line for line in made.gold.splitlines(keepends=True) if not line.startswith("#"))
    for name, text in {"gold": gold, "a": made.predictions["A"], "b": made.predictions["B"]}.items():
        (folder / f"{name}.conllu").write_text(text, encoding="utf-8")
    return [str(folder / "gold.conllu"), f"a={folder / 'a.conllu'}", f"b={folder / 'b.conllu'}"]


def test_files_are_the_noise_and_the_difference_is_asked_for(commands: Commands, files: list[str]) -> None:
    outcome = commands("power", *files, "--difference", 5)
    assert outcome.out.startswith("If a and b truly differ by 5.00 points of LAS, a test set of 60 sentences shows it")
    assert "sentences needed, 95% CI" in outcome.out
    assert "one run of a and of b" in outcome.err
    result = json.loads(commands("power", *files, "--difference", 5, "--json").out)
    assert (result["kind"], result["schema"], result["difference"]) == ("power", 2, 0.05)
    assert (result["systems"], result["metric"], result["unit"]) == (["a", "b"], "LAS", "sentence")
    larger = json.loads(commands("power", *files, "--difference", 5, "--units", 600, "--json").out)
    assert (larger["units"], larger["measured_units"]) == (600, 60)
    assert larger["error"] == pytest.approx(result["error"] / 10**0.5)


def test_a_name_that_is_repeated_has_several_runs(commands: Commands, files: list[str]) -> None:
    again = [files[1].replace("a=", "b="), files[2].replace("b=", "a=")]
    shown = commands("power", *files, *again, "--difference", 5, "--runs", 4).out
    assert "a test set of 60 sentences with 4 runs of each system shows it" in shown
    assert "runs 4 | alpha" in shown


def test_a_pattern_has_several_runs(commands: Commands, files: list[str], tmp_path: Path) -> None:
    runs = []
    for name, path in (file.split("=") for file in files[1:]):
        for run, other in ((1, path), (2, path.replace(f"{name}.conllu", f"{'ab'.replace(name, '')}.conllu"))):
            copy = tmp_path / f"{name}.{run}.conllu"
            copy.write_text(Path(other).read_text())
            runs.append(f"{name}={copy}")
    expected = commands("power", files[0], *runs, "--difference", 5)
    assert "2 runs of each system" in expected.out
    patterns = [f"{name}={tmp_path}/{name}.*.conllu" for name in "ab"]
    assert commands("power", files[0], *patterns, "--difference", 5) == expected
    in_python = deadheat.power(files[0], {name: f"{tmp_path}/{name}.*.conllu" for name in "ab"}, difference=5)
    assert in_python.runs == (2, 2)
    message = commands.refused("power", *files[:2], f"b={tmp_path}/c.*.conllu", "--difference", 5)
    assert message.endswith("c.*.conllu: no file matches; expected at least one")


def test_everything_that_is_missing_is_named_at_once(commands: Commands, files: list[str]) -> None:
    shown = "--difference 0.5, the difference to show in points"
    expected = f"no files; expected GOLD NAME=PRED NAME=PRED or scores of items, and {shown}; or --accuracies"
    assert commands.refused("power") == f"deadheat power: {expected}"
    expected = f"{files[0]} alone; expected GOLD NAME=PRED NAME=PRED ..., or scores of items; and {shown}"
    assert commands.refused("power", files[0]) == f"deadheat power: {expected}"
    message = commands.refused("power", *files[:2])
    assert message == f"deadheat power: 1 system and no --difference; expected two, and {shown}"


def test_a_pattern_of_logs_has_several_runs(commands: Commands, tmp_path: Path) -> None:
    for name, rate in (("a", 0.8), ("b", 0.6)):
        for run in (1, 2):
            inspect_log(tmp_path / f"{name}.{run}.json", "sums", right(rate, seed=run), name)
    runs = [f"{name}={tmp_path}/{name}.{run}.json" for name in "ab" for run in (1, 2)]
    patterns = [f"{name}={tmp_path}/{name}.*.json" for name in "ab"]
    for command in (("compare",), ("power", "--difference", 5)):
        expected = commands(*command, *runs)
        assert expected.code == 0
        assert commands(*command, *patterns) == expected


def test_assumed_accuracies_need_no_files(commands: Commands) -> None:
    arguments = ("power", "--size", 1000, "--accuracies", 0.95, 0.93, "--agreement", 0.96)
    result = json.loads(commands(*arguments, "--json").out)
    assert (result["kind"], result["units"], result["design_effect"]) == ("power", 1000, 1)
    shown = commands(*arguments).out
    assert shown.startswith("If the true difference is 2.00 points, a test set of 1,000 items shows it")
    clustered = json.loads(commands(*arguments, "--design-effect", 2, "--json").out)
    assert clustered["power"] < result["power"]
    runs = commands(*arguments, "--runs", 5, "--run-sd", 0.3).out
    assert "a test set of 1,000 items with 5 runs of each system" in runs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "no --difference; expected --difference 0.5, the difference to show in points"),
        (["--difference", "0"], "difference 0; expected points other than 0, up to 100"),
        (["--difference", "nan"], "difference nan; expected points other than 0"),
        (["--difference", "1", "--design-effect", "2"], "--design-effect with files; expected it with --accuracies"),
        (["--difference", "1", "--runs", "5"], "the noise between runs is unknown for a; expected two or more runs"),
        (["--difference", "1", "--runs", "1"], "1 run of each system; expected at least two"),
        (["--difference", "1", "--documents", "9"], "9 documents although sentences vary; expected one size"),
        (["--difference", "1", "--units", "1"], "1 units, which weigh as much as"),
    ],
)
def test_mistakes_with_files_are_one_line(
    commands: Commands, files: list[str], options: list[str], message: str
) -> None:
    assert message in commands.refused("power", *files, *options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--difference", "1"], "--difference with --accuracies; expected it with files only"),
        (["--unit", "document"], "--unit with --accuracies; expected it with files only"),
        (["--runs", "5"], "expected --runs R and --run-sd POINTS"),
        (["--runs", "1", "--run-sd", "1"], "expected at least two runs"),
        (["--design-effect", "0"], "design effect 0; expected a number above 0"),
    ],
)
def test_mistakes_with_accuracies_are_one_line(commands: Commands, options: list[str], message: str) -> None:
    assumed = ("--accuracies", 0.9, 0.8, "--agreement", 0.85, "--units", 100)
    assert message in commands.refused("power", *assumed, *options)


def test_predictions_that_hardly_differ_have_no_noise(commands: Commands, gold: Path, guess: Path) -> None:
    copy = guess.with_name("copy.conllu")
    for text in (guess.read_text(), gold.read_text()):  # they differ on no document, and on one
        copy.write_text(text)
        refused = commands.refused("power", gold, f"a={guess}", f"b={copy}", "--difference", 1)
        assert refused.startswith("5 units, but the systems differ on fewer than two of them")


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("items") / "items.csv"
    frame = draw(ItemDesign("", items=60, attempts=3), np.random.default_rng(1)).drop("passage", "task")
    frame.write_csv(path)
    return path


def test_a_table_of_items_says_what_more_items_and_more_attempts_would_buy(commands: Commands, items: Path) -> None:
    shown = commands("power", items, "--difference", 8, "--units", 100, "--attempts", 5).out
    assert "a test set of 100 items with 5 attempts of each system shows it" in shown
    (heading,) = (line for line in shown.splitlines() if line.startswith("attempts  "))
    assert heading.split() == ["attempts", "100", "items", "200", "items", "items", "needed"]
    result = json.loads(commands("power", items, "--difference", 8, "--json").out)
    assert (result["runs"], result["repeat"], len(result["attempts"])) == ([3, 3], "attempt", 7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "no --difference; expected --difference 0.5, the difference to show in points"),
        (["--difference", "5", "--attempts", "0"], "0 attempts; expected at least one"),
        (["--difference", "5", "--runs", "4"], "although the repeats are attempts; expected --attempts"),
        (["--difference", "5", "--pair", "A"], "1 system (A); expected two"),
        (["--difference", "5", "--documents", "9"], "--documents is for files of predictions; expected none here"),
        (["--difference", "5", "--units", "1"], "1 units, which weigh as much as"),
    ],
)
def test_mistakes_with_items_are_one_line(commands: Commands, items: Path, options: list[str], message: str) -> None:
    assert message in commands.refused("power", items, *options)


def test_options_of_items_are_not_for_files(commands: Commands, files: list[str]) -> None:
    refused = commands.refused("power", *files, "--difference", 1, "--attempts", 4)
    assert "--attempts is for scores of items; expected none here" in refused
    assumed = ("--accuracies", 0.9, 0.8, "--agreement", 0.85, "--units", 100)
    assert "--pair is for scores of items" in commands.refused("power", *assumed, "--pair", "A", "B")
