"""Parts of phrases: determiners, adjectives, numbers, names, pronouns, verb groups, punctuation."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from deadheat.testbed.chance import Weighted, weighted
from deadheat.testbed.language import Language
from deadheat.testbed.lexicon import Voice
from deadheat.testbed.morphology import IMPERATIVE, INFINITIVE, PARTICIPLE, PASSIVE, Features, Lexeme, WordForm
from deadheat.testbed.phrases import AFTER, BEFORE, Dependent, Tree, phrase

# Slots of the dependents of a noun: `of the three old mill towns`.
COMPOUND, ADJECTIVE, NUMBER, GENITIVE, APPOSITION, RELATIVE, CONJUNCT, DETERMINER, CASE = range(9)

# Slots outside of all other dependents.
MARKER, COORDINATOR, COMMA = 20, 21, 22

DETERMINERS = weighted(
    ("definite", "indefinite", "demonstrative", "quantifier", "possessive"), (10.0, 5.0, 1.0, 1.5, 1.5)
)
BARE_DETERMINERS = weighted(("demonstrative", "quantifier", "possessive"), (1.0, 1.0, 1.0))

SIGNS = ("%", "€", "§")

PERSONS = {"1": "first person", "2": "second person", "3": "third person"}


class Nominal(NamedTuple):
    """The agreement features of a noun."""

    case: str
    gender: str
    number: str
    features: Features


def nominal(voice: Voice, case: str, gender: str, number: str) -> Nominal:
    """Return the agreement features of a noun."""
    return Nominal(case, gender, number, voice.morphology.nominal[case, gender, number])


def punctuation(sign: str) -> Tree:
    """Make a punctuation sign."""
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
    """Make a determiner: `the`, `this`, `some`, `my`."""
    kind = voice.chance.draw(DETERMINERS if voice.language.articles else BARE_DETERMINERS)
    word = voice.agreeing(voice.chance.draw(voice.lexicon.words[kind]), noun.features)
    return Dependent(DETERMINER, BEFORE, Tree(word, "det:poss" if kind == "possessive" else "det"))


def adjective(voice: Voice, budget: int, noun: Nominal) -> Dependent:
    """Make an adjective that agrees with its noun, perhaps with an adverb: `very old`."""
    word = voice.agreeing(voice.content("adjective"), noun.features)
    degree = [degree_adverb(voice)] if budget > 1 and voice.chance.happens(0.3) else []
    return Dependent(ADJECTIVE, voice.language.adjective == "before", phrase(word, "amod", degree))


def degree_adverb(voice: Voice) -> Dependent:
    """Make a degree adverb: `very`."""
    return Dependent(0, BEFORE, Tree(voice.function("degree"), "advmod"))


def numeral(voice: Voice, budget: int, noun: Nominal) -> Dependent:
    """Make a number before a plural noun; a singular noun gets an adjective."""
    if noun.number == "Sing":
        return adjective(voice, budget, noun)
    return Dependent(NUMBER, BEFORE, Tree(number_word(voice), "nummod"))


def number_word(voice: Voice) -> WordForm:
    """Make a number in letters or digits."""
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
    """Make an amount: `12 %`."""
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


# Slots of the dependents of a verb: `in bed she has not quickly read the book because ...`.
# The subject and the objects are between auxiliaries and obliques.
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
    """The subject, if expressed, and the agreement features of its verb."""

    tree: Tree | None
    features: Features


class Clause(NamedTuple):
    """The context of a clause for its adjuncts."""

    features: Features
    arrangement: str
    transitive: bool


@cache
def affordable_frames(language: Language, budget: int) -> Weighted[str]:
    """Return the kinds of predicate that need at most so many words."""
    frames = [frame for frame, (cost, _) in FRAMES.items() if cost <= budget]
    if not language.embedding:
        frames = [frame for frame in frames if frame not in EMBEDDING_FRAMES]
    return weighted(frames, [FRAMES[frame][1] for frame in frames])


def draw_frame(voice: Voice, budget: int) -> str:
    """Draw a kind of predicate that fits into the budget."""
    return voice.chance.draw(affordable_frames(voice.language, min(max(budget, 1), 5)))


@cache
def arrangements(language: Language) -> Weighted[str]:
    """Return the weighted orders of subject, verb and object."""
    return weighted(*zip(*language.arrangements, strict=True))


def argument(arrangement: str, letter: str, tree: Tree) -> Dependent:
    """Put a subject (S) or object (O) into its slot of the arrangement."""
    distance = arrangement.index(letter) - arrangement.index("V")
    return Dependent(ARGUMENT + abs(distance), distance < 0, tree)


def stands_before(voice: Voice, arrangement: str) -> bool:
    """Return whether an adjunct precedes the verb: always in verb-final clauses, else sometimes."""
    return arrangement.endswith("V") or voice.chance.happens(0.25)


def verb_group(voice: Voice, budget: int, features: Features, *, passive: bool) -> tuple[Features, list[Dependent]]:
    """Return the features of the main verb, and its auxiliaries and negation."""
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
    """Make an auxiliary or a copula on its side of the predicate."""
    before = voice.language.auxiliary == "before"
    return Dependent(AUXILIARY, before, Tree(voice.function(kind, features), relation))


def adverb(voice: Voice, budget: int, clause: Clause) -> Dependent:
    """An adverb close to the verb."""
    before = stands_before(voice, clause.arrangement)
    word = voice.inflect(voice.content("adverb"), ())
    degree = [degree_adverb(voice)] if budget > 1 and voice.chance.happens(0.2) else []
    return Dependent(ADVERB, before, phrase(word, "advmod", degree))
