"""What a reader sees of a page, in a real browser."""

from __future__ import annotations

import itertools
import shutil
import socket
from typing import Any

import pytest

from tests.browsers import no_browser
from tests.reporting.browsing import HOSTILE, NAMES, SCORES, Visiting, background, column, sample

# Every piece of text on the page, with its colour and the colour behind it.
WRITTEN = """() => {
const box = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const parts = colour => {
  box.clearRect(0, 0, 1, 1); box.fillStyle = colour; box.fillRect(0, 0, 1, 1);
  return [...box.getImageData(0, 0, 1, 1).data];
};
const behind = element => {
  for (let at = element; at; at = at.parentElement) {
    const colour = parts(getComputedStyle(at).backgroundColor);
    if (colour[3] === 255) return colour;
  }
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement, text = walker.currentNode.textContent.trim();
  if (!text || !element.checkVisibility() || element.closest("script")) continue;
  const looks = getComputedStyle(element);
  found.push([text, parts(element.closest("svg") ? looks.fill : looks.color), behind(element)]);
}
return found;
}"""


def luminance(colour: list[int]) -> float:
    """Relative luminance, as in WCAG 2.2."""
    linear = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: list[int], b: list[int]) -> float:
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("unattended", "programs", "outcome"),
    [
        ("1", {"apt-get"}, pytest.fail.Exception),
        ("1", set(), pytest.skip.Exception),
        ("", {"apt-get"}, pytest.skip.Exception),
    ],
)
def test_without_a_browser_tests_are_skipped_but_not_where_one_could_be_installed(
    monkeypatch: pytest.MonkeyPatch, unattended: str, programs: set[str], outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("CI", unattended)
    monkeypatch.setattr(shutil, "which", lambda name: name if name in programs else None)
    with pytest.raises(outcome, match="no browser"):
        no_browser("no browser")


@pytest.mark.parametrize("width", [1280, 375])
def test_a_page_asks_for_nothing_but_itself_and_complains_of_nothing(visit: Visiting, width: int) -> None:
    here = visit(sample(), width=width)
    here.tab.wait_for_load_state("networkidle")
    assert here.requests == [here.address]
    assert here.complaints == []


def test_whatever_gets_into_a_page_can_load_and_run_nothing(visit: Visiting) -> None:
    here = visit(sample())
    with socket.create_server(("localhost", 0)) as listening:
        listening.setblocking(False)
        here.tab.evaluate(
            """port => {
            window.ran = 0;
            const outside = `http://localhost:${port}/`;
            const put = (name, settings) => document.body.append(Object.assign(document.createElement(name), settings));
            put("script", { textContent: "ran += 1" });
            put("script", { src: outside });
            put("img", { src: outside });
            put("link", { rel: "stylesheet", href: outside });
            put("style", { textContent: `@import "${outside}"` });
            document.body.insertAdjacentHTML("beforeend", "<img src='x' onerror='ran += 1'>");
            fetch(outside).catch(() => null);
            }""",
            listening.getsockname()[1],
        )
        here.tab.wait_for_timeout(300)
        with pytest.raises(BlockingIOError):
            listening.accept()
    assert here.tab.evaluate("ran") == 0


@pytest.mark.parametrize(
    ("width", "shown", "hidden"), [(1280, "wide", "narrow"), (768, "wide", "narrow"), (375, "narrow", "wide")]
)
def test_each_figure_is_drawn_for_the_width_of_the_screen(visit: Visiting, width: int, shown: str, hidden: str) -> None:
    here = visit(sample(), width=width)
    figures = here.tab.locator("figure")
    assert figures.count() == 2
    for i in range(2):
        assert not figures.nth(i).locator(f".{hidden}").is_visible()
        box = figures.nth(i).locator(f".{shown}").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["height"] > 40
    marks = figures.nth(0).locator(f".{shown} circle")
    sizes = [marks.nth(i).bounding_box() for i in range(marks.count())]
    assert len(sizes) >= len(SCORES)
    assert all(size and size["width"] >= 4 and size["height"] >= 4 for size in sizes)
    assert here.tab.get_by_role("img").count() == 2  # what is hidden is hidden from those who hear the page as well


def test_text_of_a_figure_is_as_large_as_it_was_measured_for(visit: Visiting) -> None:
    for width, kind, size in ((1280, "wide", "13px"), (375, "narrow", "12px")):
        here = visit(sample(), width=width)
        name = here.tab.locator(f".{kind} text", has_text="pointer").first
        assert name.evaluate("each => getComputedStyle(each).fontSize") == size
        scale = here.tab.locator(f".{kind} svg").first.evaluate("each => each.getScreenCTM().a")
        assert scale == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("dark", [False, True])
def test_all_that_is_written_stands_out_from_what_is_behind_it(visit: Visiting, *, dark: bool) -> None:
    here = visit(sample(), dark=dark)
    here.tab.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    written: list[tuple[str, list[int], list[int]]] = here.tab.evaluate(WRITTEN)
    assert len(written) > 100
    paper = written[0][2]
    assert (luminance(paper) < 0.1) is dark
    faint = {text: round(contrast(ink, behind), 2) for text, ink, behind in written if contrast(ink, behind) < 4.5}
    assert faint == {}


@pytest.mark.parametrize("width", [1280, 768, 375, 320])
def test_the_page_never_scrolls_sideways_whatever_the_names(visit: Visiting, width: int) -> None:
    here = visit(sample(HOSTILE), width=width)
    here.tab.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    across: Any = here.tab.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert across[0] <= across[1]


def test_without_scripts_everything_is_there_and_no_button_is_dead(visit: Visiting) -> None:
    here = visit(sample(), java_script_enabled=False)
    assert here.tab.locator(".wide svg").first.is_visible()
    assert here.tab.locator(".wide svg title").first.text_content()
    assert column(here, 2, 0) == list(NAMES)
    assert here.tab.get_by_role("link", name="Scores").first.is_visible()
    here.tab.get_by_text("Data, 3 rows").click()
    assert column(here, 1, 1) == ["90.20", "92.05", "87.93"]
    assert here.tab.get_by_role("button").count() == 0


def test_hostile_names_are_shown_as_text(visit: Visiting) -> None:
    here = visit(sample(HOSTILE))
    here.tab.wait_for_timeout(100)
    assert here.complaints == []
    assert here.tab.locator("h1").inner_text() == f"Parsers compared: {HOSTILE[0]}"
    assert column(here, 2, 0) == [name.replace("\u202e", "\ufffd") for name in HOSTILE]
    assert here.tab.locator("img, main script").count() == 0
    cell = here.tab.locator("tbody th bdi", has_text=HOSTILE[4]).first
    assert cell.evaluate("each => getComputedStyle(each).unicodeBidi") == "isolate"


def test_parts_of_a_page_are_named_for_those_who_hear_it(visit: Visiting) -> None:
    here = visit(sample())
    for role in ("main", "banner", "navigation", "contentinfo"):
        assert here.tab.get_by_role(role).count() == 1, role
    assert here.tab.get_by_role("heading", level=1).count() == 1
    assert here.tab.get_by_role("region", name="Verdict").inner_text().startswith("pointer is not shown to be better")
    tables = here.tab.locator("table")
    named = "each => !!(each.caption || each.getAttribute('aria-label'))"
    assert all(tables.nth(i).evaluate(named) for i in range(tables.count()))
    ids = here.tab.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("width", [1280, 375])
def test_the_verdict_is_the_largest_text(visit: Visiting, width: int) -> None:
    here = visit(sample(), width=width)
    sizes = "all => all.map(each => parseFloat(getComputedStyle(each).fontSize))"
    verdict = here.tab.locator(".verdict p:first-child").evaluate_all(sizes)
    others = here.tab.locator("h1, h2, main > section *, .verdict p + p").evaluate_all(sizes)
    assert len(others) > 100
    assert verdict[0] > max(others)


def test_on_paper_there_are_light_colours_wide_figures_and_no_controls(visit: Visiting) -> None:
    here = visit(sample(), dark=True, width=375)
    here.tab.emulate_media(media="print")
    assert background(here) == "rgb(255, 255, 255)"
    assert here.tab.locator(".wide").first.is_visible()
    assert not here.tab.locator(".narrow").first.is_visible()
    for gone in (".theme", ".behind", ".contents", ".skip", "details.table"):
        assert not here.tab.locator(gone).first.is_visible(), gone
    kept = here.tab.locator("figure").evaluate_all("all => all.map(each => getComputedStyle(each).breakInside)")
    assert set(kept) == {"avoid"}
    assert here.tab.pdf(format="A4").startswith(b"%PDF")


def test_the_test_of_contrast_can_fail() -> None:
    assert contrast([0, 0, 0, 255], [255, 255, 255, 255]) == pytest.approx(21)
    assert contrast([119, 119, 119, 255], [255, 255, 255, 255]) == pytest.approx(4.48, abs=0.01)
    assert all(contrast(a, b) >= 1 for a, b in itertools.product([[0, 0, 0], [90, 9, 200]], repeat=2))
