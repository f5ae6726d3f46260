"""Parquet files that are small and decode to much are refused before they fill the memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from deadheat.files import FileError
from deadheat.tables.parquet import decoded_size, text_size
from deadheat.tables.table import read_table
from tests.cli.running import Commands

ROWS, TEXT = 100_000, "x" * 2000
MOST = 1 << 20  # bytes of a file


def repeated(values: pl.Series) -> pl.Series:
    return values.new_from_index(0, ROWS)


BOMBS: dict[str, Callable[[], pl.Series]] = {
    "texts of a dictionary": lambda: repeated(pl.Series([TEXT])),
    "categories": lambda: repeated(pl.Series([TEXT], dtype=pl.Categorical)),
    "bytes": lambda: repeated(pl.Series([TEXT.encode()])),
    "lists of texts": lambda: repeated(pl.Series([[TEXT]])),
    "structures": lambda: repeated(pl.Series([{"a": {"b": TEXT}}])),
    "many numbers": lambda: pl.zeros(9_000_000, eager=True),
    "lists of numbers": lambda: pl.Series([[0] * 3000]).new_from_index(0, 3000),
    "names of fields": lambda: repeated(pl.Series([{TEXT: 0}])),
}


@pytest.fixture
def commands(capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(capsys)


@pytest.mark.parametrize("kind", BOMBS)
def test_a_small_file_does_not_become_a_large_table(kind: str, tmp_path: Path, commands: Commands) -> None:
    path = tmp_path / "bomb.parquet"
    pl.DataFrame({"system": BOMBS[kind]()}).write_parquet(path, compression="zstd")
    assert path.stat().st_size < MOST
    with pytest.raises(FileError, match=r"decompresses to more than \d+ MB; --max-size sets the limit"):
        read_table(path)
    for command in (["rank"], ["report"], ["compare", "--scores"], ["seeds", "--score", "system"]):
        assert "more than" in commands.refused(*command, path)


def test_reading_a_bomb_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    pl.DataFrame({"system": pl.Series([TEXT]).new_from_index(0, 3_000_000)}).write_parquet(path)
    program = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({4 << 30}, {4 << 30}))\n"
    program += f"from deadheat.cli.main import main; code = main(['rank', {str(path)!r}])\n"
    program += "print(open('/proc/self/status').read()); raise SystemExit(code)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    [peak] = [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("VmHWM")]  # in KB
    assert peak < 2 << 20


@pytest.mark.parametrize(
    ("values", "size"),
    [
        (pl.Series(["ab", None, "c"]), 3),
        (pl.Series(["ab", "ab", "c"], dtype=pl.Categorical), 5),
        (pl.Series([b"abc"]), 3),
        (pl.Series([["a", "bc"], [], None]), 3 * 8 + 3),
        (pl.Series([{"key": "abc"}, {"key": None}]), 2 * 3 + 3),
        (pl.Series([1.5, None]), 16),
        (pl.Series([], dtype=pl.String), 0),
        (pl.Series([None, None]), 16),
        (pl.Series([[[1, 2], [3]]]), 8 + 2 * 8 + 3 * 8),
    ],
)
def test_the_size_of_texts_is_that_of_all_their_copies(values: pl.Series, size: int) -> None:
    assert text_size(values) == size


def test_sizes_beyond_32_bits_are_added(tmp_path: Path) -> None:
    assert text_size(pl.Series([TEXT]).new_from_index(0, 3_000_000)) == 6_000_000_000
    path = tmp_path / "zeros.parquet"
    pl.DataFrame({"score": pl.zeros(100_000, eager=True)}).write_parquet(path)
    assert decoded_size(memoryview(path.read_bytes())) >= 8 * 100_000


def test_a_legitimate_table_of_few_values_is_read(tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    table = pl.DataFrame({"system": ["graph", "transition"] * 100_000, "score": [90.5, 91.25] * 100_000})
    table.write_parquet(path)
    assert read_table(path).frame.equals(table)
