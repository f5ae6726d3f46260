"""Simulated systems of known accuracy: the gold text with errors of known probability.

The difficulty of words is a Gaussian copula over words, documents and systems. The latent variable of a word is a
standard normal with three components: one of the document and one of the word, which all systems share, and one of the
system and its seed. A word is wrong where its latent variable is below a threshold. So the threshold alone sets the
expected share of wrong words, whatever the weights of the components.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from deadheat.testbed import mistakes
from deadheat.testbed.conllu import Sentence, Word, parse, render, text_of
from deadheat.testbed.language import check_parameters
from deadheat.testbed.rng import STANDARD_NORMAL, Rng
from deadheat.testbed.segmentation import resegment

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
        extra = []
        if self.document_effect**2 > self.correlation:
            values = f"document_effect is {self.document_effect} and correlation {self.correlation}"
            extra = [f"{values}; expected document_effect**2 <= correlation"]
        check_parameters("system", self, SHARES, {"seed_sd": 0.0}, extra=extra, punctuation="_-")


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
    shift = system.seed_sd * Rng("seed", system.name, seed).normal()

    def on_this_seed(accuracy: float) -> float:
        return accuracy if accuracy in (0, 1) else min(max(accuracy + shift, 0.0), 1.0)

    accuracies = (system.upos, system.xpos, system.feats, system.lemma, system.uas)
    upos, xpos, feats, lemma, uas = map(on_this_seed, accuracies)
    return Truth(upos, xpos, feats, lemma, uas, system.label)


class Latents(NamedTuple):
    """The latent variables of a word, one per task, or the thresholds below which words are wrong."""

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
    return list(accumulate(map(int, opens))) if any(opens) else list(range(len(sentences)))


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
            shared = Rng("shared", shared_seed, number, opening).normal
            specific = Rng("own", system.name, seed, number, opening).normal
            document = document_weight * shared()
        yield [
            Latents(*[document + word_weight * shared() + system_weight * specific() for _ in Latents._fields])
            for _ in sentence.words
        ]


# Share of words with a wrong head that have the right relation.
LABEL_DESPITE_HEAD = 0.6


def simulate(gold_text: str, system: SimulatedSystem, *, seed: int, shared_seed: int = 0) -> str:
    """Simulate the predictions of a system for a gold text, in CoNLL-U with the same characters.

    Parameters
    ----------
    gold_text
        CoNLL-U, with or without document marks (`# newdoc`).
    system
        Accuracies of the system, and its correlation with other systems.
    seed
        Stands for the training seed of the system.
    shared_seed
        Determines the difficulty of each word; systems with the same value make correlated errors.

    Notes
    -----
    With gold tokens and sentences, the expected accuracies over the text are those of
    `truth(system, seed=seed)`. Trees have one root and no cycles. Enhanced dependencies and empty nodes
    are not predicted.
    """
    gold = parse(gold_text)
    true = truth(system, seed=seed)
    hardness = list(latents(gold, system, seed=seed, shared_seed=shared_seed))
    rng = Rng("mistakes", system.name, seed)
    head_limit = threshold(mistakes.error_rate([len(sentence.words) for sentence in gold], true.uas))
    heads = []
    for sentence, hard in zip(gold, hardness, strict=True):
        right = [word.head for word in sentence.words]
        wrong = mistakes.possible_errors(right, [latent.head for latent in hard], head_limit, rng)
        heads.append(mistakes.reattach(right, wrong, rng, multiple_roots=system.multiple_roots))
    errors = (1 - true.upos, 1 - true.xpos, 1 - true.feats, 1 - true.lemma, _label_errors(gold, heads, true))
    upos, xpos, feats, lemma, label = map(threshold, errors)
    limits = Latents(upos, xpos, feats, lemma, head_limit, label)
    inventory = mistakes.make_inventory(word for sentence in gold for word in sentence.words)
    predicted = [
        sentence._replace(
            words=tuple(
                _predict_word(word, head, latent, limits, inventory, rng)
                for word, head, latent in zip(sentence.words, new_heads, hard, strict=True)
            )
        )
        for sentence, new_heads, hard in zip(gold, heads, hardness, strict=True)
    ]
    if system.tokens < 1 or system.sentences < 1:
        segment_rng = Rng("segments", system.name, seed)
        predicted = resegment(
            predicted, document_numbers(gold), segment_rng, tokens=system.tokens, sentences=system.sentences
        )
    return "".join(render(sentence) for sentence in predicted)


def _label_errors(gold: Sequence[Sentence], heads: Sequence[Sequence[int]], true: Truth) -> float:
    """Return the share of wrong labels; roots always have the right label, so others are wrong more often."""
    right = [
        word.head
        for sentence, predicted in zip(gold, heads, strict=True)
        for word, head in zip(sentence.words, predicted, strict=True)
        if word.head == head
    ]
    labelled = sum(head > 0 for head in right)
    return (1 - true.label) * len(right) / labelled if labelled else 0.0


def _predict_word(
    word: Word, head: int, latent: Latents, limits: Latents, inventory: mistakes.Inventory, rng: Rng
) -> Word:
    return Word(
        word.form,
        mistakes.wrong_lemma(rng, word) if latent.lemma < limits.lemma else word.lemma,
        mistakes.wrong_upos(rng, word.upos) if latent.upos < limits.upos else word.upos,
        mistakes.wrong_xpos(rng, word, inventory) if latent.xpos < limits.xpos else word.xpos,
        mistakes.wrong_feats(rng, word, inventory) if latent.feats < limits.feats else word.feats,
        head,
        _predict_relation(word, head, rng, mistaken=latent.label < limits.label),
    )


def _predict_relation(word: Word, head: int, rng: Rng, *, mistaken: bool) -> str:
    """Return `root` for roots only; with a wrong head, the relation is often wrong too."""
    if head == 0:
        return "root"
    if head != word.head:
        mistaken = word.head == 0 or not rng.happens(LABEL_DESPITE_HEAD)
    return mistakes.wrong_relation(rng, word.relation) if mistaken else word.relation
