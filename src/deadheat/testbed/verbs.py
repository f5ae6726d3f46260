"""Verbs: what helps them, and where their dependents stand."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from deadheat.testbed.chance import Weighted, weighted
from deadheat.testbed.constituents import degree_adverb
from deadheat.testbed.language import Language
from deadheat.testbed.morphology import IMPERATIVE, INFINITIVE, PARTICIPLE, PASSIVE, Features
from deadheat.testbed.phrases import Dependent, Tree, phrase
from deadheat.testbed.voice import Voice

# How far from its verb a dependent stands: `in bed she has not quickly read the book because ...`.
# Between auxiliaries and obliques there is room for the subject and the objects.
ADVERB, NEGATION, AUXILIARY, ARGUMENT, OBLIQUE, ADVERBIAL, CONJOINED, AFTERTHOUGHT = 0, 1, 2, 3, 8, 9, 10, 11

FRAMES = {
    "intransitive": (1, 3.0),
    "transitive": (2, 5.0),
    "copular": (2, 2.5),
    "passive": (2, 1.0),
    "ditransitive": (3, 0.5),
    "wanting": (4, 1.0),
    "saying": (5, 1.5),
}
"""Kinds of predicate: the words they need without the subject, and their weight."""

EMBEDDING_FRAMES = ("saying", "wanting")

VERB_CLASSES = {"passive": "transitive", "gapped": "transitive"}
"""The class of verbs that a frame takes, where it is not the frame's own name."""


class Subject(NamedTuple):
    """Who does it, where that is said, and the features that the verb takes from it."""

    tree: Tree | None
    features: Features


class Clause(NamedTuple):
    """What the adjuncts of a clause need to know about it."""

    features: Features
    arrangement: str
    transitive: bool


@cache
def affordable_frames(language: Language, budget: int) -> Weighted[str]:
    """The kinds of predicate that so many words can pay for."""
    frames = [frame for frame, (cost, _) in FRAMES.items() if cost <= budget]
    if not language.embedding:
        frames = [frame for frame in frames if frame not in EMBEDDING_FRAMES]
    return weighted(frames, [FRAMES[frame][1] for frame in frames])


def draw_frame(voice: Voice, budget: int) -> str:
    """A kind of predicate that fits into the budget."""
    return voice.chance.draw(affordable_frames(voice.language, min(max(budget, 1), 5)))


@cache
def arrangements(language: Language) -> Weighted[str]:
    """The orders of subject, verb and object in a language."""
    return weighted(*zip(*language.arrangements, strict=True))


def argument(arrangement: str, letter: str, tree: Tree) -> Dependent:
    """A subject (S) or object (O) in its place of the arrangement.

    Examples
    --------
    >>> argument("SOV", "S", tree=...).slot > argument("SOV", "O", tree=...).slot
    True
    """
    distance = arrangement.index(letter) - arrangement.index("V")
    return Dependent(ARGUMENT + abs(distance), distance < 0, tree)


def stands_before(voice: Voice, arrangement: str) -> bool:
    """Whether an adjunct precedes the verb: always where the verb is last, else now and then."""
    return arrangement.endswith("V") or voice.chance.happens(0.25)


def verb_group(voice: Voice, budget: int, features: Features, *, passive: bool) -> tuple[Features, list[Dependent]]:
    """The features of the main verb, and its auxiliaries and negation; the first of the verbs is finite."""
    chance, language = voice.chance, voice.language
    if passive:
        return PASSIVE, [auxiliary(voice, "passive", features, "aux:pass")]
    if features in (INFINITIVE, IMPERATIVE) or budget <= 2:
        return features, []
    helpers = []
    if chance.happens(0.08):
        negation = Tree(voice.function("negation"), "advmod")
        helpers.append(Dependent(NEGATION, language.auxiliary == "before", negation))
    if chance.happens(0.12):
        helpers.append(auxiliary(voice, "perfect", features, "aux"))
        features = PARTICIPLE
    elif chance.happens(0.12):
        helpers.append(auxiliary(voice, "modal", features, "aux"))
        features = INFINITIVE
    return features, helpers


def auxiliary(voice: Voice, kind: str, features: Features, relation: str) -> Dependent:
    """An auxiliary or a copula, on its side of the predicate."""
    before = voice.language.auxiliary == "before"
    return Dependent(AUXILIARY, before, Tree(voice.function(kind, features), relation))


def adverb(voice: Voice, budget: int, clause: Clause) -> Dependent:
    """An adverb close to the verb."""
    before = stands_before(voice, clause.arrangement)
    word = voice.inflect(voice.content("adverb"), ())
    degree = [degree_adverb(voice)] if budget > 1 and voice.chance.happens(0.2) else []
    return Dependent(ADVERB, before, phrase(word, "advmod", degree))
