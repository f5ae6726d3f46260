"""Find sentences that are much like another one."""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel


@helper
def shared_items(left, left_start, left_end, right, right_start, right_end):
    """How many items two ascending lists have in common."""
    shared = np.int64(0)
    i = left_start
    j = right_start
    while i < left_end and j < right_end:
        if left[i] < right[j]:
            i += 1
        elif left[i] > right[j]:
            j += 1
        else:
            shared += 1
            i += 1
            j += 1
    return shared


@helper
def prefix_length(size, percent):
    """Of two sets this much alike by Jaccard, the smallest so many items of either have one in common."""
    return size - (size * percent + 99) // 100 + 1


@kernel("i8 i8 i8 i8 int i8 i8 i8 i8")
def nearest_like(left, left_offsets, right, right_offsets, percent, first_of, next_of, seen, found):
    """For every set on the left one on the right whose Jaccard index is at least `percent` / 100, or -1.

    Items are numbered by how rare they are, rarest first, and ascend within a set. `first_of` has a place for every
    item and `next_of` for every item of the right: the right sets that have the item in their prefix, chained; `seen`
    a place for every right set. All three are room for the work.
    """
    for item in range(len(first_of)):
        first_of[item] = -1
    for b in range(len(right_offsets) - 1):
        seen[b] = -1
        start = right_offsets[b]
        for i in range(start, start + prefix_length(right_offsets[b + 1] - start, percent)):
            if i >= right_offsets[b + 1]:
                break
            next_of[i] = first_of[right[i]]
            first_of[right[i]] = i * len(seen) + b  # the place and the set in one number
    sets = np.int64(len(seen))
    for a in range(len(left_offsets) - 1):
        found[a] = -1
        start = left_offsets[a]
        end = left_offsets[a + 1]
        size = end - start
        for i in range(start, min(end, start + prefix_length(size, percent))):
            link = first_of[left[i]]
            while link >= 0 and found[a] < 0:
                b = link % sets
                link = next_of[link // sets]
                if seen[b] == a:
                    continue
                seen[b] = a
                other = right_offsets[b + 1] - right_offsets[b]
                if 100 * min(size, other) < percent * max(size, other):
                    continue
                shared = shared_items(left, start, end, right, right_offsets[b], right_offsets[b + 1])
                if 100 * shared >= percent * (size + other - shared):
                    found[a] = b
            if found[a] >= 0:
                break
    return 0
