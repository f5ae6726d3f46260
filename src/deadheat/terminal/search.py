"""A search on a terminal: what it will cost, and what it found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from deadheat.questions.search import Between, DataSet, SearchResult
from deadheat.study.search.search import BOTH, TUNE, Search
from deadheat.terminal.tables import percent, prose, table
from deadheat.text import pluralize

WHAT = {
    "test": "test score of the winner",
    "gap": "test minus dev of the search",
    "optimism": "dev minus test of the final network",
}


def search_plan(search: Search) -> str:
    """How many trainings and looks at test a search will cost."""
    entry, places, seeds = search.entry, len(search.corpus_splits), len(search.seeds)
    tried = len(search.candidates)
    setups = " and ".join(entry.setups)
    first = tried * len(entry.setups) * places * seeds
    last = len(search.possible_finals())
    told = (
        f"search of {search.label}: {pluralize(tried, 'setting')} of {', '.join(entry.space.varied)} ({entry.method})"
    )
    told += f", on {pluralize(places, 'data set')}, {pluralize(seeds, 'seed')}, epochs picked by {setups}"
    most = " at most" if entry.method == "optuna" else ""
    told += f": {pluralize(first, 'training')}{most}; then winners by {search.metric.name} on {entry.setting}"
    learned = dict.fromkeys(entry.final if setup == TUNE else BOTH for setup in entry.setups)
    told += f", {pluralize(last, 'training')} at most on {' and '.join(learned)}"
    looks = last + (first if entry.tested == "all" else 0)
    return prose(f"{told}, {pluralize(looks, 'look')} at test")


def search_text(result: SearchResult) -> str:
    """Winners, what test says of them, how setups differ, and how far settings lie apart."""
    parts = [prose(str(result)), _winners(result)]
    if result.between:
        rows = [_between(each) for each in result.between]
        parts.append(table(["over data sets", *result.setups[:2], "difference", "p", "by bootstrap"], rows))
        parts.append(prose(_verdict(result)))
    parts.append(_spreads(result))
    return "\n".join(parts)


def _winners(result: SearchResult) -> str:
    compared = len(result.setups) > 1
    rows = []
    for each in result.datasets:
        for winner in each.winners:
            row = [_name(each, result), winner.setup, _settings(winner.settings), percent(winner.searched)]
            row += [percent(winner.dev), percent(winner.test), _signed(winner.gap), _signed(winner.optimism)]
            if compared:
                last = winner.setup == result.setups[1]
                row += _tested(each, result) if last else ["", "", ""]
            rows.append(row)
    header = ["data set", "epoch by", "winner", "dev", "final dev", "test", "test - dev", "optimism"]
    return table([*header, *(["differ", "p", "corrected"] if compared else [])], rows, left=3)


def _tested(each: DataSet, result: SearchResult) -> list[str]:
    differing = "" if each.differing is None else f"{each.differing}/{len(result.varied)}"
    return [differing, _p(each.p), _p(each.p_corrected)]


def _between(each: Between) -> list[str]:
    means = (percent(value / 100) for value in (each.first, each.second))
    return [WHAT[each.what], *means, _signed(each.difference / 100), _p(each.p), _p(each.p_bootstrap)]


def _verdict(result: SearchResult) -> str:
    tested = [each for each in result.datasets if not np.isnan(each.p)]
    if not tested:
        return "setups cannot be compared on test: no data set has scores of both"
    clear = sum(each.p <= result.alpha for each in tested)
    after = sum(each.p_corrected <= result.alpha for each in tested)
    told = f"setups differ on test on {clear} of {pluralize(len(tested), 'data set')} (paired bootstrap over"
    return f"{told} sentences, alpha {result.alpha:g}), on {after} after {result.correction}"


def _spreads(result: SearchResult) -> str:
    rows = []
    tested = any(each.test for own in result.datasets for each in own.spreads)
    for each in result.datasets:
        for spread in each.spreads:
            if not spread.dev:
                continue
            dev = np.array(spread.dev)
            row = [_name(each, result), spread.setup, *(percent(float(x)) for x in np.quantile(dev, (0, 0.5, 1)))]
            row.append(percent(spread.again))
            if tested:
                test = np.array(spread.test)
                row += [*(percent(float(x)) for x in np.quantile(test, (0, 0.5, 1))), percent(spread.kept)]
                row.append("yes" if spread.same else "no")
            rows.append(row)
    header = ["settings on dev", "epoch by", "least", "median", "most", "wins again"]
    more = ["test: least", "median", "most", "wins test", "did"] if tested else []
    return table([*header, *more], rows, left=2)


def _name(each: DataSet, result: SearchResult) -> str:
    """The corpus of a data set, and what tells it from the others of that corpus."""
    place = each.place
    own = [other.place for other in result.datasets if other.place.corpus == place.corpus]
    if len(own) == 1:
        return place.corpus
    if len({(other.split, other.split_seed) for other in own}) == 1:
        return f"{place.corpus} {place.number}"
    seed = f" seed {place.split_seed}" if place.split_seed else ""
    return f"{place.corpus} {place.split.partition('.v')[0]}{seed} {place.number}"


def _settings(settings: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in settings.items())


def _signed(value: float) -> str:
    return "-" if np.isnan(value) else f"{100 * value:+.2f}"


def _p(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2g}"
