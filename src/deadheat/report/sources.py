"""What a file is that a report is made of: a store, a study file, a result of a command, or a table of scores."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from deadheat.errors import InputError, reason
from deadheat.report.html import MOTTO
from deadheat.results.base import KINDS, Result, from_json
from deadheat.study.ledger.ledger import Ledger
from deadheat.tables.table import table_bytes

if TYPE_CHECKING:
    from deadheat.questions.table_report import SourceReport

SQLITE = b"SQLite format 3\x00"
START = 1 << 16  # bytes that tell what a file is
PAGE_START = 1 << 18  # of a page, which begins with its style


def open_source(path: Path, *, ledger: Ledger | None = None, metric: str = "") -> SourceReport | Result:
    """What the file holds, recognized by its first bytes; of a study file, its store.

    Parameters
    ----------
    metric
        Which of several, in a table of scores.
    """
    try:
        with path.open("rb") as file:
            start = file.read(START)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from error
    if start.startswith(SQLITE) or path.suffix == ".toml":
        from deadheat.questions.store_report import store_report  # with polars and all that studies need

        return store_report(path if start.startswith(SQLITE) else _store_of(path), ledger=ledger)
    if ".json" in path.suffixes or _is_json_result(start):
        return from_json(table_bytes(path), source=str(path))
    from deadheat.questions.table_report import table_report

    return table_report(path, metric=metric)


def is_page(path: Path) -> bool:
    """Whether a file is a page of Deadheat's, and so may be replaced by another."""
    try:
        with path.open("rb") as file:
            start = file.read(PAGE_START)
    except OSError:
        return False
    return start.startswith(b"<!doctype html>") and MOTTO.encode() in start


def _store_of(path: Path) -> Path:
    """The store of a study file; its corpora may be gone."""
    try:
        name = tomllib.loads(path.read_text("utf-8")).get("store") or f"{path.stem}.sqlite"
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problem = "not text" if isinstance(error, UnicodeDecodeError) else f"not TOML ({str(error).lower()})"
        raise InputError(f"{path}: {problem}; expected a study file") from None
    store = path.parent / str(name)
    if not store.exists():
        raise InputError(f"{path}: no store {store}; expected deadheat run {path} first, or the store itself")
    return store


def _is_json_result(start: bytes) -> bool:
    """Whether a text is one object, as results are, and not a table with one object per line."""
    if not start.lstrip().startswith(b"{"):
        return False
    first = start.lstrip().partition(b"\n")[0]
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return True
    return isinstance(row, dict) and row.get("kind") in KINDS
