"""The grammar: noun phrases, clauses and sentences, built as trees of about so many words.

A function takes a budget of words, pays for its obligatory parts, and spends the rest on optional dependents. A
dependent has a slot (its distance from the head) and a side. Sides are parameters of the language, so that one grammar
serves all languages.
"""

from __future__ import annotations

from functools import cache

from deadheat.testbed.constituents import (
    ADVERBIAL,
    AFTERTHOUGHT,
    APPOSITION,
    ARGUMENT,
    COMMA,
    CONJOINED,
    CONJUNCT,
    GENITIVE,
    MARKER,
    OBLIQUE,
    RELATIVE,
    VERB_CLASSES,
    Clause,
    Nominal,
    Subject,
    adjective,
    adposition,
    adverb,
    amount,
    argument,
    arrangements,
    auxiliary,
    comma_after,
    comma_before,
    compound,
    coordinator,
    degree_adverb,
    determiner,
    draw_frame,
    foreign_title,
    marker,
    name,
    nominal,
    numeral,
    pronoun,
    punctuation,
    somebody,
    stands_before,
    verb_group,
)
from deadheat.testbed.language import Language
from deadheat.testbed.lexicon import Voice
from deadheat.testbed.morphology import IMPERATIVE, INFINITIVE
from deadheat.testbed.phrases import AFTER, BEFORE, Dependent, Menu, Option, Tree, extend, menu, phrase, total_size


def noun_phrase(voice: Voice, budget: int, relation: str, case: str, number: str = "") -> Tree:
    """Make a noun phrase: `they`, `Ada Vey`, `the old town on the river`."""
    chance = voice.chance
    number = number or ("Plur" if chance.happens(0.3) else "Sing")
    if budget <= 2 and chance.happens(0.3):
        return pronoun(voice, case, number, "3", relation)
    if number == "Sing" and budget <= 4 and chance.happens(0.25):
        return name(voice, budget, case, relation)
    if number == "Sing" and budget <= 2 and chance.happens(0.1):
        return somebody(voice, case, relation)
    if number == "Sing" and budget <= 3 and chance.happens(0.02):
        return foreign_title(voice, budget, relation)
    if number == "Plur" and budget in (2, 3) and chance.happens(0.06):
        return amount(voice, relation)
    return common_noun(voice, budget, relation, case, number)


def common_noun(voice: Voice, budget: int, relation: str, case: str, number: str) -> Tree:
    """A noun with its determiner and modifiers."""
    lexeme = voice.content("noun")
    noun = nominal(voice, case, lexeme.gender, number)
    dependents = []
    if budget > 1 and voice.chance.happens(0.75 if voice.language.articles else 0.15):
        dependents.append(determiner(voice, noun))
    dependents += noun_modifiers(voice.language).spend(voice, budget - 1 - len(dependents), noun)
    return phrase(voice.inflect(lexeme, noun.features), relation, dependents)


@cache
def noun_modifiers(language: Language) -> Menu[Nominal]:
    """Return the optional dependents of a noun."""
    return menu(
        [
            Option(1, 3.0, adjective),
            Option(1, 0.4, numeral),
            Option(1, 0.5, compound),
            Option(2, 5.0, noun_of_noun),
            Option(3, 1.5, second_noun),
            Option(4, 0.8, apposition),
            Option(4, 2.0 * language.embedding, relative_clause),
            Option(5, 0.3 * language.embedding, noun_infinitive),
        ]
    )


def marked_noun_phrase(voice: Voice, budget: int, relation: str, *cases: str) -> Tree:
    """Make a noun phrase that is marked by an adposition or by one of these cases."""
    possible = [case for case in cases if case in voice.language.cases]
    if possible and not voice.chance.happens(voice.language.adpositions):
        return noun_phrase(voice, budget, relation, voice.chance.choose(possible))
    inner = noun_phrase(voice, max(1, budget - 1), relation, voice.case(*possible))
    return extend(inner, [adposition(voice)])


def noun_of_noun(voice: Voice, budget: int, noun: Nominal) -> Dependent:
    """`the roof of the house`: in the genitive where there is one, or with an adposition."""
    if "Gen" in voice.language.cases and voice.chance.happens(0.7):
        tree = noun_phrase(voice, budget, "nmod", "Gen")
    else:
        tree = marked_noun_phrase(voice, budget, "nmod", "Loc", "Dat", "Ins")
    return Dependent(GENITIVE, voice.language.genitive == "before", tree)


def second_noun(voice: Voice, budget: int, noun: Nominal) -> Dependent:
    """`bread and butter`: another noun phrase in the same case."""
    tree = noun_phrase(voice, budget - 1, "conj", noun.case)
    return Dependent(CONJUNCT, AFTER, extend(tree, [coordinator(voice)]))


def apposition(voice: Voice, budget: int, noun: Nominal) -> Dependent:
    """`the mayor, Ada Vey`."""
    tree = name(voice, budget - 1, noun.case, "appos")
    return Dependent(APPOSITION, AFTER, extend(tree, [comma_before()]))


def relative_clause(voice: Voice, budget: int, noun: Nominal) -> Dependent:
    """`the boy who sang`, `the song that we sang`; before the noun it has no pronoun."""
    singer = Subject(None, voice.morphology.finite[voice.tense(), "3", noun.number])
    if voice.language.relative == "before":
        return Dependent(RELATIVE, BEFORE, predicate(voice, budget, "acl:relcl", singer))
    if voice.chance.happens(0.35):
        role, case, frame, singer = "obj", voice.case("Acc"), "gapped", subject(voice, 1, "nsubj")
    else:
        frame = draw_frame(voice, budget - 1)
        role, case = ("nsubj:pass" if frame == "passive" else "nsubj"), voice.case("Nom")
    features = voice.morphology.nominal[case, noun.gender, noun.number]
    opening = [Dependent(MARKER, BEFORE, Tree(voice.function("relative", features), role))]
    if voice.chance.happens(0.3):
        opening.append(comma_before())
    inner = predicate(voice, budget - len(opening), "acl:relcl", singer, frame=frame)
    return Dependent(RELATIVE, AFTER, extend(inner, opening))


def noun_infinitive(voice: Voice, budget: int, noun: Nominal) -> Dependent:
    """`the wish to leave`."""
    return Dependent(RELATIVE, voice.language.relative == "before", infinitive(voice, budget, "acl"))


def infinitive(voice: Voice, budget: int, relation: str) -> Tree:
    """`to leave the house`."""
    inner = predicate(voice, budget - 1, relation, Subject(None, INFINITIVE))
    return extend(inner, [marker(voice, "infinitive")])


def clause(voice: Voice, budget: int, relation: str) -> Tree:
    """A finite clause with a subject of its own."""
    frame = draw_frame(voice, budget - 1)
    allowance = 1 + voice.chance.below(max(1, budget // 3))
    speaker = subject(voice, allowance, "nsubj:pass" if frame == "passive" else "nsubj")
    return predicate(voice, budget, relation, speaker, frame=frame)


def subject(voice: Voice, budget: int, relation: str) -> Subject:
    """Make a subject; a pronoun may be dropped."""
    chance = voice.chance
    number = "Plur" if chance.happens(0.3) else "Sing"
    person, tree = "3", None
    if budget > 2 or not chance.happens(0.45):
        tree = noun_phrase(voice, budget, relation, voice.case("Nom"), number)
    else:
        person = chance.choose(("1", "1", "2", "3", "3"))
        if not chance.happens(voice.language.dropped_subjects):
            tree = pronoun(voice, voice.case("Nom"), number, person, relation)
    return Subject(tree, voice.morphology.finite[voice.tense(), person, number])


def predicate(voice: Voice, budget: int, relation: str, speaker: Subject, *, frame: str = "") -> Tree:
    """Make a predicate with its subject, auxiliaries, objects and adjuncts."""
    arrangement = voice.chance.draw(arrangements(voice.language))
    subjects = [argument(arrangement, "S", speaker.tree)] if speaker.tree else []
    budget -= total_size(subjects)
    frame = frame or draw_frame(voice, budget)
    if frame == "copular":
        core, needed = quality(voice, budget - 1, relation, speaker)
    else:
        features, needed = verb_group(voice, budget, speaker.features, passive=frame == "passive")
        core = Tree(voice.inflect(voice.content(VERB_CLASSES.get(frame, frame)), features), relation)
        needed += objects(voice, budget - 1 - len(needed), frame, arrangement)
    context = Clause(speaker.features, arrangement, frame == "transitive" and speaker.tree is not None)
    adjuncts = clause_adjuncts(voice.language).spend(voice, budget - core.size - total_size(needed), context)
    return extend(core, [*subjects, *needed, *adjuncts])


def quality(voice: Voice, budget: int, relation: str, speaker: Subject) -> tuple[Tree, list[Dependent]]:
    """Make a nominal predicate and its copula: `is very old`, `is a teacher`."""
    copula = auxiliary(voice, "copula", speaker.features, "cop")
    number = "Plur" if "Number=Plur" in speaker.features else "Sing"
    case = voice.case("Nom")
    if voice.chance.happens(0.4):
        return common_noun(voice, 1 + voice.chance.below(max(1, budget)), relation, case, number), [copula]
    subject_feats = speaker.tree.word.feats if speaker.tree else ""
    gender = next((gender for gender in voice.language.genders if f"Gender={gender}" in subject_feats), "")
    word = voice.agreeing(voice.content("adjective"), voice.morphology.nominal[case, gender, number])
    degree = [degree_adverb(voice)] if budget > 3 and voice.chance.happens(0.3) else []
    return phrase(word, relation, degree), [copula]


def objects(voice: Voice, budget: int, frame: str, arrangement: str) -> list[Dependent]:
    """Make the objects of a verb: noun phrases, clauses or infinitives."""
    half = 1 + voice.chance.below(max(1, budget // 2))
    if frame == "transitive":
        return [argument(arrangement, "O", noun_phrase(voice, half, "obj", voice.case("Acc")))]
    if frame == "ditransitive":
        thing = argument(arrangement, "O", noun_phrase(voice, half, "obj", voice.case("Acc")))
        receiver = noun_phrase(voice, 1, "iobj", voice.case("Dat"))
        return [thing, Dependent(thing.slot - 0.5, thing.before, receiver)]
    if frame == "saying":
        content = clause(voice, budget - 1, "ccomp")
        return [argument(arrangement, "O", extend(content, [marker(voice, "complementizer")]))]
    if frame == "wanting":
        return [argument(arrangement, "O", infinitive(voice, budget, "xcomp"))]
    if frame == "passive" and budget > 2 and voice.chance.happens(0.3):
        agent = marked_noun_phrase(voice, half + 1, "obl:agent", "Ins", "Erg", "Abl")
        return [Dependent(OBLIQUE, stands_before(voice, arrangement), agent)]
    return []


@cache
def clause_adjuncts(language: Language) -> Menu[Clause]:
    """Return the optional dependents of a clause."""
    return menu(
        [
            Option(1, 2.0, adverb),
            Option(1, 0.5, time),
            Option(2, 5.0, oblique),
            Option(4, 2.0, second_predicate),
            Option(6, 3.0, second_clause),
            Option(6, 3.0 * language.embedding, adverbial_clause),
            Option(7, 0.7, afterthought),
        ]
    )


def oblique(voice: Voice, budget: int, context: Clause) -> Dependent:
    """`in the old town`."""
    tree = marked_noun_phrase(voice, budget, "obl", "Loc", "Ins", "Abl", "Com", "Ess", "Dat")
    return Dependent(OBLIQUE, stands_before(voice, context.arrangement), tree)


def time(voice: Voice, budget: int, context: Clause) -> Dependent:
    """Make a bare noun of time: `yesterday`."""
    lexeme = voice.chance.draw(voice.lexicon.words["time"])
    features = voice.morphology.nominal[voice.case("Acc"), lexeme.gender, "Sing"]
    tree = Tree(voice.inflect(lexeme, features), "obl:tmod")
    return Dependent(OBLIQUE, stands_before(voice, context.arrangement), tree)


def second_predicate(voice: Voice, budget: int, context: Clause) -> Dependent:
    """Make a conjoined predicate with the same subject: `and left`."""
    tree = predicate(voice, budget - 1, "conj", Subject(None, context.features))
    return Dependent(CONJOINED, AFTER, extend(tree, [coordinator(voice)]))


def second_clause(voice: Voice, budget: int, context: Clause) -> Dependent:
    """`, and the door fell shut`; or without its verb, `, and we tea`."""
    opening = [comma_before(), coordinator(voice)]
    if context.transitive and voice.chance.happens(voice.language.gapping):
        return Dependent(CONJOINED, AFTER, extend(gapped_clause(voice), opening))
    return Dependent(CONJOINED, AFTER, extend(clause(voice, budget - 2, "conj"), opening))


def gapped_clause(voice: Voice) -> Tree:
    """`we tea`, after `they drink coffee`: the subject stands for the verb, the object is its orphan."""
    tree = noun_phrase(voice, 2, "conj", voice.case("Nom"))
    orphan = noun_phrase(voice, 2, "orphan", voice.case("Acc"))
    return extend(tree, [Dependent(ARGUMENT, AFTER, orphan)])


def adverbial_clause(voice: Voice, budget: int, context: Clause) -> Dependent:
    """`because it was late`, before or after what it explains."""
    before = stands_before(voice, context.arrangement)
    tree = extend(clause(voice, budget - 2, "advcl"), [marker(voice, "subordinator")])
    return Dependent(ADVERBIAL, before, extend(tree, [comma_after()]) if before else tree)


def afterthought(voice: Voice, budget: int, context: Clause) -> Dependent:
    """Make a paratactic clause: `; we were tired`."""
    sign = punctuation(voice.chance.choose((";", ":", "–")))
    tree = extend(clause(voice, budget - 1, "parataxis"), [Dependent(COMMA, BEFORE, sign)])
    return Dependent(AFTERTHOUGHT, AFTER, tree)


OPENING, FULL_STOP = COMMA + 1, COMMA + 2

QUOTES = ("“", "”")


def sentence(voice: Voice, length: int) -> Tree:
    """Make a sentence of about `length` words."""
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
    """Add the final punctuation."""
    return extend(tree, [Dependent(FULL_STOP, AFTER, punctuation(sign))])


def statement(voice: Voice, length: int) -> Tree:
    """Make a statement: `The old man sang.`."""
    tree = clause(voice, length - 1, "root")
    if voice.chance.happens(0.02):
        tree = extend(tree, [exclamation(voice)])
    return closed(tree, ".")


def question(voice: Voice, length: int) -> Tree:
    """Make a question: `Why did the old man sing?`."""
    tree = clause(voice, max(2, length - 2), "root")
    if voice.chance.happens(0.6):
        tree = extend(tree, [Dependent(OPENING, BEFORE, Tree(voice.function("question"), "advmod"))])
    return closed(tree, "?")


def command(voice: Voice, length: int) -> Tree:
    """Make a command: `Ada, sing it!`."""
    tree = predicate(voice, length - 1, "root", Subject(None, IMPERATIVE))
    if length > 4 and voice.chance.happens(0.3):
        called = name(voice, 1, voice.case("Nom"), "vocative")
        tree = extend(tree, [Dependent(OPENING, BEFORE, extend(called, [comma_after()]))])
    return closed(tree, voice.chance.choose("!."))


def quotation(voice: Voice, length: int) -> Tree:
    """Make a quotation: `“The old man sang”, said Ada.`."""
    content = clause(voice, length - 6, "ccomp")
    left, right = (punctuation(sign) for sign in QUOTES)
    quoted = extend(content, [Dependent(COMMA, BEFORE, left), Dependent(COMMA, AFTER, right)])
    speaker = name(voice, 1, voice.case("Nom"), "nsubj")
    verb = voice.inflect(voice.content("saying"), voice.morphology.finite[voice.tense(), "3", "Sing"])
    subject_slot = argument(voice.chance.draw(arrangements(voice.language)), "S", speaker)
    opening = Dependent(OPENING, BEFORE, extend(quoted, [comma_after()]))
    return closed(extend(Tree(verb, "root"), [subject_slot, opening]), ".")


def fragment(voice: Voice, length: int) -> Tree:
    """Make a sentence without a verb: `Oh!`, `Ada Vey`, `The sea.`."""
    if length <= 3 and voice.chance.happens(0.4):
        tree = Tree(voice.function("interjection"), "root")
        if length == 3:
            called = name(voice, 1, voice.case("Nom"), "vocative")
            tree = extend(tree, [Dependent(0, AFTER, extend(called, [comma_before()]))])
    else:
        tree = noun_phrase(voice, max(1, length - 1), "root", voice.case("Nom"))
    return tree if length == 1 else closed(tree, voice.chance.choose("..!"))


def exclamation(voice: Voice) -> Dependent:
    """Make an interjection before a sentence: `Oh, ...`."""
    cry = Tree(voice.function("interjection"), "discourse")
    return Dependent(OPENING, BEFORE, extend(cry, [comma_after()]))
