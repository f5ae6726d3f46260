"""Trees of words: how a head and its dependents become a phrase, and what a phrase may spend its words on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from deadheat.testbed.chance import Weighted, weighted
from deadheat.testbed.morphology import WordForm
from deadheat.testbed.voice import Voice

Context = TypeVar("Context")

BEFORE, AFTER = True, False


class Tree(NamedTuple):
    """A word with its dependents on both sides, in the order in which they are said."""

    word: WordForm
    relation: str
    left: tuple[Tree, ...] = ()
    right: tuple[Tree, ...] = ()
    size: int = 1


class Dependent(NamedTuple):
    """A phrase, the side of the head on which it stands, and how far out: slot 0 is next to the head."""

    slot: float
    before: bool
    tree: Tree


def phrase(word: WordForm, relation: str, dependents: Iterable[Dependent]) -> Tree:
    """A word and its dependents, each in its slot."""
    return extended(Tree(word, relation), dependents)


def extended(tree: Tree, dependents: Iterable[Dependent]) -> Tree:
    """A phrase with more dependents, outside of those that it has."""
    word, relation, left, right, size = tree
    inner = sorted(dependents, key=_slot)
    before = [dependent.tree for dependent in reversed(inner) if dependent.before]
    after = [dependent.tree for dependent in inner if not dependent.before]
    return Tree(word, relation, (*before, *left), (*right, *after), size + total_size(inner))


def total_size(dependents: Iterable[Dependent]) -> int:
    """The number of words in some dependents."""
    return sum(dependent.tree.size for dependent in dependents)


def _slot(dependent: Dependent) -> float:
    return dependent.slot


class Option(NamedTuple, Generic[Context]):
    """Something a phrase may add: the words it needs at least, how popular it is, and how it is built."""

    cost: int
    weight: float
    build: Callable[[Voice, int, Context], Dependent]


class Menu(NamedTuple, Generic[Context]):
    """Options by what they cost: entry b holds those that b words can pay for."""

    affordable: tuple[Weighted[Option[Context]] | None, ...]

    def spend(self, voice: Voice, budget: int, context: Context) -> list[Dependent]:
        """Dependents worth about `budget` words; to come upon a small one a second time ends the phrase."""
        chosen: list[Dependent] = []
        said: set[Option[Context]] = set()
        while budget > 0:
            options = self.affordable[min(budget, len(self.affordable) - 1)]
            if options is None:
                break
            option = voice.chance.draw(options)
            if option.cost == 1:
                if option in said:
                    break
                said.add(option)
            allowance = option.cost + voice.chance.below(budget - option.cost + 1)
            dependent = option.build(voice, allowance, context)
            chosen.append(dependent)
            budget -= dependent.tree.size
        return chosen


def menu(options: Sequence[Option[Context]]) -> Menu[Context]:
    """A menu of some options; those of weight 0 are not on it."""
    offered = [option for option in options if option.weight > 0]
    dearest = max(option.cost for option in offered)
    pages: list[Weighted[Option[Context]] | None] = []
    for budget in range(dearest + 1):
        page = [option for option in offered if option.cost <= budget]
        pages.append(weighted(page, [option.weight for option in page]) if page else None)
    return Menu(tuple(pages))
