"""How hard each word is for each task: a Gaussian copula over words, documents and systems.

The latent of a word is a standard normal made of three parts: one of the document and one of the word,
which all systems share, and one of the system and its seed. A word is wrong where its latent falls below a
threshold, so the share of wrong words is exactly what the threshold says, whatever the parts weigh.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from deadheat.testbed.chance import STANDARD_NORMAL, Chance
from deadheat.testbed.conllu import Sentence, text_of
from deadheat.testbed.systems import SimulatedSystem


class Latents(NamedTuple):
    """The latent of one word for each task; the lower, the harder."""

    upos: float
    xpos: float
    feats: float
    lemma: float
    head: float
    label: float


def threshold(errors: float) -> float:
    """The latent below which words are wrong, for an expected share of errors."""
    if errors <= 0:
        return -math.inf
    return math.inf if errors >= 1 else STANDARD_NORMAL.inv_cdf(errors)


def document_numbers(sentences: Sequence[Sentence]) -> list[int]:
    """The number of the document of each sentence; without marks, each sentence is its own."""
    opens = [any(comment.startswith("# newdoc") for comment in sentence.comments) for sentence in sentences]
    if not any(opens):
        return list(range(len(sentences)))
    numbers, number = [], 0
    for opening in opens:
        number += opening
        numbers.append(number)
    return numbers


def latents(
    sentences: Sequence[Sentence], system: SimulatedSystem, *, seed: int, shared_seed: int
) -> Iterator[list[Latents]]:
    """The latents of each sentence's words for a system on one seed."""
    of_document = system.document_effect
    of_word = math.sqrt(system.correlation - of_document**2)
    of_system = math.sqrt(1 - system.correlation)
    previous = None
    for sentence, number in zip(sentences, document_numbers(sentences), strict=True):
        if number != previous:
            previous = number
            # The words are part of the key, so that two corpora are not hard at the same places.
            opening = text_of(sentence.tokens)
            shared = Chance("shared", shared_seed, number, opening).normal
            own = Chance("own", system.name, seed, number, opening).normal
            document = of_document * shared()
        yield [
            Latents(*[document + of_word * shared() + of_system * own() for _ in Latents._fields])
            for _ in sentence.words
        ]
