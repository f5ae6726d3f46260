"""Biased splits after Søgaard et al. (2021): a test set that differs from train in length or in its words.

The adversarial split maximizes the Jensen-Shannon divergence between the words of test and those of the rest, weighted
by size, with a local search. It starts from the words of a random unit, ranks all units by the likelihood of their
words under the set so far against the rest, per word, takes the first of them until the size is reached, and repeats
that with the new set while it helps. The words of a unit are left out of the counts that it is judged by; otherwise
nothing would ever move. The best of a few starts is kept. On corpora so small that all sets can be tried, it reaches
98 % of the greatest divergence.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.errors import InputError, NameUnknown
from deadheat.splits.drawing import allocate, below, generator, permutation
from deadheat.splits.leaks import entropy
from deadheat.splits.strategies import LEFT_OUT, make_draw, unit_weights
from deadheat.splits.strategy import STRATEGIES, Draw, Material, Strategy, measure_of, parse_sizes, target_amounts

CRITERIA = ("length", "words")
ENDS = ("long", "short")
STARTS, MORE_STARTS, FEW_WORDS = 4, 20, 20_000  # small corpora get more starts
ROUNDS, PATIENCE = 50, 3  # rounds of a search, and rounds without improvement before it ends
SMOOTHING = 1.0  # added to the count of every word
START_WORDS = 200  # words that a search starts from; fewer if test has fewer
LONGEST_NGRAM = 5


@STRATEGIES.add("biased.v1")
def biased(
    *,
    by: str = "length",
    sizes: str = "80/10/10",
    unit: str = "sentence",
    end: str = "long",
    ngram: int = 1,
    block: int = 50,
) -> Strategy:
    """Test differs from train: it has the longest sentences (`by='length'`) or other words (`by='words'`).

    `end`: whether test has the `long` or the `short` sentences; ties are broken at random. `ngram`: the length of the
    word n-grams to compare. `unit`: whole documents or blocks instead of sentences, by their mean length or by all
    their words. Shares are of sentences where single sentences are chosen by length, else of words. Dev is a random
    sample of the rest, so it is like train.
    """
    for value, choices, name in ((by, CRITERIA, "by"), (end, ENDS, "end")):
        if value not in choices:
            raise NameUnknown(f"biased: {name}", value, choices)
    if not 1 <= ngram <= LONGEST_NGRAM:
        raise InputError(f"biased: ngram={ngram}; expected 1 to {LONGEST_NGRAM}")
    wanted = parse_sizes(sizes)
    if "test" not in wanted or len(wanted) < 2:
        raise InputError(f"biased: sizes {sizes!r}; expected test and at least one other part")

    def draw(material: Material, seed: int, number: int) -> Draw:
        units = material.units(unit, block)
        measure = measure_of(wanted, "sentences" if (unit, by) == ("sentence", "length") else "words")
        weights = unit_weights(material, units, measure)
        targets = target_amounts(wanted, int(weights.sum()), measure, material.corpus.name)
        rng = generator(seed, number)
        if by == "length":
            ranked = _rank_by_length(material, units, end, rng)
        else:
            ranked = _rank_by_words(material, units, weights, targets["test"], ngram, rng)
        test = ranked[: _units_for(weights[ranked], targets["test"])]
        return _draw_others(units, weights, targets, test, rng)

    return Strategy("biased.v1", draw)


def _units_for(weights: Indices, amount: float) -> int:
    """Return how many of the first units come nearest to an amount; at least one."""
    return max(1, int(np.searchsorted(np.cumsum(weights) - weights / 2, amount)))


def _rank_by_length(material: Material, units: Codes | None, end: str, rng: np.random.Generator) -> Indices:
    lengths = material.lengths.astype(float)
    if units is not None:
        lengths = np.bincount(units, lengths) / np.maximum(np.bincount(units), 1)
    order = permutation(len(lengths), rng=rng)
    keys = lengths[order] if end == "short" else -lengths[order]
    return order[np.argsort(keys, kind="stable")]


def _draw_others(
    units: Codes | None, weights: Indices, targets: Mapping[str, float], test: Indices, rng: np.random.Generator
) -> Draw:
    """Draw the other parts from the rest: in proportion if everything is used, else of the requested sizes."""
    rest = np.setdiff1d(np.arange(len(weights)), test, assume_unique=True)
    others = {part: amount for part, amount in targets.items() if part != "test"}
    left, requested = float(weights[rest].sum()), sum(others.values())
    all_used = float(weights.sum()) - sum(targets.values()) <= 0.5
    if all_used or left <= requested + 0.5:
        others = {part: amount * left / requested for part, amount in others.items()}
    else:
        others[LEFT_OUT] = left - requested
    part_of_unit = np.full(len(weights), len(others), np.int32)
    part_of_unit[rest] = allocate(weights[rest], np.zeros(len(rest), np.int32), np.array([*others.values()]), rng=rng)
    order = np.concatenate([test, rest[permutation(len(rest), rng=rng)]])
    draw = make_draw([*others, "test"], part_of_unit, order, units)
    return Draw({part: draw.parts[part] for part in targets}, units)


def _rank_by_words(
    material: Material, units: Codes | None, weights: Indices, amount: float, ngram: int, rng: np.random.Generator
) -> Indices:
    """Rank units so that the first of them are the test set."""
    words, unit_of_word = _ngrams(material.corpus, units, ngram)
    search = _WordSearch(words, unit_of_word, len(weights))
    best, kept = -1.0, np.arange(len(weights))
    for _ in range(STARTS + min(MORE_STARTS, FEW_WORDS // max(1, len(words)))):
        order = search.start(min(START_WORDS, len(words) * amount / weights.sum()), rng)
        highest, stalled = -1.0, 0
        for _ in range(ROUNDS):
            inside = np.zeros(len(weights), bool)
            inside[order[: _units_for(weights[order], amount)]] = True
            divergence = search.divergence(inside)
            if divergence > best + 1e-12:
                best, kept = divergence, order
            stalled = 0 if divergence > highest + 1e-12 else stalled + 1
            if stalled == PATIENCE:
                break
            highest = max(highest, divergence)
            order = search.ranked(inside)
    return kept


def _ngrams(corpus: Corpus, units: Codes | None, ngram: int) -> tuple[Indices, Indices]:
    """Return the n-grams within sentences as numbers, and the unit of each."""
    sentences, forms = corpus.sentence_of_word, corpus.column("form").codes.astype(np.int64)
    starts = np.flatnonzero(sentences[: max(0, len(forms) - ngram + 1)] == sentences[ngram - 1 :])
    numbers = forms[starts]
    for further in range(1, ngram):
        both = numbers * (int(forms.max(initial=0)) + 1) + forms[starts + further]
        numbers = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return numbers, sentences[starts] if units is None else units[sentences[starts]].astype(np.int64)


class _WordSearch:
    """The words of all units, and rankings of units by their likelihood under the words of some."""

    def __init__(self, words: Indices, unit_of_word: Indices, units: int) -> None:
        self.words, self.unit_of_word, self.units = words, unit_of_word, units
        self.counts = np.bincount(words, minlength=1)
        self.sizes = np.bincount(unit_of_word, minlength=units)
        both = unit_of_word * len(self.counts) + words
        _, numbers, counts = np.unique(both, return_inverse=True, return_counts=True)
        self.counts_in_unit = counts[numbers]  # for every word, how often its unit has it

    def start(self, words: float, rng: np.random.Generator) -> Indices:
        """Rank units by similarity to a random one, and to those after it if it is short."""
        first = below(self.units, rng=rng)
        order = np.roll(np.arange(self.units), -first)
        inside = np.zeros(self.units, bool)
        inside[order[: int(np.searchsorted(np.cumsum(self.sizes[order]), words)) + 1]] = True
        return self.ranked(inside)

    def inside_counts(self, inside: NDArray[np.bool_]) -> Indices:
        return np.bincount(self.words[inside[self.unit_of_word]], minlength=len(self.counts))

    def ranked(self, inside: NDArray[np.bool_]) -> Indices:
        """Rank units by the log likelihood ratio of the set against the rest, per word."""
        mine, inside_words = self.inside_counts(inside), inside[self.unit_of_word]
        gain = np.log(self._likelihood(mine, inside_words) / self._likelihood(self.counts - mine, ~inside_words))
        scores = np.bincount(self.unit_of_word, gain, self.units) / np.maximum(self.sizes, 1)
        return np.argsort(-np.round(scores, 9), kind="stable")  # logarithms differ in the last digit between machines

    def _likelihood(self, counts: Indices, here: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the likelihood of every word; counts that include the unit of the word are reduced by it."""
        occurrences = counts[self.words] - self.counts_in_unit * here + SMOOTHING
        total = counts.sum() - self.sizes[self.unit_of_word] * here + SMOOTHING * len(counts)
        return np.asarray(occurrences / total)

    def divergence(self, inside: NDArray[np.bool_]) -> float:
        """Return the Jensen-Shannon divergence, weighted by size, in bits."""
        mine = self.inside_counts(inside)
        total, part = int(self.counts.sum()), int(mine.sum())
        share = part / max(total, 1)
        return entropy(self.counts) - share * entropy(mine) - (1 - share) * entropy(self.counts - mine)
