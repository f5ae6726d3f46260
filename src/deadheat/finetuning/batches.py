"""Which sentences a network sees together: those of similar length, in an order that the seed decides."""

from __future__ import annotations

import numpy as np

from deadheat.corpus.vocabulary import Indices
from deadheat.splits.drawing import generator, permutation

POOL = 50  # batches whose sentences are sorted by length together
MOST_PIECES = 8192  # in a batch of training, with padding: long sentences form smaller batches
PREDICTION_BATCH, PREDICTION_PIECES = 128, 16384


def training_batches(lengths: Indices, batch: int, seed: int, epoch: int) -> list[Indices]:
    """The batches of an epoch, as positions in `lengths`; every sentence once.

    Sentences are shuffled, those of a pool sorted by length and cut into batches, and the batches shuffled.
    """
    rng = generator(seed, epoch)
    order = permutation(len(lengths), rng=rng)
    batches: list[Indices] = []
    for start in range(0, len(order), POOL * batch):
        pool = order[start : start + POOL * batch]
        batches += _cut(pool[np.argsort(lengths[pool], kind="stable")], lengths, batch, MOST_PIECES)
    return [batches[number] for number in permutation(len(batches), rng=rng).tolist()]


def prediction_batches(lengths: Indices) -> list[Indices]:
    """Batches of sentences to label, as positions in `lengths`."""
    return _cut(np.argsort(lengths, kind="stable"), lengths, PREDICTION_BATCH, PREDICTION_PIECES)


def _cut(ascending: Indices, lengths: Indices, batch: int, most: int) -> list[Indices]:
    """Consecutive sentences, of ascending length, in batches that are not too large; at least one each."""
    batches: list[Indices] = []
    start = 0
    for at in range(1, len(ascending) + 1):
        if at == len(ascending) or at - start == batch or (at + 1 - start) * int(lengths[ascending[at]]) > most:
            batches.append(ascending[start:at])
            start = at
    return batches
