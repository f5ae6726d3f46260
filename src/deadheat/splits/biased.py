"""Biased splits after Søgaard et al. (2021): a test set that is unlike train, by length or by its words.

The adversarial split looks for the test set of a given size whose words are farthest from those of the rest, by the
Jensen-Shannon divergence weighted by size: the bits that a word tells, on average, of the part it stands in. Of all
sets there is no quick way to the best, so it climbs: from the words of a random unit, it takes the units that are,
word for word, likeliest under the words of the set so far against those of the rest, until the size is reached; and
again with the words of the new set, while that helps. A unit's own words are left out of what it is judged by: they
would speak for where it is, and nothing would ever move. Each round costs one look at every word. The best of a few
starts is taken; on corpora so small that all sets can be tried, it has 98 % of the divergence of the best set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.errors import InputError, NameUnknown
from deadheat.splits.allocation import allocate
from deadheat.splits.drawing import below, generator, shuffled
from deadheat.splits.leaks import entropy
from deadheat.splits.shuffled import LEFT_OUT, drawn, unit_weights
from deadheat.splits.strategy import STRATEGIES, Drawn, Material, Strategy, amounts, measure_of, parse_sizes

WAYS = ("length", "words")
ENDS = ("long", "short")
STARTS, MORE_STARTS, FEW_WORDS = 4, 20, 20_000  # of few words there are more starts, up to so many
ROUNDS, PATIENCE = 50, 3  # rounds of a climb; and those in which it does not get higher, before it ends
SMOOTHING = 1.0  # added to the count of every word
START_WORDS = 200  # of the text from the random unit on that a climb starts from; fewer where test has fewer
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
    """Test is unlike train: the longest sentences (`by='length'`), or those with other words (`by='words'`).

    `end`: by length, test has the `long` ones or the `short` ones; of equal length, random ones. `ngram`: by words,
    what is compared are runs of so many words. `unit`: whole documents or blocks instead of sentences, by their mean
    length or by all their words. Shares are of sentences where single sentences are chosen by length, else of words.
    Dev is drawn at random from what test leaves: what is tuned on is like train.
    """
    for value, known, name in ((by, WAYS, "way"), (end, ENDS, "end")):
        if value not in known:
            raise NameUnknown(f"biased: {name}", value, known)
    if not 1 <= ngram <= LONGEST_NGRAM:
        raise InputError(f"biased: ngram={ngram}; expected 1 to {LONGEST_NGRAM}")
    wanted = parse_sizes(sizes)
    if "test" not in wanted or len(wanted) < 2:
        raise InputError(f"biased: sizes {sizes!r}; expected one for test, and another")

    def draw(material: Material, seed: int, number: int) -> Drawn:
        units = material.units(unit, block)
        measure = measure_of(wanted, "sentences" if (unit, by) == ("sentence", "length") else "words")
        weights = unit_weights(material, units, measure)
        shall_have = amounts(wanted, int(weights.sum()), measure, material.corpus.name)
        rng = generator(seed, number)
        if by == "length":
            ranked = _by_length(material, units, end, rng)
        else:
            ranked = _by_words(material, units, weights, shall_have["test"], ngram, rng)
        test = ranked[: _enough(weights[ranked], shall_have["test"])]
        return _completed(units, weights, shall_have, test, rng)

    return Strategy("biased.v1", draw)


def _enough(weights: Indices, amount: float) -> int:
    """How many units, from the first on, come nearest to an amount; one at least."""
    return max(1, int(np.searchsorted(np.cumsum(weights) - weights / 2, amount)))


def _by_length(material: Material, units: Codes | None, end: str, rng: np.random.Generator) -> Indices:
    lengths = material.lengths.astype(float)
    if units is not None:
        lengths = np.bincount(units, lengths) / np.maximum(np.bincount(units), 1)
    order = shuffled(len(lengths), rng=rng)
    keys = lengths[order] if end == "short" else -lengths[order]
    return order[np.argsort(keys, kind="stable")]


def _completed(
    units: Codes | None, weights: Indices, shall_have: Mapping[str, float], test: Indices, rng: np.random.Generator
) -> Drawn:
    """The other parts at random from what test leaves: in proportion if all is used, else no more than was asked."""
    rest = np.setdiff1d(np.arange(len(weights)), test, assume_unique=True)
    others = {part: amount for part, amount in shall_have.items() if part != "test"}
    left, asked = float(weights[rest].sum()), sum(others.values())
    all_used = float(weights.sum()) - sum(shall_have.values()) <= 0.5
    if all_used or left <= asked + 0.5:
        others = {part: amount * left / asked for part, amount in others.items()}
    else:
        others[LEFT_OUT] = left - asked
    part_of_unit = np.full(len(weights), len(others), np.int32)
    part_of_unit[rest] = allocate(weights[rest], np.zeros(len(rest), np.int32), np.array([*others.values()]), rng=rng)
    order = np.concatenate([test, rest[shuffled(len(rest), rng=rng)]])
    found = drawn([*others, "test"], part_of_unit, order, units)
    return Drawn({part: found.parts[part] for part in shall_have}, units)


def _by_words(
    material: Material,
    units: Codes | None,
    weights: Indices,
    amount: float,
    ngram: int,
    rng: np.random.Generator,
) -> Indices:
    """Units in the order in which the farthest test set takes them."""
    words, unit_of_word = _ngrams(material.corpus, units, ngram)
    climb = _Climb(words, unit_of_word, len(weights))
    best, kept = -1.0, np.arange(len(weights))
    for _ in range(STARTS + min(MORE_STARTS, FEW_WORDS // max(1, len(words)))):
        order = climb.start(min(START_WORDS, len(words) * amount / weights.sum()), rng)
        highest, tired = -1.0, 0
        for _ in range(ROUNDS):
            inside = np.zeros(len(weights), bool)
            inside[order[: _enough(weights[order], amount)]] = True
            divergence = climb.divergence(inside)
            if divergence > best + 1e-12:
                best, kept = divergence, order
            tired = 0 if divergence > highest + 1e-12 else tired + 1
            if tired == PATIENCE:
                break
            highest = max(highest, divergence)
            order = climb.ranked(inside)
    return kept


def _ngrams(corpus: Corpus, units: Codes | None, ngram: int) -> tuple[Indices, Indices]:
    """The run of words that begins at every word, as a number, and its unit; none reaches into the next sentence."""
    sentences, forms = corpus.sentence_of_word, corpus.column("form").codes.astype(np.int64)
    starts = np.flatnonzero(sentences[: max(0, len(forms) - ngram + 1)] == sentences[ngram - 1 :])
    numbers = forms[starts]
    for further in range(1, ngram):
        both = numbers * (int(forms.max(initial=0)) + 1) + forms[starts + further]
        numbers = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return numbers, sentences[starts] if units is None else units[sentences[starts]].astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Climb:
    """The words of all units; which units are likeliest under those of some."""

    words: Indices
    unit_of_word: Indices
    units: int
    counts: Indices = field(init=False)
    sizes: Indices = field(init=False)
    own_counts: Indices = field(init=False)  # for every word how often its unit has it

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", np.bincount(self.words, minlength=1))
        object.__setattr__(self, "sizes", np.bincount(self.unit_of_word, minlength=self.units))
        both = self.unit_of_word * len(self.counts) + self.words
        _, numbers, own_counts = np.unique(both, return_inverse=True, return_counts=True)
        object.__setattr__(self, "own_counts", own_counts[numbers])

    def start(self, words: float, rng: np.random.Generator) -> Indices:
        """Units in order of likeness to a random one, and those after it if it is short."""
        first = below(self.units, rng=rng)
        order = np.roll(np.arange(self.units), -first)
        inside = np.zeros(self.units, bool)
        inside[order[: int(np.searchsorted(np.cumsum(self.sizes[order]), words)) + 1]] = True
        return self.ranked(inside)

    def inside_counts(self, inside: NDArray[np.bool_]) -> Indices:
        return np.bincount(self.words[inside[self.unit_of_word]], minlength=len(self.counts))

    def ranked(self, inside: NDArray[np.bool_]) -> Indices:
        """Units by how much likelier their words are under the set than under the rest, per word; likeliest first."""
        mine, inside_words = self.inside_counts(inside), inside[self.unit_of_word]
        gain = np.log(self._likely(mine, inside_words) / self._likely(self.counts - mine, ~inside_words))
        scores = np.bincount(self.unit_of_word, gain, self.units) / np.maximum(self.sizes, 1)
        return np.argsort(-np.round(scores, 9), kind="stable")  # machines differ in a logarithm's last digit

    def _likely(self, counts: Indices, here: NDArray[np.bool_]) -> NDArray[np.float64]:
        """How likely every word is by some counts, of which words that are in them leave out those of their unit."""
        found = counts[self.words] - self.own_counts * here + SMOOTHING
        total = counts.sum() - self.sizes[self.unit_of_word] * here + SMOOTHING * len(counts)
        return np.asarray(found / total)

    def divergence(self, inside: NDArray[np.bool_]) -> float:
        """The bits a word tells of the part it stands in."""
        mine = self.inside_counts(inside)
        total, part = int(self.counts.sum()), int(mine.sum())
        share = part / max(total, 1)
        return entropy(self.counts) - share * entropy(mine) - (1 - share) * entropy(self.counts - mine)
