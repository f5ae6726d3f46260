"""How values are shown: one formatter for each kind of value, whoever shows it.

Terminal, page, LaTeX, Markdown and notebook all call `show`, so that a reader sees the same digits everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Self, TypeAlias

MISSING = "-"
SMALLEST_P = 1e-300  # what is smaller may have been rounded to zero

Bounds: TypeAlias = tuple[float, float]
Value: TypeAlias = str | int | float | Bounds | None


@dataclass(frozen=True, slots=True)
class Scale:
    """How scores are read: multiplied by a factor, rounded to a number of decimals. A result has one for all its scores.

    Examples
    --------
    >>> Scale.of([0.5, 0.875]), Scale.of([0.5, 1.1]), Scale.of([61.2, 87])
    (Scale(factor=100.0, decimals=2), Scale(factor=1.0, decimals=4), Scale(factor=1.0, decimals=2))
    """

    factor: float = 100.0
    decimals: int = 2

    @classmethod
    def of(cls, scores: Iterable[float | None]) -> Self:
        """Percent where all scores are shares; else as they are, with four decimals where all are small."""
        finite = [score for score in scores if score is not None and math.isfinite(score)]
        if all(0 <= score <= 1 for score in finite):
            return cls()
        return cls(1.0, 4 if all(abs(score) <= 2 for score in finite) else 2)

    @property
    def is_percent(self) -> bool:
        return self.factor == 100

    @property
    def unit(self) -> str:
        """What an axis or a caption adds to the name of the score."""
        return " in percent" if self.is_percent else ""

    @property
    def points(self) -> str:
        """What differences are measured in: ` points of` LAS, or ` in` the score."""
        return " points of" if self.is_percent else " in"


PERCENT = Scale()
PLAIN = Scale(1.0, 4)


class Kind(Enum):
    """What a value is, which decides how it is shown."""

    NAME = "name"
    SCORE = "score"
    POINTS = "points"  # a difference of scores
    INTERVAL = "interval"
    P_VALUE = "p-value"
    COUNT = "count"
    SHARE = "share"
    RANK = "rank"
    NUMBER = "number"  # any other statistic: tau, alpha, an effect size
    DURATION = "duration"


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of value with what else decides how it is shown."""

    kind: Kind
    scale: Scale = PERCENT
    signed: bool = False

    @property
    def is_text(self) -> bool:
        return self.kind is Kind.NAME


NAME = Format(Kind.NAME)
COUNT = Format(Kind.COUNT)
SIGNED_COUNT = Format(Kind.COUNT, signed=True)
P_VALUE = Format(Kind.P_VALUE)
SHARE = Format(Kind.SHARE)
RANK = Format(Kind.RANK)
DURATION = Format(Kind.DURATION)


def score_format(scale: Scale) -> Format:
    """Scores on their scale."""
    return Format(Kind.SCORE, scale)


def points_format(scale: Scale) -> Format:
    """Differences of scores, always with their sign."""
    return Format(Kind.POINTS, scale, signed=True)


def interval_format(scale: Scale, *, signed: bool = False) -> Format:
    """Intervals of scores, or of differences."""
    return Format(Kind.INTERVAL, scale, signed)


def number_format(decimals: int = 3, *, signed: bool = False) -> Format:
    """Any other statistic."""
    return Format(Kind.NUMBER, Scale(1.0, decimals), signed)


def show(value: Value, form: Format) -> str:
    """A value as text.

    Examples
    --------
    >>> show(0.8746, score_format(PERCENT)), show(-0.0123, points_format(PERCENT)), show(None, score_format(PERCENT))
    ('87.46', '-1.23', '-')
    >>> show((-0.01, 0.02), interval_format(PERCENT, signed=True)), show(1234, COUNT), show((1, 3.5), RANK)
    ('[-1.00, +2.00]', '1,234', '[1, 3.5]')
    >>> [show(p, P_VALUE) for p in (0.0288, 3e-12, 0.0, 1.0)]
    ['0.0288', '3.0e-12', '<1e-300', '1.0000']
    >>> [show(share, SHARE) for share in (0.5, 0.99996, 1.0)], show(75.0, DURATION), show(2.0, DURATION)
    (['50.0%', '>99.9%', '100%'], '1 min 15 s', '2.0 s')
    """
    if value is None:
        return MISSING
    if isinstance(value, tuple):
        ends = [show(end, form) if form.kind is Kind.RANK else _number(end, form) for end in value]
        return MISSING if MISSING in ends else f"[{', '.join(ends)}]"
    if isinstance(value, str):
        return value
    match form.kind:
        case Kind.P_VALUE:
            return _p_value(value)
        case Kind.SHARE:
            return _share(value)
        case Kind.COUNT:
            sign = "+" if form.signed else ""
            return f"{value:{sign},.0f}" if math.isfinite(value) else MISSING
        case Kind.RANK:
            return f"{value:.2f}".rstrip("0").rstrip(".") if math.isfinite(value) else MISSING
        case Kind.DURATION:
            return _duration(value)
        case _:
            return _number(value, form)


def _number(value: float, form: Format) -> str:
    scaled = form.scale.factor * value
    if not math.isfinite(scaled):
        return MISSING
    sign = "+" if form.signed else ""
    text = f"{scaled:{sign}.{form.scale.decimals}f}"
    return text if float(text) else text.replace("-", sign)  # no minus before a zero


def _p_value(p: float) -> str:
    if math.isnan(p):
        return MISSING
    if p >= 0.0001:
        return f"{p:.4f}"
    return f"{p:.1e}" if p > SMALLEST_P else "<1e-300"


def _share(share: float) -> str:
    """In percent; nearly all is never rounded to all, nor nearly none to none."""
    if not math.isfinite(share):
        return MISSING
    if share in (0, 1):
        return f"{100 * share:.0f}%"
    if 0.9995 <= share < 1:
        return ">99.9%"
    return "<0.1%" if 0 < share < 0.0005 else f"{100 * share:.1f}%"


def _duration(seconds: float) -> str:
    if not math.isfinite(seconds):
        return MISSING
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, hours = round(seconds) // 60, round(seconds) // 3600
    if hours:
        return f"{hours:,} h {minutes % 60} min"
    return f"{minutes} min {round(seconds) % 60} s"


def interval_name(alpha: float) -> str:
    """What an interval that goes with tests at a level is called in the head of a table.

    Examples
    --------
    >>> interval_name(0.05), interval_name(0.001)
    ('95% CI', '99.9% CI')
    """
    return f"{100 * (1 - alpha):.4g}% CI"
