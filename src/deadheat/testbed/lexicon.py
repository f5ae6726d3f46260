"""The words of a language: inflection, the lexicon, and the context in which a document draws words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

from deadheat.testbed.language import Genre, Language
from deadheat.testbed.rng import Rng, Weighted, zipfian

Features = tuple[str, ...]
"""Features such as `Number=Plur`, sorted by name."""
Paradigm = Mapping[tuple[str, str, str], Features]
Endings = dict[tuple[str, Features], str]

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
    nominal: Paradigm
    """Features of nouns and what agrees with them, by case, gender and number."""
    finite: Paradigm
    """Features of finite verbs, by tense, person and number."""
    endings: Endings
    """Endings by paradigm and features; what is not listed has none."""

    def inflect(self, lexeme: Lexeme, features: Features) -> WordForm:
        """Inflect a word for these features."""
        ending = self.endings.get((lexeme.paradigm, features), "")
        stem = lexeme.lemma
        if ending and ending[0] in self.vowels and stem[-1] in self.vowels:
            stem = stem[:-1]
        all_features = sorted({*lexeme.inherent, *features})
        values = dict(feature.split("=") for feature in all_features)
        tag = [XPOS_CLASS[lexeme.upos], *(values[name].lower() for name in XPOS_FEATURES if name in values)]
        return WordForm(stem + ending, lexeme.lemma, lexeme.upos, ".".join(tag), "|".join(all_features) or "_")


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
    rng = Rng(language.name, "endings")
    endings = (_agglutinated if language.agglutinative else _fused)(language, rng, nominal, finite)
    endings["verb", PARTICIPLE] = endings["verb", PASSIVE] = next(_new_endings(language, rng))
    return Morphology(language.vowels, nominal, finite, endings)


def _named(**values: str) -> Features:
    return tuple(f"{name}={value}" for name, value in sorted(values.items()) if value)


def _fused(language: Language, rng: Rng, nominal: Paradigm, finite: Paradigm) -> Endings:
    """Make one ending per combination of features; some repeat the previous one."""
    cells = [(f"noun {gender}".rstrip(), features) for (_, gender, _), features in nominal.items()]
    for paradigm, table in (("adjective", nominal), ("pronoun", nominal), ("verb", finite)):
        cells += [(paradigm, features) for features in table.values()]
    endings: Endings = {}
    paradigm, ending = "", ""
    for cell in sorted(cells, key=lambda cell: cell[0]):
        if cell[0] != paradigm:
            # The first cell of a paradigm, the citation form, is the bare stem.
            paradigm, ending, fresh = cell[0], "", _new_endings(language, rng)
        elif not rng.happens(language.syncretism):
            ending = next(fresh)
        endings[cell] = ending
    return endings


def _agglutinated(language: Language, rng: Rng, nominal: Paradigm, finite: Paradigm) -> Endings:
    """Make one ending per feature, to be concatenated; singular, citation case and first tense have none."""
    fresh = _new_endings(language, rng)
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


def _new_endings(language: Language, rng: Rng) -> Iterator[str]:
    """Yield endings of one or two sounds, without repetition as long as possible."""
    seen: set[str] = set()
    while True:
        vowel, consonant = rng.choose(language.vowels), rng.choose(language.consonants)
        ending = rng.choose((vowel, vowel + consonant, vowel + consonant, consonant + vowel))
        if len(seen) >= 2 * len(language.vowels) * len(language.consonants):
            seen.clear()
        if ending not in seen:
            seen.add(ending)
            yield ending


class WordClass(NamedTuple):
    """A closed class and its size, or an open class, its share of the lexicon, and the class that lends it words."""

    size: float
    upos: str
    paradigm: str = ""
    inherent: Features = ()
    lender: str = ""


FUNCTION_WORDS: Mapping[str, WordClass] = {
    "adposition": WordClass(14, "ADP"),
    "definite": WordClass(1, "DET", "adjective", ("Definite=Def", "PronType=Art")),
    "indefinite": WordClass(1, "DET", "adjective", ("Definite=Ind", "PronType=Art")),
    "demonstrative": WordClass(2, "DET", "adjective", ("PronType=Dem",)),
    "quantifier": WordClass(5, "DET", "adjective", ("PronType=Ind",)),
    "possessive": WordClass(3, "DET", "adjective", ("Poss=Yes", "PronType=Prs")),
    "first person": WordClass(1, "PRON", "pronoun", ("Person=1", "PronType=Prs")),
    "second person": WordClass(1, "PRON", "pronoun", ("Person=2", "PronType=Prs")),
    "third person": WordClass(1, "PRON", "pronoun", ("Person=3", "PronType=Prs")),
    "relative": WordClass(1, "PRON", "pronoun", ("PronType=Rel",)),
    "indefinite pronoun": WordClass(4, "PRON", "pronoun", ("PronType=Ind",)),
    "coordinator": WordClass(3, "CCONJ"),
    "subordinator": WordClass(8, "SCONJ"),
    "complementizer": WordClass(2, "SCONJ"),
    "infinitive": WordClass(1, "PART"),
    "negation": WordClass(1, "PART", "", ("Polarity=Neg",)),
    "copula": WordClass(1, "AUX", "verb"),
    "perfect": WordClass(1, "AUX", "verb"),
    "modal": WordClass(4, "AUX", "verb"),
    "passive": WordClass(1, "AUX", "verb"),
    "degree": WordClass(5, "ADV"),
    "question": WordClass(4, "ADV", "", ("PronType=Int",)),
    "interjection": WordClass(8, "INTJ"),
    "numeral": WordClass(12, "NUM", "", ("NumType=Card",)),
}

CONTENT_WORDS: Mapping[str, WordClass] = {
    "noun": WordClass(0.38, "NOUN", "noun"),
    "name": WordClass(0.25, "PROPN", "noun", lender="noun"),
    "time": WordClass(0.005, "NOUN", "noun"),
    "transitive": WordClass(0.08, "VERB", "verb", lender="noun"),
    "intransitive": WordClass(0.06, "VERB", "verb", lender="noun"),
    "ditransitive": WordClass(0.01, "VERB", "verb", lender="noun"),
    "saying": WordClass(0.01, "VERB", "verb", lender="noun"),
    "wanting": WordClass(0.01, "VERB", "verb", lender="noun"),
    "adjective": WordClass(0.15, "ADJ", "adjective", ("Degree=Pos",), lender="noun"),
    "adverb": WordClass(0.045, "ADV", "", lender="adjective"),
    "foreign": WordClass(0.01, "X", "", ("Foreign=Yes",)),
}


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words by class: all of them, and by topic."""

    words: Mapping[str, Weighted[Lexeme]]
    topical: Mapping[str, Sequence[Weighted[Lexeme]]]


@cache
def lexicon(language: Language) -> Lexicon:
    """Make the lexicon of a language from its name and parameters."""
    rng = Rng(language.name, "lexicon")
    coiner = Coiner(language, rng)
    stems: dict[str, list[str]] = {}
    words: dict[str, Weighted[Lexeme]] = {}
    topical: dict[str, list[Weighted[Lexeme]]] = {}
    lent: list[str] = []
    for name, closed in FUNCTION_WORDS.items():
        stems[name] = coiner.stems(int(closed.size), lent, syllables=1)
        lent += stems[name]
        lexemes = [Lexeme(stem, closed.upos, closed.paradigm, closed.inherent) for stem in stems[name]]
        words[name] = zipfian(lexemes, exponent=1.3, shift=0.3)
    for name, open_class in CONTENT_WORDS.items():
        count = max(20, round(open_class.size * language.lexicon))
        stems[name] = coiner.stems(count, stems.get(open_class.lender, []), syllables=2)
        lexemes = [_content_lexeme(language, rng, open_class, stem) for stem in stems[name]]
        words[name] = zipfian(lexemes, exponent=language.zipf)
        topics = min(language.topics, count)
        topical[name] = [zipfian(lexemes[topic::topics], exponent=language.zipf) for topic in range(topics)]
    return Lexicon(words, topical)


def _content_lexeme(language: Language, rng: Rng, kind: WordClass, stem: str) -> Lexeme:
    if kind.paradigm != "noun":
        return Lexeme(stem, kind.upos, kind.paradigm, kind.inherent)
    gender = rng.choose(language.genders) if language.genders else ""
    lemma = stem.capitalize() if kind.upos == "PROPN" and language.capitals else stem
    return Lexeme(lemma, kind.upos, f"noun {gender}".rstrip(), gender=gender)


class Coiner:
    """Makes new words from the sounds of a language, without repetition."""

    def __init__(self, language: Language, rng: Rng) -> None:
        self.ambiguity = language.ambiguity
        self.rng = rng
        self.open_syllables = [onset + vowel for onset in language.consonants for vowel in language.vowels]
        self.closed_syllables = [syllable + coda for syllable in self.open_syllables for coda in language.consonants]
        self.coined: set[str] = set()

    def stems(self, count: int, lender: Sequence[str], *, syllables: int) -> list[str]:
        """Make stems in order of frequency: rarer ones are longer, and some are shared with another class."""
        stems: dict[str, None] = {}
        while len(stems) < count:
            if lender and self.rng.happens(self.ambiguity):
                # Of a similar rank, so that frequent words are as often ambiguous as rare ones.
                stem = lender[self.rng.below(min(2 * len(stems) + 5, len(lender)))]
            else:
                stem = self.coin(syllables + (len(stems) > 30) * self.rng.below(3))
            stems[stem] = None
        return list(stems)

    def coin(self, syllables: int) -> str:
        """Make a new word; every third syllable is closed by a consonant."""
        rng = self.rng
        while True:
            kinds = (self.closed_syllables if rng.happens(1 / 3) else self.open_syllables for _ in range(syllables))
            stem = "".join([rng.choose(kind) for kind in kinds])
            if stem not in self.coined:
                self.coined.add(stem)
                return stem
            syllables += rng.happens(0.1)


# Share of names that belong to the cast of the document.
CAST_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class DocumentContext:
    """The context of a document for the grammar."""

    language: Language
    lexicon: Lexicon
    morphology: Morphology
    inflect: Callable[[Lexeme, Features], WordForm]
    rng: Rng
    genre: Genre
    topic: int
    cast: tuple[Lexeme, ...]

    def content(self, kind: str) -> Lexeme:
        """Draw a content word, often one of the topic of the document."""
        if self.rng.happens(self.language.topicality):
            topics = self.lexicon.topical[kind]
            return self.rng.draw(topics[self.topic % len(topics)])
        return self.rng.draw(self.lexicon.words[kind])

    def name(self) -> Lexeme:
        """Draw a name, often one of the cast of the document."""
        if self.rng.happens(CAST_SHARE):
            return self.rng.choose(self.cast)
        return self.rng.draw(self.lexicon.words["name"])

    def function(self, kind: str, features: Features = ()) -> WordForm:
        """Draw a function word of this kind, and inflect it."""
        return self.inflect(self.rng.draw(self.lexicon.words[kind]), features)

    def singular(self, noun: Lexeme, case: str) -> WordForm:
        """Inflect a noun or name in the singular."""
        return self.inflect(noun, self.morphology.nominal[case, noun.gender, "Sing"])

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
        if self.rng.happens(self.genre.past):
            return tenses[0]
        return self.rng.choose(tenses)
