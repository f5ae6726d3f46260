"""Arc-hybrid parsing with swaps: a batch of sentences, their legal transitions, costs and features.

A state has a stack, s0 on top, and a buffer, b0 in front, that ends with the root. SHIFT moves b0 to the stack. LEFT
hangs s0 from b0 and RIGHT hangs it from s1; it leaves the stack. SWAP puts s0 back into the buffer, behind b0. All
trees with one root can be made, and nothing else can (Kuhlmann et al. 2011; Nivre 2009; de Lhoneux et al. 2017).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.kernels import archybrid as kernels
from deadheat.kernels.archybrid import LEFT, NEVER, NONE, RIGHT, SHIFT, STAY, SWAP

__all__ = [
    "LEFT", "NEVER", "NONE", "RIGHT", "SHIFT", "STAY", "SWAP",
    "States", "apply", "costs", "features", "finished", "heads", "legal", "relations", "start",
]  # fmt: skip

Rows = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """Where each of B sentences stands. Arrays have one row per sentence; `apply` changes them in place.

    Rows of words have an entry for the root, 0, and then one per word. The last entry of a stack is its top, and the
    last of a buffer its front. `attached` has heads so far, `lefts` and `rights` the outermost words below a word.
    `gold`, `ranks` (the projective order) and `reachable` (whether a word can still get its gold head) are for costs.
    """

    counts: Rows
    stack: Rows
    buffer: Rows
    attached: Rows
    labels: Rows
    lefts: Rows
    rights: Rows
    gold: Rows
    ranks: Rows
    reachable: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def width(self) -> int:
        return int(self.stack.shape[1])

    @property
    def lengths(self) -> Rows:
        return self.counts[:, kernels.WORDS]

    @property
    def swaps(self) -> Rows:
        """How many swaps each sentence has had."""
        return self.counts[:, kernels.SWAPS]


def start(
    offsets: Indices,
    *,
    sentences: Indices | None = None,
    gold: Codes | None = None,
    longest: int = 0,
    swaps_per_word: int | None = None,
) -> States:
    """States before the first transition.

    Parameters
    ----------
    offsets
        The first word of every sentence of a corpus, and the number of words.
    sentences
        Which of them to parse; all, unless given.
    gold
        The heads of all words of the corpus, trees with one root (see `require_trees`); needed for costs.
    longest
        The least width of the arrays, in words.
    swaps_per_word
        How many swaps a sentence may have for each of its words. Any number, unless given; they always come to an
        end. Gold trees need up to 16 (af_afribooms), though 2 is a customary limit when parsing.

    Examples
    --------
    >>> states = start(np.array([0, 2]), gold=np.array([0, 1], np.int32))
    >>> while not finished(states).all():
    ...     apply(states, costs(states).argmin(axis=1), np.array([7]))
    >>> heads(states), relations(states)
    (array([0, 1], dtype=int32), array([7, 7], dtype=int32))
    """
    rows = np.arange(len(offsets) - 1) if sentences is None else np.asarray(sentences)
    lengths = (offsets[rows + 1] - offsets[rows]).astype(np.int32)
    shape = len(rows), max(int(lengths.max(initial=0)), longest) + 1
    positions = np.broadcast_to(np.arange(shape[1], dtype=np.int32), shape)
    counts = np.zeros((shape[0], kernels.COUNTS), np.int32)
    counts[:, kernels.WORDS] = lengths
    counts[:, kernels.BUFFERED] = lengths + 1
    counts[:, kernels.MOST_SWAPS] = np.iinfo(np.int32).max if swaps_per_word is None else swaps_per_word * lengths
    buffer = np.where(positions > 0, lengths[:, None] + 1 - positions, 0).astype(np.int32)
    trees, ranks = np.full(shape, NONE, np.int32), np.zeros(shape, np.int32)
    reachable = np.zeros(shape, np.uint8)
    if gold is not None:
        inside = (positions > 0) & (positions <= lengths[:, None])
        trees[inside] = gold[(offsets[rows][:, None] + positions - 1)[inside]]
        assert ((trees >= NONE) & (trees <= lengths[:, None])).all() and (trees[inside] >= 0).all()
        reachable[inside] = 1
        kernels.rank_words(counts, shape[1], trees, np.empty(shape[1], np.int32), np.empty(shape[1], np.int32), ranks)
    return States(
        counts, np.full(shape, NONE, np.int32), buffer, attached=np.full(shape, NONE, np.int32),
        labels=np.full(shape, NONE, np.int32), lefts=positions.copy(), rights=positions.copy(),
        gold=trees, ranks=ranks, reachable=reachable,
    )  # fmt: skip


def legal(states: States) -> NDArray[np.bool_]:
    """Which transitions each sentence may take, in the order SHIFT, LEFT, RIGHT, SWAP; none if it is finished."""
    allowed = np.empty((len(states), kernels.TRANSITIONS), np.uint8)
    kernels.look(states.counts, states.width, states.stack, states.buffer, allowed)
    return allowed.view(np.bool_)


def costs(states: States) -> Rows:
    """What each transition costs: how many gold arcs can no longer be made after it, or NEVER if it is not legal.

    Notes
    -----
    This is the static-dynamic oracle of de Lhoneux, Stymne and Nivre (2017). Where s0 stands after b0 in the projective
    order, SWAP is free and all else costs 1. Elsewhere SWAP costs 1, and the others what they lose: exactly so for
    projective trees. A word that will be swapped later is shifted free of charge. Free transitions lead to the gold
    tree, whichever are taken. After mistakes on a tree that is not projective there may be none that is free (4 of
    10,000 states of lt_hse at worst, one transition in ten drawn at random): then the cheapest is the right one.

    That the root has one child makes a difference to Goldberg and Nivre's (2013) costs: a word shifted onto others can
    no longer be that child.
    """
    result = np.empty((len(states), kernels.TRANSITIONS), np.int32)
    kernels.weigh(states.counts, states.width, states.stack, states.buffer, states.gold, states.ranks,
                  states.reachable, result)  # fmt: skip
    return result


def apply(states: States, actions: NDArray[np.integer], relations: NDArray[np.integer]) -> None:
    """Let each sentence take a legal transition, or STAY; `relations` has a code for the arc, if it makes one."""
    assert len(actions) == len(relations) == len(states)
    refused = kernels.advance(
        states.counts, states.width, states.stack, states.buffer, states.gold, states.ranks, states.reachable,
        states.attached, states.labels, states.lefts, states.rights,
        np.ascontiguousarray(actions, np.int32), np.ascontiguousarray(relations, np.int32),
    )  # fmt: skip
    assert refused == 0, f"{refused} of {len(states)} transitions are not legal"


def features(states: States) -> Rows:
    """Twelve words per sentence: s0, s1, s2 and b0, each with the left-most and the right-most word below it.

    A word without descendants on a side is its own outermost word; 0 is the root, and NONE stands for no word. On LEFT
    the head's left-most word becomes that of its new dependent, on RIGHT the right-most one does.
    """
    words = np.empty((len(states), 3 * kernels.POSITIONS), np.int32)
    kernels.describe(states.counts, states.width, states.stack, states.buffer, states.lefts, states.rights, words)
    return words


def finished(states: States) -> NDArray[np.bool_]:
    """Whether each sentence has nothing left but the root."""
    return np.asarray((states.counts[:, kernels.STACKED] == 0) & (states.counts[:, kernels.BUFFERED] == 1))


def heads(states: States) -> Codes:
    """The heads of all words, sentence after sentence; NONE where a word has none yet."""
    return _flatten(states, states.attached)


def relations(states: States) -> Codes:
    """The codes that `apply` was given for the arcs of all words."""
    return _flatten(states, states.labels)


def _flatten(states: States, rows: Rows) -> Codes:
    positions = np.arange(states.width)
    return rows[(positions > 0) & (positions <= states.lengths[:, None])]
