"""Tables of LaTeX from what the commands find on test sets: score, compare."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from deadheat.documents import Document
from deadheat.questions.latex import (
    DAGGER,
    STAR,
    Cell,
    Tabular,
    best,
    escape,
    fixed,
    numbers,
    p_fixed,
    spanned,
)
from deadheat.questions.method_words import corrected_words, level_words, metric_words, named_tests

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
