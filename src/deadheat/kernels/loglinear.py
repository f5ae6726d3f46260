"""Log-linear tagging: scores and gradients of local models, and the best sequence under their product.

A row (a feature) has a weight for every tag it was seen with: those of row r are `weights[starts[r] : starts[r + 1]]`,
and their tags lie at the same places in `weight_tags`. A case is a word with one tag; those of word i are numbered from
i * tags on.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel

LOG2E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # their sum is ln 2; n * LN2_HIGH is exact
SMALLEST = -700.0  # exponentials of less are 0
N_POWERS = 1024  # of a half, for `exponential`


@helper
def exponential(x, powers):
    """The exponential of a number that is not above 0, within 4e-16 of itself; `powers` are those of a half.

    With x = r - n ln 2 and r between -0.35 and 0.35 it is exp(r) / 2^n, and exp(r) its series up to the 13th power.
    """
    if x < SMALLEST:
        return 0.0
    n = np.int64(0.5 - x * LOG2E)
    r = (x + n * LN2_HIGH) + n * LN2_LOW
    series = 1.0 + r / 13.0
    for k in range(12, 0, -1):
        series = 1.0 + r / k * series
    return series * powers[n]


@kernel("i4 int int i4 i4 int i8 i4")
def list_weights(rows, width, tags, starts, weight_tags, fill, ends, places):
    """List the weights that each case adds up, in the order of the rows.

    Without `fill`, `ends` gets how many each case has. With it, `ends` holds where the weights of each case begin in
    `places`, and afterwards where they end.
    """
    for word in range(len(rows) // width):
        for k in range(word * width, (word + 1) * width):
            for position in range(starts[rows[k]], starts[rows[k] + 1]):
                case = word * tags + weight_tags[position]
                if fill != 0:
                    places[ends[case]] = position
                ends[case] += 1
    return 0


@kernel("i8 i4 f8 f8")
def score_cases(bounds, places, weights, scores):
    """Fill `scores` with the sum of the weights of each case, which has those from one bound to the next."""
    for case in range(len(bounds) - 1):
        total = 0.0
        for position in range(bounds[case], bounds[case + 1]):
            total += weights[places[position]]
        scores[case] = total
    return 0


@kernel("i8 i4 f8 f8")
def add_to_weights(bounds, places, values, sums):
    """Add the value of each case to the sums of all its weights."""
    for case in range(len(bounds) - 1):
        value = values[case]
        for position in range(bounds[case], bounds[case + 1]):
            sums[places[position]] += value
    return 0


@helper
def add_row(row, model, scores, to):
    """Add the weights of a row to the scores of their tags."""
    starts, weight_tags, weights = model
    for position in range(starts[row], starts[row + 1]):
        scores[to + weight_tags[position]] += weights[position]


@helper
def tag_at(word, sentence, j, tags, allowed):
    """The j-th tag that a word may take; tag number `tags` stands before and after a sentence."""
    lists, list_starts, choices = allowed
    if word < sentence[0] or word >= sentence[1]:
        return np.int64(tags)
    return np.int64(choices[list_starts[lists[word]] + j])


@helper
def n_tags_at(word, sentence, allowed):
    lists, list_starts, _ = allowed
    if word < sentence[0] or word >= sentence[1]:
        return np.int64(1)
    return list_starts[lists[word] + 1] - list_starts[lists[word]]


@helper
def score_beside(word, sentence, offset, first, form_first, forms, tags, allowed, model, scores):
    """Fill `scores` with what each tag of a neighbour gives to the tags of a word, a stretch of `tags` each."""
    for a in range(n_tags_at(word + offset, sentence, allowed)):
        beside = tag_at(word + offset, sentence, a, tags, allowed)
        scores[a * tags : (a + 1) * tags] = 0.0
        add_row(first + beside, model, scores, a * tags)
        if forms[word] >= 0:
            add_row(form_first + forms[word] * (tags + 1) + beside, model, scores, a * tags)


@helper
def fill_chances(word, sentence, both_first, tags, allowed, model, powers, workspace, chances):
    """Fill `chances` with the chance of each tag of a word, given the tags on both its sides.

    That of its c-th tag, of n, between the a-th of the word before and the d-th, of m, of the word after is
    `chances[(a * n + c) * m + d]`.
    """
    lists, list_starts, choices = allowed
    word_scores, left, right, scores = workspace
    before = n_tags_at(word - 1, sentence, allowed)
    count = n_tags_at(word, sentence, allowed)
    after = n_tags_at(word + 1, sentence, allowed)
    first = list_starts[lists[word]]
    for a in range(before):
        tag_before = tag_at(word - 1, sentence, a, tags, allowed)
        for d in range(after):
            if count == 1:
                chances[a * after + d] = 1.0
                continue
            tag_after = tag_at(word + 1, sentence, d, tags, allowed)
            for tag in range(tags):
                scores[tag] = word_scores[tag] + left[a * tags + tag] + right[d * tags + tag]
            add_row(both_first + tag_before * (tags + 1) + tag_after, model, scores, 0)
            top = scores[choices[first]]
            for c in range(1, count):
                top = max(top, scores[choices[first + c]])
            total = 0.0
            for c in range(count):
                value = exponential(scores[choices[first + c]] - top, powers)
                chances[(a * count + c) * after + d] = value
                total += value
            for c in range(count):
                chances[(a * count + c) * after + d] /= total


@helper
def advance(sentence, word, tags, allowed, chances, best, here, there, back):
    """From the best products up to the word before to those up to this word, for its tags and those of the next."""
    before = n_tags_at(word - 1, sentence, allowed)
    count = n_tags_at(word, sentence, allowed)
    after = n_tags_at(word + 1, sentence, allowed)
    largest = 0.0
    for c in range(count):
        for d in range(after):
            top = -1.0
            arg = np.int64(0)
            for a in range(before):
                value = best[there + a * tags + c] * chances[(a * count + c) * after + d]
                if value > top:
                    top = value
                    arg = a
            best[here + c * tags + d] = top
            back[((word - sentence[0]) * tags + c) * tags + d] = arg
            largest = max(largest, top)
    for c in range(count):
        for d in range(after):
            best[here + c * tags + d] /= largest  # products of many chances would become 0


@kernel("i8 i4 int i4 i4 i8 i4 int int i4 i4 f8 f8 f8 f8 f8 f8 f8 f8 i2 i4")
def tag_by_products(
    offsets, rows, width, forms, lists, list_starts, choices, tags, n_forms, starts, weight_tags, weights, powers,
    word_scores, left, right, scores, chances, best, back, predicted,
):  # fmt: skip
    """Fill `predicted` with the tags whose product of chances is the largest, each given the tags on both its sides.

    After the rows of words come rows for: the tag before, the tag after, both, the tag before and the word, the tag
    after and the word.
    """
    allowed, model = (lists, list_starts, choices), (starts, weight_tags, weights)
    sides = tags + 1
    last_first = len(starts) - 1 - 2 * n_forms * sides
    before_first = last_first - sides * sides - 2 * sides
    for number in range(len(offsets) - 1):
        begin, end = offsets[number], offsets[number + 1]
        sentence = (begin, end)
        here, there = np.int64(0), tags * tags
        best[there : there + tags] = 1.0
        for word in range(begin, end):
            if n_tags_at(word, sentence, allowed) > 1:
                word_scores[:tags] = 0.0
                for k in range(word * width, (word + 1) * width):
                    add_row(rows[k], model, word_scores, 0)
                score_beside(word, sentence, -1, before_first, last_first, forms, tags, allowed, model, left)
                score_beside(word, sentence, 1, before_first + sides, last_first + n_forms * sides, forms, tags,
                             allowed, model, right)  # fmt: skip
            fill_chances(word, sentence, before_first + 2 * sides, tags, allowed, model, powers,
                         (word_scores, left, right, scores), chances)  # fmt: skip
            advance(sentence, word, tags, allowed, chances, best, here, there, back)
            here, there = there, here
        arg, after = np.int64(0), np.int64(0)  # the last word's tag, and what stands after it
        for c in range(1, n_tags_at(end - 1, sentence, allowed)):
            if best[there + c * tags] > best[there + arg * tags]:
                arg = np.int64(c)
        for word in range(end - 1, begin - 1, -1):
            predicted[word] = choices[list_starts[lists[word]] + arg]
            arg, after = np.int64(back[((word - begin) * tags + arg) * tags + after]), arg
    return 0
