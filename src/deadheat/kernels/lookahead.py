"""Tagging with lookahead (Tsuruoka, Miyao and Kazama 2011): one tag at a time, chosen by the best that may follow.

At a word, every sequence of tags for it and the next `depth` words is a leaf, and the best leaf decides the tag. A
leaf's score is a sum over words whose parts see three tags at most, so the best leaf is found by dynamic
programming and not by listing leaves.

Weights of tag triples x, y, z, in the order of the text, lie in `moves[(z * (tags + 1) + x) * stride + y]`, the
weight of the pair y, z added in: so the innermost loop runs over all x, y, and processors do eight of them at a
time. `stride` is a multiple of 8 above `tags`, and is also how far apart the weights of features lie. Tag number
`tags` stands before a sentence.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel
from deadheat.kernels.perceptron import CLOCK, shift, update_features

LANES = 8
LOWEST = np.float32(-3.0e38)


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
def raise_by_four(z, scores_at, moves, tags, stride, future, source, source_at, target, target_at):
    """For all pairs of tags x, y at once: what follows them if z and the next three tags may, or what did already."""
    size = np.uint64(tags * stride)
    block = size + np.uint64(stride)  # triples after the mark before a sentence are not asked for
    z1, z2, z3, z4 = z, min(z + 1, tags - 1), min(z + 2, tags - 1), min(z + 3, tags - 1)
    score1, score2 = future[scores_at + z1], future[scores_at + z2]
    score3, score4 = future[scores_at + z3], future[scores_at + z4]
    base1, base2 = np.uint64(z1) * block, np.uint64(z2) * block
    base3, base4 = np.uint64(z3) * block, np.uint64(z4) * block
    begin, to = np.uint64(source_at), np.uint64(target_at)
    for position in range(size):
        value = source[begin + position]
        value1 = score1 + moves[base1 + position]
        value2 = score2 + moves[base2 + position]
        value3 = score3 + moves[base3 + position]
        value4 = score4 + moves[base4 + position]
        value1 = value1 if value1 > value2 else value2
        value3 = value3 if value3 > value4 else value4
        value1 = value1 if value1 > value3 else value3
        target[to + position] = value if value > value1 else value1


@helper
def fill_last_level(scores_at, moves, tags, stride, future, to, spare):
    """Fill the best scores of what follows two tags x, y: `future[to + x * stride + y]`.

    It is the largest, over z, of the score of z at the last word (`scores_at` is its place in `future`) and the move
    x, y, z. The largest so far goes back and forth between two arrays: a store that may leave a place as it is
    becomes a conditional one, which is slow.
    """
    steps = (tags + 3) // 4
    spare[: tags * stride] = LOWEST
    future[to : to + tags * stride] = LOWEST
    for step in range(steps):
        if (steps - step) % 2 == 1:
            raise_by_four(4 * step, scores_at, moves, tags, stride, future, spare, 0, future, to)
        else:
            raise_by_four(4 * step, scores_at, moves, tags, stride, future, future, to, spare, 0)


@helper
def fill_level(scores_at, after, moves, tags, stride, future, to, spare):
    """The same for a word that others come after: what follows y, z lies at `after`."""
    future[to : to + tags * stride] = LOWEST
    for z in range(tags):
        for y in range(tags):
            spare[y] = future[scores_at + z] + future[after + y * stride + z]
        for x in range(tags):
            base = (z * (tags + 1) + x) * stride
            for y in range(tags):
                value = spare[y] + moves[base + y]
                if value > future[to + x * stride + y]:
                    future[to + x * stride + y] = value


@helper
def place_of_scores(word, depth, stride):
    """Where in `future` the scores of a word's tags lie: in a ring of `depth` + 1 words."""
    return word % (depth + 1) * stride


@helper
def place_of_level(level, depth, tags, stride):
    """Where in `future` lies what may follow from the level-th word ahead on, for levels from 2 on."""
    return (depth + 1) * stride + (level - 2) * tags * stride


@helper
def score_first(word, ahead, x, y, depth, tags, stride, moves, future, spare, firsts):
    """Fill `firsts` with the score of the best leaf for every tag of this word, after the tags x, y."""
    for level in range(ahead, 1, -1):
        scores = place_of_scores(word + level, depth, stride)
        to, after = place_of_level(level, depth, tags, stride), place_of_level(level + 1, depth, tags, stride)
        if level == ahead:
            fill_last_level(scores, moves, tags, stride, future, to, spare)
        else:
            fill_level(scores, after, moves, tags, stride, future, to, spare)
    scores_at = place_of_scores(word, depth, stride)
    one = place_of_scores(word + 1, depth, stride)
    two = place_of_level(2, depth, tags, stride)
    for tag in range(tags):
        firsts[tag] = LOWEST if ahead > 0 else np.float32(0.0)
    if ahead > 0:
        for z in range(tags):
            base = (z * (tags + 1) + y) * stride
            score = future[one + z]
            for tag in range(tags):
                value = score + moves[base + tag]
                if ahead > 1:
                    value += future[two + tag * stride + z]
                firsts[tag] = value if value > firsts[tag] else firsts[tag]
    for tag in range(tags):
        firsts[tag] += future[scores_at + tag] + moves[(tag * (tags + 1) + x) * stride + y]


@helper
def score_window(word, scored, last, rows, width, slots, weights, depth, stride, future):
    """Score the words up to `last` that have not been; returns up to where they have been now."""
    start = max(scored, word)
    for ahead in range(start, last + 1):
        to = place_of_scores(ahead, depth, stride)
        score_all(rows, ahead * width, width, slots, weights, stride, future, to)
    return max(start, last + 1)


@helper
def follow_leaf(word, ahead, x, first, depth, tags, stride, moves, future, leaf, to):
    """Write down the best leaf that begins with a tag: at each word the best tag, with the best that may follow it."""
    leaf[to] = first
    before, tag = x, first
    for level in range(1, ahead + 1):
        scores_at = place_of_scores(word + level, depth, stride)
        after = place_of_level(level + 1, depth, tags, stride)
        top = LOWEST
        best = np.int64(0)
        for z in range(tags):
            value = future[scores_at + z] + moves[(z * (tags + 1) + before) * stride + tag]
            if level < ahead:
                value += future[after + tag * stride + z]
            if value > top:
                top = value
                best = z
        leaf[to + level] = best
        before, tag = tag, best


@helper
def shift_move(x, y, z, amount, clock, tags, stride, moves, totals):
    """Change the weight of a triple by `amount`, and that of its last two tags after whatever tag."""
    shift((z * (tags + 1) + x) * stride + y, amount, clock, moves, totals)


@helper
def shift_pair(y, z, amount, clock, tags, stride, moves, totals):
    for x in range(tags + 1):
        shift_move(x, y, z, amount, clock, tags, stride, moves, totals)


@helper
def update_leaves(word, ahead, x, y, leaf, depth, width, tags, stride, rows, slots, weights, totals, moves,
                  move_totals, state):  # fmt: skip
    """Move weights from the second leaf to the first, along all their words."""
    clock = np.float64(state[CLOCK])
    right_x, right_y, wrong_x, wrong_y = x, y, x, y
    for level in range(ahead + 1):
        right = np.int64(leaf[level])
        wrong = np.int64(leaf[depth + 1 + level])
        if right != wrong:
            update_features((word + level) * width, width, right, wrong, stride, rows, slots, weights, totals, state)
        if right != wrong or right_y != wrong_y:
            shift_pair(right_y, right, 1.0, clock, tags, stride, moves, move_totals)
            shift_pair(wrong_y, wrong, -1.0, clock, tags, stride, moves, move_totals)
        if right != wrong or right_y != wrong_y or right_x != wrong_x:
            shift_move(right_x, right_y, right, 1.0, clock, tags, stride, moves, move_totals)
            shift_move(wrong_x, wrong_y, wrong, -1.0, clock, tags, stride, moves, move_totals)
        right_x, right_y, wrong_x, wrong_y = right_y, right, wrong_y, wrong


@kernel("i8 i4 int int int int i4 f4 f4 f4 f4 f4 i4")
def tag_ahead(offsets, rows, width, tags, stride, depth, slots, weights, moves, future, spare, firsts, predicted):
    """Fill `predicted` with the tag of every word."""
    for sentence in range(len(offsets) - 1):
        begin, end = offsets[sentence], offsets[sentence + 1]
        x, y = tags, tags
        scored = begin
        for word in range(begin, end):
            last = min(word + depth, end - 1)
            scored = score_window(word, scored, last, rows, width, slots, weights, depth, stride, future)
            score_first(word, last - word, x, y, depth, tags, stride, moves, future, spare, firsts)
            best = np.int64(0)
            for tag in range(1, tags):
                if firsts[tag] > firsts[best]:
                    best = np.int64(tag)
            predicted[word] = best
            x, y = y, best
    return 0


@kernel("i8 i8 i4 int int int int int i4 i4 f4 f8 f4 f8 f4 f4 f4 i4 i8")
def learn_ahead(
    sentences, offsets, rows, width, tags, stride, depth, margin, gold, slots, weights, totals, moves, move_totals,
    future, spare, firsts, leaf, state,
):  # fmt: skip
    """Visit these sentences once, in this order; where a wrong tag comes within the margin of the gold one, update.

    The best leaf that begins with the gold tag gains, the best that begins with another loses. Then the gold tag is
    taken, whatever was found. The average of a weight over all words visited is `weight - total / words`.
    """
    for sentence in sentences:
        begin, end = offsets[sentence], offsets[sentence + 1]
        x, y = tags, tags
        scored = begin
        for word in range(begin, end):
            last = min(word + depth, end - 1)
            ahead = last - word
            scored = score_window(word, scored, last, rows, width, slots, weights, depth, stride, future)
            score_first(word, ahead, x, y, depth, tags, stride, moves, future, spare, firsts)
            right = np.int64(gold[word])
            wrong = np.int64(-1)
            for tag in range(tags):
                if tag != right and (wrong < 0 or firsts[tag] > firsts[wrong]):
                    wrong = np.int64(tag)
            if wrong >= 0 and firsts[wrong] + np.float32(margin) >= firsts[right]:
                follow_leaf(word, ahead, y, right, depth, tags, stride, moves, future, leaf, 0)
                follow_leaf(word, ahead, y, wrong, depth, tags, stride, moves, future, leaf, depth + 1)
                update_leaves(word, ahead, x, y, leaf, depth, width, tags, stride, rows, slots, weights, totals, moves,
                              move_totals, state)  # fmt: skip
                scored = begin
            state[CLOCK] += 1
            x, y = y, right
    return 0
