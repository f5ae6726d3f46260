"""Marks of SVG, and how much room a text takes."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from html import escape

# Widths in Liberation Sans, whose metrics are Arial's, in thousandths of the size of the font, by groups of characters.
_WIDTHS = {
    c: width
    for width, group in {
        191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[]\\tf·", 333: "-()r`", 334: "{}", 355: '"',
        389: "*", 395: "τ", 469: "^", 500: "ckxyzsvJ", 556: "0123456789abdeghnopqu_L#$?–±≥", 584: "+<=>~−×", 611: "FTZ",
        667: "ABEKPSVXY&", 722: "CDHNRUw", 778: "GOQ", 833: "mM", 889: "%", 944: "W", 1000: "…—", 1015: "@",
    }.items()
    for c in group
}  # fmt: skip
_BOLD = 1.1  # bold letters are at most so much wider on average
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ELLIPSIS = "…"


def plain(text: str) -> str:
    r"""A text that XML can hold: control characters and halves of characters become the sign for what can't be shown.

    Examples
    --------
    >>> plain("tagger\x00v2") == "tagger\ufffdv2"
    True
    """
    return _NOT_IN_XML.sub("\ufffd", text)


def text_width(text: str, font: float, *, bold: bool = False) -> float:
    """About how wide a text is; wide scripts count as squares, combining marks as nothing.

    Examples
    --------
    >>> text_width("accuracy", 10.0), text_width("汉字", 10.0)
    (40.01, 20.0)
    """
    return sum(map(_character_width, text)) * font / 1000 * (_BOLD if bold else 1)


def _character_width(character: str) -> int:
    known = _WIDTHS.get(character)
    if known is not None:
        return known
    category = unicodedata.category(character)
    if category in _WITHOUT_WIDTH:
        return 0
    if unicodedata.east_asian_width(character) in "WF":
        return 1000
    base = unicodedata.normalize("NFD", character)[0]  # é is as wide as e
    return _WIDTHS.get(base) or (760 if category == "Lu" else 640)


_WITHOUT_WIDTH = ("Mn", "Me", "Cf")


def shortened(text: str, room: float, font: float) -> str:
    """A text that fits into a width: what does not fit is cut off in the middle, for names often differ at their ends.

    Examples
    --------
    >>> shortened("perceptron", 60, 10.0)
    'perceptron'
    >>> shortened("a-very-long-name-of-system-1", 60, 10.0)
    'a-ver…tem-1'
    """
    if text_width(text, font) <= room:
        return text
    kept = len(text) - 1
    while kept > 1:
        head, tail = math.ceil(kept / 2), kept // 2
        end = text[-tail:]
        while end and unicodedata.category(end[0]) in _WITHOUT_WIDTH:  # a mark belongs to the letter before it
            end = end[1:]
        shown = text[:head] + ELLIPSIS + end
        if text_width(shown, font) <= room:
            return shown
        # Far off at first, so that names of any length take few steps.
        kept = min(kept - 1, math.ceil(kept * (room / text_width(shown, font)) + 1))
    return ELLIPSIS


def number(value: float) -> str:
    """A coordinate, to a hundredth.

    Examples
    --------
    >>> number(10.0), number(3.14159), number(-0.001)
    ('10', '3.14', '0')
    """
    assert math.isfinite(value), "a mark has no place; charts leave out what is missing"
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def tip(text: str) -> str:
    """What is shown when one points at a mark."""
    return f"<title>{escape(plain(text))}</title>" if text else ""


def line(kind: str, x1: float, y1: float, x2: float, y2: float, told: str = "", dash: str = "") -> str:
    """A straight line."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
    return _element("line", kind, ends + dashed, told)


def rect(
    kind: str, x: float, y: float, width: float, height: float, told: str = "", *, opacity: float | None = None
) -> str:
    """A rectangle."""
    shaded = "" if opacity is None else f' fill-opacity="{opacity:.3g}"'
    size = f'x="{number(x)}" y="{number(y)}" width="{number(max(width, 0))}" height="{number(max(height, 0))}"'
    return _element("rect", kind, size + shaded, told)


def circle(kind: str, x: float, y: float, r: float, told: str = "") -> str:
    """A dot."""
    return _element("circle", kind, f'cx="{number(x)}" cy="{number(y)}" r="{number(r)}"', told)


def path(kind: str, d: str, told: str = "") -> str:
    """Any outline, in the language of SVG paths."""
    return _element("path", kind, f'd="{d}"', told)


def polyline(kind: str, xs: Sequence[float], ys: Sequence[float], told: str = "") -> str:
    """A line through points."""
    points = " ".join(f"{number(x)},{number(y)}" for x, y in zip(xs, ys, strict=True))
    return _element("polyline", kind, f'points="{points}"', told)


def polygon(kind: str, xs: Sequence[float], ys: Sequence[float], told: str = "") -> str:
    """A surface between points."""
    points = " ".join(f"{number(x)},{number(y)}" for x, y in zip(xs, ys, strict=True))
    return _element("polygon", kind, f'points="{points}"', told)


def text(
    x: float, y: float, said: str, *, kind: str = "", anchor: str = "start", told: str = "", turn: float = 0
) -> str:
    """Words; `anchor` is "start", "middle" or "end", `turn` in degrees about the place."""
    attributes = f'x="{number(x)}" y="{number(y)}"'
    attributes += "" if anchor == "start" else f' text-anchor="{anchor}"'
    attributes += f' transform="rotate({turn:g} {number(x)} {number(y)})"' if turn else ""
    looks = f' class="{kind}"' if kind else ""
    return f"<text{looks} {attributes}>{escape(plain(said))}{tip(told)}</text>"


def label(x: float, y: float, said: str, room: float, font: float, *, kind: str = "", anchor: str = "start") -> str:
    """A name that may be too long: then it is shortened, and pointing at it shows all of it."""
    shown = shortened(said, room, font)
    return text(x, y, shown, kind=kind, anchor=anchor, told="" if shown == said else said)


# The outlines of series within a square from -1 to 1; those that are not here are a dot and a ring.
_SHAPES = {
    1: ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    2: ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
    3: ((0, -1.1), (1.15, 0.9), (-1.15, 0.9)),
    4: ((-1.15, -0.9), (1.15, -0.9), (0, 1.1)),
    5: ((-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4),
        (0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)),
    6: ((0, -0.55), (0.65, -1.2), (1.2, -0.65), (0.55, 0), (1.2, 0.65), (0.65, 1.2),
        (0, 0.55), (-0.65, 1.2), (-1.2, 0.65), (-0.55, 0), (-1.2, -0.65), (-0.65, -1.2)),
}  # fmt: skip


def shape(series: int, x: float, y: float, r: float, told: str = "") -> str:
    """The mark of a series by its number: dot, square, diamond, triangles up and down, plus, cross, ring."""
    which = series % 8
    kind = f"f{which}"
    outline = _SHAPES.get(which)
    if outline is not None:
        return polygon(kind, [x + r * a for a, _ in outline], [y + r * b for _, b in outline], told)
    if which == 0:
        return circle(kind, x, y, r, told)
    arcs = "".join(
        f"M{number(x - size)} {number(y)}a{number(size)} {number(size)} 0 1 {turn} {number(2 * size)} 0"
        f"a{number(size)} {number(size)} 0 1 {turn} {number(-2 * size)} 0Z"
        for size, turn in ((1.1 * r, 1), (0.5 * r, 0))
    )
    return path(kind, arcs, told)


def triangle(kind: str, x: float, y: float, r: float, *, up: bool) -> str:
    """A small triangle that points up or down."""
    tall = -r if up else r
    return polygon(kind, [x - r, x + r, x], [y - 0.8 * tall, y - 0.8 * tall, y + 0.8 * tall])


def _element(name: str, kind: str, attributes: str, told: str) -> str:
    if not told:
        return f'<{name} class="{kind}" {attributes}/>'
    return f'<{name} class="{kind}" {attributes}>{tip(told)}</{name}>'
