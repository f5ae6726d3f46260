"""Which sentences a network sees together, epoch by epoch.

Sentences of similar length form a batch, so that there is little padding. The seed decides which sentences and in which
order. Which *length* comes when is the same for all networks and epochs, so that networks with other seeds, splits and
epochs can take a step together: it depends on the number of the batch among those of its length, and a network with
fewer such batches skips the step. Nothing a network sees depends on what trains beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Indices
from deadheat.splits.drawing import generator, permutation

# Lengths that sentences are padded to. Each is at most a third more than the one before: about 10% is padding.
LENGTHS = (6, 9, 12, 16, 20, 25, 31, 39, 49, 62, 80, 104, 136, 176, 230, 300, 400, 520, 700, 1000)
NONE = -1  # no sentence
PREDICTION_BATCH = 128  # sentences labelled at once
PREDICTION_STEP = 3  # to label, only every third length is used, for fewer programs
FEW, MANY = 32, 128  # batches per epoch: with few only every fourth length is used, below many every second


class BatchKey(NamedTuple):
    """One step of an epoch: a length, and the number of the batch among those of that length."""

    words: int
    number: int


def padded_length(words: int, lengths: Sequence[int] = LENGTHS) -> int:
    """The length that a sentence is padded to."""
    for length in lengths:
        if words <= length:
            return length
    return -(-words // LENGTHS[-1]) * LENGTHS[-1]


def group_by_length(lengths: NDArray[np.integer], sentences: Indices, batch: int) -> dict[int, Indices]:
    """Sentences by the length they are padded to, the shortest first.

    With few batches, compiling a program for each length would take longer than the padding costs.
    """
    number = len(sentences) // batch
    step = 4 if number < FEW else 2 if number < MANY else 1
    return _group(lengths, sentences, LENGTHS[step - 1 :: step])


def _group(lengths: NDArray[np.integer], sentences: Indices, limits: Sequence[int]) -> dict[int, Indices]:
    longest = int(lengths.max(initial=0))
    padded = np.array([padded_length(words, limits) for words in range(longest + 1)])[lengths[sentences]]
    return {int(length): sentences[padded == length] for length in np.unique(padded)}


def batch_counts(groups: dict[int, Indices], batch: int) -> dict[int, int]:
    """The number of batches of each length.

    What does not fill a batch joins the next longer sentences; only the longest batch may have empty rows.
    """
    counts: dict[int, int] = {}
    left = 0
    for words in sorted(groups):
        left += len(groups[words])
        if left >= batch:
            counts[words], left = divmod(left, batch)
    if left:
        words = max(groups)
        counts[words] = counts.get(words, 0) + 1
    return counts


def schedule(groups: Sequence[dict[int, Indices]], batch: int) -> list[BatchKey]:
    """The steps of an epoch for networks with these sentences: all batches that any of them has."""
    counts = (batch_counts(network, batch) for network in groups)
    keys = {BatchKey(words, at) for network in counts for words, count in network.items() for at in range(count)}
    return sorted(keys, key=_rank)


def _rank(key: BatchKey) -> tuple[int, BatchKey]:
    """The position of a step in the epoch: pseudo-random, and the same for all networks."""
    bits = (key.words * 0x9E3779B97F4A7C15 + key.number * 0xBF58476D1CE4E5B9 + 1) & 0xFFFFFFFFFFFFFFFF
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return bits ^ (bits >> 31), key


def epoch_batches(groups: dict[int, Indices], batch: int, seed: int, epoch: int) -> dict[BatchKey, Indices]:
    """The sentences of every step of one epoch of one network; the longest batch may have empty rows."""
    rng = generator(seed, epoch)
    batches: dict[BatchKey, Indices] = {}
    left = np.empty(0, np.int64)
    counts = batch_counts(groups, batch)
    for words in sorted(groups):
        sentences = np.concatenate([left, groups[words]])
        sentences = sentences[permutation(len(sentences), rng=rng)]
        size = counts.get(words, 0) * batch
        batches |= {BatchKey(words, number): row for number, row in enumerate(pad_rows(sentences[:size], batch))}
        left = sentences[size:]
    return batches


def pad_rows(sentences: Indices, batch: int) -> Indices:
    """Rows of `batch` sentences, the last one padded with NONE."""
    rows = -(-len(sentences) // batch)
    padded = np.full(rows * batch, NONE, np.int64)
    padded[: len(sentences)] = sentences
    return padded.reshape(rows, batch)


def padding(groups: dict[int, Indices], lengths: NDArray[np.integer], batch: int) -> float:
    """The share of padding in an epoch's batches."""
    computed = sum(words * batch * count for words, count in batch_counts(groups, batch).items())
    real = sum(int(lengths[sentences].sum()) for sentences in groups.values())
    return 1 - real / computed if computed else 0.0


def prediction_batches(lengths: NDArray[np.integer], sentences: Indices) -> dict[BatchKey, Indices]:
    """Batches of sentences to label, padded to one of a few lengths."""
    groups = _group(lengths, sentences, LENGTHS[PREDICTION_STEP - 1 :: PREDICTION_STEP])
    return {
        BatchKey(words, number): row
        for words, members in groups.items()
        for number, row in enumerate(pad_rows(members, PREDICTION_BATCH))
    }


def join_in_order(
    batches: Mapping[BatchKey, Indices], labels: Mapping[BatchKey, NDArray[np.integer]], lengths: NDArray[np.integer]
) -> NDArray[np.integer]:
    """Labels of all words, in the order of the sentences' numbers."""
    pieces = {
        sentence: labels[key][row, : lengths[sentence]]
        for key, sentences in batches.items()
        for row, sentence in enumerate(sentences.tolist())
        if sentence != NONE
    }
    return np.concatenate([pieces[sentence] for sentence in sorted(pieces)])
