"""Three ways to choose evaluation data of a size in words from sentences in their order.

They are those of van der Goot et al. (2024): the last sentences (SEQ), a random sample (RAND), and a run from a random
start (RAND_SEQ). Each gives an order of sentences, of which as many are taken from the front as reach the size:
sentences are never cut, so a sample has the words asked for or, by less than one sentence, more. Smaller samples
of one order lie within larger ones.
"""

from __future__ import annotations

import numpy as np

from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError
from deadheat.splits.chance import below, shuffled

WAYS = ("seq", "rand", "rand-seq")


def reaching(lengths: Indices, words: int) -> int:
    """How many of these sentences, from the first on, are needed to have so many words; all of them if too few.

    Examples
    --------
    >>> import numpy as np
    >>> [reaching(np.array([3, 4, 5]), words) for words in (0, 3, 4, 12, 99)]
    [0, 1, 2, 3, 3]
    """
    return min(int(np.searchsorted(np.cumsum(lengths), words)) + 1, len(lengths)) if words > 0 else 0


def in_order_of(way: str, lengths: Indices, words: int, *, rng: np.random.Generator) -> Indices:
    """Sentences in the order in which one way takes them, for samples of up to so many words.

    `seq`: from the last one backwards. `rand`: in random order. `rand-seq`: in their own order from a random start,
    all starts alike that leave enough words; what lies before the start is not in it.

    Examples
    --------
    >>> import numpy as np
    >>> in_order_of("seq", np.array([3, 4, 5]), 6, rng=np.random.default_rng(0))
    array([2, 1, 0])
    """
    total = int(lengths.sum())
    if words > total:
        raise InputError(f"{words:,} words asked; there are {total:,} to choose from")
    if way == "seq":
        return np.arange(len(lengths))[::-1]
    if way == "rand":
        return shuffled(len(lengths), rng=rng)
    assert way == "rand-seq", way
    before = np.cumsum(lengths) - lengths
    starts = int(np.count_nonzero(total - before >= words))
    return np.arange(below(starts, rng=rng), len(lengths))
