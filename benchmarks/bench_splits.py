"""Whole documents in a test set of a tenth, genres in proportion: how near, and how fast, against scikit-learn.

Two hundred splits each. A share is of words. `worst genre` is by how much a genre's share of the test set is off its
share of the corpus, at most, as a part of the latter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.model_selection import GroupShuffleSplit, StratifiedGroupKFold

import deadheat
from benchmarks.timing import DATA, table
from deadheat.splits import STRATEGIES
from deadheat.splits.strategy import Material

TIMES = 200
Tests = Iterator[np.ndarray]


def material() -> Material:
    """English EWT where it lies beside us, else a made-up treebank with genres and documents."""
    real = DATA / "treebanks" / "en_ewt"
    if real.is_dir():
        return Material(deadheat.read(real))
    from deadheat.testbed import generate

    return Material(deadheat.read(text=generate("velani", sentences=16_000, seed=0)))


def ours(strategy: str) -> Callable[[Material], Tests]:
    def tests(of: Material) -> Tests:
        made = STRATEGIES.make(strategy)
        return (made.draw(of, seed, 0).parts["test"] for seed in range(TIMES))

    return tests


def group_shuffle(of: Material) -> Tests:
    assert of.documents is not None
    documents = of.documents.codes
    splits = GroupShuffleSplit(n_splits=TIMES, test_size=0.1, random_state=0).split(documents, groups=documents)
    return (test for _, test in splits)


def stratified_folds(of: Material) -> Tests:
    """The first fold of ten for each seed: it deals out sentences, so that words come as they do."""
    assert of.documents is not None
    documents, genres = of.documents.codes, of.strata("genre", None)
    for seed in range(TIMES):
        folds = StratifiedGroupKFold(n_splits=10, shuffle=True, random_state=seed)
        yield next(iter(folds.split(documents, genres, documents)))[1]


def row(name: str, of: Material, tests: Callable[[Material], Tests]) -> list[str]:
    words, genres = of.lengths, of.strata("genre", None)
    of_all = np.bincount(genres, words) / words.sum()
    start = time.process_time()
    found = list(tests(of))
    took = (time.process_time() - start) / TIMES
    shares = [100 * words[test].sum() / words.sum() for test in found]
    off = [
        np.abs(np.bincount(genres[test], words[test], len(of_all)) / words[test].sum() / of_all - 1).max()
        for test in found
    ]
    return [name, f"{min(shares):.2f} - {max(shares):.2f}", f"{max(off):.2f}", f"{1000 * took:.1f}"]


def main() -> None:
    of = material()
    of.strata("genre", of.units("document", 0))
    rows = [
        row("deadheat random, documents by genre", of, ours("random(unit='document', stratify='genre')")),
        row("deadheat random, documents", of, ours("random(unit='document')")),
        row("deadheat kfold, documents by genre", of, ours("kfold(unit='document', stratify='genre')")),
        row("scikit-learn GroupShuffleSplit", of, group_shuffle),
        row("scikit-learn StratifiedGroupKFold", of, stratified_folds),
    ]
    assert of.documents is not None
    shape = f"test of 10 % of {of.corpus.words:,} words in {len(of.documents):,} documents, {TIMES} times"
    print(table([shape, "% of words", "worst genre", "ms CPU a split"], rows))


if __name__ == "__main__":
    main()
