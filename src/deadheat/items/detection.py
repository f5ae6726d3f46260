"""Whether a file has items rather than a corpus, by its first lines; without libraries for tables, to start fast."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from deadheat.compression import without_suffix
from deadheat.errors import InputError
from deadheat.files import STDIN, read_content

# Columns of items, in any case; where a table has several, the first of these. Numbers come before texts.
ITEM_NAMES = (
    "item", "item_id", "itemid", "question_id", "qid", "example_id", "instance_id", "prompt_id", "sample_id",
    "doc_id", "segment_id", "seg_id", "sentence_id", "sent_id", "id", "index", "idx", "guid", "question", "example",
    "instance", "segment", "sentence", "prompt",
)  # fmt: skip
GOLD_NAMES = (
    "gold", "gold_label", "true_label", "label", "labels", "truth", "y_true", "reference", "target", "class",
    "category",
)  # fmt: skip
PREDICTED_NAMES = (
    "predicted", "prediction", "predicted_label", "predictions", "pred", "y_pred", "output", "label", "labels", "class",
    "category",
)  # fmt: skip
SCORED = frozenset({"system", "model", "score", "correct", "is_correct", "value"})  # columns of scores of systems
TABLES = (".tsv", ".csv", ".jsonl", ".ndjson", ".txt", ".parquet", ".json", ".xlsx")
SURE_TABLES = (".csv", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx")  # no corpora end so
START = 1 << 16  # bytes in which a header is looked for
PARQUET, ZIP = b"PAR1", b"PK\x03\x04"


def plain_name(name: str) -> str:
    """A name of a column in small letters, with underscores."""
    return name.lower().replace(" ", "_").replace("-", "_")


def is_item_source(source: object, labels: Sequence[str] = ()) -> bool:
    """Whether a source is a DataFrame, a table with columns of items and of labels, or a SQuAD file.

    Columns of labels are known by their names, or are these.
    """
    if isinstance(source, Sequence) and not isinstance(source, str):
        return bool(source) and all(isinstance(row, Mapping) for row in source)
    if not isinstance(source, str | os.PathLike):
        is_pandas = type(source).__module__.partition(".")[0] == "pandas"
        return isinstance(source, Mapping) or hasattr(source, "__arrow_c_stream__") or is_pandas
    start = _start(os.fspath(source))
    if start.startswith((PARQUET, ZIP)) or _is_squad(start):
        return True
    names = _column_names(start)
    return bool(names & set(ITEM_NAMES)) and bool(names & {*GOLD_NAMES, *PREDICTED_NAMES, *map(plain_name, labels)})


def has_labels(path: str) -> bool:
    """Whether a file is a table of labels of items, and not of scores."""
    names = _column_names(_start(path))
    return bool(names & set(ITEM_NAMES) and names & {*GOLD_NAMES, *PREDICTED_NAMES}) and not names & SCORED


def _column_names(start: bytes) -> set[str]:
    """The plain names in the header of a table, or the keys of its first row."""
    lines = start.strip().replace(b"\r", b"")
    first = lines.partition(b"\n")[0].decode("utf-8-sig", "replace")
    names = _keys(first) if first.startswith("{") else [] if b"\n\n" in lines else _cells(first)
    return {plain_name(name) for name in names}


def is_table(path: str) -> bool:
    """Whether a file is a table rather than a corpus: by its ending, or by a header that names items."""
    if without_suffix(path).endswith(SURE_TABLES):
        return True
    with suppress(InputError, OSError):  # reported when it is read
        start = read_content(path)[:START] if without_suffix(path) != path else _first_bytes(path)
        return start.startswith((PARQUET, ZIP)) or bool(_column_names(start) & set(ITEM_NAMES))
    return False


def _first_bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(START)


def is_squad(source: object) -> bool:
    """Whether a file begins like a SQuAD data set."""
    return isinstance(source, str | os.PathLike) and _is_squad(_start(os.fspath(source)))


def _is_squad(start: bytes) -> bool:
    return start.lstrip().startswith(b"{") and b'"paragraphs"' in start and b'"data"' in start


def _start(path: str) -> bytes:
    """The beginning of a file that may be a table; nothing of others, and of those that cannot be read."""
    plain = without_suffix(path)
    if path == STDIN or not plain.endswith(TABLES) or not os.path.isfile(path):
        return b""
    with suppress(InputError, OSError):  # reported when it is read
        if plain != path:
            return read_content(path)[:START]
        return _first_bytes(path)
    return b""


def _cells(line: str) -> list[str]:
    mark = next((mark for mark in "\t,;" if mark in line), ",")
    return [cell.strip().strip('"') for cell in line.split(mark)]


def _keys(line: str) -> list[str]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return [str(key) for key in row]
