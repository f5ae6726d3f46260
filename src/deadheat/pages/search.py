"""A search over settings as sections of a page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

from deadheat.charts.chart import Figure
from deadheat.charts.distributions import Strip, StripPlot
from deadheat.documents import Document, plain
from deadheat.pages.search_told import (
    Row,
    between_of,
    mean_of,
    names_of,
    protocol,
    settings_text,
    verdict,
    winner_of,
    with_test,
)
from deadheat.pages.section import Section, Table
from deadheat.pages.study_told import sentence_start
from deadheat.pages.wording import NONE, file_name, known, p_shown, shown
from deadheat.terminal.study import short
from deadheat.text import pluralize

TUNE, DEV, TEST = "tune", "dev", "test"
MOST_STRIPS = 40  # rows of a figure
MOST_ROWS = 20  # of a table that is not folded
MOST_LISTED = 3000  # settings of all data sets together that are listed one by one
READING = (
    "Each dot is one setting, the mean of its seeds, and the diamond is the one that won. Where the dots lie close "
    "together, which of them wins is chance: another sample of sentences would have picked another.",
)
PICKED = {
    DEV: (
        "How far was the score on dev, by which settings were picked, from that on test? Below zero, dev promised more "
        "than test kept.",
        "Picking the best of many on dev flatters dev, however the epochs were picked; only scores on test do not.",
    ),
    TUNE: (
        "How far was the score on dev, which picked nothing in the search, from that on test?",
        "Tune picked epochs and settings, so that dev does not flatter the networks of the search.",
    ),
}


def sections(document: Document) -> list[Section]:
    """Who won and what test says of it, dev against test, how far settings lie apart, and every setting."""
    told = plain(document)
    if not any(each["winners"] for each in told["datasets"]):
        notes = tuple(f"{sentence_start(note)}." for note in told["notes"])
        return [Section(_heading(told, "no settings won"), (*protocol(told), *verdict(told)), notes=notes)]
    return [_winners(told), _gaps(told), _spreads(told), *_every(told)]


def _heading(document: Document, what: str) -> str:
    return f"{document['label']}: {what}"


def _measure(document: Document) -> str:
    return f"{short(document['metric'])} in percent"


def _winners(document: Document) -> Section:
    """As table 1 of van der Goot (2021): in how many settings winners differ, and their scores on test."""
    several = len(document["setups"]) > 1
    table = _two_setups(document) if several else _one_setup(document)
    seeds = document["seeds"]
    by = f", by their first seed ({seeds[0]})" if len(seeds) > 1 else ""
    notes = [f"Settings were picked by {short(document['metric'])} on {document['setting']}; ties go to the first."]
    if several:
        notes.append(
            f"p: a paired bootstrap over the sentences of test, between the final networks of the two winners{by}; 1 "
            "where both are the same network. Differ: in how many of the searched settings the winners differ."
        )
    notes += [f"{sentence_start(note)}." for note in document["notes"]]
    return Section(_heading(document, "which settings won"), tuple(protocol(document)), (), (table,), tuple(notes))


def _one_setup(document: Document) -> Table:
    (setup,) = document["setups"]
    columns = ("searched", "dev", "test")
    rows = []
    for name, each in zip(names_of(document), document["datasets"], strict=True):
        winner = winner_of(each, setup)
        cells = [shown(winner[what] if winner else None, scale=100) for what in columns]
        rows.append((name, settings_text(winner["settings"]) if winner else NONE, *cells))
    if len(rows) > 1:
        own = with_test(document)
        tested = len(own["datasets"])
        mean = f"mean of {tested} with test" if 0 < tested < len(rows) else "mean"
        means = (mean_of(own if tested else document, setup, what) for what in columns)
        rows.append((mean, "", *(shown(each, scale=100) for each in means)))
    header = ("data set", "winner", "dev of the search", "dev of the final network", "test")
    return Table(header, tuple(rows), left=2, caption=f"{_measure(document)}.", folded=len(rows) > 2 * MOST_ROWS)


def _two_setups(document: Document) -> Table:
    first, second = document["setups"][:2]
    rows = []
    for name, each in zip(names_of(document), document["datasets"], strict=True):
        winners = [winner_of(each, setup) for setup in (first, second)]
        tests = [winner["test"] if winner else None for winner in winners]
        gap = shown(known(tests[0]) - known(tests[1]), scale=100, sign="+")
        differ = NONE if each["differing"] is None else f"{each['differing']} of {len(document['varied'])}"
        rows.append(
            (
                name,
                *(settings_text(winner["settings"]) if winner else NONE for winner in winners),
                differ,
                *(shown(test, scale=100) for test in tests),
                gap,
                p_shown(each["p"]),
                p_shown(each["p_corrected"]),
            )
        )
    over = between_of(document, TEST)
    if over is not None and len(rows) > 1:
        means = [shown(over[name], sign=sign) for name, sign in (("first", ""), ("second", ""), ("difference", "+"))]
        rows.append(("over data sets", "", "", "", *means, p_shown(over["p"]), ""))
    winners_by = (f"winner by {setup}" for setup in (first, second))
    tests_by = (f"test, {setup}" for setup in (first, second))
    header = ("data set", *winners_by, "differ", *tests_by, "difference", "p", f"p ({document['correction']})")
    return Table(header, tuple(rows), left=3, caption=f"{_measure(document)}.", folded=len(rows) > 2 * MOST_ROWS)


def _gaps(document: Document) -> Section:
    """As table 3: what test adds to dev, which the search saw, and what dev says beyond test of the final network."""
    setups = document["setups"]
    columns = [(what, setup) for what in ("gap", "optimism") for setup in setups]
    rows = []
    for name, each in zip(names_of(document), document["datasets"], strict=True):
        found = [(winner_of(each, setup) or {}).get(what) for what, setup in columns]
        rows.append((name, *(shown(value, scale=100, sign="+") for value in found)))
    if len(rows) > 1:
        means = [shown(mean_of(document, setup, what), scale=100, sign="+") for what, setup in columns]
        rows.append(("mean", *means))
    if len(setups) > 1:
        for name, kind in (("p of the difference", "p"), ("p by bootstrap", "p_bootstrap")):
            over = [between_of(document, what) or {} for what in ("gap", "optimism")]
            rows.append((name, *(cell for each in over for cell in ("", p_shown(each.get(kind))))))
    by = {"gap": "test - dev of the search", "optimism": "dev - test of the final network"}
    header = ("data set", *(f"{by[what]}{f', {setup}' if len(setups) > 1 else ''}" for what, setup in columns))
    table = Table(header, tuple(rows), caption="In points.", folded=len(rows) > 2 * MOST_ROWS)
    said = PICKED[document["setting"]]
    return Section(_heading(document, "dev against test"), said, (), (table,), tuple(_gap_notes(document)))


def _gap_notes(document: Document) -> Iterator[str]:
    if len(document["setups"]) > 1:
        yield (
            "p: how often the difference between the two setups is as large when they are swapped on some data sets, "
            "over all ways to do so. A paired bootstrap over data sets, as in the paper, is too bold where there are "
            "few of them."
        )
    if document["final"] == "train+tune" and "tune" in document["setups"]:
        yield (
            "The final networks of setup tune learned from train and tune, and dev picked their epoch: they saw more "
            "text than those of the search, and their dev was used."
        )


def _spreads(document: Document) -> Section:
    """How settings are spread on dev, and on test where all were tested."""
    rows, tested = [], _all_tested(document)
    for name, each in zip(names_of(document), document["datasets"], strict=True):
        for spread in each["spreads"]:
            if not spread["dev"]:
                continue
            row = [name, spread["setup"], f"{len(spread['dev']):,}", *_ends(spread["dev"])]
            row.append(f"{shown(spread['again'], scale=100, decimals=1)} %")
            if tested:
                row += [*_ends(spread["test"]), f"{shown(spread['kept'], scale=100, decimals=1)} %"]
                row += [NONE if spread["same"] is None else "yes" if spread["same"] else "no", shown(spread["rho"])]
            rows.append(tuple(row))
    more = ("test: least", "test: median", "test: most", "wins test", "did", "rho") if tested else ()
    header = ("data set", "epochs by", "settings", "dev: least", "dev: median", "dev: most", "wins again", *more)
    parts = (DEV, TEST) if tested else (DEV,)
    figures = [Figure(file_name("search", document["label"], part), _drawn(document, part)) for part in parts]
    said = [*READING]
    places = sum(bool(spread["dev"]) for each in document["datasets"] for spread in each["spreads"])
    if places > MOST_STRIPS:
        said.append(f"Drawn are the first {MOST_STRIPS} of {places:,}; the table has all.")
    notes = [
        f"Wins again: the chance that another sample of as many sentences of {document['setting']} would have picked "
        "the same settings."
    ]
    if tested:
        notes.append(
            "Wins test: the chance that the settings that win are also the best of all on test, both sampled anew; "
            "did: whether they are on the text as it is. rho: Spearman's correlation of dev and test over settings."
        )
    table = Table(header, tuple(rows), left=2, caption=f"{_measure(document)}.", folded=len(rows) > MOST_ROWS)
    return Section(
        _heading(document, "how far settings lie apart"), tuple(said), tuple(figures), (table,), tuple(notes)
    )


def _all_tested(document: Document) -> bool:
    return any(spread["test"] for each in document["datasets"] for spread in each["spreads"])


def _ends(values: Sequence[float]) -> list[str]:
    return [shown(each, scale=100) for each in (min(values), median(values), max(values))]


def _drawn(document: Document, part: str) -> StripPlot:
    rows = []
    several = len(document["setups"]) > 1
    labels = [settings_text(each["settings"]) for each in document["tried"]]
    systems = [each["system"] for each in document["tried"]]
    for name, each in zip(names_of(document), document["datasets"], strict=True):
        for spread in each["spreads"]:
            if not spread[part]:
                continue
            winner = winner_of(each, spread["setup"])
            own = [systems[number] for number in spread["settings"]]
            chosen = own.index(winner["system"]) if winner and winner["system"] in own else None
            values = tuple(100 * known(value) for value in spread[part])
            what = tuple(labels[number] for number in spread["settings"])
            rows.append(Strip(f"{name}, by {spread['setup']}" if several else name, values, what, chosen))
    title = f"{document['label']}: settings on {part}, and the one that was picked on {document['setting']}"
    return StripPlot(tuple(rows[:MOST_STRIPS]), title=title, axis=_measure(document))


def _every(document: Document) -> list[Section]:
    """A table of every setting for each data set, all folded."""
    tables: list[Table] = []
    listed = 0
    for name, each in zip(names_of(document), document["datasets"], strict=True):
        table = _settings_table(document, name, each)
        if table.rows and listed + len(table.rows) <= MOST_LISTED:
            tables.append(table)
            listed += len(table.rows)
    if not tables:
        return []
    said = [f"Scores of {pluralize(document['settings'], 'setting')}, each the mean of its seeds."]
    if len(tables) < len(document["datasets"]):
        said.append(f"Listed are {pluralize(len(tables), 'data set')} of {len(document['datasets']):,}.")
    return [Section(_heading(document, "every setting"), tuple(said), (), tuple(tables))]


def _settings_table(document: Document, name: str, each: Row) -> Table:
    setups, parts = document["setups"], (DEV, TEST) if _all_tested(document) else (DEV,)
    scores: dict[int, dict[tuple[str, str], float]] = {}
    for spread in each["spreads"]:
        for part in parts:
            for number, value in zip(spread["settings"], spread[part], strict=True):
                scores.setdefault(number, {})[part, spread["setup"]] = value
    columns = [(part, setup) for part in parts for setup in setups]
    several = len(setups) > 1
    rows = []
    for number, own in sorted(scores.items(), key=lambda pair: -max(map(_or_nothing, pair[1].values()))):
        tried = document["tried"][number]
        values = [str(tried["settings"][setting]) for setting in document["varied"]]
        won = [winner["setup"] for winner in each["winners"] if winner["system"] == tried["system"]]
        mark = ", ".join(won) if several else "yes" if won else ""
        rows.append((*values, *(shown(own.get(column), scale=100) for column in columns), mark))
    header = (*document["varied"], *(f"{part}, {setup}" if several else part for part, setup in columns))
    last = "won, epochs by" if several else "won"
    caption = f"{name}: every setting, {_measure(document)}."
    return Table((*header, last), tuple(rows), left=len(document["varied"]), caption=caption, folded=True)


def _or_nothing(value: float | None) -> float:
    return -math.inf if value is None else value
