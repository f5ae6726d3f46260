"""Which sentences a network sees together, epoch by epoch.

Sentences of similar length go together, so that little is padding. Which ones and in which order a network's seed says;
which *length* comes when is the same for all networks and epochs, so that networks with other seeds, other splits and
other epochs can take a step together: it is drawn from the number of the batch among those of its length, and a network
that has fewer of them sits that step out. Nothing a network sees depends on what trains beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Indices
from deadheat.splits.drawing import generator, permutation

# Each is at most a third more than the one before: of what a batch computes, about a tenth is padding.
LENGTHS = (6, 9, 12, 16, 20, 25, 31, 39, 49, 62, 80, 104, 136, 176, 230, 300, 400, 520, 700, 1000)
NONE = -1
PREDICTED = 128  # sentences labelled at once
COARSE = 3  # only every third length is used to label, for fewer programs
FEW, MANY = 32, 128  # batches of an epoch: with few only every fourth length is used, with less than many every second


@dataclass(frozen=True, slots=True)
class Slot:
    """One step of an epoch: a length, and the how-manieth batch of that length it is."""

    words: int
    number: int


def length_of(words: int, lengths: Sequence[int] = LENGTHS) -> int:
    """How many words a sentence is filled up to.

    Examples
    --------
    >>> [length_of(each) for each in (1, 6, 7, 80, 81, 1500)]
    [6, 6, 9, 80, 104, 2000]
    """
    for length in lengths:
        if words <= length:
            return length
    return -(-words // LENGTHS[-1]) * LENGTHS[-1]


def by_length(lengths: NDArray[np.integer], sentences: Indices, batch: int) -> dict[int, Indices]:
    """Sentences by the length they are filled up to, the shortest first.

    Where there are few batches, to compile a program for each length would take longer than padding does.
    """
    number = len(sentences) // batch
    step = 4 if number < FEW else 2 if number < MANY else 1
    return _by_length(lengths, sentences, LENGTHS[step - 1 :: step])


def _by_length(lengths: NDArray[np.integer], sentences: Indices, tops: Sequence[int]) -> dict[int, Indices]:
    filled_to = np.array([length_of(each, tops) for each in range(int(lengths.max(initial=0)) + 1)])[lengths[sentences]]
    return {int(each): sentences[filled_to == each] for each in np.unique(filled_to)}


def counts(groups: dict[int, Indices], batch: int) -> dict[int, int]:
    """How many batches there are of each length.

    What does not fill a batch goes with the next longer sentences; only the longest batch may have empty rows.

    Examples
    --------
    >>> counts({6: np.arange(70), 9: np.arange(20), 12: np.arange(3)}, 32)
    {6: 2, 12: 1}
    """
    found: dict[int, int] = {}
    left = 0
    for words in sorted(groups):
        left += len(groups[words])
        if left >= batch:
            found[words], left = divmod(left, batch)
    if left:
        words = max(groups)
        found[words] = found.get(words, 0) + 1
    return found


def schedule(groups: Sequence[dict[int, Indices]], batch: int) -> list[Slot]:
    """The steps of an epoch for networks with these sentences: all batches that any of them has."""
    most: dict[int, int] = {}
    for own in groups:
        for words, count in counts(own, batch).items():
            most[words] = max(most.get(words, 0), count)
    slots = [Slot(words, number) for words, count in most.items() for number in range(count)]
    return sorted(slots, key=_turn)


def _turn(slot: Slot) -> tuple[int, int, int]:
    """When a step has its turn: as if drawn, and the same for everybody."""
    mixed = (slot.words * 0x9E3779B97F4A7C15 + slot.number * 0xBF58476D1CE4E5B9 + 1) & 0xFFFFFFFFFFFFFFFF
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return mixed ^ (mixed >> 31), slot.words, slot.number


def epoch(groups: dict[int, Indices], batch: int, seed: int, number: int) -> dict[Slot, Indices]:
    """The sentences of every step of one epoch of one network; rows of the longest that are left over are empty."""
    rng = generator(seed, number)
    found: dict[Slot, Indices] = {}
    left = np.empty(0, np.int64)
    wanted = counts(groups, batch)
    for words in sorted(groups):
        own = np.concatenate([left, groups[words]])
        own = own[permutation(len(own), rng=rng)]
        rows = filled(own[: wanted.get(words, 0) * batch], batch)
        found |= {Slot(words, at): row for at, row in enumerate(rows)}
        left = own[wanted.get(words, 0) * batch :]
    return found


def filled(sentences: Indices, batch: int) -> Indices:
    """Rows of so many sentences, the last filled up with none."""
    rows = -(-len(sentences) // batch)
    made = np.full(rows * batch, NONE, np.int64)
    made[: len(sentences)] = sentences
    return made.reshape(rows, batch)


def padding(groups: dict[int, Indices], lengths: NDArray[np.integer], batch: int) -> float:
    """The share of words in an epoch's batches that are none."""
    computed = sum(words * batch * count for words, count in counts(groups, batch).items())
    real = sum(int(lengths[own].sum()) for own in groups.values())
    return 1 - real / computed if computed else 0.0


def rows_to_label(lengths: NDArray[np.integer], sentences: Indices) -> dict[Slot, Indices]:
    """Sentences to be labelled, in rows of one length, which is one of a few."""
    groups = _by_length(lengths, sentences, LENGTHS[COARSE - 1 :: COARSE])
    return {Slot(words, at): row for words, own in groups.items() for at, row in enumerate(filled(own, PREDICTED))}


def in_order(
    rows: Mapping[Slot, Indices], labels: Mapping[Slot, NDArray[np.integer]], lengths: NDArray[np.integer]
) -> NDArray[np.integer]:
    """Labels word by word, in the order of the sentences' numbers."""
    pieces = {
        sentence: labels[step][at, : lengths[sentence]]
        for step, row in rows.items()
        for at, sentence in enumerate(row.tolist())
        if sentence != NONE
    }
    return np.concatenate([pieces[sentence] for sentence in sorted(pieces)])
