from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.cli.running import Commands

RUNS = "id,opt,size,score\n" + "".join(
    f"{3 * size + k},{opt},{size},{0.5 + 0.01 * size + 0.02 * k * (size % 3 + 1)}\n"
    for size in range(12)
    for k, opt in enumerate(("none", "cnn", "lstm"))
)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.csv"
    path.write_text(RUNS)
    return path


def test_the_terminal_shows_options_best_first(commands: Commands, runs: Path) -> None:
    outcome = commands("contrast", runs, "--factor", "opt", "--score", "score", "--importance")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "12 configurations"
    assert [line.split()[0] for line in lines[2:5]] == ["lstm", "cnn", "none"]
    assert "paired on size" in outcome.out
    assert "variance explained" in outcome.out


def test_spread_is_shown_by_both_tests(commands: Commands, runs: Path) -> None:
    outcome = commands("contrast", runs, "--factor", "opt", "--score", "score")
    assert outcome.out.splitlines()[1].endswith("p (sign)  p (Wilcoxon)  p (sd)")
    assert "Brown-Forsythe, which takes options for independent: p = " in outcome.out


def test_repeated_runs_are_told_beside_configurations(commands: Commands, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    lines = [
        f"{opt},{size},{0.5 + 0.1 * k * (opt == 'x') + 0.01 * size}" for size in (1, 2) for opt in "xy" for k in (1, 2)
    ]
    path.write_text("\n".join(["opt,size,score", *lines]) + "\n")
    asked = ("contrast", path, "--factor", "opt", "--score", "score", "--setting", "size", "--importance")
    each = commands(*asked, "--repeats", "each").out
    assert each.startswith("2 configurations, 4 runs of each option\n")
    assert "tests are made on the means of configurations" in each
    assert "noise between runs of the same settings" in each
    assert commands(*asked).out.startswith("2 configurations\n")


def test_shares_of_runs_without_repeats_are_said_to_include_chance(commands: Commands, runs: Path) -> None:
    out = commands("contrast", runs, "--score", "score", "--importance").out
    assert out.endswith("exact, of these runs, chance included: no combination was run more than once\n")


def test_json_has_blocks_of_options(commands: Commands, runs: Path) -> None:
    outcome = commands("contrast", runs, "--factor", "opt", "--score", "score", "--json")
    told = json.loads(outcome.out)
    assert (told["kind"], told["scale"]) == ("contrast", 100)
    (block,) = told["blocks"]
    assert (block["by"], block["configurations"]) == ("", 12)
    assert [each["option"] for each in block["options"]] == ["none", "cnn", "lstm"]
    assert [each["wins"] for each in block["options"]] == [0, 0, 1]
    assert block["options"][2]["median_delta"] == 0
    assert block["options"][0]["median_delta"] == pytest.approx(-0.08)
    assert {"option", "wins", "median_delta", "sd"} <= block["options"][0].keys()
    assert block["options"][2]["delta_quantiles"] == [0] * 7
    assert len(block["pairs"]) == 3


def test_standard_input_is_a_table(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(RUNS.encode())))
    assert commands("contrast", "-", "--factor", "opt", "--score", "score").code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--factor", "opts", "--score", "score"], "column 'opts' is unknown; did you mean 'opt'?"),
        (["--factor", "size", "--score", "opt"], "opt 'none'; expected a number"),
        (["--score", "score"], "no factor; expected --factor COL, or --importance"),
        (["--factor", "opt"], "the following arguments are required: --score"),
        (["--factor", "opt", "--score", "score", "--where", "opt=cnn"], "opt has one option, cnn"),
        (["--factor", "size", "--score", "score", "--setting", "id"], "id differs in all"),
        (["--factor", "opt", "--score", "score", "--where", "size=1", "--where", "id=0"], "no run has size=1 and id=0"),
    ],
)
def test_wrong_input_is_one_line(commands: Commands, runs: Path, arguments: list[str], told: str) -> None:
    assert told in commands.refused("contrast", runs, *arguments)
