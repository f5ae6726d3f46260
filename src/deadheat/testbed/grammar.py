"""The grammar: noun phrases, clauses and sentences, built as trees of about so many words.

A function takes a budget of words, pays for its obligatory parts, and spends the rest on optional dependents. A
dependent has a slot (its distance from the head) and a side. Sides are parameters of the language, so that one grammar
serves all languages.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from deadheat.testbed import phrases
from deadheat.testbed.language import Language
from deadheat.testbed.lexicon import IMPERATIVE, INFINITIVE, DocumentContext, Features
from deadheat.testbed.phrases import AFTER, BEFORE, Dependent, Noun, Option, Slot, Tree, extend, function_word


class Subject(NamedTuple):
    """The subject, if expressed, and the agreement features of its verb."""

    tree: Tree | None
    features: Features


def noun_phrase(doc: DocumentContext, budget: int, relation: str, case: str, number: str = "") -> Tree:
    """Make a noun phrase: `they`, `Ada Vey`, `the old town on the river`."""
    rng = doc.rng
    number = number or ("Plur" if rng.happens(0.3) else "Sing")
    if budget <= 2 and rng.happens(0.3):
        return phrases.pronoun(doc, case, number, "3", relation)
    if number == "Sing" and budget <= 4 and rng.happens(0.25):
        return phrases.name(doc, budget, case, relation)
    if number == "Sing" and budget <= 2 and rng.happens(0.1):
        return Tree(doc.function("indefinite pronoun", doc.morphology.nominal[case, "", "Sing"]), relation)
    if number == "Sing" and budget <= 3 and rng.happens(0.02):
        return phrases.foreign_title(doc, budget, relation)
    if number == "Plur" and budget in (2, 3) and rng.happens(0.06):
        return phrases.amount(doc, relation)
    return common_noun(doc, budget, relation, case, number)


def common_noun(doc: DocumentContext, budget: int, relation: str, case: str, number: str) -> Tree:
    """Make a noun with its determiner and modifiers."""
    lexeme = doc.content("noun")
    noun = Noun(case, lexeme.gender, number, doc.morphology.nominal[case, lexeme.gender, number])
    dependents = []
    if budget > 1 and doc.rng.happens(0.75 if doc.language.articles else 0.15):
        dependents.append(phrases.determiner(doc, noun))
    dependents += phrases.draw_dependents(noun_modifiers(doc.language), doc, budget - 1 - len(dependents), noun)
    return extend(Tree(doc.inflect(lexeme, noun.features), relation), *dependents)


@cache
def noun_modifiers(language: Language) -> phrases.Menu[Noun]:
    """Return the optional dependents of a noun."""
    return phrases.menu(
        Option(1, 3.0, phrases.adjective),
        Option(1, 0.4, phrases.numeral),
        Option(1, 0.5, phrases.compound),
        Option(2, 5.0, noun_of_noun),
        Option(3, 1.5, second_noun),
        Option(4, 0.8, apposition),
        Option(4, 2.0 * language.embedding, relative_clause),
        Option(5, 0.3 * language.embedding, noun_infinitive),
    )


def marked_noun_phrase(doc: DocumentContext, budget: int, relation: str, *cases: str) -> Tree:
    """Make a noun phrase that is marked by an adposition or by one of these cases."""
    possible = [case for case in cases if case in doc.language.cases]
    if possible and not doc.rng.happens(doc.language.adpositions):
        return noun_phrase(doc, budget, relation, doc.rng.choose(possible))
    inner = noun_phrase(doc, max(1, budget - 1), relation, doc.case(*possible))
    return extend(inner, function_word(doc, "adposition"))


def noun_of_noun(doc: DocumentContext, budget: int, noun: Noun) -> Dependent:
    """`the roof of the house`: in the genitive where there is one, or with an adposition."""
    if "Gen" in doc.language.cases and doc.rng.happens(0.7):
        tree = noun_phrase(doc, budget, "nmod", "Gen")
    else:
        tree = marked_noun_phrase(doc, budget, "nmod", "Loc", "Dat", "Ins")
    return Dependent(Slot.GENITIVE, doc.language.genitive == "before", tree)


def second_noun(doc: DocumentContext, budget: int, noun: Noun) -> Dependent:
    """`bread and butter`: another noun phrase in the same case."""
    tree = noun_phrase(doc, budget - 1, "conj", noun.case)
    return Dependent(Slot.CONJUNCT, AFTER, extend(tree, function_word(doc, "coordinator")))


def apposition(doc: DocumentContext, budget: int, noun: Noun) -> Dependent:
    """`the mayor, Ada Vey`."""
    tree = phrases.name(doc, budget - 1, noun.case, "appos")
    return Dependent(Slot.APPOSITION, AFTER, extend(tree, phrases.COMMA_BEFORE))


def relative_clause(doc: DocumentContext, budget: int, noun: Noun) -> Dependent:
    """`the boy who sang`, `the song that we sang`; before the noun it has no pronoun."""
    actor = Subject(None, doc.morphology.finite[doc.tense(), "3", noun.number])
    if doc.language.relative == "before":
        return Dependent(Slot.RELATIVE, BEFORE, predicate(doc, budget, "acl:relcl", actor))
    if doc.rng.happens(0.35):
        role, case, frame, actor = "obj", doc.case("Acc"), "gapped", subject(doc, 1, "nsubj")
    else:
        frame = phrases.draw_frame(doc, budget - 1)
        role, case = ("nsubj:pass" if frame == "passive" else "nsubj"), doc.case("Nom")
    features = doc.morphology.nominal[case, noun.gender, noun.number]
    opening = [Dependent(Slot.MARKER, BEFORE, Tree(doc.function("relative", features), role))]
    if doc.rng.happens(0.3):
        opening.append(phrases.COMMA_BEFORE)
    inner = predicate(doc, budget - len(opening), "acl:relcl", actor, frame=frame)
    return Dependent(Slot.RELATIVE, AFTER, extend(inner, *opening))


def noun_infinitive(doc: DocumentContext, budget: int, noun: Noun) -> Dependent:
    """`the wish to leave`."""
    return Dependent(Slot.RELATIVE, doc.language.relative == "before", infinitive(doc, budget, "acl"))


def infinitive(doc: DocumentContext, budget: int, relation: str) -> Tree:
    """`to leave the house`."""
    inner = predicate(doc, budget - 1, relation, Subject(None, INFINITIVE))
    return extend(inner, function_word(doc, "infinitive"))


def clause(doc: DocumentContext, budget: int, relation: str) -> Tree:
    """Make a finite clause with its subject."""
    frame = phrases.draw_frame(doc, budget - 1)
    allowance = 1 + doc.rng.below(max(1, budget // 3))
    actor = subject(doc, allowance, "nsubj:pass" if frame == "passive" else "nsubj")
    return predicate(doc, budget, relation, actor, frame=frame)


def subject(doc: DocumentContext, budget: int, relation: str) -> Subject:
    """Make a subject; a pronoun may be dropped."""
    rng = doc.rng
    number = "Plur" if rng.happens(0.3) else "Sing"
    person, tree = "3", None
    if budget > 2 or not rng.happens(0.45):
        tree = noun_phrase(doc, budget, relation, doc.case("Nom"), number)
    else:
        person = rng.choose(("1", "1", "2", "3", "3"))
        if not rng.happens(doc.language.dropped_subjects):
            tree = phrases.pronoun(doc, doc.case("Nom"), number, person, relation)
    return Subject(tree, doc.morphology.finite[doc.tense(), person, number])


def predicate(doc: DocumentContext, budget: int, relation: str, actor: Subject, *, frame: str = "") -> Tree:
    """Make a predicate with its subject, auxiliaries, objects and adjuncts."""
    arrangement = doc.rng.draw(phrases.arrangements(doc.language))
    subjects = [phrases.argument(arrangement, "S", actor.tree)] if actor.tree else []
    budget -= phrases.total_size(subjects)
    frame = frame or phrases.draw_frame(doc, budget)
    if frame == "copular":
        core, needed = nominal_predicate(doc, budget - 1, relation, actor)
    else:
        features, needed = phrases.verb_group(doc, budget, actor.features, passive=frame == "passive")
        verb_class = "transitive" if frame in ("passive", "gapped") else frame
        core = Tree(doc.inflect(doc.content(verb_class), features), relation)
        needed += objects(doc, budget - 1 - len(needed), frame, arrangement)
    context = phrases.Clause(actor.features, arrangement, frame == "transitive" and actor.tree is not None)
    budget -= core.size + phrases.total_size(needed)
    adjuncts = phrases.draw_dependents(clause_adjuncts(doc.language), doc, budget, context)
    return extend(core, *subjects, *needed, *adjuncts)


def nominal_predicate(doc: DocumentContext, budget: int, relation: str, actor: Subject) -> tuple[Tree, list[Dependent]]:
    """Make a nominal predicate and its copula: `is very old`, `is a teacher`."""
    copula = function_word(doc, "copula", actor.features)
    number = "Plur" if "Number=Plur" in actor.features else "Sing"
    case = doc.case("Nom")
    if doc.rng.happens(0.4):
        return common_noun(doc, 1 + doc.rng.below(max(1, budget)), relation, case, number), [copula]
    subject_feats = actor.tree.word.feats if actor.tree else ""
    gender = next((gender for gender in doc.language.genders if f"Gender={gender}" in subject_feats), "")
    word = doc.agreeing(doc.content("adjective"), doc.morphology.nominal[case, gender, number])
    return phrases.graded(doc, word, relation, 0.3 if budget > 3 else 0), [copula]


def objects(doc: DocumentContext, budget: int, frame: str, arrangement: str) -> list[Dependent]:
    """Make the objects of a verb: noun phrases, clauses or infinitives."""
    half = 1 + doc.rng.below(max(1, budget // 2))
    if frame in ("transitive", "ditransitive"):
        direct = phrases.argument(arrangement, "O", noun_phrase(doc, half, "obj", doc.case("Acc")))
        if frame == "transitive":
            return [direct]
        indirect = noun_phrase(doc, 1, "iobj", doc.case("Dat"))
        return [direct, Dependent(direct.slot - 0.5, direct.before, indirect)]
    if frame == "saying":
        content = clause(doc, budget - 1, "ccomp")
        return [phrases.argument(arrangement, "O", extend(content, function_word(doc, "complementizer")))]
    if frame == "wanting":
        return [phrases.argument(arrangement, "O", infinitive(doc, budget, "xcomp"))]
    if frame == "passive" and budget > 2 and doc.rng.happens(0.3):
        agent = marked_noun_phrase(doc, half + 1, "obl:agent", "Ins", "Erg", "Abl")
        return [Dependent(Slot.OBLIQUE, phrases.stands_before(doc, arrangement), agent)]
    return []


@cache
def clause_adjuncts(language: Language) -> phrases.Menu[phrases.Clause]:
    """Return the optional dependents of a clause."""
    return phrases.menu(
        Option(1, 2.0, phrases.adverb),
        Option(1, 0.5, time),
        Option(2, 5.0, oblique),
        Option(4, 2.0, second_predicate),
        Option(6, 3.0, second_clause),
        Option(6, 3.0 * language.embedding, adverbial_clause),
        Option(7, 0.7, parataxis),
    )


def oblique(doc: DocumentContext, budget: int, context: phrases.Clause) -> Dependent:
    """`in the old town`."""
    tree = marked_noun_phrase(doc, budget, "obl", "Loc", "Ins", "Abl", "Com", "Ess", "Dat")
    return Dependent(Slot.OBLIQUE, phrases.stands_before(doc, context.arrangement), tree)


def time(doc: DocumentContext, budget: int, context: phrases.Clause) -> Dependent:
    """Make a bare noun of time: `yesterday`."""
    lexeme = doc.rng.draw(doc.lexicon.words["time"])
    tree = Tree(doc.singular(lexeme, doc.case("Acc")), "obl:tmod")
    return Dependent(Slot.OBLIQUE, phrases.stands_before(doc, context.arrangement), tree)


def second_predicate(doc: DocumentContext, budget: int, context: phrases.Clause) -> Dependent:
    """Make a conjoined predicate with the same subject: `and left`."""
    tree = predicate(doc, budget - 1, "conj", Subject(None, context.features))
    return Dependent(Slot.CONJOINED, AFTER, extend(tree, function_word(doc, "coordinator")))


def second_clause(doc: DocumentContext, budget: int, context: phrases.Clause) -> Dependent:
    """`, and the door fell shut`; or without its verb, `, and we tea` after `they drink coffee`."""
    opening = [phrases.COMMA_BEFORE, function_word(doc, "coordinator")]
    if context.transitive and doc.rng.happens(doc.language.gapping):
        # The subject stands for the verb, and the object is its orphan.
        tree = noun_phrase(doc, 2, "conj", doc.case("Nom"))
        orphan = noun_phrase(doc, 2, "orphan", doc.case("Acc"))
        tree = extend(tree, Dependent(Slot.ARGUMENT, AFTER, orphan))
    else:
        tree = clause(doc, budget - 2, "conj")
    return Dependent(Slot.CONJOINED, AFTER, extend(tree, *opening))


def adverbial_clause(doc: DocumentContext, budget: int, context: phrases.Clause) -> Dependent:
    """`because it was late`, before or after what it explains."""
    before = phrases.stands_before(doc, context.arrangement)
    tree = extend(clause(doc, budget - 2, "advcl"), function_word(doc, "subordinator"))
    return Dependent(Slot.ADVERBIAL, before, extend(tree, phrases.COMMA_AFTER) if before else tree)


def parataxis(doc: DocumentContext, budget: int, context: phrases.Clause) -> Dependent:
    """Make a paratactic clause: `; we were tired`."""
    sign = phrases.punctuation(doc.rng.choose((";", ":", "–")), Slot.COMMA, before=True)
    tree = extend(clause(doc, budget - 1, "parataxis"), sign)
    return Dependent(Slot.PARATAXIS, AFTER, tree)


def sentence(doc: DocumentContext, length: int) -> Tree:
    """Make a sentence of about `length` words."""
    genre, rng = doc.genre, doc.rng
    if length <= 2 or rng.happens(genre.fragments):
        return fragment(doc, length)
    if rng.happens(genre.questions):
        return question(doc, length)
    if rng.happens(genre.commands):
        return command(doc, length)
    if length >= 8 and rng.happens(genre.quotations):
        return quotation(doc, length)
    return statement(doc, length)


def closed(tree: Tree, sign: str) -> Tree:
    """Add the final punctuation."""
    return extend(tree, phrases.punctuation(sign, Slot.FULL_STOP, before=False))


def statement(doc: DocumentContext, length: int) -> Tree:
    """Make a statement: `The old man sang.`, perhaps with an interjection, `Oh, ...`."""
    tree = clause(doc, length - 1, "root")
    if doc.rng.happens(0.02):
        interjection = extend(Tree(doc.function("interjection"), "discourse"), phrases.COMMA_AFTER)
        tree = extend(tree, Dependent(Slot.OPENING, BEFORE, interjection))
    return closed(tree, ".")


def question(doc: DocumentContext, length: int) -> Tree:
    """Make a question: `Why did the old man sing?`."""
    tree = clause(doc, max(2, length - 2), "root")
    if doc.rng.happens(0.6):
        tree = extend(tree, function_word(doc, "question"))
    return closed(tree, "?")


def command(doc: DocumentContext, length: int) -> Tree:
    """Make a command: `Ada, sing it!`."""
    tree = predicate(doc, length - 1, "root", Subject(None, IMPERATIVE))
    if length > 4 and doc.rng.happens(0.3):
        called = phrases.name(doc, 1, doc.case("Nom"), "vocative")
        tree = extend(tree, Dependent(Slot.OPENING, BEFORE, extend(called, phrases.COMMA_AFTER)))
    return closed(tree, doc.rng.choose("!."))


def quotation(doc: DocumentContext, length: int) -> Tree:
    """Make a quotation: `“The old man sang”, said Ada.`."""
    content = clause(doc, length - 6, "ccomp")
    quotes = phrases.punctuation("“", Slot.COMMA, before=True), phrases.punctuation("”", Slot.COMMA, before=False)
    speaker = phrases.name(doc, 1, doc.case("Nom"), "nsubj")
    verb = doc.inflect(doc.content("saying"), doc.morphology.finite[doc.tense(), "3", "Sing"])
    subject_slot = phrases.argument(doc.rng.draw(phrases.arrangements(doc.language)), "S", speaker)
    opening = Dependent(Slot.OPENING, BEFORE, extend(extend(content, *quotes), phrases.COMMA_AFTER))
    return closed(extend(Tree(verb, "root"), subject_slot, opening), ".")


def fragment(doc: DocumentContext, length: int) -> Tree:
    """Make a sentence without a verb: `Oh!`, `Ada Vey`, `The sea.`."""
    if length <= 3 and doc.rng.happens(0.4):
        tree = Tree(doc.function("interjection"), "root")
        if length == 3:
            called = phrases.name(doc, 1, doc.case("Nom"), "vocative")
            tree = extend(tree, Dependent(0, AFTER, extend(called, phrases.COMMA_BEFORE)))
    else:
        tree = noun_phrase(doc, max(1, length - 1), "root", doc.case("Nom"))
    return tree if length == 1 else closed(tree, doc.rng.choose("..!"))
