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


def test_the_terminal_shows_the_verdict_options_best_first_and_importance(commands: Commands, runs: Path) -> None:
    outcome = commands("contrast", runs, "--factor", "opt", "--score", "score", "--importance")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("lstm has the best score and is shown to be better than both others.")
    lines = outcome.out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("opt "))
    assert lines[at].endswith("p (sign)  p (Wilcoxon)  p (spread)")
    assert [line.split()[0] for line in lines[at + 1 : at + 4]] == ["lstm", "cnn", "none"]
    for words in (
        "ties for the highest score",
        "Runs are paired on size",
        "every combination was run once, so shares include",
    ):
        assert words in outcome.out


def test_json_has_blocks_of_options(commands: Commands, runs: Path) -> None:
    outcome = commands("contrast", runs, "--factor", "opt", "--score", "score", "--alpha", "0.01", "--json")
    result = json.loads(outcome.out)
    assert (result["kind"], result["scale"], result["alpha"]) == ("contrast", {"factor": 100.0, "decimals": 2}, 0.01)
    (block,) = result["blocks"]
    comparison = block["comparison"]
    assert (block["level"], comparison["configurations"], len(comparison["pairs"])) == ("", 12, 3)
    assert [row["option"] for row in comparison["options"]] == ["none", "cnn", "lstm"]
    assert [row["wins"] for row in comparison["options"]] == [0, 0, 1]
    assert [row["median_difference"] for row in comparison["options"]] == pytest.approx([-0.08, -0.04, 0])
    assert comparison["options"][2]["difference_quantiles"] == [0] * 7


def test_standard_input_is_a_table(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(RUNS.encode())))
    assert commands("contrast", "-", "--factor", "opt", "--score", "score").code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--factor", "opts", "--score", "score"], "column 'opts' is unknown; did you mean 'opt'?"),
        (["--factor", "size", "--score", "opt"], "opt 'none'; expected a number"),
        (["--score", "score"], "no factor; expected --factor COLUMN, or --importance"),
        (["--factor", "opt"], "the following arguments are required: --score"),
        (["--factor", "opt", "--score", "score", "--where", "opt=cnn"], "opt has one option, cnn"),
        (["--factor", "size", "--score", "score", "--setting", "id"], "id differs in all"),
        (["--factor", "opt", "--score", "score", "--where", "size=1", "--where", "id=0"], "no run has size=1 and id=0"),
    ],
)
def test_wrong_input_is_one_line(commands: Commands, runs: Path, arguments: list[str], told: str) -> None:
    assert told in commands.refused("contrast", runs, *arguments)
