"""Parameters of invented languages, and six languages, each with features that break careless code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Any, Literal

from deadheat.errors import InputError, NameUnknown


def check_parameters(
    kind: str,
    owner: Any,
    shares: Sequence[str],
    minima: Mapping[str, float],
    *,
    extra: Iterable[str] = (),
    punctuation: str = "_",
) -> None:
    """Raise all errors of a language, genre or system at once, one line each.

    The name must fit into identifiers and file names, `shares` must be from 0 to 1, and the parameters of `minima`
    finite and not below these bounds.
    """
    errors = []
    if not owner.name or any(not character.isalnum() and character not in punctuation for character in owner.name):
        errors.append("invalid name; expected letters, digits and underscores")
    values = {name: getattr(owner, name) for name in (*shares, *minima)}
    errors += [f"{n} is {values[n]}; expected a number from 0 to 1" for n in shares if not 0 <= values[n] <= 1]
    errors += [f"{n} is {values[n]}; expected {low} or more" for n, low in minima.items() if not low <= values[n] < inf]
    errors += extra
    if errors:
        raise InputError("\n".join(f"{kind} {owner.name!r}: {error}" for error in errors))


Side = Literal["before", "after"]

SIDED = ("adposition", "adjective", "genitive", "relative", "auxiliary", "subordinator")
SHARES = (
    *("ambiguity", "numerals", "syncretism", "nonprojectivity", "adpositions", "dropped_subjects"),
    *("topicality", "contractions", "clitics", "gapping"),
)
MINIMA = {
    "lexicon": 500,
    "zipf": 0.1,
    "mean_length": 2.0,
    "length_spread": 0.0,
    "longest": 3,
    "embedding": 0.0,
    "document_length": 1.0,
    "topics": 1,
}
ARRANGEMENTS = ("SVO", "SOV", "VSO", "VOS", "OVS", "OSV")


@dataclass(frozen=True, slots=True, kw_only=True)
class Genre:
    """A kind of document and the parameters of its sentences."""

    name: str
    weight: float = 1.0
    length: float = 1.0  # factor of the mean sentence length of the language
    fragments: float = 0.03  # share of sentences without a clause
    questions: float = 0.05
    commands: float = 0.03
    quotations: float = 0.03
    past: float = 0.6  # share of finite verbs in the past tense

    def __post_init__(self) -> None:
        shares = ("fragments", "questions", "commands", "quotations", "past")
        check_parameters("genre", self, shares, {"weight": 0.001, "length": 0.1})


GENRES = (
    Genre(name="news", weight=3.0, length=1.35, questions=0.01, commands=0.0, quotations=0.08, past=0.8),
    Genre(name="weblog", weight=2.0, length=1.1),
    Genre(name="reviews", weight=2.0, length=0.8, fragments=0.06, past=0.5),
    Genre(name="email", weight=2.0, length=0.75, fragments=0.12, questions=0.12, commands=0.08, past=0.35),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """The parameters of an invented language."""

    name: str

    # Sounds: a syllable is a consonant, a vowel and perhaps a consonant.
    consonants: str = "ptkbdgmnlrsvfh"
    vowels: str = "aeiou"
    capitals: bool = True  # whether names and sentences begin with a capital letter

    # Words
    lexicon: int = 12_000  # nouns, names, verbs, adjectives and adverbs together
    zipf: float = 1.6  # exponent of the frequency of words by rank
    ambiguity: float = 0.15  # share of words that look like a word of another class
    numerals: float = 0.5  # share of numbers written in digits

    # Endings
    agglutinative: bool = False  # one ending per feature, instead of one ending for all of them
    cases: tuple[str, ...] = ()
    genders: tuple[str, ...] = ()
    tenses: tuple[str, ...] = ("Past", "Pres", "Fut")
    syncretism: float = 0.25  # share of the cells of a paradigm that repeat the ending of the cell before
    agreement: bool = True  # determiners and adjectives take the features of their noun

    # Order
    arrangements: tuple[tuple[str, float], ...] = (("SVO", 1.0),)
    """Orders of subject, verb and object, with their weights."""
    adposition: Side = "before"
    adjective: Side = "before"
    genitive: Side = "after"
    relative: Side = "after"
    auxiliary: Side = "before"
    subordinator: Side = "before"
    nonprojectivity: float = 0.02
    """Probability that a phrase of a sentence is moved, so that the tree is not projective."""

    # Sentences
    mean_length: float = 15.0
    length_spread: float = 0.65  # standard deviation of the logarithm of a sentence's length
    longest: int = 100
    embedding: float = 1.0  # relative frequency of subordinate clauses
    articles: bool = True
    adpositions: float = 1.0  # share of obliques with an adposition; the others have their case only
    dropped_subjects: float = 0.0  # share of pronouns left out where they are the subject

    # Documents
    document_length: float = 20.0  # mean number of sentences
    genres: tuple[Genre, ...] = GENRES
    topics: int = 10
    topicality: float = 0.5  # share of content words taken from the topic of the document

    # Spelling and annotation
    contractions: float = 0.0  # share of adjacent adpositions and articles that are written as one token
    clitics: float = 0.0  # share of object pronouns written onto the verb before them
    spaced_numbers: bool = False  # large numbers are written with a space, as one word
    enhanced: bool = False  # sentences have enhanced dependencies
    gapping: float = 0.05  # share of coordinate clauses without their verb, where possible

    def __hash__(self) -> int:
        # Languages are the keys of many caches, so hashing must be fast.
        return hash(self.name)

    def __post_init__(self) -> None:
        check_parameters("language", self, SHARES, MINIMA, extra=_invalid_lists(self))


def _invalid_lists(language: Language) -> Iterator[str]:
    for name in ("consonants", "vowels"):
        letters = getattr(language, name)
        if len(set(letters)) < 3 or not letters.isalpha():
            yield f"{name} are {letters!r}; expected three or more letters"
    for name in ("cases", "genders", "tenses", "genres"):
        values = getattr(language, name)
        if len(set(values)) != len(values):
            yield f"{name} has a value twice; expected each once"
    if not language.tenses or not language.genres:
        yield "no tenses or no genres; expected one or more of each"
    for name in SIDED:
        side = getattr(language, name)
        if side not in ("before", "after"):
            yield f"{name} is {side!r}; expected 'before' or 'after'"
    orders = dict(language.arrangements)
    if not orders or not all(order in ARRANGEMENTS and weight > 0 for order, weight in orders.items()):
        expected = f"some of {', '.join(ARRANGEMENTS)} with weights"
        yield f"arrangements are {language.arrangements}; expected {expected}"


VELANI = Language(name="velani", ambiguity=0.35, agreement=False)
"""Subject, verb, object; prepositions and articles; few endings, many ambiguous words."""

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
"""Verb-final and head-final; agglutinative, with eight cases."""

OSTREVAN = Language(
    name="ostrevan",
    consonants="ptkbdgmnlrsvzčšžhc",
    vowels="aeiouyá",
    zipf=2.4,
    cases=("Nom", "Gen", "Dat", "Acc", "Loc", "Ins"),
    genders=("Fem", "Masc", "Neut"),
    syncretism=0.4,
    arrangements=(("SVO", 5.0), ("OVS", 2.0), ("SOV", 1.5), ("VSO", 1.5), ("OSV", 1.0), ("VOS", 1.0)),
    nonprojectivity=0.3,
    articles=False,
    adpositions=0.75,
    dropped_subjects=0.4,
)
"""Free word order, non-projective; fusional, with six cases and three genders."""

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
"""Contractions and clitics: multiword tokens."""

DZARI = Language(
    name="dzari",
    consonants="ბგდვზთკლმნპრსტქღშჩცძხჯ",
    vowels="აეიოუ",
    capitals=False,
    zipf=2.0,
    agglutinative=True,
    cases=("Nom", "Erg", "Dat", "Gen", "Ins", "Ess"),
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
"""A script without capitals, and forms that contain spaces."""

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
"""Enhanced dependencies with empty nodes."""

LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {language.name: language for language in (VELANI, TORUKAI, OSTREVAN, MORELLE, DZARI, ELISQUE)}
)


def language_named(language: str | Language) -> Language:
    """Return the language of this name, or the language itself."""
    if isinstance(language, Language):
        return language
    if language not in LANGUAGES:
        raise NameUnknown("language", language, LANGUAGES)
    return LANGUAGES[language]
