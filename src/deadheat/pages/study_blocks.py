"""One corpus and part of a study: who stands where, and on how many splits a difference holds."""

from __future__ import annotations

from functools import partial

from deadheat.charts.chart import Chart, Figure, Layout
from deadheat.charts.intervals import Reach, intervals
from deadheat.charts.standard import SplitRange, standard_and_random
from deadheat.charts.violins import Sample, violins
from deadheat.pages.section import Section, Table
from deadheat.pages.study_pairs import has_matrix, matrix, pair_tables, pairs_text
from deadheat.pages.study_told import Family, Row, Told, is_random, is_standard, over, sentence_start, way
from deadheat.pages.wording import NONE, known, shown, span
from deadheat.questions.verdicts import MOST_SPLITS
from deadheat.terminal.study import short
from deadheat.text import pluralize

MOST_DRAWN = 3  # ways to split with figures of their own


def family_section(told: Told, family: Family) -> Section:
    """Everything about one corpus, part and metric; ways to split it stand together."""
    said = [each for block in family.blocks for each in _leader(told, family, block)]
    figures, reading = _figures(told, family)
    tables = [_standings(told, family), *_besides(told, family)]
    for block in family.blocks:
        said += pairs_text(told, family, block)
        tables += pair_tables(told, family, block)
    main = family.part == told.parts[0]  # one matrix is enough
    drawn = [block for block in family.blocks if main and has_matrix(family, block)][:MOST_DRAWN]
    if drawn:
        figures += [
            Figure(family.file("pairs", block), partial(matrix, told=told, family=family, block=block))
            for block in drawn
        ]
        reading.append(
            "In the matrix, each cell is the score of the system of its row less that of the system of its column, on "
            "average over splits. It is marked where the better one is significantly better on at least "
            f"{100 * MOST_SPLITS:.0f} % of the splits and significantly worse on none; point at it for the counts."
        )
    heading = f"{family.corpus}: {family.measure} on {family.part}"
    about = f"{family.corpus}, {family.part}"
    return Section(heading, (*said, *reading), tuple(figures), tuple(tables), _notes(told, family), about)


def _leader(told: Told, family: Family, block: Row) -> list[str]:
    ranked = [each for each in family.standings(block) if each["mean"] is not None]
    if not ranked:
        return [f"There is no {family.measure} {over(block)}: there was nothing to get right."]
    first = ranked[0]
    reached = shown(first["mean"], scale=told.scale)
    alone = len(ranked) == 1
    best = (
        f"{family.measure} of {first['system']} is" if alone else f"{first['system']} has the highest {family.measure},"
    )
    best = f"{best} {reached}"
    best += f" on average over {pluralize(first['runs'], 'run')}" if first["runs"] > 1 else ""
    text = f"{sentence_start(over(block))}, {best}"
    if alone:
        return [f"{text}."]
    second = ranked[1]
    apart = shown(first["mean"] - second["mean"], scale=told.scale)
    return [f"{text}; {second['system']} follows, {apart} behind."]


def _figures(told: Told, family: Family) -> tuple[list[Figure], list[str]]:
    """The standard split beside random ones, or the distributions of runs, or intervals; and how to read them."""
    standard = next((block for block in family.blocks if is_standard(block)), None)
    random = next((block for block in family.blocks if is_random(block)), None)
    if standard is not None and random is not None:
        draw = partial(_standard, told=told, family=family, standard=standard, random=random)
        interval = ", with its 95 % interval," if any(map(_interval, family.standings(standard))) else ""
        reading = (
            f"The figure sets the score on the standard split{interval} beside those on random splits "
            "(means over seeds), as Gorman & Bedrick (2019) do. How far the dots of a system are spread is how much a "
            "score of it owes to which sentences happened to be in train and in the part that is scored."
        )
        return [Figure(family.file("splits"), draw)], [reading]
    figures, kinds = [], []
    for block in family.blocks[:MOST_DRAWN]:
        several = any(each["runs"] > 1 for each in family.standings(block))
        values = told.values(family, block) if several else {}
        if several and not values and block["splits"] > 1:
            values = {each["system"]: list(map(known, each["by_split"])) for each in family.standings(block)}
        if values:
            draw = partial(_violins, told=told, family=family, block=block, values=values)
            kinds.append("A violin shows how often the runs of a system reached a score, over splits and seeds.")
        else:
            draw = partial(_intervals, told=told, family=family, block=block)
            kinds.append(_interval_reading(family, block))
        figures.append(Figure(family.file("scores", block), draw))
    return figures, list(dict.fromkeys(kinds))


def _interval(standing: Row) -> bool:
    return bool(standing["interval"])


def _interval_reading(family: Family, block: Row) -> str:
    if block["splits"] == 1 and any(each["interval"] for each in family.standings(block)):
        return "Each dot is a score, with Wilson's 95 % interval, which takes words for independent."
    return "Each dot is a mean; the line reaches from the least score to the most."


def _standard(layout: Layout, *, told: Told, family: Family, standard: Row, random: Row) -> Chart:
    fixed = {each["system"]: each for each in family.standings(standard)}
    drawn = {each["system"]: each for each in family.standings(random)}
    rows = []
    for name in dict.fromkeys([*drawn, *fixed]):
        once = fixed.get(name, {})
        low, high = once.get("interval") or (None, None)
        values = [told.scale * known(each) for each in drawn.get(name, {}).get("by_split", ())]
        mean, low, high = (None if each is None else told.scale * each for each in (once.get("mean"), low, high))
        rows.append(SplitRange(name, mean, low, high, values))
    title = family.title(f"on the standard split and on {random['splits']:,} random ones")
    return standard_and_random(rows, layout, title=title, axis=family.measure + told.in_percent)


def _violins(layout: Layout, *, told: Told, family: Family, block: Row, values: dict[str, list[float]]) -> Chart:
    names = [each["system"] for each in family.standings(block)]
    samples = [Sample(name, [told.scale * each for each in values.get(name, ())]) for name in names]
    return violins(samples, layout, title=family.title(over(block)), axis=family.measure + told.in_percent)


def _intervals(layout: Layout, *, told: Told, family: Family, block: Row) -> Chart:
    rows = []
    for each in family.standings(block):
        low, high = each["interval"] or (each["least"], each["most"])
        text = f"{each['system']}: {shown(each['mean'], scale=told.scale)} ({span(low, high, scale=told.scale)})"
        mean, low, high = (told.scale * known(value) for value in (each["mean"], low, high))
        rows.append(Reach(each["system"], mean, low, high, text))
    return intervals(rows, layout, title=family.title(over(block)), axis=family.measure + told.in_percent)


def _standings(told: Told, family: Family) -> Table:
    """Systems by ways to split: the mean, and its interval or the least and the most."""
    found = [{each["system"]: each for each in family.standings(block)} for block in family.blocks]
    names = dict.fromkeys(name for block in reversed(found) for name in block)
    header, rows = ["system"], [[name] for name in names]
    for block, own in zip(family.blocks, found, strict=True):
        several = len(family.blocks) > 1
        single = block["splits"] == 1 and any(each["interval"] for each in own.values())
        header += [f"{family.measure}, {way(block)}" if several else family.measure]
        header += ["95 % interval" if single else "least to most", "sd", "runs"]
        for row in rows:
            each = own.get(row[0])
            row += [NONE] * 4 if each is None else _standing_cells(told, each, single=single)
    return Table(
        tuple(header), tuple(map(tuple, rows)), caption=f"{family.measure}{told.in_percent}, over splits and seeds."
    )


def _standing_cells(told: Told, each: Row, *, single: bool) -> list[str]:
    low, high = (each["interval"] or (None, None)) if single else (each["least"], each["most"])
    spread = span(low, high, scale=told.scale)
    return [shown(each["mean"], scale=told.scale), spread, shown(each["sd"], scale=told.scale), f"{each['runs']:,}"]


def _besides(told: Told, family: Family) -> list[Table]:
    """The other metrics of the same systems."""
    tables = []
    for block in family.blocks:
        names = [each["system"] for each in family.standings(block)]
        own = {(each["system"], each["metric"]): each for each in block["systems"]}
        others = [m for m in block["metrics"] if m != family.metric and any((name, m) in own for name in names)]
        if not others:
            continue
        rows = []
        for name in names:
            row = [name]
            for each in (own.get((name, metric), {}) for metric in others):
                ends = span(each.get("least"), each.get("most"), scale=told.scale)
                row += [shown(each.get("mean"), scale=told.scale), ends]
            rows.append(tuple(row))
        header = ("system", *(text for metric in others for text in (short(metric), "least to most")))
        tables.append(Table(header, tuple(rows), caption=f"Other metrics {over(block)}.", folded=True))
    return tables


def _notes(told: Told, family: Family) -> tuple[str, ...]:
    """Which tests were made, and what was corrected for."""
    pairs = [pair for block in family.blocks for pair in family.pairs(block)]
    notes = []
    if pairs:
        tests = "/".join(dict.fromkeys(test for pair in pairs for test in str(pair["test"]).split("/")))
        correction, alpha = told.document.get("correction", "none"), told.document.get("alpha", 0.05)
        notes.append(
            f"Test: {tests} on every split, {correction} over the splits, alpha {alpha:g}; not corrected for the "
            "number of pairs. A system with several seeds is compared by its first one."
        )
    if any(_interval(each) for block in family.blocks if block["splits"] == 1 for each in family.standings(block)):
        notes.append("Intervals are Wilson's, which takes words for independent; of several seeds, that of their mean.")
    notes += [str(each) for each in told.document.get("notes", ()) if str(each).startswith(f"{family.part} ")]
    return tuple(notes)
