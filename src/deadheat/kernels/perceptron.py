"""The structured perceptron of Collins (2002): Viterbi decoding over tag pairs or triples, and updates.

A word is `width` rows of features. `slots` gives the place of a row among the weights, and place 0, which stays
zero, to rows that no update has touched: most never are, and the others lie together in the order in which
training met them. A place has one weight a tag. Weights are whole numbers as long as training lasts.

Transitions lie in one array: the weights of pairs, `[before * tags + tag]`, and for order 3 those of triples after
them, `[(before * tags + tag) * (tags + 1) + before_that]`. Before a sentence stands tag number `tags`.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel

CLOCK, USED = 0, 1  # what `state` counts: visits, and places used


@helper
def score_tags(rows, at, width, slots, weights, tags, choices, first, count, scores):
    """Fill `scores` with what the features of one word give to each tag it may take."""
    scores[:count] = np.float32(0.0)
    if count == 1:  # nothing to choose
        return
    if count == tags:
        size = np.uint64(tags)  # unsigned, or the compiler has to provide for indices from the end
        for k in range(at, at + width):
            base = np.uint64(slots[rows[k]]) * size
            for j in range(size):
                scores[j] += weights[base + j]
        return
    for k in range(at, at + width):
        base = np.int64(slots[rows[k]]) * tags
        for j in range(count):
            scores[j] += weights[base + choices[first + j]]


@helper
def best_tags(begin, end, order, words, model, workspace, gold, margin):
    """Put the best sequence of tags for the words from `begin` to `end` into `out`, from 0 on.

    All tags but the gold ones score `margin` more than their weights; with a margin of 0, `gold` is not looked at.

    A state is the tags of `order` - 1 words: the j-th tag of this word, and for order 3 the k-th of the one before.
    The m-th tag is that of the first word that a state forgets.
    """
    rows, width, lists, starts, choices, tags = words
    slots, weights, moves = model
    scores, best, back, out = workspace
    triples = (tags + 1) * tags
    span = tags if order == 3 else np.int64(1)  # states for each tag of a word
    here, there = np.int64(0), tags * span  # halves of `best`: scores up to this word, and up to the last
    best[there] = np.float32(0.0)
    b_first, b_count = np.int64(0), np.int64(1)  # the word before, and the one before that
    a_first, a_count = np.int64(0), np.int64(1)
    for i in range(end - begin):
        first = starts[lists[begin + i]]
        count = starts[lists[begin + i] + 1] - first
        score_tags(rows, (begin + i) * width, width, slots, weights, tags, choices, first, count, scores)
        if margin > 0:
            for j in range(count):
                if choices[first + j] != gold[begin + i]:
                    scores[j] += margin
        if order == 2:
            a_first, a_count = b_first, b_count
            b_count = np.int64(1)
        for k in range(b_count):
            b = tags if i == 0 else np.int64(choices[b_first + k])
            for j in range(count):
                tag = np.int64(choices[first + j])
                score, move, step = scores[j], tag, tags
                if order == 3:
                    score += moves[b * tags + tag]
                    move, step = triples + (b * tags + tag) * (tags + 1), np.int64(1)
                a = tags if i < order - 1 else np.int64(choices[a_first])
                top = best[there + k * tags] + moves[move + a * step]
                arg = np.int64(0)
                for m in range(1, a_count):
                    value = best[there + k * tags + m] + moves[move + choices[a_first + m] * step]
                    if value > top:
                        top = value
                        arg = m
                best[here + j * span + k] = top + score
                back[(i * span + k) * tags + j] = arg
        a_first, a_count = b_first, b_count
        b_first, b_count = first, count
        here, there = there, here
    left, right = np.int64(0), np.int64(0)
    for k in range(a_count):
        for j in range(b_count):
            if best[there + j * span + k] > best[there + right * span + left]:
                left, right = k, j
    for i in range(end - begin - 1, -1, -1):
        out[i] = choices[starts[lists[begin + i]] + right]
        before = np.int64(back[(i * span + left) * tags + right])
        left, right = (before, left) if order == 3 else (left, before)


@helper
def shift(position, amount, clock, weights, totals):
    weights[position] += np.float32(amount)
    totals[position] += amount * clock


@helper
def update_features(at, width, right, wrong, stride, rows, slots, weights, totals, state):
    """Move the weights of one word's features from the wrong tag to the right one."""
    clock = np.float64(state[CLOCK])
    for k in range(at, at + width):
        row = rows[k]
        if row == 0:
            continue
        if slots[row] == 0:
            state[USED] += 1
            slots[row] = np.int32(state[USED])
        base = np.int64(slots[row]) * stride
        shift(base + right, 1.0, clock, weights, totals)
        shift(base + wrong, -1.0, clock, weights, totals)


@helper
def update_moves(begin, end, gold, out, tags, order, moves, move_totals, clock):
    """Move the weights of tag pairs and triples from the sequence found to the right one."""
    triples = (tags + 1) * tags
    for i in range(end - begin):
        right, wrong = np.int64(gold[begin + i]), np.int64(out[i])
        right_b, wrong_b = tags, tags
        right_a, wrong_a = tags, tags
        if i > 0:
            right_b, wrong_b = np.int64(gold[begin + i - 1]), np.int64(out[i - 1])
        if i > 1:
            right_a, wrong_a = np.int64(gold[begin + i - 2]), np.int64(out[i - 2])
        if right != wrong or right_b != wrong_b:
            shift(right_b * tags + right, 1.0, clock, moves, move_totals)
            shift(wrong_b * tags + wrong, -1.0, clock, moves, move_totals)
        if order == 3 and (right != wrong or right_b != wrong_b or right_a != wrong_a):
            shift(triples + (right_b * tags + right) * (tags + 1) + right_a, 1.0, clock, moves, move_totals)
            shift(triples + (wrong_b * tags + wrong) * (tags + 1) + wrong_a, -1.0, clock, moves, move_totals)


@kernel("i8 i4 int i4 i8 i4 int int i4 f4 f4 f4 f4 i2 i4")
def tag_sentences(
    offsets, rows, width, lists, starts, choices, tags, order, slots, weights, moves, scores, best, back, predicted
):
    """Fill `predicted` with the best tags of every word."""
    words, model, workspace = (rows, width, lists, starts, choices, tags), (slots, weights, moves), (scores, best, back)
    for sentence in range(len(offsets) - 1):
        begin, end = offsets[sentence], offsets[sentence + 1]
        best_tags(begin, end, order, words, model, (*workspace, predicted[begin:end]), predicted, np.float32(0.0))
    return 0


@kernel("i8 i8 i4 int i4 i8 i4 int int int i4 f4 f4 f4 f4 i2 i4 i4 f8 f8 i8")
def learn_sentences(
    sentences, offsets, rows, width, lists, starts, choices, tags, order, margin, slots, weights, moves, scores, best,
    back, out, gold, totals, move_totals, state,
):  # fmt: skip
    """Visit these sentences once, in this order, and update where the gold tags are not the best by a margin per word.

    The average of a weight over all visits is `weight - total / visits`: a change at a visit that c visits went before
    is in all but the first c of the weights that are averaged.
    """
    words, workspace = (rows, width, lists, starts, choices, tags), (scores, best, back, out)
    for sentence in sentences:
        begin, end = offsets[sentence], offsets[sentence + 1]
        best_tags(begin, end, order, words, (slots, weights, moves), workspace, gold, np.float32(margin))
        missed = np.int64(0)
        for i in range(end - begin):
            word = begin + i
            if out[i] != gold[word]:
                update_features(word * width, width, np.int64(gold[word]), np.int64(out[i]), tags, rows, slots,
                                weights, totals, state)  # fmt: skip
                missed += 1
        if missed > 0:
            update_moves(begin, end, gold, out, tags, order, moves, move_totals, np.float64(state[CLOCK]))
        state[CLOCK] += 1
    return 0
