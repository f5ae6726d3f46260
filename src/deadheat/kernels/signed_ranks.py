"""The exact null distribution of Wilcoxon's signed-rank statistic, with or without ties."""

from __future__ import annotations

from deadheat.kernels.native import kernel


@kernel("i8 int i8 f8 f8")
def signed_rank_tails(ranks, size, limits, room, counts):
    """Fill, for each row of `size` ranks, the number of subsets of them whose sum is at most the row's limit.

    Ranks are doubled, so that averages are whole numbers too, and increase within a row; a rank of 0 is no rank.
    `room` is longer than the greatest limit. Counts are floats: exact below 2^53, and to all digits above.
    """
    for row in range(len(limits)):
        limit = limits[row]
        for total in range(limit + 1):
            room[total] = 0.0
        room[0] = 1.0
        reach = 0
        for k in range(row * size, (row + 1) * size):
            rank = ranks[k]
            if rank == 0:
                continue
            reach = min(limit, reach + rank)
            for total in range(reach, rank - 1, -1):
                room[total] += room[total - rank]
        counts[row] = 0.0
        for total in range(limit + 1):
            counts[row] += room[total]
    return 0
