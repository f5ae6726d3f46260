"""Marks of SVG, and how much room a text takes."""

from __future__ import annotations

import math
import unicodedata
from html import escape

# Widths in Liberation Sans, whose metrics are Arial's, in thousandths of the size of the font, by groups of characters.
_WIDTHS = {
    c: width
    for width, group in {
        222: "ijl'|", 278: " !,./:;I[]\\tf", 333: "-()r`", 500: "ckxyzsvJ", 556: "0123456789abdeghnopqu_L#$?",
        584: "+<=>~^", 611: "FTZ", 667: "ABEKPSVXY&", 722: "CDHNRUw", 778: "GOQ", 833: "mM",
        890: "%", 944: "W", 1015: "@",
    }.items()
    for c in group
}  # fmt: skip
ELLIPSIS = "…"


def text_width(text: str, font: float) -> float:
    """About how wide a text is; wide scripts count as squares, combining marks as nothing.

    Examples
    --------
    >>> text_width("accuracy", 10.0), text_width("汉字", 10.0)
    (40.01, 20.0)
    """
    return sum(map(_character_width, text)) * font / 1000


def _character_width(character: str) -> int:
    known = _WIDTHS.get(character)
    if known is not None:
        return known
    if unicodedata.combining(character):
        return 0
    return 1000 if unicodedata.east_asian_width(character) in "WF" else 640


def shortened(text: str, room: float, font: float) -> str:
    """A text that fits into a width: what does not fit is cut off in the middle, for names often differ at their ends.

    Examples
    --------
    >>> shortened("perceptron", 60, 10.0)
    'perceptron'
    >>> shortened("a-very-long-name-of-system-1", 60, 10.0)
    'a-very…tem-1'
    """
    if text_width(text, font) <= room:
        return text
    kept = len(text) - 1
    while kept > 1:
        head, tail = math.ceil(kept / 2), kept // 2
        shown = text[:head] + ELLIPSIS + (text[-tail:] if tail else "")
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
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def tip(text: str) -> str:
    """What is shown when one points at a mark."""
    return f"<title>{escape(text)}</title>" if text else ""


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


def polyline(kind: str, xs: list[float], ys: list[float], told: str = "") -> str:
    """A line through points."""
    points = " ".join(f"{number(x)},{number(y)}" for x, y in zip(xs, ys, strict=True))
    return _element("polyline", kind, f'points="{points}"', told)


def text(
    x: float, y: float, said: str, *, kind: str = "", anchor: str = "start", told: str = "", turn: float = 0
) -> str:
    """Words; `anchor` is "start", "middle" or "end", `turn` in degrees about the place."""
    attributes = f'x="{number(x)}" y="{number(y)}"'
    attributes += "" if anchor == "start" else f' text-anchor="{anchor}"'
    attributes += f' transform="rotate({turn:g} {number(x)} {number(y)})"' if turn else ""
    looks = f' class="{kind}"' if kind else ""
    return f"<text{looks} {attributes}>{escape(said)}{tip(told)}</text>"


def label(x: float, y: float, said: str, room: float, font: float, *, kind: str = "", anchor: str = "start") -> str:
    """A name that may be too long: then it is shortened, and pointing at it shows all of it."""
    shown = shortened(said, room, font)
    return text(x, y, shown, kind=kind, anchor=anchor, told="" if shown == said else said)


def shape(series: int, x: float, y: float, r: float, told: str = "") -> str:
    """The mark of a series: a dot, square, diamond, triangle, cross and so on, by its number."""
    kind = f"f{series % 8}"
    a, b = number(x - r), number(x + r)
    up, down = number(y - r), number(y + r)
    outlines = {
        1: f"M{a} {up}H{b}V{down}H{a}Z",
        2: f"M{number(x)} {up}L{b} {number(y)}L{number(x)} {down}L{a} {number(y)}Z",
        3: f"M{number(x)} {up}L{b} {down}H{a}Z",
        4: f"M{a} {up}H{b}L{number(x)} {down}Z",
    }
    outline = outlines.get(series % 8)
    if outline is None:
        return circle(kind, x, y, r if series % 8 == 0 else 0.8 * r, told)
    return path(kind, outline, told)


def _element(name: str, kind: str, attributes: str, told: str) -> str:
    if not told:
        return f'<{name} class="{kind}" {attributes}/>'
    return f'<{name} class="{kind}" {attributes}>{tip(told)}</{name}>'
