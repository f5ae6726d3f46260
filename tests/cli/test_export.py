from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from deadheat.study.plan.cells import FAILED, PartScores
from deadheat.study.store import tables as exporting
from deadheat.study.store.store import Store, open_store
from deadheat.tables.table import read_runs
from tests.cli.running import Commands
from tests.study.store_outcomes import cell, counts, outcome

SCORES = "key corpus split number system seed setup part metric value sentences words name".split()
WITH_LITTLE_ROOM = """
import resource, sys
from deadheat.errors import InputError
from deadheat.study.store.tables import write_table
from deadheat.study.store.store import open_store
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
try:
    with open_store(sys.argv[1]) as store:
        write_table(store, "counts", *sys.argv[2:])
except InputError as error:
    sys.stdout.write(str(error))
"""
WIDE = np.array([[1, 2, 3, 4], [5, 6, 7, -8]])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Four runs: two on 300 sentences, one on 7, one on 2 by a metric of four fields that has no value; one failed."""
    path = tmp_path / "study.db"
    wide = PartScores("dev", 2, 9, {"wide.v1": float("nan")}, {"wide.v1": WIDE})
    with Store.open(path, create=True) as opened:
        opened.add_many([outcome(0), outcome(1), outcome(2, units=7), outcome(3, scores=(wide,))])
        opened.add(outcome(4, status=FAILED, error='it said "no",\nand stopped'))
    return path


def test_scores_are_printed_as_csv_by_default(commands: Commands, store: Path) -> None:
    done = commands("export", store)
    assert (done.code, done.err) == (0, "")
    header, *rows = csv.reader(io.StringIO(done.out))
    assert header == SCORES
    assert [row[0] for row in rows] == [cell(number).key for number in range(4)]
    expected = counts(1)[:, 0].sum() / counts(1)[:, 1].sum()
    assert float(rows[1][9]) == expected
    assert rows[3][7:12] == ["dev", "wide.v1", "", "2", "9"]  # no number: an empty cell


def test_runs_have_every_outcome_failures_too(commands: Commands, store: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(commands("export", store, "--table", "runs").out)))
    assert [row["status"] for row in rows] == ["done"] * 4 + ["failed"]
    assert rows[4]["error"] == 'it said "no",\nand stopped'
    assert rows[0]["started"] == "2027-01-15T08:00:00.000"
    assert rows[0]["peak_mb"] == ""  # unknown


def test_json_lines_have_an_object_a_row(commands: Commands, store: Path) -> None:
    rows = [json.loads(line) for line in commands("export", store, "--format", "jsonl").out.splitlines()]
    assert [list(row) for row in rows] == [SCORES] * 4
    assert rows[3]["value"] is None
    assert rows[2]["sentences"] == 7


@pytest.mark.parametrize("block", [1, 500, 1_000_000])
def test_counts_are_a_row_a_unit(commands: Commands, store: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(exporting, "BLOCK", block)
    header, *rows = csv.reader(io.StringIO(commands("export", store, "--table", "counts").out))
    assert header == ["key", "part", "metric", "unit", "correct", "gold", "predicted", "field_4"]
    assert len(rows) == 300 + 300 + 7 + 2
    for number, units in ((0, 300), (1, 300), (2, 7)):
        mine = [row for row in rows if row[0] == cell(number).key]
        assert [row[1:4] for row in mine] == [["test", "upos.v1", str(unit)] for unit in range(units)]
        assert [list(map(int, row[4:7])) for row in mine] == counts(number, units).tolist()
        assert {row[7] for row in mine} == {""}
    assert [list(map(int, row[4:])) for row in rows if row[0] == cell(3).key] == WIDE.tolist()


@pytest.mark.parametrize("table", ["scores", "runs", "counts"])
def test_a_file_has_the_format_that_its_name_says_and_all_have_the_same_rows(
    commands: Commands, store: Path, tmp_path: Path, table: str
) -> None:
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        done = commands("export", store, "--table", table, "--out", tmp_path / name)
        assert (done.code, done.out, done.err) == (0, "", "")
    printed = commands("export", store, "--table", table).out
    assert (tmp_path / "t.csv").read_text() == printed
    parquet = pl.read_parquet(tmp_path / "t.parquet")
    assert parquet.write_csv() == printed
    assert parquet.write_ndjson() == (tmp_path / "t.jsonl").read_text()
    assert sorted(each.name for each in tmp_path.iterdir() if each.name.endswith("tmp")) == []


def test_an_empty_store_gives_headers(commands: Commands, tmp_path: Path) -> None:
    Store.open(tmp_path / "study.db", create=True).close()
    assert commands("export", tmp_path / "study.db").out == ",".join(SCORES) + "\n"
    counted = commands("export", tmp_path / "study.db", "--table", "counts").out
    assert counted == "key,part,metric,unit,correct,gold,predicted\n"
    assert commands("export", tmp_path / "study.db", "--table", "counts", "--out", tmp_path / "c.parquet").code == 0
    assert pl.read_parquet(tmp_path / "c.parquet").height == 0


def test_a_table_can_be_read_by_the_other_commands(commands: Commands, store: Path, tmp_path: Path) -> None:
    commands("export", store, "--out", tmp_path / "scores.csv")
    runs = read_runs(tmp_path / "scores.csv")
    assert runs.is_number("value")
    assert len(runs) == 4


def test_a_format_that_is_not_said_is_asked_for(commands: Commands, store: Path, tmp_path: Path) -> None:
    told = commands.refused("export", store, "--out", tmp_path / "scores.txt")
    assert told.endswith("unknown format; expected a name that ends in .csv, .jsonl, .ndjson, .parquet, or --format")
    assert commands("export", store, "--out", tmp_path / "scores.txt", "--format", "csv").code == 0
    told = commands.refused("export", store, "--format", "parquet")
    assert told == "deadheat export: Parquet is not text; expected --out FILE"


def test_the_store_is_not_written_over(commands: Commands, store: Path) -> None:
    told = commands.refused("export", store, "--out", store, "--format", "csv")
    assert told == f"{store}: the store itself; expected another file to write to"
    with open_store(store) as opened:
        assert opened.verify() == []


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_that_cannot_be_written_is_refused(commands: Commands, store: Path, tmp_path: Path, suffix: str) -> None:
    told = commands.refused("export", store, "--out", tmp_path / "no" / f"where.{suffix}")
    assert told.startswith(f"{tmp_path / 'no' / 'where'}.{suffix}: cannot be written (")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_file_that_does_not_fit_is_refused_and_not_left_half_written(
    store: Path, tmp_path: Path, suffix: str
) -> None:
    (tmp_path / "out").mkdir()
    target = tmp_path / "out" / f"counts.{suffix}"
    command = [sys.executable, "-c", WITH_LITTLE_ROOM, str(store), suffix, str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith(f"{target}: cannot be written (")
    assert "file too large" in done.stdout
    assert list(target.parent.iterdir()) == []


def test_what_is_no_store_is_refused(commands: Commands, gold: Path) -> None:
    assert commands.refused("export", gold) == f"{gold}: not a store; expected a store that deadheat run wrote"


def test_exported_names_are_no_formulas_and_have_no_control_characters(commands: Commands, tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with Store.open(path, create=True) as opened:
        opened.add(replace(outcome(0), cell=replace(cell(0), corpus="=HYPERLINK(1)", system="a\x1b[31m\u202eb")))
        opened.add(outcome(1, status=FAILED, error="@SUM(1)\tand -5"))
        opened.add(outcome(2, status=FAILED, error="-5"))
    (row,) = csv.DictReader(io.StringIO(commands("export", path).out))
    assert (row["corpus"], row["system"]) == ("'=HYPERLINK(1)", "a\\x1b[31m\\u202eb")
    assert float(row["value"]) > 0
    runs = tmp_path / "runs.csv"
    commands("export", path, "--table", "runs", "--out", runs)
    rows = list(csv.DictReader(io.StringIO(runs.read_text())))
    assert [row["error"] for row in rows] == ["", "'@SUM(1)\\tand -5", "-5"]
    lines = commands("export", path, "--format", "jsonl").out.splitlines()
    assert json.loads(lines[0])["corpus"] == "=HYPERLINK(1)"
