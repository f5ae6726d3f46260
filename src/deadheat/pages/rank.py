"""Stability of a ranking as sections of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from deadheat.charts.chart import Figure
from deadheat.charts.ranks import RankBoxes, RankHeatmap, RankRow
from deadheat.documents import Document, plain
from deadheat.pages.rank_besides import besides
from deadheat.pages.section import Section, Table
from deadheat.pages.wording import listed, share_scale, shown
from deadheat.text import pluralize

CERTAIN = 0.95  # share of subsets from which on an order is called steady
NEARLY = 1 - 2**-53
MOST_ROWS = 30  # of a table that is not folded
MOST_NAMED = 4  # pairs that are named in a sentence

Row = Mapping[str, Any]


def sections(document: Document) -> list[Section]:
    """The ranks over subsets, which neighbours are certain, and what else was asked for."""
    told = plain(document)
    return [_ranks(told), _neighbours(told), *besides(told)]


def subsets_text(document: Document) -> str:
    """Which subsets the ranks are over.

    Examples
    --------
    >>> subsets_text({"design": "all", "samples": 56, "subset_size": 3, "data_sets": 8})
    'all 56 subsets of 3 of the 8 data sets'
    >>> subsets_text({"design": "free", "samples": 1_000_000, "subset_size": 10, "data_sets": 82})
    '1,000,000 random subsets of 10 of the 82 data sets'
    """
    everything = f"{document['subset_size']} of the {document['data_sets']:,} data sets"
    if document["design"] == "all":
        number = document["samples"]
        return f"the only subset of {everything}" if number == 1 else f"all {number:,} subsets of {everything}"
    by = f", drawn by {document['by']}" if document.get("by") else ""
    return f"{pluralize(document['samples'], 'random subset')} of {everything}{by}"


def per_cent(share: float) -> str:
    """A share of subsets; one that is nearly all or nearly none is never rounded to all or none.

    Examples
    --------
    >>> per_cent(0.9281), per_cent(1.0), per_cent(0.99999), per_cent(0.00001)
    ('92.8 %', '100 %', '> 99.9 %', '< 0.1 %')
    """
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    if share > 0.9995:
        return "> 99.9 %"
    return "< 0.1 %" if share < 0.0005 else f"{100 * share:.1f} %"


def _ranks(document: Document) -> Section:
    systems = document["systems"]
    drawn = subsets_text(document)
    first = systems[0]
    often = per_cent(first["chances"][0])
    said = [
        f"On {drawn}, {first['system']}, the best on all data sets, is first on {often} of them, and its rank there "
        f"lies between {first['best']} and {first['worst']}."
    ]
    loose = max(systems, key=lambda each: each["worst"] - each["best"])
    if loose is not first and loose["worst"] > loose["best"]:
        said.append(f"The rank of {loose['system']} moves most, between {loose['best']} and {loose['worst']}.")
    fixed = [each["system"] for each in systems if each["best"] == each["worst"]]
    if fixed:
        said.append(f"The same rank on each of them: {listed(fixed)}.")
    said.append(_extremes_text(document))
    said.append(
        "A box holds the middle half of a system's ranks, its line the median, and the whiskers reach from the best "
        "rank to the worst. In the second figure, each row says on which share of the subsets a system has each rank."
    )
    figures = (
        Figure("rank-boxes", _boxes(document)),
        Figure("rank-heat", _heat(document)),
    )
    table = _systems_table(document)
    return Section(
        "Ranks on subsets of the data sets", tuple(filter(None, said)), figures, (table,), _rank_notes(document)
    )


def _rank_notes(document: Document) -> tuple[str, ...]:
    ties = "A system's score on a subset is its mean over the data sets; equal means share the better rank."
    return (ties, *document["notes"], document["signature"])


def _extremes_text(document: Document) -> str:
    exact = document["exact"]
    if exact is None:
        return ""
    unproved = sum(not each[end]["proved"] for each in exact["extremes"] for end in ("best", "worst"))
    missed = len(exact["missed"])
    told = f"Over all {exact['subsets']:,} subsets the possible ranks were searched for: {2 * len(exact['extremes'])}"
    told += f" best and worst ranks, of which {missed} lie beyond those of the subsets drawn"
    return told + (f"; {unproved} are not proved." if unproved else ".")


def _possible(document: Document) -> dict[str, tuple[Row, Row]]:
    exact = document["exact"]
    return {} if exact is None else {each["system"]: (each["best"], each["worst"]) for each in exact["extremes"]}


def _boxes(document: Document) -> RankBoxes:
    possible = _possible(document)
    rows = []
    for each in document["systems"]:
        best, worst = (end["rank"] for end in possible[each["system"]]) if possible else (None, None)
        low, middle, high = (each[name] for name in ("lower_quartile", "median", "upper_quartile"))
        rows.append(RankRow(each["system"], each["best"], low, middle, high, each["worst"], each["mean"], best, worst))
    return RankBoxes(tuple(rows), title=f"Ranks on {subsets_text(document)}")


def _heat(document: Document) -> RankHeatmap:
    systems = document["systems"]
    title = f"How often each system has each rank, on {subsets_text(document)}"
    names = tuple(each["system"] for each in systems)
    return RankHeatmap(names, tuple(tuple(each["chances"]) for each in systems), title=title)


def _systems_table(document: Document) -> Table:
    scale = share_scale(each["mean_score"] for each in document["systems"])
    possible = _possible(document)
    rows = []
    for each in document["systems"]:
        ends = possible.get(each["system"])
        rows.append(
            (
                each["system"],
                str(each["rank"]),
                shown(each["mean_score"], scale=scale),
                f"{each['best']} to {each['worst']}",
                *((f"{_bound(ends[0])} to {_bound(ends[1])}",) if ends else ()),
                shown(each["mean"]),
                f"{each['median']:g}",
                f"{each['lower_quartile']:g} to {each['upper_quartile']:g}",
                per_cent(each["chances"][0]),
            )
        )
    metric = document["metric"] or "score"
    widest = ("possible",) if possible else ()
    header = ("system", "rank", metric, "ranks", *widest, "mean", "median", "middle half", "first")
    meant = "Rank and score are on all data sets, the other columns on subsets"
    meant += "; possible are the ranks that any subset of this size can give." if possible else "."
    return Table(header, tuple(rows), caption=meant)


def _bound(end: Row) -> str:
    return str(end["rank"]) if end["proved"] else f"{end['rank']} (not proved)"


def _neighbours(document: Document) -> Section:
    """Every system and the next one: on what share of the subsets the better is ahead."""
    pairs = _pairs(document)
    names = [each["system"] for each in document["systems"]]
    neighbours = list(pairwise(names))
    beside = [pairs[each] for each in neighbours]
    counted_all = document["exact"] is not None or document["design"] == "all"
    steady = [each for each in beside if each["p_a"] >= CERTAIN]
    closest = sorted((each for each in beside if each["p_a"] < CERTAIN), key=lambda each: each["p_a"])
    over = f"all {document['exact']['subsets']:,} subsets of this size" if document["exact"] else subsets_text(document)
    said = [
        f"Of {pluralize(len(beside), 'pair')} of neighbours in the ranking, {len(steady)} keep their order on at least "
        f"{100 * CERTAIN:.0f} % of {over}."
    ]
    if closest:
        more = f" {len(closest) - MOST_NAMED} more are in the table." if len(closest) > MOST_NAMED else ""
        said.append(f"Least certain: {'; '.join(map(_ordered, closest[:MOST_NAMED]))}.{more}")
    said.append(_tau_text(document))
    others = [pair for key, pair in pairs.items() if key not in neighbours]
    everything = sorted(others, key=lambda each: each["p_a"])
    tables = [_pair_table("better and next on all data sets", beside, caption="Neighbours, best first.")]
    if everything:
        apart = "The other pairs, the least certain first."
        tables.append(_pair_table("better and worse on all data sets", everything, caption=apart, folded=True))
    how = "counted over all subsets" if counted_all else "estimated from the subsets drawn"
    note = f"Shares of pairs are {how}. That a ranking is steady over these data sets says nothing of others."
    return Section("Which order is certain", tuple(said), (), tuple(tables), (note, document["signature"]))


def _ordered(pair: Row) -> str:
    return f"{pair['a']} is ahead of {pair['b']} on {per_cent(pair['p_a'])} and behind on {per_cent(pair['p_b'])}"


def _pairs(document: Document) -> dict[tuple[str, str], Row]:
    """Pairs with the better first, counted over all subsets where they were."""
    exact = {}
    for each in document["exact"]["pairs"] if document["exact"] else ():
        exact[each["a"], each["b"]] = each
        exact[each["b"], each["a"]] = each | {"p_a": each["p_b"], "p_b": each["p_a"]}
    found = {}
    for each in document["pairs"]:
        own = exact.get((each["a"], each["b"]), each)
        # Of very many subsets all but a few round to all.
        ahead = min(own["p_a"], NEARLY) if own["p_b"] or own["p_level"] else own["p_a"]
        found[each["a"], each["b"]] = own | {"a": each["a"], "b": each["b"], "p_a": ahead}
    return found


def _pair_table(name: str, pairs: Sequence[Row], *, caption: str, folded: bool = False) -> Table:
    rows = tuple(
        (f"{each['a']} - {each['b']}", *(per_cent(each[key]) for key in ("p_a", "p_b", "p_level"))) for each in pairs
    )
    return Table((name, "ahead", "behind", "level"), rows, caption=caption, folded=folded or len(rows) > MOST_ROWS)


def _tau_text(document: Document) -> str:
    tau = document["tau"]
    if tau["mean"] is None:
        return ""
    return (
        "How like the ranking on a subset is to that on all data sets is told by Kendall's tau (1: the same order, 0: "
        f"unrelated, -1: turned round). Its mean is {shown(tau['mean'], decimals=3)}, its median "
        f"{shown(tau['median'], decimals=3)}, and its least value {shown(tau['min'], decimals=3)}."
    )
