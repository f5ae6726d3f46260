"""The scale of a chart, read back from the numbers along its axis."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from deadheat.charts.chart import Chart, Layout
from tests.charts.svg_reading import Box, texts


def across(chart: Chart, layout: Layout) -> Callable[[float], float]:
    """From a value to its place on the level axis."""
    numbers = _numbers(chart, layout)
    lowest = max(box.bottom for box in numbers)
    return _scale([(_value(box), box.middle[0]) for box in numbers if abs(box.bottom - lowest) < 0.1])


def upward(chart: Chart, layout: Layout) -> Callable[[float], float]:
    """From a value to its level on the upright axis, whose numbers all end at one place."""
    numbers = _numbers(chart, layout)
    first = min(box.right for box in numbers)
    # The base line of a number is 0.32 of the font below its level.
    return _scale(
        [
            (_value(box), box.bottom - 0.2 * 0.87 * layout.font - 0.32 * layout.font)
            for box in numbers
            if abs(box.right - first) < 0.1
        ]
    )


def _numbers(chart: Chart, layout: Layout) -> list[Box]:
    return [box for box in texts(chart, layout) if re.fullmatch(r"−?[\d,.]+", box.content) and "small" in box.kinds]


def _value(box: Box) -> float:
    return float(box.content.replace("−", "-").replace(",", ""))


def _scale(ticks: Sequence[tuple[float, float]]) -> Callable[[float], float]:
    (low, start), (high, end) = min(ticks), max(ticks)
    assert high > low, "an axis with one number says nothing about its scale"
    return lambda value: start + (value - low) / (high - low) * (end - start)
