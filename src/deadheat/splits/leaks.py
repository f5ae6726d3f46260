"""How much of one part of a split is in another, and how far their distributions differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Indices
from deadheat.kernels.alignment import nearest_like

Counts = NDArray[np.int64]


LONG = 5  # words; shorter sentences ("Thank you !") repeat without being a leak
SIMILARITY = 60  # percent of word pairs that near-duplicates share
STEP, LONGEST = 5, 60  # words; the bins of sentence lengths, and where the last one begins
MAX_LABELS = 500  # columns with more values are not compared


@dataclass(frozen=True, slots=True)
class Leak:
    """How much of the part `of` is in the part `within`, and how far their distributions differ.

    Identical sentences have the same forms. Near-duplicates are other sentences of five words or more that share at
    least 60 % of their pairs of adjacent words, lower-cased, sentence ends included (Jaccard index). `unknown_words` is
    the share of words whose form does not occur in the other part, `shared_types` the share of forms that do.
    Divergences are Jensen-Shannon divergences in bits, from 0 (equal) to 1; lengths are in bins of five words.
    """

    within: str
    of: str
    sentences: int
    identical: int
    identical_long: int
    near_duplicates: int
    shared_documents: int | None
    unknown_words: float
    shared_types: float
    divergence: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SentenceIndex:
    """A corpus with cached properties of its sentences."""

    corpus: Corpus

    @cached_property
    def lengths(self) -> Indices:
        return np.diff(self.corpus.offsets)

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """A hash of the forms of every sentence."""
        codes = self.corpus.column("form").codes
        within = np.arange(self.corpus.words) - np.repeat(self.corpus.offsets[:-1], self.lengths)
        mixed = _mix(_mix(codes.astype(np.uint64)) + within.astype(np.uint64))
        return np.add.reduceat(mixed, self.corpus.offsets[:-1]) if len(mixed) else np.zeros(0, np.uint64)

    @cached_property
    def pairs(self) -> tuple[Indices, Indices]:
        """The set of pairs of adjacent words of every sentence, as sorted numbers, the rarest pair first."""
        lower = [form.lower() for form in self.corpus.column("form").vocabulary.strings]
        number: dict[str, int] = {}
        folded = np.array([number.setdefault(form, len(number)) for form in lower], np.int64) + 1
        words = folded[self.corpus.column("form").codes]
        sentences = self.corpus.sentence_of_word
        ends = np.zeros(len(words) + self.corpus.sentences + 1, np.int64)  # 0 is the end of a sentence
        ends[np.arange(len(words)) + sentences + 1] = words
        pairs = ends[:-1] * (len(number) + 1) + ends[1:]
        owner = np.repeat(np.arange(self.corpus.sentences), self.lengths + 1)
        _, items, counts = np.unique(pairs, return_inverse=True, return_counts=True)
        rarity = np.empty(len(counts), np.int64)
        rarity[np.argsort(counts, kind="stable")] = np.arange(len(counts))
        keyed = np.unique(owner * len(counts) + rarity[items])
        offsets = np.searchsorted(keyed, np.arange(self.corpus.sentences + 1) * len(counts))
        return keyed % max(len(counts), 1), offsets.astype(np.int64)

    @cached_property
    def labels(self) -> dict[str, Indices]:
        """Columns of labels to compare."""
        names = [name for name in ("upos", "deprel") if name in self.corpus.columns] or [
            name for name in self.corpus.columns if name != "form"
        ]
        labels = {}
        for name in names:
            column = self.corpus.columns[name]
            used = int(np.count_nonzero(column.frequencies()))
            if 1 < used <= MAX_LABELS:
                labels[name] = column.codes.astype(np.int64)
        return labels

    def leak(self, within: str, of: str, parts: Mapping[str, Indices], shared_documents: int | None) -> Leak:
        """Compare two parts."""
        there, here = parts[within], parts[of]
        identical = np.isin(self.hashes[here], self.hashes[there])
        long = self.lengths[here] >= LONG
        words_there, words_here = self._words(there), self._words(here)
        forms = self.corpus.column("form")
        size = len(forms.vocabulary)
        seen = np.bincount(forms.codes[words_there], minlength=size) > 0
        counts = np.bincount(forms.codes[words_here], minlength=size)
        divergence = {"length": self._divergence(np.minimum(self.lengths, LONGEST) // STEP, there, here)}
        for name, codes in self.labels.items():
            divergence[name] = self._divergence(codes, words_there, words_here)
        return Leak(
            within,
            of,
            len(here),
            int(identical.sum()),
            int((identical & long).sum()),
            self._near_duplicates(there[self.lengths[there] >= LONG], here[long & ~identical]),
            shared_documents,
            int(counts[~seen].sum()) / max(1, int(counts.sum())),
            int(np.count_nonzero(seen & (counts > 0))) / max(1, int(np.count_nonzero(counts))),
            divergence,
        )

    def _words(self, sentences: Indices) -> NDArray[np.bool_]:
        chosen = np.zeros(self.corpus.sentences, bool)
        chosen[sentences] = True
        return np.repeat(chosen, self.lengths)

    def _divergence(self, values: Indices, there: NDArray[Any], here: NDArray[Any]) -> float:
        size = int(values.max(initial=0)) + 1
        return jensen_shannon(np.bincount(values[there], minlength=size), np.bincount(values[here], minlength=size))

    def _near_duplicates(self, there: Indices, here: Indices) -> int:
        if not len(there) or not len(here):
            return 0
        items, offsets = self.pairs
        (right, right_offsets), (left, left_offsets) = (_sets(items, offsets, part) for part in (there, here))
        matches = np.empty(len(here), np.int64)
        rarest = np.empty(int(items.max()) + 1, np.int64)
        chain, seen = np.empty(len(right), np.int64), np.empty(len(there), np.int64)
        nearest_like(left, left_offsets, right, right_offsets, SIMILARITY, rarest, chain, seen, matches)
        return int(np.count_nonzero(matches >= 0))


def _sets(items: Indices, offsets: Indices, sentences: Indices) -> tuple[Indices, Indices]:
    sizes = np.diff(offsets)[sentences]
    new = np.zeros(len(sentences) + 1, np.int64)
    np.cumsum(sizes, out=new[1:])
    return items[np.repeat(offsets[sentences] - new[:-1], sizes) + np.arange(new[-1])], new


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash numbers by splitmix64."""
    state = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def leaks(corpus: Corpus, parts: Mapping[str, Indices], shared: Mapping[str, int] | None = None) -> list[Leak]:
    """Compare every pair of parts, looking for the later part in the earlier one.

    `shared` is the number of documents that two parts (`train/test`) have in common, where known.
    """
    index = SentenceIndex(corpus)
    documents = shared or {}
    return [
        index.leak(first, second, parts, documents.get(f"{first}/{second}")) for first, second in combinations(parts, 2)
    ]


def jensen_shannon(first: Counts, second: Counts) -> float:
    """Return the Jensen-Shannon divergence of two distributions in bits: 0 if equal, 1 if disjoint."""
    if not first.sum() or not second.sum():
        return float("nan")
    p, q = first / first.sum(), second / second.sum()
    middle = (p + q) / 2
    return float(max(0.0, (_relative(p, middle) + _relative(q, middle)) / 2))


def _relative(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    seen = p > 0
    return float((p[seen] * np.log2(p[seen] / q[seen])).sum())
