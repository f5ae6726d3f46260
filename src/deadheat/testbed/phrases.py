"""Trees of words, and the parts of phrases without phrases inside: function words, names, numbers, verb groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Generic, NamedTuple, TypeVar

from deadheat.testbed.language import Language
from deadheat.testbed.lexicon import IMPERATIVE, INFINITIVE, PARTICIPLE, PASSIVE, DocumentContext, Features, WordForm
from deadheat.testbed.rng import Weighted, weighted

BEFORE, AFTER = True, False


class Slot:
    """Distances of dependents from their head; 0 is next to it."""

    # Of a noun: `of the three old mill towns`.
    COMPOUND, ADJECTIVE, NUMBER, GENITIVE, APPOSITION, RELATIVE, CONJUNCT, DETERMINER, CASE = range(9)
    # Of a verb: `in bed she has not quickly read the book because ...`; subject and objects precede the obliques.
    ADVERB, NEGATION, AUXILIARY, ARGUMENT, OBLIQUE, ADVERBIAL, CONJOINED, PARATAXIS = 0, 1, 2, 3, 8, 9, 10, 11
    # Outside of all others.
    MARKER, COORDINATOR, COMMA, OPENING, FULL_STOP = range(20, 25)


class Tree(NamedTuple):
    """A word with its dependents on both sides, in order."""

    word: WordForm
    relation: str
    left: tuple[Tree, ...] = ()
    right: tuple[Tree, ...] = ()
    size: int = 1


class Dependent(NamedTuple):
    """A phrase, its side of the head, and its distance from the head."""

    slot: float
    before: bool
    tree: Tree


def extend(tree: Tree, *dependents: Dependent) -> Tree:
    """Add dependents outside of those that a phrase has."""
    word, relation, left, right, size = tree
    inner = sorted(dependents, key=lambda dependent: dependent.slot)
    before = [dependent.tree for dependent in reversed(inner) if dependent.before]
    after = [dependent.tree for dependent in inner if not dependent.before]
    return Tree(word, relation, (*before, *left), (*right, *after), size + total_size(inner))


def total_size(dependents: Iterable[Dependent]) -> int:
    """Count the words of some dependents."""
    return sum(dependent.tree.size for dependent in dependents)


Head = TypeVar("Head")


class Option(NamedTuple, Generic[Head]):
    """An optional dependent: its minimum number of words, its weight, and how to build it."""

    cost: int
    weight: float
    build: Callable[[DocumentContext, int, Head], Dependent]


Menu = Sequence[Weighted[Option[Head]] | None]
"""Options by budget: entry b has those that need at most b words."""


def menu(*options: Option[Head]) -> Menu[Head]:
    """Make a menu of the options with a positive weight."""
    offered = [option for option in options if option.weight > 0]
    pages: list[Weighted[Option[Head]] | None] = []
    for budget in range(max(option.cost for option in offered) + 1):
        page = [option for option in offered if option.cost <= budget]
        pages.append(weighted(page, [option.weight for option in page]) if page else None)
    return pages


def draw_dependents(options: Menu[Head], doc: DocumentContext, budget: int, head: Head) -> list[Dependent]:
    """Draw dependents of about `budget` words; drawing the same one-word option again ends the phrase."""
    chosen: list[Dependent] = []
    drawn: set[Option[Head]] = set()
    while budget > 0:
        affordable = options[min(budget, len(options) - 1)]
        if affordable is None:
            break
        option = doc.rng.draw(affordable)
        if option.cost == 1:
            if option in drawn:
                break
            drawn.add(option)
        allowance = option.cost + doc.rng.below(budget - option.cost + 1)
        chosen.append(option.build(doc, allowance, head))
        budget -= chosen[-1].tree.size
    return chosen


def punctuation(sign: str, slot: int, *, before: bool) -> Dependent:
    """Make a punctuation sign."""
    return Dependent(slot, before, Tree(WordForm(sign, sign, "PUNCT", sign, "_"), "punct"))


COMMA_BEFORE, COMMA_AFTER = (punctuation(",", Slot.COMMA, before=before) for before in (BEFORE, AFTER))

FUNCTION_WORD_DEPENDENTS = {
    "adposition": (Slot.CASE, "adposition", "case"),
    "coordinator": (Slot.COORDINATOR, "", "cc"),
    "subordinator": (Slot.MARKER, "subordinator", "mark"),
    "complementizer": (Slot.MARKER, "subordinator", "mark"),
    "infinitive": (Slot.MARKER, "subordinator", "mark"),
    "copula": (Slot.AUXILIARY, "auxiliary", "cop"),
    "passive": (Slot.AUXILIARY, "auxiliary", "aux:pass"),
    "perfect": (Slot.AUXILIARY, "auxiliary", "aux"),
    "modal": (Slot.AUXILIARY, "auxiliary", "aux"),
    "negation": (Slot.NEGATION, "auxiliary", "advmod"),
    "degree": (0, "", "advmod"),
    "question": (Slot.OPENING, "", "advmod"),
}
"""Slot, parameter of the language with the side (always before the head if there is none), and relation."""


def function_word(doc: DocumentContext, kind: str, features: Features = ()) -> Dependent:
    """Make a function word: `of`, `and`, `because`, `is`, `not`, `very`."""
    slot, parameter, relation = FUNCTION_WORD_DEPENDENTS[kind]
    before = not parameter or getattr(doc.language, parameter) == "before"
    return Dependent(slot, before, Tree(doc.function(kind, features), relation))


class Noun(NamedTuple):
    """The agreement features of a noun."""

    case: str
    gender: str
    number: str
    features: Features


DETERMINERS = weighted(
    ("definite", "indefinite", "demonstrative", "quantifier", "possessive"), (10.0, 5.0, 1.0, 1.5, 1.5)
)
BARE_DETERMINERS = weighted(("demonstrative", "quantifier", "possessive"), (1.0, 1.0, 1.0))


def determiner(doc: DocumentContext, noun: Noun) -> Dependent:
    """Make a determiner: `the`, `this`, `some`, `my`."""
    kind = doc.rng.draw(DETERMINERS if doc.language.articles else BARE_DETERMINERS)
    word = doc.agreeing(doc.rng.draw(doc.lexicon.words[kind]), noun.features)
    return Dependent(Slot.DETERMINER, BEFORE, Tree(word, "det:poss" if kind == "possessive" else "det"))


def graded(doc: DocumentContext, word: WordForm, relation: str, share: float) -> Tree:
    """Make a phrase of an adjective or adverb; this share of them has a degree adverb, `very old`."""
    tree = Tree(word, relation)
    return extend(tree, function_word(doc, "degree")) if share and doc.rng.happens(share) else tree


def adjective(doc: DocumentContext, budget: int, noun: Noun) -> Dependent:
    """Make an adjective that agrees with its noun."""
    word = doc.agreeing(doc.content("adjective"), noun.features)
    tree = graded(doc, word, "amod", 0.3 if budget > 1 else 0)
    return Dependent(Slot.ADJECTIVE, doc.language.adjective == "before", tree)


def numeral(doc: DocumentContext, budget: int, noun: Noun) -> Dependent:
    """Make a number in letters or digits before a plural noun; a singular noun gets an adjective."""
    if noun.number == "Sing":
        return adjective(doc, budget, noun)
    word = digits(doc) if doc.rng.happens(doc.language.numerals) else doc.function("numeral")
    return Dependent(Slot.NUMBER, BEFORE, Tree(word, "nummod"))


def digits(doc: DocumentContext) -> WordForm:
    """Make a number in digits: `7`, `1984`, or with a space `12 500`."""
    value = 2 + doc.rng.below(10 ** (1 + doc.rng.below(5)))
    form = str(value)
    if doc.language.spaced_numbers and value >= 1000:
        form = f"{form[:-3]} {form[-3:]}"
    return WordForm(form, form, "NUM", "M.digits", "NumForm=Digit|NumType=Card")


def compound(doc: DocumentContext, budget: int, noun: Noun) -> Dependent:
    """Make a bare noun next to the noun that it modifies: `mill town`."""
    return Dependent(Slot.COMPOUND, BEFORE, Tree(doc.singular(doc.content("noun"), doc.case()), "compound"))


PERSONS = {"1": "first person", "2": "second person", "3": "third person"}


def pronoun(doc: DocumentContext, case: str, number: str, person: str, relation: str) -> Tree:
    """Make a personal pronoun; only the third person shows gender."""
    genders = doc.language.genders
    gender = doc.rng.choose(genders) if genders and person == "3" else ""
    return Tree(doc.function(PERSONS[person], doc.morphology.nominal[case, gender, number]), relation)


def name(doc: DocumentContext, budget: int, case: str, relation: str) -> Tree:
    """Make a proper name of one to three words; the words after the first depend on it."""
    first = doc.name()
    length = min(budget, 1 + doc.rng.happens(0.35) + doc.rng.happens(0.1))
    rest = [doc.rng.draw(doc.lexicon.words["name"]) for _ in range(length - 1)]
    lexemes = [first, *(lexeme for lexeme in rest if lexeme != first)]
    return _flat([doc.singular(lexeme, case) for lexeme in lexemes], relation, "flat")


def foreign_title(doc: DocumentContext, budget: int, relation: str) -> Tree:
    """Make a title in another language: `Vita Nova`."""
    return _flat([doc.function("foreign") for _ in range(min(budget, 3))], relation, "flat:foreign")


def _flat(words: Sequence[WordForm], relation: str, inner_relation: str) -> Tree:
    """Make a phrase without a hierarchy: all words depend on the first."""
    return extend(Tree(words[0], relation), *(Dependent(0, AFTER, Tree(word, inner_relation)) for word in words[1:]))


def amount(doc: DocumentContext, relation: str) -> Tree:
    """Make an amount: `12 %`."""
    form = doc.rng.choose(("%", "€", "§"))
    number = Dependent(Slot.NUMBER, BEFORE, Tree(digits(doc), "nummod"))
    return extend(Tree(WordForm(form, form, "SYM", "SYM", "_"), relation), number)


class Clause(NamedTuple):
    """The properties of a clause that its adjuncts depend on."""

    features: Features
    arrangement: str
    transitive: bool


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


@cache
def _affordable_frames(language: Language, budget: int) -> Weighted[str]:
    frames = {frame: weight for frame, (cost, weight) in FRAMES.items() if cost <= budget}
    if not language.embedding:
        frames = {frame: weight for frame, weight in frames.items() if frame not in ("saying", "wanting")}
    return weighted(frames.keys(), frames.values())


def draw_frame(doc: DocumentContext, budget: int) -> str:
    """Draw a kind of predicate that fits into the budget."""
    return doc.rng.draw(_affordable_frames(doc.language, min(max(budget, 1), 5)))


@cache
def arrangements(language: Language) -> Weighted[str]:
    """Return the weighted orders of subject, verb and object."""
    return weighted(*zip(*language.arrangements, strict=True))


def argument(arrangement: str, letter: str, tree: Tree) -> Dependent:
    """Put a subject (S) or object (O) into its slot of the arrangement."""
    distance = arrangement.index(letter) - arrangement.index("V")
    return Dependent(Slot.ARGUMENT + abs(distance), distance < 0, tree)


def stands_before(doc: DocumentContext, arrangement: str) -> bool:
    """Return whether an adjunct precedes the verb: always in verb-final clauses, else sometimes."""
    return arrangement.endswith("V") or doc.rng.happens(0.25)


def verb_group(
    doc: DocumentContext, budget: int, features: Features, *, passive: bool
) -> tuple[Features, list[Dependent]]:
    """Return the features of the main verb, and its auxiliaries and negation."""
    if passive:
        return PASSIVE, [function_word(doc, "passive", features)]
    if features in (INFINITIVE, IMPERATIVE) or budget <= 2:
        return features, []
    helpers = [function_word(doc, "negation")] if doc.rng.happens(0.08) else []
    for auxiliary, main_verb in (("perfect", PARTICIPLE), ("modal", INFINITIVE)):
        if doc.rng.happens(0.12):
            return main_verb, [*helpers, function_word(doc, auxiliary, features)]
    return features, helpers


def adverb(doc: DocumentContext, budget: int, clause: Clause) -> Dependent:
    """Make an adverb close to the verb."""
    before = stands_before(doc, clause.arrangement)
    word = doc.inflect(doc.content("adverb"), ())
    return Dependent(Slot.ADVERB, before, graded(doc, word, "advmod", 0.2 if budget > 1 else 0))
