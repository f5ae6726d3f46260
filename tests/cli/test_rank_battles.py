"""The rank command on battles."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.cli.running import Commands
from tests.questions.test_rank_battles import battles


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "battles.csv"
    rows_ = [*battles("A", "B", 40, 5, 20), *battles("B", "C", 30, 5, 30, 100), *battles("A", "C", 20, 2, 9, 200)]
    pl.DataFrame(rows_).write_csv(path)
    return path


def test_the_command_knows_battles_by_their_columns(commands: Commands, file: Path) -> None:
    assert "best strength" in commands("rank", file).out
    assert '"kind": "battles"' in commands("rank", file, "--json").out
    assert "units 161 (prompt)" in commands("rank", file).out
    assert "3 (winner)" in commands("rank", file, "--cluster", "winner").out


def test_options_of_scores_are_refused_with_battles_and_the_reverse(
    commands: Commands, file: Path, tmp_path: Path
) -> None:
    assert "--exact is for tables of scores; expected none here" in commands.refused("rank", file, "--exact")
    assert "column 'judge'" in commands.refused("rank", file, "--cluster", "judge")
    scores = tmp_path / "scores.csv"
    scores.write_text("dataset,A,B\nx,1,2\ny,2,1\nz,4,5\n")
    refused = commands.refused("rank", scores, "--cluster", "dataset")
    assert "--cluster is for battles or scores of items; expected none here" in refused
    broken = tmp_path / "broken.csv"
    broken.write_text("model_a,model_b,winner\nA,B,model_a\nB,A,maybe\n")
    assert commands.refused("rank", broken).startswith(f"{broken}:3: winner 'maybe'; expected")
