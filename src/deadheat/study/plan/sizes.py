"""Which defaults a system has where they depend on the size of the training part."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deadheat.study.plan.cells import TRAIN
from deadheat.study.plan.plan import Plan
from deadheat.systems import SYSTEMS


def default_sizes(plan: Plan, system: str) -> Iterator[tuple[str, int, str]]:
    """Each corpus, the words in train of its first split, and the size whose defaults the system has there."""
    size_of = SYSTEMS.make(system).size_of
    if size_of is None:
        return
    for corpus, split in {split.corpus: split for split in reversed(plan.corpus_splits)}.items():
        lengths = np.diff(plan.materials[corpus].corpus.offsets)
        words = int(lengths[plan.partition(split).parts[TRAIN]].sum())
        yield corpus, words, size_of(words)
