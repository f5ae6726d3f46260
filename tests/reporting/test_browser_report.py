"""Whole reports in a real browser: names from other people's files are shown as text, and everything can be reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadheat.reporting.model import Heading
from deadheat.reporting.report import Report, report
from tests.reporting.browsing import HOSTILE, Visiting
from tests.results.samples import renamed, study_with_search

SYSTEMS = dict(zip(("unigram", "perceptron"), HOSTILE, strict=False))
CORPUS = "</title><script>alert('corpus')</script>"
PAGE_SCRIPTS = 2


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A small study and a table with names that would do harm if they were taken for markup."""
    table = tmp_path_factory.mktemp("hostile") / "<img src=x onerror=alert(3)>.csv"
    quoted = [name.replace('"', '""') for name in HOSTILE]
    rows = [f'"{name}",{dataset},0.{9 - i}' for i, name in enumerate(quoted) for dataset in ("one", "two")]
    table.write_text("\n".join(["system,dataset,score", *rows]), encoding="utf-8")
    study = renamed(study_with_search(), {**SYSTEMS, "small": CORPUS})
    return report(study, table, title=f"{HOSTILE[1]} & {HOSTILE[4]}")


def test_names_are_shown_as_text_and_do_nothing(visit: Visiting, hostile: Report) -> None:
    here = visit(hostile.page)
    assert here.requests == [here.address]
    assert here.complaints == []
    assert here.tab.locator("script").count() == PAGE_SCRIPTS
    assert here.tab.locator("img").count() == 0
    assert here.tab.locator("[onmouseover], [onerror]").count() == 0
    text = here.tab.evaluate("document.body.textContent")
    for name in (*SYSTEMS.values(), CORPUS, "<img src=x onerror=alert(3)>"):
        assert name in text
    assert here.tab.title() == f"{HOSTILE[1]} & {HOSTILE[4]}"


def test_everything_can_be_reached_and_opened(visit: Visiting, hostile: Report) -> None:
    here = visit(hostile.page)
    links = here.tab.locator("nav.contents a").evaluate_all("all => all.map(each => each.getAttribute('href'))")
    assert len(links) > 5
    assert here.tab.evaluate("links => links.filter(each => !document.querySelector(each))", links) == []
    folded = here.tab.locator("details.more > summary")
    assert folded.count() == sum(isinstance(block, Heading) and block.folded for block in hostile.page.blocks) > 0
    inside = here.tab.locator("details.more").first.locator("figure, .table").first
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
    assert here.tab.locator(".verdict").inner_text().startswith("A is better than B by 9.00 in score (95% CI [")
    assert here.tab.locator("h2").all_inner_texts() == ["Scores", "Over data sets", "Systems compared"]
    assert here.complaints == []
