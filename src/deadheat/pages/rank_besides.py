"""What else can be asked of a ranking, as sections: named subsets, anomalies, influence, few data sets, metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deadheat.documents import Document
from deadheat.pages.section import Section, Table
from deadheat.pages.wording import listed, p_shown, share_scale, shown
from deadheat.text import pluralize

MOST_PRESENCES = 12  # values of attributes that are shown of an end of a system's ranks
MOST_SYSTEMS = 4  # whose error reductions are shown
MOST_ROWS = 30  # of a table that is not folded

Row = Mapping[str, Any]


def besides(document: Document) -> list[Section]:
    """A section for everything that was asked for."""
    made = [_anomalies(each) for each in document["anomalies"]]
    if document["subsets"]:
        made.append(_subsets(document))
    if document["leave_one_out"]:
        made.append(_left_out(document["leave_one_out"]))
    if document["representative"]:
        made.append(_representative(document["representative"]))
    if document["metrics"]:
        made.append(_metrics(document["metrics"]))
    return made


def _anomalies(anomaly: Row) -> Section:
    """What is more often, or less often, in subsets that give a system its best or its worst rank."""
    said, tables = [], []
    for name in ("best", "worst"):
        end = anomaly[name]
        presence = sorted(end["presence"], key=lambda each: each["p"])
        often = f"{shown(end['share'], scale=100, decimals=4)} % of the subsets"
        example = listed(end["subsets"][0], most=12)
        said.append(f"{anomaly['system']} has its {name} rank, {end['rank']}, on {often}, as on {example}.")
        rows = tuple(_presence_row(each) for each in presence[:MOST_PRESENCES])
        header = (
            f"in {pluralize(len(end['subsets']), 'subset')} with rank {end['rank']}",
            "here",
            "all",
            "p",
            "corrected",
        )
        if rows:
            tables.append(Table(header, rows, caption=f"Where {anomaly['system']} is at its {name}."))
    said.append(
        "Beside the share (or the mean) of what is known of the data sets in these subsets stands that of all data "
        "sets. The p-value is the chance of as much if what is known were dealt out to the data sets at random."
    )
    note = f"p-values of this system are corrected together ({anomaly['correction']})."
    return Section(f"Where {anomaly['system']} is best and worst", tuple(said), (), tuple(tables), (note,))


def _presence_row(each: Row) -> tuple[str, ...]:
    named, decimals = (f"{each['attribute']} = {each['value']}", 3) if each["value"] else (each["attribute"], 1)
    numbers = (shown(each[key], decimals=decimals) for key in ("observed", "expected"))
    return (named if each["value"] else f"mean {named}", *numbers, p_shown(each["p"]), p_shown(each["p_corrected"]))


def _subsets(document: Document) -> Section:
    subsets = document["subsets"]
    names = [each["system"] for each in document["systems"]]  # best first on all data sets
    scale = share_scale(each["mean"] for subset in subsets for each in subset["systems"])
    rows, absent = [], []
    for subset in subsets:
        own = {each["system"]: each for each in subset["systems"]}
        cells = (f"{shown(own[name]['mean'], scale=scale)} ({own[name]['rank']})" for name in names)
        rows.append((subset["subset"], f"{len(subset['data_sets']):,}", *cells, shown(subset["tau"], decimals=3)))
        absent += [subset["subset"]] if subset["absent"] else []
    header = ("subset", "data sets", *(f"{name} (rank)" for name in names), "tau")
    best = {min(subset["systems"], key=lambda each: each["rank"])["system"] for subset in subsets}
    said = (
        f"The first on {pluralize(len(subsets), 'named subset')}: {listed(sorted(best))}. Each cell has the mean score "
        "and, in brackets, the rank; tau tells how like the ranking is to that on all data sets (1: the same).",
    )
    tables = [Table(header, tuple(rows), caption="Mean scores on named subsets.")]
    if len(names) <= MOST_SYSTEMS:
        tables.append(_reductions(document))
    notes = (f"Some data sets of {listed(absent)} have no scores, and are left out.",) if absent else ()
    return Section("Named subsets", said, (), tuple(tables), notes)


def _reductions(document: Document) -> Table:
    """Errors that the better system avoids, of every pair."""
    order = {each["system"]: place for place, each in enumerate(document["systems"])}
    pairs = [(a, b) for a in order for b in order if order[a] < order[b]]
    scale = share_scale(each["mean_score"] for each in document["systems"])
    rows = []
    for subset in document["subsets"]:
        known = {(each["system"], each["reference"]): each["value"] for each in subset["error_reductions"]}
        cells = (shown(known.get(pair), scale=scale) for pair in pairs)
        rows.append((subset["subset"], *cells))
    header = ("subset", *(f"{a} over {b}" for a, b in pairs))
    meant = "Errors of the second that the first avoids, mean over data sets; in percent where all right is 100 or 1."
    return Table(header, tuple(rows), caption=meant)


def _left_out(left_out: list[Row]) -> Section:
    changing = [each for each in left_out if each["moved"]]
    rows = tuple(
        (
            each["data_set"],
            listed((f"{move['system']} {move['rank']} to {move['without']}" for move in each["moved"]), most=6),
            f"{each['swapped']:,}",
            shown(each["tau"], decimals=3),
        )
        for each in changing
    )
    said = (
        f"{len(changing)} of {pluralize(len(left_out), 'data set')} change the ranking when left out: it hangs on what "
        "happened to be among them.",
    )
    if not changing:
        said = (f"Of {pluralize(len(left_out), 'data set')}, none changes the ranking when left out.",)
    header = ("without", "ranks that change", "pairs swapped", "tau")
    tables = (Table(header, rows, left=2, folded=len(rows) > MOST_ROWS),) if rows else ()
    return Section("Without one data set", said, (), tables)


def _representative(found: Row) -> Section:
    ways = (("greedy", found["greedy"]), ("exact", found["exact"]))
    rows = []
    for name, each in ways:
        alike = f"{each['agreeing']} of {each['pairs']}"
        rows.append((name, ", ".join(each["subset"]), alike, str(each["bound"]), shown(each["tau"], decimals=3)))
    held_out, random = (f"{shown(found[key], scale=100, decimals=1)} %" for key in ("held_out", "random"))
    said = (
        f"{found['size']} data sets that order as many pairs of systems as may be as all data sets do. They are fitted "
        f"to these systems: when half of the systems choose, they order {held_out} of the pairs of the other half as "
        f"all data sets do, and random ones of the same number {random}.",
    )
    header = ("found", "data sets", "pairs alike", "at most", "tau")
    note = f"Halves were drawn {pluralize(found['halvings'], 'time')}."
    return Section("Few data sets that rank as all do", said, (), (Table(header, tuple(rows), left=2),), (note,))


def _metrics(metrics: list[Row]) -> Section:
    steadiest = sorted(metrics, key=lambda each: each["mean_sd"])
    rows = tuple(
        (
            each["metric"],
            shown(each["mean_sd"], decimals=3),
            shown(each["mean_quartile_range"]),
            shown(each["tau"]["mean"], decimals=3),
            f"{shown(each['swapped'], scale=100)} %",
            f"{shown(each['top'], scale=100, decimals=1)} %",
        )
        for each in steadiest
    )
    first = max(metrics, key=lambda each: each["top"])
    said = [
        f"On the same subsets, ranks vary least by {steadiest[0]['metric']} (standard deviation "
        f"{shown(steadiest[0]['mean_sd'], decimals=3)}, averaged over systems) and most by {steadiest[-1]['metric']} "
        f"({shown(steadiest[-1]['mean_sd'], decimals=3)})."
    ]
    if first is not steadiest[0]:
        said.append(
            f"But the first of all data sets is first most often by {first['metric']}, on "
            f"{shown(first['top'], scale=100, decimals=1)} % of the subsets."
        )
    header = ("metric, steadiest first", "sd of ranks", "quartile range", "tau", "pairs swapped", "same first")
    return Section("Which metric ranks more steadily", tuple(said), (), (Table(header, rows),))
