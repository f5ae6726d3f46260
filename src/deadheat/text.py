"""Wording shared by error messages and reports: plurals and lists of names."""

from __future__ import annotations

import re
from collections.abc import Iterable


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
