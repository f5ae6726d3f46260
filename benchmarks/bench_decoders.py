"""From scores, labels or transitions to trees: words a second on one core, on sentences as long as English EWT's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from deadheat.terminal.tables import table
from numpy.typing import NDArray

from benchmarks.timing import DATA, cpu
from deadheat.corpus import Column, Corpus, read
from deadheat.testbed import generate
from deadheat.trees import archybrid, best_projective_trees, best_trees, bracketing
from deadheat.trees.decoding import beam_trees

FILE = DATA / "treebanks" / "en_ewt" / "en_ewt-ud-dev.conllu"
BATCH = 32
BEAM = 5
PEAK = 4.0  # added to the scores of gold arcs, whose spread is 1: nearly all words get their gold head


def corpus() -> Corpus:
    """English EWT's dev part where it lies beside us, else a made-up treebank of the same size."""
    return read(FILE) if FILE.exists() else read(text=generate("velani", sentences=2000, seed=0))


def scores(text: Corpus, rng: np.random.Generator, peak: float) -> NDArray[np.float32]:
    """Scores of all arcs by chance, and higher ones for gold arcs."""
    squares = []
    for begin, end in zip(text.offsets, text.offsets[1:], strict=False):
        size = int(end - begin)
        square = rng.normal(size=(size + 1, size + 1)).astype(np.float32)
        square[np.arange(1, size + 1), text.trees[begin:end]] += peak
        squares.append(square.ravel())
    return np.concatenate(squares)


def shuffled(plane: Column, rng: np.random.Generator) -> Column:
    """The same labels on other words, so that they say no trees."""
    return Column(rng.permutation(plane.codes), plane.vocabulary)


def derive(text: Corpus) -> None:
    """Make all trees by the cheapest transitions, asking for all that a parser in training asks for."""
    order = np.argsort(np.diff(text.offsets))
    for first in range(0, text.sentences, BATCH):
        states = archybrid.start(text.offsets, sentences=order[first : first + BATCH], gold=text.trees)
        no_relations = np.zeros(len(states), np.int32)
        while not (done := archybrid.finished(states)).all():
            archybrid.features(states)
            archybrid.legal(states)
            archybrid.apply(states, np.where(done, archybrid.STAY, archybrid.costs(states).argmin(1)), no_relations)


def main() -> None:
    text, rng = corpus(), np.random.default_rng(0)
    offsets = text.offsets
    chance, peaked = (scores(text, rng, peak) for peak in (0.0, PEAK))
    labels = bracketing.encode(text.trees, offsets)
    first, second = (shuffled(plane, rng) for plane in labels)
    roots = text.trees == 0
    tasks: dict[str, Callable[[], object]] = {
        "best tree, random scores": lambda: best_trees(chance, offsets),
        "best tree, peaked scores": lambda: best_trees(peaked, offsets),
        "best projective tree, random scores": lambda: best_projective_trees(chance, offsets),
        "best projective tree, peaked scores": lambda: best_projective_trees(peaked, offsets),
        f"tree by a beam of {BEAM}, random scores": lambda: beam_trees(chance, offsets, beam=BEAM),
        f"tree by a beam of {BEAM}, peaked scores": lambda: beam_trees(peaked, offsets, beam=BEAM),
        "brackets from trees": lambda: bracketing.encode(text.trees, offsets),
        "trees from gold brackets": lambda: bracketing.decode(labels, roots, offsets),
        "trees from shuffled brackets": lambda: bracketing.decode((first, second), rng.permutation(roots), offsets),
        f"transitions, costs and features, {BATCH} sentences at once": lambda: derive(text),
    }
    print(f"{text.words:,} words in {text.sentences:,} sentences, the longest of {np.diff(offsets).max()}")
    rows = []
    for name, task in tasks.items():
        seconds = cpu(task)
        rows.append([name, f"{1000 * seconds:.1f}", f"{text.words / seconds:,.0f}"])
    print(table(["what", "ms", "words a second"], rows))


if __name__ == "__main__":
    main()
