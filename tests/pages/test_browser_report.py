"""Whole reports in a real browser: names from other people's files are shown as text, and everything can be reached."""

from __future__ import annotations

from pathlib import Path

import pytest
from deadheat.pages.report import Report, report

from tests.pages.browsing import HOSTILE, Visiting
from tests.questions.report_cases import Ran, disguised
from tests.questions.report_cases import ran as ran

SYSTEMS = dict(zip(("unigram", "seeded", "short", "<script>alert(1)</script>"), HOSTILE, strict=False))
CORPUS_NAMES = {
    "zeta": "</title><script>alert('corpus')</script>",
    "omega": '"onmouseover="alert(2)',
    "beta": HOSTILE[6],
}
# What is said in the browser, folded parts included, as a reader would find it.
TEXT = "document.body.textContent"
OWN_SCRIPTS = 2


@pytest.fixture(scope="module")
def hostile(ran: Ran, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The small study with names that would do harm if they were taken for markup."""
    folder = tmp_path_factory.mktemp("hostile")
    store = disguised(ran.store, folder, {**SYSTEMS, **CORPUS_NAMES})
    table = folder / "<img src=x onerror=alert(3)>.csv"
    rows = [f'"{name}",{place},0.{9 - place}' for place, name in enumerate(each.replace('"', '""') for each in HOSTILE)]
    table.write_text("\n".join(["system,dataset,score", *rows]), encoding="utf-8")
    return report(store, table, title=f"{HOSTILE[1]} & {HOSTILE[4]}")


def test_names_are_shown_as_text_and_do_nothing(visit: Visiting, hostile: Report) -> None:
    here = visit(hostile.page)
    assert here.requests == [here.address]
    assert here.complaints == []
    assert here.tab.locator("script").count() == OWN_SCRIPTS
    assert here.tab.locator("img").count() == 0
    assert here.tab.locator("[onmouseover], [onerror]").count() == 0
    said = here.tab.evaluate(TEXT)
    for name in (*SYSTEMS.values(), *CORPUS_NAMES.values()):
        assert name in said
    assert "<img src=x onerror=alert(3)>" in said
    assert here.tab.title() == f"{HOSTILE[1]} & {HOSTILE[4]}"


def test_everything_can_be_reached_and_opened(visit: Visiting, hostile: Report) -> None:
    here = visit(hostile.page)
    links = here.tab.locator("nav.contents a").evaluate_all("all => all.map(each => each.getAttribute('href'))")
    assert len(links) > 10
    assert here.tab.evaluate("links => links.filter(each => !document.querySelector(each))", links) == []
    folded = here.tab.locator("details.more > summary")
    assert folded.count() == sum(section.folded for section in hostile.page.sections) > 5
    inside = here.tab.locator("details.more").first.locator("figure").first
    assert not inside.is_visible()
    folded.first.click()
    assert inside.is_visible()


def test_nothing_is_wider_than_the_screen(visit: Visiting, hostile: Report) -> None:
    here = visit(hostile.page, width=375)
    here.tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    for width in (375, 1280):
        here.tab.set_viewport_size({"width": width, "height": 900})
        here.settle()
        assert here.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert here.complaints == []


def test_a_table_of_scores_is_a_page_with_its_verdict_first(visit: Visiting, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("treebank,A,B\nen,90,80\nde,80,70\nfi,70,60\nta,60,50\nkk,50,40\nmt,45,41\n")
    here = visit(report(path).page)
    verdict = here.tab.locator(".verdict").inner_text()
    assert verdict.startswith("A is better than B")
    headings = here.tab.locator("h2").all_inner_texts()
    assert headings == ["Scores", "Over data sets"]
    assert here.complaints == []
