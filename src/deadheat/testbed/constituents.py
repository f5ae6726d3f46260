"""Parts of phrases: determiners, adjectives, numbers, names, pronouns, verbs and their helpers, punctuation."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from deadheat.testbed.chance import Weighted, weighted
from deadheat.testbed.language import Language
from deadheat.testbed.lexicon import Voice
from deadheat.testbed.morphology import IMPERATIVE, INFINITIVE, PARTICIPLE, PASSIVE, Features, Lexeme, WordForm
from deadheat.testbed.phrases import AFTER, BEFORE, Dependent, Tree, phrase

# How far from its noun a dependent stands: `of the three old mill towns`.
COMPOUND, ADJECTIVE, NUMBER, GENITIVE, APPOSITION, RELATIVE, CONJUNCT, DETERMINER, CASE = range(9)

# Outside of all other dependents of a phrase, nearest first.
MARKER, COORDINATOR, COMMA = 20, 21, 22

DETERMINERS = weighted(
    ("definite", "indefinite", "demonstrative", "quantifier", "possessive"), (10.0, 5.0, 1.0, 1.5, 1.5)
)
BARE_DETERMINERS = weighted(("demonstrative", "quantifier", "possessive"), (1.0, 1.0, 1.0))

SIGNS = ("%", "€", "§")

PERSONS = {"1": "first person", "2": "second person", "3": "third person"}


class Nominal(NamedTuple):
    """What a noun demands of the words that agree with it."""

    case: str
    gender: str
    number: str
    features: Features


def nominal(voice: Voice, case: str, gender: str, number: str) -> Nominal:
    """The agreement of a noun in this case and number."""
    return Nominal(case, gender, number, voice.morphology.nominal[case, gender, number])


def punctuation(sign: str) -> Tree:
    """A sign of punctuation."""
    return Tree(WordForm(sign, sign, "PUNCT", sign, "_"), "punct")


def comma_before() -> Dependent:
    """A comma that opens a phrase."""
    return Dependent(COMMA, BEFORE, punctuation(","))


def comma_after() -> Dependent:
    """A comma that closes a phrase."""
    return Dependent(COMMA, AFTER, punctuation(","))


def coordinator(voice: Voice) -> Dependent:
    """The conjunction that opens a conjunct: `and`."""
    return Dependent(COORDINATOR, BEFORE, Tree(voice.function("coordinator"), "cc"))


def determiner(voice: Voice, noun: Nominal) -> Dependent:
    """An article, or what takes its place: `the`, `this`, `some`, `my`."""
    kind = voice.chance.draw(DETERMINERS if voice.language.articles else BARE_DETERMINERS)
    word = voice.agreeing(voice.chance.draw(voice.lexicon.words[kind]), noun.features)
    return Dependent(DETERMINER, BEFORE, Tree(word, "det:poss" if kind == "possessive" else "det"))


def adjective(voice: Voice, budget: int, noun: Nominal) -> Dependent:
    """An adjective that agrees with its noun, perhaps with a degree: `very old`."""
    word = voice.agreeing(voice.content("adjective"), noun.features)
    degree = [degree_adverb(voice)] if budget > 1 and voice.chance.happens(0.3) else []
    return Dependent(ADJECTIVE, voice.language.adjective == "before", phrase(word, "amod", degree))


def degree_adverb(voice: Voice) -> Dependent:
    """An adverb that says how much: `very`."""
    return Dependent(0, BEFORE, Tree(voice.function("degree"), "advmod"))


def numeral(voice: Voice, budget: int, noun: Nominal) -> Dependent:
    """A number before its noun, in letters or in digits; one thing alone is described, not counted."""
    if noun.number == "Sing":
        return adjective(voice, budget, noun)
    return Dependent(NUMBER, BEFORE, Tree(number_word(voice), "nummod"))


def number_word(voice: Voice) -> WordForm:
    """A number, in letters or in digits."""
    if voice.chance.happens(voice.language.numerals):
        return digits(voice)
    return voice.function("numeral")


def digits(voice: Voice) -> WordForm:
    """A number in digits: `7`, `1984`, or with a space `12 500`."""
    value = 2 + voice.chance.below(10 ** (1 + voice.chance.below(5)))
    form = str(value)
    if voice.language.spaced_numbers and value >= 1000:
        form = f"{form[:-3]} {form[-3:]}"
    return WordForm(form, form, "NUM", "M.digits", "NumForm=Digit|NumType=Card")


def compound(voice: Voice, budget: int, noun: Nominal) -> Dependent:
    """A bare noun next to the noun it modifies: `mill town`."""
    modifier = voice.content("noun")
    features = voice.morphology.nominal[voice.case(), modifier.gender, "Sing"]
    return Dependent(COMPOUND, BEFORE, Tree(voice.inflect(modifier, features), "compound"))


def pronoun(voice: Voice, case: str, number: str, person: str, relation: str) -> Tree:
    """A personal pronoun; only the third person shows gender."""
    genders = voice.language.genders
    gender = voice.chance.choose(genders) if genders and person == "3" else ""
    features = voice.morphology.nominal[case, gender, number]
    return Tree(voice.function(PERSONS[person], features), relation)


def somebody(voice: Voice, case: str, relation: str) -> Tree:
    """An indefinite pronoun: `somebody`, `nothing`."""
    return Tree(voice.function("somebody", voice.morphology.nominal[case, "", "Sing"]), relation)


def name(voice: Voice, budget: int, case: str, relation: str) -> Tree:
    """A proper name of one to three words; the words after the first hang flat on it."""
    first = voice.name()
    length = min(budget, 1 + voice.chance.happens(0.35) + voice.chance.happens(0.1))
    rest = [voice.chance.draw(voice.lexicon.words["name"]) for _ in range(length - 1)]
    flat = [Dependent(0, AFTER, Tree(named(voice, other, case), "flat")) for other in rest if other != first]
    return phrase(named(voice, first, case), relation, flat)


def foreign_title(voice: Voice, budget: int, relation: str) -> Tree:
    """A title in another language: `Vita Nova`."""
    first, *rest = (voice.function("foreign") for _ in range(min(budget, 3)))
    return phrase(first, relation, [Dependent(0, AFTER, Tree(word, "flat:foreign")) for word in rest])


def amount(voice: Voice, relation: str) -> Tree:
    """A sign that is counted: `12 %`."""
    form = voice.chance.choose(SIGNS)
    sign = WordForm(form, form, "SYM", "SYM", "_")
    return phrase(sign, relation, [Dependent(NUMBER, BEFORE, Tree(digits(voice), "nummod"))])


def named(voice: Voice, lexeme: Lexeme, case: str) -> WordForm:
    """A name in the singular."""
    return voice.inflect(lexeme, voice.morphology.nominal[case, lexeme.gender, "Sing"])


def adposition(voice: Voice) -> Dependent:
    """A preposition or postposition, at the edge of its noun phrase."""
    return Dependent(CASE, voice.language.adposition == "before", Tree(voice.function("adposition"), "case"))


def marker(voice: Voice, kind: str) -> Dependent:
    """A word at the edge of a subordinate clause: `that`, `because`, `to`."""
    return Dependent(MARKER, voice.language.subordinator == "before", Tree(voice.function(kind), "mark"))


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
