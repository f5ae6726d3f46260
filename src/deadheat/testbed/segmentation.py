"""Change the tokens and sentences of predictions; the characters stay the same, and trees stay trees.

A lost unit is cut in two, or joined with a neighbour that is lost as well. If neither is possible (a comma between
tokens that are kept), the unit is kept or takes a neighbour with it, with equal probability, so that the expected share
of lost units is as requested.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

from deadheat.testbed.conllu import Sentence, Token, Word, depths, text_of
from deadheat.testbed.rng import Rng

# In a text with multiword tokens, the share of cut words that become multiword tokens.
FALSE_MULTIWORDS = 0.3


Piece = tuple[str, tuple[int, ...]]
"""A new word, and the positions of the old words in it; none for the second half of an old word."""


class NewToken(NamedTuple):
    """A new token and its words."""

    surface: str
    space_after: bool
    pieces: tuple[Piece, ...]


def join_tokens(first: Token, second: Token, start: int) -> NewToken:
    """Join two tokens to one word, with the space between them if there was one."""
    surface = f"{first.surface} {second.surface}" if first.space_after else first.surface + second.surface
    positions = tuple(range(start, start + first.words + second.words))
    return NewToken(surface, second.space_after, ((surface, positions),))


def cut_token(token: Token, start: int, rng: Rng, *, multiwords: bool) -> list[NewToken]:
    """Cut a token in two, or turn a multiword token into a word, or a word into a multiword token."""
    surface, positions = token.surface, tuple(range(start, start + token.words))
    if token.words > 1 and (len(surface) == 1 or rng.happens(0.5)):
        return [NewToken(surface, token.space_after, ((surface, positions),))]
    cut = surface.find(" ") if " " in surface else 1 + rng.below(len(surface) - 1)
    left, right = surface[:cut], surface[cut:].lstrip()
    first, second = (left, positions[:1]), (right, positions[1:])
    if token.words == 1 and multiwords and rng.happens(FALSE_MULTIWORDS):
        return [NewToken(surface, token.space_after, (first, second))]
    spaced = left + right != surface
    return [NewToken(left, spaced, (first,)), NewToken(right, token.space_after, (second,))]


def rebuild(sentence: Sentence, tokens: Sequence[NewToken]) -> Sentence:
    """Return the sentence with new tokens.

    A word that consists of several old ones takes the head of the highest of them in the tree, so there are no cycles.
    The second half of a word depends on the first.
    """
    old = sentence.words
    depth = [distance or 0 for distance in depths([word.head for word in old])]
    pieces = [piece for token in tokens for piece in token.pieces]
    home = {position: number for number, (_, old_words) in enumerate(pieces, start=1) for position in old_words}
    words = []
    for number, (form, positions) in enumerate(pieces, start=1):
        if not positions:
            words.append(Word(form, form, "X", "X", "_", number - 1, "goeswith"))
            continue
        highest = old[min(positions, key=lambda position: depth[position])]
        lemma = highest.lemma if form == highest.form else form
        head = home[highest.head - 1] if highest.head else 0
        words.append(highest._replace(form=form, lemma=lemma, head=head))
    plain = tuple(Token(token.surface, len(token.pieces), token.space_after) for token in tokens)
    return sentence._replace(tokens=plain, words=tuple(words))


def resegment(
    predicted: Sequence[Sentence], documents: Sequence[int], rng: Rng, *, tokens: float, sentences: float
) -> list[Sentence]:
    """Change tokens and sentences so that these shares of them are kept."""
    multiwords = any(token.words > 1 for sentence in predicted for token in sentence.tokens)
    result: list[Sentence] = []
    for _, group in groupby(zip(documents, predicted, strict=True), key=lambda pair: pair[0]):
        changed = [_retokenize(sentence, 1 - tokens, rng, multiwords=multiwords) for _, sentence in group]
        for sentence in _change_sentences(changed, 1 - sentences, rng):
            text = f"# text = {text_of(sentence.tokens)}"
            comments = (text if comment.startswith("# text =") else comment for comment in sentence.comments)
            result.append(sentence._replace(comments=tuple(comments)))
    return result


def _retokenize(sentence: Sentence, errors: float, rng: Rng, *, multiwords: bool) -> Sentence:
    """Lose each token of a sentence with this probability."""
    tokens = sentence.tokens
    lost = [rng.happens(errors) for _ in tokens]
    if not any(lost):
        return sentence
    new_tokens: list[NewToken] = []
    starts = [0, *accumulate(token.words for token in tokens)]
    i = 0
    while i < len(tokens):
        token, start, follows = tokens[i], starts[i], i + 1 < len(tokens)
        joins = lost[i] and follows and lost[i + 1] and not token.space_after
        cuts = lost[i] and not joins and (token.words > 1 or len(token.surface) > 1)
        takes_neighbour = lost[i] and not joins and not cuts and rng.happens(0.5)
        if cuts:
            new_tokens += cut_token(token, start, rng, multiwords=multiwords)
        elif takes_neighbour and i and not lost[i - 1]:
            new_tokens[-1] = join_tokens(tokens[i - 1], token, starts[i - 1])
        elif joins or (takes_neighbour and follows and not lost[i + 1]):
            new_tokens.append(join_tokens(token, tokens[i + 1], start))
            i += 1
        else:
            pieces = tuple((sentence.words[k].form, (k,)) for k in range(start, starts[i + 1]))
            new_tokens.append(NewToken(token.surface, token.space_after, pieces))
        i += 1
    return rebuild(sentence, new_tokens)


def _change_sentences(sentences: Sequence[Sentence], errors: float, rng: Rng) -> list[Sentence]:
    """Lose each sentence of a document with this probability."""
    lost = [rng.happens(errors) for _ in sentences]
    result: list[Sentence] = []
    i = 0
    while i < len(sentences):
        sentence, follows = sentences[i], i + 1 < len(sentences)
        joins = lost[i] and follows and lost[i + 1]
        cuts = lost[i] and not joins and len(sentence.tokens) > 1
        if cuts:
            result += _cut(sentence, 1 + rng.below(len(sentence.tokens) - 1))
        elif joins or (lost[i] and follows and rng.happens(0.5)):
            result += _merge(sentence, sentences[i + 1], rng)
            i += 1
        else:
            result.append(sentence)
        i += 1
    return result


def _merge(first: Sentence, second: Sentence, rng: Rng) -> tuple[Sentence, ...]:
    """Join two sentences, or move the boundary between them."""
    whole = _join(first, second)
    cuts = [i for i in range(1, len(whole.tokens)) if i != len(first.tokens)]
    if cuts and rng.happens(0.5):
        return _cut(whole, rng.choose(cuts))
    return (whole,)


def _join(first: Sentence, second: Sentence) -> Sentence:
    """Join two sentences; the root of the second depends on the root of the first."""
    shift = len(first.words)
    root = next(number for number, word in enumerate(first.words, start=1) if word.head == 0)
    moved = [
        word._replace(head=word.head + shift) if word.head else word._replace(head=root, relation="parataxis")
        for word in second.words
    ]
    return first._replace(tokens=(*first.tokens, *second.tokens), words=(*first.words, *moved))


def _cut(sentence: Sentence, token_index: int) -> tuple[Sentence, Sentence]:
    """Cut a sentence before a token; both halves get new ids."""
    tokens, words = sentence.tokens, sentence.words
    cut = sum(token.words for token in tokens[:token_index])
    later = [comment for comment in sentence.comments if comment.startswith(("# sent_id", "# text ="))]
    return (
        Sentence(_rename(sentence.comments, "a"), tokens[:token_index], _repair_tree(words[:cut], 0)),
        Sentence(_rename(later, "b"), tokens[token_index:], _repair_tree(words[cut:], cut)),
    )


def _rename(comments: Sequence[str], letter: str) -> tuple[str, ...]:
    """Add a letter to the sentence id."""
    return tuple(f"{comment}{letter}" if comment.startswith("# sent_id") else comment for comment in comments)


def _repair_tree(words: Sequence[Word], before: int) -> tuple[Word, ...]:
    """Make a tree of some words of a sentence: words without their head depend on the first of them."""
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
