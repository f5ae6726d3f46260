from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import Commands


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = [
        f"{name},{seed},{rng.normal(94, 0.2):.2f},{rng.normal(mean, 0.2):.2f}\n"
        for name, mean in (("A", 90.6), ("B", 91.2))
        for seed in range(20)
    ]
    path = tmp_path / "runs.csv"
    path.write_text("system,seed,dev,test\n" + "".join(rows))
    return path


def test_the_terminal_shows_systems_pairs_and_seeds(commands: Commands, runs: Path) -> None:
    outcome = commands("seeds", runs, "--system", "system", "--score", "test", "--dev", "dev", "--difference", 0.1)
    assert outcome.code == 0
    assert outcome.err == ""
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["system", "seeds", "min", "median", "max", "mean", "sd"]
    assert lines[1].startswith("B")  # the better one first
    assert "B wins" in outcome.out
    assert "two random seeds" in outcome.out
    assert "+0.10" in outcome.out


def test_verdicts_tell_too_few_seeds_from_no_difference(commands: Commands, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text(
        "system,seed,test\n" + "".join(f"{name},{i},{10 * (name == 'B') + i}\n" for name in "AB" for i in range(3))
    )
    out = commands("seeds", path, "--score", "test").out
    assert "too few seeds" in out
    assert "dead heat" not in out
    path.write_text("system,seed,test\n" + "".join(f"{name},{i},{i}\n" for name in "AB" for i in range(6)))
    assert "no difference shown" in commands("seeds", path, "--score", "test").out


def test_json_has_everything(commands: Commands, runs: Path) -> None:
    found = json.loads(commands("seeds", runs, "--score", "test", "--dev", "dev", "--json").out)
    (block,) = found["blocks"]
    assert block["systems"][0]["n"] == 20
    assert block["systems"][0]["dev_test"]["spearman"]["test"] == "Spearman"
    assert block["pairs"][0]["mann_whitney"]["p_corrected"] < 0.001
    need = block["pairs"][0]["seeds_needed"]
    assert 2 <= need["seeds_low"] <= need["seeds"] <= need["seeds_high"]
    assert block["differences"]["configurations"] == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--score", "tests"], "column 'tests' is unknown; did you mean 'test'?"),
        (["--score", "system"], "runs.csv:2: system 'A'; expected a number"),
        ([], "the following arguments are required: --score"),
        (["--score", "test", "--where", "system=C"], "system 'C' is unknown; expected one of A, B"),
        (["--score", "test", "--where", "seed"], "condition 'seed'; expected COLUMN=VALUE"),
    ],
)
def test_wrong_input_is_one_line(commands: Commands, runs: Path, arguments: list[str], told: str) -> None:
    assert told in commands.refused("seeds", runs, *arguments)
