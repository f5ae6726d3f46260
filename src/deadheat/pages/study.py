"""A study as sections of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadheat.documents import Document
from deadheat.pages.section import Section
from deadheat.pages.study_blocks import family_section
from deadheat.pages.study_overview import overview_section, overviews, unlike_block
from deadheat.pages.study_runs import agreement_section, runs_section
from deadheat.pages.study_scores import gap_over_corpora, gap_section, learning_section
from deadheat.pages.study_told import Told

if TYPE_CHECKING:
    import polars as pl

MOST_CORPORA = 6  # that are shown one by one; of more, all together and the most unlike ones
DEV, TEST = "dev", "test"


def sections(document: Document, scores: pl.DataFrame | None = None, runs: pl.DataFrame | None = None) -> list[Section]:
    """Every corpus and part, test first; dev against test; sizes of train; agreement; and what was run.

    Parameters
    ----------
    document
        What `deadheat run --json` prints; `provenance`, a list of what runs were made with, is shown if it is there.
    scores
        `Store.scores()`, for distributions over seeds and for dev against test run by run.
    runs
        `Store.runs()`, for what was spent and, where the document does not tell, what failed.
    """
    told = Told.of(document, scores, runs)
    evidence = _many(told) if len(told.corpora) > MOST_CORPORA else _few(told)
    found = [*evidence, agreement_section(told), runs_section(told)]
    return [section for section in found if section is not None]


def _few(told: Told) -> list[Section | None]:
    """A section for every corpus, part and metric."""
    if not told.blocks:
        return []
    places = [(corpus, part) for part in told.parts for corpus in told.corpora]
    made = [family_section(told, family) for place in places for family in told.families(*place)]
    return [*made, gap_section(told, told.corpora), learning_section(told, told.corpora)]


def _many(told: Told) -> list[Section | None]:
    """All corpora together, part by part, and then those that rank systems least as the average does."""
    found = {part: overviews(told, part) for part in told.parts}
    made: list[Section | None] = [overview_section(told, over) for part in told.parts for over in found[part]]
    main = found[told.parts[0]][0]
    unlike = [unlike_block(told, family) for family, _ in main.unlike()]
    few = told.only([family.corpus for family in unlike])
    made += [family_section(few, family) for family in unlike]
    if DEV in found and TEST in found:
        made.append(gap_over_corpora(told, found[DEV][0], found[TEST][0]))
    return [*made, learning_section(told, [family.corpus for family in unlike])]
