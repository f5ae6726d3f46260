"""A trigram tagger after Brants (2000): states in sequence, words by states, unknown words by their endings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.transforms import with_labels
from deadheat.corpus.vocabulary import Codes, Column, Indices, Vocabulary
from deadheat.kernels.hmm import best_states, file_keys, grow_suffixes, guess_labels
from deadheat.systems.baselines import sorted_labels
from deadheat.systems.system import SYSTEMS, System, check_at_least, training_labels

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

IMPOSSIBLE = -1e5  # the logarithm of 0: where no sequence is possible, the one with the fewest such steps wins
CAPACITY = 1 << 14  # of search states, to begin with


@SYSTEMS.add("hmm.v1")
def hmm(
    *, column: str = "upos", capitals: bool = True, suffix_length: int = 10, rare: int = 10, beam: int = 1000
) -> System:
    r"""A second-order hidden Markov model with suffixes for unknown words: TnT (Brants 2000).

    Parameters
    ----------
    column
        The labels to learn.
    capitals
        A state is a label and whether its word begins with a capital letter, not the label alone.
    suffix_length
        The longest suffix of unknown words, in characters.
    rare
        Suffixes are learned from words that occur at most so often.
    beam
        After each word, sequences that are so many times less likely than the best are dropped; 0 drops none.

    Notes
    -----
    The probability of a state given two others is interpolated from trigrams, bigrams and unigrams, with the same three
    weights in all contexts, found by deleted interpolation. A sentence is preceded by two boundaries and followed by
    one. Known words have the states that they were seen with, and P(word | state) = f(word, state) / f(state). For
    unknown ones P(label | suffix) is interpolated from no suffix to the longest known one, capitalised words and
    others apart, and P(word | state) is taken as P(label | suffix) / P(label). T. Brants (2000), *TnT: a statistical
    part-of-speech tagger*, ANLP.

    Examples
    --------
    >>> from deadheat.corpus import read, to_bytes
    >>> train = read(text="the_DT heat_NN is_VBZ dead_JJ\nthe_DT dead_NN heat_VBP\n")
    >>> model = SYSTEMS.make("hmm(column='tag')").train(train, None, 0)
    >>> to_bytes(model.predict(read(text="the_? heat_? is_? red_?\n")))
    b'the_DT heat_NN is_VBZ red_JJ\n'
    """
    check_at_least("hmm.v1", 0, suffix_length=suffix_length, rare=rare, beam=beam)

    def train(train: Corpus, tune: Corpus | None, seed: int) -> Trigrams:
        labels, codes = sorted_labels(training_labels(train, column, "hmm.v1"))
        states = States.of(train.column("form"), codes, capitals=capitals)
        sequences = Sequences.count(states.of_word, train.offsets, len(states.labels))
        words = Words.count(train.column("form"), states)
        suffixes = Suffixes.count(words, states, rare=rare, longest=suffix_length)
        return Trigrams(column, labels, states, sequences, words, suffixes, beam)

    return System("hmm.v1", train, randomness="none")


def log_probabilities(chances: Numbers) -> Numbers:
    """Logarithms; that of 0 is IMPOSSIBLE."""
    return np.log(chances, out=np.full(len(chances), IMPOSSIBLE), where=chances > 0)


def empty_table(items: int) -> Indices:
    """An empty hash table whose size is a power of two, at least twice the number of items."""
    return np.full(1 << (2 * items).bit_length(), -1, np.int64)


def begin_with_capital(vocabulary: Vocabulary) -> Flags:
    """Whether the first character of each string is an upper-case letter."""
    first = vocabulary.blob[vocabulary.offsets[:-1]]
    capital: Flags = (first >= ord("A")) & (first <= ord("Z"))
    for code in np.flatnonzero(first >= 0x80).tolist():
        capital[code] = vocabulary[code][0].isupper()
    return capital


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """The states of the words of a corpus: labels, or labels with a bit for a capital letter."""

    of_word: Codes
    labels: Codes  # the label of each state; several states of one form have different ones
    frequencies: Indices
    allowed: tuple[Indices, Indices]  # the states of unknown words that begin with a small letter, or with a capital

    @classmethod
    def of(cls, forms: Column, labels: Codes, *, capitals: bool) -> States:
        """Number the states that occur, by label and then by capital."""
        pairs = labels.astype(np.int64) * 2
        if capitals:
            pairs += begin_with_capital(forms.vocabulary)[forms.codes]
        counts = np.bincount(pairs)
        used = np.flatnonzero(counts)
        number = np.full(len(counts), -1, np.int32)
        number[used] = np.arange(len(used))
        groups = [np.flatnonzero(used % 2 == bit) for bit in (0, 1)] if capitals else []
        allowed = [group if len(group) else np.arange(len(used)) for group in groups] or [np.arange(len(used))] * 2
        return cls(number[pairs], (used // 2).astype(np.int32), counts[used], (allowed[0], allowed[1]))


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """Log-probabilities of states given two others: seen trigrams in a hash table, bigrams for all others."""

    boundary: int
    weights: tuple[float, float, float]
    keys: Indices
    trigrams: Numbers
    bigrams: Numbers

    @classmethod
    def count(cls, states: Codes, offsets: Indices, boundary: int) -> Sequences:
        """Count the trigrams of a corpus and interpolate."""
        base = boundary + 1
        outcomes = np.insert(states.astype(np.int64), offsets[1:], boundary)
        padded = np.concatenate([[boundary, boundary], outcomes])
        padded_starts = offsets[:-1] + np.arange(len(offsets) - 1)
        contexts = padded[:-2] * base + padded[1:-1]
        contexts[padded_starts] = boundary * base + boundary
        seen, count = np.unique(contexts * base + outcomes, return_counts=True)
        contexts, pairs, outcomes = seen // base, seen % base**2, seen % base
        of_context = np.bincount(contexts, count, base**2)
        of_pair = np.bincount(pairs, count, base**2)
        of_middle = np.bincount(pairs // base, count, base)
        of_outcome = np.bincount(outcomes, count, base)
        total = count.sum()
        parts = np.stack([of_outcome[outcomes], of_pair[pairs], count])
        wholes = np.stack([np.full(len(count), total), of_middle[pairs // base], of_context[contexts]])
        weights = deleted_interpolation(count, parts, wholes)
        shares = np.divide(of_pair.reshape(base, base), of_middle[:, None], out=np.zeros((base, base)),
                           where=of_middle[:, None] > 0)  # fmt: skip
        shorter = (weights[0] * (of_outcome / total) + weights[1] * shares).ravel()
        table = empty_table(len(seen))  # a small one, which stays in the processor's cache
        slots = np.empty(len(seen), np.int64)
        file_keys(seen, table, slots)
        trigrams = np.zeros(len(table))
        trigrams[slots] = log_probabilities(shorter[pairs] + weights[2] * (count / of_context[contexts]))
        return cls(boundary, weights, table, trigrams, log_probabilities(shorter))


def deleted_interpolation(counts: Indices, parts: Numbers, wholes: Numbers) -> tuple[float, float, float]:
    """The weights of unigrams, bigrams and trigrams; `parts` / `wholes` are their estimates, a row each.

    Every trigram gives its count to the one of the three whose estimate is the greatest when the trigram itself is
    left out of all counts; several that are the greatest share it.
    """
    estimates = np.divide(parts - 1.0, wholes - 1.0, out=np.zeros((3, len(counts))), where=wholes > 1)
    greatest = estimates == estimates.max(axis=0)
    votes = (greatest * (counts / greatest.sum(axis=0))).sum(axis=1)
    unigrams, bigrams, trigrams = (votes / votes.sum()).tolist()
    return unigrams, bigrams, trigrams


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The states that each form was seen with: form f has the pairs starts[f] to starts[f + 1], none if not seen."""

    forms: Vocabulary
    starts: Indices
    states: Codes
    counts: Codes
    chances: Numbers  # log P(word | state)

    @classmethod
    def count(cls, forms: Column, states: States) -> Words:
        number = len(states.frequencies)
        pairs, counts = np.unique(forms.codes.astype(np.int64) * number + states.of_word, return_counts=True)
        starts = np.searchsorted(pairs, np.arange(len(forms.vocabulary) + 1) * number)
        seen_states = (pairs % number).astype(np.int32)
        chances = log_probabilities(counts / states.frequencies[seen_states])
        return cls(forms.vocabulary, starts, seen_states, counts.astype(np.int32), chances)


@dataclass(frozen=True, slots=True, eq=False)
class Suffixes:
    """Label counts of the suffixes of rare words: two trees, in the arrays of `deadheat.kernels.hmm`."""

    longest: int
    theta: float
    prior: Numbers
    keys: Indices
    nodes: Codes
    totals: Indices
    chains: tuple[Codes, Codes, Codes, Codes]

    @classmethod
    def count(cls, words: Words, states: States, *, rare: int, longest: int) -> Suffixes:
        frequencies = np.diff(np.concatenate([[0], np.cumsum(words.counts)])[words.starts])
        rare_forms = np.flatnonzero((frequencies > 0) & (frequencies <= rare))
        # In bytes, so no less than in characters.
        lengths = np.minimum(np.diff(words.forms.offsets)[rare_forms], longest)
        nodes = 2 + int(lengths.sum())
        links = int((lengths * np.diff(words.starts)[rare_forms]).sum())
        keys = empty_table(nodes)
        children = np.empty(len(keys), np.int32)
        totals = np.zeros(nodes, np.int64)
        labels, counts, following = (np.empty(links, np.int32) for _ in range(3))
        chains = np.full(nodes, -1, np.int32), labels, counts, following
        capital = begin_with_capital(words.forms).view(np.uint8)
        grow_suffixes(words.forms.blob, words.forms.offsets, rare_forms, capital, words.starts,
                      states.labels[words.states], words.counts, longest, keys, children, totals, *chains)  # fmt: skip
        frequencies = np.bincount(states.labels, states.frequencies)
        prior = frequencies / frequencies.sum()
        theta = float(prior.std(ddof=1)) if len(prior) > 1 else 0.0
        return cls(longest, theta, prior, keys, children, totals, chains)

    def chances(self, vocabulary: Vocabulary, chosen: Indices, capital: Flags) -> Numbers:
        """P(label | suffix) for some strings of a vocabulary, a row each."""
        probabilities = np.empty(len(chosen) * len(self.prior))
        weights = np.array([1 / (1 + self.theta), self.theta / (1 + self.theta)])
        guess_labels(vocabulary.blob, vocabulary.offsets, chosen, capital.view(np.uint8), self.longest, self.keys,
                     self.nodes, self.totals, *self.chains, weights, self.prior, np.empty(self.longest, np.int64),
                     probabilities)  # fmt: skip
        return probabilities.reshape(len(chosen), len(self.prior))


@dataclass(frozen=True, slots=True, eq=False)
class Trigrams:
    """A trained model."""

    column: str
    labels: Vocabulary
    states: States
    sequences: Sequences
    words: Words
    suffixes: Suffixes
    beam: int

    def predict(self, corpus: Corpus) -> Corpus:
        """The corpus with the likeliest labels of every sentence."""
        rows, starts, states, chances = self._emissions(corpus.column("form"))
        sequences, best = self.sequences, np.empty(corpus.words, np.int32)
        margin = np.array([np.log(self.beam) if self.beam else np.inf])
        done, capacity = 0, CAPACITY
        while done < corpus.sentences:
            current, previous, origins = (np.empty(capacity, np.int32) for _ in range(3))
            done = best_states(rows, starts, states, chances, corpus.offsets, done, sequences.boundary, sequences.keys,
                               sequences.trigrams, sequences.bigrams, margin, current, previous, np.empty(capacity),
                               origins, best)  # fmt: skip
            capacity *= 4
        return with_labels(corpus, self.column, Column(self.states.labels[best], self.labels))

    def _emissions(self, forms: Column) -> tuple[Indices, Indices, Codes, Numbers]:
        """For each word the number of its row; for each row where it starts; states and log P(word | state) in rows.

        The first rows are those of known words; each unknown form that occurs has one behind them.
        """
        words = self.words
        rows = words.forms.codes_of(forms.vocabulary).astype(np.int64)
        is_known = (rows >= 0) & (np.diff(words.starts) > 0)[rows]
        unknown = np.flatnonzero(~is_known & (forms.frequencies() > 0))
        capital = begin_with_capital(forms.vocabulary)
        rows[unknown] = len(words.forms) + np.arange(len(unknown))
        chances = self.suffixes.chances(forms.vocabulary, unknown, capital) / self.suffixes.prior
        of_row = [self.states.allowed[bit] for bit in capital[unknown].view(np.uint8).tolist()]
        sizes = np.array([len(group) for group in of_row], np.int64)
        states = np.concatenate([np.empty(0, np.int64), *of_row]).astype(np.int32)
        chances = log_probabilities(chances[np.repeat(np.arange(len(unknown)), sizes), self.states.labels[states]])
        starts = np.concatenate([words.starts, words.starts[-1] + np.cumsum(sizes)])
        states = np.concatenate([words.states, states])
        return rows[forms.codes], starts, states, np.concatenate([words.chances, chances])
