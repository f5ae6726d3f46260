"""Tables of LaTeX from what a study found: how systems stand, and every pair of them over splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deadheat.documents import Document
from deadheat.questions.families import families, has_more_seeds, seed_words
from deadheat.questions.latex import (
    DAGGER,
    NONE,
    STAR,
    Cell,
    Row,
    Tabular,
    best,
    escape,
    fixed,
    numbers,
    p_fixed,
    slug,
    spanned,
)
from deadheat.questions.method_words import corrected_over_splits, metric_words, named_on_units
from deadheat.text import pluralize

AGAINST, UNTESTED = r"\ddagger", r"\circ"
WILSON = "The 95 % interval is Wilson's, which takes words for independent."


def study_tables(document: Document) -> list[Tabular]:
    """For every corpus, way to split and part: how the systems stand, and every pair over the splits.

    Systems that are scored by different metrics before all else stand in tables of their own.
    """
    tables = []
    for whole in document["blocks"]:
        found = families(whole)
        for block in found:
            tables.append(_standings(document, block, named=len(found) > 1))
            if block["pairs"]:
                tables.append(_split_pairs(document, block, named=len(found) > 1))
    return tables


def _name(kind: str, block: Document, *, named: bool) -> str:
    """The name of a table; `named` where only the metric tells it from another."""
    metric = metric_words(block["metrics"][0]) if named else ""
    return slug(kind, block["corpus"], block["split"].partition(".v")[0], block["part"], metric)


def _standings(document: Document, block: Document, *, named: bool) -> Tabular:
    metrics = block["metrics"]
    found = {(row["system"], row["metric"]): row for row in block["systems"]}
    systems = list(dict.fromkeys(row["system"] for row in block["systems"]))
    firsts = [found.get((system, metrics[0])) for system in systems]
    single = all(row["runs"] <= 1 for row in block["systems"])
    columns = [_means(found, systems, metric) for metric in metrics]
    # The first metric is the one that was tested.
    worse, marks, said = _against_best(block, systems)
    columns[0] = [Cell(cell.text, cell.bold, mark, number=True) for cell, mark in zip(columns[0], marks, strict=True)]
    if single:
        spread, label = [_interval(row) for row in firsts], "95 % interval"
    else:
        spread, label = ["" if row is None else fixed(row["sd"], scale=100) for row in firsts], "SD"
    header = ["system", metric_words(metrics[0]), label]
    body: list[Sequence[str | Cell]] = [systems, columns[0], numbers(spread)]
    for metric, column in zip(metrics[1:], columns[1:], strict=True):
        header.append(metric_words(metric))
        body.append(column)
    if worse:
        header.append("worse")
        body.append(worse)
    caption = escape(_standing_said(document, block, single=single)) + said
    return Tabular(_name("study", block, named=named), tuple(header), tuple(zip(*body, strict=True)), caption)


def _interval(row: Document | None) -> str:
    bounds = row and row["interval"]
    return NONE if not bounds else spanned(*bounds, scale=100)


def _means(found: Mapping[tuple[str, str], Document], systems: Sequence[str], metric: str) -> list[Cell]:
    rows = [found.get((system, metric)) for system in systems]
    values = [None if row is None else row["mean"] for row in rows]
    shown = ["" if row is None else fixed(row["mean"], scale=100) for row in rows]
    return numbers(shown, bold=best(values, shown))


def _against_best(block: Document, systems: Sequence[str]) -> tuple[list[Cell], list[str], str]:
    """On how many splits each system is significantly worse than the best, the marks, and what they mean."""
    if not block["pairs"]:
        return [], [""] * len(systems), ""
    first, several = systems[0], block["splits"] > 1
    pairs = {pair["b"] if pair["a"] == first else pair["a"]: pair for pair in block["pairs"] if first in _both(pair)}
    told = {name: (pair["significant"], pair["reversed"]) for name, pair in pairs.items()}
    told = {name: each if pairs[name]["a"] == first else each[::-1] for name, each in told.items()}
    marks = ["", *(_mark(told.get(system)) for system in systems[1:])]
    by = " by its first seed" if has_more_seeds(block) else ""
    meanings = {
        DAGGER: f"{'on no split' if several else 'not'} significantly different from the best",
        AGAINST: f"{'on some split ' if several else ''}significantly better than the best by mean{by}",
        UNTESTED: "not tested against the best",
    }
    said = "".join(f" $^{{{mark}}}$: {meaning}." for mark, meaning in meanings.items() if mark in marks)
    if not several:
        return [], marks, said
    worse = [f"{told[system][0]} of {pairs[system]['splits']}" if system in told else "" for system in systems]
    return numbers(worse), marks, f" Worse: on how many splits it is significantly worse than the best.{said}"


def _mark(told: tuple[int, int] | None) -> str:
    """Of a system that is significantly worse, and significantly better, than the best on so many splits."""
    if told is None:
        return UNTESTED
    return AGAINST if told[1] else "" if told[0] else DAGGER


def _both(pair: Document) -> tuple[str, str]:
    return pair["a"], pair["b"]


def _standing_said(document: Document, block: Document, *, single: bool) -> str:
    runs = sorted({row["runs"] for row in block["systems"]})
    many = pluralize(runs[-1], "run") if len(runs) == 1 else f"{runs[0]} to {pluralize(runs[-1], 'run')}"
    over = "of a single run" if single else f"mean over {many}, with their standard deviation (SD)"
    splits = pluralize(block["splits"], "split")
    where = f"{block['corpus']}, {block['part']}, {splits} by {block['split']}{_seeded(document, block)}"
    said = f"{where}: scores in percent, {over}."
    if single and any(row["interval"] for row in block["systems"] if row["metric"] == block["metrics"][0]):
        said += f" {WILSON}"
    if len({row["system"] for row in block["systems"]}) > 1:
        said += " The best is in bold."
    if block["pairs"]:
        said += f" {_tested(document, block)}"
    used = [note for note in document.get("notes", []) if note.startswith(f"{block['part']} was used")]
    return " ".join([said, *(f"{note[:1].upper()}{note[1:]}." for note in used)])


def _seeded(document: Document, block: Document) -> str:
    said = seed_words(block, document["blocks"])
    return f" ({said})" if said else ""


def _tested(document: Document, block: Document) -> str:
    test = named_on_units("/".join(dict.fromkeys(each for pair in block["pairs"] for each in pair["test"].split("/"))))
    how = corrected_over_splits(document["correction"], block["splits"], len(block["pairs"]))
    first = ", by the first seed of each system" if has_more_seeds(block) else ""
    return f"{test[:1].upper()}{test[1:]}{first}, p-values {how}, alpha {document['alpha']:g}."


def _split_pairs(document: Document, block: Document, *, named: bool) -> Tabular:
    several = block["splits"] > 1
    found: list[Row] = [
        (
            f"{pair['a']} vs. {pair['b']}",
            Cell(fixed(pair["difference"], scale=100, sign="+"), number=True),
            *(_over_splits(pair) if several else [_once(pair)]),
        )
        for pair in block["pairs"]
    ]
    metric = metric_words(block["metrics"][0])
    seed = _seeded(document, block)
    said = f"{block['corpus']}, {block['part']}{seed}: differences in {metric} in points, first less second"
    if several:
        said += ", mean over splits; on how many splits the first is ahead, significantly better and significantly "
        said += "worse; the least and the greatest p-value, before correction"
    caption = escape(f"{said}. {_tested(document, block)}")
    columns = ("ahead", "better", "worse", "least p", "most p") if several else ("p",)
    if not several:
        significant = any(pair["significant"] + pair["reversed"] for pair in block["pairs"])
        caption += f" $^{{{STAR}}}$: significant." if significant else " None is significant."
    return Tabular(_name("study-pairs", block, named=named), ("systems", "difference", *columns), tuple(found), caption)


def _over_splits(pair: Document) -> list[Cell]:
    counts = [f"{pair[key]} of {pair['splits']}" for key in ("ahead", "significant", "reversed")]
    known = [p for p in pair["p"] if p is not None]
    return numbers([*counts, p_fixed(min(known, default=None)), p_fixed(max(known, default=None))])


def _once(pair: Document) -> Cell:
    return Cell(p_fixed(pair["p"][0]), number=True, mark=STAR if pair["significant"] + pair["reversed"] else "")
