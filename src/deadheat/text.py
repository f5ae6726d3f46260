"""Wording shared by error messages and reports: plurals, lists of names, sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def pluralize(number: int, noun: str) -> str:
    """Return `1 word`, `2 words`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def join_names(names: Iterable[str], limit: int = 8) -> str:
    """Return `A, B and C`; beyond the limit, `A, B and 12 more`.

    Examples
    --------
    >>> join_names(["A", "B", "C"]), join_names("ABCDE", limit=3)
    ('A, B and C', 'A, B, C and 2 more')
    """
    items = list(names)
    if len(items) > limit:
        items[limit:] = [f"{len(items) - limit:,} more"]
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def slug(*parts: str) -> str:
    """A name for files and labels.

    Examples
    --------
    >>> slug("pairs", "en_EWT", "汉"), slug("table")
    ('pairs-en-ewt', 'table')
    """
    pieces = [re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")[:40].strip("-") for part in parts]
    return "-".join(filter(None, pieces))


def capitalize(text: str) -> str:
    """A text with its first letter in upper case, the others as they are."""
    return text[:1].upper() + text[1:]


def format_size(size: int) -> str:
    """A number of bytes in the largest unit that has a whole number of them, else in bytes.

    Examples
    --------
    >>> format_size(2 << 30), format_size(1536 << 20), format_size(1000)
    ('2 GB', '1536 MB', '1,000 bytes')
    """
    for unit, factor in reversed(UNITS.items()):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}B"
    return f"{size:,} bytes"


def parse_size(text: str) -> int | None:
    """Read a number of bytes such as `500M`, `8G` or `8 GB`; None if it is something else.

    Examples
    --------
    >>> parse_size("8G") == 8 << 30, parse_size("500 MB") == 500 << 20, parse_size("much")
    (True, True, None)
    """
    match = re.fullmatch(r"(\d{1,12}(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.ASCII | re.IGNORECASE)
    return int(float(match[1]) * UNITS.get(match[2].upper(), 1)) if match else None
