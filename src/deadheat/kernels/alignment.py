"""Align the words of two tokenizations of one text, as the official Universal Dependencies evaluation does."""

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
