"""SVG elements, the width of text, and the themes that colour elements by their classes.

`kind` is the CSS class of an element, and `tooltip` the text that pointing at it shows. A theme says what classes look
like, for pages and for print. The colours of series can be distinguished with any of the common colour deficiencies (a
test simulates them), and each series also has a dash and a shape, so that no colour is needed. Every colour of a series
is strong enough against its background to write in.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from html import escape

# Widths in Liberation Sans, whose metrics are Arial's, in thousandths of the font size, by groups of characters.
_WIDTHS = {
    c: width
    for width, group in {
        191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[]\\tf·", 333: "-()r`", 334: "{}", 355: '"',
        389: "*", 395: "τ", 469: "^", 500: "ckxyzsvJ", 556: "0123456789abdeghnopqu_L#$?–±≥", 584: "+<=>~−×", 611: "FTZ",
        667: "ABEKPSVXY&", 722: "CDHNRUw", 778: "GOQ", 833: "mM", 889: "%", 944: "W", 1000: "…—", 1015: "@",
    }.items()
    for c in group
}  # fmt: skip
BOLD = 1.1  # bold letters are at most this much wider on average
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ZERO_WIDTH = ("Mn", "Me", "Cf")  # Unicode categories
ELLIPSIS = "…"

SERIES = 8
SMALL = 0.87  # how large small text is, the text of the drawing being 1
DASHES = ("", "7 3", "2 3", "10 3 2 3", "1 2", "12 4", "6 2 2 2 2 2", "4 6")
FONT = "'Liberation Sans', Arial, Helvetica, 'DejaVu Sans', sans-serif"

Theme = Mapping[str, str]

LIGHT: Theme = {
    "ink": "#1d2129", "soft": "#59616e", "line": "#dfe3e8", "paper": "#ffffff", "mark": "#0b5fa5",
    "gain": "#0b5fa5", "loss": "#b8480c", "tint": "#e8f0f8",
    "s0": "#005ed8", "s1": "#c2510b", "s2": "#027859", "s3": "#8b4880",
    "s4": "#604800", "s5": "#5e7877", "s6": "#4b2a8c", "s7": "#464748",
}  # fmt: skip
DARK: Theme = {
    "ink": "#e9ebee", "soft": "#a5adb9", "line": "#353c46", "paper": "#15181d", "mark": "#79b4ea",
    "gain": "#79b4ea", "loss": "#f0925a", "tint": "#1d2a38",
    "s0": "#60a2fd", "s1": "#f1935b", "s2": "#1cd8a7", "s3": "#b76b9f",
    "s4": "#f4ce4f", "s5": "#a7d8f0", "s6": "#ba9ac7", "s7": "#9fa3a5",
}  # fmt: skip
PRINT: Theme = {**LIGHT, "line": "#d4d8dd"}

# What each class looks like; {name} is a colour of the theme. No variables, for programs that make PDF know none.
_RULES = (
    ".chart text{{font-family:{font};font-size:{size}px;fill:{ink}}}"
    ".chart .soft{{fill:{soft}}}.chart .small{{font-size:{small}px}}.chart .strong{{font-weight:bold}}"
    ".chart .paper{{fill:{paper}}}.chart .grid{{stroke:{line};stroke-width:1}}"
    ".chart .axis{{stroke:{soft};stroke-width:1}}.chart .rule{{stroke:{ink};stroke-width:1.5;fill:none}}"
    ".chart .thick{{stroke:{ink};stroke-width:4}}.chart .mark{{fill:{mark}}}.chart .ink{{fill:{ink}}}"
    ".chart .interval{{stroke:{mark};stroke-width:2;fill:none}}"
    ".chart .box{{fill:{tint};stroke:{mark};stroke-width:1.2}}.chart .band{{fill:{mark};fill-opacity:.16}}"
    ".chart .hollow{{fill:{paper};stroke:{mark};stroke-width:1.5}}"
    ".chart .faint{{stroke:{soft};stroke-width:1.2;stroke-opacity:.45;fill:none;stroke-linejoin:round}}"
    ".chart .elbow{{stroke:{soft};stroke-width:1.2;fill:none;stroke-linejoin:round}}"
    ".chart .lead{{stroke:{soft};stroke-width:.8;stroke-opacity:.6;fill:none}}"
    ".chart .frame{{stroke:{line};stroke-width:1;fill:none}}"
    ".chart .halo{{stroke:{paper};stroke-width:3;stroke-linejoin:round;paint-order:stroke}}"
    ".chart .gain{{fill:{gain}}}.chart .loss{{fill:{loss}}}.chart .none{{fill:{line}}}.chart .hit{{fill-opacity:0}}"
)
_SERIES_RULES = (
    ".chart .l{i}{{stroke:{colour};stroke-width:2;fill:none;stroke-dasharray:{dash};stroke-linejoin:round}}"
    ".chart .b{i}{{fill:{colour};fill-opacity:.13}}.chart .f{i}{{fill:{colour}}}"
    ".chart .t{i}{{fill:{colour};font-weight:bold}}"
)


def xml_text(text: str) -> str:
    """Replace characters that XML does not allow (control characters, lone surrogates) with U+FFFD."""
    return _NOT_IN_XML.sub("\ufffd", text)


def text_width(text: str, font: float, *, bold: bool = False) -> float:
    """Approximate width of a text; East Asian wide characters count as squares, combining marks as nothing."""
    return sum(map(_character_width, text)) * font / 1000 * (BOLD if bold else 1)


def _character_width(character: str) -> int:
    width = _WIDTHS.get(character)
    if width is not None:
        return width
    category = unicodedata.category(character)
    if category in _ZERO_WIDTH:
        return 0
    if unicodedata.east_asian_width(character) in "WF":
        return 1000
    base = unicodedata.normalize("NFD", character)[0]  # é is as wide as e
    return _WIDTHS.get(base) or (760 if category == "Lu" else 640)


def shorten(text: str, width: float, font: float) -> str:
    """Cut a text in the middle so that it fits into a width; names often differ at their ends."""
    if text_width(text, font) <= width:
        return text
    length = len(text) - 1
    while length > 1:
        head, tail = math.ceil(length / 2), length // 2
        end = text[-tail:]
        while end and unicodedata.category(end[0]) in _ZERO_WIDTH:  # a mark belongs to the letter before it
            end = end[1:]
        short = text[:head] + ELLIPSIS + end
        if text_width(short, font) <= width:
            return short
        # Large steps at first, so that long names take few of them.
        length = min(length - 1, math.ceil(length * (width / text_width(short, font)) + 1))
    return ELLIPSIS


def number(value: float) -> str:
    """A coordinate, rounded to a hundredth."""
    assert math.isfinite(value), "a mark has no position; charts leave out missing values"
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def line(kind: str, x1: float, y1: float, x2: float, y2: float, tooltip: str = "", dash: str = "") -> str:
    """A straight line."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
    return _element("line", kind, ends + dashes, tooltip)


def capped_line(kind: str, x1: float, x2: float, y: float, cap: float, tooltip: str = "") -> str:
    """A horizontal line with short strokes, `cap` up and down, at its ends."""
    caps = [line(kind, x, y - cap, x, y + cap) for x in (x1, x2)]
    return line(kind, x1, y, x2, y, tooltip) + "".join(caps)


def rect(
    kind: str, x: float, y: float, width: float, height: float, tooltip: str = "", *, opacity: float | None = None
) -> str:
    """A rectangle."""
    fill = "" if opacity is None else f' fill-opacity="{opacity:.3g}"'
    size = f'x="{number(x)}" y="{number(y)}" width="{number(max(width, 0))}" height="{number(max(height, 0))}"'
    return _element("rect", kind, size + fill, tooltip)


def circle(kind: str, x: float, y: float, r: float, tooltip: str = "") -> str:
    """A dot."""
    return _element("circle", kind, f'cx="{number(x)}" cy="{number(y)}" r="{number(r)}"', tooltip)


def path(kind: str, d: str, tooltip: str = "") -> str:
    """An SVG path."""
    return _element("path", kind, f'd="{d}"', tooltip)


def polyline(kind: str, xs: Sequence[float], ys: Sequence[float], tooltip: str = "") -> str:
    """A line through points."""
    return _element("polyline", kind, f'points="{_points(xs, ys)}"', tooltip)


def polygon(kind: str, xs: Sequence[float], ys: Sequence[float], tooltip: str = "") -> str:
    """A closed area between points."""
    return _element("polygon", kind, f'points="{_points(xs, ys)}"', tooltip)


def _points(xs: Sequence[float], ys: Sequence[float]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in zip(xs, ys, strict=True))


def text(
    x: float, y: float, content: str, *, kind: str = "", anchor: str = "start", tooltip: str = "", rotate: float = 0
) -> str:
    """Text; `anchor` is "start", "middle" or "end", and `rotate` is in degrees around the anchor."""
    attributes = f'x="{number(x)}" y="{number(y)}"'
    attributes += "" if anchor == "start" else f' text-anchor="{anchor}"'
    attributes += f' transform="rotate({rotate:g} {number(x)} {number(y)})"' if rotate else ""
    css = f' class="{kind}"' if kind else ""
    return f"<text{css} {attributes}>{escape(xml_text(content))}{_title(tooltip)}</text>"


def label(x: float, y: float, name: str, width: float, font: float, *, kind: str = "", anchor: str = "start") -> str:
    """A name, shortened to a width if necessary; then the tooltip is the full name."""
    short = shorten(name, width, font)
    return text(x, y, short, kind=kind, anchor=anchor, tooltip="" if short == name else name)


# Outlines of the marks of series, in a square from -1 to 1; series 0 is a dot and series 7 a ring.
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


def shape(series: int, x: float, y: float, r: float, tooltip: str = "") -> str:
    """The mark of a series: dot, square, diamond, triangle up, triangle down, plus, cross or ring."""
    index = series % 8
    kind = f"f{index}"
    if index in _SHAPES:
        return _outline(kind, _SHAPES[index], x, y, r, tooltip)
    if index == 0:
        return circle(kind, x, y, r, tooltip)
    rings = "".join(
        f"M{number(x - size)} {number(y)}a{number(size)} {number(size)} 0 1 {sweep} {number(2 * size)} 0"
        f"a{number(size)} {number(size)} 0 1 {sweep} {number(-2 * size)} 0Z"
        for size, sweep in ((1.1 * r, 1), (0.5 * r, 0))
    )
    return path(kind, rings, tooltip)


def cross(kind: str, x: float, y: float, r: float, tooltip: str = "") -> str:
    """A diagonal cross."""
    return _outline(kind, _SHAPES[6], x, y, r, tooltip)


def triangle(kind: str, x: float, y: float, r: float, *, up: bool) -> str:
    """A small triangle that points up or down."""
    return _outline(kind, ((-1, 0.8), (1, 0.8), (0, -0.8)) if up else ((-1, -0.8), (1, -0.8), (0, 0.8)), x, y, r)


def diamond(kind: str, x: float, y: float, r: float, tooltip: str = "") -> str:
    """A square on its corner."""
    return _outline(kind, ((0, -1), (1, 0), (0, 1), (-1, 0)), x, y, r, tooltip)


def _outline(kind: str, points: Sequence[tuple[float, float]], x: float, y: float, r: float, tooltip: str = "") -> str:
    return polygon(kind, [x + r * a for a, _ in points], [y + r * b for _, b in points], tooltip)


def _element(name: str, kind: str, attributes: str, tooltip: str) -> str:
    if not tooltip:
        return f'<{name} class="{kind}" {attributes}/>'
    return f'<{name} class="{kind}" {attributes}>{_title(tooltip)}</{name}>'


def _title(tooltip: str) -> str:
    return f"<title>{escape(xml_text(tooltip))}</title>" if tooltip else ""


def style(theme: Theme, font: float) -> str:
    """The rules of CSS for a theme, with the size of text in pixels."""
    rules = _RULES.format(**theme, font=FONT, size=f"{font:g}", small=f"{SMALL * font:.4g}")
    series = (
        _SERIES_RULES.format(i=i, colour=theme[f"s{i}"], dash=DASHES[i].replace(" ", ",") or "none")
        for i in range(SERIES)
    )
    return rules + "".join(series)


def page_style() -> str:
    """The same rules for a page: colours are variables that the page sets by the theme of its reader."""
    variables = {name: f"var(--{name})" for name in LIGHT}
    size = "var(--chart-font,13px)"
    rules = style(variables, 13).replace("font-size:13px", f"font-size:{size}")
    return rules.replace(f"font-size:{SMALL * 13:.4g}px", f"font-size:calc({size}*{SMALL:g})")


def variables(theme: Theme) -> str:
    """A theme as variables of CSS."""
    return "".join(f"--{name}:{colour};" for name, colour in theme.items())
