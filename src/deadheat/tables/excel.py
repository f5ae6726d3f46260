"""Excel workbooks, where one of the libraries is installed with which polars reads them."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections import Counter
from contextlib import suppress

import polars as pl

from deadheat.errors import InputError
from deadheat.files import check_size, size_limit
from deadheat.text import join_names, pluralize

ENGINES = ("calamine", "openpyxl")
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)
_SHARED_TEXT = re.compile(rb"<(?:\w+:)?si[\s>]")
_REFERENCE = re.compile(rb"""\st=["']s["'][^>]*>\s*<(?:\w+:)?v>(\d{1,9})<""")


def is_workbook(raw: bytes) -> bool:
    """Whether a file is a zip archive with a workbook in it."""
    return raw.startswith(b"PK\x03\x04") and b"xl/workbook" in raw


def _decoded_size(raw: bytes) -> int:
    """The bytes that the parts of a workbook and the texts of its cells take; 0 if it cannot be read.

    Cells refer to shared texts by their numbers, so that a short workbook may hold a long text many times.
    """
    size, texts, references = 0, list[int](), Counter[int]()
    with suppress(*BROKEN), zipfile.ZipFile(io.BytesIO(raw)) as archive:
        parts = [part for part in archive.infolist() if part.filename.startswith("xl/")]
        size = sum(part.file_size for part in parts)
        if size > size_limit(len(raw)):
            return size
        for part in parts:
            if part.filename.endswith("sharedStrings.xml"):
                texts = [len(text) for text in _SHARED_TEXT.split(archive.read(part))[1:]]
            elif part.filename.startswith("xl/worksheets/"):
                references.update(int(number) for number in _REFERENCE.findall(archive.read(part)))
    return size + sum(times * texts[at] for at, times in references.items() if at < len(texts))


def read_workbook(path: str, raw: bytes) -> pl.DataFrame:
    """The rows of the only sheet that has some; what is neither number nor truth is text."""
    check_size(path, len(raw), _decoded_size(raw))
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
