"""From a tree to a row of words, and phrases torn out of their places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from deadheat.testbed.chance import Chance
from deadheat.testbed.morphology import WordForm
from deadheat.testbed.phrases import Tree

MOVABLE = frozenset({"acl", "acl:relcl", "advcl", "amod", "nmod", "obl", "obj", "nummod"})
"""Relations whose phrases may leave the phrase of their head."""

OPENERS = frozenset({"punct", "mark", "cc", "case"})
"""What stays first in its phrase, whatever moves to the front."""


class Layout(NamedTuple):
    """Words in the order in which they are said; heads are positions from 0, and -1 for the root."""

    words: Sequence[WordForm]
    relations: Sequence[str]
    heads: Sequence[int]


def linearize(tree: Tree) -> Layout:
    """The words of a tree from left to right."""
    words: list[WordForm] = []
    relations: list[str] = []
    heads: list[int] = []

    def place(node: Tree) -> int:
        left = [place(child) for child in node.left]
        here = len(words)
        words.append(node.word)
        relations.append(node.relation)
        heads.append(-1)
        for child in left + [place(child) for child in node.right]:
            heads[child] = here
        return here

    place(tree)
    return Layout(words, relations, heads)


def displaced(layout: Layout, chance: Chance) -> Layout:
    """The sentence with one phrase torn off its head by words of others, where there is such a phrase."""
    heads = layout.heads
    candidates = [
        (node, to_the_right)
        for node, relation in enumerate(layout.relations)
        if relation in MOVABLE and heads[node] >= 0 and heads[heads[node]] >= 0
        for to_the_right in (True, False)
    ]
    while candidates:
        node, to_the_right = candidates.pop(chance.below(len(candidates)))
        order = _torn_off(layout, node, to_the_right=to_the_right)
        if order:
            return reordered(layout, order)
    return layout


def _torn_off(layout: Layout, node: int, *, to_the_right: bool) -> list[int] | None:
    """The order in which the phrase of a node stands at the edge of the phrase around its head's phrase."""
    head = layout.heads[node]
    inner = phrase_of(layout, head)
    around = sorted(phrase_of(layout, layout.heads[head]) - inner)
    moving = sorted(phrase_of(layout, node))
    if to_the_right:
        crossed = [place for place in around if place > max(inner) and layout.relations[place] != "punct"]
        cut = crossed[-1] + 1 if crossed else 0
    else:
        crossed = [place for place in around if place < min(inner) and layout.relations[place] not in OPENERS]
        cut = crossed[0] if crossed else 0
    if not crossed:
        return None
    staying = [place for place in range(len(layout.words)) if place not in set(moving)]
    return [place for place in staying if place < cut] + moving + [place for place in staying if place >= cut]


def phrase_of(layout: Layout, node: int) -> set[int]:
    """The positions of a node and all that depends on it."""
    found = {node}
    waiting = [node]
    while waiting:
        head = waiting.pop()
        below = [place for place, above in enumerate(layout.heads) if above == head]
        found.update(below)
        waiting += below
    return found


def reordered(layout: Layout, order: Sequence[int]) -> Layout:
    """The same tree with its words in another order: `order[i]` is the old position of word i."""
    new_place = {old: new for new, old in enumerate(order)}
    new_place[-1] = -1
    return Layout(
        [layout.words[old] for old in order],
        [layout.relations[old] for old in order],
        [new_place[layout.heads[old]] for old in order],
    )
