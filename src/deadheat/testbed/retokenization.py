"""Tokens cut and joined, and the tree over the words that come out of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from deadheat.testbed.chance import Chance
from deadheat.testbed.conllu import Sentence, Token, Word, depths

# In a text with multiword tokens, this share of the words that are cut becomes one, too.
FALSE_MULTIWORDS = 0.3


class Piece(NamedTuple):
    """A new word, and the positions of the old words in it; none for the second half of an old word."""

    form: str
    old: tuple[int, ...]


class NewToken(NamedTuple):
    """A new token and the words it stands for."""

    surface: str
    space_after: bool
    pieces: tuple[Piece, ...]


def kept_token(sentence: Sentence, token: Token, start: int) -> NewToken:
    """A token as it was; its words begin at position `start`."""
    places = range(start, start + token.words)
    pieces = tuple(Piece(sentence.words[place].form, (place,)) for place in places)
    return NewToken(token.surface, token.space_after, pieces)


def joined_tokens(first: Token, second: Token, start: int) -> NewToken:
    """Two tokens as one word, with the space between them if there was one."""
    surface = f"{first.surface} {second.surface}" if first.space_after else first.surface + second.surface
    return NewToken(surface, second.space_after, (Piece(surface, _places(start, first.words + second.words)),))


def cut_token(token: Token, start: int, chance: Chance, *, multiwords: bool) -> list[NewToken]:
    """A token in two; a multiword token may also become a plain word, and a plain word a multiword token."""
    surface, places = token.surface, _places(start, token.words)
    if token.words > 1 and (len(surface) == 1 or chance.happens(0.5)):
        return [NewToken(surface, token.space_after, (Piece(surface, places),))]
    cut = surface.find(" ") if " " in surface else 1 + chance.below(len(surface) - 1)
    left, right = surface[:cut], surface[cut:].lstrip()
    first, second = Piece(left, places[:1]), Piece(right, places[1:])
    if token.words == 1 and multiwords and chance.happens(FALSE_MULTIWORDS):
        return [NewToken(surface, token.space_after, (first, second))]
    spaced = left + right != surface
    return [NewToken(left, spaced, (first,)), NewToken(right, token.space_after, (second,))]


def _places(start: int, count: int) -> tuple[int, ...]:
    return tuple(range(start, start + count))


def rebuilt(sentence: Sentence, tokens: Sequence[NewToken]) -> Sentence:
    """The sentence over new tokens.

    A word made of several old ones takes the place of the highest of them in the tree. Its head lies
    higher still, so there are no cycles. The second half of a word hangs on the first.
    """
    old = sentence.words
    depth = [found or 0 for found in depths([word.head for word in old])]
    pieces = [piece for token in tokens for piece in token.pieces]
    home = {place: number for number, piece in enumerate(pieces, start=1) for place in piece.old}
    words = []
    for number, (form, places) in enumerate(pieces, start=1):
        if not places:
            words.append(Word(form, form, "X", "X", "_", number - 1, "goeswith"))
            continue
        highest = old[min(places, key=lambda place: depth[place])]
        lemma = highest.lemma if form == highest.form else form
        head = home[highest.head - 1] if highest.head else 0
        words.append(highest._replace(form=form, lemma=lemma, head=head))
    plain = tuple(Token(token.surface, len(token.pieces), token.space_after) for token in tokens)
    return sentence._replace(tokens=plain, words=tuple(words))
