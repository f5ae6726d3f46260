"""Predictions with other tokens and sentences over the same characters, their trees kept whole.

A lost unit is cut in two, or joined with a neighbour that is lost as well. One that can do neither (a comma
between words that are found) is found after all or takes a neighbour with it, with equal probability:
so the expected share of lost units is what was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, groupby

from deadheat.testbed.chance import Chance
from deadheat.testbed.conllu import Sentence, Word, text_of
from deadheat.testbed.retokenization import NewToken, cut_token, joined_tokens, kept_token, rebuilt
from deadheat.testbed.systems import SimulatedSystem


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
