"""One regression tree over factors with levels, as a partition of the space of all their combinations."""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel
from deadheat.kernels.resampling import GOLDEN, scramble

CHANCES = np.uint64(1023)  # a factor is considered where ten random bits are below `tries`


@helper
def level_sums(codes, scores, weights, rows, begin, end, column, first, levels, counts, sums):
    """Fill the weight and the weighted sum of scores of each level of a factor in rows begin..end."""
    for level in range(first, first + levels):
        counts[level] = 0.0
        sums[level] = 0.0
    for place in range(begin, end):
        row = rows[place]
        level = first + codes[column + row]
        counts[level] += weights[row]
        sums[level] += weights[row] * scores[row]
    return 0


@helper
def line_up(first, levels, by_number, counts, sums, line):
    """Levels with any weight, by number or by mean score, in `line`; how many there are."""
    present = 0
    for level in range(first, first + levels):
        if counts[level] > 0.0:
            place = present
            if by_number == 0:
                mean = sums[level] / counts[level]
                while place > 0 and sums[line[place - 1]] > mean * counts[line[place - 1]]:
                    line[place] = line[place - 1]
                    place -= 1
            line[place] = level
            present += 1
    return present


@kernel("i4 f8 f8 i8 i8 u1 int int u8 f8 f8 i8 u1 i8 u1 f8 f8")
def grow_tree(
    codes, scores, weights, rows, starts, ordered, least, tries, key, counts, sums, line, side, stack, inside, values,
    fitted,
):  # fmt: skip
    """Grow a tree that parts rows by levels until no split lowers the squared error; how many leaves it has.

    `codes` has the level of every row, factor after factor; `starts` says where each factor's levels begin in a line
    of all levels, and `ordered` whether they are numbers, which are parted by a bound; others are parted in the order
    of their means, which no other parting beats (Breiman 1984). Scores are centred; `weights` say how often a row was
    drawn, and rows of weight 0 are sent along. A leaf has weight `least` or more. Leaf k covers the combinations of
    the levels marked in row k of `inside`; `fitted` has the value of the leaf of every row. The other arrays are room
    to work in.
    """
    size = len(rows)
    factors = len(starts) - 1
    width = starts[factors]
    scatter = 0.0
    for row in range(size):
        scatter += weights[row] * scores[row] * scores[row]
    for level in range(width):
        inside[level] = 1
    stack[0], stack[1], stack[2] = 0, size, 0
    depth = 1
    leaves = 1
    state = key[0]
    while depth > 0:
        depth -= 1
        begin, end, leaf = stack[3 * depth], stack[3 * depth + 1], stack[3 * depth + 2]
        weight = 0.0
        total = 0.0
        for place in range(begin, end):
            weight += weights[rows[place]]
            total += weights[rows[place]] * scores[rows[place]]
        best = total * total / weight + 1e-10 * scatter
        chosen = -1
        cut = 0
        for attempt in range(2):  # all factors, where none of those that were drawn helps
            if chosen >= 0 or weight < 2.0 * least:
                break
            for factor in range(factors):
                state += GOLDEN
                if attempt == 0 and np.int64(scramble(state) & CHANCES) >= tries:
                    continue
                first = starts[factor]
                levels = starts[factor + 1] - first
                level_sums(codes, scores, weights, rows, begin, end, factor * size, first, levels, counts, sums)
                present = line_up(first, levels, ordered[factor], counts, sums, line)
                left_weight = 0.0
                left_total = 0.0
                for place in range(present - 1):
                    left_weight += counts[line[place]]
                    left_total += sums[line[place]]
                    right_weight = weight - left_weight
                    right_total = total - left_total
                    if left_weight < least or right_weight < least:
                        continue
                    gain = left_total * left_total / left_weight + right_total * right_total / right_weight
                    if gain > best:
                        best = gain
                        chosen = factor
                        cut = place
        if chosen < 0:
            values[leaf] = total / weight
            for place in range(begin, end):
                fitted[rows[place]] = values[leaf]
            continue
        first = starts[chosen]
        levels = starts[chosen + 1] - first
        column = chosen * size
        level_sums(codes, scores, weights, rows, begin, end, column, first, levels, counts, sums)
        present = line_up(first, levels, ordered[chosen], counts, sums, line)
        left_weight = 0.0
        for place in range(cut + 1):
            left_weight += counts[line[place]]
        heavier = np.int64(2.0 * left_weight >= weight)
        for level in range(levels):  # levels without a row here go to the heavier side, or where their number belongs
            side[level] = np.int64(first + level <= line[cut]) if ordered[chosen] else heavier
        for place in range(present):
            side[line[place] - first] = np.int64(place <= cut)
        other = leaves
        leaves += 1
        for level in range(width):
            inside[other * width + level] = inside[leaf * width + level]
        for level in range(levels):
            if side[level]:
                inside[other * width + first + level] = 0
            else:
                inside[leaf * width + first + level] = 0
        middle = begin
        for place in range(begin, end):
            row = rows[place]
            if side[codes[column + row]]:
                rows[place] = rows[middle]
                rows[middle] = row
                middle += 1
        stack[3 * depth], stack[3 * depth + 1], stack[3 * depth + 2] = begin, middle, leaf
        depth += 1
        stack[3 * depth], stack[3 * depth + 1], stack[3 * depth + 2] = middle, end, other
        depth += 1
    return leaves
