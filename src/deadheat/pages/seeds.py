"""Distributions of scores over seeds as sections of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deadheat.charts.chart import Figure
from deadheat.charts.curves import Gap, GapPlot
from deadheat.charts.distributions import Sample, ViolinPlot
from deadheat.charts.pairs import PairCell, PairMatrix
from deadheat.documents import Document, plain
from deadheat.pages.section import Section, Table
from deadheat.pages.wording import NONE, file_name, known, listed, p_shown, share_scale, shown, span, whole
from deadheat.text import pluralize

MOST_VIOLINS = 30
MOST_SERIES = 8  # systems that a figure of points tells apart
MOST_POINTS = 600  # of such a figure
MOST_IN_MATRIX = 40
MOST_ROWS = 15  # of a table that is not folded
SHAPES = (
    "Each shape shows how the scores of a system's runs are spread: it is wide where many runs lie. The box holds the "
    "middle half of them, and the line in it is the median. Systems with few runs are shown as points alone.",
    "One run of a system may be any of its runs: where two systems overlap, one run of each may show either ahead.",
)
CHOOSING = (
    "Does the run that is best on the development set do best on the test set? The correlation over runs is 1 if "
    "development scores foretell test scores, and 0 if they say nothing of them.",
    "Where it is low, the run that is chosen on the development set is hardly better on the test set than a run that "
    "is drawn at random, which on average scores the mean.",
)
TESTS = (
    "p (MW): Mann-Whitney's test of who tends to be higher, by which a winner is named; p (KS): Kolmogorov-Smirnov's "
    "of any difference between the distributions; p (sd): Brown-Forsythe's of their spread."
)
ASO = (
    "ASO: almost stochastic order; the smaller the number of a system, the surer that its runs are better all the way "
    "from the worst to the best."
)

Block = Mapping[str, Any]
System = Mapping[str, Any]
Pair = Mapping[str, Any]


def sections(document: Document) -> list[Section]:
    """For every block the distributions, dev against test and the pairs; then how far two seeds are apart.

    How to read them is told with the first block.
    """
    told = plain(document)
    made = []
    for place, block in enumerate(told["blocks"]):
        own = [_distributions(told, block, explain=not place)]
        if told["dev"]:
            own.append(_dev_test(told, block, explain=not place))
        if block["pairs"]:
            own.append(_pairs(told, block, explain=not place))
        notes = [note for note in told["notes"] if note.startswith(f"{block['by'] or 'the table'}: ")]
        own[-1] = replace(own[-1], notes=(*own[-1].notes, *notes))
        made += own
    if any(block["differences"] for block in told["blocks"]):
        made.append(_differences(told))
    return made


def display_scale(document: Document) -> float:
    """100 where all scores are shares, which people read as percent; else 1."""
    systems = [each for block in document["blocks"] for each in block["systems"]]
    return share_scale(each[end] for each in systems for end in ("minimum", "maximum"))


def _heading(text: str, document: Document, block: Block) -> str:
    return f"{text}: {document['by']} {block['by']}" if block["by"] else text


def _runs(block: Block) -> str:
    """What scores are over: seeds, or runs that differ in more than these."""
    return "seeds" if block["differences"] and block["unit"] == "seed" else "runs"


def _best_first(block: Block) -> list[System]:
    return sorted(block["systems"], key=lambda each: -known(each["mean"]))


def _distributions(document: Document, block: Block, *, explain: bool) -> Section:
    scale = display_scale(document)
    systems = _best_first(block)
    names = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum", "mean", "sd")
    rows = tuple(
        (each["system"], whole(each["n"]), *(shown(each[name], scale=scale) for name in names)) for each in systems
    )
    header = (document["system"] or "system", "runs", "min", "25 %", "median", "75 %", "max", "mean", "sd")
    said = [*SHAPES] if explain else ["The box holds the middle half of a system's runs; the line in it is the median."]
    if len(systems) > MOST_VIOLINS:
        said.append(f"Drawn are the {MOST_VIOLINS} systems of the highest mean; the table has all.")
    figure = Figure(
        file_name("seeds", block["by"]),
        _drawn_violins(document=document, block=block, systems=systems[:MOST_VIOLINS], scale=scale),
    )
    table = Table(header, rows, caption=_scale_told(document["score"], scale), folded=len(rows) > MOST_ROWS)
    agreeing = listed(document["settings"])
    defined = f"Runs that agree in {agreeing} differ by their seeds alone." if agreeing and explain else ""
    return Section(
        _heading(f"Scores over {_runs(block)}", document, block),
        tuple(said),
        (figure,),
        (table,),
        tuple(filter(None, [defined, "sd: standard deviation." if explain else ""])),
        about=block["by"],
    )


def _scale_told(score: str, scale: float) -> str:
    return f"{score}, in percent." if scale == 100 else f"{score}, in the scale of the table of runs."


def _axis(score: str, scale: float) -> str:
    return f"{score} in percent" if scale == 100 else score


def _drawn_violins(*, document: Document, block: Block, systems: Sequence[System], scale: float) -> ViolinPlot:
    samples = tuple(Sample(each["system"], tuple((scale * _values(each)).tolist())) for each in systems)
    title = _heading(f"{document['score']} over {_runs(block)}", document, block)
    return ViolinPlot(samples, title=title, axis=_axis(document["score"], scale))


def _values(system: System) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The scores of all runs; of very many, as many as there are between the quantiles that stand for them."""
    if "values" in system:
        return np.array([known(each) for each in system["values"]])
    told = np.array([known(each) for each in system["quantiles"]])
    places = np.linspace(0, 1, system["n"])
    return np.asarray(np.interp(places, np.linspace(0, 1, len(told)), told))


def _dev_test(document: Document, block: Block, *, explain: bool) -> Section:
    scale = display_scale(document)
    rows = []
    for each in _best_first(block):
        told = each["dev_test"]
        if told is None:
            continue
        interval = told["spearman_interval"]
        correlations = [shown(told[name]["statistic"]) for name in ("pearson", "spearman")]
        reached = [shown(told[name], scale=scale) for name in ("chosen", "mean", "best")]
        p = p_shown(told["spearman"]["p"])
        rows.append((each["system"], *correlations, span(interval["low"], interval["high"]), p, *reached))
    header = ("dev and test", "r", "rho", "95 % interval", "p (rho)", "test of best on dev", "mean", "best")
    said = (
        [*CHOOSING] if explain else ["The higher the correlation, the better development scores foretell test scores."]
    )
    told_apart = [each for each in _best_first(block) if each.get("dev_values")][:MOST_SERIES]
    figures: tuple[Figure, ...] = ()
    if told_apart:
        drawn = _drawn_gaps(document=document, block=block, systems=told_apart, scale=scale)
        figures = (Figure(file_name("seeds-dev-test", block["by"]), drawn),)
        left_out = len(block["systems"]) - len(told_apart)
        if left_out:
            said.append(f"Drawn are {pluralize(len(told_apart), 'system')}; the table has all.")
        if sum(len(each["dev_values"]) for each in told_apart) > MOST_POINTS:
            said.append(
                f"Of many runs about {MOST_POINTS} are drawn, evenly from the lowest test score to the highest."
            )
    return Section(
        _heading("Development against test scores", document, block),
        tuple(said),
        figures,
        (Table(header, tuple(rows), folded=len(rows) > MOST_ROWS),),
        ("r: Pearson's correlation; rho: Spearman's, of ranks, with its interval and p-value.",) if explain else (),
        about=block["by"],
    )


def _drawn_gaps(*, document: Document, block: Block, systems: Sequence[System], scale: float) -> GapPlot:
    dev_scale = share_scale(value for each in systems for value in each["dev_values"])
    room = max(2, MOST_POINTS // len(systems))
    points = []
    for each in systems:
        pairs = sorted(zip(each["values"], each["dev_values"], strict=True), key=lambda pair: (known(pair[0]), pair))
        kept = np.unique(np.linspace(0, len(pairs) - 1, min(room, len(pairs))).round().astype(int)).tolist()
        for test, dev in (pairs[i] for i in kept):
            x, y = dev_scale * known(dev), scale * known(test)
            points.append(Gap(each["system"], x, y))
    return GapPlot(
        tuple(points),
        title=_heading("Development and test scores of runs", document, block),
        x_axis=_axis(document["dev"], dev_scale),
        y_axis=_axis(document["score"], scale),
    )


def verdict(document: Document, block: Block, pair: Pair) -> str:
    """Who tends to score higher, or why nobody is named."""
    if pair["winner"]:
        return f"{pair['winner']} wins"
    return f"too few {block['unit']}s" if known(pair["least_p"]) > document["alpha"] else "could not be told apart"


def _pairs(document: Document, block: Block, *, explain: bool) -> Section:
    pairs, scale = block["pairs"], display_scale(document)
    wins = sum(bool(pair["winner"]) for pair in pairs)
    unit = block["unit"]
    of_what = "runs" if unit == "seed" else "configurations, each the mean of its runs"
    said = [
        f"Of {pluralize(len(pairs), 'pair')} of systems, {wins} can be told apart by the scores of their {of_what}."
    ]
    if explain:
        one = "run" if unit == "seed" else "configuration"
        said.append(
            f"P(A > B) is the chance that a {one} of the first system scores higher than a {one} of the second: 0.5 if "
            f"neither tends to. The second table tells how many {unit}s of each it takes to find the difference, and "
            "what those at hand can find."
        )
    names = [each["system"] for each in _best_first(block)]
    figures: tuple[Figure, ...] = ()
    if 3 <= len(names) <= MOST_IN_MATRIX:
        drawn = _drawn_matrix(document=document, block=block, names=names, scale=scale)
        figures = (Figure(file_name("seeds-pairs", block["by"]), drawn),)
    corrected = f"All p-values are corrected for {pluralize(len(pairs), 'pair')} ({document['correction']})."
    return Section(
        _heading("Which systems differ", document, block),
        tuple(said),
        figures,
        (_tested(document, block, scale), _needed(document, block, scale)),
        (f"{corrected} {TESTS}", ASO) if explain else (corrected,),
        about=block["by"],
    )


def _drawn_matrix(*, document: Document, block: Block, names: Sequence[str], scale: float) -> PairMatrix:
    cells = []
    for pair in block["pairs"]:
        gap, p = scale * known(pair["difference"]), known(pair["mann_whitney"]["p_corrected"])
        told = verdict(document, block, pair)
        cells.append(PairCell(pair["a"], pair["b"], gap, p, bool(pair["winner"]), told))
    title = _heading(f"Differences of mean {document['score']}", document, block)
    points = ", in points" if scale == 100 else ""
    return PairMatrix(tuple(names), tuple(cells), title=title, axis=f"{document['score']}{points}")


def _tested(document: Document, block: Block, scale: float) -> Table:
    rows = []
    for pair in block["pairs"]:
        tests = (pair[name]["p_corrected"] for name in ("mann_whitney", "kolmogorov_smirnov", "brown_forsythe"))
        rows.append(
            (
                f"{pair['a']} - {pair['b']}",
                shown(pair["difference"], scale=scale, sign="+"),
                shown(pair["a_better"], decimals=3),
                *map(p_shown, tests),
                *(shown(pair["aso"][side]["bound"]) for side in "ab"),
                verdict(document, block, pair),
            )
        )
    header = ("pair", "difference", "P(A > B)", "p (MW)", "p (KS)", "p (sd)", "ASO A", "ASO B", "verdict")
    return Table(header, tuple(rows), caption="Every two systems.", folded=len(rows) > MOST_ROWS)


def _needed(document: Document, block: Block, scale: float) -> Table:
    sizes = {each["system"]: each["compared"] for each in block["systems"]}
    rows = []
    for pair in block["pairs"]:
        need = pair["seeds_needed"]
        # Null is "no number is enough", but nothing is known of systems with one run.
        none = NONE if min(sizes[pair["a"]], sizes[pair["b"]]) < 2 else "too many"
        low, high = (whole(need[name], none=none) for name in ("seeds_low", "seeds_high"))
        rows.append(
            (
                f"{pair['a']} - {pair['b']}",
                shown(need["difference"], scale=scale, sign="+"),
                whole(need["seeds"], none=none),
                low if low == high else f"{low} to {high}",
                shown(need["simulated"], decimals=3),
                shown(need["power_now"], decimals=3),
                shown(need["smallest_now"], scale=scale),
            )
        )
    need, unit = block["pairs"][0]["seeds_needed"], f"{block['unit']}s"
    power = f"{unit} for power {need['target']:g}"
    header = ("to tell apart", "difference", power, "95 % interval", "simulated", "power now", "least found now")
    shared = f" / {need['comparisons']}" if need["comparisons"] > 1 else ""
    caption = (
        f"How many {unit} of each it takes to find a difference, by normal theory (Welch's test at "
        f"{document['alpha']:g}{shared}), checked by resampling; the interval is of the unknown spread."
    )
    return Table(header, tuple(rows), caption=caption, folded=len(rows) > MOST_ROWS)


def _differences(document: Document) -> Section:
    """Runs of the same settings, block by block."""
    scale = display_scale(document)
    points = " points" if scale == 100 else ""
    blocks = [block for block in document["blocks"] if block["differences"]]
    said = ["Runs that agree in every setting differ by chance alone: by their seeds."]
    if len(blocks) == 1:
        told = blocks[0]["differences"]
        said.append(
            f"Two such runs are {shown(told['median'], scale=scale)}{points} apart in the median, and in 5 of 100 "
            f"cases more than {shown(told['p95'], scale=scale)}{points}. A difference between two systems with one "
            "run each says little unless it is larger than that."
        )
    else:
        said.append(
            "A difference between two systems with one run each says little unless it is larger than two such runs "
            "are apart by chance: 5 of 100 pairs of runs are further apart than the 95th percentile."
        )
    rows = []
    for block in blocks:
        told = block["differences"]
        own = [shown(told[name], scale=scale) for name in ("median", "p95", "maximum")]
        reach = [shown(told[f"range_{name}"], scale=scale) for name in ("median", "p95", "maximum")]
        name = block["by"] or "all runs"
        count = whole(told["configurations"])
        rows.append((name, "two random seeds", count, *own))
        rows.append((name, "all seeds, greatest less least", count, *reach))
    header = (
        document["by"] or "",
        "runs of the same settings",
        "configurations",
        "median",
        "95th percentile",
        "maximum",
    )
    table = Table(header, tuple(rows), left=2, caption=_scale_told(f"Differences in {document['score']}", scale))
    return Section("How far apart are two seeds", tuple(said), (), (table,), ("Every configuration counts the same.",))
