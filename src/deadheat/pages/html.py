"""A page as one file of HTML: it asks for nothing else, opens from disk, and can be read without scripts."""

from __future__ import annotations

import functools
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from itertools import groupby

from deadheat.charts.chart import NARROW, WIDE, Chart, Figure, Layout, unique
from deadheat.charts.theme import page_style
from deadheat.pages.markup import showable, slug, table, words
from deadheat.pages.script import EARLY, LATE
from deadheat.pages.section import Page, Section, Table
from deadheat.pages.spreadsheet import csv_link, data_table
from deadheat.pages.style import style
from deadheat.text import pluralize

OPENING = 2  # paragraphs of a section that stand before its figures
MOTTO = "A win, or a dead heat?"
# Two bars that end level.
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Cpath fill='%232b7cc4' d='M1 3h14v4H1zM1 9h14v4H1z'/%3E%3C/svg%3E"
)


def html(page: Page) -> str:
    """A whole page.

    Examples
    --------
    >>> text = html(Page("Scores", ("A is better than B.",), (Section("Evidence", ("It won.",)),)))
    >>> text.startswith("<!doctype html>"), "<p>A is better than B.</p>" in text
    (True, True)
    """
    taken = {"main", "charts"}
    named = [(section, slug(section.heading, taken)) for section in page.sections]
    figures = iter(unique([figure for section in page.sections for figure in section.figures]))
    chapters = [
        _Chapter(title, slug(title, taken) if title else "", tuple(own))
        for title, own in groupby(named, key=lambda each: each[0].chapter)
    ]
    body = [_chapter(chapter, figures) for chapter in chapters]
    return showable(
        f"{_head(page.title)}<body>\n"
        f'<a class="skip" href="#main">Skip to the results</a>\n<div class="page">\n'
        f'<header class="top"><h1>{words(page.title)}</h1><p class="motto">{MOTTO}</p>'
        '<button class="theme" type="button" hidden></button></header>\n'
        f'<main id="main">\n{_verdict(page.verdicts)}{_contents(chapters)}{"".join(body)}</main>\n'
        f"{_foot(page.foot)}</div>\n<script>{LATE}</script>\n</body>\n</html>\n"
    )


@functools.cache
def _common() -> str:
    """What is the same for every page: what it may load (nothing), and how it looks."""
    styles, scripts = (page_style(), style()), (EARLY, LATE)
    allowed = [
        "default-src 'none'",
        f"style-src {' '.join(map(_hash, styles))}",
        f"script-src {' '.join(map(_hash, scripts))}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return (
        f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(allowed)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f'<link rel="icon" href="{ICON}">\n'
        f'<style id="charts">{styles[0]}</style>\n<style>{styles[1]}</style>\n<script>{EARLY}</script>\n'
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _head(title: str) -> str:
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f"{_common()}</head>\n"
    )


def _headline(verdict: str) -> str:
    """A verdict whose first clause stands out, where evidence follows it."""
    claim, colon, evidence = verdict.partition(": ")
    return f"<b>{words(claim)}<span>:</span></b> {words(evidence)}" if colon else words(verdict)


def _verdict(verdicts: Sequence[str]) -> str:
    if not verdicts:
        return ""
    said = "".join(f"<p>{_headline(verdict)}</p>" for verdict in verdicts)
    return f'<div class="verdict" role="region" aria-label="Verdict">{said}</div>\n'


@dataclass(frozen=True, slots=True)
class _Chapter:
    """Sections with their names that stand under one title; without one, they stand by themselves."""

    title: str
    name: str
    sections: tuple[tuple[Section, str], ...]


def _contents(chapters: Sequence[_Chapter]) -> str:
    """Where everything is, but for what is folded; not for a page of one section."""
    if sum(len(chapter.sections) for chapter in chapters) < 2:
        return ""
    lines = []
    for chapter in chapters:
        links = [_link(name, section.heading) for section, name in chapter.sections if not section.folded]
        if chapter.title:
            inner = f"<ol>{''.join(links)}</ol>" if len(links) > 1 else ""
            links = [_link(chapter.name, chapter.title, inner)]
        lines += links
    return (
        '<nav class="contents" aria-label="Contents"><details open><summary>Contents</summary>'
        f"<ol>{''.join(lines)}</ol></details></nav>\n"
    )


def _link(name: str, title: str, inner: str = "") -> str:
    return f'<li><a href="#{name}">{words(title)}</a>{inner}</li>'


def _chapter(chapter: _Chapter, figures: Iterator[Figure]) -> str:
    """The sections of a chapter under its title."""
    level = 3 if chapter.title else 2
    body = "".join(
        _section(section, name, [next(figures) for _ in section.figures], level) for section, name in chapter.sections
    )
    if not chapter.title:
        return body
    heading = f'<h2 id="{chapter.name}-heading">{words(chapter.title)}</h2>'
    return (
        f'<section class="chapter" id="{chapter.name}" aria-labelledby="{chapter.name}-heading">\n{heading}\n'
        f"{body}</section>\n"
    )


def _section(section: Section, name: str, figures: Sequence[Figure], level: int) -> str:
    said = [f"<p>{words(paragraph)}</p>\n" for paragraph in section.said]
    before, after = said[:OPENING], "".join(said[OPENING:])  # people would rather look first
    drawn = "".join(map(_figure, figures))
    tables = "".join(_table(each, section.heading) for each in section.tables)
    notes = "".join(f"<li>{words(note)}</li>" for note in section.notes)
    small_print = f'<ul class="notes">{notes}</ul>' if notes else ""
    heading = f'<h{level} id="{name}-heading">{words(section.heading)}</h{level}>'
    reading = f'<div class="reading">{after}</div>\n' if after and drawn else after
    content = f"{''.join(before)}{drawn}{reading}{tables}{small_print}"
    if section.folded:
        content = f'<details class="more"><summary>{heading}</summary>\n{content}\n</details>'
    else:
        content = f"{heading}\n{content}"
    return f'<section id="{name}" aria-labelledby="{name}-heading">\n{content}\n</section>\n'


def _figure(figure: Figure) -> str:
    """A figure drawn for two widths, of which the page shows one, with the data behind it."""
    wide, narrow = figure.draw(WIDE), figure.draw(NARROW)
    name, title = escape(figure.name), escape(wide.title)
    return (
        f"<figure>\n<figcaption><strong>{words(wide.title)}</strong> <span>{words(wide.description)}</span>"
        f"</figcaption>\n{_drawing(wide, WIDE, 'wide')}{_drawing(narrow, NARROW, 'narrow')}"
        f'<div class="behind"><div class="tools"><a href="{escape(csv_link(wide))}" download="{name}.csv" '
        f'aria-label="CSV: {title}">CSV</a>'
        f'<button class="save" type="button" data-name="{name}" aria-label="SVG: {title}" hidden>SVG</button></div>'
        f"<details><summary>Data, {pluralize(len(wide.rows), 'row')}</summary>{data_table(wide)}</details>"
        "</div>\n</figure>\n"
    )


def _drawing(chart: Chart, layout: Layout, kind: str) -> str:
    """One of the two; a chart that is wider than its room scrolls, any other shrinks with the screen."""
    fits = " fits" if chart.width <= layout.width else ""
    size = f'<svg width="{chart.width:g}" height="{chart.height:g}" '
    return f'<div class="drawing {kind}{fits}">{chart.inline().replace("<svg ", size, 1)}</div>\n'


def _table(given: Table, heading: str) -> str:
    if not given.folded:
        shown = table(given.header, given.rows, left=given.left, caption=given.caption, label=heading)
        return f'<div class="table">{shown}</div>\n'
    shown = table(given.header, given.rows, left=given.left, label=given.caption or heading)
    title = words(given.caption.rstrip(".") or "Table")
    return f'<details class="table"><summary>{title}, {pluralize(len(given.rows), "row")}</summary>{shown}</details>\n'


def _foot(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    quoted = "".join(f"<code>{words(line)}</code>\n" for line in lines)
    return f"<footer><p>To quote with these results:</p>\n{quoted}</footer>\n"
