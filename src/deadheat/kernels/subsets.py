"""Rankings of systems over random subsets of data sets, in one pass that keeps no subset.

Sample b depends on (key, b) alone, so that more samples keep the old ones, block sizes change nothing, and any sample
can be drawn again from its number.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel
from deadheat.kernels.resampling import GOLDEN, HALF, scramble

STRATIFIED, ONE_PER_GROUP, EVERY_SUBSET = 0, 1, 2  # kinds of design; a single stratum is plain sampling
BLOCK = 256  # samples ranked at a time: their sums and ranks stay in the nearest cache


@helper
def below(state, bound):
    """A whole number from 0 to bound - 1; the chance of each is off by less than bound / 2^32 of itself."""
    return np.int64(((scramble(state) >> HALF) * np.uint64(bound)) >> HALF)


@helper
def take(state, pool, start, end, count, touched, chosen, filled):
    """Choose `count` of pool[start:end] by the first steps of a shuffle, which are undone afterwards."""
    for step in range(count):
        state += GOLDEN
        at = start + step + below(state, end - start - step)
        touched[step] = at
        picked = pool[at]
        pool[at] = pool[start + step]
        pool[start + step] = picked
        chosen[filled + step] = picked
    for step in range(count - 1, -1, -1):
        at = touched[step]
        picked = pool[at]
        pool[at] = pool[start + step]
        pool[start + step] = picked
    return state


@helper
def draw_subset(key, number, kind, size, starts, pool, groups, binomials, touched, chosen):
    """Fill `chosen` with the data sets of one sample.

    The data sets of group g are pool[starts[g]:starts[g + 1]]. Stratified: a group of n of all N data sets gives
    size * n / N of them, rounded up or down by one common random offset, so that every data set is as likely as any
    other; groups are shuffled, so that which of them are rounded up together is chance too. One per group: `size`
    groups, and one data set of each. Every subset: number n counts through all subsets in colexicographic order, with
    binomials[j * N + n] = C(n, j + 1), cut off at the greatest integer.
    """
    total = len(pool)
    state = scramble(key[0] + GOLDEN * np.uint64(number + 1))
    if kind == STRATIFIED:
        if len(starts) == 2:
            take(state, pool, 0, total, size, touched, chosen, 0)
            return 0
        state += GOLDEN
        offset = below(state, total)
        for group in range(len(groups)):
            state += GOLDEN
            at = below(state, group + 1)
            groups[group] = groups[at]
            groups[at] = group
        filled = np.int64(0)
        passed = np.int64(0)
        for position in range(len(groups)):
            start, end = starts[groups[position]], starts[groups[position] + 1]
            passed += end - start
            until = (size * passed + offset) // total
            state = take(state, pool, start, end, until - filled, touched, chosen, filled)
            filled = until
    elif kind == ONE_PER_GROUP:
        state = take(state, groups, 0, len(groups), size, touched, chosen, 0)
        for position in range(size):
            group = chosen[position]
            state += GOLDEN
            chosen[position] = pool[starts[group] + below(state, starts[group + 1] - starts[group])]
    else:
        rest = np.int64(number)
        highest = total
        for position in range(size - 1, -1, -1):
            highest -= 1
            while binomials[position * total + highest] > rest:
                highest -= 1
            chosen[position] = pool[highest]
            rest -= binomials[position * total + highest]
    return 0


@helper
def add_scores(scores, systems, size, chosen, row):
    """Fill `row` with the summed scores of every system on the chosen data sets."""
    row[:systems] = 0
    for position in range(size):
        base = chosen[position] * systems
        for system in range(systems):
            row[system] += scores[base + system]


@helper
def compare_block(sums, ranks, signs, wins, agreed, ordered, systems, start, rows):
    """Ranks of all systems in a block of samples, who beats whom, and agreement with the ranking on all data sets.

    Places are unsigned numbers: a signed one might be negative for all the compiler knows, and loops over such places
    are not done eight samples at a time.
    """
    size, offset = np.uint64(rows), np.uint64(start)
    ranks[: systems * BLOCK] = 0
    agreed[start : start + rows] = 0
    ordered[start : start + rows] = 0
    for first in range(systems):
        one = np.uint64(first * BLOCK)
        for second in range(first + 1, systems):
            two = np.uint64(second * BLOCK)
            sign = np.int32(signs[first * systems + second])
            first_wins = np.int32(0)
            second_wins = np.int32(0)
            for row in range(size):
                more = np.int32(sums[one + row] > sums[two + row])
                less = np.int32(sums[one + row] < sums[two + row])
                ranks[two + row] += more
                ranks[one + row] += less
                first_wins = np.int32(first_wins + more)
                second_wins = np.int32(second_wins + less)
                agreed[offset + row] += sign * (more - less)
                ordered[offset + row] += more + less
            wins[first * systems + second] += first_wins
            wins[second * systems + first] += second_wins


@helper
def count_block(ranks, first, counts, earliest, systems, rows):
    """Add the ranks of a block to the histogram, and note the first sample that gave each rank."""
    for system in range(systems):
        for row in range(rows):
            cell = system * systems + ranks[system * BLOCK + row]
            if counts[cell] == 0:
                earliest[cell] = first + row
            counts[cell] += 1


@kernel("u8 int int int int i8 i8 i8 i8 i8 i8 i4 i4 i4 i4 i4 i8 i8 i8 i4 i4")
def rank_samples(
    key, first, kind, size, systems, starts, pool, groups, binomials, touched, chosen,
    scores, row_sums, sums, ranks, signs, counts, earliest, wins, agreed, ordered,
):  # fmt: skip
    """Rank the systems in samples first, first + 1, ..., as many as `agreed` has elements.

    `scores` has a row per data set; more is better, and equal sums share the better rank. Added to: counts[s, r], how
    often system s had rank r (from 0), and wins[s, t], how often s was ahead of t. Set: earliest[s, r], the first such
    sample; for each sample `ordered`, the pairs that are not tied, and `agreed`, the sum over pairs of the product of
    their order (1 or -1) and `signs`, their order on all data sets.
    """
    samples = len(agreed)
    done = 0
    while done < samples:
        rows = min(BLOCK, samples - done)
        for row in range(rows):
            draw_subset(key, first + done + row, kind, size, starts, pool, groups, binomials, touched, chosen)
            add_scores(scores, systems, size, chosen, row_sums)
            for system in range(systems):
                sums[system * BLOCK + row] = row_sums[system]
        compare_block(sums, ranks, signs, wins, agreed, ordered, systems, done, rows)
        count_block(ranks, first + done, counts, earliest, systems, rows)
        done += rows
    return done


# The same with sums of 64 bits, for scores of many digits.
rank_samples_wide = kernel("u8 int int int int i8 i8 i8 i8 i8 i8 i8 i8 i8 i4 i4 i8 i8 i8 i4 i4")(rank_samples.python)


@kernel("u8 i8 int int i8 i8 i8 i8 i8 i8 i8")
def draw_samples(key, numbers, kind, size, starts, pool, groups, binomials, touched, chosen, drawn):
    """Fill `drawn`, a row of `size` a sample, with the data sets of the samples of these numbers, in growing order."""
    for row in range(len(numbers)):
        draw_subset(key, numbers[row], kind, size, starts, pool, groups, binomials, touched, chosen)
        base = row * size
        for position in range(size):
            at = base + position
            while at > base and drawn[at - 1] > chosen[position]:
                drawn[at] = drawn[at - 1]
                at -= 1
            drawn[at] = chosen[position]
    return 0


@kernel("u8 int int int int i8 i8 i8 i8 i8 i8 i8 i8 int int i8 i8")
def find_samples(
    key, first, samples, kind, size, starts, pool, groups, binomials, touched, chosen,
    scores, row_sums, system, rank, ordinals, numbers,
):  # fmt: skip
    """Fill `numbers` with samples that give a system this rank (from 0); returns how many.

    Of such samples from `first` on, counted from 0, they are those that `ordinals` lists, in growing order.
    """
    systems = len(row_sums)
    hits = 0
    filled = 0
    for number in range(first, first + samples):
        if filled == len(ordinals):
            break
        draw_subset(key, number, kind, size, starts, pool, groups, binomials, touched, chosen)
        add_scores(scores, systems, size, chosen, row_sums)
        ahead = 0
        for other in range(systems):
            ahead += np.int64(row_sums[other] > row_sums[system])
        if ahead == rank:
            if hits == ordinals[filled]:
                numbers[filled] = number
                filled += 1
            hits += 1
    return filled


@helper
def add_up(workspace, row, first, last, clear):
    """Sum of workspace[row + first .. row + last], which become 0 if asked to."""
    total = 0.0
    for at in range(np.uint64(row + first), np.uint64(max(row + last + 1, row + first))):
        total += workspace[at]
        if clear:
            workspace[at] = 0.0
    return total


@kernel("i8 int int i8 i8 i8 i8 f8 f8 f8")
def count_signs(values, size, start, least, most, reached_least, reached_most, completions, workspace, totals):
    """Fill `totals` with how many subsets of `size` values have, with `start`, a sum above 0, of 0, and below 0.

    `least` and `most` hold, at t * (size + 1) + m, the least and the greatest sum of m of the values from t on, and
    `completions` how many ways there are to choose them; `reached_least` and `reached_most` the same sums of m of the
    values before t, with `start`. A partial sum whose sign is already certain is counted with all its completions at
    once and leaves the table; with the values of greatest size first, few stay. `workspace` has a row of sums for each
    number of values chosen, with 0 in the middle.
    """
    count, step = len(values), size + 1
    width = len(workspace) // step
    middle = width // 2
    workspace[:] = 0.0
    totals[:] = 0.0
    if start + least[size] > 0 or start + most[size] < 0:
        totals[0 if start + least[size] > 0 else 2] = completions[size]
        return 0
    workspace[middle + start] = 1.0
    for t in range(count):
        value = values[t]
        for chosen in range(size - 1, -1, -1):
            left = size - chosen  # still to choose, before value t is taken or left
            if count - t < left or chosen > t:
                continue
            row = chosen * width + middle
            low = max(-most[t * step + left], reached_least[t * step + chosen])
            high = min(-least[t * step + left], reached_most[t * step + chosen])
            # With value t: sums outside these two have a certain sign.
            after = (t + 1) * step + left - 1
            from_, until = -most[after] - value, -least[after] - value
            totals[0] += completions[after] * add_up(workspace, row, max(low, until + 1), high, False)
            totals[2] += completions[after] * add_up(workspace, row, low, min(high, from_ - 1), False)
            from_, until = max(low, from_), min(high, until)
            if left == 1:
                totals[1] += add_up(workspace, row, from_, until, False)
            elif until >= from_:
                source, target = np.uint64(row + from_), np.uint64(row + width + value + from_)
                for at in range(np.uint64(until - from_ + 1)):
                    workspace[target + at] += workspace[source + at]
            # Without it.
            after = (t + 1) * step + left
            if count - t - 1 < left:
                add_up(workspace, row, low, high, True)
                continue
            totals[0] += completions[after] * add_up(workspace, row, max(low, -least[after] + 1), high, True)
            totals[2] += completions[after] * add_up(workspace, row, low, min(high, -most[after] - 1), True)
    return 0
