"""Systems of known accuracy, and how hard each word is for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from deadheat.testbed.chance import STANDARD_NORMAL, Chance
from deadheat.testbed.conllu import Sentence, text_of
from deadheat.testbed.language import not_a_name, not_shares, refuse, too_small

SHARES = (
    *("upos", "xpos", "feats", "lemma", "uas", "label"),
    *("correlation", "document_effect", "tokens", "sentences"),
)


@dataclass(frozen=True, slots=True)
class SimulatedSystem:
    """A system that makes as many mistakes as it is told to, and mostly where others make them too."""

    name: str
    upos: float = 0.95
    xpos: float = 0.94
    feats: float = 0.93
    lemma: float = 0.96
    uas: float = 0.88
    label: float = 0.94
    """Share of words with the right relation among those with the right head: LAS is `uas * label`."""
    correlation: float = 0.6
    """How much of a word's difficulty is shared by all systems (a correlation of latent normals)."""
    document_effect: float = 0.3
    """Standard deviation of the document's part in that difficulty, which has standard deviation 1."""
    seed_sd: float = 0.005
    """Standard deviation of the true accuracy over seeds."""
    tokens: float = 1.0
    """Share of the gold tokens that are found, with their words."""
    sentences: float = 1.0
    """Share of the gold sentences that are found."""
    multiple_roots: bool = False
    """Whether a sentence may get more than one root."""

    def __post_init__(self) -> None:
        where = f"system {self.name!r}"
        mistakes = [
            *not_a_name(where, self.name.replace("-", "_")),
            *not_shares(where, self, SHARES),
            *too_small(where, self, {"seed_sd": 0.0}),
        ]
        if self.document_effect**2 > self.correlation:
            mistakes.append(
                f"{where}: document_effect is {self.document_effect} and correlation {self.correlation}; "
                "expected document_effect**2 <= correlation, because documents are shared"
            )
        refuse(mistakes)


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
        """Expected share of words with the right head and relation."""
        return self.uas * self.label


def truth(system: SimulatedSystem, *, seed: int) -> Truth:
    """What a system is worth on one seed: a lucky seed is better at everything.

    The label accuracy, which is conditional on the right head, stays, and so does what is exactly 0 or 1.

    Examples
    --------
    >>> truth(SimulatedSystem("steady", uas=0.9, seed_sd=0.0), seed=7).uas
    0.9
    """
    luck = system.seed_sd * Chance("seed", system.name, seed).normal()

    def on_this_seed(accuracy: float) -> float:
        return accuracy if accuracy in (0, 1) else min(max(accuracy + luck, 0.0), 1.0)

    return Truth(
        upos=on_this_seed(system.upos),
        xpos=on_this_seed(system.xpos),
        feats=on_this_seed(system.feats),
        lemma=on_this_seed(system.lemma),
        uas=on_this_seed(system.uas),
        label=system.label,
    )


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
