"""What the shape of dependency trees says: which arcs are not projective."""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel

# The arrays that `non_projective` needs for one sentence, each as long as the longest one and one more.
ROOM_PER_WORD = 6


@helper
def link_children(heads, first, size, child, sibling):
    """Chain the dependents of every word, and of 0, the root: the last one first."""
    for word in range(size + 1):
        child[word] = 0
    for word in range(1, size + 1):
        head = heads[first + word - 1]
        sibling[word] = 0
        if head >= 0 and head <= size:
            sibling[word] = child[head]
            child[head] = word
    return 0


@helper
def number_descendants(heads, first, size, child, sibling, enter, leave):
    """Number the words so that the descendants of a word, and itself, are those from `enter` to `leave`.

    Words that no path from the root reaches keep 0, and are nobody's descendants.
    """
    for word in range(size + 1):
        enter[word] = 0
        leave[word] = -1
    time = np.int64(1)
    at = np.int64(0)
    enter[0] = time
    while True:
        if child[at] != 0:
            at = np.int64(child[at])
            time += 1
            enter[at] = time
            continue
        leave[at] = time
        while at != 0 and sibling[at] == 0:
            at = np.int64(heads[first + at - 1])
            leave[at] = time
        if at == 0:
            return 0
        at = np.int64(sibling[at])
        time += 1
        enter[at] = time


@helper
def reach(size, step, enter, leave, limits):
    """For every word the first one beyond it, in one direction, that is not its descendant.

    What a descendant reaches, its ancestor reaches too, so stretches are jumped over: linear time in all.
    """
    word = np.int64(size if step > 0 else 1)
    for _ in range(size):
        other = word + step
        while other >= 1 and other <= size and enter[other] >= enter[word] and enter[other] <= leave[word]:
            other = np.int64(limits[other])
        limits[word] = other
        word -= step
    return 0


@kernel("i4 i8 i4 i4")
def non_projective(heads, offsets, room, arcs):
    """Count, for each sentence, the arcs over a word that is not a descendant of the arc's head.

    Arcs from the root are projective, for all words descend from it. `room` is ROOM_PER_WORD arrays, each as
    long as the longest sentence and one more.
    """
    size = len(room) // ROOM_PER_WORD
    child = room[:size]
    sibling = room[size : 2 * size]
    enter = room[2 * size : 3 * size]
    leave = room[3 * size : 4 * size]
    left = room[4 * size : 5 * size]
    right = room[5 * size : 6 * size]
    total = np.int64(0)
    for sentence in range(len(arcs)):
        first = offsets[sentence]
        words = offsets[sentence + 1] - first
        link_children(heads, first, words, child, sibling)
        number_descendants(heads, first, words, child, sibling, enter, leave)
        reach(words, 1, enter, leave, right)
        reach(words, -1, enter, leave, left)
        found = np.int64(0)
        for word in range(1, words + 1):
            head = heads[first + word - 1]
            if head > 0 and head <= words:
                found += right[head] < word if word > head else left[head] > word
        arcs[sentence] = found
        total += found
    return total
