"""The Borda ranking beside that by mean scores."""

from __future__ import annotations

from collections.abc import Iterator

from deadheat.ranking.borda import BordaRanking
from deadheat.reporting import model as m
from deadheat.results.format import RANK, SHARE, number_format

FOLDED = 30  # systems from which on the table is folded


def borda_blocks(borda: BordaRanking, subsets: m.Text) -> Iterator[m.Block]:
    """Counts, ranks and how often each system wins, on subsets that the text describes."""
    yield m.Heading("Borda counts", detail=True)
    first = [row for row in borda.systems if row.rank == 1]
    if borda.changes:
        changed = m.count(borda.changes, "system")
        yield m.explanation(
            "By Borda counts, {} of {} have another rank than by mean scores.", changed, len(borda.systems)
        )
    if len(first) == 1:
        words = "{} has the highest Borda count on all data sets, and on {} of {}."
        yield m.explanation(words, first[0].system, m.share(first[0].first), subsets)
    columns = (
        m.Column("system"),
        m.Column("Borda count", number_format(1)),
        *m.columns(RANK, "Borda rank", "rank by mean"),
    )
    rows = [(row.system, row.count, row.rank, row.mean_rank, row.first) for row in borda.systems]
    caption = m.text(
        "Borda counts: on every data set, a point for each system that scores lower and half a point for each that "
        "scores the same. First: share of {} on which the system has the highest count.",
        subsets,
    )
    heads = (*columns, m.Column("first", SHARE))
    yield m.Table(heads, rows, "borda", caption, folded=len(rows) > FOLDED, detail=not borda.changes)
