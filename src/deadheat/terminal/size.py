"""How much test data is enough, on a terminal."""

from __future__ import annotations

import math

from deadheat.questions.size_study import NONE_ENOUGH, ONE_SAMPLE, SizeStudy
from deadheat.ranking.sizes import SetSizes, SizePoint
from deadheat.terminal.tables import emphasis, percent, prose, quotable, table
from deadheat.text import pluralize

SHOWN = 10  # systems of a ranking


def size_text(found: SizeStudy) -> str:
    """A block a test set, what holds over all of them, and the line to quote."""
    parts = [_block(found, each) for each in found.blocks]
    if len(found.sets) > 1:
        parts.append(_together(found))
    return "\n\n".join([*parts, quotable(found.signature)])


def _block(found: SizeStudy, block: SetSizes) -> str:
    pieces = [
        _title(found, block),
        _sizes(found, block),
        prose("\n".join(found.answers(block))),
        _published(found, block),
    ]
    return "\n\n".join(filter(None, pieces))


def _title(found: SizeStudy, block: SetSizes) -> str:
    where = f"{block.name}: {pluralize(block.words, 'word')} in {pluralize(block.units, block.unit)}"
    scores = [f"{block.systems[at]} {percent(float(block.scores_S[at]))}" for at in block.order[:SHOWN]]
    more = len(block.systems) - SHOWN
    scores += [f"{more} more"] if more > 0 else []
    return f"{emphasis(where)}\n" + prose(f"{found.metric.label} on everything: {', '.join(scores)}")


def _sizes(found: SizeStudy, block: SetSizes) -> str:
    own = found.settings
    tested = any(point.aso for curve in block.curves for point in curve.points)
    header = ["sampling", "words", f"{block.unit}s", "draws", "tau", f"{100 * own.confidence:g} % of draws"]
    header += [f"tau >= {own.threshold:g}", *(["ASO differs", "eps_min moves"] if tested else [])]
    rows = [
        [curve.way, *_cells(found, point), *(_significance(point) if tested else [])]
        for curve in block.curves
        for point in curve.points
    ]
    return table(header, rows)


def _cells(found: SizeStudy, point: SizePoint) -> list[str]:
    own = found.settings
    low, high = point.interval(own.confidence).bounds
    middle = "-" if math.isnan(low) else f"{low:.3f} - {high:.3f}"
    words = "all" if point.whole else f"{point.size:,}"
    reached = f"{percent(point.reached(own.threshold) / len(point.tau_B)).removesuffix('.00')} %"
    return [words, f"{point.units:,.0f}", str(len(point.tau_B)), _number(point.mean), middle, reached]


def _significance(point: SizePoint) -> list[str]:
    if point.aso is None or math.isnan(point.aso.disagreement):
        return ["-", "-"]
    return [f"{percent(point.aso.disagreement)} %", _number(point.aso.distance)]


def _published(found: SizeStudy, block: SetSizes) -> str:
    """Tau and the share of draws at the published sizes that were tried; empty if none was."""
    rows = []
    for row in found.published(block):
        cells = [row[curve.way] for curve in block.curves]
        if not any(cells):
            continue
        shown = ["-" if cell is None else f"{_number(cell['tau'])} ({100 * cell['share']:.0f} %)" for cell in cells]
        rows.append([row["setup"], f"{row['words']:,}", *shown])
    ways = [curve.way for curve in block.curves]
    header = ["enough in van der Goot et al. (2024) for", "words", *(f"here, {way}" for way in ways)]
    return table(header, rows) if rows else ""


def _together(found: SizeStudy) -> str:
    lines = []
    for way in found.settings.ways:
        words = found.enough_everywhere(way)
        if words is not None:
            told = f"{words:,} words are enough in each"
        elif any(found.reason(curve) == ONE_SAMPLE for each in found.sets for curve in each.curves if curve.way == way):
            told = f"{ONE_SAMPLE}; no claim"
        else:
            told = f"{NONE_ENOUGH} in every test set"
        lines.append(f"{way}: {told}")
    if found.between_DD is None:
        return prose("\n".join(lines))
    names = [each.name for each in found.sets]
    rows = [[name, *map(_number, row)] for name, row in zip(names, found.between_DD.tolist(), strict=True)]
    return prose("\n".join(lines)) + "\n\n" + table(["tau of the rankings on everything", *names], rows)


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"
