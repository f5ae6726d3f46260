"""What a reader can do with a page, in a real browser."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from deadheat.charts.chart import WIDE
from tests.reporting.browsing import HOSTILE, NAMES, Visit, Visiting, background, column, drawn, focused, sample, tip


def downloaded(here: Visit, selector: str, target: Path) -> tuple[str, bytes]:
    with here.tab.expect_download() as waiting:
        here.tab.locator(selector).first.click()
    waiting.value.save_as(target)
    return waiting.value.suggested_filename, target.read_bytes()


def test_pointing_at_a_mark_shows_its_value_at_once_and_as_text(visit: Visiting) -> None:
    here = visit(sample(HOSTILE))
    mark = here.tab.locator(".wide circle[data-tip]").first
    mark.scroll_into_view_if_needed()
    here.settle()
    mark.hover()
    assert HOSTILE[0] in tip(here)
    assert "90.2" in tip(here)
    assert here.tab.locator(".tip *").count() == 0
    box, pointed = here.tab.locator(".tip").bounding_box(), mark.bounding_box()
    assert box
    assert pointed
    assert abs(box["y"] + box["height"] - pointed["y"]) < 40
    here.tab.mouse.move(5, 5)
    assert not here.tab.locator(".tip").is_visible()
    assert here.complaints == []


def test_a_tap_beside_a_mark_shows_its_value_and_one_elsewhere_hides_it(visit: Visiting) -> None:
    here = visit(sample(), width=375, has_touch=True, is_mobile=True)
    mark = here.tab.locator(".narrow circle[data-tip]").first
    mark.scroll_into_view_if_needed()
    here.settle()
    box = mark.bounding_box()
    assert box
    here.tab.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] + 5)
    assert "90.2" in tip(here)
    shown = here.tab.locator(".tip").bounding_box()
    assert shown
    assert shown["x"] >= 0
    assert shown["x"] + shown["width"] <= 375
    here.tab.locator("h1").tap()
    assert not here.tab.locator(".tip").is_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_the_data_of_a_figure_are_in_a_link(visit: Visiting, tmp_path: Path, *, scripts: bool) -> None:
    here = visit(sample(), java_script_enabled=scripts)
    name, content = downloaded(here, "figure a[download]", tmp_path / "data.csv")
    assert name == "scores.csv"
    assert content == drawn().draw(WIDE).csv().encode()
    assert [row[:2] for row in csv.reader(io.StringIO(content.decode()))] == [
        ["name", "value"], ["pointer", "90.2"], ["biaffine", "92.05"], ["bracketing", "87.93"]
    ]  # fmt: skip


def test_a_figure_is_saved_with_the_colours_it_has_on_the_page(visit: Visiting, tmp_path: Path) -> None:
    here = visit(sample(HOSTILE))
    name, content = downloaded(here, ".save", tmp_path / "figure.svg")
    assert name == "scores.svg"
    root = ElementTree.fromstring(content)
    space = "{http://www.w3.org/2000/svg}"
    assert (root.get("width"), root.tag) == ("720", f"{space}svg")
    looks = root.findtext(f"{space}style") or ""
    assert "fill:#0b5fa5" in looks
    assert "var(" not in looks
    assert "calc(" not in looks
    assert HOSTILE[0] in "".join(each.text or "" for each in root.iter(f"{space}title"))
    assert b"data-tip" not in content


def test_a_click_on_a_heading_sorts_numbers_as_numbers_and_what_is_missing_last(visit: Visiting) -> None:
    here = visit(sample((*NAMES, "arc-hybrid", "Zeta", "éclair")))
    table = 2
    assert here.tab.locator("table").nth(table).locator("caption").inner_text() == "All scores."
    as_given = column(here, table, 0)
    head = here.tab.get_by_role("columnheader", name="score", exact=True)
    head.get_by_role("button").click()
    assert column(here, table, 2) == ["902", "902", "1,092", "1,092", "-", "-"]
    assert head.get_attribute("aria-sort") == "ascending"
    head.get_by_role("button").click()
    assert column(here, table, 2) == ["1,092", "1,092", "902", "902", "-", "-"]
    assert head.get_attribute("aria-sort") == "descending"
    head.get_by_role("button").click()
    assert column(here, table, 0) == as_given
    gain = here.tab.get_by_role("columnheader", name="gain").get_by_role("button")
    gain.click()
    gain.click()
    assert column(here, table, 1) == ["+13.50", "+12.50", "+11.50", "+10.50", "+9.50", "+8.50"]
    here.tab.get_by_role("table", name="All scores.").get_by_role("columnheader", name="system").get_by_role(
        "button"
    ).click()
    assert column(here, table, 0) == ["arc-hybrid", "biaffine", "bracketing", "éclair", "pointer", "Zeta"]
    assert here.tab.locator("[aria-sort]").count() == 1


def test_the_button_switches_the_colours_and_the_choice_is_kept(visit: Visiting) -> None:
    here = visit(sample())
    light = background(here)
    mark = here.tab.locator(".wide .mark, .wide .interval").first
    colour = "each => getComputedStyle(each).stroke + getComputedStyle(each).fill"
    before = mark.evaluate(colour)
    here.tab.get_by_role("button", name="Dark colours").click()
    dark = background(here)
    assert dark != light
    assert mark.evaluate(colour) != before
    here.tab.reload()
    assert background(here) == dark
    here.tab.get_by_role("button", name="Light colours").click()
    assert background(here) == light


def test_the_button_works_where_nothing_may_be_stored(visit: Visiting) -> None:
    forbidden = "{ get() { throw new DOMException('denied', 'SecurityError'); } }"
    here = visit(sample(), dark=True, before=f"Object.defineProperty(window, 'localStorage', {forbidden})")
    dark = background(here)
    here.tab.get_by_role("button", name="Light colours").click()
    assert background(here) != dark
    assert here.complaints == []


def test_a_wide_table_scrolls_in_its_box_and_the_names_stay(visit: Visiting) -> None:
    here = visit(sample(), width=375)
    box = here.tab.locator("#on-bracketing .table .scroll")
    before = box.locator("tbody th").first.bounding_box()
    assert box.evaluate("each => { each.scrollLeft = 300; return each.scrollLeft; }") == 300
    assert box.locator("tbody th").first.bounding_box() == before
    assert box.get_attribute("tabindex") == "0"


def test_the_keyboard_reaches_every_control(visit: Visiting) -> None:
    here = visit(sample())
    seen = []
    for _ in range(60):
        here.tab.keyboard.press("Tab")
        if here.tab.evaluate("document.activeElement === document.body"):
            break  # past the last control
        seen.append(focused(here))
        assert here.tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    for control in (
        "skip",
        "theme Dark",
        " Contents",
        " Scores",
        "chart",
        " CSV",
        "save SVG",
        " Data, 3 rows",
        " gain",
    ):
        assert any(control in text for text in seen), (control, seen)
    order = [
        next(i for i, text in enumerate(seen) if control in text) for control in ("skip", "theme", "chart", " CSV")
    ]
    assert order == sorted(order)


def test_arrow_keys_step_through_the_values_of_a_figure(visit: Visiting) -> None:
    here = visit(sample())
    here.tab.locator(".skip").focus()
    while "chart" not in focused(here):
        here.tab.keyboard.press("Tab")
    assert tip(here) == "Arrow keys show the values"
    names = []
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        here.tab.keyboard.press(key)
        names.append(tip(here).partition(":")[0])
    assert names == ["pointer", "biaffine", "pointer", "bracketing"]
    assert here.tab.locator(".chart .on").count() == 1
    here.tab.keyboard.press("Escape")
    assert not here.tab.locator(".tip").is_visible()


def test_the_contents_are_open_beside_the_text_and_folded_on_a_phone(visit: Visiting) -> None:
    here = visit(sample())
    link = here.tab.get_by_role("navigation", name="Contents").get_by_role("link", name="On bracketing")
    link.click()
    here.settle()
    assert here.tab.evaluate("location.hash") == "#on-bracketing"
    assert link.get_attribute("aria-current") == "true"
    where = link.bounding_box()
    assert where
    assert 0 <= where["y"] < 900  # still in sight after the jump
    here.tab.set_viewport_size({"width": 375, "height": 800})
    here.settle()
    assert not link.is_visible()
    here.tab.get_by_text("Contents", exact=True).click()
    assert link.is_visible()
