"""Rows of tables in JSON: one object per line, or an array of objects."""

from __future__ import annotations

import json
import re
from typing import Any

from deadheat.errors import InputError

Row = dict[str, Any]
LINES, ARRAY = "one object per line", "an array of objects"
RESULT = re.compile(
    rb'\s*\{\s*"kind":\s*"([\w-]+)",\s*"schema":\s*\d+,\s*"version":'
)  # how a result of Deadheat begins


def read_rows(path: str, raw: bytes) -> tuple[list[Row], list[int]]:
    """The rows of a file and their lines; the rows of an array have no lines."""
    if result := RESULT.match(raw.removeprefix(b"\xef\xbb\xbf")):
        problem = f"a result of {result[1].decode()}"
        raise InputError(f"{path}: {problem}; expected a table of scores; deadheat report reads results")
    if raw[:4096].lstrip().startswith(b"["):
        return _array(path, raw), []
    rows, lines = [], []
    for line, text in enumerate(raw.splitlines(), start=1):
        if text.strip():
            rows.append(_object(f"{path}:{line}", _decode(path, line, text, LINES), LINES))
            lines.append(line)
    return rows, lines


def _array(path: str, raw: bytes) -> list[Row]:
    rows = _decode(path, 1, raw, ARRAY)
    if not rows:
        raise InputError(f"{path}: an empty table; expected {ARRAY}")
    return [_object(f"{path}: row {row}", value, ARRAY) for row, value in enumerate(rows, start=1)]


def _object(where: str, value: object, expected: str) -> Row:
    if not isinstance(value, dict):
        raise InputError(f"{where}: {type(value).__name__}; expected {expected}")
    return value


def _decode(path: str, line: int, text: bytes, expected: str) -> Any:
    where = f"{path}:{line}"
    try:
        value = json.loads(text)
        if b"\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise InputError(f"{where}: not JSON (nested too deeply); expected {expected}") from None
    except UnicodeEncodeError as error:
        code = f"\\u{ord(error.object[error.start]):04x}"
        raise InputError(f"{where}: not text ({code}); expected {expected}") from None
    except json.JSONDecodeError as error:
        where = f"{path}:{line + error.lineno - 1}"
        raise InputError(f"{where}: not JSON ({error.msg.partition(':')[0].lower()}); expected {expected}") from None
    except ValueError as error:
        problem = str(error).partition(":")[0].lower()
        raise InputError(f"{where}: not JSON ({problem}); expected {expected}") from None
    return value
