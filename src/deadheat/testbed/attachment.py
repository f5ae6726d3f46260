"""Wrong heads that leave a tree a tree.

Not every set of words of a tree can be wrong, with all others right: the root cannot be wrong alone (some
other word must take its place), and neither can all children of the root and nothing else (one of them must
stay). All other sets can. Where the drawn set is one of these two, it loses a word or gains one, with equal
probability, so that the expected number of errors stays what it was. Only a sentence of one word is always
right; the other sentences make up for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from deadheat.testbed.chance import Chance

# Words look for a wrong head nearby; after so many vain tries they take the one that is always free.
TRIES = 8

# Where several roots are allowed, this share of the wrong heads is a root.
ROOTS_AMONG_ERRORS = 0.15


def error_rate(sizes: Sequence[int], uas: float) -> float:
    """The share of errors in sentences of two words or more that gives this UAS over all sentences."""
    movable = sum(size for size in sizes if size > 1)
    return min(1.0, (1 - uas) * sum(sizes) / movable) if movable else 0.0


def possible_errors(
    heads: Sequence[int], hardness: Sequence[float], threshold: float, chance: Chance
) -> frozenset[int]:
    """The numbers of the words that are wrong: those below the threshold, or one more or fewer."""
    if len(heads) == 1:
        return frozenset()
    drawn = frozenset(number for number, latent in enumerate(hardness, start=1) if latent < threshold)
    root = heads.index(0) + 1
    children = frozenset(number for number, head in enumerate(heads, start=1) if head == root)
    if drawn == {root}:
        others = [number for number in range(1, len(heads) + 1) if number != root]
        hardest = min(others, key=lambda number: hardness[number - 1])
        return drawn | {hardest} if chance.happens(0.5) else frozenset()
    if drawn == children:
        easiest = max(sorted(children), key=lambda number: hardness[number - 1])
        return drawn | {root} if chance.happens(0.5) else drawn - {easiest}
    return drawn


def reattached(
    heads: Sequence[int], wrong: frozenset[int], chance: Chance, *, multiple_roots: bool = False
) -> list[int]:
    """Heads of a tree in which just these words have another head than before.

    Examples
    --------
    >>> reattached([2, 0, 2, 3], frozenset({1, 2}), Chance("example"))
    [0, 1, 2, 3]
    """
    found = list(heads)
    if not wrong:
        return found
    old_root = heads.index(0) + 1
    if old_root in wrong:
        # Another wrong word becomes the root, and the old root hangs on it.
        candidates = sorted(wrong - {old_root})
        near = [number for number in candidates if heads[number - 1] == old_root]
        root, anchor = chance.choose(near or candidates), old_root
        found[root - 1], found[anchor - 1] = 0, root
    else:
        root = old_root
        kept = [number for number, head in enumerate(heads, start=1) if head == root and number not in wrong]
        deeper = [number for number in sorted(wrong) if heads[number - 1] != root]
        anchor = kept[0] if kept else chance.choose(deeper)
        found[anchor - 1] = root
    for number in sorted(wrong - {root, anchor}):
        if multiple_roots and chance.happens(ROOTS_AMONG_ERRORS):
            found[number - 1] = 0
        else:
            # The root is above every word, and the anchor stays right below the root: one of them is free.
            free = root if heads[number - 1] != root else anchor
            found[number - 1] = _wrong_head(found, heads[number - 1], number, chance) or free
    return found


def _wrong_head(found: Sequence[int], right: int, number: int, chance: Chance) -> int:
    """A word near a word or near its right head that may become its head, or 0 where luck finds none."""
    for _ in range(TRIES):
        around = number if chance.happens(0.5) else right
        distance = 1
        while chance.happens(0.5):
            distance += 1
        head = around + distance if chance.happens(0.5) else around - distance
        if 1 <= head <= len(found) and head not in (number, right) and not _above(found, number, head):
            return head
    return 0


def _above(heads: Sequence[int], upper: int, lower: int) -> bool:
    """Whether a word is above another in the tree."""
    while lower and lower != upper:
        lower = heads[lower - 1]
    return lower == upper
