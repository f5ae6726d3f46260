"""Loops of single statistics: agreement, rank tests, rank correlation, regression trees."""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel
from deadheat.kernels.resampling import GOLDEN, scramble


@kernel("i4 int i8 i8 f8 i8")
def agreement_sums(labels, raters, offsets, workspace, agreeing, counts):
    """Fill what Krippendorff's nominal alpha is made of, for each group of consecutive items.

    `labels` has a row per rater; -1 is no label. Group g has the items from offsets[g] to offsets[g + 1]. `agreeing`
    gets the sum over items of ordered pairs of equal labels / (labels - 1); `counts` five numbers per group: labels of
    items with two or more, ordered pairs of those with equal labels, items with two or more labels, items with two
    different ones, and distinct labels. `workspace` is all 0, before and after, and twice as long as there are codes.
    """
    items = len(labels) // raters
    codes = len(workspace) // 2
    for group in range(len(offsets) - 1):
        total, pairs, pairable, disagreeing, kinds = 0, 0, 0, 0, 0
        agreed = 0.0
        for item in range(offsets[group], offsets[group + 1]):
            count, equal = 0, 0
            for rater in range(raters):
                label = labels[rater * items + item]
                if label >= 0:
                    count += 1
                    equal += 2 * workspace[label]
                    workspace[label] += 1
            for rater in range(raters):
                label = labels[rater * items + item]
                if label >= 0:
                    workspace[label] = 0
                    if count > 1:
                        pairs += 2 * workspace[codes + label]
                        kinds += workspace[codes + label] == 0
                        workspace[codes + label] += 1
            if count > 1:
                total += count
                pairable += 1
                disagreeing += equal < count * (count - 1)
                agreed += equal / (count - 1)
        for item in range(offsets[group], offsets[group + 1]):
            for rater in range(raters):
                label = labels[rater * items + item]
                if label >= 0:
                    workspace[codes + label] = 0
        agreeing[group] = agreed
        for k, number in enumerate((total, pairs, pairable, disagreeing, kinds)):
            counts[5 * group + k] = number
    return 0


@kernel("i8 int int int f8 f8")
def crossing_probability(ends, runs_a, runs_b, distance, row, probability):
    """The chance that two empirical distribution functions come at least distance / (runs_a runs_b) apart.

    A path of runs_a steps up and runs_b to the right, all equally likely, stands for the order of the scores;
    row[b] is the chance to be at (a, b) without having been too far from the diagonal. Scores that are tied are no
    steps of their own: ends[k] says whether the kth smallest score is the last of its value. All that is added is
    positive, so that small chances are as exact as large ones.
    """
    probability[0] = 0.0
    row[:] = 0.0
    row[0] = 1.0
    for a in range(runs_a + 1):
        for b in range(runs_b + 1):
            if a + b > 0:
                left = runs_a + runs_b - a - b + 1
                here = row[b] * (runs_a - a + 1) if a > 0 else 0.0
                if b > 0:
                    here += row[b - 1] * (runs_b - b + 1)
                here /= left
                if ends[a + b - 1] and abs(a * runs_b - b * runs_a) >= distance:
                    probability[0] += here
                    here = 0.0
                row[b] = here
    return 0


@helper
def twins_before(x, y, first, second, i):
    """How many earlier items equal item i in both rankings."""
    count = 0
    for j in range(i):
        count += np.int64(x[first + j] == x[first + i]) & np.int64(y[second + j] == y[second + i])
    return count


@kernel("f8 f8 int int int f8 f8")
def tau_sums(x, y, rows, size, step, weights, sums):
    """Fill six sums a row: those of Kendall's tau weighted by the rank in x, then those weighted by the rank in y.

    Each three are the sums over pairs of (weight of one + weight of the other) times: 1 if both rankings order the
    pair alike, -1 if not; 1 if x orders it; 1 if y orders it. Row b of x stands against row b of y, or with `step` 0
    against the only one. `weights` has the weight of every rank, the greatest value first; ranks in x are broken by
    y, and the other way round. A sum over pairs of (u + v) is a sum over items of u times what the item has with all
    others, so the inner loop only counts.
    """
    for row in range(rows):
        first = row * size
        second = row * step
        sums[6 * row : 6 * row + 6] = 0.0
        for i in range(size):
            xi = x[first + i]
            yi = y[second + i]
            alike, by_x, by_y = np.int64(0), np.int64(0), np.int64(0)
            ahead_x, ahead_y, twins = np.int64(0), np.int64(0), np.int64(0)
            for j in range(size):
                more_x = np.int64(x[first + j] > xi)
                less_x = np.int64(x[first + j] < xi)
                more_y = np.int64(y[second + j] > yi)
                less_y = np.int64(y[second + j] < yi)
                differ_x = more_x | less_x
                differ_y = more_y | less_y
                alike += (more_x - less_x) * (more_y - less_y)
                by_x += differ_x
                by_y += differ_y
                ahead_x += more_x + (more_y & (1 - differ_x))
                ahead_y += more_y + (more_x & (1 - differ_y))
                twins += 1 - (differ_x | differ_y)
            if twins > 1:
                before = twins_before(x, y, first, second, i)
                ahead_x += before
                ahead_y += before
            for k, number in enumerate((alike, by_x, by_y)):
                sums[6 * row + k] += weights[ahead_x] * number
                sums[6 * row + 3 + k] += weights[ahead_y] * number
    return 0


@kernel("i8 int i8 f8 f8")
def signed_rank_tails(ranks, size, limits, workspace, counts):
    """Fill, for each row of `size` ranks, the number of subsets of them whose sum is at most the row's limit.

    Ranks are doubled, so that averages are whole numbers too, and increase within a row; a rank of 0 is no rank.
    `workspace` is longer than the greatest limit. Counts are floats: exact below 2^53, and to all digits above.
    """
    for row in range(len(limits)):
        limit = limits[row]
        workspace[: limit + 1] = 0.0
        workspace[0] = 1.0
        reach = 0
        for k in range(row * size, (row + 1) * size):
            rank = ranks[k]
            if rank == 0:
                continue
            reach = min(limit, reach + rank)
            for total in range(reach, rank - 1, -1):
                workspace[total] += workspace[total - rank]
        counts[row] = 0.0
        for total in range(limit + 1):
            counts[row] += workspace[total]
    return 0


@kernel("f8 i8 i8 i8 f8 f8")
def pair_mass(weights, order, below, reached, upto, mass):
    """Fill `mass`, one a row of weights, with the share of pairs whose sum lies below a bound, and half of those on it.

    `order` sorts the differences; the ith smallest is below the bound together with the below[i] smallest, and below
    or on it with the reached[i] smallest. `upto` is workspace for one number more than there are differences.
    """
    size = order.size
    for row in range(mass.size):
        base = row * size
        running = 0.0
        upto[0] = 0.0
        for i in range(size):
            running += weights[base + order[i]]
            upto[i + 1] = running
        total = 0.0
        for i in range(size):
            total += weights[base + order[i]] * (upto[below[i]] + upto[reached[i]])
        mass[row] = total / (2.0 * running * running)
    return 0


CHANCES = np.uint64(1023)  # a factor is considered where ten random bits are below `tries`


@helper
def line_up(codes, scores, weights, rows, begin, end, column, first, levels, by_number, counts, sums, line):
    """Fill the weight and the weighted sum of scores of each level of a factor in rows begin..end.

    Levels with any weight go into `line`, by number or by mean score; how many there are.
    """
    counts[first : first + levels] = 0.0
    sums[first : first + levels] = 0.0
    for position in range(begin, end):
        row = rows[position]
        level = first + codes[column + row]
        counts[level] += weights[row]
        sums[level] += weights[row] * scores[row]
    present = 0
    for level in range(first, first + levels):
        if counts[level] > 0.0:
            position = present
            if by_number == 0:
                mean = sums[level] / counts[level]
                while position > 0 and sums[line[position - 1]] > mean * counts[line[position - 1]]:
                    line[position] = line[position - 1]
                    position -= 1
            line[position] = level
            present += 1
    return present


@kernel("i4 f8 f8 i8 i8 u1 int int u8 f8 f8 i8 u1 i8 u1 f8 f8")
def grow_tree(
    codes, scores, weights, rows, starts, ordered, least, tries, key, counts, sums, line, side, stack, inside, values,
    fitted,
):  # fmt: skip
    """Grow a tree that splits rows by levels until no split lowers the squared error; how many leaves it has.

    `codes` has the level of every row, factor after factor; `starts` says where each factor's levels begin in a line
    of all levels, and `ordered` whether they are numbers, which are split at a bound; others are split in the order
    of their means, which is optimal (Breiman 1984). Scores are centred; `weights` say how often a row was
    drawn, and rows of weight 0 are sent along. A leaf has weight `least` or more. Leaf k covers the combinations of
    the levels marked in row k of `inside`; `fitted` has the value of the leaf of every row. The other arrays are
    workspace.
    """
    size = len(rows)
    factors = len(starts) - 1
    width = starts[factors]
    scatter = 0.0
    for row in range(size):
        scatter += weights[row] * scores[row] * scores[row]
    inside[:width] = 1
    stack[0], stack[1], stack[2] = 0, size, 0
    depth = 1
    leaves = 1
    state = key[0]
    while depth > 0:
        depth -= 1
        begin, end, leaf = stack[3 * depth], stack[3 * depth + 1], stack[3 * depth + 2]
        weight = 0.0
        total = 0.0
        for position in range(begin, end):
            weight += weights[rows[position]]
            total += weights[rows[position]] * scores[rows[position]]
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
                present = line_up(codes, scores, weights, rows, begin, end, factor * size, first, levels,
                                  ordered[factor], counts, sums, line)  # fmt: skip
                left_weight = 0.0
                left_total = 0.0
                for position in range(present - 1):
                    left_weight += counts[line[position]]
                    left_total += sums[line[position]]
                    right_weight = weight - left_weight
                    right_total = total - left_total
                    if left_weight < least or right_weight < least:
                        continue
                    gain = left_total * left_total / left_weight + right_total * right_total / right_weight
                    if gain > best:
                        best = gain
                        chosen = factor
                        cut = position
        if chosen < 0:
            values[leaf] = total / weight
            for position in range(begin, end):
                fitted[rows[position]] = values[leaf]
            continue
        first = starts[chosen]
        levels = starts[chosen + 1] - first
        column = chosen * size
        present = line_up(codes, scores, weights, rows, begin, end, column, first, levels, ordered[chosen], counts,
                          sums, line)  # fmt: skip
        left_weight = 0.0
        for position in range(cut + 1):
            left_weight += counts[line[position]]
        heavier = np.int64(2.0 * left_weight >= weight)
        for level in range(levels):  # levels without a row here go to the heavier side, or where their number belongs
            side[level] = np.int64(first + level <= line[cut]) if ordered[chosen] else heavier
        for position in range(present):
            side[line[position] - first] = np.int64(position <= cut)
        other = leaves
        leaves += 1
        for level in range(width):
            inside[other * width + level] = inside[leaf * width + level]
        for level in range(levels):
            inside[(other if side[level] else leaf) * width + first + level] = 0
        middle = begin
        for position in range(begin, end):
            row = rows[position]
            if side[codes[column + row]]:
                rows[position] = rows[middle]
                rows[middle] = row
                middle += 1
        stack[3 * depth], stack[3 * depth + 1], stack[3 * depth + 2] = begin, middle, leaf
        stack[3 * depth + 3], stack[3 * depth + 4], stack[3 * depth + 5] = middle, end, other
        depth += 2
    return leaves
