"""TOML files within limits, and the line numbers of keys, which the reader of the standard library does not report."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from deadheat.errors import Fault, StudyError
from deadheat.files import FileError, read_small

TomlPath = tuple[str | int, ...]

_WORD = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_WORD}(?:\s*\.\s*{_WORD})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*(?P<name>{_DOTTED})\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(rf"\s*(?P<key>{_DOTTED})\s*=")


# The time of the standard reader grows with the square of the parts of a key.
MAX_PARTS = 20
_PART = r"""(?:"[^"\n]*"|'[^'\n]*'|(?<![A-Za-z0-9_-])[A-Za-z0-9_-]++)"""
_MANY_PARTS = re.compile(rf"(?:{_PART}[ \t]*\.[ \t]*){{{MAX_PARTS}}}")


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """Read a study file; returns its text and its values.

    Raises
    ------
    StudyError
        If it cannot be read, or is not valid TOML.
    """
    try:
        text = read_small(path).decode()
        return text, parse_toml(text)
    except FileError as error:
        raise StudyError([Fault(str(path), 0, error.problem)]) from error
    except UnicodeDecodeError:
        raise StudyError([Fault(str(path), 0, "not a text file; expected a study file in TOML")]) from None
    except ValueError as error:
        raise StudyError([Fault(str(path), 0, str(error))]) from None


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raise ValueError with one line for whatever is wrong with it."""
    if match := _MANY_PARTS.search(text):
        line = text.count("\n", 0, match.start()) + 1
        raise ValueError(f"a key of more than {MAX_PARTS} parts in line {line}; expected a study file")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply; expected a study file") from None
    except ValueError as error:  # also of a number with thousands of digits
        raise ValueError(f"not valid TOML ({str(error).partition(';')[0].lower()})") from None


def line_of(text: str, path: Sequence[str | int]) -> int:
    r"""The line of a key in a TOML text, or of the innermost table that has a line; 0 if none has.

    Examples
    --------
    >>> text = "seeds = 3\n[[systems]]\nname = 'hmm'\n[[systems]]\nname = 'oops'\n"
    >>> line_of(text, ["systems", 1, "name"]), line_of(text, ["systems", 1, "beam"]), line_of(text, ["seeds"])
    (5, 4, 1)
    """
    lines, wanted = _lines(text), tuple(path)
    while wanted and wanted not in lines:
        wanted = wanted[:-1]
    return lines.get(wanted, 0)


@lru_cache(maxsize=1)
def _lines(text: str) -> dict[TomlPath, int]:
    """The line of every key and table of a text, computed once for all its mistakes."""
    lines: dict[TomlPath, int] = {}
    tables: Counter[TomlPath] = Counter()
    table: TomlPath = ()
    for number, line in enumerate(text.split("\n"), start=1):
        header = _HEADER.match(line)
        if header is not None:
            table = _split_key(header["name"])
            if header[1] == "[[":
                tables[table] += 1
                table = (*table, tables[table] - 1)
            lines.setdefault(table, number)
            for end in range(1, len(table)):
                lines.setdefault(table[:end], number)
            continue
        key = _KEY.match(line)
        if key is not None:
            lines.setdefault((*table, *_split_key(key["key"])), number)
    return lines


def _split_key(dotted: str) -> TomlPath:
    return tuple(part.strip("\"'") for part in re.findall(_WORD, dotted))
