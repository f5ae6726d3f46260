r"""Trees read off bracket labels: one label a word and plane, any labels, always a tree.

`<` says that the word before hangs from a later one, which has `\` for it; `/` that the word before has a dependent
further on, which has `>`.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel

LEFTWARD, HEAD_OF_RIGHT, HEAD_OF_LEFT, RIGHTWARD = ord("<"), ord("/"), ord("\\"), ord(">")
HEADLESS = -1


@helper
def read_label(code, blob, bounds, word, first, waiting, heading, sizes, plane, heads):
    """Follow the brackets of one label; `waiting` has words that wait for a head, `heading` for a dependent."""
    waits = np.int64(sizes[2 * plane])
    leads = np.int64(sizes[2 * plane + 1])
    for at in range(bounds[code], bounds[code + 1]):
        bracket = blob[at]
        if bracket == LEFTWARD and word > 1:
            waiting[waits] = word - 1
            waits += 1
        elif bracket == HEAD_OF_RIGHT and word > 1:
            heading[leads] = word - 1
            leads += 1
        elif bracket == HEAD_OF_LEFT and waits > 0:
            waits -= 1
            heads[first + waiting[waits] - 1] = word
        elif bracket == RIGHTWARD and leads > 0:
            leads -= 1
            heads[first + word - 1] = heading[leads]
    sizes[2 * plane] = waits
    sizes[2 * plane + 1] = leads


@helper
def settle_roots(roots, first, words, heads):
    """Make one word the root, and hang other roots and headless words from it; the root."""
    root = np.int64(0)
    for word in range(1, words + 1):
        if roots[first + word - 1]:
            heads[first + word - 1] = 0
            if root == 0:
                root = np.int64(word)
    if root == 0:
        root = np.int64(1)
    for word in range(1, words + 1):
        if heads[first + word - 1] <= 0:
            heads[first + word - 1] = root
    heads[first + root - 1] = 0
    return root


@helper
def break_cycles(first, words, root, seen, heads):
    """Hang from the root, of each cycle, the word at which a walk from its lowest word, or one below, comes to it."""
    for word in range(1, words + 1):
        seen[word] = 0
    for word in range(1, words + 1):
        at = np.int64(word)
        while at != 0 and seen[at] == 0:
            seen[at] = word
            at = np.int64(heads[first + at - 1])
        if at != 0 and seen[at] == word:
            heads[first + at - 1] = root


@kernel("i4 u1 i8 i4 u1 i8 u1 i8 i4 i4 i4")
def read_brackets(
    codes, blob, bounds, other_codes, other_blob, other_bounds, roots, offsets, stacks, seen, heads
):  # fmt: skip
    """Fill the heads that the labels of two planes say, and mend what is no tree; how many words were mended.

    `roots` marks words whose relation is that of a root. A plane's strings lie in a blob between bounds, by code.
    `stacks` is four stacks, each as long as the longest sentence times the longest label and not empty.
    """
    size = len(stacks) // 4
    sizes = seen[:4]
    mended = np.int64(0)
    for sentence in range(len(offsets) - 1):
        first = offsets[sentence]
        words = offsets[sentence + 1] - first
        for k in range(4):
            sizes[k] = 0
        for word in range(words):
            heads[first + word] = HEADLESS
        for word in range(1, words + 1):
            at = first + word - 1
            read_label(codes[at], blob, bounds, word, first, stacks[:size], stacks[size : 2 * size], sizes, 0, heads)
            read_label(other_codes[at], other_blob, other_bounds, word, first, stacks[2 * size : 3 * size],
                       stacks[3 * size :], sizes, 1, heads)  # fmt: skip
        before = stacks[: words + 1]
        for word in range(words):
            before[word] = 0 if roots[first + word] else heads[first + word]
        if words > 0:
            root = settle_roots(roots, first, words, heads)
            break_cycles(first, words, root, seen, heads)
        for word in range(words):
            mended += before[word] != heads[first + word]
    return mended
