"""Where a value stands in a TOML text: the reader of the standard library does not say."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_WORD}(?:\s*\.\s*{_WORD})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*(?P<name>{_DOTTED})\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(rf"\s*(?P<key>{_DOTTED})\s*=")


def line_of(text: str, path: Sequence[str | int]) -> int:
    r"""The line of what a path leads to, or of the innermost part of the path that has a line; 0 if none has.

    Examples
    --------
    >>> text = "seeds = 3\n[[systems]]\nname = 'hmm'\n[[systems]]\nname = 'oops'\n"
    >>> line_of(text, ["systems", 1, "name"]), line_of(text, ["systems", 1, "beam"]), line_of(text, ["seeds"])
    (5, 4, 1)
    """
    places: dict[tuple[str | int, ...], int] = {}
    here: tuple[str | int, ...] = ()
    for number, line in enumerate(text.split("\n"), start=1):
        header = _HEADER.match(line)
        if header is not None:
            names = _parts(header["name"])
            here = tuple(names)
            if header[1] == "[[":
                count = sum(1 for place in places if place[:-1] == here and isinstance(place[-1], int))
                here = (*here, count)
            places.setdefault(here, number)
            for end in range(1, len(here)):
                places.setdefault(here[:end], number)
            continue
        key = _KEY.match(line)
        if key is not None:
            places.setdefault((*here, *_parts(key["key"])), number)
    wanted = tuple(path)
    while wanted and wanted not in places:
        wanted = wanted[:-1]
    return places.get(wanted, 0)


def _parts(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(_WORD, dotted)]
