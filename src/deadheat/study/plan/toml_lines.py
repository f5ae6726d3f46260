"""The line numbers of keys in a TOML text, which the reader of the standard library does not report."""

from __future__ import annotations

import re
from collections.abc import Sequence

TomlPath = tuple[str | int, ...]

_WORD = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_WORD}(?:\s*\.\s*{_WORD})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*(?P<name>{_DOTTED})\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(rf"\s*(?P<key>{_DOTTED})\s*=")


def line_of(text: str, path: Sequence[str | int]) -> int:
    r"""The line of a key in a TOML text, or of the innermost table that has a line; 0 if none has.

    Examples
    --------
    >>> text = "seeds = 3\n[[systems]]\nname = 'hmm'\n[[systems]]\nname = 'oops'\n"
    >>> line_of(text, ["systems", 1, "name"]), line_of(text, ["systems", 1, "beam"]), line_of(text, ["seeds"])
    (5, 4, 1)
    """
    lines: dict[TomlPath, int] = {}
    table: TomlPath = ()
    for number, line in enumerate(text.split("\n"), start=1):
        header = _HEADER.match(line)
        if header is not None:
            table = _split_key(header["name"])
            if header[1] == "[[":
                table = (*table, sum(1 for key in lines if key[:-1] == table and isinstance(key[-1], int)))
            lines.setdefault(table, number)
            for end in range(1, len(table)):
                lines.setdefault(table[:end], number)
            continue
        key = _KEY.match(line)
        if key is not None:
            lines.setdefault((*table, *_split_key(key["key"])), number)
    wanted = tuple(path)
    while wanted and wanted not in lines:
        wanted = wanted[:-1]
    return lines.get(wanted, 0)


def _split_key(dotted: str) -> TomlPath:
    return tuple(part.strip("\"'") for part in re.findall(_WORD, dotted))
