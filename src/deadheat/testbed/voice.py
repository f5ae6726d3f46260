"""Who writes a document: the language, the genre, the topic, the people in it, and the luck of the pen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from deadheat.testbed.chance import Chance
from deadheat.testbed.language import Genre, Language
from deadheat.testbed.lexicon import Lexicon
from deadheat.testbed.morphology import Features, Lexeme, Morphology, WordForm

# Share of names that belong to the cast of the document; the others are said once.
CAST_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Voice:
    """All that the grammar needs to know about the document it writes."""

    language: Language
    lexicon: Lexicon
    morphology: Morphology
    inflect: Callable[[Lexeme, Features], WordForm]
    chance: Chance
    genre: Genre
    topic: int
    cast: tuple[Lexeme, ...]

    def content(self, kind: str) -> Lexeme:
        """A word that says something, often one of the document's topic."""
        if self.chance.happens(self.language.topicality):
            topics = self.lexicon.topical[kind]
            return self.chance.draw(topics[self.topic % len(topics)])
        return self.chance.draw(self.lexicon.words[kind])

    def name(self) -> Lexeme:
        """A name, often of someone who was named before."""
        if self.chance.happens(CAST_SHARE):
            return self.chance.choose(self.cast)
        return self.chance.draw(self.lexicon.words["name"])

    def function(self, kind: str, features: Features = ()) -> WordForm:
        """A function word of this kind, with these features."""
        return self.inflect(self.chance.draw(self.lexicon.words[kind]), features)

    def agreeing(self, lexeme: Lexeme, features: Features) -> WordForm:
        """A word that takes the features of its noun, if the language has such agreement."""
        return self.inflect(lexeme, features if self.language.agreement else ())

    def case(self, *wanted: str) -> str:
        """The first of these cases that the language has, or else its citation case."""
        cases = self.language.cases
        return next((case for case in wanted if case in cases), cases[0] if cases else "")

    def tense(self) -> str:
        """A tense for a clause: mostly past in a story, mostly present in a letter."""
        tenses = self.language.tenses
        if self.chance.happens(self.genre.past):
            return tenses[0]
        return self.chance.choose(tenses)
