"""Distributions as violins (Reimers & Gurevych 2017, figure 2), lying: one row a name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.charts.chart import Chart, Datum, Layout
from deadheat.charts.drawing import circle, line, number, path, polygon, rect, text
from deadheat.charts.named_rows import Entry, Rows, datum, legend, nothing, rows_of, told
from deadheat.charts.scales import Scale
from deadheat.stats.checks import Values
from deadheat.stats.distributions import Summary, summary

FEWEST = 5  # values that have a shape; fewer are shown as points alone
MOST_POINTS = 60  # values that are shown one by one
MOST_LISTED = 2000  # values of all samples together that stand in the table
MOST_SMOOTHED = 2000  # values that a density rests on; of more, so many evenly spaced order statistics


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The values that go by one name."""

    name: str
    values: Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Band:
    """Where in a row the violin lies, and where its points."""

    violin: float  # level of its middle
    half: float  # of its height at most
    points: float
    points_half: float


def violins(samples: Sequence[Sample], layout: Layout, *, title: str, axis: str) -> Chart:
    """Draw distributions with their quartiles, and the values themselves while they are few.

    Notes
    -----
    A shape is a Gaussian kernel density, drawn from the least to the greatest value and no further; each is as high as
    its row, so that heights compare within a row only.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> seeds = [Sample("a", [90.1, 90.4, 90.2, 90.9, 90.3]), Sample("b", [91.0, 90.8])]
    >>> chart = violins(seeds, WIDE, title="Seeds", axis="F1")
    >>> print(chart.description)
    5 values of a (median 90.30), 2 values of b (median 90.90).
    >>> chart.rows[5]
    ('b', 91.0)
    """
    given = [np.asarray(sample.values, dtype=np.float64).ravel() for sample in samples]
    known = [np.sort(values[np.isfinite(values)]) for values in given]
    names = [sample.name for sample in samples]
    listed = sum(map(len, given)) <= MOST_LISTED
    header, data = _listed(names, given) if listed else _summarized(names, known)
    if not any(len(values) for values in known):
        return nothing(title, layout, header)
    key, top = legend(_signs(known, layout.font), layout)
    rows = rows_of(names, layout, top=top, height=_row_height(len(names)) * layout.font)
    scale = rows.scale(end for values in known if len(values) for end in (values[0], values[-1]))
    drawn = [key, rows.axis(scale, axis), rows.labels()]
    crowded = all(len(values) >= MOST_POINTS for values in known)
    for i, (name, values) in enumerate(zip(names, known, strict=True)):
        band = _band(rows, i, len(values), half=0.43 if crowded else 0.33)
        drawn.append(_row(name, values, scale, band, layout.font))
    return Chart(title, _description(names, given, known), layout.width, rows.end, "".join(drawn), header, data)


def _row_height(rows: int) -> float:
    """In lines of text."""
    return 5.0 if rows <= 3 else 4.2 if rows <= 8 else 3.2 if rows <= 16 else 2.6


def _band(rows: Rows, row: int, count: int, *, half: float) -> _Band:
    """Points have a strip of their own below a violin; either alone is in the middle of the row."""
    middle, height = rows.middle(row), rows.height
    if FEWEST <= count < MOST_POINTS:
        return _Band(middle - 0.14 * height, half * height, middle + 0.35 * height, 0.11 * height)
    return _Band(middle, half * height, middle, half * height)


def _signs(known: Sequence[Values], font: float) -> list[Entry]:
    wide = 2.4 * font

    def shape(x: float, y: float) -> str:
        xs = [x + part * wide for part in (-0.5, -0.3, -0.1, 0.1, 0.3, 0.5)]
        ys = [part * font for part in (0.04, 0.16, 0.42, 0.42, 0.16, 0.04)]
        drawn = polygon("band", [*xs, *reversed(xs)], [*(y - each for each in ys), *(y + each for each in ys)])
        drawn += rect("box", x - 0.2 * wide, y - 0.18 * font, 0.4 * wide, 0.36 * font)
        return drawn + line("rule", x, y - 0.28 * font, x, y + 0.28 * font)

    box = Entry(shape, wide, "density, middle half and median")
    dot = Entry(lambda x, y: circle("mark", x, y, 0.17 * font), 0.4 * font, "one value each")
    shaped = any(len(values) >= FEWEST for values in known)
    return [box] * shaped + [dot] * any(0 < len(values) < MOST_POINTS for values in known)


def _row(name: str, values: Values, scale: Scale, band: _Band, font: float) -> str:
    if not len(values):
        return text(scale.start + 0.6 * font, band.violin + 0.32 * font, "no values", kind="soft small halo")
    found = summary(values)
    said = f"{name}: {_told(found)}"
    at = scale(found.median)
    if len(values) < FEWEST:
        drawn = _points(name, values, scale, band.violin, 0.5 * band.half, font)
        drawn += line("rule", at, band.violin - 0.6 * band.half, at, band.violin + 0.6 * band.half, said) * (
            len(values) > 1
        )
        return drawn
    drawn = _shape(values, scale, band, said)
    thick = max(0.42 * band.half, 2.0)
    left, right = scale(found.lower_quartile), scale(found.upper_quartile)
    drawn += rect("box", left, band.violin - thick, right - left, 2 * thick, said)
    drawn += line("rule", at, band.violin - 1.5 * thick, at, band.violin + 1.5 * thick, said)
    if len(values) < MOST_POINTS:
        drawn += _points(name, values, scale, band.points, band.points_half, font)
    return drawn


def _shape(values: Values, scale: Scale, band: _Band, said: str) -> str:
    """The outline of a density, the same above and below; nothing where the values do not vary."""
    from deadheat.ranking.seeds import density

    found = density(_thinned(values))
    if not len(found.scores):
        return ""
    inside = (found.scores > values[0]) & (found.scores < values[-1])
    places = np.concatenate([values[:1], found.scores[inside], values[-1:]])
    heights = np.interp(places, found.scores, found.density)
    heights *= band.half / heights.max()
    xs = [number(scale(each)) for each in places.tolist()]
    above = [f"{x} {number(band.violin - each)}" for x, each in zip(xs, heights.tolist(), strict=True)]
    below = [f"{x} {number(band.violin + each)}" for x, each in zip(xs, heights.tolist(), strict=True)]
    return path("band", f"M{'L'.join([*above, *reversed(below)])}Z", said)


def _thinned(values: Values) -> Values:
    """Sorted values, or of very many some evenly spaced ones with the least and the greatest."""
    if len(values) <= MOST_SMOOTHED:
        return values
    return values[np.linspace(0, len(values) - 1, MOST_SMOOTHED).round().astype(np.int64)]


def _points(name: str, values: Values, scale: Scale, level: float, half: float, font: float) -> str:
    """Dots on a few lines one above the other, so that they hide each other as little as may be."""
    r = min(0.17 * font, max(half, 1.2))
    step = 1.8 * r
    lines = int(max(half - r, 0) * 2 / step) + 1
    order = sorted(range(lines), key=lambda i: abs(i - (lines - 1) / 2))  # the middle first
    ends = [-math.inf] * lines
    drawn = []
    for value in values.tolist():
        x = scale(value)
        lane = next((i for i in order if ends[i] + 2 * r <= x), None)
        lane = min(order, key=ends.__getitem__) if lane is None else lane
        ends[lane] = x
        drawn.append(circle("mark", x, level + (lane - (lines - 1) / 2) * step, r, f"{name}: {told(value)}"))
    return "".join(drawn)


def _told(found: Summary) -> str:
    ends = f"{told(found.minimum)} to {told(found.maximum)}"
    quartiles = f"quartiles {told(found.lower_quartile)} and {told(found.upper_quartile)}"
    return f"median {told(found.median)}, {quartiles}, {ends}, {found.n:,} values"


def _listed(names: Sequence[str], given: Sequence[Values]) -> tuple[tuple[str, ...], tuple[tuple[Datum, ...], ...]]:
    rows = ((name, datum(value)) for name, values in zip(names, given, strict=True) for value in values.tolist())
    return ("name", "value"), tuple(rows)


def _summarized(names: Sequence[str], known: Sequence[Values]) -> tuple[tuple[str, ...], tuple[tuple[Datum, ...], ...]]:
    header = ("name", "n", "min", "lower_quartile", "median", "upper_quartile", "max", "mean", "sd")
    rows: list[tuple[Datum, ...]] = []
    for name, values in zip(names, known, strict=True):
        numbers = summary(values).to_dict().values() if len(values) else (0, *[None] * 7)
        rows.append((name, *map(datum, numbers)))
    return header, tuple(rows)


def _description(names: Sequence[str], given: Sequence[Values], known: Sequence[Values]) -> str:
    counts = [
        f"{len(values):,} value{'s' * (len(values) != 1)} of {name}" for name, values in zip(names, known, strict=True)
    ]
    medians = [f" (median {told(float(np.median(values)))})" if len(values) else "" for values in known]
    said = ", ".join(map("".join, zip(counts, medians, strict=True))) + "."
    missing = sum(map(len, given)) - sum(map(len, known))
    if missing:
        said += f" {missing:,} that are no numbers are left out."
    thinned = sum(len(values) > MOST_SMOOTHED for values in known)
    if thinned:
        said += f" The shapes of {thinned} rest on {MOST_SMOOTHED:,} evenly spaced order statistics each."
    return said
