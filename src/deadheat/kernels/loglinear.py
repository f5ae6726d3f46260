"""Log-linear tagging: scores and gradients of local models, and the best sequence under them.

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
def choose_tags(word, list_, allowed, most, tags, scores, candidates):
    """List the tags that a word may take, at most so many: those with the highest scores."""
    starts, choices = allowed
    chosen, counts = candidates
    first, count = starts[list_], starts[list_ + 1] - starts[list_]
    counts[word] = min(count, most)
    for j in range(count):
        if count <= most:
            chosen[word * most + j] = choices[first + j]
            continue
        ahead = np.int64(0)
        score = scores[choices[first + j]]
        for other in range(count):
            value = scores[choices[first + other]]
            ahead += np.int64(value > score or (value == score and other < j))
        if ahead < most:
            chosen[word * most + ahead] = choices[first + j]


@helper
def tag_at(word, sentence, j, most, tags, candidates):
    """The j-th tag that a word may take; tag number `tags` stands before and after a sentence."""
    if word < sentence[0] or word >= sentence[1]:
        return np.int64(tags)
    return np.int64(candidates[0][word * most + j])


@helper
def n_tags_at(word, sentence, candidates):
    if word < sentence[0] or word >= sentence[1]:
        return np.int64(1)
    return np.int64(candidates[1][word])


@helper
def add_beside(word, sentence, offset, first, form_first, form, most, tags, candidates, model, scores):
    """Fill `scores` with what each tag of a neighbour gives to the tags of a word, a stretch of `tags` each."""
    for a in range(n_tags_at(word + offset, sentence, candidates)):
        beside = tag_at(word + offset, sentence, a, most, tags, candidates)
        scores[a * tags : (a + 1) * tags] = 0.0
        add_row(first + beside, model, scores, a * tags)
        if form >= 0:
            add_row(form_first + form * (tags + 1) + beside, model, scores, a * tags)


@helper
def fill_chances(word, most, candidates, scores, powers, chances, to, step):
    """Turn the scores of the tags of a word into chances, which lie `step` apart."""
    chosen, counts = candidates
    first, count = word * most, counts[word]
    top = scores[chosen[first]]
    for c in range(1, count):
        top = max(top, scores[chosen[first + c]])
    total = 0.0
    for c in range(count):
        value = exponential(scores[chosen[first + c]] - top, powers)
        chances[to + c * step] = value
        total += value
    for c in range(count):
        chances[to + c * step] /= total


@helper
def local_models(word, sentence, places, most, tags, form, features, candidates, model, powers, workspace):
    """Fill the chances of each tag of a word, given no tag beside it, the one before, the one after, and both.

    By model n, that of its c-th tag is `chances[((n * most + a) * most + c) * most + d]`, with 0 for an unknown a or d.
    """
    rows, width = features
    n_rows, before_first, after_first, both_first, last_first, next_first = places
    scores, word_scores, left, right, chances = workspace
    for number in range(4):
        n_before = n_tags_at(word - 1, sentence, candidates) if number % 2 == 1 else np.int64(1)
        n_after = n_tags_at(word + 1, sentence, candidates) if number >= 2 else np.int64(1)
        base, to, is_open = number * n_rows, number * most**3, candidates[1][word] > 1
        word_scores[:tags] = 0.0
        left[:tags] = 0.0
        right[:tags] = 0.0
        for k in range(word * width, (word + 1) * width if is_open else word * width):
            add_row(base + rows[k], model, word_scores, 0)
        if is_open and number % 2 == 1:
            add_beside(word, sentence, -1, base + before_first, base + last_first, form, most, tags, candidates, model,
                       left)  # fmt: skip
        if is_open and number >= 2:
            add_beside(word, sentence, 1, base + after_first, base + next_first, form, most, tags, candidates, model,
                       right)  # fmt: skip
        for a in range(n_before):
            for d in range(n_after):
                for tag in range(tags):
                    scores[tag] = word_scores[tag] + left[a * tags + tag] + right[d * tags + tag]
                if is_open and number == 3:
                    before = tag_at(word - 1, sentence, a, most, tags, candidates)
                    after = tag_at(word + 1, sentence, d, most, tags, candidates)
                    add_row(base + both_first + before * (tags + 1) + after, model, scores, 0)
                fill_chances(word, most, candidates, scores, powers, chances, to + a * most * most + d, most)


@helper
def advance(word, sentence, most, candidates, chances, best, here, there, back):
    """From the best products up to the word before to those up to this word.

    A state is an arrow between two words and the tags of both: `best[there + (arrow * most + a) * most + c]`. Along
    arrow 0 the second word's tag is chosen given the first's, along arrow 1 the first's given the second's.
    """
    n_before, n_after = n_tags_at(word - 1, sentence, candidates), n_tags_at(word + 1, sentence, candidates)
    square, cube, largest = most * most, most * most * most, 0.0
    for arrow in range(2):
        for c in range(candidates[1][word]):
            for d in range(n_after):
                known, top, arg = c * most + arrow * d, -1.0, np.int64(0)
                for a in range(n_before):
                    value = best[there + a * most + c] * chances[(1 + 2 * arrow) * cube + a * square + known]
                    if value > top:
                        top, arg = value, np.int64(a)
                    value = best[there + square + a * most + c] * chances[2 * arrow * cube + known]
                    if value > top:
                        top, arg = value, np.int64(most + a)
                place = arrow * square + c * most + d
                best[here + place] = top
                back[(word - sentence[0]) * 2 * square + place] = arg
                largest = max(largest, top)
    for place in range(here, here + 2 * square):
        best[place] /= largest  # products of many chances would become 0


@kernel("i8 i4 int i4 i4 i8 i4 int int int i4 i4 f8 f8 f8 f8 f8 f8 f8 f8 i2 i4 i4 i4")
def tag_by_decompositions(
    offsets, rows, width, forms, lists, list_starts, choices, tags, n_forms, most, starts, weight_tags, weights, powers,
    scores, word_scores, left, right, chances, best, back, chosen, counts, predicted,
):  # fmt: skip
    """Fill `predicted` with the tags whose probability is the largest under any decomposition (Tsuruoka and Tsujii).

    A decomposition says for every two neighbours whose tag is chosen given the other's, and so it has no cycles. The
    rows of each model are those of words, then: the tag before, the tag after, both, the tag before and the word, the
    tag after and the word.
    """
    model, sides, n_rows = (starts, weight_tags, weights), tags + 1, (len(starts) - 1) // 4
    next_first = n_rows - n_forms * sides
    last_first = next_first - n_forms * sides
    both_first = last_first - sides * sides
    places = (n_rows, both_first - 2 * sides, both_first - sides, both_first, last_first, next_first)
    workspace = (scores, word_scores, left, right, chances)
    candidates, square = (chosen, counts), most * most
    for word in range(len(lists)):
        word_scores[:tags] = 0.0
        if list_starts[lists[word] + 1] - list_starts[lists[word]] > most:
            for k in range(word * width, (word + 1) * width):
                add_row(rows[k], model, word_scores, 0)
        choose_tags(word, lists[word], (list_starts, choices), most, tags, word_scores, candidates)
    for number in range(len(offsets) - 1):
        begin, end = offsets[number], offsets[number + 1]
        sentence = (begin, end)
        here, there = np.int64(0), 2 * square
        best[there : there + 2 * square] = 0.0
        best[there : there + most] = 1.0  # the arrow from the beginning: what stands there is known
        for word in range(begin, end):
            local_models(word, sentence, places, most, tags, forms[word], (rows, width), candidates, model, powers,
                         workspace)  # fmt: skip
            advance(word, sentence, most, candidates, chances, best, here, there, back)
            here, there = there, here
        if end == begin:
            continue
        arg, after, arrow = np.int64(0), np.int64(0), np.int64(1)  # what stands after the end is known, too
        for c in range(1, counts[end - 1]):
            if best[there + square + c * most] > best[there + square + arg * most]:
                arg = np.int64(c)
        for word in range(end - 1, begin - 1, -1):
            predicted[word] = chosen[word * most + arg]
            code = np.int64(back[(word - begin) * 2 * square + (arrow * most + arg) * most + after])
            after = arg
            arrow, arg = code // most, code % most
    return 0
