"""Agreement of raters, item by item, for many groups of items at once."""

from __future__ import annotations

from deadheat.kernels.native import kernel


@kernel("i4 int i8 i8 f8 i8")
def agreement_sums(labels, raters, offsets, room, agreeing, counts):
    """Fill what Krippendorff's nominal alpha is made of, for each group of consecutive items.

    `labels` has a row a rater; -1 is no label. Group g has the items from offsets[g] to offsets[g + 1]. `agreeing`
    gets the sum over items of ordered pairs of equal labels / (labels - 1); `counts` five numbers a group: labels
    that stand beside another one, ordered pairs of those with equal labels, items with two labels or more, items
    with two different ones, and different labels. `room` is twice as long as there are codes, and all 0; it is left so.
    """
    items = len(labels) // raters
    codes = len(room) // 2
    for group in range(len(offsets) - 1):
        total = 0
        pairable = 0
        disagreeing = 0
        pairs = 0
        kinds = 0
        agreed = 0.0
        for item in range(offsets[group], offsets[group + 1]):
            given = 0
            equal = 0
            for rater in range(raters):
                label = labels[rater * items + item]
                if label >= 0:
                    given += 1
                    equal += 2 * room[label]
                    room[label] += 1
            for rater in range(raters):
                label = labels[rater * items + item]
                if label >= 0:
                    room[label] = 0
                    if given > 1:
                        pairs += 2 * room[codes + label]
                        kinds += room[codes + label] == 0
                        room[codes + label] += 1
            if given > 1:
                total += given
                pairable += 1
                disagreeing += equal < given * (given - 1)
                agreed += equal / (given - 1)
        for item in range(offsets[group], offsets[group + 1]):
            for rater in range(raters):
                label = labels[rater * items + item]
                if label >= 0:
                    room[codes + label] = 0
        agreeing[group] = agreed
        counts[5 * group] = total
        counts[5 * group + 1] = pairs
        counts[5 * group + 2] = pairable
        counts[5 * group + 3] = disagreeing
        counts[5 * group + 4] = kinds
    return 0
