"""Align the words of two tokenizations, as the official UD evaluation does, and find near-duplicate sentences."""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel


@helper
def is_inside(i, starts, ends, multiword, end):
    """Whether word i belongs to a multiword span that reaches to `end`."""
    if i >= len(starts):
        return False
    return starts[i] < end if multiword[i] else ends[i] <= end


@helper
def align_span(g0, g1, s0, s1, gold_forms, system_forms, lcs, gold_out, system_out, aligned):
    """Align words g0..g1 with s0..s1 by the longest common subsequence of their forms; returns how many are aligned."""
    width = s1 - s0 + 1
    for g in range(g1 - g0, -1, -1):
        for s in range(s1 - s0, -1, -1):
            at = g * width + s
            if g == g1 - g0 or s == s1 - s0:
                lcs[at] = 0
                continue
            best = max(lcs[at + width], lcs[at + 1])
            if gold_forms[g0 + g] == system_forms[s0 + s]:
                best = max(best, lcs[at + width + 1] + 1)
            lcs[at] = best
    g, s = np.int64(0), np.int64(0)
    while g < g1 - g0 and s < s1 - s0:
        at = g * width + s
        if gold_forms[g0 + g] == system_forms[s0 + s]:
            gold_out[aligned] = g0 + g
            system_out[aligned] = s0 + s
            aligned += 1
            g += 1
            s += 1
        elif lcs[at] == lcs[at + width]:
            g += 1
        else:
            s += 1
    return aligned


@kernel("i8 i8 u1 i4 i8 i8 u1 i4 i4 i8 i8")
def align_words(g_starts, g_ends, g_multi, g_forms, s_starts, s_ends, s_multi, s_forms, lcs, gold_out, system_out):
    """Fill the pairs of aligned words and return how many there are.

    Starts and ends are places in the common text, forms are numbers equal for equal lower-cased forms. If `lcs`
    is too small for a span of multiword tokens, returns minus the size it needs.
    """
    aligned, g, s = np.int64(0), np.int64(0), np.int64(0)
    while g < len(g_starts) and s < len(s_starts):
        if not g_multi[g] and not s_multi[s]:
            if g_starts[g] == s_starts[s] and g_ends[g] == s_ends[s]:
                gold_out[aligned] = g
                system_out[aligned] = s
                aligned += 1
                g += 1
                s += 1
            elif g_starts[g] <= s_starts[s]:
                g += 1
            else:
                s += 1
            continue
        # A multiword span: it grows to the right as long as words of either side begin inside it.
        if g_multi[g]:
            end = g_ends[g]
            s += not s_multi[s] and s_starts[s] < g_starts[g]
        else:
            end = s_ends[s]
            g += not g_multi[g] and g_starts[g] < s_starts[s]
        g0, s0 = g, s
        while is_inside(g, g_starts, g_ends, g_multi, end) or is_inside(s, s_starts, s_ends, s_multi, end):
            if g < len(g_starts) and (s >= len(s_starts) or g_starts[g] <= s_starts[s]):
                if g_multi[g]:
                    end = max(end, g_ends[g])
                g += 1
            else:
                if s_multi[s]:
                    end = max(end, s_ends[s])
                s += 1
        needed = (g - g0 + 1) * (s - s0 + 1)
        if needed > len(lcs):
            return -needed
        aligned = align_span(g0, g, s0, s, g_forms, s_forms, lcs, gold_out, system_out, aligned)
    return aligned


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
def nearest_like(left, left_offsets, right, right_offsets, percent, first_of, next_of, seen, nearest):
    """For every set on the left one on the right whose Jaccard index is at least `percent` / 100, or -1.

    Items are numbered by how rare they are, rarest first, and ascend within a set. `first_of` has a place for every
    item and `next_of` for every item of the right: the right sets that have the item in their prefix, chained; `seen`
    a place for every right set. All three are workspace.
    """
    first_of[:] = -1
    seen[:] = -1
    for b in range(len(right_offsets) - 1):
        start = right_offsets[b]
        for i in range(start, start + prefix_length(right_offsets[b + 1] - start, percent)):
            if i >= right_offsets[b + 1]:
                break
            next_of[i] = first_of[right[i]]
            first_of[right[i]] = i * len(seen) + b  # the place and the set in one number
    sets = np.int64(len(seen))
    nearest[:] = -1
    for a in range(len(left_offsets) - 1):
        start = left_offsets[a]
        end = left_offsets[a + 1]
        size = end - start
        for i in range(start, min(end, start + prefix_length(size, percent))):
            link = first_of[left[i]]
            while link >= 0 and nearest[a] < 0:
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
                    nearest[a] = b
            if nearest[a] >= 0:
                break
    return 0
