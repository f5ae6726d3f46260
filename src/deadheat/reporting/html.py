"""Blocks as one self-contained file of HTML: it requests nothing, opens from disk, and can be read without scripts."""

from __future__ import annotations

import functools
import math
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import quote

from deadheat.charts.chart import NARROW, WIDE, Chart, Datum, Layout, unique
from deadheat.charts.chart import Figure as Drawing
from deadheat.charts.drawing import DARK, LIGHT, page_style, variables
from deadheat.reporting import model
from deadheat.reporting.model import Block, Cell, Column, Figure, Heading, Note, Paragraph, Table, Verdict, Words
from deadheat.results.format import NAME, number_format
from deadheat.text import pluralize

if TYPE_CHECKING:
    from deadheat.results.base import Result

OPENING = 2  # paragraphs of a section that stand before its figures
MOTTO = "A win, or a dead heat?"
# Two bars that end level.
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Cpath fill='%232b7cc4' d='M1 3h14v4H1zM1 9h14v4H1z'/%3E%3C/svg%3E"
)
# Letters of scripts that run from right to left, and what may stand between two words of them.
_RTL = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
_RTL_WORDS = re.compile(rf"({_RTL}+(?:[\s'\"_-]+{_RTL}+)*)")
# Controls, marks that change the direction of all that follows, and lone surrogates: none of them can be shown.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\ud800-\udfff]")
LIMIT = 200  # rows of data below a figure; the CSV has all
_UNQUOTED = "!$'()*+,/:;=?@"  # what an address with data in it need not escape


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page: verdicts first, then the evidence, then the lines to quote."""

    title: str
    blocks: model.View

    @property
    def drawings(self) -> list[Drawing]:
        """All figures, each under a name of its own."""
        return unique([block.drawing for block in self.blocks if isinstance(block, Figure)])


@dataclass(slots=True)
class _Part:
    """A section with its blocks, or a chapter with its sections."""

    heading: Heading
    anchor: str
    blocks: list[Block] = field(default_factory=list)
    sections: list[_Part] = field(default_factory=list)


def page_html(page: Page) -> str:
    """A page as one file.

    Examples
    --------
    >>> html = page_html(Page("Scores", (Verdict("A is better than B."), Heading("Evidence"), Paragraph("It won."))))
    >>> html.startswith("<!doctype html>"), "<p>A is better than B.</p>" in html
    (True, True)
    """
    verdicts = [block for block in page.blocks if isinstance(block, Verdict)]
    signatures = dict.fromkeys(block.text for block in page.blocks if isinstance(block, model.Signature))
    parts = _outline(block for block in page.blocks if not isinstance(block, Verdict | model.Signature))
    drawings = iter(page.drawings)
    body = "".join(_part(part, drawings, 2) for part in parts)
    return printable(
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(page.title)}</title>\n'
        f'{_common_head()}</head>\n<body>\n<a class="skip" href="#main">Skip to the results</a>\n<div class="page">\n'
        f'<header class="top"><h1>{words(page.title)}</h1><p class="motto">{MOTTO}</p>'
        '<button class="theme" type="button" hidden></button></header>\n'
        f'<main id="main">\n{_verdicts(verdicts)}{_contents(parts)}{body}</main>\n'
        f"{_footer(signatures)}</div>\n<script>{asset('page.js')}</script>\n</body>\n</html>\n"
    )


def notebook_html(result: Result) -> str:
    """The output of a notebook cell: verdict, first table and first figure, without scripts or style sheet."""
    from deadheat.reporting.views import view

    blocks = view(result)
    first = [next((block for block in blocks if isinstance(block, kind)), None) for kind in (Verdict, Table, Figure)]
    shown = fragment([block for block in first if isinstance(block, Verdict | Table)])
    if isinstance(first[2], Figure):
        shown += printable(first[2].drawing.draw(WIDE).svg(font=WIDE.font))
    return f'<div class="deadheat">{shown}</div>'


def fragment(blocks: Sequence[Block]) -> str:
    """Some blocks for another page: no scripts, no style sheet."""
    return printable("".join(map(_block, blocks)))


@functools.cache
def asset(name: str) -> str:
    """A file of the page, without indentation and lines of comments."""
    lines = map(str.strip, files("deadheat.reporting").joinpath("assets", name).read_text("utf-8").split("\n"))
    return "\n".join(line for line in lines if line and not line.startswith(("//", "/*")))


@functools.cache
def style_sheet() -> str:
    """How a page looks: the colours of both themes, and all rules but those for charts."""
    light = variables(LIGHT) + "--link:#0b5fa5;--wash:#f5f7f9;--tip:#1d2129;--tip-ink:#ffffff;color-scheme:light"
    dark = variables(DARK) + "--link:#8cc0f0;--wash:#1c2026;--tip:#e9ebee;--tip-ink:#15181d;color-scheme:dark"
    themes = (
        f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}"
    )
    return themes + "".join(asset("page.css").split("\n"))


@functools.cache
def _common_head() -> str:
    """What is the same for every page: what it may load (nothing), and how it looks."""
    styles, scripts = (page_style(), style_sheet()), (asset("early.js"), asset("page.js"))
    policy = [
        "default-src 'none'",
        f"style-src {' '.join(map(_hash, styles))}",
        f"script-src {' '.join(map(_hash, scripts))}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return (
        f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f'<link rel="icon" href="{ICON}">\n'
        f'<style id="charts">{styles[0]}</style>\n<style>{styles[1]}</style>\n<script>{scripts[0]}</script>\n'
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _outline(blocks: Iterable[Block]) -> list[_Part]:
    """Blocks grouped by their headings; a chapter without sections is left out."""
    anchors = {"main", "charts"}
    parts: list[_Part] = []
    siblings = parts
    for block in blocks:
        if isinstance(block, Heading):
            part = _Part(block, anchor_for(str(block.text), anchors))
            if block.level == 1:
                parts.append(part)
                siblings = part.sections
            else:
                siblings.append(part)
        else:
            if not siblings:
                siblings.append(_Part(Heading(""), anchor_for("results", anchors)))
            siblings[-1].blocks.append(block)
    return [part for part in parts if part.sections or part.heading.level != 1]


def _verdicts(verdicts: Sequence[Verdict]) -> str:
    shown = ""
    for verdict in verdicts:
        claims = _table(verdict.claims, "Claims by evidence") if verdict.claims is not None else ""
        remarks = "".join(f'<p class="remark">{words(remark)}</p>' for remark in verdict.below_claims())
        shown += f"<div><p>{words(verdict.headline)}</p>{claims}{remarks}</div>"
    return f'<div class="verdict" role="region" aria-label="Verdict">{shown}</div>\n' if shown else ""


def _contents(parts: Sequence[_Part]) -> str:
    """Links to everything but what is folded; not for a page of one section."""
    if sum(len(part.sections) or 1 for part in parts) < 2:
        return ""
    return (
        '<nav class="contents" aria-label="Contents"><details open><summary>Contents</summary>'
        f"<ol>{''.join(map(_link, parts))}</ol></details></nav>\n"
    )


def _link(part: _Part) -> str:
    if not part.heading.text or part.heading.folded:
        return ""
    links = list(filter(None, map(_link, part.sections)))
    inner = f"<ol>{''.join(links)}</ol>" if len(links) > 1 else ""
    return f'<li><a href="#{part.anchor}">{words(part.heading.text)}</a>{inner}</li>'


def _part(part: _Part, drawings: Iterator[Drawing], level: int) -> str:
    anchor, title = part.anchor, part.heading.text
    content = "".join(_part(section, drawings, level + 1) for section in part.sections) + _content(part, drawings)
    if not title:
        return f'<section id="{anchor}">\n{content}\n</section>\n'
    heading = f'<h{level} id="{anchor}-heading">{words(title)}</h{level}>'
    if part.heading.folded:
        content = f'<details class="more"><summary>{heading}</summary>\n{content}\n</details>'
    else:
        content = f"{heading}\n{content}"
    kind = ' class="chapter"' if part.sections else ""
    return f'<section{kind} id="{anchor}" aria-labelledby="{anchor}-heading">\n{content}\n</section>\n'


def _content(section: _Part, drawings: Iterator[Drawing]) -> str:
    """Paragraphs, figures, tables and notes; of many paragraphs all but the first stand after the figures."""
    paragraphs = [_block(block) for block in section.blocks if isinstance(block, Paragraph)]
    figures = "".join(_drawing(next(drawings)) for block in section.blocks if isinstance(block, Figure))
    label = str(section.heading.text)
    tables = "".join(_table(block, label) for block in section.blocks if isinstance(block, Table))
    notes = "".join(f"<li>{words(block.text)}</li>" for block in section.blocks if isinstance(block, Note))
    after = "".join(paragraphs[OPENING:])
    reading = f'<div class="reading">{after}</div>\n' if after and figures else after
    small_print = f'<ul class="notes">{notes}</ul>' if notes else ""
    return f"{''.join(paragraphs[:OPENING])}{figures}{reading}{tables}{small_print}"


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"<h4>{words(block.text)}</h4>\n"
        case Paragraph() | Note():
            return f"<p>{words(block.text)}</p>\n"
        case Table():
            return _table(block, "")
        case Figure():
            return _drawing(block.drawing)
        case Verdict():
            return _verdicts([block])
        case model.Signature():
            return f"<code>{words(block.text)}</code>\n"


def _drawing(figure: Drawing) -> str:
    """A figure drawn for two widths, of which the page shows one, with the data behind it."""
    wide, narrow = figure.draw(WIDE), figure.draw(NARROW)
    name, title = escape(figure.name), escape(wide.title)
    more = len(wide.rows) - LIMIT
    rest = f'<p class="more">{pluralize(more, "more row")} in the CSV.</p>' if more > 0 else ""
    return (
        f"<figure>\n<figcaption><strong>{words(wide.title)}</strong> <span>{words(wide.description)}</span>"
        f"</figcaption>\n{_svg(wide, WIDE, 'wide')}{_svg(narrow, NARROW, 'narrow')}"
        f'<div class="behind"><div class="tools"><a href="{escape(csv_link(wide))}" download="{name}.csv" '
        f'aria-label="CSV: {title}">CSV</a>'
        f'<button class="save" type="button" data-name="{name}" aria-label="SVG: {title}" hidden>SVG</button></div>'
        f"<details><summary>Data, {pluralize(len(wide.rows), 'row')}</summary>"
        f"{_grid(_chart_data(wide), f'Data of: {wide.title}')}{rest}</details></div>\n</figure>\n"
    )


def _svg(chart: Chart, layout: Layout, kind: str) -> str:
    """One of the two; a chart that is wider than its room scrolls, any other shrinks with the screen."""
    fits = " fits" if chart.width <= layout.width else ""
    size = f'<svg width="{chart.width:g}" height="{chart.height:g}" '
    return f'<div class="drawing {kind}{fits}">{chart.inline().replace("<svg ", size, 1)}</div>\n'


def csv_link(chart: Chart) -> str:
    """An address that holds the data itself."""
    csv = chart.csv()
    spelt = "," + quote(csv, safe=_UNQUOTED, errors="replace")
    coded = ";base64," + b64encode(csv.encode(errors="replace")).decode()
    return "data:text/csv;charset=utf-8" + min(spelt, coded, key=len)


def _chart_data(chart: Chart) -> Table:
    """The first rows of the data of a chart."""
    data = list(zip(*chart.rows[:LIMIT], strict=True)) or [()] * len(chart.header)
    formats = [NAME if any(isinstance(datum, str) for datum in column) else number_format() for column in data]
    return Table(tuple(map(Column, chart.header, formats)), tuple(zip(*map(column_text, data), strict=True)))


def column_text(column: Sequence[Datum]) -> list[str]:
    """The cells of a column, numbers to the same decimals: at most four, or three digits where numbers are small."""
    real = [datum for datum in column if isinstance(datum, float) and math.isfinite(datum) and datum]
    decimals = max((len(f"{datum:.4f}".rstrip("0").partition(".")[2]) for datum in real), default=0)
    form = ".3g" if any(abs(datum) < 1e-3 for datum in real) else f".{decimals}f"
    texts = [format(datum, form) if isinstance(datum, float) else str(datum) for datum in column]
    return ["-" if text in ("None", "nan") else text for text in texts]


def _table(table: Table, label: str) -> str:
    if not table.folded:
        return f'<div class="table">{_grid(table, label, caption=words(table.explained()))}</div>\n'
    caption = str(table.caption)
    title = words(caption.rstrip(".") or "Table")
    marks = "".join(f"<p>{escape(mark.symbol)}: {words(mark.meaning)}.</p>" for mark in table.used_marks())
    grid = _grid(table, caption or label)
    rows = pluralize(len(table.rows), "row")
    return f'<details class="table"><summary>{title}, {rows}</summary>{grid}{marks}</details>\n'


def _grid(table: Table, label: str, *, caption: str = "") -> str:
    """Rows and columns in a box that scrolls sideways; words stand to the left, numbers to the right."""
    textual = table.textual
    head = ""
    for i, column in enumerate(table.columns):
        kind = _class("t" if i and textual[i] else "")
        head += f'<th{kind} scope="col">{words(column.heading)}</th>' if column.heading else "<td></td>"
    body = "\n".join(
        "<tr>" + "".join(_cell(cell, i, left=textual[i]) for i, cell in enumerate(row)) + "</tr>"
        for row in table.cells()
    )
    named = f' aria-label="{escape(label)}"' if label and not caption else ""
    above = f"<caption><span>{caption}</span></caption>" if caption else ""
    return (
        f'<div class="scroll"><table{named}>{above}<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'
    )


def _cell(cell: Cell, column: int, *, left: bool) -> str:
    shown = words(cell.value) if isinstance(cell.value, model.Text) else _isolated(model.cell_text(cell))
    shown = f"<b>{shown}</b>" if cell.strong else shown
    shown += f"<sup>{escape(cell.mark)}</sup>" if cell.mark else ""
    if not column:
        return f'<th scope="row">{shown}</th>'
    return f"<td{_class('t' if left else '', cell.tone)}>{shown}</td>"


def _class(*names: str) -> str:
    used = " ".join(filter(None, names))
    return f' class="{used}"' if used else ""


def _footer(signatures: Iterable[str]) -> str:
    lines = "".join(f"<code>{words(line)}</code>\n" for line in signatures)
    return f"<footer><p>To quote with these results:</p>\n{lines}</footer>\n" if lines else ""


def printable(text: str) -> str:
    """A text with the replacement character for whatever no page can show."""
    return _UNPRINTABLE.sub("\ufffd", text)


def words(given: Words) -> str:
    """Sentences; words that run from right to left are isolated, so that the numbers beside them stay in place."""
    if isinstance(given, model.Text):
        return "".join(
            _isolated(str(piece)) if isinstance(piece, model.Shown) else words(piece) for piece in given.pieces
        )
    parts = _RTL_WORDS.split(given)
    return "".join(f"<bdi>{escape(part)}</bdi>" if i % 2 else escape(part) for i, part in enumerate(parts))


def _isolated(text: str) -> str:
    return f"<bdi>{escape(text)}</bdi>" if _RTL_WORDS.search(text) else escape(text)


def anchor_for(text: str, taken: set[str]) -> str:
    """A name for a place on the page, which it then takes."""
    base = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-") or "section"
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}-{count}"
    taken.add(name)
    return name
