"""The best projective tree with one root (Eisner 1996), in cubic time.

Six squares a sentence, of spans i..j of words counted from 0. Each is kept so that the innermost loop runs along
a row of both squares it adds: some by (i, j), some by (j, i), and complete spans both ways.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.arborescence import LOWEST, all_fit
from deadheat.kernels.native import helper, kernel

SQUARES = 6
ROOM_PER_WORD = 12
COMPLETE_RIGHT, COMPLETE_LEFT, ARC_RIGHT, ARC_LEFT = 0, 1, 2, 3


@helper
def best_sum(one, other, row, column, low, high):
    """The largest one[row + k] + other[column + k] for low <= k < high."""
    best1, best2, best3, best4 = LOWEST, LOWEST, LOWEST, LOWEST
    a, b = np.uint64(row + low), np.uint64(column + low)
    for _ in range((high - low) // 4):  # four at a time: each waits for nothing but its own last comparison
        value1 = one[a] + other[b]
        value2 = one[a + np.uint64(1)] + other[b + np.uint64(1)]
        value3 = one[a + np.uint64(2)] + other[b + np.uint64(2)]
        value4 = one[a + np.uint64(3)] + other[b + np.uint64(3)]
        best1 = value1 if value1 > best1 else best1
        best2 = value2 if value2 > best2 else best2
        best3 = value3 if value3 > best3 else best3
        best4 = value4 if value4 > best4 else best4
        a += np.uint64(4)
        b += np.uint64(4)
    for k in range(high - (high - low) % 4, high):
        value1 = one[row + k] + other[column + k]
        best1 = value1 if value1 > best1 else best1
    best1 = best2 if best2 > best1 else best1
    best3 = best4 if best4 > best3 else best3
    return best3 if best3 > best1 else best1


@helper
def best_split(one, other, row, column, low, high):
    """The lowest k with the largest sum."""
    best = np.int64(low)
    for k in range(low + 1, high):
        if one[row + k] + other[column + k] > one[row + best] + other[column + best]:
            best = np.int64(k)
    return best


@helper
def fill_spans(scores, start, width, words, right, right_by_end, left, left_by_end, arc_right, arc_left_by_end):
    """Fill the best scores of all spans, the short ones first."""
    for i in range(words):
        here = i * words + i
        right[here] = 0.0
        right_by_end[here] = 0.0
        left[here] = 0.0
        left_by_end[here] = 0.0
    for distance in range(1, words):
        for i in range(words - distance):
            j = i + distance
            row, column = i * words, j * words
            joined = best_sum(right, left_by_end, row, column + 1, i, j)
            arc_right[row + j] = joined + scores[start + (j + 1) * width + i + 1]
            arc_left_by_end[column + i] = joined + scores[start + (i + 1) * width + j + 1]
            value = best_sum(arc_right, right_by_end, row, column, i + 1, j + 1)
            right[row + j] = value
            right_by_end[column + i] = value
            value = best_sum(left, arc_left_by_end, row, column, i, j)
            left[row + j] = value
            left_by_end[column + i] = value


@helper
def push(items, count, kind, i, j):
    items[3 * count] = kind
    items[3 * count + 1] = i
    items[3 * count + 2] = j
    return count + 1


@helper
def read_off(words, root, right, right_by_end, left, left_by_end, arc_right, arc_left_by_end, items, first, heads):
    """Fill the heads of the best tree by finding again how each span came about."""
    heads[first + root] = 0
    count = push(items, 0, COMPLETE_LEFT, 0, root)
    count = push(items, count, COMPLETE_RIGHT, root, words - 1)
    while count > 0:
        count -= 1
        kind = items[3 * count]
        i = np.int64(items[3 * count + 1])
        j = np.int64(items[3 * count + 2])
        row, column = i * words, j * words
        if i == j:
            continue
        if kind == COMPLETE_RIGHT:
            k = best_split(arc_right, right_by_end, row, column, i + 1, j + 1)
            count = push(items, count, ARC_RIGHT, i, k)
            count = push(items, count, COMPLETE_RIGHT, k, j)
        elif kind == COMPLETE_LEFT:
            k = best_split(left, arc_left_by_end, row, column, i, j)
            count = push(items, count, COMPLETE_LEFT, i, k)
            count = push(items, count, ARC_LEFT, k, j)
        else:
            if kind == ARC_RIGHT:
                heads[first + j] = i + 1
            else:
                heads[first + i] = j + 1
            k = best_split(right, left_by_end, row, column + 1, i, j)
            count = push(items, count, COMPLETE_RIGHT, i, k)
            count = push(items, count, COMPLETE_LEFT, k + 1, j)


@kernel("f8 i8 i8 i8 f8 i4 i4")
def find_projective_trees(scores, starts, widths, offsets, squares, items, heads):
    """Fill the heads of the best projective tree of every sentence, or say which has a score that is no number.

    Arguments are those of `find_arborescences`; `squares` has SQUARES squares of the longest sentence and one number
    more, `items` ROOM_PER_WORD numbers a word.
    """
    for sentence in range(len(offsets) - 1):
        first = offsets[sentence]
        words = offsets[sentence + 1] - first
        start = starts[sentence]
        width = widths[sentence]
        if all_fit(scores, start, width, words) == 0:
            return sentence
        if words == 0:
            continue
        size = words * words
        right = squares[:size]
        right_by_end = squares[size : 2 * size]
        left = squares[2 * size : 3 * size]
        left_by_end = squares[3 * size : 4 * size]
        arc_right = squares[4 * size : 5 * size]
        arc_left_by_end = squares[5 * size : 6 * size]
        fill_spans(scores, start, width, words, right, right_by_end, left, left_by_end, arc_right, arc_left_by_end)
        root = np.int64(0)
        best = LOWEST
        for word in range(words):
            value = left[word] + right[word * words + words - 1] + scores[start + (word + 1) * width]
            if value > best:
                best = value
                root = np.int64(word)
        read_off(words, root, right, right_by_end, left, left_by_end, arc_right, arc_left_by_end, items, first, heads)
    return -1
