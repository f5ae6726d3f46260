"""Distributions of scores, one row each.

Violins are as in Reimers & Gurevych (2017, figure 2), the standard split beside random splits as in Gorman & Bedrick
(2019, figure 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import partial

import numpy as np

from deadheat.charts.chart import Chart, Datum, Layout, datum, empty_chart
from deadheat.charts.drawing import capped_line, circle, diamond, line, polygon, rect, text
from deadheat.charts.scales import LegendEntry, Rows, Scale, extent, finite, legend, place_rows, thin
from deadheat.stats.checks import Values
from deadheat.stats.distributions import summary
from deadheat.text import pluralize

FEWEST = 5  # values with a density; fewer are drawn as points only
MOST_DOTS = 60  # values of a violin that are drawn one by one
MOST_IN_TABLE = 2000  # values of all samples; with more, the data table has summaries
MOST_SMOOTHED = 2000  # values for a density; of more, evenly spaced order statistics
MOST_IN_STRIP = 300  # values of a strip that are drawn, besides the selected one
MOST_SPLITS = 200  # random splits of a row that are drawn
STRIP_HEADER = ("name", "label", "value", "selected")
SPLIT_HEADER = ("name", "split", "value", "low", "high")
SUMMARY_HEADER = ("name", "n", "min", "lower_quartile", "median", "upper_quartile", "max", "mean", "sd")


@dataclass(frozen=True, slots=True)
class Sample:
    """Values with a name."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ViolinPlot:
    """Densities with quartiles, and the values themselves where they are few.

    Notes
    -----
    A violin is a Gaussian kernel density from the smallest to the largest value. Each is as high as its row, so heights
    can be compared within a row only.
    """

    samples: tuple[Sample, ...]
    title: str
    axis: str

    def draw(self, layout: Layout) -> Chart:
        names = [sample.name for sample in self.samples]
        samples = [_sorted(sample.values) for sample in self.samples]
        header, table = _violin_table(self.samples, samples)
        if not any(map(len, samples)):
            return empty_chart(self.title, layout, header)
        height = 5.0 if len(names) <= 3 else 4.2 if len(names) <= 8 else 3.2 if len(names) <= 16 else 2.6
        ends = [end for values in samples if len(values) for end in (values[0], values[-1])]
        drawn, rows, scale = _axes(names, layout, _violin_legend(samples, layout.font), height, ends, self.axis)
        crowded = all(len(values) >= MOST_DOTS for values in samples)
        for i, (name, values) in enumerate(zip(names, samples, strict=True)):
            half = (0.43 if crowded else 0.33) * rows.height
            drawn.append(_violin_row(name, values, scale, rows.middle(i), half, rows))
        description = _violin_description(self.samples, samples, scale)
        return Chart(self.title, description, layout.width, rows.end, "".join(drawn), header, table)


def _axes(
    names: Sequence[str], layout: Layout, entries: Sequence[LegendEntry], height: float, values: list[float], axis: str
) -> tuple[list[str], Rows, Scale]:
    """Legend, axis and names of rows, each of a height in multiples of the font size, and where values go."""
    key, top = legend(entries, layout)
    rows = place_rows(names, layout, top=top, height=height * layout.font)
    low, high = extent(values, margin=0.04)
    scale = Scale(low, high, rows.left, rows.right)
    return [key, rows.axis(scale, axis), rows.labels()], rows, scale


def _sorted(values: Sequence[float]) -> Values:
    numbers = np.asarray(values, dtype=np.float64)
    return np.sort(numbers[np.isfinite(numbers)])


def _violin_legend(samples: Sequence[Values], font: float) -> list[LegendEntry]:
    width = 2.4 * font

    def violin(x: float, y: float) -> str:
        xs = [x + part * width for part in (-0.5, -0.3, -0.1, 0.1, 0.3, 0.5)]
        heights = [part * font for part in (0.04, 0.16, 0.42, 0.42, 0.16, 0.04)]
        drawn = polygon("band", [*xs, *reversed(xs)], [*(y - h for h in heights), *(y + h for h in heights)])
        drawn += rect("box", x - 0.2 * width, y - 0.18 * font, 0.4 * width, 0.36 * font)
        return drawn + line("rule", x, y - 0.28 * font, x, y + 0.28 * font)

    entries = []
    if any(len(values) >= FEWEST for values in samples):
        entries.append(LegendEntry(violin, width, "density, quartiles and median"))
    if any(0 < len(values) < MOST_DOTS for values in samples):
        entries.append(LegendEntry(partial(circle, "mark", r=0.17 * font), 0.4 * font, "single values"))
    return entries


def _violin_row(name: str, values: Values, scale: Scale, y: float, half: float, rows: Rows) -> str:
    """A violin with its box, and points below it; points alone where there are few values."""
    font = rows.layout.font
    if not len(values):
        return text(scale.start + 0.6 * font, y + 0.32 * font, "no values", kind="soft small halo")
    stats = summary(values)
    ends = f"{scale.format(stats.minimum)} to {scale.format(stats.maximum)}"
    quartiles = f"{scale.format(stats.lower_quartile)} and {scale.format(stats.upper_quartile)}"
    tooltip = f"{name}: median {scale.format(stats.median)}, quartiles {quartiles}, {ends}, "
    tooltip += pluralize(len(values), "value")
    median = scale(stats.median)
    if len(values) < FEWEST:
        drawn = _dots(name, values, scale, y, 0.5 * half, font)
        return drawn + (line("rule", median, y - 0.6 * half, median, y + 0.6 * half, tooltip) * (len(values) > 1))
    dots = ""
    if len(values) < MOST_DOTS:
        dots = _dots(name, values, scale, y + 0.35 * rows.height, 0.11 * rows.height, font)
        y -= 0.14 * rows.height
    box = max(0.42 * half, 2.0)
    left, right = scale(stats.lower_quartile), scale(stats.upper_quartile)
    drawn = _density(values, scale, y, half, tooltip)
    drawn += rect("box", left, y - box, right - left, 2 * box, tooltip)
    return drawn + line("rule", median, y - 1.5 * box, median, y + 1.5 * box, tooltip) + dots


def _density(values: Values, scale: Scale, y: float, half: float, tooltip: str) -> str:
    """The outline of a density, mirrored; nothing if all values are equal."""
    from deadheat.ranking.seeds import density

    curve = density(thin(values.tolist(), MOST_SMOOTHED))
    if not curve.scores:
        return ""
    grid = np.array(curve.scores)
    scores = np.concatenate([values[:1], grid[(grid > values[0]) & (grid < values[-1])], values[-1:]])
    heights = np.interp(scores, curve.scores, curve.density)
    heights *= half / heights.max()
    xs = [scale(score) for score in scores.tolist()]
    return polygon("band", [*xs, *reversed(xs)], [*(y - heights).tolist(), *(y + heights[::-1]).tolist()], tooltip)


def _dots(name: str, values: Values, scale: Scale, level: float, half: float, font: float) -> str:
    """Dots on a few lines one above the other, so that few overlap."""
    r = min(0.17 * font, max(half, 1.2))
    step = 1.8 * r
    lanes = int(max(half - r, 0) * 2 / step) + 1
    order = sorted(range(lanes), key=lambda i: abs(i - (lanes - 1) / 2))  # the middle first
    ends = [-math.inf] * lanes
    drawn = []
    for value in values.tolist():
        x = scale(value)
        lane = next((i for i in order if ends[i] + 2 * r <= x), min(order, key=ends.__getitem__))
        ends[lane] = x
        y = level + (lane - (lanes - 1) / 2) * step
        drawn.append(circle("mark", x, y, r, f"{name}: {scale.format(value)}"))
    return "".join(drawn)


def _violin_table(
    samples: Sequence[Sample], values: Sequence[Values]
) -> tuple[tuple[str, ...], tuple[tuple[Datum, ...], ...]]:
    if sum(len(sample.values) for sample in samples) <= MOST_IN_TABLE:
        return ("name", "value"), tuple((sample.name, datum(value)) for sample in samples for value in sample.values)
    rows: list[tuple[Datum, ...]] = []
    for sample, numbers in zip(samples, values, strict=True):
        cells = astuple(summary(numbers)) if len(numbers) else (0, *[None] * 7)
        rows.append((sample.name, *map(datum, cells)))
    return SUMMARY_HEADER, tuple(rows)


def _violin_description(samples: Sequence[Sample], values: Sequence[Values], scale: Scale) -> str:
    parts = []
    for sample, numbers in zip(samples, values, strict=True):
        median = f" (median {scale.format(float(np.median(numbers)))})" if len(numbers) else ""
        parts.append(f"{pluralize(len(numbers), 'value')} of {sample.name}{median}")
    description = ", ".join(parts) + "."
    missing = sum(len(sample.values) for sample in samples) - sum(map(len, values))
    if missing:
        description += f" {pluralize(missing, 'missing value')} {'is' if missing == 1 else 'are'} left out."
    thinned = sum(len(numbers) > MOST_SMOOTHED for numbers in values)
    if thinned:
        description += f" The densities of {thinned} use {MOST_SMOOTHED:,} evenly spaced order statistics each."
    return description


@dataclass(frozen=True, slots=True)
class Strip:
    """A row of values, the label of each, and the index of the selected one, if any."""

    name: str
    values: tuple[float, ...]
    labels: tuple[str, ...]
    selected: int | None = None

    @property
    def selected_value(self) -> float:
        """NaN if none is selected."""
        return math.nan if self.selected is None else self.values[self.selected]


@dataclass(frozen=True, slots=True)
class StripPlot:
    """For each row its values as dots, their range and median, and the selected value as a diamond."""

    rows: tuple[Strip, ...]
    title: str
    axis: str

    def draw(self, layout: Layout) -> Chart:
        values = finite(value for row in self.rows for value in row.values)
        if not values:
            return empty_chart(self.title, layout, STRIP_HEADER)
        font, names = layout.font, [row.name for row in self.rows]
        height = 2.6 if len(names) <= 12 else 2.0
        drawn, rows, scale = _axes(names, layout, _strip_legend(font), height, values, self.axis)
        drawn += [_strip(row, scale, rows.middle(i), font) for i, row in enumerate(self.rows)]
        table = tuple(
            (row.name, label, datum(value), "yes" if i == row.selected else "")
            for row in self.rows
            for i, (label, value) in enumerate(zip(row.labels, row.values, strict=True))
        )
        description = _strip_description(self.rows)
        return Chart(self.title, description, layout.width, rows.end, "".join(drawn), STRIP_HEADER, table)


def _strip(row: Strip, scale: Scale, y: float, font: float) -> str:
    values = finite(row.values)
    if not values:
        return text(scale.start + 0.3 * font, y + 0.32 * font, "no value", kind="soft small halo")
    low, high, median = min(values), max(values), float(np.median(values))
    ends = f"from {scale.format(low)} to {scale.format(high)}, median {scale.format(median)}"
    tooltip, half = f"{row.name}: {pluralize(len(values), 'value')} {ends}", 0.45 * font
    drawn = rect("band", scale(low), y - half, scale(high) - scale(low), 2 * half, tooltip)
    drawn += line("rule", scale(median), y - half, scale(median), y + half, tooltip)
    others = [i for i, value in enumerate(row.values) if math.isfinite(value) and i != row.selected]
    for i in thin(others, MOST_IN_STRIP):
        value = row.values[i]
        drawn += circle("mark", scale(value), y, 0.17 * font, f"{row.name}, {row.labels[i]}: {scale.format(value)}")
    if row.selected is not None and math.isfinite(row.selected_value):
        score = scale.format(row.selected_value)
        tooltip = f"{row.name}, selected, {row.labels[row.selected]}: {score}"
        drawn += diamond("ink", scale(row.selected_value), y, 0.42 * font, tooltip)
    return drawn


def _strip_legend(font: float) -> list[LegendEntry]:
    width, half = 2.4 * font, 0.45 * font

    def strip(x: float, y: float) -> str:
        drawn = rect("band", x - width / 2, y - half, width, 2 * half)
        drawn += line("rule", x, y - half, x, y + half)
        return drawn + "".join(circle("mark", x + part * width, y, 0.17 * font) for part in (-0.4, -0.2, 0.15, 0.35))

    return [
        LegendEntry(strip, width, "all values, range and median"),
        LegendEntry(partial(diamond, "ink", r=0.42 * font), 0.84 * font, "selected"),
    ]


def _strip_description(rows: Sequence[Strip]) -> str:
    counts = [len(finite(row.values)) for row in rows]
    selected = [row for row in rows if math.isfinite(row.selected_value)]
    highest = sum(row.selected_value == max(finite(row.values)) for row in selected)
    description = f"{pluralize(len(rows), 'row')}, {pluralize(sum(counts), 'value')}"
    if selected:
        description += f"; the selected value is the highest of its row in {highest} of {len(selected)}"
    if max(counts) > MOST_IN_STRIP:
        description += f". At most {MOST_IN_STRIP} values of a row are drawn"
    return f"{description}."


@dataclass(frozen=True, slots=True)
class SplitRange:
    """The score of a system on the standard split, with its interval, and on random splits; each may be missing."""

    name: str
    standard: float | None
    low: float | None
    high: float | None
    random: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class SplitRangePlot:
    """For each system the score on the standard split with its interval and, below it, those on random splits."""

    rows: tuple[SplitRange, ...]
    title: str
    axis: str

    def draw(self, layout: Layout) -> Chart:
        values = finite(value for row in self.rows for value in (row.standard, row.low, row.high, *row.random))
        if not values:
            return empty_chart(self.title, layout, SPLIT_HEADER)
        font, names = layout.font, [row.name for row in self.rows]
        height = 3.4 if len(names) <= 8 else 2.8 if len(names) <= 16 else 2.5
        drawn, rows, scale = _axes(names, layout, _split_legend(font), height, values, self.axis)
        for i, row in enumerate(self.rows):
            middle, offset = rows.middle(i), 0.19 * rows.height
            drawn.append(_random_splits(row, scale, middle + offset, font))
            drawn.append(_standard_split(row, scale, middle - offset, font))
        table = tuple(cells for row in self.rows for cells in _split_rows(row))
        description = _split_description(self.rows)
        return Chart(self.title, description, layout.width, rows.end, "".join(drawn), SPLIT_HEADER, table)


def _standard_split(row: SplitRange, scale: Scale, y: float, font: float) -> str:
    score, bounds = finite((row.standard,)), finite((row.low, row.high))
    tooltip = f"{row.name}, standard split: {scale.format(score[0]) if score else 'no score'}"
    drawn = ""
    if len(bounds) == 2:
        low, high = bounds
        tooltip += f", interval {scale.format(low)} to {scale.format(high)}"
        drawn += capped_line("rule", scale(low), scale(high), y, 0.26 * font, tooltip)
    return drawn + (diamond("ink", scale(score[0]), y, 0.38 * font, tooltip) if score else "")


def _random_splits(row: SplitRange, scale: Scale, y: float, font: float) -> str:
    """A band from the lowest to the highest score, with a dot for each."""
    values = sorted(finite(row.random))
    if not values:
        return ""
    left, right, height = scale(values[0]), scale(values[-1]), 0.78 * font
    low, high, mean = (scale.format(value) for value in (values[0], values[-1], sum(values) / len(values)))
    tooltip = f"{row.name}, {pluralize(len(values), 'random split')}: {low} to {high}, mean {mean}"
    drawn = rect("band", left, y - height / 2, right - left, height, tooltip)
    for value in thin(values, MOST_SPLITS):
        tooltip = f"{row.name}, random split: {scale.format(value)}"
        drawn += circle("mark", scale(value), y, 0.15 * font, tooltip)
    return drawn


def _split_legend(font: float) -> list[LegendEntry]:
    width = 2.4 * font

    def standard(x: float, y: float) -> str:
        interval = capped_line("rule", x - width / 2, x + width / 2, y, 0.26 * font)
        return interval + diamond("ink", x, y, 0.38 * font)

    def random(x: float, y: float) -> str:
        dots = "".join(circle("mark", x + part * width, y, 0.15 * font) for part in (-0.3, -0.05, 0.12, 0.3))
        return rect("band", x - width / 2, y - 0.39 * font, width, 0.78 * font) + dots

    return [
        LegendEntry(standard, width, "standard split with its interval"),
        LegendEntry(random, width, "random splits and their range"),
    ]


def _split_rows(row: SplitRange) -> list[tuple[Datum, ...]]:
    rows: list[tuple[Datum, ...]] = [(row.name, "standard", datum(row.standard), datum(row.low), datum(row.high))]
    return rows + [(row.name, f"random {i}", datum(value), None, None) for i, value in enumerate(row.random, start=1)]


def _split_description(rows: Sequence[SplitRange]) -> str:
    both = [(finite((row.standard,)), finite(row.random)) for row in rows]
    compared = [(score[0], values) for score, values in both if score and values]
    description = pluralize(len(rows), "system")
    if compared:
        above = sum(score > max(values) for score, values in compared)
        below = sum(score < min(values) for score, values in compared)
        description += "; the score on the standard split is above those on all random splits for "
        description += f"{above} of {len(compared)}, below them for {below}"
    description += "."
    if any(len(values) > MOST_SPLITS for _, values in both):
        description += f" At most {MOST_SPLITS} random splits of a system are drawn, evenly spaced."
    return description
