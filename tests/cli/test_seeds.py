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


def test_the_terminal_shows_the_verdict_systems_pairs_and_seeds(commands: Commands, runs: Path) -> None:
    outcome = commands("seeds", runs, "--system", "system", "--score", "test", "--dev", "dev", "--difference", 0.1)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("On this test set, B scores higher than A by 0.")
    lines = outcome.out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.split()[:2] == ["system", "runs"])
    assert lines[at + 1].startswith("B")  # the better one first
    for words in ("two random seeds", "smallest detectable difference", "+0.10", "Spearman's rho"):
        assert words in outcome.out


def test_json_has_everything(commands: Commands, runs: Path) -> None:
    found = json.loads(commands("seeds", runs, "--score", "test", "--dev", "dev", "--json").out)
    (block,) = found["blocks"]
    assert block["systems"][0]["summary"]["n"] == 20
    assert block["systems"][0]["dev_test"]["spearman"]["test"] == "Spearman"
    assert len(block["systems"][0]["density"]["scores"]) == 101
    assert block["pairs"][0]["mann_whitney_p_corrected"] < 0.001
    assert block["pairs"][0]["means"]["interval"]["high"] < 0
    assert block["systems"][0]["range"]["runs"] == 20
    assert 0 < block["aso_false_alarms"]["below_02"] < block["aso_false_alarms"]["below_05"] < 1
    assert (found["schema"], found["margin"]) == (2, "NaN")
    power = block["pairs"][0]["power"]
    assert 2 <= power["seeds_low"] <= power["seeds"] <= power["seeds_high"]
    assert block["differences"]["configurations"] == 2
    assert found["verdict"]["claims"][0]["evidence"][0]["state"] == "shown"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--score", "tests"], "column 'tests' is unknown; did you mean 'test'?"),
        (["--score", "system"], "runs.csv:2: system 'A'; expected a number"),
        ([], "no column of scores; expected --score to name it"),
        (["--score", "test", "--where", "system=C"], "system 'C' is unknown; expected one of A, B"),
        (["--score", "test", "--where", "seed"], "condition 'seed'; expected COLUMN=VALUE"),
    ],
)
def test_wrong_input_is_one_line(commands: Commands, runs: Path, arguments: list[str], message: str) -> None:
    assert message in commands.refused("seeds", runs, *arguments)
