"""Decode dependency trees with one root from arc scores.

Best trees: grow a path backwards and contract its cycles, in quadratic time. A tree in which the root has one child is
a tree over the words alone, with that child on top. So the root is left out until all words are one node, and only then
the arc from the root is chosen; it opens every cycle that it leads into (Gabow and Tarjan 1984, simplified for dense
graphs by Zmigrod, Vieira and Cotterell 2020). No penalties are added, so nothing is rounded away.

Best projective trees: Eisner (1996), in cubic time, with six squares of spans i..j per sentence, words counted from 0.
They are stored by (i, j) or by (j, i) so that the innermost loop runs along rows.

Beam search: words choose their heads from left to right. A partial assignment is kept if it has no cycle and at most
one child of the root; every such assignment can become a tree with one root. If the root has a child, all later words
can be its dependents; if not, the next word can be the child of the root.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel
from deadheat.kernels.trees import word_on_cycle

SCORE_LIMIT = 1.0e300  # a sum of scores below this is a number
LOWEST = -1.7e308
CONTRACTION_ARRAYS = 14  # integers that the contraction of one sentence needs for each word, and for one more


@helper
def all_fit(scores, start, width, words):
    """Whether the scores of all arcs to words are numbers of a reasonable size."""
    for word in range(1, words + 1):
        base = start + word * width
        for head in range(words + 1):
            value = scores[base + head]
            if not (value > -SCORE_LIMIT and value < SCORE_LIMIT) and head != word:
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
    for word in range(words):
        roots += heads[first + word] == 0
    seen[1 : words + 1] = 0
    if roots != 1:
        return 0
    for word in range(1, words + 1):
        if word_on_cycle(heads, first, word, seen) != 0:
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
def contract_all(words, rows, entries, weights, parent, heads_in, words_in, row_of, position, path, top):
    """Contract cycles until one node is left; for every node keep the arc that entered it. The last node's number."""
    size = words + 1
    parent[: 2 * words] = 0
    position[: 2 * words] = -1
    for node in range(2 * words):
        row_of[node] = node
    for word in range(size):
        top[word] = word
    node = np.int64(1)
    last = np.int64(words)
    left = words
    end = np.int64(0)
    path[0] = 1
    position[1] = 0
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
        if position[source] < 0:
            end += 1
            node = source
        else:
            last += 1
            low = np.int64(position[source])
            merge(size, path, low, end, last, parent, row_of, weights, top, rows, entries)
            left -= end - low
            end = low
            node = last
        path[end] = node
        position[node] = end
    return last


@helper
def contract(scores, start, width, words, rows, entries, weights, workspace, first, heads):
    """Fill the heads of one sentence's best tree."""
    size = words + 1
    parent = workspace[: 2 * size]
    heads_in = workspace[2 * size : 4 * size]
    words_in = workspace[4 * size : 6 * size]
    row_of = workspace[6 * size : 8 * size]
    position = workspace[8 * size : 10 * size]
    path = workspace[10 * size : 12 * size]
    top = workspace[12 * size : 14 * size]
    copy_arcs(scores, start, width, words, rows, entries)
    last = contract_all(words, rows, entries, weights, parent, heads_in, words_in, row_of, position, path, top)
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
def find_arborescences(scores, starts, widths, offsets, rows, entries, weights, workspace, heads):
    """Fill the heads of the best tree of every sentence; the first sentence with a score that is no number, or -1.

    The arc from `head` to `word` of sentence s has its score at `starts[s] + word * widths[s] + head`. The other arrays
    are workspace for the longest sentence.
    """
    for sentence in range(len(offsets) - 1):
        first = offsets[sentence]
        words = offsets[sentence + 1] - first
        start, width = starts[sentence], widths[sentence]
        if all_fit(scores, start, width, words) == 0:
            return sentence
        take_best_heads(scores, start, width, words, first, heads)
        if words > 0 and is_tree(heads, first, words, workspace) == 0:
            contract(scores, start, width, words, rows, entries, weights, workspace, first, heads)
    return -1


SQUARES = 6
SPAN_ITEMS = 12
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
    for spans in (right, right_by_end, left, left_by_end):
        spans[:: words + 1] = 0.0
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
    more, `items` SPAN_ITEMS numbers a word.
    """
    for sentence in range(len(offsets) - 1):
        first = offsets[sentence]
        words = offsets[sentence + 1] - first
        start, width = starts[sentence], widths[sentence]
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


@helper
def closes_cycle(workspace, at, word, head):
    """Whether a word would be above itself: words from it on have no heads in the assignment at this place yet."""
    while head != 0 and head < word:
        head = np.int64(workspace[at + head])
    return head == word


@helper
def offer(total, parent, head, most, kept, sums, parents, picked):
    """Put one of the best continuations where it belongs; how many there are then. Of equal ones, earlier ones win."""
    position = min(kept, most - 1)
    while position > 0 and total > sums[position - 1]:
        sums[position] = sums[position - 1]
        parents[position] = parents[position - 1]
        picked[position] = picked[position - 1]
        position -= 1
    sums[position] = total
    parents[position] = parent
    picked[position] = head
    return min(kept + 1, most)


@helper
def extend(scores, base, words, word, most, count, old, workspace, before, sums, parents, picked):
    """Find the best continuations of all assignments by a head of this word; how many there are.

    Each assignment has a row of `words` + 1 numbers in `workspace`: first whether the root has a child, then heads.
    """
    kept = np.int64(0)
    for parent in range(count):
        at = old + parent * (words + 1)
        for head in range(workspace[at], words + 1):
            total = before[parent] + scores[base + head]
            if head == word or (kept == most and not total > sums[kept - 1]):
                continue
            if closes_cycle(workspace, at, word, np.int64(head)) == 0:
                kept = offer(total, parent, head, most, kept, sums, parents, picked)
    return kept


@helper
def follow(words, word, kept, old, new, workspace, before, sums, parents, picked):
    """Write the continuations out as assignments."""
    size = words + 1
    for k in range(kept):
        source = old + parents[k] * size
        target = new + k * size
        for position in range(word):
            workspace[target + position] = workspace[source + position]
        workspace[target + word] = picked[k]
        if picked[k] == 0:
            workspace[target] = 1
        before[k] = sums[k]


@kernel("f8 i8 i8 i8 int i4 f8 i8 i4")
def find_pointed_trees(scores, starts, widths, offsets, most, workspace, sums, choices, heads):
    """Fill the heads of every sentence by a beam of `most`; the first sentence with a score that is no number, or -1.

    The first arguments are those of `find_arborescences`. `workspace` has 2 x `most` rows of the longest sentence's
    words and one more; `sums` and `choices` have 2 x `most` numbers.
    """
    before, after = sums[:most], sums[most:]
    parents, picked = choices[:most], choices[most:]
    for sentence in range(len(offsets) - 1):
        first = offsets[sentence]
        words = offsets[sentence + 1] - first
        if all_fit(scores, starts[sentence], widths[sentence], words) == 0:
            return sentence
        old, new = np.int64(0), most * (words + 1)
        workspace[0] = 0
        before[0] = 0.0
        count = np.int64(1)
        for word in range(1, words + 1):
            base = starts[sentence] + word * widths[sentence]
            count = extend(scores, base, words, word, most, count, old, workspace, before, after, parents, picked)
            follow(words, word, count, old, new, workspace, before, after, parents, picked)
            old, new = new, old
        for word in range(1, words + 1):
            heads[first + word - 1] = workspace[old + word]
    return -1
