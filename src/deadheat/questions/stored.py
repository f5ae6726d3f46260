"""All that can be said of a store without its corpora: what the study found, and what its scores say besides.

The tests between systems were done when the study came to its end, and stand in the store. From the scores follow the
distributions over seeds, the ranking over corpora and how much of a test set would have been enough.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from deadheat.documents import Document, plain
from deadheat.errors import InputError
from deadheat.metrics import METRICS
from deadheat.metrics.metric import GOLD
from deadheat.questions.chosen_scores import PREFERRED, Answers, Chosen
from deadheat.questions.run import KEYS
from deadheat.questions.size import study as size_study
from deadheat.questions.size_counts import TestSet
from deadheat.questions.sources import Stored
from deadheat.questions.stored_search import search_rows, unfinished_search
from deadheat.ranking.sizes_sampling import CountedSet
from deadheat.ranking.sizes_settings import SIZES, SizeSettings
from deadheat.study.ledger.ledger import Ledger
from deadheat.study.store.store import Store
from deadheat.text import pluralize

# Beyond these there is more to work out than a page is worth waiting for; deadheat size has no such limits.
MOST_SIZE_CORPORA, MOST_SIZE_RUNS, MOST_ORDERED, FEWEST_TO_SIZE = 6, 5, 8, 3
ALPHA = 0.05
# What a block has that older versions did not write, and what stands for it.
BLOCK = {"seed": 0, "train_words": (), "agreement": (), "pairs": ()}
STANDING: dict[str, Any] = {"interval": None, "sd": None}
BLOCK_NEEDS = ("corpus", "split", "part", "splits", "metrics", "systems")
STANDING_NEEDS = ("system", "metric", "runs", "mean", "least", "most")
SEARCH_NEEDS = ("label", "metric", "setups", "varied", "tried", "trained", "failed", "looks", "datasets", "between")
AGREEMENT_NEEDS = ("labels", "alpha", "oracle", "majority", "sentences")
PAIR_NEEDS = ("a", "b", "test", "difference", "splits", "ahead", "significant", "reversed", "p", "p_corrected")


def stored(path: str | os.PathLike[str], *, ledger: Ledger | None = None) -> Stored:
    """Read a store and work out what its scores say.

    Parameters
    ----------
    ledger
        Where looks at the study's test sets were recorded.

    Raises
    ------
    InputError
        If it is no store, is broken, or holds a result that no version of ours wrote.
    """
    place = Path(path)
    with Store.read(place) as store:
        found, scores, runs = store.result(), store.scores(), store.runs()
        keys = found.pop(KEYS, None) if found else None
        study = _completed(place, found) if found else None
        notes: list[str] = []
        searches = runs.clear()
        if keys is not None:  # there may be runs of other studies
            mine = pl.col("key").is_in(keys)
            searches = search_rows(runs.filter(~mine), (found or {}).get("searches") or ())
            others = runs.height - searches.height
            scores, runs = scores.filter(mine), runs.filter(mine)
            others -= runs.height
            if others:
                told = f"the store has {pluralize(others, 'cell')} more: of another study, or run since this one's end"
                notes.append(f"{told}; nothing here is about them")
        elif study is None and (going := unfinished_search(runs, store.study())):
            of_search = pl.col("key").is_in(going)
            searches = runs.filter(of_search)
            scores, runs = scores.filter(~of_search), runs.filter(~of_search)
            told = f"a search has {pluralize(len(going), 'network')} so far, whose scores are not shown"
            notes.append(f"{told}: settings are picked when all of them are there")
        labels = (study or {}).get("systems") or {}
        runs, scores = (frame.with_columns(pl.col("system").replace(labels)) for frame in (runs, scores))
        runs = pl.concat([runs, searches])
        answers = _answers(store, study, scores, runs)
        made_with = _provenance(store, runs["key"].to_list() if notes else None)
    looks = _looks(ledger, study) if ledger is not None and study is not None else Answers()
    answers += looks
    documents = tuple(plain(each) for each in answers.documents)
    return Stored(place, study, scores, runs, made_with, documents, (*notes, *answers.notes))


def _answers(store: Store, study: Document | None, scores: pl.DataFrame, runs: pl.DataFrame) -> Answers:
    """What follows from the scores that were chosen, in an order that does not hang on which cell was ready first."""
    seeded = scores.join(runs.select("key", "split_seed"), on="key", how="left", maintain_order="left")
    known = scores["part"].unique().to_list()
    part = next((name for name in PREFERRED if name in known), "")
    blocks = [block for block in (study or {}).get("blocks", []) if block["part"] == part and block["metrics"]]
    chosen = Chosen.of(str(store.path), seeded, metric=blocks[0]["metrics"][0] if blocks else "")
    if chosen is None:
        return Answers()
    asked = study or {}
    corpora = [each["corpus"] for each in asked.get("corpora", [])]
    systems = list((asked.get("systems") or {}).values())
    order = [_order("corpus", corpora), "corpus", "number", _order("system", systems), "system", "seed"]
    chosen = replace(chosen, scores=chosen.scores.sort(order, maintain_order=True))
    alpha = float(asked.get("alpha") or ALPHA)
    return chosen.over_seeds(alpha) + chosen.over_corpora(alpha) + _sizes(chosen, store)


def _order(column: str, names: Sequence[str]) -> pl.Expr:
    places = {name: place for place, name in enumerate(names)}
    return pl.col(column).replace_strict(places, default=len(places), return_dtype=pl.Int64)


def _provenance(store: Store, keys: Sequence[str] | None) -> tuple[Document, ...]:
    """What runs were made with, each way once; of some runs where not all are meant."""
    if keys is None:
        return tuple(store.provenances())
    found: list[Document] = []
    for key in keys:
        each = store.provenance(key)
        if each not in found:
            found.append(each)
    return tuple(found)


def _sizes(chosen: Chosen, store: Store) -> Answers:
    """How much of each corpus's test part would have ranked the systems as all of it does."""
    if chosen.part != PREFERRED[0]:
        return Answers()
    first = chosen.first_splits()
    runs = pl.int_range(pl.len()).over("corpus", "system")
    few = first.filter(runs < MOST_SIZE_RUNS)
    notes = []
    if few.height < first.height:
        told = f"how much test data is enough is worked out from {MOST_SIZE_RUNS} runs a system"
        notes.append(f"{told}, and some have more; deadheat size has no such limit")
    corpora = few.partition_by("corpus", maintain_order=True)
    counts = (_counted(chosen, store, own) for own in corpora)
    sets = list(islice((each for each in counts if each is not None), MOST_SIZE_CORPORA))
    if not sets:
        return Answers()
    if len(corpora) > MOST_SIZE_CORPORA:
        told = f"how much test data is enough is worked out for {MOST_SIZE_CORPORA} corpora"
        notes.append(f"{told}, the first of {len(corpora):,}; deadheat size has no such limit")
    settings = SizeSettings()
    if any(len(each.systems) > len(set(each.systems)) > MOST_ORDERED for each in sets):  # by far the slowest part
        settings = replace(settings, aso_draws=0)
        notes.append(f"almost stochastic order by the size of the test set: of {MOST_ORDERED} systems at most")
    return Answers((size_study([TestSet(each) for each in sets], settings).to_dict(),), tuple(notes))


def _counted(chosen: Chosen, store: Store, own: pl.DataFrame) -> CountedSet | None:
    if own["system"].n_unique() < FEWEST_TO_SIZE:
        return None
    try:
        metric = METRICS.make(chosen.metric)
        counts = store.counts(own["key"].to_list(), part=chosen.part, metric=chosen.metric)
    except InputError:  # runs without counts or of other units, a metric of somebody's own: nothing to sample
        return None
    lengths = counts[0, :, GOLD]
    words = int(lengths.sum())
    if words != int(own["words"][0]) or words <= SIZES[0]:  # what is counted is not words, or there are very few
        return None
    some = lengths > 0
    return CountedSet(str(own["corpus"][0]), tuple(own["system"]), lengths[some], counts[:, some], metric)


def _looks(ledger: Ledger, study: Document) -> Answers:
    """What the ledger knows of the study's test sets, as far as it can be read."""
    wanted = {each["hash"] for each in study.get("test_sets", [])}
    try:
        found = [each for each in ledger.tallies() if each.test_set in wanted] if wanted else []
    except InputError as error:
        return Answers(notes=(f"how often the test sets were looked at cannot be told: {error}",))
    return Answers(({"kind": "ledger", "test_sets": [each.to_dict() for each in found]},)) if found else Answers()


def _completed(path: Path, study: Mapping[str, Any]) -> Document:
    """A result with all that a page asks of it, also if an older version wrote it and knew less."""
    searches = list(study.get("searches") or ())
    for search in searches:
        _check(path, search, SEARCH_NEEDS, "a search")
    shown = [{name: value for name, value in search.items() if name != KEYS} for search in searches]
    blocks = [_block(path, block) for block in _list_of(path, study, "blocks", "the study")]
    return {**study, "blocks": blocks, "searches": shown}


def _block(path: Path, block: Mapping[str, Any]) -> Document:
    _check(path, block, BLOCK_NEEDS, "a block")
    for pair in block.get("pairs", ()):
        _check(path, pair, PAIR_NEEDS, "a pair")
    for each in block.get("agreement", ()):
        _check(path, each, AGREEMENT_NEEDS, "an agreement")
    numbers = list(block.get("numbers") or range(block["splits"]))
    nothing = {"by_split": [None] * len(numbers)}
    systems = []
    for each in _list_of(path, block, "systems", "a block"):
        _check(path, each, STANDING_NEEDS, "a system")
        systems.append({**STANDING, **nothing, **each})
    return {**BLOCK, **block, "numbers": numbers, "systems": systems}


def _list_of(path: Path, found: Mapping[str, Any], key: str, where: str) -> Iterator[Mapping[str, Any]]:
    _check(path, found, (key,), where)
    yield from found[key]


def _check(path: Path, found: object, keys: Sequence[str], where: str) -> None:
    lacking = next((key for key in keys if not isinstance(found, dict) or key not in found), None)
    if lacking is not None:
        told = f"{where} of its result has no {lacking}"
        raise InputError(f"{path}: {told}; expected deadheat run to be run once more, with this version")
