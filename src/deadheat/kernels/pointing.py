"""Trees by words that choose their heads one after the other, from left to right, with a beam.

A partial assignment, in which words 1..i have heads, is kept if it has no cycle and at most one child of the root. That
is just what it takes to become a tree with one root. Every word without a head is the top of a tree of its own, and all
other words are below one of these or below the root. If the root has a child r, then all words to come can hang from r;
if it has none, then the next word can hang from the root, and those after it from that word. So every assignment kept
has a continuation, and the beam never runs dry. When the last word has its head, the root has a child: n words with
heads among themselves have a cycle.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.arborescence import all_fit
from deadheat.kernels.native import helper, kernel


@helper
def closes_cycle(room, at, word, head):
    """Whether a word would be above itself: words from it on have no heads in the assignment at this place yet."""
    while head != 0 and head < word:
        head = np.int64(room[at + head])
    return head == word


@helper
def offer(total, parent, head, most, kept, sums, parents, picked):
    """Put a continuation where it belongs among the best; how many there are then. Of equal ones, earlier ones win."""
    if kept == most and not total > sums[kept - 1]:
        return kept
    place = kept if kept < most else kept - 1
    while place > 0 and total > sums[place - 1]:
        sums[place] = sums[place - 1]
        parents[place] = parents[place - 1]
        picked[place] = picked[place - 1]
        place -= 1
    sums[place] = total
    parents[place] = parent
    picked[place] = head
    return kept + 1 if kept < most else kept


@helper
def extend(scores, base, words, word, most, count, old, room, before, sums, parents, picked):
    """Find the best continuations of all assignments by a head of this word; how many there are.

    Each assignment has a row of `words` + 1 numbers in `room`: first whether the root has a child, then heads.
    """
    kept = np.int64(0)
    for parent in range(count):
        at = old + parent * (words + 1)
        for head in range(room[at], words + 1):
            total = before[parent] + scores[base + head]
            if head == word or (kept == most and not total > sums[kept - 1]):
                continue
            if closes_cycle(room, at, word, np.int64(head)) == 0:
                kept = offer(total, parent, head, most, kept, sums, parents, picked)
    return kept


@helper
def follow(words, word, kept, old, new, room, before, sums, parents, picked):
    """Write the continuations out as assignments."""
    size = words + 1
    for k in range(kept):
        source = old + parents[k] * size
        target = new + k * size
        for place in range(word):
            room[target + place] = room[source + place]
        room[target + word] = picked[k]
        if picked[k] == 0:
            room[target] = 1
        before[k] = sums[k]


@kernel("f8 i8 i8 i8 int i4 f8 i8 i4")
def find_pointed_trees(scores, starts, widths, offsets, most, room, sums, choices, heads):
    """Fill the heads of every sentence by a beam of `most`; the first sentence with a score that is no number, or -1.

    The first arguments are those of `find_arborescences`. `room` has 2 x `most` rows, each of one number more than the
    longest sentence has words; `sums` and `choices` have 2 x `most` numbers.
    """
    before, after = sums[:most], sums[most:]
    parents, picked = choices[:most], choices[most:]
    for sentence in range(len(offsets) - 1):
        first = offsets[sentence]
        words = offsets[sentence + 1] - first
        if all_fit(scores, starts[sentence], widths[sentence], words) == 0:
            return sentence
        old, new = np.int64(0), most * (words + 1)
        room[0] = 0
        before[0] = 0.0
        count = np.int64(1)
        for word in range(1, words + 1):
            base = starts[sentence] + word * widths[sentence]
            count = extend(scores, base, words, word, most, count, old, room, before, after, parents, picked)
            follow(words, word, count, old, new, room, before, after, parents, picked)
            old, new = new, old
        for word in range(1, words + 1):
            heads[first + word - 1] = room[old + word]
    return -1
