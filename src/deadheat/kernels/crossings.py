"""Arcs between words that cross, and how to part them into two planes in which none do."""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel

ROOM_PER_WORD = 5
NO_PLANE, DROPPED = 0, 3  # the arc from the root; an arc that has room in neither plane


@helper
def cross(lefts, rights, one, other):
    """Whether two arcs cross: one end of each lies strictly inside the other."""
    a, b, c, d = lefts[one], rights[one], lefts[other], rights[other]
    return (a < c and c < b and b < d) or (c < a and a < d and d < b)


@helper
def list_arcs(heads, first, words, dependents, lefts, rights):
    """List the arcs between words by their right end, and then the shorter ones first; how many there are."""
    count = np.int64(0)
    for right in range(2, words + 1):
        for left in range(right - 1, 0, -1):
            if heads[first + right - 1] == left:
                dependents[count] = right
            elif heads[first + left - 1] == right:
                dependents[count] = left
            else:
                continue
            lefts[count] = left
            rights[count] = right
            count += 1
    return count


@helper
def colour(count, lefts, rights, start, planes, queue):
    """Give two planes by turns to all arcs that hang together with one by crossings.

    How many there are, with a minus sign if two that cross would need the same plane; `queue` has them all.
    """
    planes[start] = 1
    queue[0] = start
    size = np.int64(1)
    done = np.int64(0)
    fits = 1
    while done < size:
        one = np.int64(queue[done])
        done += 1
        for other in range(count):
            if cross(lefts, rights, one, other):
                if planes[other] == NO_PLANE:
                    planes[other] = 3 - planes[one]
                    queue[size] = other
                    size += 1
                elif planes[other] == planes[one]:
                    fits = 0
    return size if fits else -size


@helper
def place_greedily(count, lefts, rights, planes, queue, size):
    """Put arcs that do not all fit into the first plane that still has room for them, in the order of the list."""
    for k in range(size):
        planes[queue[k]] = -1
    for one in range(count):
        if planes[one] == -1:
            first_is_free = 1
            second_is_free = 1
            for other in range(one):
                if cross(lefts, rights, one, other):
                    if planes[other] == 1:
                        first_is_free = 0
                    elif planes[other] == 2:
                        second_is_free = 0
            planes[one] = 1 if first_is_free else (2 if second_is_free else DROPPED)


@kernel("i4 i8 i4 u1")
def assign_planes(heads, offsets, room, planes):
    """Fill the plane of every word's arc: 1, 2, NO_PLANE for roots, DROPPED; how many arcs were dropped.

    Arcs that hang together by crossings can be parted in one way, if at all; the first of them, by right end and
    then length, goes to plane 1. If there is no way, each takes the first plane that is free. `room` is ROOM_PER_WORD
    arrays as long as the longest sentence.
    """
    size = len(room) // ROOM_PER_WORD
    dependents = room[:size]
    lefts = room[size : 2 * size]
    rights = room[2 * size : 3 * size]
    places = room[3 * size : 4 * size]
    queue = room[4 * size : 5 * size]
    dropped = np.int64(0)
    for sentence in range(len(offsets) - 1):
        first = offsets[sentence]
        words = offsets[sentence + 1] - first
        count = list_arcs(heads, first, words, dependents, lefts, rights)
        for arc in range(count):
            places[arc] = NO_PLANE
        for arc in range(count):
            if places[arc] == NO_PLANE:
                found = colour(count, lefts, rights, arc, places, queue)
                if found < 0:
                    place_greedily(count, lefts, rights, places, queue, -found)
        for word in range(words):
            planes[first + word] = NO_PLANE
        for arc in range(count):
            planes[first + dependents[arc] - 1] = places[arc]
            dropped += places[arc] == DROPPED
    return dropped


@kernel("i4 i8 i4 i4")
def count_crossing_arcs(heads, offsets, room, counts):
    """Fill, for each sentence, the number of arcs between words that cross another one; the total."""
    size = len(room) // ROOM_PER_WORD
    dependents = room[:size]
    lefts = room[size : 2 * size]
    rights = room[2 * size : 3 * size]
    total = np.int64(0)
    for sentence in range(len(counts)):
        first = offsets[sentence]
        words = offsets[sentence + 1] - first
        count = list_arcs(heads, first, words, dependents, lefts, rights)
        found = np.int64(0)
        for one in range(count):
            for other in range(count):
                if cross(lefts, rights, one, other):
                    found += 1
                    break
        counts[sentence] = found
        total += found
    return total
