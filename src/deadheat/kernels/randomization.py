"""Random swaps of two systems' counts, eight units at a time.

Units come in groups of eight. For every group a table holds, for each of the 256 ways to choose units of it, the
sum of their differences; a random byte picks the entry. A resample of 2,000 units is then 250 look-ups.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import kernel
from deadheat.kernels.resampling import GOLDEN, scramble


@kernel("i8 int int i8")
def tabulate(differences, units, fields, tables):
    """Fill the tables: entry (group, choice, field) is the sum over the units of a group that a byte chooses."""
    groups = (units + 7) // 8
    for group in range(groups):
        base = group * 256 * fields
        for field in range(fields):
            tables[base + field] = 0
        for choice in range(1, 256):
            bit = 0
            while not (choice >> bit) & 1:
                bit += 1
            unit = group * 8 + bit
            rest = base + (choice & (choice - 1)) * fields
            for field in range(fields):
                value = differences[unit * fields + field] if unit < units else 0
                tables[base + choice * fields + field] = tables[rest + field] + value
    return groups


@kernel("u8 int int int int i8 i8")
def swap_sums(key, first, resamples, groups, fields, tables, sums):
    """Fill one row a resample, first.. onwards, with the summed differences of the units that are swapped in it."""
    for row in range(resamples):
        state = scramble(key[0] + GOLDEN * np.uint64(first + row + 1))
        base = row * fields
        for field in range(fields):
            sums[base + field] = 0
        group = np.int64(0)
        while group < groups:
            state += GOLDEN
            bits = scramble(state)
            last = min(group + 8, groups)
            while group < last:
                entry = (group * 256 + np.int64(bits & np.uint64(255))) * fields
                for field in range(fields):
                    sums[base + field] += tables[entry + field]
                bits >>= np.uint64(8)
                group += 1
    return 0
