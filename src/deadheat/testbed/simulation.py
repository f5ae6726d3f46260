"""Simulated predictions: the gold text with errors of known probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deadheat.testbed.chance import Chance
from deadheat.testbed.conllu import Sentence, Word, parse, render
from deadheat.testbed.mistakes import (
    Inventory,
    error_rate,
    make_inventory,
    possible_errors,
    reattach,
    wrong_feats,
    wrong_lemma,
    wrong_relation,
    wrong_upos,
    wrong_xpos,
)
from deadheat.testbed.segmentation import resegment
from deadheat.testbed.systems import Latents, SimulatedSystem, Truth, document_numbers, latents, threshold, truth

# Share of words with a wrong head that have the right relation.
LABEL_DESPITE_HEAD = 0.6


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The latent variables below which a word is wrong, for each task."""

    upos: float
    xpos: float
    feats: float
    lemma: float
    label: float


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
    chance = Chance("mistakes", system.name, seed)
    heads = _predict_heads(gold, hardness, system, true, chance)
    limits = _thresholds(gold, heads, true)
    inventory = make_inventory(word for sentence in gold for word in sentence.words)
    predicted = [
        sentence._replace(
            words=tuple(
                _predict_word(word, head, latent, limits, inventory, chance)
                for word, head, latent in zip(sentence.words, new_heads, hard, strict=True)
            )
        )
        for sentence, new_heads, hard in zip(gold, heads, hardness, strict=True)
    ]
    if system.tokens < 1 or system.sentences < 1:
        predicted = resegment(predicted, document_numbers(gold), system, seed=seed)
    return "".join(render(sentence) for sentence in predicted)


def _predict_heads(
    gold: Sequence[Sentence],
    hardness: Sequence[Sequence[Latents]],
    system: SimulatedSystem,
    true: Truth,
    chance: Chance,
) -> list[list[int]]:
    limit = threshold(error_rate([len(sentence.words) for sentence in gold], true.uas))
    predicted = []
    for sentence, hard in zip(gold, hardness, strict=True):
        heads = [word.head for word in sentence.words]
        wrong = possible_errors(heads, [latent.head for latent in hard], limit, chance)
        predicted.append(reattach(heads, wrong, chance, multiple_roots=system.multiple_roots))
    return predicted


def _thresholds(gold: Sequence[Sentence], heads: Sequence[Sequence[int]], true: Truth) -> Thresholds:
    """Return the thresholds for the accuracies; roots always have the right label, so others are wrong more often."""
    right = [
        word.head
        for sentence, predicted in zip(gold, heads, strict=True)
        for word, head in zip(sentence.words, predicted, strict=True)
        if word.head == head
    ]
    labelled = sum(head > 0 for head in right)
    label_errors = (1 - true.label) * len(right) / labelled if labelled else 0.0
    return Thresholds(
        upos=threshold(1 - true.upos),
        xpos=threshold(1 - true.xpos),
        feats=threshold(1 - true.feats),
        lemma=threshold(1 - true.lemma),
        label=threshold(label_errors),
    )


def _predict_word(
    word: Word, head: int, latent: Latents, limits: Thresholds, inventory: Inventory, chance: Chance
) -> Word:
    """Return the predicted word."""
    return Word(
        word.form,
        wrong_lemma(chance, word) if latent.lemma < limits.lemma else word.lemma,
        wrong_upos(chance, word.upos) if latent.upos < limits.upos else word.upos,
        wrong_xpos(chance, word, inventory) if latent.xpos < limits.xpos else word.xpos,
        wrong_feats(chance, word, inventory) if latent.feats < limits.feats else word.feats,
        head,
        _predict_relation(word, head, chance, mistaken=latent.label < limits.label),
    )


def _predict_relation(word: Word, head: int, chance: Chance, *, mistaken: bool) -> str:
    """Return `root` for roots only; with a wrong head, the relation is often wrong too."""
    if head == 0:
        return "root"
    if head != word.head:
        mistaken = word.head == 0 or not chance.happens(LABEL_DESPITE_HEAD)
    return wrong_relation(chance, word.relation) if mistaken else word.relation
