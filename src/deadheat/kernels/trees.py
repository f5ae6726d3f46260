r"""Properties of dependency trees (projectivity, crossing arcs, planes), and trees from bracket labels.

In a label, `<` says that the word before is a dependent of a later one, which has `\` for it; `/` that the word before
has a dependent further on, which has `>`.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel

# The arrays that `non_projective` needs for one sentence, each as long as the longest one and one more.
PROJECTIVITY_ARRAYS = 6


@helper
def link_children(heads, first, size, child, sibling):
    """Chain the dependents of every word, and of 0, the root: the first one first."""
    child[: size + 1] = 0
    for word in range(size, 0, -1):
        head = heads[first + word - 1]
        sibling[word] = 0
        if head >= 0 and head <= size:
            sibling[word] = child[head]
            child[head] = word
    return 0


@helper
def number_descendants(heads, first, size, child, sibling, enter, leave):
    """Number the words so that the descendants of a word, and itself, are those from `enter` to `leave`.

    Words that no path from the root reaches keep 0, and are nobody's descendants.
    """
    enter[: size + 1] = 0
    leave[: size + 1] = -1
    time = np.int64(1)
    at = np.int64(0)
    enter[0] = time
    while True:
        if child[at] != 0:
            at = np.int64(child[at])
            time += 1
            enter[at] = time
            continue
        leave[at] = time
        while at != 0 and sibling[at] == 0:
            at = np.int64(heads[first + at - 1])
            leave[at] = time
        if at == 0:
            return 0
        at = np.int64(sibling[at])
        time += 1
        enter[at] = time


@helper
def reach(size, step, enter, leave, limits):
    """For every word the first one beyond it, in one direction, that is not its descendant.

    What a descendant reaches, its ancestor reaches too, so stretches are jumped over: linear time in all.
    """
    word = np.int64(size if step > 0 else 1)
    for _ in range(size):
        other = word + step
        while other >= 1 and other <= size and enter[other] >= enter[word] and enter[other] <= leave[word]:
            other = np.int64(limits[other])
        limits[word] = other
        word -= step
    return 0


@kernel("i4 i8 i4 i4")
def non_projective(heads, offsets, workspace, arcs):
    """Count, for each sentence, the arcs over a word that is not a descendant of the arc's head.

    Arcs from the root are projective, for all words descend from it. `workspace` is PROJECTIVITY_ARRAYS arrays, each as
    long as the longest sentence and one more.
    """
    size = len(workspace) // PROJECTIVITY_ARRAYS
    child = workspace[:size]
    sibling = workspace[size : 2 * size]
    enter = workspace[2 * size : 3 * size]
    leave = workspace[3 * size : 4 * size]
    left = workspace[4 * size : 5 * size]
    right = workspace[5 * size : 6 * size]
    total = np.int64(0)
    for sentence in range(len(arcs)):
        first = offsets[sentence]
        words = offsets[sentence + 1] - first
        link_children(heads, first, words, child, sibling)
        number_descendants(heads, first, words, child, sibling, enter, leave)
        reach(words, 1, enter, leave, right)
        reach(words, -1, enter, leave, left)
        count = np.int64(0)
        for word in range(1, words + 1):
            head = heads[first + word - 1]
            if head > 0 and head <= words:
                count += right[head] < word if word > head else left[head] > word
        arcs[sentence] = count
        total += count
    return total


CROSSING_ARRAYS = 5
NO_PLANE, DROPPED = 0, 3  # the arc from the root; an arc that fits into neither plane


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
    """Put arcs that cannot all fit, in the order of the list, into the first plane in which each crosses no other."""
    for k in range(size):
        planes[queue[k]] = -1
    for one in range(count):
        if planes[one] == -1:
            first_is_taken = second_is_taken = False
            for other in range(one):
                if cross(lefts, rights, one, other):
                    first_is_taken |= planes[other] == 1
                    second_is_taken |= planes[other] == 2
            planes[one] = 1 if not first_is_taken else 2 if not second_is_taken else DROPPED


@kernel("i4 i8 i4 u1")
def assign_planes(heads, offsets, workspace, planes):
    """Fill the plane of every word's arc: 1, 2, NO_PLANE for roots, DROPPED; how many arcs were dropped.

    A connected component of crossing arcs has one assignment, if any; its first arc, by right end and then length,
    goes to plane 1. If there is none, each arc takes the first free plane. `workspace` is CROSSING_ARRAYS arrays as
    long as the longest sentence.
    """
    size = len(workspace) // CROSSING_ARRAYS
    dependents = workspace[:size]
    lefts = workspace[size : 2 * size]
    rights = workspace[2 * size : 3 * size]
    plane_of_arc = workspace[3 * size : 4 * size]
    queue = workspace[4 * size : 5 * size]
    dropped = np.int64(0)
    for sentence in range(len(offsets) - 1):
        first = offsets[sentence]
        words = offsets[sentence + 1] - first
        count = list_arcs(heads, first, words, dependents, lefts, rights)
        plane_of_arc[:count] = NO_PLANE
        for arc in range(count):
            if plane_of_arc[arc] == NO_PLANE:
                component = colour(count, lefts, rights, arc, plane_of_arc, queue)
                if component < 0:
                    place_greedily(count, lefts, rights, plane_of_arc, queue, -component)
        planes[first : first + words] = NO_PLANE
        for arc in range(count):
            planes[first + dependents[arc] - 1] = plane_of_arc[arc]
            dropped += plane_of_arc[arc] == DROPPED
    return dropped


LEFTWARD, HEAD_OF_RIGHT, HEAD_OF_LEFT, RIGHTWARD = ord("<"), ord("/"), ord("\\"), ord(">")
HEADLESS = -1


@helper
def read_label(code, blob, bounds, word, first, waiting, heading, sizes, plane, heads):
    """Follow the brackets of one label; `waiting` has words that wait for a head, `heading` for a dependent."""
    waits = np.int64(sizes[2 * plane])
    leads = np.int64(sizes[2 * plane + 1])
    for at in range(bounds[code], bounds[code + 1]):
        bracket = blob[at]
        if bracket == LEFTWARD and word > 1:
            waiting[waits] = word - 1
            waits += 1
        elif bracket == HEAD_OF_RIGHT and word > 1:
            heading[leads] = word - 1
            leads += 1
        elif bracket == HEAD_OF_LEFT and waits > 0:
            waits -= 1
            heads[first + waiting[waits] - 1] = word
        elif bracket == RIGHTWARD and leads > 0:
            leads -= 1
            heads[first + word - 1] = heading[leads]
    sizes[2 * plane] = waits
    sizes[2 * plane + 1] = leads


@helper
def settle_roots(roots, first, words, heads):
    """Make one word the root, and hang other roots and headless words from it; the root."""
    root = np.int64(0)
    for word in range(1, words + 1):
        if roots[first + word - 1]:
            heads[first + word - 1] = 0
            if root == 0:
                root = np.int64(word)
    root = max(root, np.int64(1))
    for word in range(1, words + 1):
        if heads[first + word - 1] <= 0:
            heads[first + word - 1] = root
    heads[first + root - 1] = 0
    return root


@helper
def word_on_cycle(heads, first, word, seen):
    """Follow the heads from a word, and mark the words passed by its number; a word on a new cycle, or 0."""
    at = np.int64(word)
    while at != 0 and seen[at] == 0:
        seen[at] = word
        at = np.int64(heads[first + at - 1])
    return at if at != 0 and seen[at] == word else np.int64(0)


@helper
def break_cycles(first, words, root, seen, heads):
    """Hang from the root, of each cycle, the word at which a walk from its lowest word, or one below, comes to it."""
    seen[1 : words + 1] = 0
    for word in range(1, words + 1):
        at = word_on_cycle(heads, first, word, seen)
        if at != 0:
            heads[first + at - 1] = root


@kernel("i4 u1 i8 i4 u1 i8 u1 i8 i4 i4 i4")
def read_brackets(
    codes, blob, bounds, other_codes, other_blob, other_bounds, roots, offsets, stacks, seen, heads
):  # fmt: skip
    """Fill the heads that the labels of two planes say, and mend what is no tree.

    `roots` marks words whose relation is that of a root. A plane's strings lie in a blob between bounds, by code.
    `stacks` is four stacks, each as long as the longest sentence times the longest label and not empty.
    """
    size = len(stacks) // 4
    sizes = seen[:4]
    for sentence in range(len(offsets) - 1):
        first = offsets[sentence]
        words = offsets[sentence + 1] - first
        sizes[:] = 0
        heads[first : first + words] = HEADLESS
        for word in range(1, words + 1):
            at = first + word - 1
            read_label(codes[at], blob, bounds, word, first, stacks[:size], stacks[size : 2 * size], sizes, 0, heads)
            read_label(other_codes[at], other_blob, other_bounds, word, first, stacks[2 * size : 3 * size],
                       stacks[3 * size :], sizes, 1, heads)  # fmt: skip
        if words > 0:
            root = settle_roots(roots, first, words, heads)
            break_cycles(first, words, root, seen, heads)
    return 0
