"""The loops of a trigram tagger: suffixes of words, and the best sequence of states.

States are numbers below `boundary`, which stands for what is before the first word and after the last one: as a
context it is the former, as an outcome the latter. A trigram of states is one number, in base `boundary + 1`.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel

MIX = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)
NOTHING = -1
CONTINUATION, CONTINUATION_END = 0x80, 0xC0  # bytes of a character of UTF-8 but its first
CHARACTERS = 1 << 26


@helper
def find_slot(key, keys, mask):
    """Where a number stands in a hash table, or the free place where it would stand."""
    slot = np.int64((np.uint64(key) * MIX) >> HALF) & mask
    while keys[slot] != key and keys[slot] != NOTHING:
        slot = (slot + 1) & mask
    return slot


@kernel("i8 i8 i8")
def file_keys(numbers, keys, slots):
    """Put numbers into a hash table that is filled with -1, and tell where each is."""
    mask = len(keys) - 1
    for i in range(len(numbers)):
        slot = find_slot(numbers[i], keys, mask)
        keys[slot] = numbers[i]
        slots[i] = slot
    return 0


@helper
def count_in_chain(owner, item, count, firsts, links, counts, following, size):
    """Add to the count of an item in the chain of an owner; the number of links, which may have grown by one."""
    link = firsts[owner]
    while link != NOTHING:
        if links[link] == item:
            counts[link] += count
            return size
        link = following[link]
    links[size] = item
    counts[size] = count
    following[size] = firsts[owner]
    firsts[owner] = size
    return size + 1


@helper
def last_character(blob, start, end):
    """Where the last character of some text begins."""
    end -= 1
    while end > start and CONTINUATION <= blob[end] and blob[end] < CONTINUATION_END:
        end -= 1
    return end


@helper
def child_key(node, blob, start, end):
    """A node and a character as one number; a character of more bytes is packed into a greater number, below 2**26."""
    packed = np.int64(blob[start])
    for i in range(start + 1, end):
        packed = packed * 64 + (blob[i] & 63)
    return np.int64(node) * CHARACTERS + packed


@kernel("u1 i8 i8 u1 i8 i4 i4 int i8 i4 i8 i4 i4 i4 i4")
def grow_suffixes(blob, offsets, chosen, capital, starts, labels, counts, longest, keys, nodes, totals, firsts,
                  links, link_counts, following):  # fmt: skip
    """Count the labels of the suffixes of chosen forms, from one to `longest` characters; how many nodes there are.

    Suffixes are nodes of two trees that are read from the end of a word: node 0 is the root of words with a small
    first letter, node 1 that of the others. The child of a node is found by `keys` and `nodes`, a hash table filled
    with -1 and a power of two long. The labels of a node are a chain of links, the first of which is in `firsts`,
    filled with -1. `totals` is filled with 0.
    """
    mask = len(keys) - 1
    size = np.int64(2)
    used = np.int64(0)
    for position in range(len(chosen)):
        form = chosen[position]
        node = np.int64(capital[form])
        end = offsets[form + 1]
        for _ in range(longest):
            if end <= offsets[form]:
                break
            begin = last_character(blob, offsets[form], end)
            key = child_key(node, blob, begin, end)
            end = begin
            slot = find_slot(key, keys, mask)
            if keys[slot] == NOTHING:
                keys[slot] = key
                nodes[slot] = size
                size += 1
            node = np.int64(nodes[slot])
            for i in range(starts[form], starts[form + 1]):
                totals[node] += counts[i]
                used = count_in_chain(node, labels[i], counts[i], firsts, links, link_counts, following, used)
    return size


@kernel("u1 i8 i8 u1 int i8 i4 i8 i4 i4 i4 i4 f8 f8 i8 f8")
def guess_labels(blob, offsets, chosen, capital, longest, keys, nodes, totals, firsts, links, link_counts, following,
                 weights, prior, path, chances):  # fmt: skip
    """Fill a row of `chances` for each chosen form: how likely each label is, given the form's known suffixes.

    `weights` is 1 / (1 + theta) and theta / (1 + theta). Each longer suffix adds its shares times the first, and what
    was there is multiplied by the second; worked out from the longest one, only labels that occur are touched.
    """
    mask = len(keys) - 1
    size = len(prior)
    for position in range(len(chosen)):
        form = chosen[position]
        node = np.int64(capital[form])
        end = offsets[form + 1]
        depth = 0
        while depth < longest and end > offsets[form]:
            begin = last_character(blob, offsets[form], end)
            slot = find_slot(child_key(node, blob, begin, end), keys, mask)
            if keys[slot] == NOTHING:
                break
            node = np.int64(nodes[slot])
            path[depth] = node
            depth += 1
            end = begin
        row = position * size
        chances[row : row + size] = 0.0
        left = 1.0
        for level in range(depth - 1, -1, -1):
            node = path[level]
            link = firsts[node]
            while link != NOTHING:
                chances[row + links[link]] += left * weights[0] * (link_counts[link] / totals[node])
                link = following[link]
            left *= weights[1]
        for label in range(size):
            chances[row + label] += left * prior[label]
    return 0


@helper
def step(first, second, third, base, keys, values, mask, shorter):
    """The logarithm of the chance of a state after two others."""
    key = (np.int64(first) * base + second) * base + third
    slot = find_slot(key, keys, mask)
    if keys[slot] == NOTHING:
        return shorter[second * base + third]
    return values[slot]


@kernel("i8 i8 i4 f8 i8 int int i8 f8 f8 f8 i4 i4 f8 i4 i4")
def best_states(rows, starts, states, emissions, offsets, sentence, boundary, keys, values, shorter, margin, current,
                previous, scores, origins, best_of_word):  # fmt: skip
    """Find the likeliest states of sentences from number `sentence` on; the number of the first not done.

    Word w can have the states of row `rows[w]`, each with the logarithm of its chance. `keys` and `values` hold the
    trigrams that were seen, `shorter` what stands for the others. After each word the pairs of states are dropped
    that are worse than the best by more than `margin[0]`. Pairs lie in `current`, `previous` and `scores`, those of
    one state side by side, and `origins` tells where each came from. A sentence that does not fit is the first not
    done.
    """
    base = boundary + 1
    mask = len(keys) - 1
    capacity = len(current)
    while sentence < len(offsets) - 1:
        current[0] = boundary
        previous[0] = boundary
        scores[0] = 0.0
        begin = np.int64(0)
        end = np.int64(1)
        groups = np.int64(1)
        for word in range(offsets[sentence], offsets[sentence + 1]):
            row = rows[word]
            at = end
            if at + groups * (starts[row + 1] - starts[row]) > capacity:
                return sentence
            best = -np.inf
            for r in range(starts[row], starts[row + 1]):
                state = np.int64(states[r])
                pair = begin
                while pair < end:
                    middle = np.int64(current[pair])
                    top = -np.inf
                    origin = pair
                    while pair < end and current[pair] == middle:
                        score = scores[pair] + step(previous[pair], middle, state, base, keys, values, mask, shorter)
                        if score > top:
                            top = score
                            origin = pair
                        pair += 1
                    current[at] = state
                    previous[at] = middle
                    scores[at] = top + emissions[r]
                    origins[at] = origin
                    best = max(best, scores[at])
                    at += 1
            begin = end
            groups = np.int64(0)
            for pair in range(begin, at):
                if scores[pair] >= best - margin[0]:
                    groups += end == begin or current[pair] != current[end - 1]
                    current[end] = current[pair]
                    previous[end] = previous[pair]
                    scores[end] = scores[pair]
                    origins[end] = origins[pair]
                    end += 1
        best = -np.inf
        last = begin
        for pair in range(begin, end):
            score = scores[pair] + step(previous[pair], np.int64(current[pair]), np.int64(boundary), base, keys, values,
                                        mask, shorter)  # fmt: skip
            if score > best:
                best = score
                last = pair
        for word in range(offsets[sentence + 1] - 1, offsets[sentence] - 1, -1):
            best_of_word[word] = current[last]
            last = np.int64(origins[last])
        sentence += 1
    return sentence
