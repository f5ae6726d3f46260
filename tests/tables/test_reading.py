"""Bytes to rows: formats, compression, quotes, lines, and what is refused."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from deadheat.errors import InputError
from deadheat.tables.table import Table, read_runs, read_table

CSV = b"name,size\nen,1\nde,2\n"


def table(tmp_path: Path, content: bytes) -> Table:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    return read_table(path)


def refusal(tmp_path: Path, content: bytes) -> str:
    with pytest.raises(InputError) as caught:
        table(tmp_path, content)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(str(tmp_path / "t.csv"))


@pytest.mark.parametrize(
    "pack",
    [
        bytes,
        gzip.compress,
        lzma.compress,
        zstandard.compress,
        lambda raw: gzip.compress(raw[:9]) + gzip.compress(raw[9:]),
    ],
)
def test_compressed_tables_are_recognised_by_their_content(pack: type[bytes], tmp_path: Path) -> None:
    assert table(tmp_path, pack(CSV)).frame.rows() == [("en", "1"), ("de", "2")]


def test_zstd_frames_may_follow_each_other(tmp_path: Path) -> None:
    packed = zstandard.compress(CSV[:9]) + zstandard.compress(CSV[9:])
    assert table(tmp_path, packed).frame.rows() == [("en", "1"), ("de", "2")]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstandard.compress])
def test_compressed_tables_that_are_cut_off_are_refused(pack: type[bytes], tmp_path: Path) -> None:
    assert refusal(tmp_path, pack(CSV)[:-2]).startswith(": corrupt compressed data (")
    assert refusal(tmp_path, pack(CSV) + pack(CSV)[:-2]).startswith(": corrupt compressed data (")


@pytest.mark.parametrize(
    "content",
    [
        b"name\tsize\nen\t1\nde\t2\n",
        b"name;size\nen;1\nde;2",
        b"\xef\xbb\xbfname,size\r\nen,1\r\nde,2\r\n",
        b"\nname,size\n\nen,1\r\n\r\nde,2\n\n",
        b' name , size\n en, 1\nde ,"2"\n',
        b'"name","size"\n"en",1\n"de","2"\n',
        b'{"name": "en", "size": 1}\n\n{"size": 2, "name": "de"}\n',
    ],
)
def test_one_table_written_in_many_ways(content: bytes, tmp_path: Path) -> None:
    result = table(tmp_path, content)
    assert result.frame.columns == ["name", "size"]
    assert result.frame.rows() == [("en", "1"), ("de", "2")]


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    assert table(tmp_path, b'\na,b\n"x\ny",1\n\nz,2\n').lines.tolist() == [3, 6]
    assert table(tmp_path, b'{"a": 1}\n\n{"a": 2}').lines.tolist() == [1, 3]
    assert table(tmp_path, b"a,b\r\n1,2\r\n\r\n3,4\r\n").lines.tolist() == [2, 4]


def test_parquet_has_rows_instead_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": ["x", ""], "b": [0.5, float("nan")], "c": [[1, 2], None]}).write_parquet(path)
    result = read_table(path)
    assert result.frame["a"].to_list() == ["x", None]
    assert result.frame["c"].to_list() == ["[1, 2]", None]
    assert result.location(1) == f"{path}: row 2"
    with pytest.raises(InputError, match=r"t\.parquet: row 2: b 'nan'; expected a number"):
        result.numbers("b")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", ": an empty table; expected a header and rows"),
        (b" \n\n", ": an empty table; expected a header and rows"),
        (b"a,b\n", ": an empty table; expected a header and rows"),
        (b"a,b\n1,2\n3\n", ":3: 1 columns; expected 2 as in the header"),
        (b"a,b\n1,2\n\n3,4,5\n", ":4: 3 columns; expected 2 as in the header"),
        (b'a,b\n"x\ny",2\n3\n', ":4: 1 columns; expected 2 as in the header"),
        (b"a,b,a\n1,2,3\n", ":1: two columns are named a; expected a name for each"),
        (b"a,,b\n1,2,3\n", ":1: column 2 has no name; expected one for every column"),
        (b'a,b\n1,2\n"3,4\n', ":3: unclosed quote; expected a closing one"),
        (b'a,b\n1"x,2\n3"y,4\n', ": ambiguous quotes; expected quotes around whole cells"),
        (b"a,b\n1,\xff\n", ": not a table of text; expected CSV, TSV, JSONL or Parquet"),
        (b'{"a": 1}\n{"a": \n', ":2: not JSON (expecting value); expected one object per line"),
        (b'{"a": 1}\n[1]\n', ":2: list; expected one object per line"),
        (b"PAR1 and no more", ": corrupt Parquet file ("),
    ],
)
def test_what_is_not_a_table_is_refused_in_one_line(content: bytes, problem: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, content).startswith(problem)


def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv: cannot be read \(no such file or directory\)"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(InputError, match=r"cannot be read \(is a directory\)"):
        read_table(tmp_path)


CELLS = st.text(st.sampled_from('ab, ;\t"\n\r1é'), max_size=5)


@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1)))
def test_whatever_the_csv_module_writes_is_read(rows: list[list[str]]) -> None:
    written = io.StringIO()
    writer = csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([[f"c{position}" for position in range(len(rows[0]))], *rows])
    path = Path(f"{__name__}.csv")
    monkey = pytest.MonkeyPatch()
    monkey.setattr("deadheat.tables.table.read_content", lambda _: written.getvalue().encode())
    try:
        result = read_table(path)
    finally:
        monkey.undo()
    assert result.frame.rows() == [tuple(cell.strip() or None for cell in row) for row in rows]


def test_columns_are_found_whatever_their_case_and_the_nearest_is_offered(tmp_path: Path) -> None:
    result = table(tmp_path, b"Test_F1,dev,Dev\n1,2,3\n")
    assert result.column("test_f1") == "Test_F1"
    assert result.column("dev") == "dev"
    with pytest.raises(InputError, match="column 'tets_f1' is unknown; did you mean 'Test_F1'"):
        result.column("tets_f1")


def test_columns_of_runs_have_types(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("id,size,rate,note,none,late\n1,0.50,1e-3,a,,1\n2,.5,,1,,x\n3,5,2,,,2\n")
    runs = read_runs(path)
    kinds = [str(kind) for kind in runs.frame.dtypes]
    assert kinds == ["Float64", "Float64", "Float64", "String", "String", "String"]
    codes, values = runs.codes("size")
    assert (codes.tolist(), values) == ([0, 0, 1], ("0.5", "5"))
    codes, values = runs.codes("rate")
    assert (codes.tolist(), values) == ([0, 1, 2], ("0.001", "", "2"))
    with pytest.raises(InputError, match=r"runs\.csv:3: late 'x'; expected a number"):
        runs.scores("late")
    with pytest.raises(InputError, match=r"runs\.csv:3: rate is empty; expected a number"):
        runs.scores("rate")


def test_runs_are_chosen_by_what_they_have(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("task,size,f\npos,0.5,1\nner,0.5,2\nner,1,3\n,1,4\n")
    runs = read_runs(path)
    assert runs.where(["Task=NER", "size=0.50"]).lines.tolist() == [3]
    assert runs.where(["task=ner", "task=pos"]).lines.tolist() == [2, 3, 4]
    assert runs.where(["task="]).lines.tolist() == [5]
    with pytest.raises(InputError, match=r"task 'nerr' is unknown; did you mean 'ner'"):
        runs.where(["task=nerr"])
    with pytest.raises(InputError, match=r"no run has task=pos and size=1; expected"):
        runs.where(["task=pos", "size=1"])
    with pytest.raises(InputError, match=r"condition 'task'; expected COLUMN=VALUE"):
        runs.where(["task"])


def test_fifty_thousand_runs_are_read(shared_data: Path) -> None:
    runs = read_runs(shared_data / "scores" / "reimers2017_runs.tsv.gz")
    assert len(runs) == 51_422
    assert runs.lines[-1] == 51_423
    assert runs.scores("Test_F1").mean() == pytest.approx(0.83, abs=0.05)


@pytest.mark.parametrize("command", ["score", "compare"])
def test_polars_is_not_loaded_for_corpora(command: str, tmp_path: Path) -> None:
    gold = tmp_path / "gold.conllu"
    gold.write_text("1\tHi\t_\tX\t_\t_\t0\troot\t_\t_\n\n" * 4)
    copies = [Path(shutil.copy(gold, tmp_path / f"{name}.conllu")) for name in "AB"]
    files = [str(gold), *(str(copy) if command == "score" else f"{copy.stem}={copy}" for copy in copies)]
    program = f"import sys; from deadheat.cli.main import main; code = main({[command, *files]!r}); "
    done = subprocess.run(
        [sys.executable, "-c", program + "print(code, 'polars' in sys.modules)"], capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1:] == ["0 False"], done.stderr
