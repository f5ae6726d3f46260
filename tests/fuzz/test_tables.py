"""Damaged tables and result files: every question answers or refuses them, in one line, and nothing is a bug."""

from __future__ import annotations

import io
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from deadheat.cli.main import main
from deadheat.questions.contrast import contrast
from deadheat.questions.rank import rank
from deadheat.questions.seeds import seeds
from deadheat.results.base import Result
from tests.fuzz.mutations import mutate

CASES = 60  # of each file
TREEBANKS = ("en", "de", "fi", "ta")
LONG = "system,treebank,score\n" + "".join(
    f"{name},{treebank},{90 - 3 * i - j / 7:.2f}\n"
    for i, name in enumerate("ABC")
    for j, treebank in enumerate(TREEBANKS)
)
RUNS = "system,seed,layers,dev,score\n" + "".join(
    f"{name},{seed},{layers},{92 - seed / 7:.2f},{90 + seed / 7 + (name == 'B') - layers / 3:.2f}\n"
    for name in "AB"
    for layers in (1, 2)
    for seed in range(3)
)
WIDE = "treebank\tA\tB\tC\n" + "".join(f"{name}\t0.9{i}\t0.8{i}\t0.7{9 - i}\n" for i, name in enumerate(TREEBANKS))
ON_TABLES = (
    ["rank", "--samples", "50"],
    ["compare", "--scores"],
    ["seeds", "--score", "score", "--resamples", "10"],
    ["contrast", "--score", "score", "--factor", "system"],
    ["report"],
)


def files() -> dict[str, bytes]:
    parquet, runs = io.BytesIO(), pl.read_csv(io.StringIO(RUNS))
    pl.read_csv(io.StringIO(LONG)).write_parquet(parquet)
    return {
        "long.csv": LONG.encode(),
        "runs.csv": RUNS.encode(),
        "wide.tsv": WIDE.encode(),
        "runs.jsonl": runs.write_ndjson().encode(),
        "long.parquet": parquet.getvalue(),
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(arguments: list[str], case: str, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    code, printed = main(arguments), capfd.readouterr()
    assert code in (0, 2), (case, arguments, printed.err)
    if code == 2:
        assert printed.out == "", (case, arguments)
        assert printed.err.count("\n") == 1, (case, arguments, printed.err)


@pytest.mark.parametrize("name", files())
def test_damaged_tables_are_read_or_refused(name: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    content = files()[name]
    for seed in range(CASES):
        Path(name).write_bytes(mutate(content, np.random.default_rng([seed, zlib.crc32(name.encode())])))
        command, *options = ON_TABLES[seed % len(ON_TABLES)]
        run([command, *options, name], f"{name} {seed}", capfd)


HEADER = ("metric", "system", "treebank", "score", "seed", "part", "split", "number", "subset", "A", "B", "model_a",
          "model_b", "winner", "item", "id")  # fmt: skip
CELLS = ("las", "a", "b", "1.5", "90", "0", "", "test", "1e14", "-1", "true")


def small_table(rng: np.random.Generator) -> str:
    """A table of few columns with the names that mean something."""
    names = rng.choice(HEADER, size=int(rng.integers(1, 4)), replace=False)
    rows = rng.choice(CELLS, size=(int(rng.integers(0, 5)), len(names)))
    return "".join(",".join(map(str, row)) + "\n" for row in (names, *rows))


@pytest.mark.parametrize("seed", range(3))
def test_small_tables_are_read_or_refused(seed: int, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    others = (["compare"], ["power", "--difference", "1"], ["rank", "--subsets", "t.csv"], ["size"])
    for number in range(40):
        rng = np.random.default_rng([seed, number])
        Path("t.csv").write_text(small_table(rng))
        for command, *options in (*ON_TABLES, *others):
            run([command, "t.csv", *options], f"{seed} {number}", capfd)


@pytest.mark.parametrize("column", HEADER)
@pytest.mark.parametrize("value", ["las", "1.5"])
def test_a_table_with_one_column_is_refused(
    column: str, value: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("t.csv").write_text(f"{column}\n{value}\n")
    for command, *options in (["rank"], ["compare"], ["compare", "--scores"], ["report"]):
        assert main([command, *options, "t.csv"]) == 2
        assert "a bug in Deadheat" not in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["rank", "seeds", "contrast"])
def test_damaged_result_files_are_shown_or_refused(kind: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("long.csv", "runs.csv"):
        Path(name).write_bytes(files()[name])
    result: Result = rank("long.csv", samples=50)
    if kind == "seeds":
        result = seeds("runs.csv", score="score", resamples=10)
    elif kind == "contrast":
        result = contrast("runs.csv", score="score", factor="system")
    for seed in range(CASES):
        Path("result.json").write_bytes(mutate(result.to_json(indent=1).encode(), np.random.default_rng(seed)))
        run(["report", "result.json"], f"{kind} {seed}", capfd)
