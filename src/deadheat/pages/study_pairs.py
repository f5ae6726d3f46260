"""Every two systems of a study: on how many splits one is better."""

from __future__ import annotations

from collections.abc import Sequence

from deadheat.charts.chart import Chart, Layout
from deadheat.charts.matrix import PairCell, pair_matrix
from deadheat.pages.section import Table
from deadheat.pages.study_told import Family, Row, Told, over, sentence_start
from deadheat.pages.wording import known, p_shown, shown
from deadheat.questions.verdicts import MOST_SPLITS
from deadheat.text import pluralize

MOST_SYSTEMS = 40  # in a matrix
MOST_NEIGHBOURS = 4  # pairs that are told in words
MOST_ROWS = 28  # pairs of a table that is not folded: all of eight systems
MOST_OPEN = 3  # ways to split whose tables are not folded


def _neighbours(family: Family, block: Row) -> list[Row]:
    """The pairs of systems that follow each other in the table."""
    place = {each["system"]: rank for rank, each in enumerate(family.standings(block))}
    return [pair for pair in family.pairs(block) if abs(place[pair["a"]] - place[pair["b"]]) == 1]


def won(pair: Row) -> str:
    """On how many splits the first is better by the test.

    Examples
    --------
    >>> won({"a": "A", "b": "B", "splits": 20, "significant": 13, "reversed": 0, "p_corrected": []})
    'A is better than B on 13 of 20 splits'
    >>> won({"a": "A", "b": "B", "splits": 1, "significant": 0, "reversed": 0, "p_corrected": [0.21]})
    'A is not told apart from B (p = 0.2100)'
    """
    if pair["splits"] > 1:
        worse = f", and worse on {pair['reversed']:,}" if pair["reversed"] else ""
        return f"{pair['a']} is better than {pair['b']} on {pair['significant']:,} of {pair['splits']:,} splits{worse}"
    p = f"p = {p_shown(pair['p_corrected'][0])}"
    if pair["significant"]:
        return f"{pair['a']} is better than {pair['b']} ({p})"
    if pair["reversed"]:
        return f"{pair['b']} is better than {pair['a']} ({p})"
    return f"{pair['a']} is not told apart from {pair['b']} ({p})"


def holds(pair: Row) -> bool:
    """Whether the first is better on so many splits that it is said to be better."""
    return bool(pair["significant"] >= MOST_SPLITS * pair["splits"] and not pair["reversed"])


def pairs_text(told: Told, family: Family, block: Row) -> list[str]:
    """Who is better than the next, in words."""
    beside = _neighbours(family, block)
    lines = []
    for pair in beside[:MOST_NEIGHBOURS]:
        apart = f"{shown(pair['difference'], scale=told.scale, sign='+')} on average, ahead on {pair['ahead']:,}"
        lines.append(f"{won(pair)} ({apart})" if pair["splits"] > 1 else won(pair))
    more = len(beside) - MOST_NEIGHBOURS
    rest = f" {pluralize(more, 'more pair')} of neighbours: see the table." if more > 0 else ""
    where = sentence_start(over(block))
    return [f"{where}, by the test: {'; '.join(lines)}.{rest}"] if lines else []


def pair_tables(told: Told, family: Family, block: Row) -> list[Table]:
    """All pairs; of many, the neighbours apart."""
    pairs = family.pairs(block)
    if not pairs:
        return []
    where = f"Pairs {over(block)}."
    if len(pairs) <= MOST_ROWS:
        return [_pair_table(told, pairs, where, folded=len(family.blocks) > MOST_OPEN)]
    beside = _pair_table(told, _neighbours(family, block), f"Neighbours {over(block)}.")
    return [beside, _pair_table(told, pairs, where, folded=True)]


def _pair_table(told: Told, pairs: Sequence[Row], caption: str, *, folded: bool = False) -> Table:
    rows = []
    for pair in pairs:
        counts = (f"{pair[name]:,} of {pair['splits']:,}" for name in ("ahead", "significant", "reversed"))
        p = pair["p"]
        spread = p_shown(p[0]) if len(p) == 1 else f"{p_shown(min(p))} to {p_shown(max(p))}"
        difference = shown(pair["difference"], scale=told.scale, sign="+")
        rows.append((f"{pair['a']} - {pair['b']}", difference, *counts, spread))
    meant = f"{caption} Better and worse are by the test, with p-values corrected for the number of splits."
    return Table(
        ("pair", "difference", "ahead", "better", "worse", "p, before correction"),
        tuple(rows),
        caption=meant,
        folded=folded,
    )


def has_matrix(family: Family, block: Row) -> bool:
    """Whether there is a matrix to draw."""
    names = family.standings(block)
    return 3 <= len(names) <= MOST_SYSTEMS and bool(family.pairs(block))


def matrix(layout: Layout, *, told: Told, family: Family, block: Row) -> Chart:
    """Every two systems, with the splits on which one is better."""
    cells = []
    for pair in family.pairs(block):
        p = known(pair["p_corrected"][0]) if pair["splits"] == 1 else float("nan")
        cells.append(PairCell(pair["a"], pair["b"], told.scale * known(pair["difference"]), p, holds(pair), won(pair)))
    points = ", in points" if told.scale == 100 else ""
    axis = f"difference in {family.measure}{points}"
    names = [each["system"] for each in family.standings(block)]
    title = family.title(f"of every two systems {over(block)}")
    return pair_matrix(names, cells, layout, title=title, axis=axis)
