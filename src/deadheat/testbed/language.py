"""What an invented language is made of: its sounds, words, endings, order and spelling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from deadheat.testbed.checks import not_a_name, not_shares, refuse, too_small

Side = Literal["before", "after"]

SIDES = ("before", "after")
SIDED = ("adposition", "adjective", "genitive", "relative", "auxiliary", "subordinator")
SHARES = (
    *("ambiguity", "numerals", "syncretism", "nonprojectivity", "adpositions", "dropped_subjects"),
    *("topicality", "contractions", "clitics", "gapping"),
)
LEAST = {
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
    """A kind of document, and how its sentences differ from those of the others."""

    name: str
    weight: float = 1.0
    length: float = 1.0
    """Sentences are this many times as long as is usual in the language."""
    fragments: float = 0.03
    """Share of sentences without a clause."""
    questions: float = 0.05
    commands: float = 0.03
    quotations: float = 0.03
    past: float = 0.6
    """Share of finite verbs in the past tense."""

    def __post_init__(self) -> None:
        where = f"genre {self.name!r}"
        shares = ("fragments", "questions", "commands", "quotations", "past")
        refuse(
            [
                *not_a_name(where, self.name),
                *not_shares(where, self, shares),
                *too_small(where, self, {"weight": 0.001, "length": 0.1}),
            ]
        )


GENRES = (
    Genre(name="news", weight=3.0, length=1.35, questions=0.01, commands=0.0, quotations=0.08, past=0.8),
    Genre(name="weblog", weight=2.0, length=1.1),
    Genre(name="reviews", weight=2.0, length=0.8, fragments=0.06, past=0.5),
    Genre(name="email", weight=2.0, length=0.75, fragments=0.12, questions=0.12, commands=0.08, past=0.35),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """The parameters of an invented language; change some with `dataclasses.replace`."""

    name: str

    # Sounds: a syllable is a consonant, a vowel and perhaps a consonant.
    consonants: str = "ptkbdgmnlrsvfh"
    vowels: str = "aeiou"
    capitals: bool = True
    """Names and the first words of sentences begin with a capital letter."""

    # Words
    lexicon: int = 12_000
    """Nouns, names, verbs, adjectives and adverbs together."""
    zipf: float = 1.6
    """Exponent of the frequency of words by rank."""
    ambiguity: float = 0.15
    """Share of words that look like a word of another class."""
    numerals: float = 0.5
    """Share of numbers written in digits."""

    # Endings
    agglutinative: bool = False
    """One ending for each feature, instead of one for a whole bundle of them."""
    cases: tuple[str, ...] = ()
    genders: tuple[str, ...] = ()
    tenses: tuple[str, ...] = ("Past", "Pres", "Fut")
    syncretism: float = 0.25
    """Share of the cells of a paradigm that repeat the ending of the cell before."""
    agreement: bool = True
    """Determiners and adjectives take the features of their noun."""

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
    """Probability that a sentence has a phrase moved out of its place, where one can be moved."""

    # Sentences
    mean_length: float = 15.0
    length_spread: float = 0.65
    """Standard deviation of the logarithm of a sentence's length."""
    longest: int = 100
    embedding: float = 1.0
    """How fond the language is of clauses within clauses; 0 has none."""
    articles: bool = True
    adpositions: float = 1.0
    """Share of obliques with an adposition; the others have their case only."""
    dropped_subjects: float = 0.0
    """Share of pronouns left out where they are the subject."""

    # Documents
    document_length: float = 20.0
    """Mean number of sentences."""
    genres: tuple[Genre, ...] = GENRES
    topics: int = 10
    topicality: float = 0.5
    """Share of content words taken from the topic of the document."""

    # Spelling and annotation
    contractions: float = 0.0
    """Share of adpositions and articles that meet and are written as one token."""
    clitics: float = 0.0
    """Share of object pronouns written onto the verb before them."""
    spaced_numbers: bool = False
    """Large numbers are written with a space, as one word."""
    enhanced: bool = False
    """Sentences have enhanced dependencies."""
    gapping: float = 0.05
    """Share of coordinate clauses that leave out the verb, where they can."""

    def __hash__(self) -> int:
        # What is made from a language is looked up by it all the time; equality compares the rest.
        return hash(self.name)

    def __post_init__(self) -> None:
        where = f"language {self.name!r}"
        refuse(
            [
                *not_a_name(where, self.name),
                *not_shares(where, self, SHARES),
                *too_small(where, self, LEAST),
                *_not_listed(where, self),
            ]
        )


def _not_listed(where: str, language: Language) -> Iterator[str]:
    for name in ("consonants", "vowels"):
        letters = getattr(language, name)
        if len(set(letters)) < 3 or not letters.isalpha():
            yield f"{where}: {name} are {letters!r}; expected three or more letters"
    for name in ("cases", "genders", "tenses", "genres"):
        values = getattr(language, name)
        if len(set(values)) != len(values):
            yield f"{where}: {name} has a value twice; expected each once"
    if not language.tenses or not language.genres:
        yield f"{where}: no tenses or no genres; expected one or more of each"
    for name in SIDED:
        side = getattr(language, name)
        if side not in SIDES:
            yield f"{where}: {name} is {side!r}; expected 'before' or 'after'"
    orders = dict(language.arrangements)
    if not orders or not all(order in ARRANGEMENTS and weight > 0 for order, weight in orders.items()):
        known = ", ".join(ARRANGEMENTS)
        yield f"{where}: arrangements are {language.arrangements}; expected some of {known} with weights"
