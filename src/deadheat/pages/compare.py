"""A comparison as sections of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deadheat.charts.chart import Figure
from deadheat.charts.intervals import IntervalPlot, IntervalRow
from deadheat.charts.pairs import CriticalDifferenceDiagram, PairCell, PairMatrix
from deadheat.documents import Document, plain
from deadheat.pages.disagreement import disagreement
from deadheat.pages.section import Section, Table
from deadheat.pages.wording import NONE, interval_name, known, listed, p_equals, p_shown, shown, span
from deadheat.text import pluralize

MOST_SENTENCES = 10  # pairs that are told in words
MOST_DRAWN = 40  # pairs in a figure, systems in a matrix
MOST_ROWS = 15  # of a table that is not folded
TESTS = {
    "permutation-exact": "all ways to swap the two systems' results are counted",
    "randomization": "the two systems' results are swapped at random, again and again",
    "bootstrap": "test sets are drawn again and again from the one at hand",
    "mcnemar-midp": "McNemar's test looks at what only one of the two has right",
    "mcnemar-exact": "McNemar's test looks at what only one of the two has right",
    "wilcoxon": "Wilcoxon's test looks at the ranks of the differences, every unit counting the same",
    "sign": "the sign test counts on how many units each of the two is better",
}
RANKED = {
    "nemenyi": "Nemenyi's test (Demšar 2006)",
    "wilcoxon-holm": "Wilcoxon's test of every two systems, corrected after Holm",
}

Pair = Mapping[str, Any]


def sections(document: Document) -> list[Section]:
    """Which differences are real, the scores, every two systems, ranks over data sets, and where systems disagree."""
    told = plain(document)
    made = [_differences(told), _scores(told)]
    if 3 <= len(told["systems"]) <= MOST_DRAWN and _is_complete(told):
        made.append(_matrix(told))
    if told["ranks"]:
        made.append(_ranks(told))
    if told["agreement"]:
        made.append(disagreement(told["agreement"]))
    return made


def in_words(document: Document, pair: Pair) -> str:
    """A pair as a sentence."""
    scale, decimals = document["scale"], _decimals(document)
    apart = shown(abs(pair["difference"]), scale=scale, decimals=decimals)
    gap = f"{apart} points of {document['metric']}" if scale == 100 else f"{apart} in {document['metric']}"
    level, p = interval_name(document["alpha"]), p_equals(pair["p_corrected"])
    winner = pair["winner"]
    sign = -1 if winner == pair["b"] else 1  # what is told is the winner's difference
    low, high = sorted(sign * known(pair[end]) for end in ("low", "high"))
    bounds = f"{level} {span(low, high, scale=scale, decimals=decimals, sign='+')}, {p}"
    if not winner:
        return f"{pair['a']} and {pair['b']} are a dead heat: {gap} apart ({bounds})."
    loser = pair["b"] if winner == pair["a"] else pair["a"]
    if sign * pair["difference"] >= 0:
        return f"{winner} is better than {loser}: by {gap} ({bounds})."
    unit = document["unit"]
    return f"{winner} is better than {loser} on most {unit}s, though the score is lower: by {gap} ({bounds})."


def best_first(document: Document) -> list[Pair]:
    """The pairs, those of the best systems first."""
    place = {each["system"]: i for i, each in enumerate(_by_score(document))}
    return sorted(document["pairs"], key=lambda pair: sorted((place[pair["a"]], place[pair["b"]])))


def _by_score(document: Document) -> list[Mapping[str, Any]]:
    return sorted(document["systems"], key=lambda each: -known(each["value"]))


def _decimals(document: Document) -> int:
    """Two for percentages, four for scores of a table that are shares."""
    shares = document["scale"] == 1 and all(abs(known(each["value"])) <= 2 for each in document["systems"])
    return 4 if shares else 2


def _is_complete(document: Document) -> bool:
    """Whether every two systems were tested, not all against a reference."""
    systems = len(document["systems"])
    return len(document["pairs"]) == systems * (systems - 1) // 2


def _differences(document: Document) -> Section:
    pairs = best_first(document)
    tied = document["tied"]
    said = [
        f"Of {pluralize(len(document['systems']), 'system')}, {tied[0]} is the best, and better than every other."
        if len(tied) == 1
        else f"{tied[0]} has the highest score; {listed(tied[1:])} could not be told apart from it."
    ]
    said += [in_words(document, pair) for pair in pairs[:MOST_SENTENCES]]
    if len(pairs) > MOST_SENTENCES:
        said.append(f"The other {len(pairs) - MOST_SENTENCES} pairs are in the table.")
    said.append(
        "A dead heat means that the two could not be told apart here, not that they are equally good. The p-value says "
        "how likely a difference at least this large is if neither system is better; it is corrected for the number "
        "of pairs."
    )
    few = pairs if len(pairs) <= MOST_DRAWN else [each for each in pairs if tied[0] in (each["a"], each["b"])]
    figure = Figure("compare-differences", _drawn_differences(document, few[:MOST_DRAWN]))
    return Section(
        "Which differences are real", tuple(said), (figure,), (_pair_table(document, pairs),), _notes(document)
    )


def _notes(document: Document) -> tuple[str, ...]:
    how = TESTS.get(document["test"], "")
    tested = f"Test: {document['test']}, by {document['unit']}" + (f" ({how})" if how else "")
    chosen = f"chosen because {document['reason']}" if document["reason"] != "asked for" else "asked for"
    return (
        f"{tested}; {chosen}.",
        f"Verdicts go by p-values corrected for {pluralize(len(document['pairs']), 'test')} ({document['correction']}) "
        f"at {document['alpha']:g}. Intervals are by bootstrap over {document['unit']}s, each for itself, so that one "
        "may leave out zero beside a dead heat.",
        *document.get("notes", ()),
        document["signature"],
    )


def _drawn_differences(document: Document, pairs: Sequence[Pair]) -> IntervalPlot:
    scale = document["scale"]
    rows = []
    for pair in pairs:
        gap, low, high = (scale * known(pair[name]) for name in ("difference", "low", "high"))
        told = f"{p_equals(pair['p_corrected'])}, {_verdict(pair)}"
        rows.append(IntervalRow(f"{pair['a']} - {pair['b']}", gap, low, high, told))
    points = ", in points" if scale == 100 else ""
    axis = f"difference in {document['metric']}{points}"
    title = f"Differences in {document['metric']}, with {interval_name(document['alpha'])}s"
    return IntervalPlot(tuple(rows), title=title, axis=axis, zero=True)


def _pair_table(document: Document, pairs: Sequence[Pair]) -> Table:
    """Every pair as on a terminal."""
    scale, decimals = document["scale"], _decimals(document)
    rows = tuple(
        (
            f"{pair['a']} - {pair['b']}",
            shown(pair["difference"], scale=scale, decimals=decimals, sign="+"),
            span(pair["low"], pair["high"], scale=scale, decimals=decimals, sign="+"),
            *((_saved(pair),) if scale == 100 else ()),
            p_shown(pair["p"]),
            p_shown(pair["p_corrected"]),
            _verdict(pair),
        )
        for pair in pairs
    )
    saved = ("errors saved",) if scale == 100 else ()
    corrected = f"p ({document['correction']})"
    header = ("pair", "difference", interval_name(document["alpha"]), *saved, "p", corrected, "verdict")
    meant = "Errors saved: of the worse system's errors, the share that the better one does not make." if saved else ""
    return Table(header, rows, caption=f"Every pair that was tested. {meant}".strip(), folded=len(rows) > MOST_ROWS)


def _verdict(pair: Pair) -> str:
    return f"{pair['winner']} wins" if pair["winner"] else "a dead heat"


def _saved(pair: Pair) -> str:
    share = shown(pair["error_reduction"], scale=100)
    return share if share == NONE else f"{share} %"


def _scores(document: Document) -> Section:
    scale, decimals = document["scale"], _decimals(document)
    systems = _by_score(document)
    level = interval_name(document["alpha"])
    besides = {(row["file"], row["metric"]): shown(row["value"], scale=100) for row in document["besides"]}
    more = list(dict.fromkeys(row["metric"] for row in document["besides"]))
    rows = tuple(
        (
            each["system"],
            shown(each["value"], scale=scale, decimals=decimals),
            span(each["low"], each["high"], scale=scale, decimals=decimals),
            *(besides.get((each["system"], label), NONE) for label in more),
        )
        for each in systems
    )
    said = (
        f"The {level} says how far a score may be from what the system reaches on all material of this kind. Which "
        "system is better is told by the differences above, which pair what all did on the same "
        f"{document['unit']}s: intervals of two scores may overlap although one system is better."
    )
    return Section(
        f"{document['metric']} of each system",
        (said,),
        (Figure("compare-scores", _drawn_scores(document, systems)),),
        (Table(("system", document["metric"], level, *more), rows),),
        (f"Intervals by bootstrap over {document['unit']}s.",),
    )


def _drawn_scores(document: Document, systems: Sequence[Mapping[str, Any]]) -> IntervalPlot:
    scale, level, metric = document["scale"], interval_name(document["alpha"]), document["metric"]
    rows = [
        IntervalRow(each["system"], *(scale * known(each[name]) for name in ("value", "low", "high")))
        for each in systems
    ]
    axis = f"{metric} in percent" if scale == 100 else metric
    return IntervalPlot(tuple(rows), title=f"{metric} of each system, with {level}s", axis=axis)


def _matrix(document: Document) -> Section:
    return Section(
        "Every two systems",
        (
            "Each cell is the score of the system of its row less that of the system of its column, with the p-value "
            "below it where there is room. A triangle marks pairs that the test tells apart; the differences of the "
            "others may be chance.",
        ),
        (Figure("compare-pairs", _drawn_matrix(document)),),
    )


def _drawn_matrix(document: Document) -> PairMatrix:
    scale = document["scale"]
    cells = [
        PairCell(
            pair["a"],
            pair["b"],
            scale * known(pair["difference"]),
            known(pair["p_corrected"]),
            bool(pair["winner"]),
            _verdict(pair),
        )
        for pair in document["pairs"]
    ]
    names = tuple(each["system"] for each in _by_score(document))
    points = ", in points" if scale == 100 else ""
    title = f"Differences in {document['metric']}"
    return PairMatrix(names, tuple(cells), title=title, axis=f"{document['metric']}{points}")


def _ranks(document: Document) -> Section:
    """Average ranks over data sets, and the systems that Nemenyi's test does not tell apart."""
    ranks = document["ranks"]
    names, average = ranks["systems"], ranks["average_ranks"]
    order = sorted(range(len(names)), key=lambda i: (average[i], names[i]))
    friedman, apart = ranks["friedman"], ranks["critical_difference"]
    said = [
        f"On each of {pluralize(ranks['data_sets'], 'data set')} the best system has rank 1, the next rank 2, and so "
        "on; shown is the average. A bar joins systems that could not be told apart by their ranks.",
        "Friedman's test, in the form of Iman and Davenport, asks whether any system is better than the others: "
        f"{p_equals(friedman['p'])}.",
    ]
    if apart is not None:
        said.append(f"Two systems can be told apart if their average ranks differ by {apart:.2f} or more.")
    table = Table(
        ("system", "average rank"),
        tuple((names[i], f"{average[i]:.2f}") for i in order),
        folded=len(names) > MOST_ROWS,
    )
    drawn = 2 <= len(names) <= MOST_DRAWN
    figure = Figure("compare-ranks", _drawn_ranks(ranks))
    cliques = tuple((listed(each, most=40),) for each in ranks["cliques"])
    apart_table = Table(("systems that could not be told apart by their ranks",), cliques, folded=True)
    return Section(
        "Average ranks over data sets",
        tuple(said),
        (figure,) if drawn else (),
        (table, apart_table) if cliques else (table,),
        (f"Ranks are compared by {RANKED.get(ranks['method'], ranks['method'])} at {ranks['alpha']:g}.",),
    )


def _drawn_ranks(ranks: Mapping[str, Any]) -> CriticalDifferenceDiagram:
    names = ranks["systems"]
    groups = tuple(tuple(names.index(name) for name in clique) for clique in ranks["cliques"])
    title = "Average ranks over data sets"
    return CriticalDifferenceDiagram(
        tuple(names), tuple(ranks["average_ranks"]), groups, title=title, difference=ranks["critical_difference"]
    )
