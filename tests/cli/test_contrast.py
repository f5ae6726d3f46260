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


def test_json_has_blocks_of_options(commands: Commands, runs: Path) -> None:
    outcome = commands("contrast", runs, "--factor", "opt", "--score", "score", "--json")
    (block,) = json.loads(outcome.out)["blocks"]
    assert (block["by"], block["configurations"]) == ("", 12)
    assert [each["option"] for each in block["options"]] == ["none", "cnn", "lstm"]
    assert [each["wins"] for each in block["options"]] == [0, 0, 1]
    assert block["options"][2]["median_delta"] == 0
    assert block["options"][0]["median_delta"] == pytest.approx(-0.08)
    assert {"option", "wins", "median_delta", "sd"} <= block["options"][0].keys()
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
