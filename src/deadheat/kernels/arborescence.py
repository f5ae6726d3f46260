"""The best tree with one root, by growing a path backwards and contracting its cycles (dense, quadratic time).

A tree in which the root has one child is a tree over the words alone, with that child on top. So the root is left
out while cycles are contracted, until all words are one node: whatever enters that node enters the tree. Only then is
the arc from the root chosen, and it opens every cycle that it leads into (the idea of Gabow and Tarjan 1984, as
simplified for dense graphs by Zmigrod, Vieira and Cotterell 2020). No arc is given a penalty, so nothing is rounded
away however large the scores are.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel

MOST = 1.0e300  # a sum of scores below this is a number
LOWEST = -1.7e308
ROOM_PER_WORD = 14  # integers that the contraction of one sentence needs for each word, and for one more


@helper
def all_fit(scores, start, width, words):
    """Whether the scores of all arcs to words are numbers of a reasonable size."""
    for word in range(1, words + 1):
        base = start + word * width
        for head in range(words + 1):
            value = scores[base + head]
            if not (value > -MOST and value < MOST) and head != word:
                return 0
    return 1


@helper
def take_best_heads(scores, start, width, words, first, heads):
    """Give each word the head that its arc scores best with; of equal ones the lowest."""
    for word in range(1, words + 1):
        base = start + word * width
        best = np.int64(0)
        for head in range(1, words + 1):
            if scores[base + head] > scores[base + best] and head != word:
                best = np.int64(head)
        heads[first + word - 1] = best


@helper
def is_tree(heads, first, words, seen):
    """Whether the heads of a sentence, all in range, are a tree with one root."""
    roots = 0
    for word in range(1, words + 1):
        roots += heads[first + word - 1] == 0
        seen[word] = 0
    if roots != 1:
        return 0
    for word in range(1, words + 1):
        at = np.int64(word)
        while at != 0 and seen[at] == 0:
            seen[at] = word
            at = np.int64(heads[first + at - 1])
        if at != 0 and seen[at] == word:
            return 0
    return 1


@helper
def copy_arcs(scores, start, width, words, rows, entries):
    """Put the scores of arcs into rows, one a word; `entries` says which word an arc into a node leads to."""
    size = words + 1
    for word in range(1, size):
        for head in range(size):
            rows[word * size + head] = scores[start + word * width + head]
            entries[word * size + head] = word
        rows[word * size + word] = LOWEST


@helper
def merge(size, path, low, high, node, parent, row_of, weights, top, rows, entries):
    """Make one node of the cycle path[low..high]: an arc into it counts what it gains over the arc it replaces."""
    target = np.int64(row_of[path[low]]) * size
    for k in range(low, high + 1):
        member = path[k]
        parent[member] = node
        source = np.int64(row_of[member]) * size
        for head in range(size):
            value = rows[source + head] - weights[member]
            if k == low or value > rows[target + head]:
                rows[target + head] = value
                entries[target + head] = entries[source + head]
    for word in range(1, size):
        if parent[top[word]] == node:
            top[word] = node
        if top[word] == node:
            rows[target + word] = LOWEST
    row_of[node] = row_of[path[low]]


@helper
def contract_all(words, rows, entries, weights, parent, heads_in, words_in, row_of, place, path, top):
    """Contract cycles until one node is left; for every node keep the arc that entered it. The last node's number."""
    size = words + 1
    for node in range(2 * words):
        parent[node] = 0
        place[node] = -1
        row_of[node] = node
    for word in range(size):
        top[word] = word
    node = np.int64(1)
    last = np.int64(words)
    left = words
    end = np.int64(0)
    path[0] = 1
    place[1] = 0
    while left > 1:
        base = np.int64(row_of[node]) * size
        best = np.int64(1)
        for head in range(2, size):
            if rows[base + head] > rows[base + best]:
                best = np.int64(head)
        heads_in[node] = best
        words_in[node] = entries[base + best]
        weights[node] = rows[base + best]
        source = np.int64(top[best])
        if place[source] < 0:
            end += 1
            node = source
        else:
            last += 1
            low = np.int64(place[source])
            merge(size, path, low, end, last, parent, row_of, weights, top, rows, entries)
            left -= end - low
            end = low
            node = last
        path[end] = node
        place[node] = end
    return last


@helper
def contract(scores, start, width, words, rows, entries, weights, room, first, heads):
    """Fill the heads of one sentence's best tree."""
    size = words + 1
    parent = room[: 2 * size]
    heads_in = room[2 * size : 4 * size]
    words_in = room[4 * size : 6 * size]
    row_of = room[6 * size : 8 * size]
    place = room[8 * size : 10 * size]
    path = room[10 * size : 12 * size]
    top = room[12 * size : 14 * size]
    copy_arcs(scores, start, width, words, rows, entries)
    last = contract_all(words, rows, entries, weights, parent, heads_in, words_in, row_of, place, path, top)
    heads_in[last] = 0
    words_in[last] = entries[np.int64(row_of[last]) * size]
    for node in range(last, words, -1):  # the arc into a node takes the place of the one into a member of its cycle
        member = np.int64(words_in[node])
        while parent[member] != node:
            member = np.int64(parent[member])
        heads_in[member] = heads_in[node]
        words_in[member] = words_in[node]
    for word in range(1, size):
        heads[first + word - 1] = heads_in[word]


@kernel("f8 i8 i8 i8 f8 i4 f8 i4 i4")
def find_arborescences(scores, starts, widths, offsets, rows, entries, weights, room, heads):
    """Fill the heads of the best tree of every sentence; the first sentence with a score that is no number, or -1.

    The arc from `head` to `word` of sentence s has its score at `starts[s] + word * widths[s] + head`. The other arrays
    are room for the longest sentence.
    """
    for sentence in range(len(offsets) - 1):
        first = offsets[sentence]
        words = offsets[sentence + 1] - first
        start = starts[sentence]
        width = widths[sentence]
        if all_fit(scores, start, width, words) == 0:
            return sentence
        take_best_heads(scores, start, width, words, first, heads)
        if words > 0 and is_tree(heads, first, words, room) == 0:
            contract(scores, start, width, words, rows, entries, weights, room, first, heads)
    return -1
