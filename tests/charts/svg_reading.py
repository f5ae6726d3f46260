"""What a chart draws, read back from its SVG: boxes of marks and words, and the properties that every chart has."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from xml.etree import ElementTree

import pytest

from deadheat.charts.chart import COLUMN, FULL, NARROW, WIDE, Chart, Layout
from deadheat.charts.drawing import PRINT, SMALL, style, text_width

SVG = "{http://www.w3.org/2000/svg}"
NAN = math.nan
LAYOUTS = {layout.name: layout for layout in (WIDE, NARROW, COLUMN, FULL)}
LONG = "a-long-name-of-a-system-" * 8 + "end"
AWKWARD = (
    "<script>alert('x')</script>",
    'a & b "quoted"',
    "מנתח תחבירי",
    "control\x07\x00character",
    "依存構文解析",
    LONG,
)


layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


@dataclass(frozen=True)
class FunctionPlot:
    """A plot that a function draws."""

    draw: Callable[[Layout], Chart]
    title: str = "Plot"


@dataclass(frozen=True, slots=True)
class Box:
    """A mark or a text: where it lies, what is written or told about it, and its classes."""

    tag: str
    left: float
    top: float
    right: float
    bottom: float
    content: str
    tooltip: str
    kinds: frozenset[str]

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def overlaps(self, other: Box, *, by: float = 0.5) -> bool:
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > by and down > by


def root_of(chart: Chart, layout: Layout) -> ElementTree.Element:
    """The file of a chart; a parser refuses one that is not well formed."""
    return ElementTree.fromstring(chart.svg(font=layout.font))


def boxes(chart: Chart, layout: Layout) -> list[Box]:
    """Every mark and every text of a chart."""
    found = []
    for element in root_of(chart, layout).iter():
        tag = element.tag.removeprefix(SVG)
        if tag in ("svg", "style", "title", "desc") or element.get("class") == "paper":
            continue
        places = list(_places(element, tag, layout))
        told = element.find(f"{SVG}title")
        xs, ys = [x for x, _ in places], [y for _, y in places]
        kinds = frozenset((element.get("class") or "").split())
        words = (element.text or "") if tag == "text" else ""
        about = "" if told is None else told.text or ""
        found.append(Box(tag, min(xs), min(ys), max(xs), max(ys), words, about, kinds))
    return found


def texts(chart: Chart, layout: Layout) -> list[Box]:
    """The words on a chart."""
    return [box for box in boxes(chart, layout) if box.tag == "text"]


def said(chart: Chart, layout: Layout = WIDE) -> list[str]:
    """The contents of the texts on a chart."""
    return [box.content for box in texts(chart, layout)]


def about(chart: Chart, layout: Layout, start: str) -> list[Box]:
    """The marks whose tooltips start with some words."""
    return [box for box in boxes(chart, layout) if box.tooltip.startswith(start)]


def _places(element: ElementTree.Element, tag: str, layout: Layout) -> Iterator[tuple[float, float]]:
    get = {name: float(value) for name, value in element.items() if re.fullmatch(r"-?[\d.]+", value)}
    if tag == "line":
        yield from ((get["x1"], get["y1"]), (get["x2"], get["y2"]))
    elif tag == "rect":
        yield from ((get["x"], get["y"]), (get["x"] + get["width"], get["y"] + get["height"]))
    elif tag == "circle":
        yield from ((get["cx"] - get["r"], get["cy"] - get["r"]), (get["cx"] + get["r"], get["cy"] + get["r"]))
    elif tag in ("polyline", "polygon"):
        for pair in element.attrib["points"].split():
            x, y = pair.split(",")
            yield float(x), float(y)
    elif tag == "path":
        yield from _path_places(element.attrib["d"])
    else:
        assert tag == "text", f"a chart has marks and words, and no {tag}"
        yield from _text_places(element, get["x"], get["y"], layout)


def _path_places(d: str) -> Iterator[tuple[float, float]]:
    x = y = 0.0
    for command, rest in re.findall(r"([A-Za-z])([^A-Za-z]*)", d):
        values = [float(each) for each in rest.split()]
        if command in "ML":
            x, y = values
        elif command == "H":
            (x,) = values
        elif command == "V":
            (y,) = values
        elif command == "a":
            radius = values[0]
            yield from ((x, y - radius), (x, y + radius))
            x, y = x + values[5], y + values[6]
        else:
            assert command == "Z", f"a path with {command}"
        yield x, y


def _text_places(element: ElementTree.Element, x: float, y: float, layout: Layout) -> Iterator[tuple[float, float]]:
    kinds = (element.get("class") or "").split()
    size = layout.font * (SMALL if "small" in kinds else 1)
    bold = any(kind == "strong" or re.fullmatch(r"t\d", kind) for kind in kinds)
    wide = text_width(element.text or "", size, bold=bold)
    start = {"start": 0.0, "middle": -wide / 2, "end": -wide}[element.get("text-anchor", "start")]
    turned = re.match(r"rotate\((\S+) ", element.get("transform", ""))
    angle = math.radians(float(turned[1])) if turned else 0.0
    for across in (start, start + wide):
        for up in (-0.72 * size, 0.2 * size):
            yield (
                x + across * math.cos(angle) - up * math.sin(angle),
                y + across * math.sin(angle) + up * math.cos(angle),
            )


def assert_sound(chart: Chart, layout: Layout) -> None:
    """What holds of every chart: it can be read, all of it is inside, no words cover others, every class is known."""
    found = boxes(chart, layout)
    assert chart.title
    assert chart.description
    assert " nan" not in chart.description.lower()
    for box in found:
        assert all(map(math.isfinite, (box.left, box.top, box.right, box.bottom))), box
        assert box.left >= -1, f"beyond the left side: {box}"
        assert box.top >= -1, f"beyond the top: {box}"
        assert box.right <= chart.width + 1, f"beyond the right side ({chart.width}): {box}"
        assert box.bottom <= chart.height + 1, f"beyond the bottom ({chart.height}): {box}"
        assert not {"nan", "inf", "None"} & set(re.findall(r"\w+", box.content)), box
    assert_apart([box for box in found if box.tag == "text" and box.content])
    known = set(re.findall(r"\.([a-z]+\d?)\b", style(PRINT, layout.font)))
    assert {kind for box in found for kind in box.kinds} <= known
    assert " id=" not in chart.marks
    assert "style=" not in chart.marks


def assert_apart(words: Sequence[Box]) -> None:
    """No words cover others."""
    for a, b in combinations(words, 2):
        assert not a.overlaps(b), f"{a.content!r} covers {b.content!r}: {a} {b}"


def cells(chart: Chart) -> list[dict[str, str]]:
    """The data of a chart as a program reads them from CSV."""
    return list(csv.DictReader(io.StringIO(chart.csv())))


def only(found: Iterable[Box]) -> Box:
    """The one that is there."""
    (one,) = found
    return one


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
