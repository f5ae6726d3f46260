"""Excel workbooks: read where a library for them is installed, else one line."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from deadheat.errors import InputError
from deadheat.tables.table import read_table
from tests.cli.running import Commands

SHEET = pl.DataFrame({"id": [1, 2], "label": [" pos", None], "day": [None, None], "score": [0.5, 1.0]})


@pytest.fixture
def commands(capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(capsys)


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    """The beginning of a workbook: what tells it from other archives."""
    path = tmp_path / "scores.xlsx"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    path.write_bytes(buffer.getvalue())
    return path


def make_workbook(path: Path, **parts: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        for name, content in parts.items():
            archive.writestr(f"xl/{name.replace('_', '/')}.xml", content)
    return path


@pytest.mark.parametrize("prefix", ["", "x:"])
def test_a_small_workbook_does_not_become_a_large_table(
    prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines = reading(monkeypatch, {"scores": SHEET})
    texts = f"<{prefix}sst><{prefix}si><{prefix}t>short</{prefix}t></{prefix}si><{prefix}si>{'x' * 2000}</{prefix}si>"
    cell = f'<{prefix}c r="A1" t="s"><{prefix}v>{{}}</{prefix}v></{prefix}c>'
    make_workbook(tmp_path / "fine.xlsx", sharedStrings=texts, worksheets_sheet1=cell.format(0) * 40_000)
    assert len(read_table(tmp_path / "fine.xlsx").frame) == 2
    repeated = make_workbook(tmp_path / "a.xlsx", sharedStrings=texts, worksheets_sheet1=cell.format(1) * 40_000)
    large = make_workbook(tmp_path / "b.xlsx", worksheets_sheet1=" " * (70 << 20))
    for path in (repeated, large):
        with pytest.raises(InputError, match="decompresses to more than 64 MB; --max-size sets the limit"):
            read_table(path)
    assert engines == ["calamine"]


def reading(monkeypatch: pytest.MonkeyPatch, result: Any, *, missing: tuple[str, ...] = ()) -> list[str]:
    """Let polars read a workbook as these sheets, or fail."""
    engines: list[str] = []

    def read_excel(source: object, *, engine: str, **options: object) -> Any:
        engines.append(engine)
        if engine in missing:
            raise ModuleNotFoundError(f"required package {engine!r} not found")
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(pl, "read_excel", read_excel)
    return engines


def test_a_sheet_is_a_table(workbook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engines = reading(monkeypatch, {"Sheet1": SHEET, "Sheet2": pl.DataFrame()}, missing=("calamine",))
    table = read_table(workbook)
    assert engines == ["calamine", "openpyxl"]
    assert table.frame["label"].to_list() == ["pos", None]
    assert table.numbers("score").to_list() == [0.5, 1.0]
    assert table.texts("id").to_list() == ["1", "2"]
    assert table.location(1) == f"{workbook}: row 2"


def test_without_a_library_the_line_says_what_to_install(
    workbook: Path, monkeypatch: pytest.MonkeyPatch, commands: Commands
) -> None:
    reading(monkeypatch, {}, missing=("calamine", "openpyxl"))
    expected = f"{workbook}: an Excel workbook; expected CSV, or pip install fastexcel to read it"
    assert commands.refused("rank", workbook) == expected
    assert commands.refused("score", workbook, workbook) == expected


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"a": SHEET, "b": SHEET}, "2 sheets with rows, a and b; expected one"),
        ({"a": pl.DataFrame()}, "an empty table"),
        (ValueError("bad\nzip"), "corrupt Excel workbook \\(bad\\)"),
    ],
)
def test_other_workbooks_are_refused(
    workbook: Path, monkeypatch: pytest.MonkeyPatch, result: Any, message: str
) -> None:
    reading(monkeypatch, result)
    with pytest.raises(InputError, match=message):
        read_table(workbook)


def test_real_workbooks_are_read(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel")
    writer = pytest.importorskip("xlsxwriter")
    book = writer.Workbook(str(tmp_path / "scores.xlsx"))
    sheet = book.add_worksheet()
    for row, cells in enumerate((["system", "score"], ["A", 0.5], ["B", 1])):
        sheet.write_row(row, 0, cells)
    book.close()
    assert read_table(tmp_path / "scores.xlsx").numbers("score").to_list() == [0.5, 1]
