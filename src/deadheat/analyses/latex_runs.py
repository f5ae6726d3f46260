"""Tables of LaTeX from what the commands find over runs: seeds, contrast, study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deadheat.analyses.latex import (
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
    slug,
    spanned,
)
from deadheat.analyses.method_words import corrected_over_splits, corrected_words, metric_words, named_tests
from deadheat.errors import counted

Document = Mapping[str, Any]
Row = tuple[str | Cell, ...]
ALPHA = 0.05  # of contrasts, which are told without a level


def seeds_tables(document: Document) -> list[Tabular]:
    """Every system over its runs, who is tied with the best, and every pair that was tested."""
    blocks = document["blocks"]
    everyone = [row for block in blocks for row in block["systems"]]
    scale = display_scale([row[end] for row in everyone for end in ("minimum", "maximum")])
    rows = [row for block in blocks for row in _seed_rows(block, document["alpha"], scale)]
    metric = metric_words(document.get("metric") or document["score"])
    caption = escape(f"{metric}{' in percent' if scale == 100 else ''} over runs; SD is the standard deviation.")
    if any(len(block["systems"]) > 1 for block in blocks):
        caption += " The best mean is in bold."
    if any(isinstance(cell, Cell) and cell.mark for row in rows for cell in row):
        how = f"Mann-Whitney's test, p-values {_seed_corrected(document)}, alpha {document['alpha']:g}"
        caption += f" $^{{{DAGGER}}}$: not significantly different from it ({escape(how)})."
    header = (document["system"] or "runs", "runs", "min", "median", "max", "mean", "SD")
    first = Tabular("seeds", header, tuple(rows), caption)
    return [first, *([_seed_pairs(document, scale)] if any(block["pairs"] for block in blocks) else [])]


def _seed_rows(block: Document, alpha: float, scale: float) -> list[Row]:
    systems = sorted(block["systems"], key=lambda row: -row["mean"])
    first = systems[0]["system"]
    alike = {
        name
        for pair in block["pairs"]
        for name in (pair["a"], pair["b"])
        if first in (pair["a"], pair["b"]) and name != first and not _differ(pair, alpha)
    }
    shown = [fixed(row["mean"], scale=scale) for row in systems]
    strong = best([row["mean"] for row in systems], shown)
    marks = [DAGGER if row["system"] in alike else "" for row in systems]
    rows: list[Row] = []
    for row, mean in zip(systems, numbers(shown, bold=strong, marks=marks), strict=True):
        name = f"{block['by']}: {row['system']}" if block["by"] else row["system"]
        least, median, most, sd = numbers(
            [fixed(row[key], scale=scale) for key in ("minimum", "median", "maximum", "sd")]
        )
        rows.append((name, Cell(f"{row['n']:,}", number=True), least, median, most, mean, sd))
    return rows


def _differ(pair: Document, alpha: float) -> bool:
    p = pair["mann_whitney"]["p_corrected"]
    return p is not None and p <= alpha


def _seed_corrected(document: Document) -> str:
    tests = {len(block["pairs"]) for block in document["blocks"]}
    if len(tests) == 1:
        return corrected_words(document["correction"], tests.pop())
    return f"{corrected_words(document['correction'], None)} of a block"


def _seed_pairs(document: Document, scale: float) -> Tabular:
    rows: list[Row] = []
    alpha, few = document["alpha"], False
    for block in document["blocks"]:
        for pair in block["pairs"]:
            few = few or (pair["least_p"] or 0.0) > alpha
            name = f"{pair['a']} vs. {pair['b']}"
            rows.append(
                (
                    f"{block['by']}: {name}" if block["by"] else name,
                    *numbers([fixed(pair["difference"], scale=scale, sign="+"), fixed(pair["a_better"], decimals=3)]),
                    Cell(
                        p_fixed(pair["mann_whitney"]["p_corrected"]),
                        number=True,
                        mark=STAR if _differ(pair, alpha) else "",
                    ),
                    Cell(p_fixed(pair["brown_forsythe"]["p_corrected"]), number=True),
                )
            )
    said = (
        "Differences of mean scores, first less second; P: chance that a run of the first is better than one of the "
        f"second; p-values of Mann-Whitney's test, and of Brown and Forsythe's of equal spread, "
        f"{_seed_corrected(document)}."
    )
    caption = escape(said)
    if any(_differ(pair, alpha) for block in document["blocks"] for pair in block["pairs"]):
        caption += f" $^{{{STAR}}}$: significant at alpha {alpha:g}."
    else:
        caption += f" None is significant at alpha {alpha:g}."
    if few:
        caption += " Some pairs have too few runs for any difference to be."
    if any(block["unit"] == "configuration" for block in document["blocks"]):
        caption += " Compared are the means of configurations that were run several times."
    return Tabular("seed-pairs", ("systems", "difference", "P", "p", "p (spread)"), tuple(rows), caption)


def contrast_tables(document: Document) -> list[Tabular]:
    """Wins and median differences of the options, as in Reimers and Gurevych's tables."""
    blocks = document["blocks"]
    if not blocks:
        return []
    options = list(dict.fromkeys(each["option"] for block in blocks for each in block["options"]))
    scale = display_scale([each[key] for block in blocks for each in block["options"] for key in ("mean", "median")])
    rows: list[Row] = []
    marked = False
    for block in blocks:
        found = {each["option"]: each for each in block["options"]}
        alike = _tied_options(block)
        marked = marked or bool(alike)
        name = "/".join(filter(None, (block["by"], block["second"]))) or "all"
        wins = ["" if each not in found else f"{100 * found[each]['wins']:.1f}%" for each in options]
        bold = [each == block["best"] for each in options]
        marks = [DAGGER if each in alike else "" for each in options]
        rows.append((name, Cell(f"{block['configurations']:,}", number=True), *numbers(wins, bold=bold, marks=marks)))
        deltas = [
            "" if each not in found or each == block["best"] else _delta(found[each]["median_delta"], scale)
            for each in options
        ]
        rows.append(("", "", *numbers(deltas)))
    caption = escape(
        f"{document['factor']}: how many of the configurations each option wins by {metric_words(document['score'])}, "
        "and below, the median difference to the one with most wins, which is in bold."
    )
    if marked:
        told = f"sign test on configurations, {options_corrected(document)}alpha {ALPHA:g}"
        caption += f" $^{{{DAGGER}}}$: not significantly different from it ({told})."
    header = (document["by"] or document["factor"], "configurations", *(option or "(empty)" for option in options))
    return [Tabular("contrast", header, tuple(rows), caption)]


def options_corrected(document: Document) -> str:
    """That p-values were corrected, where they show it; the document does not say how."""
    pairs = [pair for block in document["blocks"] for pair in block["pairs"]]
    changed = any(pair["sign_p"] != pair["sign_p_corrected"] for pair in pairs)
    return "p-values corrected for all pairs of options, " if changed else ""


def _delta(value: float | None, scale: float) -> str:
    return fixed(value, scale=scale, decimals=2 if scale == 100 else 4, sign="+")


def _tied_options(block: Document) -> set[str]:
    """Options that the corrected sign test does not tell from the best one."""
    found = set()
    for pair in block["pairs"]:
        if block["best"] in (pair["a"], pair["b"]):
            p = pair["sign_p_corrected"]
            if p is None or p > ALPHA:
                found.add(pair["b"] if pair["a"] == block["best"] else pair["a"])
    return found


def study_tables(document: Document) -> list[Tabular]:
    """For every corpus, way to split and part: how the systems stand, and every pair over the splits."""
    tables = []
    for block in document["blocks"]:
        tables.append(_standings(document, block))
        if block["pairs"]:
            tables.append(_split_pairs(document, block))
    return tables


def _standings(document: Document, block: Document) -> Tabular:
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
    name = slug("study", block["corpus"], block["split"].partition(".v")[0], block["part"])
    return Tabular(name, tuple(header), tuple(zip(*body, strict=True)), caption)


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
    first, splits = systems[0], block["splits"]
    pairs = {pair["b"] if pair["a"] == first else pair["a"]: pair for pair in block["pairs"] if first in _both(pair)}
    told = {name: (pair["significant"], pair["reversed"]) for name, pair in pairs.items()}
    told = {name: each if pairs[name]["a"] == first else each[::-1] for name, each in told.items()}
    marks = [DAGGER if told.get(system) == (0, 0) else "" for system in systems]
    if splits == 1:
        said = f" $^{{{DAGGER}}}$: not significantly different from the best." if any(marks) else ""
        return [], marks, said
    if not told:
        return [], marks, ""
    worse = [f"{told[system][0]} of {pairs[system]['splits']}" if system in told else "" for system in systems]
    said = " Worse: on how many splits it is significantly worse than the best."
    said += f" $^{{{DAGGER}}}$: on no split significantly different from it." if any(marks) else ""
    return numbers(worse), marks, said


def _both(pair: Document) -> tuple[str, str]:
    return pair["a"], pair["b"]


def _standing_said(document: Document, block: Document, *, single: bool) -> str:
    runs = sorted({row["runs"] for row in block["systems"]})
    many = counted(runs[-1], "run") if len(runs) == 1 else f"{runs[0]} to {counted(runs[-1], 'run')}"
    over = "of a single run" if single else f"mean over {many}, with their standard deviation (SD)"
    splits = counted(block["splits"], "split")
    said = f"{block['corpus']}, {block['part']}, {splits} by {block['split']}: scores in percent, {over}."
    if len({row["system"] for row in block["systems"]}) > 1:
        said += " The best is in bold."
    if block["pairs"]:
        said += f" {_tested(document, block)}"
    used = [note for note in document.get("notes", []) if note.startswith(f"{block['part']} was used")]
    return " ".join([said, *(f"{note[:1].upper()}{note[1:]}." for note in used)])


def _tested(document: Document, block: Document) -> str:
    test = named_tests("/".join(dict.fromkeys(each for pair in block["pairs"] for each in pair["test"].split("/"))))
    how = corrected_over_splits(document["correction"], block["splits"], len(block["pairs"]))
    seeds = any(row["runs"] > block["splits"] for row in block["systems"])
    first = " on the first seed of each system" if seeds else ""
    return f"{test[:1].upper()}{test[1:]}{first}, p-values {how}, alpha {document['alpha']:g}."


def _split_pairs(document: Document, block: Document) -> Tabular:
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
    said = f"{block['corpus']}, {block['part']}: differences in {metric} in points, first less second"
    if several:
        said += ", mean over splits; on how many splits the first is ahead, significantly better and significantly "
        said += "worse; the least and the greatest p-value, before correction"
    caption = escape(f"{said}. {_tested(document, block)}")
    columns = ("ahead", "better", "worse", "least p", "most p") if several else ("p",)
    if not several:
        significant = any(pair["significant"] + pair["reversed"] for pair in block["pairs"])
        caption += f" $^{{{STAR}}}$: significant." if significant else " None is significant."
    name = slug("study-pairs", block["corpus"], block["split"].partition(".v")[0], block["part"])
    return Tabular(name, ("systems", "difference", *columns), tuple(found), caption)


def _over_splits(pair: Document) -> list[Cell]:
    counts = [f"{pair[key]} of {pair['splits']}" for key in ("ahead", "significant", "reversed")]
    known = [p for p in pair["p"] if p is not None]
    return numbers([*counts, p_fixed(min(known, default=None)), p_fixed(max(known, default=None))])


def _once(pair: Document) -> Cell:
    return Cell(p_fixed(pair["p"][0]), number=True, mark=STAR if pair["significant"] + pair["reversed"] else "")
