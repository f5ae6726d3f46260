"""Inflection: the features of a word, and their endings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

from deadheat.testbed.chance import Chance
from deadheat.testbed.language import Language

Features = tuple[str, ...]
"""Features such as `Number=Plur`, sorted by name."""

NUMBERS = ("Sing", "Plur")
PERSONS = ("1", "2", "3")

INFINITIVE: Features = ("VerbForm=Inf",)
IMPERATIVE: Features = ("Mood=Imp", "VerbForm=Fin")
PARTICIPLE: Features = ("Tense=Past", "VerbForm=Part")
PASSIVE: Features = ("Tense=Past", "VerbForm=Part", "Voice=Pass")

# A tag has the class and these features: `N.acc.plur`.
XPOS_CLASS = {"NOUN": "N", "PROPN": "NP", "VERB": "V", "AUX": "VA", "ADJ": "A", "ADV": "R", "PRON": "P", "DET": "D",
              "ADP": "I", "NUM": "M", "PART": "T", "CCONJ": "CC", "SCONJ": "CS", "INTJ": "U", "X": "X"}  # fmt: skip
XPOS_FEATURES = ("Case", "Number", "Tense", "VerbForm", "PronType")


class Lexeme(NamedTuple):
    """A lexical entry: citation form, class and inherent features."""

    lemma: str
    upos: str
    paradigm: str = ""
    inherent: Features = ()
    gender: str = ""


class WordForm(NamedTuple):
    """An inflected word with its annotation."""

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str


@dataclass(frozen=True, slots=True)
class Morphology:
    """The paradigms of a language: combinations of features and their endings."""

    vowels: str
    nominal: Mapping[tuple[str, str, str], Features]
    """Features of nouns and what agrees with them, by case, gender and number."""
    finite: Mapping[tuple[str, str, str], Features]
    """Features of finite verbs, by tense, person and number."""
    endings: Mapping[tuple[str, Features], str]
    """Endings by paradigm and features; what is not listed has none."""

    def inflect(self, lexeme: Lexeme, features: Features) -> WordForm:
        """Inflect a word for these features."""
        ending = self.endings.get((lexeme.paradigm, features), "")
        stem = lexeme.lemma
        if ending and ending[0] in self.vowels and stem[-1] in self.vowels:
            stem = stem[:-1]
        all_features = tuple(sorted({*lexeme.inherent, *features}))
        feats = "|".join(all_features) or "_"
        return WordForm(stem + ending, lexeme.lemma, lexeme.upos, xpos(lexeme.upos, all_features), feats)


def xpos(upos: str, features: Features) -> str:
    """Return the language-specific tag of a class and features."""
    values = dict(feature.split("=") for feature in features)
    parts = [values[name].lower() for name in XPOS_FEATURES if name in values]
    return ".".join([XPOS_CLASS[upos], *parts])


@cache
def morphology(language: Language) -> Morphology:
    """Make the paradigms of a language from its name and parameters."""
    nominal = {
        (case, gender, number): _named(Case=case, Gender=gender, Number=number)
        for case, gender, number in product(language.cases or ("",), ("", *language.genders), NUMBERS)
    }
    finite = {
        (tense, person, number): _named(Mood="Ind", Number=number, Person=person, Tense=tense, VerbForm="Fin")
        for tense, person, number in product(language.tenses, PERSONS, NUMBERS)
    }
    make = _agglutinated if language.agglutinative else _fused
    chance = Chance(language.name, "endings")
    endings = make(language, chance, nominal, finite)
    participle = next(_new_endings(language, chance))
    nonfinite = {("verb", PARTICIPLE): participle, ("verb", PASSIVE): participle}
    return Morphology(language.vowels, nominal, finite, endings | nonfinite)


def _named(**values: str) -> Features:
    return tuple(f"{name}={value}" for name, value in sorted(values.items()) if value)


def _fused(
    language: Language,
    chance: Chance,
    nominal: Mapping[tuple[str, str, str], Features],
    finite: Mapping[tuple[str, str, str], Features],
) -> dict[tuple[str, Features], str]:
    """Make one ending per combination of features; some repeat the previous one."""
    cells = [(f"noun {gender}".rstrip(), features) for (_, gender, _), features in nominal.items()]
    cells += [("adjective", features) for features in nominal.values()]
    cells += [("pronoun", features) for features in nominal.values()]
    cells += [("verb", features) for features in finite.values()]
    endings: dict[tuple[str, Features], str] = {}
    paradigm, ending = "", ""
    for cell in sorted(cells, key=lambda cell: cell[0]):
        if cell[0] != paradigm:
            # The first cell of a paradigm, the citation form, is the bare stem.
            paradigm, ending, fresh = cell[0], "", _new_endings(language, chance)
        elif not chance.happens(language.syncretism):
            ending = next(fresh)
        endings[cell] = ending
    return endings


def _agglutinated(
    language: Language,
    chance: Chance,
    nominal: Mapping[tuple[str, str, str], Features],
    finite: Mapping[tuple[str, str, str], Features],
) -> dict[tuple[str, Features], str]:
    """Make one ending per feature, to be concatenated; singular, citation case and first tense have none."""
    fresh = _new_endings(language, chance)
    number = dict(zip(NUMBERS, ("", next(fresh)), strict=True))
    case = {"": ""} | {name: next(fresh) if rank else "" for rank, name in enumerate(language.cases)}
    tense = {name: next(fresh) if rank else "" for rank, name in enumerate(language.tenses)}
    person = {name: next(fresh) for name in PERSONS}
    endings = {}
    for (c, gender, n), features in nominal.items():
        for paradigm in (f"noun {gender}".rstrip(), "adjective", "pronoun"):
            endings[paradigm, features] = number[n] + case[c]
    for (t, p, n), features in finite.items():
        endings["verb", features] = tense[t] + number[n] + person[p]
    return endings


def _new_endings(language: Language, chance: Chance) -> Iterator[str]:
    """Yield endings of one or two sounds, without repetition as long as possible."""
    seen: set[str] = set()
    while True:
        vowel, consonant = chance.choose(language.vowels), chance.choose(language.consonants)
        ending = chance.choose((vowel, vowel + consonant, vowel + consonant, consonant + vowel))
        if len(seen) >= 2 * len(language.vowels) * len(language.consonants):
            seen.clear()
        if ending not in seen:
            seen.add(ending)
            yield ending
