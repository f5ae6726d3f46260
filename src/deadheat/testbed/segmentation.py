"""Predictions with other tokens and sentences over the same characters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

from deadheat.testbed.chance import Chance
from deadheat.testbed.conllu import Sentence, Token, Word, depths, text_of
from deadheat.testbed.systems import SimulatedSystem

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


def resegmented(
    sentences: Sequence[Sentence], documents: Sequence[int], system: SimulatedSystem, *, seed: int
) -> list[Sentence]:
    """The sentences with as many tokens and sentences lost as the system is told to lose."""
    chance = Chance("segments", system.name, seed)
    multiwords = any(token.words > 1 for sentence in sentences for token in sentence.tokens)
    found: list[Sentence] = []
    for _, group in groupby(zip(documents, sentences, strict=True), key=lambda pair: pair[0]):
        changed = [_retokenized(sentence, 1 - system.tokens, chance, multiwords=multiwords) for _, sentence in group]
        found += _resentenced(changed, 1 - system.sentences, chance)
    return [_described(sentence) for sentence in found]


def _described(sentence: Sentence) -> Sentence:
    """The sentence with its text, and the spaces in it, brought up to date."""
    text = f"# text = {text_of(sentence.tokens)}"
    comments = [text if comment.startswith("# text =") else comment for comment in sentence.comments]
    return sentence._replace(comments=tuple(comments))


def _retokenized(sentence: Sentence, errors: float, chance: Chance, *, multiwords: bool) -> Sentence:
    """A sentence in which each token is lost with this probability."""
    tokens = sentence.tokens
    lost = [chance.happens(errors) for _ in tokens]
    if not any(lost):
        return sentence
    found: list[NewToken] = []
    starts = [0, *accumulate(token.words for token in tokens)]
    place = 0
    while place < len(tokens):
        token, start = tokens[place], starts[place]
        follows = place + 1 < len(tokens)
        takes_next = False
        if not lost[place]:
            found.append(kept_token(sentence, token, start))
        elif follows and lost[place + 1] and not token.space_after:
            takes_next = True
        elif token.words > 1 or len(token.surface) > 1:
            found += cut_token(token, start, chance, multiwords=multiwords)
        elif not chance.happens(0.5):
            found.append(kept_token(sentence, token, start))
        elif place and not lost[place - 1]:
            found[-1] = joined_tokens(tokens[place - 1], token, starts[place - 1])
        elif follows and not lost[place + 1]:
            takes_next = True
        else:
            found.append(kept_token(sentence, token, start))
        if takes_next:
            found.append(joined_tokens(token, tokens[place + 1], start))
        place += 1 + takes_next
    return rebuilt(sentence, found)


def _resentenced(sentences: Sequence[Sentence], errors: float, chance: Chance) -> list[Sentence]:
    """The sentences of a document, each lost with this probability."""
    lost = [chance.happens(errors) for _ in sentences]
    found: list[Sentence] = []
    place = 0
    while place < len(sentences):
        sentence = sentences[place]
        follows = place + 1 < len(sentences)
        takes_next = False
        if not lost[place]:
            found.append(sentence)
        elif follows and lost[place + 1]:
            takes_next = True
        elif len(sentence.tokens) > 1:
            found += _cut(sentence, 1 + chance.below(len(sentence.tokens) - 1))
        elif follows and chance.happens(0.5):
            takes_next = True
        else:
            found.append(sentence)
        if takes_next:
            found += _remade(sentence, sentences[place + 1], chance)
        place += 1 + takes_next
    return found


def _remade(first: Sentence, second: Sentence, chance: Chance) -> tuple[Sentence, ...]:
    """Two sentences as one, or with the boundary between them moved."""
    whole = _joined(first, second)
    cuts = [place for place in range(1, len(whole.tokens)) if place != len(first.tokens)]
    if cuts and chance.happens(0.5):
        return _cut(whole, chance.choose(cuts))
    return (whole,)


def _joined(first: Sentence, second: Sentence) -> Sentence:
    """Two sentences as one; what was the root of the second hangs on the root of the first."""
    shift = len(first.words)
    root = next(number for number, word in enumerate(first.words, start=1) if word.head == 0)
    moved = [
        word._replace(head=word.head + shift) if word.head else word._replace(head=root, relation="parataxis")
        for word in second.words
    ]
    return first._replace(tokens=(*first.tokens, *second.tokens), words=(*first.words, *moved))


def _cut(sentence: Sentence, place: int) -> tuple[Sentence, Sentence]:
    """A sentence cut before a token; both halves get names of their own."""
    tokens, words = sentence.tokens, sentence.words
    cut = sum(token.words for token in tokens[:place])
    later = [comment for comment in sentence.comments if comment.startswith(("# sent_id", "# text ="))]
    return (
        Sentence(_renamed(sentence.comments, "a"), tokens[:place], _regrown(words[:cut], 0)),
        Sentence(_renamed(later, "b"), tokens[place:], _regrown(words[cut:], cut)),
    )


def _renamed(comments: Sequence[str], letter: str) -> tuple[str, ...]:
    """Comments with a letter added to the sentence's name."""
    return tuple(f"{comment}{letter}" if comment.startswith("# sent_id") else comment for comment in comments)


def _regrown(words: Sequence[Word], before: int) -> tuple[Word, ...]:
    """A tree over some words of a sentence: those cut off from their heads hang on the first of them."""
    heads = [word.head - before for word in words]
    inside = [1 <= head <= len(words) for head in heads]
    root = inside.index(False) + 1
    regrown = []
    for number, word in enumerate(words, start=1):
        if inside[number - 1]:
            regrown.append(word._replace(head=heads[number - 1]))
        elif number == root:
            regrown.append(word._replace(head=0, relation="root"))
        else:
            relation = "parataxis" if word.relation == "root" else word.relation
            regrown.append(word._replace(head=root, relation=relation))
    return tuple(regrown)
