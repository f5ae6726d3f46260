"""Tables of LaTeX from what the commands find on test sets: score, compare, rank, size."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from deadheat.documents import Document
from deadheat.questions.latex import (
    DAGGER,
    NONE,
    STAR,
    Cell,
    Tabular,
    best,
    display_scale,
    escape,
    fixed,
    numbers,
    p_fixed,
    spanned,
)
from deadheat.questions.method_words import corrected_words, level_words, metric_words, named_tests
from deadheat.text import pluralize

AGAINST = r"\ddagger"
BEST = "The best is in bold"


def score_tables(document: Document) -> list[Tabular]:
    """Files by metrics, in percent; with the interval where there is one metric."""
    rows = document["scores"]
    labels = list(dict.fromkeys(row["metric"] for row in rows))
    lines = list(dict.fromkeys((row["file"], row.get("group", "")) for row in rows))
    found = {(row["file"], row.get("group", ""), row["metric"]): row for row in rows}
    grouped = any(group for _, group in lines)
    columns = [_column([found.get((*line, label)) for line in lines], lines) for label in labels]
    header = ["file", *([document.get("by") or "group"] if grouped else []), *labels]
    said = f"{_listed(labels)} in percent"
    if len(labels) == 1 and not grouped:
        header.append(_interval_name(document))
        said += " with intervals"
        own = [found[*line, labels[0]] for line in lines]
        columns.append(numbers([spanned(row["low"], row["high"], scale=100) for row in own]))
    if len({file for file, _ in lines}) > 1:
        said += f". {BEST}{' in every group' if grouped else ''}; differences were not tested"
    names = lines if grouped else [line[:1] for line in lines]
    body = tuple((*name, *cells) for name, *cells in zip(names, *columns, strict=True))
    return [Tabular("scores", tuple(header), body, f"{said}.", left=2 if grouped else 1)]


def _column(rows: Sequence[Document | None], lines: Sequence[tuple[str, str]]) -> list[Cell]:
    """Scores by one metric, the best of every group in bold."""
    values = [None if row is None else row["value"] for row in rows]
    shown = ["" if row is None else fixed(row["value"], scale=100) for row in rows]
    bold = [False] * len(rows)
    for group in {group for _, group in lines}:
        own = [at for at, line in enumerate(lines) if line[1] == group]
        for at, strong in zip(own, best([values[at] for at in own], [shown[at] for at in own]), strict=True):
            bold[at] = strong
    return numbers(shown, bold=bold)


def _interval_name(document: Document) -> str:
    level = re.search(r"\| (0\.\d+) (?:wilson|bootstrap)", document.get("signature") or "")
    return f"{100 * float(level[1]):.4g} % interval" if level else "interval"


def _listed(labels: Sequence[str]) -> str:
    told = ", ".join(labels[:-1])
    return escape(f"{told} and {labels[-1]}" if told else labels[0])


def compare_tables(document: Document) -> list[Tabular]:
    """The systems with their intervals, who is tied with the best, and every pair that was tested."""
    systems = sorted(document["systems"], key=lambda row: -row["value"])
    scale = document.get("scale") or (1.0 if document["unit"] == "data set" else 100.0)
    few = scale == 1 and all(abs(row["value"]) <= 2 for row in systems)
    form: dict[str, Any] = {"scale": scale, "decimals": 4 if few else 2}
    interval, metric = level_words(document["alpha"]), metric_words(document["metric"])
    values = [row["value"] for row in systems]
    shown = [fixed(value, **form) for value in values]
    tied = set(document["tied"])
    marks = [DAGGER if row["system"] in tied and at else "" for at, row in enumerate(systems)]
    cells = numbers(shown, bold=best(values, shown), marks=marks)
    spans = numbers([spanned(row["low"], row["high"], **form) for row in systems])
    rows = tuple(zip([row["system"] for row in systems], cells, spans, strict=True))
    tests = len(systems) * (len(systems) - 1) // 2
    said = (
        f"{metric[:1].upper()}{metric[1:]}{' in percent' if scale == 100 else ''} with {interval}s by bootstrap. {BEST}"
    )
    how = f"{named_tests(document['test'])} by {document['unit']}"
    p_values = f"p-values {corrected_words(document['correction'], tests)}, alpha {document['alpha']:g}"
    if any(marks):
        caption = f"{escape(said)}; $^{{{DAGGER}}}$: not significantly different from it "
    else:
        caption = escape(f"{said}; every other is significantly different from it ")
    first = Tabular("systems", ("system", metric, interval), rows, caption + escape(f"({how}, {p_values})."))
    return [first, _pairs(document, how, form)]


def _pairs(document: Document, how: str, form: dict[str, Any]) -> Tabular:
    rows: list[tuple[str | Cell, ...]] = []
    marks = []
    for pair in document["pairs"]:
        mark = _mark(document, pair)
        marks.append(mark)
        cells = [
            fixed(pair["difference"], sign="+", **form),
            spanned(pair["low"], pair["high"], **form),
            p_fixed(pair["p"]),
        ]
        corrected = Cell(p_fixed(pair["p_corrected"]), number=True, mark=mark)
        rows.append((f"{pair['a']} vs. {pair['b']}", *numbers(cells), corrected))
    corrected_for = corrected_words(document["correction"], len(rows))
    points = "Differences in points" if form["scale"] == 100 else "Differences"
    said = escape(f"{points}, first less second, with p-values of {how}, the last column {corrected_for}.")
    alpha = f"{document['alpha']:g}"
    if STAR in marks:
        said += f" $^{{{STAR}}}$: significant at alpha {alpha}."
    if AGAINST in marks:
        said += f" $^{{{AGAINST}}}$: significant at alpha {alpha}, but in favour of the one with the lower score."
    if not any(marks):
        said += f" None is significant at alpha {alpha}."
    header = ("systems", "difference", level_words(document["alpha"]), "p", "p corrected")
    return Tabular("pairs", header, tuple(rows), said)


def _mark(document: Document, pair: Document) -> str:
    p = pair["p_corrected"]
    if p is None or p > document["alpha"]:
        return ""
    winner = pair.get("winner", pair["a"] if pair["difference"] > 0 else pair["b"] if pair["difference"] < 0 else "")
    if not winner:
        return ""
    return STAR if (winner == pair["a"]) == (pair["difference"] > 0) else AGAINST


def rank_tables(document: Document) -> list[Tabular]:
    """The ranks of every system over subsets of the data sets, and how often it is ahead of the next."""
    systems = document["systems"]
    ahead = {(pair["a"], pair["b"]): pair["p_a"] for pair in document["pairs"]}
    names = [row["system"] for row in systems]
    exact = document.get("exact") or {}
    extremes = {row["system"]: (row["best"], row["worst"]) for row in exact.get("extremes", [])}
    scores, means = ([row[key] for row in systems] for key in ("mean_score", "mean"))
    scale = display_scale(scores)
    shown = [fixed(value, scale=scale) for value in scores]
    average = [fixed(value) for value in means]
    columns = [
        numbers(shown, bold=best(scores, shown)),
        *(_extremes(systems, extremes, end) for end in ("best", "worst")),
        numbers(average, bold=best(means, average, lowest=True)),
        numbers([fixed(row["median"], decimals=1) for row in systems]),
        numbers([fixed(row["sd"]) for row in systems]),
        numbers([_share(ahead.get(pair)) for pair in zip(names, [*names[1:], ""], strict=True)]),
    ]
    header = ("System", "Score", "Best", "Worst", "Mean", "Median", "SD", "Ahead")
    unproved = any(not each["proved"] for pair in extremes.values() for each in pair)
    caption = _rank_caption(document, proved=bool(extremes), unproved=unproved)
    return [Tabular("ranks", header, tuple(zip(names, *columns, strict=True)), caption)]


def _share(share: float | None) -> str:
    """A share in percent; what is nearly all or nearly none is never rounded to all or none."""
    if share is None or share in (0, 1) or 0.0005 <= share < 0.9995:
        return fixed(share, scale=100, decimals=1)
    return ">99.9" if share > 0.5 else "<0.1"


def _extremes(systems: Sequence[Document], proved: Mapping[str, tuple[Document, Document]], end: str) -> list[Cell]:
    """The best or worst rank: over all subsets where that was searched for, else over those that were drawn."""
    cells = []
    for row in systems:
        known = proved.get(row["system"])
        found = known[0 if end == "best" else 1] if known else None
        rank = found["rank"] if found else row[end]
        cells.append(Cell(str(rank), number=True, mark=STAR if found and not found["proved"] else ""))
    return cells


def _rank_caption(document: Document, *, proved: bool, unproved: bool) -> str:
    metric = f" by {metric_words(document['metric'])}" if document.get("metric") else ""
    size, everything = document["subset_size"], document["design"] == "all"
    subsets = "all subsets" if everything else f"{document['samples']:,} subsets"
    by = f" ({document['design']} by {document['by']})" if document.get("by") else ""
    sets = pluralize(document["data_sets"], "data set")
    said = f"Ranks{metric} over {subsets} of {size} of {sets}{by}; Score is the mean over all. {BEST}. "
    if proved:
        said += "Best and Worst are over every subset of this size. "
    said += "Ahead: on how many percent of the subsets the system is ahead of the next."
    return escape(said) + (f" $^{{{STAR}}}$: found by a search that was stopped, not proved." if unproved else "")


def size_tables(document: Document) -> list[Tabular]:
    """Mean tau by test set, way and size; the smallest size that is enough in bold."""
    blocks = [*document["sets"], *([document["overall"]] if document.get("overall") else [])]
    curves = [(block["set"], way) for block in blocks for way in block["ways"]]
    sizes = sorted({point["words"] for _, way in curves for point in way["sizes"] if not point["all"]})
    rows = []
    for name, way in curves:
        known = {point["words"]: point["tau"] for point in way["sizes"] if not point["all"]}
        cells = [
            Cell(fixed(known[size], decimals=3) if size in known else NONE, size == way["enough"], number=True)
            for size in sizes
        ]
        rows.append((name, way["way"], *cells))
    other = "on everything" if document["against"] == "all" else "on what is not in the sample"
    enough = f"weighted tau is at least {document['threshold']:g} in {100 * document['confidence']:g} % of the draws"
    metric = metric_words(document["metric"])
    said = f"Weighted tau between the ranking of systems by {metric} on samples of so many words and that {other}, "
    said += f"mean of {_draws(curves)}."
    if any(way["enough"] for _, way in curves):
        said += f" In bold: the smallest size from which on {enough}."
    else:
        said += f" From no size on {enough}."
    return [Tabular("sizes", ("test set", "way", *(f"{size:,}" for size in sizes)), tuple(rows), escape(said), left=2)]


def _draws(curves: Sequence[tuple[str, Document]]) -> str:
    """How often was drawn; a way that leaves nothing to chance is drawn once."""
    found = {way["way"]: way["sizes"][0]["draws"] for _, way in curves}
    if len(set(found.values())) == 1:
        return pluralize(next(iter(found.values())), "draw")
    return ", ".join(f"{pluralize(draws, 'draw')} of {way}" for way, draws in found.items())
