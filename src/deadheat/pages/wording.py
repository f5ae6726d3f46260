"""Numbers of documents as sections show them: rounded as on a terminal, with a dash for what is not a number."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from deadheat.terminal.comparison import p_text

NONE = "-"


def known(value: float | None) -> float:
    """A number of a document, where null stands for what is not one."""
    return math.nan if value is None else float(value)


def shown(value: float | None, *, scale: float = 1.0, decimals: int = 2, sign: str = "") -> str:
    """A number on the scale it is read on.

    Examples
    --------
    >>> shown(0.8746, scale=100), shown(0.5, sign="+"), shown(None), shown(-1e-5, scale=100)
    ('87.46', '+0.50', '-', '0.00')
    """
    number = scale * known(value)
    if not math.isfinite(number):
        return NONE
    text = f"{number:{sign}.{decimals}f}"
    return text if float(text) else text.replace("-", sign)  # no minus before a zero


def span(low: float | None, high: float | None, *, scale: float = 1.0, decimals: int = 2, sign: str = "") -> str:
    """From one number to another.

    Examples
    --------
    >>> span(-0.01, 0.02, scale=100, sign="+"), span(None, 0.02)
    ('-1.00 to +2.00', '-')
    """
    ends = [shown(each, scale=scale, decimals=decimals, sign=sign) for each in (low, high)]
    return NONE if NONE in ends else " to ".join(ends)


def p_shown(p: float | None) -> str:
    """A p-value, if there is one; none is 0, though some are too small for the computer.

    Examples
    --------
    >>> p_shown(0.0288), p_shown(3e-12), p_shown(0.0), p_shown(None)
    ('0.0288', '3.0e-12', '< 1e-300', '-')
    """
    if p is None or math.isnan(p):
        return NONE
    return p_text(p) if p > 0 else "< 1e-300"


def p_equals(p: float | None) -> str:
    """A p-value within a sentence.

    Examples
    --------
    >>> p_equals(0.0288), p_equals(0.0)
    ('p = 0.0288', 'p < 1e-300')
    """
    return f"p {told}" if (told := p_shown(p)).startswith("<") else f"p = {told}"


def whole(value: float | None, *, none: str = NONE) -> str:
    """A number of things; `none` says what null means.

    Examples
    --------
    >>> whole(39243.0), whole(None, none="too many")
    ('39,243', 'too many')
    """
    number = known(value)
    return f"{number:,.0f}" if math.isfinite(number) else none


def interval_name(alpha: float) -> str:
    """What intervals of tests at a level are called.

    Examples
    --------
    >>> interval_name(0.05)
    '95 % interval'
    """
    return f"{100 * (1 - alpha):.4g} % interval"


def share_scale(values: Iterable[float | None]) -> float:
    """100 where all values are shares, which people read as percent; else 1.

    Examples
    --------
    >>> share_scale([0.5, None, 1.0]), share_scale([0.5, 61.2])
    (100.0, 1.0)
    """
    return 100.0 if all(0 <= each <= 1 for each in values if each is not None) else 1.0


def times(share: float) -> str:
    """A chance as a number of times out of 100.

    Examples
    --------
    >>> times(0.609), times(0.9999), times(0.0)
    ('61 of 100', 'more than 99 of 100', '0 of 100')
    """
    if 0.995 <= share < 1:
        return "more than 99 of 100"
    return "fewer than 1 of 100" if 0 < share < 0.005 else f"{100 * share:.0f} of 100"


def listed(names: Iterable[str], *, most: int = 8) -> str:
    """Names one after the other, and how many more there are.

    Examples
    --------
    >>> listed("ABC"), listed(["A"]), listed("ABCDE", most=3)
    ('A, B and C', 'A', 'A, B, C and 2 more')
    """
    found = list(names)
    if len(found) > most:
        return f"{', '.join(found[:most])} and {len(found) - most} more"
    return " and ".join(filter(None, [", ".join(found[:-1]), *found[-1:]]))


def file_name(*parts: str) -> str:
    """The name of a figure, safe as the name of a file.

    Examples
    --------
    >>> file_name("scores", "Accuracy (upos)"), file_name("seeds", "汉/字"), file_name("seeds", "")
    ('scores-accuracy-upos', 'seeds', 'seeds')
    """
    cleaned = (re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")[:40] for part in parts)
    return "-".join(filter(None, cleaned)) or "figure"
