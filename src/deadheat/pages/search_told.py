"""What a search found, in words: the verdict, and what its data sets and settings are called."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from deadheat.documents import Document
from deadheat.pages.wording import known, listed, p_equals, shown
from deadheat.text import pluralize

Row = Mapping[str, Any]


def verdict(document: Document) -> list[str]:
    """What a search comes to: who won, what that is worth on test, how far dev was from it, and what it cost."""
    if not any(each["winners"] for each in document["datasets"]):
        return [f"The search of {document['label']} has no winner: no network of it has a score."]
    return [*_winning(document), *_gaps(document), _optimism(document), _cost(document)]


LEARNING = {
    "tune": "networks learned from train, and tune picked the epoch",
    "dev": "networks learned from train and tune, and dev picked the epoch",
}
LAST = "on train and tune with dev to pick the epoch"


def protocol(document: Document) -> Iterator[str]:
    """How the search went, step by step."""
    tried = f"{pluralize(document['settings'], 'setting')} of {listed(document['varied'])}"
    yield (
        f"Tried were {tried} ({document['method']}) on {pluralize(len(document['datasets']), 'data set')}, each with "
        f"{pluralize(len(document['seeds']), 'seed')}; those that did best on {document['setting']} won."
    )
    ways = [f"in setup {setup}, {LEARNING[setup]}" for setup in document["setups"]]
    said = "; ".join(ways)
    final = finals_told(document, {setup: f"setup {setup}" for setup in document["setups"]})
    yield f"{said[:1].upper()}{said[1:]}." + (f" {final}" if final else "")


def trained_again(document: Document) -> list[str]:
    """The setups whose winners were trained once more; final networks of the others are networks of the search."""
    setups: list[str] = document["setups"]
    if not any(each["winners"] for each in document["datasets"]):
        return []
    if not _all_tested(document):
        return setups
    shared = "dev" in setups and document["method"] != "optuna"  # which may have tried others there
    return ["tune"] if _with_tune(document) and not shared else []


def finals_told(document: Document, called: Mapping[str, str]) -> str:
    """Which networks of the winners are the final ones, as a sentence; `called` has what setups are called."""
    if not any(each["winners"] for each in document["datasets"]):
        return ""
    setups, again = document["setups"], trained_again(document)
    ways = {setup: LAST if setup == "tune" and _with_tune(document) else "as in the search" for setup in setups}
    how = ways[setups[0]]
    if len(set(ways.values())) > 1:
        how = listed(f"those of {called[setup]} {way}" for setup, way in ways.items())
    if not _all_tested(document):
        return f"The winners were then trained once more, {how}, and only then scored on test."
    told = "All networks of the search were scored on test"
    if again == setups:
        return f"{told}; the winners were then trained once more, {how}, and scored on test too."
    if again:
        told += f", and those of the winners of {called['dev']} are the final ones"
        return f"{told}; the winners of {called['tune']} were then trained once more, {LAST}, and scored on test too."
    told += ", and those of the winners are the final ones"
    if _with_tune(document):
        told += f"; of winners of {called['tune']}, the networks that have the same settings in {called['dev']}"
    return f"{told}."


def _with_tune(document: Document) -> bool:
    """Whether winners of setup tune learn from more than they did in the search."""
    return "tune" in document["setups"] and document["final"] == "train+tune"


def _all_tested(document: Document) -> bool:
    """Whether all networks were scored on test; older results do not say so, but have the scores."""
    if "tested" in document:
        return bool(document["tested"] == "all")
    return any(spread["test"] for each in document["datasets"] for spread in each["spreads"])


def names_of(document: Document) -> list[str]:
    """What data sets are called: by their corpora, and by their splits where there are several of a corpus."""
    found = [(each["corpus"], each["split"], each["seed"]) for each in document["datasets"]]
    corpora = [corpus for corpus, _, _ in found]
    several = {corpus: len({way for way in found if way[0] == corpus}) > 1 for corpus in corpora}
    names = []
    for each in document["datasets"]:
        corpus, way = each["corpus"], str(each["split"]).partition(".v")[0]
        seed = f" seed {each['seed']}" if each["seed"] else ""
        place = f"{way}{seed} {each['number']}" if several[corpus] else str(each["number"])
        names.append(f"{corpus} {place}" if corpora.count(corpus) > 1 else corpus)
    return names


def settings_text(settings: Row) -> str:
    """Settings with their values, one after the other."""
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def winner_of(each: Row, setup: str) -> Row | None:
    """The winner of a setup on a data set, if it has one."""
    found: Row | None = next((winner for winner in each["winners"] if winner["setup"] == setup), None)
    return found


def mean_of(document: Document, setup: str, what: str) -> float | None:
    """The mean of something over the data sets on which both setups, or the only one, have it."""
    rows = []
    for each in document["datasets"]:
        own = {name: known((winner_of(each, name) or {}).get(what)) for name in document["setups"]}
        if not any(map(math.isnan, own.values())):
            rows.append(own[setup])
    return fmean(rows) if rows else None


def between_of(document: Document, what: str) -> Row | None:
    """How two setups differ in something over data sets."""
    found: Row | None = next((each for each in document["between"] if each["what"] == what), None)
    return found


def points(value: float | None) -> str:
    """A difference of shares in points.

    Examples
    --------
    >>> points(0.0057), points(-0.0123), points(None)
    ('+0.57 points', '-1.23 points', 'unknown')
    """
    return "unknown" if value is None else f"{shown(value, scale=100, sign='+')} points"


def with_test(document: Document) -> Document:
    """The same search, of the data sets on which the winners of all setups have a score on test."""
    setups = document["setups"]
    sets = [
        each
        for each in document["datasets"]
        if all((winner_of(each, setup) or {}).get("test") is not None for setup in setups)
    ]
    return {**document, "datasets": sets}


def significant(document: Document) -> tuple[int, int, int]:
    """On how many data sets setups were compared on test, and on how many they differ: before and after correction."""
    tested = [each for each in document["datasets"] if each["p"] is not None]
    before, after = (sum(known(each[name]) <= document["alpha"] for each in tested) for name in ("p", "p_corrected"))
    return len(tested), before, after


def _winning(document: Document) -> Iterator[str]:
    label, sets = document["label"], document["datasets"]
    if len(document["setups"]) == 1:
        yield _alone(document)
        return
    setups = " and by ".join(document["setups"])
    tested, before, after = significant(document)
    if not tested:
        told = f"Winners of {label} with epochs picked by {setups} cannot be compared"
        yield f"{told}: no data set has scores of both on test."
        return
    compared = [each["differing"] for each in sets if each["differing"] is not None]
    differ = sum(value > 0 for value in compared)
    claim = f"{label} with epochs picked by {setups} is a dead heat on test"
    if after:
        claim = f"It matters on test whether {' or '.join(document['setups'])} picks epochs of {label}"
    corrected = f"after correction ({document['correction']}) on {after or 'none'}"
    some = f" of {tested} with scores of both" if tested < len(sets) else ""
    clear = f"{before}{some or f' of {tested}'}, and {corrected}"
    if not before:
        clear = f"none{some}, with or without {document['correction']}"
    evidence = (
        f"the settings that won differ on {differ} of {pluralize(len(compared), 'data set')}, and their scores on test "
        f"significantly on {clear} (paired bootstrap over sentences, alpha {document['alpha']:g})"
    )
    over = between_of(document, "test")
    if over is not None and over["p"] is not None:
        gap = shown(over["difference"], sign="+")
        evidence += f"; over data sets the difference is {gap} points ({p_equals(over['p'])})"
    yield f"{claim}: {evidence}."


def _alone(document: Document) -> str:
    """What winners of the only setup have, on the data sets that have a score on test."""
    picked = f"The settings of {document['label']} were picked on {document['setting']}"
    tried, own = pluralize(document["settings"], "setting"), with_test(document)
    tested, lacking = len(own["datasets"]), len(document["datasets"]) - len(own["datasets"])
    if not tested:
        return f"{picked}, out of {tried}; no winner has a score on test."
    (setup,) = document["setups"]
    searched, test = (shown(mean_of(own, setup, what), scale=100) for what in ("searched", "test"))
    scores = f"{searched} on dev in the search and {test} on test, on average"
    more = f"; {pluralize(lacking, 'data set')} more {'has' if lacking == 1 else 'have'} no score on test"
    won = f"those that won on {pluralize(tested, 'data set')} have {scores}{more if lacking else ''}"
    return f"{picked}: of {tried}, {won}."


def _gaps(document: Document) -> Iterator[str]:
    means = {setup: points(mean_of(document, setup, "gap")) for setup in document["setups"]}
    told = listed(f"{each} where {setup} picked epochs" for setup, each in means.items())
    over = between_of(document, "gap")
    if over is not None:
        many = pluralize(_shared(document["datasets"], document["setups"]), "data set")
        if over["p"] is None:
            told += f"; whether that differs cannot be tested on {many}"
        else:
            sure = "significant" if over["p"] <= document["alpha"] else "not significant"
            gap = f"{shown(over['difference'], sign='+')} points"
            told += f"; the difference of {gap} is {sure} over {many} ({p_equals(over['p'])})"
    yield f"Test minus dev of the search, on average: {told}."


def _shared(sets: Sequence[Row], setups: Sequence[str]) -> int:
    return sum(all((winner_of(each, setup) or {}).get("gap") is not None for setup in setups) for each in sets)


def _optimism(document: Document) -> str:
    several = len(document["setups"]) > 1
    told = [
        points(mean_of(document, setup, "optimism")) + (f" in setup {setup}" if several else "")
        for setup in document["setups"]
    ]
    return f"Dev minus test of the final networks, on average: {listed(told)}."


def _cost(document: Document) -> str:
    failed = f", {document['failed']:,} failed" if document["failed"] else ""
    networks = f"{pluralize(document['trained'], 'network')} for {pluralize(document['settings'], 'setting')}{failed}"
    looks = f"{pluralize(document['looks'], 'network')} scored on test{failed_finals(document)}"
    return f"What the search of {document['label']} cost: {networks}; {looks}."


def failed_finals(document: Document) -> str:
    """How many final networks failed, to be added to a sentence; results of older versions do not say.

    Examples
    --------
    >>> failed_finals({"failed_finals": 2}), failed_finals({})
    (', 2 final networks failed', '')
    """
    failed = document.get("failed_finals") or 0
    return f", {pluralize(failed, 'final network')} failed" if failed else ""
