"""Excel workbooks, where one of the libraries is installed with which polars reads them."""

from __future__ import annotations

import io

import polars as pl

from deadheat.errors import InputError
from deadheat.text import join_names, pluralize

ENGINES = ("calamine", "openpyxl")


def is_workbook(raw: bytes) -> bool:
    """Whether a file is a zip archive with a workbook in it."""
    return raw.startswith(b"PK\x03\x04") and b"xl/workbook" in raw


def read_workbook(path: str, raw: bytes) -> pl.DataFrame:
    """The rows of the only sheet that has some; what is neither number nor truth is text."""
    for engine in ENGINES:
        try:
            sheets = pl.read_excel(io.BytesIO(raw), sheet_id=0, engine=engine, raise_if_empty=False)  # type: ignore[call-overload]
        except ModuleNotFoundError:
            continue
        except Exception as error:  # each library has exceptions of its own
            problem = str(error).partition("\n")[0].lower()
            raise InputError(f"{path}: corrupt Excel workbook ({problem}); expected one that Excel can open") from error
        filled = {name: frame for name, frame in sheets.items() if frame.height}
        if len(filled) > 1:
            problem = f"{pluralize(len(filled), 'sheet')} with rows, {join_names(filled)}"
            raise InputError(f"{path}: {problem}; expected one")
        frame = next(iter(filled.values()), pl.DataFrame())
        others = [name for name, kind in frame.schema.items() if not kind.is_numeric() and kind != pl.Boolean]
        return frame.with_columns(pl.col(others).cast(pl.String))
    raise InputError(f"{path}: an Excel workbook; expected CSV, or pip install fastexcel to read it")
