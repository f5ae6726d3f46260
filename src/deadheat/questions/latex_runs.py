"""Tables of LaTeX from what the commands find over runs: seeds, contrast, study."""

from __future__ import annotations

from deadheat.documents import Document
from deadheat.questions.latex import (
    DAGGER,
    STAR,
    Cell,
    Row,
    Tabular,
    best,
    display_scale,
    escape,
    fixed,
    numbers,
    p_fixed,
)
from deadheat.questions.method_words import corrected_words, metric_words

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
