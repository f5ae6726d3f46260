"""A browser for the tests, and pages to look at in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deadheat.charts.chart import Chart, Figure, Layout
from deadheat.charts.comparisons import IntervalPlot, IntervalRow
from deadheat.charts.drawing import circle, line
from deadheat.charts.drawing import text as drawn_text
from deadheat.reporting.html import Page, page_html
from deadheat.reporting.model import Cell, Column, Heading, Note, Paragraph, Signature, Table, Verdict, text
from deadheat.reporting.model import Figure as FigureBlock
from deadheat.results.format import COUNT, PERCENT
from tests.charts.svg_reading import FunctionPlot

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Error, Request
    from playwright.sync_api import Page as Tab

HOSTILE = (
    "<script>alert('name')</script>",
    '"><img src=x onerror=alert(1)>',
    "a & b &lt; 'c'",
    "=HYPERLINK(1)",
    "מנתח תחבירי",
    "turned\u202eround",
    "n" * 200,
)


@dataclass
class Visit:
    """A page in a browser, and all that it asked for or complained of."""

    tab: Tab
    path: Path
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return self.path.as_uri()

    def listen(self) -> None:
        """Note down what happens from now on."""
        self.tab.on("request", self._requested)
        self.tab.on("console", self._logged)
        self.tab.on("pageerror", self._failed)
        self.tab.on("dialog", self._opened)

    def leave(self) -> None:
        """Give the tab back as it was."""
        self.tab.remove_listener("request", self._requested)
        self.tab.remove_listener("console", self._logged)
        self.tab.remove_listener("pageerror", self._failed)
        self.tab.remove_listener("dialog", self._opened)
        self.tab.evaluate("() => { try { localStorage.clear(); } catch {} }")
        self.tab.goto("about:blank")

    def settle(self) -> None:
        """Let what was asked for be painted: events of scrolling come a moment later."""
        self.tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def _requested(self, request: Request) -> None:
        self.requests.append(request.url)

    def _logged(self, message: ConsoleMessage) -> None:
        self.complaints.append(message.text)

    def _failed(self, error: Error) -> None:
        self.complaints.append(str(error))

    def _opened(self, dialog: Dialog) -> None:
        self.complaints.append(dialog.message)
        dialog.dismiss()


Visiting = Callable[..., Visit]


@pytest.fixture(scope="session")
def _tabs(browser: Browser) -> Iterator[dict[str, Tab]]:
    """One tab for each set of options: a new one takes longer than most tests."""
    tabs: dict[str, Tab] = {}
    yield tabs
    for tab in tabs.values():
        tab.context.close()


@pytest.fixture
def visit(browser: Browser, _tabs: dict[str, Tab], tmp_path: Path) -> Iterator[Visiting]:
    """Open a page from disk: `visit(page, width=375, dark=True, before="a script", **options of a context)`."""
    visits: list[Visit] = []

    def opened(
        page: Page, *, width: int = 1280, height: int = 900, dark: bool = False, before: str = "", **options: Any
    ) -> Visit:
        for earlier in visits:
            earlier.leave()
        path = tmp_path / "page.html"
        path.write_text(page_html(page), encoding="utf-8")
        key = repr((before, sorted(options.items())))
        if key not in _tabs:
            context = browser.new_context(reduced_motion="reduce", **options)
            context.set_default_timeout(30_000)
            if before:
                context.add_init_script(before)
            _tabs[key] = context.new_page()
        tab = _tabs[key]
        tab.set_viewport_size({"width": width, "height": height})
        tab.emulate_media(color_scheme="dark" if dark else "light", media="screen")
        visits[:] = [Visit(tab, path)]
        visits[0].listen()
        tab.goto(path.as_uri())
        return visits[0]

    yield opened
    for last in visits:
        last.leave()


def column(here: Visit, table: int, index: int) -> list[str]:
    cells = here.tab.locator("table").nth(table).locator(f"tbody tr > :nth-child({index + 1})")
    return cells.all_inner_texts()


def tip(here: Visit) -> str:
    return here.tab.locator(".tip").inner_text()


def focused(here: Visit) -> str:
    """What has the focus: its class or name, and its text."""
    return str(
        here.tab.evaluate("(e => `${e.className.baseVal ?? e.className} ${e.innerText ?? ''}`)(document.activeElement)")
    )


def background(here: Visit) -> str:
    return str(here.tab.evaluate("getComputedStyle(document.body).backgroundColor"))


SCORES = (
    IntervalRow("pointer", 90.2, 89.7, 90.7),
    IntervalRow("biaffine", 92.05, 91.55, 92.55),
    IntervalRow("bracketing", 87.93, 87, 88),
)
NAMES = tuple(row.name for row in SCORES)


def drawn(names: tuple[str, ...] = NAMES, title: str = "LAS of each system") -> IntervalPlot:
    """Scores with intervals, a name each; more names than scores go through these again."""
    rows = [replace(row, name=name) for name, row in zip(names, SCORES * len(names), strict=False)]
    return IntervalPlot(tuple(rows), title=title, axis="LAS in percent")


def stretched(layout: Layout) -> Chart:
    """A drawing that is wider than any screen it is drawn for, as a long sentence is."""
    width = 3 * layout.width
    marks = line("axis", 0, 30, width, 30) + drawn_text(width, 20, "the end", anchor="end")
    marks += "".join(circle("mark", 10 + 20 * i, 30, 4, f"word {i}") for i in range(20))
    rows = tuple((f"word {i}", i / 3, None) for i in range(250))
    return Chart("A long sentence", "It goes on.", width, 60, marks, ("word", "depth", "remark"), rows)


def sample(names: tuple[str, ...] = NAMES) -> Page:
    """A page with one of everything."""
    score, points = PERCENT.score, PERCENT.difference
    values = (902, 1092, None)
    rows = tuple((name, 0.085 + 0.01 * i, values[i % 3], "not shown") for i, name in enumerate(names))
    columns = (Column("system"), Column("gain", points), Column("score", COUNT), Column("verdict"))
    wide = (Column("system"), *(Column(f"measure {i}", score) for i in range(14)))
    claims = Table((Column("claim"), Column("sentences")), ((names[0], Cell("shown", tone="good")),))
    return Page(
        f"Parsers compared: {names[0]}",
        (
            Verdict(text("{} is not shown to be better than {}: 83.2 to 84.1.", *names[:2]), claims, ("A remark.",)),
            Heading("Scores"),
            Paragraph(text("How good is {}?", names[0])),
            FigureBlock(Figure("scores", drawn(names))),
            Table(columns, rows, caption="All scores."),
            Note("Small print."),
            Heading(text("On {}", names[-1])),
            FigureBlock(Figure("sentence", FunctionPlot(stretched))),
            Table(wide, tuple((name, *([0.9012] * 14)) for name in names)),
            Heading("Scores"),
            Paragraph("Under the same heading."),
            Table((Column("a"), Column("b", COUNT)), (("x", 1),), folded=True),
            Signature("deadheat 1.0 | las.v1 | seed 0"),
        ),
    )
