"""The page of the demo: its study, and simulated parsers of which the truth is known."""

from __future__ import annotations

from dataclasses import replace

from deadheat.pages.report import CHAPTERS, Report, report
from deadheat.pages.section import Section, Table
from deadheat.questions.demo import Demo
from deadheat.terminal.tables import percent


def demo_report(demo: Demo) -> Report:
    """The report of the demo's store, its splits and its parsers."""
    made = report(demo.study.store, demo.splits, demo.parsers, title="Deadheat demo", ledger=demo.ledger)
    sections = list(made.page.sections)
    truth = _truth(demo)
    last = max(place for place, section in enumerate(sections) if section.chapter == truth.chapter)
    sections.insert(last + 1, truth)
    return replace(made, page=replace(made.page, sections=tuple(sections)))


def _truth(demo: Demo) -> Section:
    """What is true of the simulated parsers, beside what was measured."""
    rows = [(row.file, percent(row.value), percent(demo.truth[row.file])) for row in demo.parsers.systems]
    return Section(
        "What is true of the simulated parsers",
        (
            "Their predictions are made up so that their true scores are known: B and C are equally good, and A is one "
            "point of LAS better. A good test finds the one difference, and does not invent the other.",
        ),
        tables=(Table(("parser", "measured LAS", "true LAS"), tuple(rows)),),
        chapter=CHAPTERS["compare"],
    )
