"""The page of the demo: its study, and simulated parsers whose true scores are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from deadheat.questions.demo import Demo
from deadheat.report.model import Block, Column, Heading, Paragraph, Table
from deadheat.report.report import CHAPTERS, Report, report
from deadheat.results.data import SplitReport
from deadheat.results.format import PERCENT

TRUTH = "B and C are equally good, and A is better by one point of LAS"


def demo_report(demo: Demo) -> Report:
    """The report of the demo's store, its splits and its parsers, with the truth about the parsers beside it."""
    made = report(demo.store, SplitReport.of(demo.splits), demo.parsers, title="Deadheat demo", ledger=demo.ledger)
    blocks: list[Block] = []
    inside = False
    for block in made.page.blocks:
        starts_chapter = isinstance(block, Heading) and block.level == 1
        if inside and starts_chapter:
            blocks += truth_blocks(demo)
        if starts_chapter:
            inside = isinstance(block, Heading) and str(block.text) == CHAPTERS["compare"]
        blocks.append(block)
    blocks += truth_blocks(demo) if inside else []
    return replace(made, page=replace(made.page, blocks=tuple(blocks)))


def truth_blocks(demo: Demo) -> Iterator[Block]:
    """What is true of the simulated parsers, beside what was measured."""
    yield Heading("The truth about the simulated parsers")
    yield Paragraph(f"Their predictions are generated, so their true scores are known: {TRUTH}.")
    form = PERCENT.score
    rows = tuple((row.system, row.value, demo.truth[row.system]) for row in demo.parsers.ranked)
    yield Table((Column("parser"), Column("measured LAS", form), Column("true LAS", form)), rows)
