"""Whole sentences: statements, questions, commands, quotations, and the scraps between them."""

from __future__ import annotations

from deadheat.testbed.constituents import COMMA, comma_after, comma_before, name, punctuation
from deadheat.testbed.grammar import clause, noun_phrase, predicate
from deadheat.testbed.morphology import IMPERATIVE
from deadheat.testbed.phrases import AFTER, BEFORE, Dependent, Tree, extended
from deadheat.testbed.verbs import Subject, argument, arrangements
from deadheat.testbed.voice import Voice

OPENING, FULL_STOP = COMMA + 1, COMMA + 2

QUOTES = ("“", "”")


def sentence(voice: Voice, length: int) -> Tree:
    """A sentence of about `length` words; below four it may be no more than a cry."""
    genre, chance = voice.genre, voice.chance
    if length <= 2 or chance.happens(genre.fragments):
        return fragment(voice, length)
    if chance.happens(genre.questions):
        return question(voice, length)
    if chance.happens(genre.commands):
        return command(voice, length)
    if length >= 8 and chance.happens(genre.quotations):
        return quotation(voice, length)
    return statement(voice, length)


def closed(tree: Tree, sign: str) -> Tree:
    """A sentence with its last sign of punctuation."""
    return extended(tree, [Dependent(FULL_STOP, AFTER, punctuation(sign))])


def statement(voice: Voice, length: int) -> Tree:
    """Something that is so: `The old man sang.`."""
    tree = clause(voice, length - 1, "root")
    if voice.chance.happens(0.02):
        tree = extended(tree, [exclamation(voice)])
    return closed(tree, ".")


def question(voice: Voice, length: int) -> Tree:
    """Something that is asked: `Why did the old man sing?`."""
    tree = clause(voice, max(2, length - 2), "root")
    if voice.chance.happens(0.6):
        tree = extended(tree, [Dependent(OPENING, BEFORE, Tree(voice.function("question"), "advmod"))])
    return closed(tree, "?")


def command(voice: Voice, length: int) -> Tree:
    """Something that is to be done: `Ada, sing it!`."""
    tree = predicate(voice, length - 1, "root", Subject(None, IMPERATIVE))
    if length > 4 and voice.chance.happens(0.3):
        called = name(voice, 1, voice.case("Nom"), "vocative")
        tree = extended(tree, [Dependent(OPENING, BEFORE, extended(called, [comma_after()]))])
    return closed(tree, voice.chance.choose("!."))


def quotation(voice: Voice, length: int) -> Tree:
    """Something that is said: `“The old man sang”, said Ada.`."""
    said = clause(voice, length - 6, "ccomp")
    left, right = (punctuation(sign) for sign in QUOTES)
    quoted = extended(said, [Dependent(COMMA, BEFORE, left), Dependent(COMMA, AFTER, right)])
    speaker = name(voice, 1, voice.case("Nom"), "nsubj")
    verb = voice.inflect(voice.content("saying"), voice.morphology.finite[voice.tense(), "3", "Sing"])
    place = argument(voice.chance.draw(arrangements(voice.language)), "S", speaker)
    opening = Dependent(OPENING, BEFORE, extended(quoted, [comma_after()]))
    return closed(extended(Tree(verb, "root"), [place, opening]), ".")


def fragment(voice: Voice, length: int) -> Tree:
    """`Oh!`, `Ada Vey`, `The sea.`: a sentence without a verb."""
    if length <= 3 and voice.chance.happens(0.4):
        tree = Tree(voice.function("interjection"), "root")
        if length == 3:
            called = name(voice, 1, voice.case("Nom"), "vocative")
            tree = extended(tree, [Dependent(0, AFTER, extended(called, [comma_before()]))])
    else:
        tree = noun_phrase(voice, max(1, length - 1), "root", voice.case("Nom"))
    return tree if length == 1 else closed(tree, voice.chance.choose("..!"))


def exclamation(voice: Voice) -> Dependent:
    """`Oh, ...`: a cry before the sentence."""
    cry = Tree(voice.function("interjection"), "discourse")
    return Dependent(OPENING, BEFORE, extended(cry, [comma_after()]))
