"""Plausible mistakes: what a word is taken for when it is not taken for what it is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from deadheat.testbed.chance import Chance, Weighted, weighted
from deadheat.testbed.conllu import Word


def _confusable(table: Mapping[str, str]) -> Mapping[str, Weighted[str]]:
    """Weighted mistakes from lines such as `NOUN 5, VERB 2`."""
    pairs = {name: [part.split() for part in line.split(",")] for name, line in table.items()}
    return {
        name: weighted([value for value, _ in parts], [float(weight) for _, weight in parts])
        for name, parts in pairs.items()
    }


CONFUSABLE_UPOS = _confusable(
    {
        "ADJ": "NOUN 4, VERB 3, ADV 2, PROPN 1",
        "ADP": "SCONJ 3, ADV 3, PART 2",
        "ADV": "ADJ 3, ADP 3, NOUN 1, SCONJ 1",
        "AUX": "VERB 9, PART 1",
        "CCONJ": "ADV 2, SCONJ 1, DET 1",
        "DET": "PRON 6, ADV 1, ADJ 1",
        "INTJ": "NOUN 2, PROPN 2, ADV 2",
        "NOUN": "PROPN 5, VERB 3, ADJ 3",
        "NUM": "NOUN 3, PROPN 2, X 1",
        "PART": "ADP 3, ADV 3, SCONJ 1",
        "PRON": "DET 5, SCONJ 3, NOUN 1",
        "PROPN": "NOUN 6, ADJ 2, X 1",
        "PUNCT": "SYM 3, X 1",
        "SCONJ": "ADP 4, PRON 3, ADV 2",
        "SYM": "PUNCT 3, NOUN 1",
        "VERB": "NOUN 4, AUX 3, ADJ 3",
        "X": "PROPN 4, NOUN 3",
    }
)

CONFUSABLE_RELATIONS = _confusable(
    {
        "acl": "advcl 4, amod 2, nmod 1",
        "advcl": "acl 3, ccomp 3, conj 2, parataxis 2",
        "advmod": "obl 2, amod 2, mark 2, discourse 1",
        "amod": "nmod 3, compound 3, advmod 2, nummod 1",
        "appos": "nmod 2, conj 2, flat 2, parataxis 1",
        "aux": "cop 5, mark 1",
        "case": "mark 4, advmod 3, fixed 1",
        "cc": "advmod 2, mark 1",
        "ccomp": "advcl 3, parataxis 3, xcomp 2",
        "compound": "amod 3, nmod 3, flat 3",
        "conj": "parataxis 2, nmod 2, appos 2, obj 1",
        "cop": "aux 6, advmod 1",
        "det": "nmod 2, amod 1, nsubj 1",
        "discourse": "advmod 3, vocative 1",
        "flat": "compound 4, appos 2, nmod 1",
        "iobj": "obj 5, obl 2",
        "mark": "case 3, advmod 3, nsubj 1",
        "nmod": "obl 5, appos 1, compound 1, amod 1",
        "nsubj": "obj 5, obl 1, nmod 1",
        "nummod": "nmod 2, amod 2, compound 1",
        "obj": "nsubj 4, obl 4, iobj 1, xcomp 1",
        "obl": "nmod 5, obj 3, advmod 1",
        "orphan": "obj 2, nmod 1, appos 1",
        "parataxis": "conj 3, ccomp 2, advcl 2",
        "punct": "dep 1, discourse 1",
        "root": "conj 3, ccomp 2, parataxis 2, advcl 1",
        "vocative": "nsubj 2, discourse 1, parataxis 1",
        "xcomp": "ccomp 3, advcl 2, obj 2",
    }
)

UNFORESEEN_UPOS = weighted(["X"], [1.0])
UNFORESEEN_RELATION = weighted(["dep"], [1.0])

# The features that the official evaluation compares.
COMPARED_FEATURES = frozenset(
    {
        *("PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number", "Case"),
        *("Definite", "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity"),
        *("Person", "Polite"),
    }
)


@dataclass(frozen=True, slots=True)
class Inventory:
    """What there is to be mistaken for: the tags of each class and the values of each feature in a text."""

    xpos: Mapping[str, Weighted[str]]
    values: Mapping[str, tuple[str, ...]]


def inventory(words: Iterable[Word]) -> Inventory:
    """The tags and feature values of some words."""
    xpos: defaultdict[str, Counter[str]] = defaultdict(Counter)
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (upos, tag, feats), count in Counter((word.upos, word.xpos, word.feats) for word in words).items():
        xpos[upos][tag] += count
        for feature in _split(feats):
            name, _, value = feature.partition("=")
            values[name][value] += count
    return Inventory(
        {upos: weighted(tags.keys(), tags.values()) for upos, tags in xpos.items()},
        {name: tuple(sorted(found)) for name, found in values.items()},
    )


def wrong_upos(chance: Chance, upos: str) -> str:
    """Another part of speech."""
    return chance.draw(CONFUSABLE_UPOS.get(upos, UNFORESEEN_UPOS))


def wrong_relation(chance: Chance, relation: str) -> str:
    """Another relation, different in its main part."""
    return chance.draw(CONFUSABLE_RELATIONS.get(relation.split(":")[0], UNFORESEEN_RELATION))


def wrong_xpos(chance: Chance, word: Word, known: Inventory) -> str:
    """Another tag of the same class, by how frequent it is, or else of a class it is confused with."""
    for upos in (word.upos, word.upos, wrong_upos(chance, word.upos)):
        tags = known.xpos.get(upos)
        if tags:
            tag = chance.draw(tags)
            if tag != word.xpos:
                return tag
    return "X" if word.xpos != "X" else "Y"


def wrong_feats(chance: Chance, word: Word, known: Inventory) -> str:
    """The features with one of them changed or left out, or with one too many."""
    features = _split(word.feats)
    compared = [place for place, feature in enumerate(features) if feature.split("=")[0] in COMPARED_FEATURES]
    if not compared:
        return "|".join(sorted([*features, chance.choose(("Number=Sing", "Degree=Pos", "Foreign=Yes"))]))
    place = chance.choose(compared)
    name, _, value = features[place].partition("=")
    others = [other for other in known.values.get(name, ()) if other != value]
    if others and chance.happens(0.75):
        features[place] = f"{name}={chance.choose(others)}"
    else:
        del features[place]
    return "|".join(features) or "_"


def wrong_lemma(chance: Chance, word: Word) -> str:
    """The form as it stands, or a lemma with an ending too few or too many."""
    lemma = word.lemma
    guesses = [word.form, lemma[:-1], lemma + lemma[-1:], lemma.lower()]
    return chance.choose([guess for guess in guesses if guess not in ("", "_", lemma)])


def _split(feats: str) -> list[str]:
    return [] if feats == "_" else feats.split("|")
