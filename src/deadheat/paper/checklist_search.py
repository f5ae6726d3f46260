"""What a search answers of the checklist: a list of lines for every topic that it knows something of."""

from __future__ import annotations

from collections import Counter

from deadheat.documents import Document
from deadheat.pages.search_told import failed_finals
from deadheat.paper.designs import split_words
from deadheat.paper.sentences import listed, numbered
from deadheat.questions.method_words import corrected_words, metric_words
from deadheat.text import pluralize


def splits(search: Document) -> list[str]:
    """How data were split, and how often."""
    counts = Counter((each["corpus"], each["split"], each["seed"]) for each in search["datasets"])
    return [
        f"{corpus}: {split_words(split, [times], seed=seed)} ({split})"
        for (corpus, split, seed), times in counts.items()
    ]


def systems(search: Document) -> list[str]:
    """The winners with their settings."""
    winners = dict.fromkeys(winner["system"] for each in search["datasets"] for winner in each["winners"])
    return [f"{search['label']}, which won on some split: {name}" for name in winners]


def seeds(search: Document) -> list[str]:
    """Seeds of every setting."""
    own = search["seeds"]
    many = "seed" if len(own) == 1 else f"{len(own)} seeds,"
    return [f"{search['label']}, every setting of the search: {many} {numbered(own)}"]


def runs(search: Document) -> list[str]:
    """How many networks it took."""
    failed = f", {search['failed']:,} failed" if search["failed"] else ""
    return [f"search of {search['label']}: {pluralize(search['trained'], 'network')}{failed}{failed_finals(search)}"]


def selection(search: Document) -> list[str]:
    """How settings and epochs were picked, and out of how many."""
    tried = f"{pluralize(search['settings'], 'setting')} of {listed(search['varied'])} ({search['method']})"
    by = f"{metric_words(search['metric'])} on {search['setting']}"
    return [f"{search['label']}: {tried}, picked by {by}; epochs by {listed(search['setups'])}"]


def tests(search: Document) -> list[str]:
    """How setups were compared."""
    number = sum(each["p"] is not None for each in search["datasets"])
    if not number:
        return []
    how = corrected_words(search["correction"], number, over="data set")
    return [f"search: the paired bootstrap on sentences, alpha {search['alpha']:g}, p-values {how}"]


def looks(search: Document) -> list[str]:
    """How many networks saw test."""
    return [f"search of {search['label']}: {pluralize(search['looks'], 'network')} scored on test"]
