"""Documents of searches made by hand, small enough to see what must be said of them."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]
TRIED = [{"system": f"tagger.v1(epochs={n})", "settings": {"epochs": n, "order": 2 + n % 2}} for n in (1, 2, 3)]


def winner(setup: str, number: int, *, searched: float, dev: float, test: float | None) -> Document:
    """The settings with this number won."""
    return {
        "setup": setup, "system": TRIED[number]["system"], "settings": TRIED[number]["settings"], "among": 3,
        "searched": searched, "dev": dev, "test": test, "gap": None if test is None else test - searched,
        "optimism": None if test is None else dev - test,
    }  # fmt: skip


def spread(setup: str, dev: list[float], test: list[float] | None = None) -> Document:
    """Scores of the first settings."""
    more = {"kept": 0.25, "same": False, "rho": 0.5} if test else {"kept": None, "same": None, "rho": None}
    return {"setup": setup, "settings": list(range(len(dev))), "dev": dev, "test": test or [], "again": 0.625, **more}


def data_set(corpus: str, winners: list[Document], spreads: list[Document], **more: Any) -> Document:
    """One split of a corpus."""
    found = {
        "corpus": corpus, "split": "random.v1", "seed": 0, "number": 0, "winners": winners, "differing": None,
        "p": None, "p_corrected": None, "spreads": spreads,
    }  # fmt: skip
    return found | more


def search(datasets: list[Document], setups: list[str], **more: Any) -> Document:
    """A search of three settings."""
    found = {
        "kind": "search", "label": "tagger", "metric": "accuracy.v1", "method": "grid", "settings": 3, "trained": 12,
        "failed": 0, "failed_finals": 0, "looks": 4, "setting": "dev", "final": "train+tune", "tested": "winner",
        "alpha": 0.05, "correction": "bonferroni", "seeds": [0], "setups": setups, "varied": ["epochs", "order"],
        "tried": TRIED, "datasets": datasets, "between": [], "notes": ["a note of the search"],
    }  # fmt: skip
    return found | more


def between(what: str, first: float, second: float, p: float | None) -> Document:
    known = {"p": p, "p_bootstrap": None if p is None else p / 2}
    return {"what": what, "first": first, "second": second, "difference": first - second, **known}


def two_setups(**more: Any) -> Document:
    """On `north` both setups pick the second settings; on `south` tune picks the third and dev the first."""
    north = data_set(
        "north",
        [
            winner("tune", 1, searched=0.90, dev=0.93, test=0.91),
            winner("dev", 1, searched=0.93, dev=0.93, test=0.91),
        ],
        [spread("tune", [0.88, 0.90, 0.89]), spread("dev", [0.91, 0.93, 0.92])],
        differing=0, p=1.0, p_corrected=1.0,
    )  # fmt: skip
    south = data_set(
        "south",
        [
            winner("tune", 2, searched=0.80, dev=0.84, test=0.83),
            winner("dev", 0, searched=0.85, dev=0.85, test=0.81),
        ],
        [spread("tune", [0.78, 0.79, 0.80]), spread("dev", [0.85, 0.82, 0.84])],
        differing=2, p=0.03, p_corrected=0.06,
    )  # fmt: skip
    over = [between("test", 87.0, 86.0, None), between("gap", 2.0, -3.0, None), between("optimism", 1.5, 3.0, None)]
    return search([north, south], ["tune", "dev"], between=over) | more


def one_setup(**more: Any) -> Document:
    """Two splits of one corpus; the second has no score on test."""
    sets = [
        data_set("north", [winner("tune", 1, searched=0.9, dev=0.92, test=0.91)], [spread("tune", [0.88, 0.9, 0.89])]),
        data_set(
            "north", [winner("tune", 0, searched=0.8, dev=0.8, test=None)], [spread("tune", [0.8, 0.79])], number=1
        ),
    ]
    return search(sets, ["tune"], looks=1, trained=5, failed=1) | more


def lacking(document: Document, setup: str, **more: Any) -> Document:
    """The same, but the final network of a setup failed on the last data set."""
    last = document["datasets"][-1]
    last |= {"p": None, "p_corrected": None}
    for own in last["winners"]:
        if own["setup"] == setup:
            own |= {"dev": None, "test": None, "gap": None, "optimism": None}
    return document | more


def study(searches: list[Document], **more: Any) -> Document:
    """A study of nothing but searches."""
    found = {
        "kind": "study", "study": "mine", "correction": "bonferroni", "alpha": 0.05, "systems": {}, "seeds": {},
        "corpora": [{"corpus": "north", "sentences": 30, "words": 200}], "strategies": [], "cells": 0, "missing": 0,
        "damaged": [], "blocks": [], "notes": [], "failed": [], "test_sets": [], "store": "mine.sqlite",
    }  # fmt: skip
    return {**found, "searches": searches} | more
