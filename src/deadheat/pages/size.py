"""How much test data is enough, as sections of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from deadheat.charts.chart import Figure
from deadheat.charts.curves import Curve, CurvePlot
from deadheat.documents import Document, plain
from deadheat.pages.section import Section, Table
from deadheat.pages.wording import NONE, file_name, listed, share_scale, shown, whole
from deadheat.terminal.study import short
from deadheat.text import pluralize

MOST_SETS = 6  # test sets with figures of their own
MOST_SYSTEMS = 10  # named in a sentence
MOST_SETS_BESIDE = 12  # test sets whose rankings are laid beside each other
WAYS = {
    "seq": "seq takes the last sentences",
    "rand": "rand takes sentences at random",
    "rand-seq": "rand-seq takes a run of sentences from a random start",
}

Row = Mapping[str, Any]


def sections(document: Document) -> list[Section]:
    """What is enough everywhere, then each test set with its curves; of many test sets only the hardest in full."""
    told = plain(document)
    sets = told["sets"]
    blocks = [*([told["overall"]] if told["overall"] else []), *_in_full(told)]
    first = [_together(told)] if len(sets) > 1 else []
    made = [*first, *(_block(told, each) for each in blocks)]
    opening, end = made[len(first)], made[-1]
    made[len(first)] = replace(opening, said=(*opening.said, *_reading(told, blocks)))
    return [*made[:-1], replace(made[-1], notes=(*end.notes, *told["notes"]))]


def _in_full(document: Document) -> Sequence[Row]:
    """All test sets, or of very many those on which least is reached at the largest size."""
    sets = document["sets"]
    if len(sets) <= MOST_SETS:
        return list(sets)
    return sorted(sets, key=_least_share)[:MOST_SETS]


def _least_share(block: Row) -> float:
    shares = [points[-1]["share"] for way in block["ways"] if (points := _points(way))]
    return min(shares, default=1.0)


def _points(way: Row) -> list[Row]:
    """The sizes that are less than everything."""
    return [point for point in way["sizes"] if not point["all"]]


def _block(document: Document, block: Row) -> Section:
    systems = block["systems"]
    sizes = f"{pluralize(block['words'], 'word')} in {pluralize(block['units'], block['unit'])}"
    scale = share_scale(each["score"] for each in systems)
    scores = listed((f"{each['system']} {shown(each['score'], scale=scale)}" for each in systems), most=MOST_SYSTEMS)
    said = [
        f"{_place(document, block)} {sizes}. On everything, {short(document['metric'])} is: {scores}.",
        *(f"{each['answer']}." for each in block["ways"]),
    ]
    name = file_name("size", block["set"])
    figures = []
    if any(point["tau"] is not None for way in block["ways"] for point in _points(way)):
        figures.append(Figure(name, _tau_curves(document, block)))
    if _is_tested(block):
        figures.append(Figure(f"{name}-significance", _aso_curves(block)))
    tables = (_sizes_table(document, block), *_published(block))
    heading, notes = _heading(document, block), (document["signature"],)
    return Section(heading, tuple(said), tuple(figures), tables, notes, about=block["set"])


def _reading(document: Document, blocks: Sequence[Row]) -> list[str]:
    """How to read the figures, said once."""
    against = "all of it" if document["against"] == "all" else "the rest of it"
    ways = dict.fromkeys(WAYS[way["way"]] for block in blocks for way in block["ways"] if way["way"] in WAYS)
    said = [
        f"The curves say how like the ranking on a sample is to that on {against}, by weighted Kendall's tau (1: the "
        f"same order), on average over draws; {100 * document['confidence']:g} % of the draws lie within the bands. "
        f"The level line is the tau that was asked for, {document['threshold']:g}. Of the ways of sampling, "
        f"{listed(ways)}."
    ]
    if any(map(_is_tested, blocks)):
        said.append(
            "The other figure tells for which share of the pairs of systems almost stochastic order finds a better one "
            "on the sample alone or on everything alone."
        )
    return said


def _is_tested(block: Row) -> bool:
    """Whether significance was compared."""
    return any(_aso(point) is not None for way in block["ways"] for point in _points(way))


def _place(document: Document, block: Row) -> str:
    return "All test sets together have" if block is document["overall"] else f"{block['set']} has"


def _heading(document: Document, block: Row) -> str:
    where = "all test sets together" if block is document["overall"] else block["set"]
    return f"How much of {where} is enough"


def _tau_curves(document: Document, block: Row) -> CurvePlot:
    series = []
    for way in block["ways"]:
        points = [each for each in _points(way) if each["tau"] is not None]
        if not points:
            continue
        bands = all(each["low"] is not None for each in points)
        lows, highs = (tuple(each[end] for each in points) if bands else None for end in ("low", "high"))
        series.append(
            Curve(
                way["way"], tuple(each["words"] for each in points), tuple(each["tau"] for each in points), lows, highs
            )
        )
    against = "everything" if document["against"] == "all" else "the rest"
    return CurvePlot(
        tuple(series),
        title=f"{block['set']}: tau with the ranking on {against}",
        x_axis="words of the sample",
        y_axis="weighted Kendall's tau",
        log_x=True,
        target=document["threshold"],
    )


def _aso(point: Row) -> float | None:
    share: float | None = (point["aso"] or {}).get("disagreement")
    return share


def _aso_curves(block: Row) -> CurvePlot:
    series = []
    for way in block["ways"]:
        known = [(each["words"], 100 * share) for each in _points(way) if (share := _aso(each)) is not None]
        if known:
            series.append(Curve(way["way"], *zip(*known, strict=True)))
    title = f"{block['set']}: pairs on which significance differs"
    return CurvePlot(tuple(series), title=title, x_axis="words of the sample", y_axis="% of pairs", log_x=True)


def _sizes_table(document: Document, block: Row) -> Table:
    tested = any(_aso(point) is not None for way in block["ways"] for point in way["sizes"])
    rows = []
    for way in block["ways"]:
        for point in way["sizes"]:
            words = "all" if point["all"] else f"{point['words']:,}"
            draws = (
                NONE
                if point["low"] is None
                else f"{shown(point['low'], decimals=3)} to {shown(point['high'], decimals=3)}"
            )
            cells = [words, whole(point["units"]), f"{point['draws']:,}", shown(point["tau"], decimals=3), draws]
            cells += [_share(point["share"]), *([_share(_aso(point))] if tested else [])]
            rows.append((way["way"], *cells))
    middle = f"{100 * document['confidence']:g} % of draws"
    header = ["sampling", "words", f"{block['unit']}s", "draws", "tau", middle, f"tau >= {document['threshold']:g}"]
    return Table((*header, *(["ASO differs"] if tested else [])), tuple(rows), folded=len(rows) > 12)


def _share(share: float | None) -> str:
    return NONE if share is None else f"{100 * share:.2f}".removesuffix(".00") + " %"


def _published(block: Row) -> tuple[Table, ...]:
    """What the published sizes would have given here; nothing if none was tried."""
    ways = [way["way"] for way in block["ways"]]
    rows = [
        (row["setup"], f"{row['words']:,}", *(_at_size(row[way]) for way in ways))
        for row in block["published"]
        if any(row[way] for way in ways)
    ]
    header = ("enough in van der Goot et al. (2024) for", "words", *(f"here, {way}" for way in ways))
    meant = "Tau at the published sizes and, in brackets, the share of draws that reach what was asked for."
    return (Table(header, tuple(rows), caption=meant),) if rows else ()


def _at_size(found: Row | None) -> str:
    return NONE if found is None else f"{shown(found['tau'], decimals=3)} ({_share(found['share'])})"


def _together(document: Document) -> Section:
    """What holds for all test sets, and how like their rankings are."""
    sets = document["sets"]
    said = []
    for way, words in document["enough_in_every_set"].items():
        own = [each for block in sets for each in block["ways"] if each["way"] == way]
        lacking = [each for each in own if each["enough"] is None]
        if words is not None:
            said.append(f"{way}: {words:,} words are enough in each of {pluralize(len(sets), 'test set')}.")
        elif lacking:
            told = f"in {len(lacking)} of {pluralize(len(sets), 'test set')}"
            said.append(f"{way}: {lacking[0]['reason']} {told}.")
    if len(sets) > MOST_SETS:
        said.append(f"Shown in full are the {MOST_SETS} test sets on which the fewest draws reach the tau asked for.")
    rows = tuple(
        (block["set"], f"{block['words']:,}", *(whole(way["enough"], none=str(way["reason"])) for way in block["ways"]))
        for block in sets
    )
    ways = [way["way"] for way in sets[0]["ways"]]
    tables = [Table(("test set", "words", *(f"enough, {way}" for way in ways)), rows, folded=len(rows) > 30)]
    between = document["between_sets"]
    if between is not None and len(sets) <= MOST_SETS_BESIDE:
        names = [block["set"] for block in sets]
        cells = (map(_tau, row) for row in between)
        beside = tuple((name, *row) for name, row in zip(names, cells, strict=True))
        meant = (
            "Weighted tau of the rankings on everything. Where it is low, no size of one tells the ranking on another."
        )
        tables.append(Table(("", *names), beside, caption=meant))
    return Section("How much is enough everywhere", tuple(said), (), tuple(tables), (document["signature"],))


def _tau(value: float | None) -> str:
    return shown(value, decimals=3)
