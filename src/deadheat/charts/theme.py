"""Colours, one place for page and print.

Marks carry classes; a theme says what they look like. The series are told apart by people with any of the common colour
deficiencies (a test simulates them), and each has a dash and a shape of its own besides, so that no colour is needed.
Every colour of a series is strong enough against its paper to write in.
"""

from __future__ import annotations

from collections.abc import Mapping

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
