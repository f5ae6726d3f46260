"""What a file is that a report is asked of: a store, a study file, a result of a command, or a table of scores."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from deadheat.documents import Document
from deadheat.errors import InputError, reason
from deadheat.pages.html import MOTTO
from deadheat.questions.sources import Stored, Tabled
from deadheat.study.ledger.ledger import Ledger
from deadheat.tables.table import table_bytes

# The kinds of results: each has a module of its name in this package.
KINDS = ("study", "search", "score", "compare", "power", "seeds", "contrast", "rank", "size", "split", "ledger")
SQLITE = b"SQLite format 3\x00"
START = 1 << 16  # bytes of a file that tell what it is
PAGE_START = 1 << 18  # of a page, which begins with its style
EXPECTED = "expected what a command printed with --json"


def opened(path: Path, *, ledger: Ledger | None = None, metric: str = "") -> Stored | Tabled | Document:
    """What the file holds, told by its first bytes; of a study file, its store.

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
        from deadheat.questions.stored import stored  # with polars and all that studies need

        return stored(path if start.startswith(SQLITE) else _store_of(path), ledger=ledger)
    if ".json" in path.suffixes or _begins_as_result(start):
        return _document(path)
    from deadheat.questions.tabled import tabled

    return tabled(path, metric=metric)


def is_page(path: Path) -> bool:
    """Whether a file is a page that we made, and so may be replaced by another."""
    try:
        with path.open("rb") as file:
            start = file.read(PAGE_START)
    except OSError:
        return False
    return start.startswith(b"<!doctype html>") and MOTTO.encode() in start


def _store_of(path: Path) -> Path:
    """The store of a study file; its corpora may be gone."""
    try:
        found = tomllib.loads(path.read_text("utf-8")).get("store") or f"{path.stem}.sqlite"
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        told = "no text" if isinstance(error, UnicodeDecodeError) else f"not TOML ({str(error).lower()})"
        raise InputError(f"{path}: {told}; expected a study file") from None
    store = path.parent / str(found)
    if not store.exists():
        raise InputError(f"{path}: no store {store}; expected deadheat run {path} first, or the store itself")
    return store


def _begins_as_result(start: bytes) -> bool:
    """Whether a text is one object, as results are, and not a table with an object a line."""
    if not start.lstrip().startswith(b"{"):
        return False
    first = start.lstrip().partition(b"\n")[0]
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return True
    return isinstance(row, dict) and row.get("kind") in KINDS


def _document(path: Path) -> Document:
    try:
        found: Any = json.loads(table_bytes(path))
    except RecursionError:
        raise InputError(f"{path}: JSON within JSON without end; {EXPECTED}") from None
    except ValueError as error:  # also text that is none
        told = str(error).partition(":")[0].partition(" in position")[0].lower()
        raise InputError(f"{path}: not JSON ({told}); {EXPECTED}") from None
    if not isinstance(found, dict) or not isinstance(found.get("kind"), str):
        raise InputError(f"{path}: no result to report; {EXPECTED}")
    return found
