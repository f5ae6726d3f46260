"""Contrasts between the options of a factor as sections of a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from deadheat.charts.chart import Chart, Figure, Layout
from deadheat.charts.intervals import Reach, intervals
from deadheat.documents import Document, plain
from deadheat.pages.section import Section, Table
from deadheat.pages.wording import file_name, known, listed, p_equals, p_shown, shown
from deadheat.terminal.contrast import MOST_SHOWN
from deadheat.text import pluralize

LOW, HIGH = 1, 5  # of the quantiles that are told: the 5th and the 95th percentile
LEAST_SHARE = 0.005  # of two settings together that is shown
EMPTY = "(empty)"

Block = Mapping[str, Any]
Option = Mapping[str, Any]
Pair = Mapping[str, Any]


def sections(document: Document) -> list[Section]:
    """For every block the options with their wins and differences; then which settings matter.

    How to read them is told with the first of each.
    """
    told = plain(document)
    made = [_block(told, block, explain=not place) for place, block in enumerate(told["blocks"])]
    made += [_importance(each, explain=not place) for place, each in enumerate(told["importance"])]
    if made:
        made[0] = replace(made[0], notes=(*made[0].notes, *told["notes"]))
    return made


def _name(option: Option) -> str:
    return option["option"] or EMPTY


def _heading(document: Document, block: Block) -> str:
    levels = [(document["by"], block["by"]), (document["second"], block["second"])]
    named = ", ".join(f"{kind} {level}" for kind, level in levels if level)
    return f"Options of {document['factor']}: {named}" if named else f"Options of {document['factor']}"


def _ordered(block: Block) -> list[Option]:
    return sorted(block["options"], key=lambda each: (-known(each["wins"]), -known(each["median_delta"])))


def _others(block: Block) -> list[Option]:
    return [each for each in _ordered(block) if each["option"] != block["best"]]


def _block(document: Document, block: Block, *, explain: bool) -> Section:
    options = _ordered(block)
    best = block["best"] or EMPTY
    compared = pluralize(block["configurations"], "configuration")
    wins = shown(next(each["wins"] for each in options if each["option"] == block["best"]), scale=100, decimals=1)
    said = [f"{best} wins most often: in {wins} % of {compared}."]
    if explain:
        said += [
            "In a configuration the runs of all options agree in every other setting; the option with the highest "
            "score wins it.",
            "The figure shows how much higher or lower the other options score than the one with most wins: the median "
            "over configurations, and the reach of the middle 90 % of them. The reach is no interval of uncertainty: "
            "it shows how far the difference depends on the other settings.",
        ]
    name = file_name("contrast", document["factor"], block["by"], block["second"])
    return Section(
        _heading(document, block),
        tuple(said),
        (Figure(name, partial(_drawn_differences, document=document, block=block)),),
        (_table(document, block),),
        (*_own_notes(document, block), *(_notes(document) if explain else ())),
    )


def _drawn_differences(layout: Layout, *, document: Document, block: Block) -> Chart:
    scale = document["scale"]
    rows = []
    for each in _others(block):
        quantiles = each["delta_quantiles"]
        middle, low, high = (scale * known(value) for value in (each["median_delta"], quantiles[LOW], quantiles[HIGH]))
        rows.append(Reach(_name(each), middle, low, high, "the median, and the middle 90 % of configurations"))
    best = block["best"] or EMPTY
    points = ", in points" if scale == 100 else ""
    title = _heading(document, block).replace("Options", f"Differences to {best} of the options", 1)
    axis = f"{document['score']} less that of {best}{points}"
    return intervals(rows, layout, title=title, axis=axis, zero=True)


def _pair(block: Block, option: Option) -> Pair:
    wanted = {block["best"], option["option"]}
    found: Pair = next(pair for pair in block["pairs"] if {pair["a"], pair["b"]} == wanted)
    return found


def _table(document: Document, block: Block) -> Table:
    """Best first, each of the others tested against it, as on a terminal."""
    scale = document["scale"]
    rows = []
    for each in _ordered(block):
        is_best = each["option"] == block["best"]
        tests = ("sign_p_corrected", "wilcoxon_p_corrected", "pitman_morgan_p_corrected")
        p_values = [""] * len(tests) if is_best else [p_shown(_pair(block, each)[name]) for name in tests]
        rows.append(
            (
                _name(each),
                f"{shown(each['wins'], scale=100, decimals=1)} %",
                "" if is_best else shown(each["median_delta"], scale=scale, sign="+"),
                shown(each["median"], scale=scale),
                shown(each["sd"], scale=scale),
                *p_values,
            )
        )
    header = (document["factor"], "wins", "median difference", "median", "sd", "p (sign)", "p (Wilcoxon)", "p (sd)")
    told = f"{document['score']} in percent" if scale == 100 else document["score"]
    return Table(header, tuple(rows), caption=f"{told}; p-values are of the difference to the option with most wins.")


def _own_notes(document: Document, block: Block) -> list[str]:
    spread = block["spread"]
    told = p_equals(spread["p"]) if spread["p"] is not None else spread["note"]
    notes = [f"Whether all options vary equally, by Brown-Forsythe's test, which takes them for independent: {told}."]
    if block["tied"]:
        kind = "pairing" if document["repeats"] == "each" else "configuration"
        notes.append(f"The highest score is shared in {pluralize(block['tied'], kind)}.")
    return notes


def _notes(document: Document) -> list[str]:
    notes = [
        "p (sign) and p (Wilcoxon) are of tests of whether the option and the one with most wins differ, by signs and "
        "by ranks of the differences; p (sd) of whether the two vary equally over configurations (Pitman and Morgan). "
        "All are corrected for every pair of options of a table. sd: standard deviation over configurations.",
        f"Paired on {listed(document['settings'], most=40) or 'nothing'}.",
    ]
    if document["left_out"]:
        notes.append(f"Not paired on {listed(document['left_out'], most=40)}.")
    if document["repeats"] == "each":
        notes.append("Tests are made on the means of configurations, whose runs are not independent of each other.")
    return notes


def _importance(found: Mapping[str, Any], *, explain: bool) -> Section:
    """How much of the variance of scores each setting explains."""
    heading = f"Which settings matter: {found['by']}" if found["by"] else "Which settings matter"
    runs = pluralize(found["runs"], "run")
    together = [each for each in found["pairs"][:MOST_SHOWN] if known(each["share"]) >= LEAST_SHARE]
    rows = [(each["factor"], each["share"]) for each in found["main"][:MOST_SHOWN]]
    rows += [(" x ".join(each["factors"]), each["share"]) for each in together]
    repeated = found["noise"] is not None
    if found["method"] == "exact" and repeated:
        rows.append(("noise between runs of the same settings", found["noise"]))
    said = [
        "Shown is how much of the variance of scores, over all combinations of settings, comes with each setting; with "
        "two settings joined by x, what comes of both together beyond each alone."
        + (" A setting with a large share is worth choosing with care." if explain else "")
    ]
    chance = found["explained"] is not None and found["explained"] <= 0
    if chance:
        said.append("Here nothing could be foretold of runs that were left out, so that the shares are chance.")
    cells = tuple((name, f"{shown(share, scale=100, decimals=1)} %") for name, share in rows)
    figure = Figure(file_name("contrast-importance", found["by"]), partial(_drawn_importance, rows=rows, title=heading))
    table = Table(("factor", "share"), cells, caption=f"Shares of the variance of the scores of {runs}.")
    return Section(heading, tuple(said), (figure,), (table,), (_method(found, repeated=repeated),))


def _method(found: Mapping[str, Any], *, repeated: bool) -> str:
    if found["method"] == "exact":
        if repeated:
            return "Exact: every combination was run equally often."
        return "Exact, of these runs, chance included: no combination was run more than once."
    predicted = shown(found["explained"], scale=100, decimals=1)
    told = f"By a forest of regression trees, which predicts {predicted} % of the variance of runs it has not seen"
    noise = f"; {shown(found['noise'], scale=100, decimals=1)} % of the variance of runs lies within configurations"
    return told + (noise if repeated else "") + "."


def _drawn_importance(layout: Layout, *, rows: Sequence[tuple[str, float | None]], title: str) -> Chart:
    reaches = [Reach(name, 100 * known(share), math.nan, math.nan) for name, share in rows]
    chart = intervals(reaches, layout, title=title, axis="share of the variance of scores, in percent")
    name, share = max(rows, key=lambda row: known(row[1]))
    told = f"{pluralize(len(rows), 'share')} of the variance of scores. The largest is that of {name}"
    return replace(chart, description=f"{told}: {shown(share, scale=100, decimals=1)} %.")
