"""Trees of words, their word order, and their spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from deadheat.testbed.chance import Chance, Weighted, weighted
from deadheat.testbed.conllu import Token
from deadheat.testbed.language import Language
from deadheat.testbed.lexicon import Voice
from deadheat.testbed.morphology import WordForm

Context = TypeVar("Context")

BEFORE, AFTER = True, False


class Tree(NamedTuple):
    """A word with its dependents on both sides, in order."""

    word: WordForm
    relation: str
    left: tuple[Tree, ...] = ()
    right: tuple[Tree, ...] = ()
    size: int = 1


class Dependent(NamedTuple):
    """A phrase, its side of the head, and its distance from the head: slot 0 is next to it."""

    slot: float
    before: bool
    tree: Tree


def phrase(word: WordForm, relation: str, dependents: Iterable[Dependent]) -> Tree:
    """Make a phrase of a word and its dependents."""
    return extend(Tree(word, relation), dependents)


def extend(tree: Tree, dependents: Iterable[Dependent]) -> Tree:
    """Add dependents outside of those that a phrase has."""
    word, relation, left, right, size = tree
    inner = sorted(dependents, key=_slot)
    before = [dependent.tree for dependent in reversed(inner) if dependent.before]
    after = [dependent.tree for dependent in inner if not dependent.before]
    return Tree(word, relation, (*before, *left), (*right, *after), size + total_size(inner))


def total_size(dependents: Iterable[Dependent]) -> int:
    """Count the words of some dependents."""
    return sum(dependent.tree.size for dependent in dependents)


def _slot(dependent: Dependent) -> float:
    return dependent.slot


class Option(NamedTuple, Generic[Context]):
    """An optional dependent: its minimum number of words, its weight, and how to build it."""

    cost: int
    weight: float
    build: Callable[[Voice, int, Context], Dependent]


class Menu(NamedTuple, Generic[Context]):
    """Options by budget: entry b has those that need at most b words."""

    affordable: tuple[Weighted[Option[Context]] | None, ...]

    def spend(self, voice: Voice, budget: int, context: Context) -> list[Dependent]:
        """Draw dependents of about `budget` words; drawing the same one-word option again ends the phrase."""
        chosen: list[Dependent] = []
        drawn: set[Option[Context]] = set()
        while budget > 0:
            options = self.affordable[min(budget, len(self.affordable) - 1)]
            if options is None:
                break
            option = voice.chance.draw(options)
            if option.cost == 1:
                if option in drawn:
                    break
                drawn.add(option)
            allowance = option.cost + voice.chance.below(budget - option.cost + 1)
            dependent = option.build(voice, allowance, context)
            chosen.append(dependent)
            budget -= dependent.tree.size
        return chosen


def menu(options: Sequence[Option[Context]]) -> Menu[Context]:
    """Make a menu of the options with a positive weight."""
    offered = [option for option in options if option.weight > 0]
    most_expensive = max(option.cost for option in offered)
    pages: list[Weighted[Option[Context]] | None] = []
    for budget in range(most_expensive + 1):
        page = [option for option in offered if option.cost <= budget]
        pages.append(weighted(page, [option.weight for option in page]) if page else None)
    return Menu(tuple(pages))


MOVABLE = frozenset({"acl", "acl:relcl", "advcl", "amod", "nmod", "obl", "obj", "nummod"})
"""Relations whose phrases may leave the phrase of their head."""

OPENERS = frozenset({"punct", "mark", "cc", "case"})
"""Relations that stay first in their phrase."""


class Layout(NamedTuple):
    """Words in order; heads are positions from 0, and -1 for the root."""

    words: Sequence[WordForm]
    relations: Sequence[str]
    heads: Sequence[int]


def linearize(tree: Tree) -> Layout:
    """List the words of a tree from left to right."""
    words: list[WordForm] = []
    relations: list[str] = []
    heads: list[int] = []

    def visit(node: Tree) -> int:
        left = [visit(child) for child in node.left]
        position = len(words)
        words.append(node.word)
        relations.append(node.relation)
        heads.append(-1)
        for child in left + [visit(child) for child in node.right]:
            heads[child] = position
        return position

    visit(tree)
    return Layout(words, relations, heads)


def displace(layout: Layout, chance: Chance) -> Layout:
    """Move one phrase away from its head so that the tree is not projective, where possible."""
    heads = layout.heads
    candidates = [
        (node, to_the_right)
        for node, relation in enumerate(layout.relations)
        if relation in MOVABLE and heads[node] >= 0 and heads[heads[node]] >= 0
        for to_the_right in (True, False)
    ]
    while candidates:
        node, to_the_right = candidates.pop(chance.below(len(candidates)))
        order = _order_after_move(layout, node, to_the_right=to_the_right)
        if order:
            return reorder(layout, order)
    return layout


def _order_after_move(layout: Layout, node: int, *, to_the_right: bool) -> list[int] | None:
    """Return the word order after moving a phrase to the edge of the phrase around its head's phrase."""
    head = layout.heads[node]
    inner = phrase_of(layout, head)
    around = sorted(phrase_of(layout, layout.heads[head]) - inner)
    moving = sorted(phrase_of(layout, node))
    if to_the_right:
        crossed = [i for i in around if i > max(inner) and layout.relations[i] != "punct"]
        cut = crossed[-1] + 1 if crossed else 0
    else:
        crossed = [i for i in around if i < min(inner) and layout.relations[i] not in OPENERS]
        cut = crossed[0] if crossed else 0
    if not crossed:
        return None
    staying = [i for i in range(len(layout.words)) if i not in set(moving)]
    return [i for i in staying if i < cut] + moving + [i for i in staying if i >= cut]


def phrase_of(layout: Layout, node: int) -> set[int]:
    """Return the positions of a node and all its descendants."""
    nodes = {node}
    waiting = [node]
    while waiting:
        head = waiting.pop()
        below = [i for i, above in enumerate(layout.heads) if above == head]
        nodes.update(below)
        waiting += below
    return nodes


def reorder(layout: Layout, order: Sequence[int]) -> Layout:
    """Reorder the words of a tree: `order[i]` is the old position of word i."""
    new_place = {old: new for new, old in enumerate(order)}
    new_place[-1] = -1
    return Layout(
        [layout.words[old] for old in order],
        [layout.relations[old] for old in order],
        [new_place[layout.heads[old]] for old in order],
    )


CLOSING = frozenset(",.?!;:”)")
OPENING = frozenset("“(")


def capitalize(layout: Layout) -> Layout:
    """Capitalize the first word that is not punctuation."""
    first = next(i for i, word in enumerate(layout.words) if word.upos != "PUNCT")
    words = list(layout.words)
    form = words[first].form
    words[first] = words[first]._replace(form=form[:1].upper() + form[1:])
    return layout._replace(words=words)


def spell(language: Language, chance: Chance, layout: Layout) -> tuple[Token, ...]:
    """Turn words into tokens: contractions, clitics and spaces."""
    tokens: list[Token] = []
    i, end = 0, len(layout.words)
    while i < end:
        word = layout.words[i]
        joined = i + 1 < end and _is_joined(language, chance, layout, i)
        surface = _join(word, layout.words[i + 1]) if joined else word.form
        i += 1 + joined
        glued = i < end and (layout.words[i].form in CLOSING or surface in OPENING)
        tokens.append(Token(surface, 1 + joined, not glued))
    return tuple(tokens)


def _is_joined(language: Language, chance: Chance, layout: Layout, i: int) -> bool:
    """Return whether a word is written as one token with the next one."""
    if not (language.contractions or language.clitics):
        return False
    here, following = layout.words[i], layout.words[i + 1]
    if here.upos == "ADP" and following.upos == "DET" and "PronType=Art" in following.feats:
        return chance.happens(language.contractions)
    if here.upos == "VERB" and following.upos == "PRON" and layout.heads[i + 1] == i:
        return "PronType=Prs" in following.feats and chance.happens(language.clitics)
    return False


def _join(first: WordForm, second: WordForm) -> str:
    """Join two words: contractions lose letters in the middle, clitics do not."""
    if first.upos == "VERB":
        return first.form + second.form
    return first.form[:-1] + second.form[1:]
