"""How a row of words is written: capitals, spaces, and words that melt into one token."""

from __future__ import annotations

from deadheat.testbed.chance import Chance
from deadheat.testbed.conllu import Token
from deadheat.testbed.language import Language
from deadheat.testbed.layout import Layout
from deadheat.testbed.morphology import WordForm

CLOSING = frozenset(",.?!;:”)")
OPENING = frozenset("“(")


def capitalized(layout: Layout) -> Layout:
    """The sentence with a capital letter at its first word that is not punctuation."""
    first = next(place for place, word in enumerate(layout.words) if word.upos != "PUNCT")
    words = list(layout.words)
    form = words[first].form
    words[first] = words[first]._replace(form=form[:1].upper() + form[1:])
    return layout._replace(words=words)


def spelled(language: Language, chance: Chance, layout: Layout) -> tuple[Token, ...]:
    """The tokens that a row of words is written as."""
    tokens: list[Token] = []
    place, end = 0, len(layout.words)
    while place < end:
        word = layout.words[place]
        joined = place + 1 < end and _melts(language, chance, layout, place)
        surface = _melted(word, layout.words[place + 1]) if joined else word.form
        place += 1 + joined
        glued = place < end and (layout.words[place].form in CLOSING or surface in OPENING)
        tokens.append(Token(surface, 1 + joined, not glued))
    return tuple(tokens)


def _melts(language: Language, chance: Chance, layout: Layout, place: int) -> bool:
    """Whether the word here is written as one token with the next."""
    if not (language.contractions or language.clitics):
        return False
    here, following = layout.words[place], layout.words[place + 1]
    if here.upos == "ADP" and following.upos == "DET" and "PronType=Art" in following.feats:
        return chance.happens(language.contractions)
    if here.upos == "VERB" and following.upos == "PRON" and layout.heads[place + 1] == place:
        return "PronType=Prs" in following.feats and chance.happens(language.clitics)
    return False


def _melted(first: WordForm, second: WordForm) -> str:
    """A contraction loses sounds where its parts meet; a clitic is written onto its verb as it is."""
    if first.upos == "VERB":
        return first.form + second.form
    return first.form[:-1] + second.form[1:]
