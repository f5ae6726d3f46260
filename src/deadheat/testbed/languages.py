"""Six invented languages, each with something that breaks careless code."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from deadheat.errors import NameUnknown
from deadheat.testbed.language import Genre, Language

VELANI = Language(
    name="velani",
    ambiguity=0.35,
    agreement=False,
)
"""Subject, verb, object; prepositions and articles; few endings, many words of two classes."""

TORUKAI = Language(
    name="torukai",
    consonants="ptkmnshryj",
    vowels="aeiouöü",
    zipf=2.1,
    ambiguity=0.1,
    agglutinative=True,
    cases=("Nom", "Acc", "Gen", "Dat", "Loc", "Abl", "Ins", "Com"),
    tenses=("Past", "Pres"),
    agreement=False,
    arrangements=(("SOV", 9.0), ("OSV", 1.0)),
    adposition="after",
    genitive="before",
    relative="before",
    auxiliary="after",
    subordinator="after",
    articles=False,
    adpositions=0.4,
    dropped_subjects=0.5,
    nonprojectivity=0.03,
)
"""The verb last and every head after its dependents; eight cases, strings of endings."""

OSTREVAN = Language(
    name="ostrevan",
    consonants="ptkbdgmnlrsvzčšžhc",
    vowels="aeiouyá",
    zipf=2.4,
    cases=("Nom", "Gen", "Dat", "Acc", "Loc", "Ins"),
    genders=("Fem", "Masc", "Neut"),
    tenses=("Past", "Pres", "Fut"),
    syncretism=0.4,
    arrangements=(("SVO", 5.0), ("OVS", 2.0), ("SOV", 1.5), ("VSO", 1.5), ("OSV", 1.0), ("VOS", 1.0)),
    nonprojectivity=0.3,
    articles=False,
    adpositions=0.75,
    dropped_subjects=0.4,
)
"""Any order of words, phrases torn apart; six cases and three genders in one ending."""

MORELLE = Language(
    name="morelle",
    consonants="ptcbdgmnlrsvfj",
    vowels="aeiouéè",
    genders=("Fem", "Masc"),
    adjective="after",
    contractions=0.7,
    clitics=0.6,
    dropped_subjects=0.2,
)
"""Prepositions melt into articles and pronouns into verbs: multiword tokens."""

DZARI = Language(
    name="dzari",
    consonants="ბგდვზთკლმნპრსტქღშჩცძხჯ",
    vowels="აეიოუ",
    capitals=False,
    zipf=2.0,
    agglutinative=True,
    cases=("Nom", "Erg", "Dat", "Gen", "Ins", "Ess"),
    tenses=("Past", "Pres", "Fut"),
    arrangements=(("SOV", 6.0), ("SVO", 4.0)),
    adposition="after",
    genitive="before",
    articles=False,
    adpositions=0.5,
    numerals=0.9,
    spaced_numbers=True,
    nonprojectivity=0.05,
    genres=(
        Genre(name="wiki", weight=2.0, length=1.2, fragments=0.02, questions=0.0, commands=0.0, past=0.7),
        Genre(name="fiction", weight=2.0, quotations=0.12),
        Genre(name="spoken", length=0.5, fragments=0.15, questions=0.15),
    ),
)
"""A script without capitals, and forms with a space in them."""

ELISQUE = Language(
    name="elisque",
    consonants="ptkbdgmnlrsvqz",
    vowels="aeioué",
    zipf=2.0,
    cases=("Nom", "Acc", "Dat", "Gen"),
    genders=("Com", "Neut"),
    arrangements=(("SVO", 8.0), ("VSO", 2.0)),
    nonprojectivity=0.06,
    enhanced=True,
    gapping=0.5,
)
"""Enhanced dependencies, and verbs that are understood and not written."""

LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {language.name: language for language in (VELANI, TORUKAI, OSTREVAN, MORELLE, DZARI, ELISQUE)}
)


def language_named(language: str | Language) -> Language:
    """The language of this name, or the language itself."""
    if isinstance(language, Language):
        return language
    if language not in LANGUAGES:
        raise NameUnknown("language", language, LANGUAGES)
    return LANGUAGES[language]
