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
from deadheat.corpus.vocabulary import Indices, offsets_of, ranges
from deadheat.kernels.alignment import nearest_like
from deadheat.kernels.resampling import GOLDEN, scramble

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
        forms = self.corpus.column("form")
        number: dict[str, int] = {}
        lower = [number.setdefault(form.lower(), len(number)) + 1 for form in forms.vocabulary.strings]
        words = np.zeros(self.corpus.words + self.corpus.sentences + 1, np.int64)  # 0 is the end of a sentence
        words[np.arange(self.corpus.words) + self.corpus.sentence_of_word + 1] = np.array(lower)[forms.codes]
        pairs = words[:-1] * (len(number) + 1) + words[1:]
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
        columns = self.corpus.columns
        names = [name for name in ("upos", "deprel") if name in columns] or [name for name in columns if name != "form"]
        used = {name: np.count_nonzero(columns[name].frequencies()) for name in names}
        return {name: columns[name].codes.astype(np.int64) for name in names if 1 < used[name] <= MAX_LABELS}

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
        sizes = np.diff(offsets)
        right, left = (items[ranges(offsets[part], sizes[part])] for part in (there, here))
        right_offsets, left_offsets = offsets_of(sizes[there]), offsets_of(sizes[here])
        matches = np.empty(len(here), np.int64)
        rarest = np.empty(int(items.max()) + 1, np.int64)
        chain, seen = np.empty(len(right), np.int64), np.empty(len(there), np.int64)
        nearest_like(left, left_offsets, right, right_offsets, SIMILARITY, rarest, chain, seen, matches)
        return int(np.count_nonzero(matches >= 0))


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash numbers by splitmix64."""
    mixed: NDArray[np.uint64] = scramble((numbers + np.uint64(1)) * GOLDEN)
    return mixed


def leaks(corpus: Corpus, parts: Mapping[str, Indices], shared: Mapping[str, int] | None = None) -> list[Leak]:
    """Compare every pair of parts, looking for the later part in the earlier one.

    `shared` is the number of documents that two parts (`train/test`) have in common, where known.
    """
    index = SentenceIndex(corpus)
    documents = shared or {}
    return [
        index.leak(first, second, parts, documents.get(f"{first}/{second}")) for first, second in combinations(parts, 2)
    ]


def jensen_shannon(first: Indices, second: Indices) -> float:
    """Return the Jensen-Shannon divergence of two distributions in bits: 0 if equal, 1 if disjoint."""
    if not first.sum() or not second.sum():
        return float("nan")
    p, q = first / first.sum(), second / second.sum()
    return max(0.0, entropy(p + q) - (entropy(p) + entropy(q)) / 2)


def entropy(counts: NDArray[np.int64] | NDArray[np.float64]) -> float:
    """Return the entropy of a distribution of counts or shares in bits; 0 for no counts."""
    seen = counts[counts > 0].astype(float)
    shares = seen / seen.sum() if len(seen) else seen
    return float(-(shares * np.log2(shares)).sum())
