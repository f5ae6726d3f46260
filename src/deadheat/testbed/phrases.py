"""From trees of words to written sentences: phrases, word order, and spelling."""

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


CLOSING = frozenset(",.?!;:”)")
OPENING = frozenset("“(")


def capitalized(layout: Layout) -> Layout:
    """The sentence with a capital letter at its first word that is not punctuation."""
    first = next(place for place, word in enumerate(layout.words) if word.upos != "PUNCT")
    words = list(layout.words)
    form = words[first].form
    words[first] = words[first]._replace(form=form[:1].upper() + form[1:])
    return layout._replace(words=words)


def spelled(language: Language, chance: Chance, layout: Layout) -> tuple[Token, ...]:
    """The tokens that a row of words is written as."""
    tokens: list[Token] = []
    place, end = 0, len(layout.words)
    while place < end:
        word = layout.words[place]
        joined = place + 1 < end and _melts(language, chance, layout, place)
        surface = _melted(word, layout.words[place + 1]) if joined else word.form
        place += 1 + joined
        glued = place < end and (layout.words[place].form in CLOSING or surface in OPENING)
        tokens.append(Token(surface, 1 + joined, not glued))
    return tuple(tokens)


def _melts(language: Language, chance: Chance, layout: Layout, place: int) -> bool:
    """Whether the word here is written as one token with the next."""
    if not (language.contractions or language.clitics):
        return False
    here, following = layout.words[place], layout.words[place + 1]
    if here.upos == "ADP" and following.upos == "DET" and "PronType=Art" in following.feats:
        return chance.happens(language.contractions)
    if here.upos == "VERB" and following.upos == "PRON" and layout.heads[place + 1] == place:
        return "PronType=Prs" in following.feats and chance.happens(language.clitics)
    return False


def _melted(first: WordForm, second: WordForm) -> str:
    """A contraction loses sounds where its parts meet; a clitic is written onto its verb as it is."""
    if first.upos == "VERB":
        return first.form + second.form
    return first.form[:-1] + second.form[1:]
