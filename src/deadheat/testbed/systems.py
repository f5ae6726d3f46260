"""Simulated systems of known accuracy, and the difficulty of each word for them.

Difficulty is a Gaussian copula over words, documents and systems. The latent variable of a word is a standard normal
with three components: one of the document and one of the word, which all systems share, and one of the system and its
seed. A word is wrong where its latent variable is below a threshold, so the expected share of wrong words is set by
the threshold, whatever the weights of the components.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from deadheat.testbed.chance import STANDARD_NORMAL, Chance
from deadheat.testbed.conllu import Sentence, text_of
from deadheat.testbed.language import not_a_name, not_shares, raise_all, too_small

SHARES = (
    *("upos", "xpos", "feats", "lemma", "uas", "label"),
    *("correlation", "document_effect", "tokens", "sentences"),
)


@dataclass(frozen=True, slots=True)
class SimulatedSystem:
    """A simulated system with given accuracies, whose errors are correlated with those of other systems."""

    name: str
    upos: float = 0.95
    xpos: float = 0.94
    feats: float = 0.93
    lemma: float = 0.96
    uas: float = 0.88
    label: float = 0.94
    """Share of words with the right relation among those with the right head: LAS is `uas * label`."""
    correlation: float = 0.6
    """Correlation of the latent difficulty of a word between systems."""
    document_effect: float = 0.3
    """Standard deviation of the document component of the difficulty, which has standard deviation 1."""
    seed_sd: float = 0.005
    """Standard deviation of the true accuracy over seeds."""
    tokens: float = 1.0
    """Share of gold tokens that are predicted, with their words."""
    sentences: float = 1.0
    """Share of gold sentences that are predicted."""
    multiple_roots: bool = False
    """Whether predicted sentences may have more than one root."""

    def __post_init__(self) -> None:
        where = f"system {self.name!r}"
        errors = [
            *not_a_name(where, self.name.replace("-", "_")),
            *not_shares(where, self, SHARES),
            *too_small(where, self, {"seed_sd": 0.0}),
        ]
        if self.document_effect**2 > self.correlation:
            errors.append(
                f"{where}: document_effect is {self.document_effect} and correlation {self.correlation}; "
                "expected document_effect**2 <= correlation"
            )
        raise_all(errors)


@dataclass(frozen=True, slots=True)
class Truth:
    """The expected accuracies of a system on one seed, given the gold tokens and sentences."""

    upos: float
    xpos: float
    feats: float
    lemma: float
    uas: float
    label: float

    @property
    def las(self) -> float:
        """Expected LAS."""
        return self.uas * self.label


def truth(system: SimulatedSystem, *, seed: int) -> Truth:
    """Return the expected accuracies of a system on one seed, which raises or lowers all of them together.

    The label accuracy, which is conditional on the right head, and accuracies of 0 or 1 are not changed.

    Examples
    --------
    >>> truth(SimulatedSystem("steady", uas=0.9, seed_sd=0.0), seed=7).uas
    0.9
    """
    shift = system.seed_sd * Chance("seed", system.name, seed).normal()

    def on_this_seed(accuracy: float) -> float:
        return accuracy if accuracy in (0, 1) else min(max(accuracy + shift, 0.0), 1.0)

    return Truth(
        upos=on_this_seed(system.upos),
        xpos=on_this_seed(system.xpos),
        feats=on_this_seed(system.feats),
        lemma=on_this_seed(system.lemma),
        uas=on_this_seed(system.uas),
        label=system.label,
    )


class Latents(NamedTuple):
    """The latent variables of a word, one per task; lower is harder."""

    upos: float
    xpos: float
    feats: float
    lemma: float
    head: float
    label: float


def threshold(errors: float) -> float:
    """Return the latent variable below which words are wrong, for an expected share of errors."""
    if errors <= 0:
        return -math.inf
    return math.inf if errors >= 1 else STANDARD_NORMAL.inv_cdf(errors)


def document_numbers(sentences: Sequence[Sentence]) -> list[int]:
    """Return the number of the document of each sentence; without marks, each sentence is one."""
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
    """Yield the latent variables of the words of each sentence for a system on one seed."""
    document_weight = system.document_effect
    word_weight = math.sqrt(system.correlation - document_weight**2)
    system_weight = math.sqrt(1 - system.correlation)
    previous = None
    for sentence, number in zip(sentences, document_numbers(sentences), strict=True):
        if number != previous:
            previous = number
            # The words are part of the key, so that different corpora have different difficulties.
            opening = text_of(sentence.tokens)
            shared = Chance("shared", shared_seed, number, opening).normal
            specific = Chance("own", system.name, seed, number, opening).normal
            document = document_weight * shared()
        yield [
            Latents(*[document + word_weight * shared() + system_weight * specific() for _ in Latents._fields])
            for _ in sentence.words
        ]
