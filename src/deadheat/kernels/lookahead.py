"""Tagging with lookahead (Tsuruoka, Miyao and Kazama 2011): one tag at a time, chosen by the best that may follow.

At a word, every sequence of tags for it and the next `depth` words is a leaf, and the best leaf decides the tag. A
leaf's score is a sum over words whose parts see three tags at most. Leaves are not listed: a search from the word on
takes the most promising tag first, and leaves out what cannot be better than the best leaf so far. How promising a tag
is, the best that may follow it says if it need not fit the tags before.

The weight of a tag z after y is `pairs[z * stride + y]`. Those of triples x, y, z are in a hash table, which has only
the triples that some update has met; in training they are added to the weights of pairs, and later they take their
place. `bounds` is at least the largest weight of y, z after whatever tag. `stride` is a multiple of 8 above `tags`, and
is also how far apart the weights of features lie. Tag number `tags` stands before a sentence.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel
from deadheat.kernels.perceptron import CLOCK, USED, shift, update_features

LANES = 8  # numbers that processors add at a time
LOWEST = np.float32(-3.0e38)
TRIPLES = 2  # what `state` counts, too
MULTIPLIER, SHIFT = 33554393, 20  # of hashes; a product with a key stays below 2^63


@helper
def score_all(rows, at, width, slots, weights, stride, scores, to):
    """Fill `scores` from `to` on with what the features of one word give to every tag.

    Indices in the innermost loops are unsigned: Python counts negative ones from the end, which the compiler would
    have to provide for, one element at a time.
    """
    size, begin = np.uint64(stride), np.uint64(to)
    for j in range(size):
        scores[begin + j] = np.float32(0.0)
    for k in range(at, at + width):
        position = slots[rows[k]]
        if position > 0:
            base = np.uint64(position) * size
            for j in range(size):
                scores[begin + j] += weights[base + j]


@helper
def place_of_scores(word, depth, stride):
    """Where in `scores` the scores of a word's tags lie: in a ring of `depth` + 1 words."""
    return word % (depth + 1) * stride


@helper
def slot_of(key, keys):
    """Where a triple is in the table, or would be."""
    mask = len(keys) - 1
    slot = ((key * MULTIPLIER) >> SHIFT) & mask
    while keys[slot] != key and keys[slot] != 0:
        slot = (slot + 1) & mask
    return slot


@kernel("i8 i8 i8")
def insert_keys(added, keys, slots):
    """Fill `slots` with where new triples are in a table."""
    for i in range(len(added)):
        slots[i] = slot_of(added[i], keys)
        keys[slots[i]] = added[i]
    return 0


@helper
def key_of(x, y, z, tags):
    """The number of a triple, above 0."""
    return (np.int64(x) * (tags + 1) + y) * tags + z + 1


@helper
def move(x, y, z, tags, stride, model):
    """The weight of a tag z after the tags x, y."""
    pairs, _, keys, triples, is_sum = model
    weight = pairs[z * stride + y]
    key = key_of(x, y, z, tags)
    slot = slot_of(key, keys)
    if keys[slot] != key:
        return weight
    return weight + triples[slot] if is_sum != 0 else triples[slot]


@helper
def add_up(level, ahead, score, weight, after):
    """The score of a tag, its weight after those before, and what follows; always added up in the same order."""
    if level == ahead:
        return score + weight
    return (score + weight) + after if level < 2 else (score + after) + weight


@helper
def bound_levels(word, ahead, depth, tags, stride, bounds, scores, follows):
    """Fill `follows[level * stride + y]`: no more than this follows a tag y from the level-th word ahead on."""
    size = np.uint64(stride)
    for level in range(ahead, 0, -1):
        row, scores_at = level * stride, place_of_scores(word + level, depth, stride)
        follows[row : row + stride] = LOWEST
        begin = np.uint64(row)
        for z in range(tags):
            score, after = scores[scores_at + z], follows[row + stride + z] if level < ahead else np.float32(0.0)
            if level >= 2:  # the order of `add_up`
                score, after = score + after, np.float32(0.0)
            base = np.uint64(z) * size
            for y in range(size):
                value, best = (score + bounds[base + y]) + after, follows[begin + y]
                follows[begin + y] = best if best > value else value


@helper
def open_level(level, ahead, word, depth, tags, stride, model, workspace):
    """Begin a search for the tag of the level-th word ahead, after the tags `path[level]` and `path[level + 1]`."""
    scores, follows, promises, tops, path = workspace
    scores_at, y = place_of_scores(word + level, depth, stride), np.int64(path[level + 1])
    for z in range(tags):
        after = follows[(level + 1) * stride + z] if level < ahead else np.float32(0.0)
        weight = model[1][z * stride + y]
        promises[level * stride + z] = add_up(level, ahead, scores[scores_at + z], weight, after)
    tops[level] = LOWEST
    path[depth + 3 + level] = tags


@helper
def search(level, ahead, word, depth, tags, stride, model, workspace):
    """Find the best tag from an open level on, `path[depth + 3 + level]`, and its score, `tops[level]`.

    Of equally good tags it is the first. A tag that cannot be better than the best so far is not looked at.
    """
    scores, follows, promises, tops, path = workspace
    at = level
    while True:
        row = at * stride
        z = np.int64(0)
        for tag in range(1, tags):
            if promises[row + tag] > promises[row + z]:
                z = np.int64(tag)
        promise, found = promises[row + z], np.int64(path[depth + 3 + at])
        if promise < tops[at] or (promise == tops[at] and z > found) or promise == LOWEST:
            if at == level:
                return
            value = tops[at]
            at -= 1
            z = np.int64(path[at + 2])
            score = scores[place_of_scores(word + at, depth, stride) + z]
            value = add_up(at, ahead, score, tops[depth + 1 + at], value)
        else:
            promises[row + z] = LOWEST
            weight = move(path[at], path[at + 1], z, tags, stride, model)
            score = scores[place_of_scores(word + at, depth, stride) + z]
            after = follows[(at + 1) * stride + z] if at < ahead else np.float32(0.0)
            value = add_up(at, ahead, score, weight, after)
            if at < ahead:
                if value > tops[at] or (value == tops[at] and z < found):
                    tops[depth + 1 + at] = weight
                    path[at + 2] = z
                    at += 1
                    open_level(at, ahead, word, depth, tags, stride, model, workspace)
                continue
        if value > tops[at] or (value == tops[at] and z < path[depth + 3 + at]):
            tops[at] = value
            path[depth + 3 + at] = z


@helper
def score_window(word, scored, last, rows, width, slots, weights, depth, stride, future):
    """Score the words up to `last` that have not been; returns up to where they have been now."""
    start = max(scored, word)
    for ahead in range(start, last + 1):
        to = place_of_scores(ahead, depth, stride)
        score_all(rows, ahead * width, width, slots, weights, stride, future, to)
    return max(start, last + 1)


@helper
def follow_leaf(word, ahead, y, first, depth, tags, stride, model, workspace, leaf, to):
    """Write down the best leaf that begins with a tag."""
    path = workspace[4]
    path[1], path[2] = y, first
    leaf[to] = first
    for level in range(1, ahead + 1):
        open_level(level, ahead, word, depth, tags, stride, model, workspace)
        search(level, ahead, word, depth, tags, stride, model, workspace)
        leaf[to + level] = path[level + 2] = path[depth + 3 + level]


@helper
def shift_pair(y, z, amount, clock, stride, model, totals):
    shift(z * stride + y, amount, clock, model[0], totals)
    model[1][z * stride + y] += np.float32(amount)


@helper
def shift_triple(x, y, z, amount, clock, tags, stride, model, totals, state):
    pairs, bounds, keys, triples, _ = model
    key = key_of(x, y, z, tags)
    slot = slot_of(key, keys)
    if keys[slot] == 0:
        keys[slot] = key
        state[TRIPLES] += 1
    shift(slot, amount, clock, triples, totals)
    bounds[z * stride + y] = max(bounds[z * stride + y], pairs[z * stride + y] + triples[slot])


@helper
def update_leaves(word, ahead, x, y, leaf, depth, width, tags, stride, rows, slots, weights, totals, model,
                  pair_totals, triple_totals, state):  # fmt: skip
    """Move weights from the second leaf to the first, along all their words."""
    clock = np.float64(state[CLOCK])
    right_x, right_y, wrong_x, wrong_y = x, y, x, y
    for level in range(ahead + 1):
        right = np.int64(leaf[level])
        wrong = np.int64(leaf[depth + 1 + level])
        if right != wrong:
            update_features((word + level) * width, width, right, wrong, stride, rows, slots, weights, totals, state)
        if right != wrong or right_y != wrong_y:
            shift_pair(right_y, right, 1.0, clock, stride, model, pair_totals)
            shift_pair(wrong_y, wrong, -1.0, clock, stride, model, pair_totals)
        if right != wrong or right_y != wrong_y or right_x != wrong_x:
            shift_triple(right_x, right_y, right, 1.0, clock, tags, stride, model, triple_totals, state)
            shift_triple(wrong_x, wrong_y, wrong, -1.0, clock, tags, stride, model, triple_totals, state)
        right_x, right_y, wrong_x, wrong_y = right_y, right, wrong_y, wrong


@kernel("i8 i4 int int int int i4 f4 f4 f4 i8 f4 f4 f4 f4 f4 i4 i4")
def tag_ahead(
    offsets, rows, width, tags, stride, depth, slots, weights, pairs, bounds, keys, triples, scores, follows, promises,
    tops, path, predicted,
):  # fmt: skip
    """Fill `predicted` with the tag of every word."""
    model, workspace = (pairs, bounds, keys, triples, 0), (scores, follows, promises, tops, path)
    for sentence in range(len(offsets) - 1):
        begin, end = offsets[sentence], offsets[sentence + 1]
        x, y = tags, tags
        scored = begin
        for word in range(begin, end):
            ahead = min(depth, end - 1 - word)
            scored = score_window(word, scored, word + ahead, rows, width, slots, weights, depth, stride, scores)
            bound_levels(word, ahead, depth, tags, stride, bounds, scores, follows)
            path[0], path[1] = x, y
            open_level(0, ahead, word, depth, tags, stride, model, workspace)
            search(0, ahead, word, depth, tags, stride, model, workspace)
            best = np.int64(path[depth + 3])
            predicted[word] = best
            x, y = y, best
    return 0


@kernel("i8 i8 i4 int int int int int i4 i4 f4 f8 f4 f8 f4 i8 f4 f8 f4 f4 f4 f4 i4 i4 i8")
def learn_ahead(
    sentences, offsets, rows, width, tags, stride, depth, margin, gold, slots, weights, totals, pairs, pair_totals,
    bounds, keys, triples, triple_totals, scores, follows, promises, tops, path, leaf, state,
):  # fmt: skip
    """Visit sentences once, in this order; where a wrong tag comes within the margin of the gold one, update.

    The best leaf that begins with the gold tag gains, the best that begins with another loses. Then the gold tag is
    taken, whatever was found. The average of a weight over all words visited is `weight - total / words`. Returns how
    many sentences were visited: fewer than there are if weights have no room for another one.
    """
    model, workspace = (pairs, bounds, keys, triples, 1), (scores, follows, promises, tops, path)
    for number in range(len(sentences)):
        begin, end = offsets[sentences[number]], offsets[sentences[number] + 1]
        size = end - begin
        if (state[USED] + 1 + size * width) * stride > len(weights):
            return number
        if 2 * (state[TRIPLES] + 2 * (depth + 1) * size) > len(keys):
            return number
        x, y = tags, tags
        scored = begin
        for word in range(begin, end):
            ahead = min(depth, end - 1 - word)
            scored = score_window(word, scored, word + ahead, rows, width, slots, weights, depth, stride, scores)
            bound_levels(word, ahead, depth, tags, stride, bounds, scores, follows)
            right = np.int64(gold[word])
            path[0], path[1], path[2] = x, y, right
            if ahead > 0:
                open_level(1, ahead, word, depth, tags, stride, model, workspace)
                search(1, ahead, word, depth, tags, stride, model, workspace)
            score, after = scores[place_of_scores(word, depth, stride) + right], tops[1]
            open_level(0, ahead, word, depth, tags, stride, model, workspace)
            promises[right] = LOWEST
            tops[0] = add_up(0, ahead, score, move(x, y, right, tags, stride, model), after) - np.float32(margin)
            search(0, ahead, word, depth, tags, stride, model, workspace)
            wrong = np.int64(path[depth + 3])
            if wrong < tags:
                follow_leaf(word, ahead, y, right, depth, tags, stride, model, workspace, leaf, 0)
                follow_leaf(word, ahead, y, wrong, depth, tags, stride, model, workspace, leaf, depth + 1)
                update_leaves(word, ahead, x, y, leaf, depth, width, tags, stride, rows, slots, weights, totals, model,
                              pair_totals, triple_totals, state)  # fmt: skip
                scored = begin
            state[CLOCK] += 1
            x, y = y, right
    return len(sentences)
