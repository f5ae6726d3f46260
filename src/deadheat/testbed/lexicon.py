"""The lexicon of a language, and the context in which a document draws words from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from deadheat.testbed.chance import Chance, Weighted, zipfian
from deadheat.testbed.language import Genre, Language
from deadheat.testbed.morphology import Features, Lexeme, Morphology, WordForm


class FunctionWords(NamedTuple):
    """A closed class: its size and common features."""

    size: int
    upos: str
    paradigm: str = ""
    inherent: Features = ()


class ContentWords(NamedTuple):
    """An open class: its share of the lexicon, and the class with which it shares some words."""

    share: float
    upos: str
    paradigm: str
    lender: str = ""


FUNCTION_WORDS: Mapping[str, FunctionWords] = {
    "adposition": FunctionWords(14, "ADP"),
    "definite": FunctionWords(1, "DET", "adjective", ("Definite=Def", "PronType=Art")),
    "indefinite": FunctionWords(1, "DET", "adjective", ("Definite=Ind", "PronType=Art")),
    "demonstrative": FunctionWords(2, "DET", "adjective", ("PronType=Dem",)),
    "quantifier": FunctionWords(5, "DET", "adjective", ("PronType=Ind",)),
    "possessive": FunctionWords(3, "DET", "adjective", ("Poss=Yes", "PronType=Prs")),
    "first person": FunctionWords(1, "PRON", "pronoun", ("Person=1", "PronType=Prs")),
    "second person": FunctionWords(1, "PRON", "pronoun", ("Person=2", "PronType=Prs")),
    "third person": FunctionWords(1, "PRON", "pronoun", ("Person=3", "PronType=Prs")),
    "relative": FunctionWords(1, "PRON", "pronoun", ("PronType=Rel",)),
    "somebody": FunctionWords(4, "PRON", "pronoun", ("PronType=Ind",)),
    "coordinator": FunctionWords(3, "CCONJ"),
    "subordinator": FunctionWords(8, "SCONJ"),
    "complementizer": FunctionWords(2, "SCONJ"),
    "infinitive": FunctionWords(1, "PART"),
    "negation": FunctionWords(1, "PART", "", ("Polarity=Neg",)),
    "copula": FunctionWords(1, "AUX", "verb"),
    "perfect": FunctionWords(1, "AUX", "verb"),
    "modal": FunctionWords(4, "AUX", "verb"),
    "passive": FunctionWords(1, "AUX", "verb"),
    "degree": FunctionWords(5, "ADV"),
    "question": FunctionWords(4, "ADV", "", ("PronType=Int",)),
    "interjection": FunctionWords(8, "INTJ"),
    "numeral": FunctionWords(12, "NUM", "", ("NumType=Card",)),
}

CONTENT_WORDS: Mapping[str, ContentWords] = {
    "noun": ContentWords(0.38, "NOUN", "noun"),
    "name": ContentWords(0.25, "PROPN", "noun", lender="noun"),
    "time": ContentWords(0.005, "NOUN", "noun"),
    "transitive": ContentWords(0.08, "VERB", "verb", lender="noun"),
    "intransitive": ContentWords(0.06, "VERB", "verb", lender="noun"),
    "ditransitive": ContentWords(0.01, "VERB", "verb", lender="noun"),
    "saying": ContentWords(0.01, "VERB", "verb", lender="noun"),
    "wanting": ContentWords(0.01, "VERB", "verb", lender="noun"),
    "adjective": ContentWords(0.15, "ADJ", "adjective", lender="noun"),
    "adverb": ContentWords(0.045, "ADV", "", lender="adjective"),
    "foreign": ContentWords(0.01, "X", ""),
}

INHERENT: Mapping[str, Features] = {"ADJ": ("Degree=Pos",), "X": ("Foreign=Yes",)}


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words by class: all of them, and by topic."""

    words: Mapping[str, Weighted[Lexeme]]
    topical: Mapping[str, Sequence[Weighted[Lexeme]]]


@cache
def lexicon(language: Language) -> Lexicon:
    """Make the lexicon of a language from its name and parameters."""
    chance = Chance(language.name, "lexicon")
    stems: dict[str, list[str]] = {}
    coiner = _coiner(language, chance)
    words: dict[str, Weighted[Lexeme]] = {}
    topical: dict[str, list[Weighted[Lexeme]]] = {}
    lent: list[str] = []
    for name, few in FUNCTION_WORDS.items():
        stems[name] = coiner.stems(few.size, lent, syllables=1)
        lent += stems[name]
        lexemes = [Lexeme(stem, few.upos, few.paradigm, few.inherent) for stem in stems[name]]
        words[name] = zipfian(lexemes, exponent=1.3, shift=0.3)
    for name, many in CONTENT_WORDS.items():
        count = max(20, round(many.share * language.lexicon))
        stems[name] = coiner.stems(count, stems.get(many.lender, []), syllables=2)
        lexemes = [_content(language, chance, many, stem) for stem in stems[name]]
        words[name] = zipfian(lexemes, exponent=language.zipf)
        topics = min(language.topics, count)
        topical[name] = [zipfian(lexemes[topic::topics], exponent=language.zipf) for topic in range(topics)]
    return Lexicon(words, topical)


def _content(language: Language, chance: Chance, kind: ContentWords, stem: str) -> Lexeme:
    if kind.paradigm == "noun":
        gender = chance.choose(language.genders) if language.genders else ""
        lemma = stem.capitalize() if kind.upos == "PROPN" and language.capitals else stem
        return Lexeme(lemma, kind.upos, f"noun {gender}".rstrip(), gender=gender)
    return Lexeme(stem, kind.upos, kind.paradigm, INHERENT.get(kind.upos, ()))


class Coiner(NamedTuple):
    """Makes new words from the sounds of a language, without repetition."""

    ambiguity: float
    chance: Chance
    open_syllables: tuple[str, ...]
    closed_syllables: tuple[str, ...]
    coined: set[str]

    def stems(self, count: int, lender: Sequence[str], *, syllables: int) -> list[str]:
        """Make stems in order of frequency: rarer ones are longer, and some are shared with another class."""
        stems: dict[str, None] = {}
        while len(stems) < count:
            if lender and self.chance.happens(self.ambiguity):
                # Of a similar rank, so that frequent words are as often ambiguous as rare ones.
                stem = lender[self.chance.below(min(2 * len(stems) + 5, len(lender)))]
            else:
                stem = self.coin(syllables + (len(stems) > 30) * self.chance.below(3))
            stems[stem] = None
        return list(stems)

    def coin(self, syllables: int) -> str:
        """Make a new word."""
        while True:
            stem = "".join([self.syllable() for _ in range(syllables)])
            if stem not in self.coined:
                self.coined.add(stem)
                return stem
            syllables += self.chance.happens(0.1)

    def syllable(self) -> str:
        """Make a syllable, every third one closed by a consonant."""
        return self.chance.choose(self.closed_syllables if self.chance.happens(1 / 3) else self.open_syllables)


def _coiner(language: Language, chance: Chance) -> Coiner:
    onsets = tuple(consonant + vowel for consonant in language.consonants for vowel in language.vowels)
    closed = tuple(onset + consonant for onset in onsets for consonant in language.consonants)
    return Coiner(language.ambiguity, chance, onsets, closed, set())


# Share of names that belong to the cast of the document.
CAST_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Voice:
    """The context of a document for the grammar."""

    language: Language
    lexicon: Lexicon
    morphology: Morphology
    inflect: Callable[[Lexeme, Features], WordForm]
    chance: Chance
    genre: Genre
    topic: int
    cast: tuple[Lexeme, ...]

    def content(self, kind: str) -> Lexeme:
        """Draw a content word, often one of the topic of the document."""
        if self.chance.happens(self.language.topicality):
            topics = self.lexicon.topical[kind]
            return self.chance.draw(topics[self.topic % len(topics)])
        return self.chance.draw(self.lexicon.words[kind])

    def name(self) -> Lexeme:
        """Draw a name, often one of the cast of the document."""
        if self.chance.happens(CAST_SHARE):
            return self.chance.choose(self.cast)
        return self.chance.draw(self.lexicon.words["name"])

    def function(self, kind: str, features: Features = ()) -> WordForm:
        """Draw a function word of this kind, and inflect it."""
        return self.inflect(self.chance.draw(self.lexicon.words[kind]), features)

    def agreeing(self, lexeme: Lexeme, features: Features) -> WordForm:
        """Inflect a word for the features of its noun, if the language has agreement."""
        return self.inflect(lexeme, features if self.language.agreement else ())

    def case(self, *wanted: str) -> str:
        """Return the first of these cases that the language has, or else its citation case."""
        cases = self.language.cases
        return next((case for case in wanted if case in cases), cases[0] if cases else "")

    def tense(self) -> str:
        """Draw a tense by the genre."""
        tenses = self.language.tenses
        if self.chance.happens(self.genre.past):
            return tenses[0]
        return self.chance.choose(tenses)
