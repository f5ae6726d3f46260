"""The arc-hybrid transition system with swaps, for a batch of sentences that take one transition at a time.

A sentence has a row of `width` numbers in each array; words are counted from 1, and 0 is the root. The stack's top and
the buffer's front stand last in their rows, so the root, which comes last in the buffer, stands first. A row of
`counts` has the numbers named below.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel
from deadheat.kernels.trees import link_children

SHIFT, LEFT, RIGHT, SWAP = 0, 1, 2, 3
TRANSITIONS = 4
STAY = -1  # the action of a sentence that is finished
NONE = -1  # no word there, or no head yet
NEVER = 1 << 30  # the cost of a transition that is not legal
WORDS, STACKED, BUFFERED, SWAPS, MOST_SWAPS = 0, 1, 2, 3, 4
COUNTS = 5
POSITIONS = 4  # s0, s1, s2, b0: each with the left-most and the right-most word of what hangs from it


@helper
def top_of(counts, row, width, stack, depth):
    """The word at a depth of the stack, or NONE."""
    position = np.int64(counts[row * COUNTS + STACKED]) - 1 - depth
    return np.int64(stack[row * width + position]) if position >= 0 else np.int64(NONE)


@helper
def front_of(counts, row, width, buffer):
    return np.int64(buffer[row * width + counts[row * COUNTS + BUFFERED] - 1])


@helper
def may(counts, row, width, stack, buffer, transition):
    """Whether a transition is legal.

    The root takes a dependent only when one word is left, and words are swapped only if they stand in the order of
    the text: so every sequence ends, and ends in a tree with one root.
    """
    b0 = front_of(counts, row, width, buffer)
    s0 = top_of(counts, row, width, stack, 0)
    stacked = counts[row * COUNTS + STACKED]
    if transition == SHIFT:
        return b0 != 0
    if transition == LEFT:
        return stacked >= 1 and (b0 != 0 or stacked == 1)
    if transition == RIGHT:
        return stacked >= 2
    return stacked >= 1 and s0 < b0 and counts[row * COUNTS + SWAPS] < counts[row * COUNTS + MOST_SWAPS]


@kernel("i4 int i4 i4 u1")
def look(counts, width, stack, buffer, legal):
    """Fill which transitions are legal, a row of four for each sentence."""
    for row in range(len(counts) // COUNTS):
        for transition in range(TRANSITIONS):
            legal[row * TRANSITIONS + transition] = np.uint8(may(counts, row, width, stack, buffer, transition))
    return 0


@helper
def will_be_swapped(counts, row, width, buffer, ranks, word):
    """Whether a word further back in the buffer and in the text belongs before this one, the first."""
    base = row * width
    for position in range(counts[row * COUNTS + BUFFERED] - 1):
        other = buffer[base + position]
        if other > word and ranks[base + other] < ranks[base + word]:
            return True
    return False


@helper
def lost_by_shift(counts, row, width, stack, buffer, gold, ranks, reachable, forget):
    """How many gold arcs no sequence can make once the first word is shifted; if asked to, they are forgotten."""
    base = row * width
    b0 = front_of(counts, row, width, buffer)
    stacked = np.int64(counts[row * COUNTS + STACKED])
    if will_be_swapped(counts, row, width, buffer, ranks, b0):
        return 0
    lost = 0
    head_is_buried = stacked > 0 and gold[base + b0] == 0
    for position in range(stacked):
        word = stack[base + position]
        if gold[base + word] == b0 and reachable[base + word]:
            lost += 1
            reachable[base + word] = not forget
        if gold[base + b0] == word and position < stacked - 1:
            head_is_buried = True
    if head_is_buried and reachable[base + b0]:
        lost += 1
        reachable[base + b0] = not forget
    return lost


@helper
def lost_by_arc(row, width, words, child, head, gold, reachable, forget):
    """How many gold arcs are lost once a word hangs from this head and is gone; if asked to, they are forgotten."""
    base = row * width
    lost = np.int64(gold[base + child] != head and reachable[base + child])
    for word in range(1, words + 1):
        if gold[base + word] == child and reachable[base + word]:
            lost += 1
            reachable[base + word] = not forget
    if forget:
        reachable[base + child] = 0
    return lost


@kernel("i4 int i4 i4 i4 i4 u1 i4")
def weigh(counts, width, stack, buffer, gold, ranks, reachable, costs):
    """Fill the cost of every transition: gold arcs it loses, or NEVER.

    A swap that brings two words into the projective order is free, and then all else costs 1; any other swap
    costs 1.
    """
    for row in range(len(counts) // COUNTS):
        words = counts[row * COUNTS + WORDS]
        b0 = front_of(counts, row, width, buffer)
        s0 = top_of(counts, row, width, stack, 0)
        s1 = top_of(counts, row, width, stack, 1)
        must_swap = False
        if may(counts, row, width, stack, buffer, SWAP):
            must_swap = ranks[row * width + s0] > ranks[row * width + b0]
        for transition in range(TRANSITIONS):
            cost = np.int64(1)
            if not may(counts, row, width, stack, buffer, transition):
                cost = np.int64(NEVER)
            elif must_swap:
                cost = np.int64(transition != SWAP)
            elif transition == SHIFT:
                cost = np.int64(lost_by_shift(counts, row, width, stack, buffer, gold, ranks, reachable, 0))
            elif transition != SWAP:
                head = b0 if transition == LEFT else s1
                cost = np.int64(lost_by_arc(row, width, words, s0, head, gold, reachable, 0))
            costs[row * TRANSITIONS + transition] = cost
    return 0


@helper
def swap(row, width, stack, buffer, counts):
    """Put the top of the stack behind the first word of the buffer."""
    end = row * width + np.int64(counts[row * COUNTS + BUFFERED])
    buffer[end] = buffer[end - 1]
    buffer[end - 1] = stack[row * width + counts[row * COUNTS + STACKED] - 1]
    counts[row * COUNTS + BUFFERED] += 1
    counts[row * COUNTS + STACKED] -= 1
    counts[row * COUNTS + SWAPS] += 1


@kernel("i4 int i4 i4 i4 i4 u1 i4 i4 i4 i4 i4 i4")
def advance(
    counts, width, stack, buffer, gold, ranks, reachable, heads, relations, lefts, rights, actions, labels,
):  # fmt: skip
    """Let each sentence take its action, and give its label to the arc if it makes one; how many were not legal.

    Sentences whose action is not legal stay as they are. An arc takes the child off the stack, and the child's
    outermost word on its side becomes that of the head.
    """
    refused = 0
    for row in range(len(actions)):
        action, base = actions[row], row * width
        if action == STAY:
            continue
        if action < 0 or action >= TRANSITIONS or not may(counts, row, width, stack, buffer, action):
            refused += 1
            continue
        if action == SHIFT:
            lost_by_shift(counts, row, width, stack, buffer, gold, ranks, reachable, 1)
            stack[base + counts[row * COUNTS + STACKED]] = front_of(counts, row, width, buffer)
            counts[row * COUNTS + STACKED] += 1
            counts[row * COUNTS + BUFFERED] -= 1
        elif action == SWAP:
            swap(row, width, stack, buffer, counts)
        else:
            child = top_of(counts, row, width, stack, 0)
            if action == LEFT:
                head = front_of(counts, row, width, buffer)
                lefts[base + head] = lefts[base + child]
            else:
                head = top_of(counts, row, width, stack, 1)
                rights[base + head] = rights[base + child]
            lost_by_arc(row, width, counts[row * COUNTS + WORDS], child, head, gold, reachable, 1)
            heads[base + child] = head
            relations[base + child] = labels[row]
            counts[row * COUNTS + STACKED] -= 1
    return refused


@kernel("i4 int i4 i4 i4 i4 i4")
def describe(counts, width, stack, buffer, lefts, rights, features):
    """Fill s0, s1, s2 and b0, each followed by its left-most and its right-most word, or NONE thrice."""
    for row in range(len(counts) // COUNTS):
        base = row * width
        for position in range(POSITIONS):
            is_front = position == POSITIONS - 1
            word = front_of(counts, row, width, buffer) if is_front else top_of(counts, row, width, stack, position)
            at = (row * POSITIONS + position) * 3
            features[at] = word
            features[at + 1] = lefts[base + word] if word >= 0 else np.int64(NONE)
            features[at + 2] = rights[base + word] if word >= 0 else np.int64(NONE)
    return 0


@kernel("i4 int i4 i4 i4 i4")
def rank_words(counts, width, gold, child, sibling, ranks):
    """Fill the projective order: a word comes after what hangs from it on its left, and before what does on its right.

    The root comes last. `gold` has trees with one root; `child` and `sibling` are workspace for a row.
    """
    for row in range(len(counts) // COUNTS):
        base = row * width
        words = np.int64(counts[row * COUNTS + WORDS])
        ranks[base : base + words + 1] = 0
        link_children(gold, base + 1, words, child, sibling)
        at = np.int64(child[0])
        rank = 0
        while at != 0:
            below = np.int64(child[at])
            if ranks[base + at] == 0 and (below == 0 or below > at):
                rank += 1
                ranks[base + at] = rank
            if below != 0:
                child[at] = sibling[below]
                at = below
            else:
                at = np.int64(gold[base + at])
        ranks[base] = words + 1
    return 0
