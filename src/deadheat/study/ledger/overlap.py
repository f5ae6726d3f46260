"""Test sets as sets of sentences or of items: a part of one, or the same in another order, is still that test set.

A ledger stores the hashes of the sentences of a test set once, in the first line about it. Texts are compared by words
in shared sentences: short sentences that occur everywhere ("Thanks !") have few. Over all pairs of files of fifteen
treebanks the largest share is 2.1 %. Random test parts of one corpus, each 10 or 20 % of it, share as much.
"""

from __future__ import annotations

import binascii
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.corpus.corpus import Corpus, text_hashes
from deadheat.corpus.vocabulary import Indices
from deadheat.study.ledger.hash_chain import find_lines, parse_events
from deadheat.study.ledger.verification import clean, parse_line

SHARE = 0.25  # of the words of either text: from here on, it is an evaluation of the test set
MOSTLY = 0.75  # of a text's words in sentences of one test set: it is a part of it, and no test set of its own
_HASH = re.compile(r"[0-9a-f]{64}")
SENTENCES, WORDS, UNIT = "sentences", "words", "unit"  # fields of a line
SENTENCE, ITEM = "sentence", "item"  # what a test set is a set of; an item counts as one word


@dataclass(frozen=True, slots=True, eq=False)
class SentenceSet:
    """The distinct sentences of a text, or items: sorted hashes, the words of each where they are known, and of all."""

    hashes: NDArray[np.uint64]
    lengths: Indices
    words: int  # or items
    unit: str = SENTENCE

    @classmethod
    def of(cls, hashes: NDArray[np.uint64], lengths: ArrayLike, *, unit: str = SENTENCE) -> SentenceSet:
        """Sentences with their numbers of words; they may repeat."""
        distinct, rows = np.unique(hashes, return_index=True)
        kept = np.asarray(lengths, np.int64)[rows]
        return cls(distinct, kept, int(kept.sum()), unit)

    @classmethod
    def parse(cls, event: Mapping[str, Any]) -> SentenceSet | None:
        """The sentences in a line of a ledger; None where there are none, or damaged ones."""
        text, words = event.get(SENTENCES), event.get(WORDS)
        if not isinstance(text, str) or type(words) is not int or words <= 0:
            return None
        try:
            hashes = np.frombuffer(binascii.a2b_base64(text, strict_mode=True), "<u8").astype(np.uint64)
        except ValueError:  # not base 64, or not eight bytes each
            return None
        unit = ITEM if event.get(UNIT) == ITEM else SENTENCE
        return cls(np.unique(hashes), np.zeros(0, np.int64), words, unit) if len(hashes) else None

    def fields(self) -> dict[str, Any]:
        """The fields of a line that `parse` reads."""
        return {
            SENTENCES: binascii.b2a_base64(self.hashes.astype("<u8").tobytes(), newline=False).decode(),
            WORDS: self.words,
            **({UNIT: self.unit} if self.unit != SENTENCE else {}),
        }

    def shares(self, test_set: SentenceSet) -> tuple[float, float]:
        """The words in sentences of both texts, as a share of this text and as one of the test set."""
        at = np.minimum(np.searchsorted(test_set.hashes, self.hashes), len(test_set.hashes) - 1)
        shared = int(self.lengths[test_set.hashes[at] == self.hashes].sum())
        return shared / max(self.words, 1), shared / test_set.words


@dataclass(frozen=True, slots=True)
class LedgerTestSet:
    """A test set in the ledger: the name of its file, and the hash of its text.

    After `StoredTestSets.resolve`, the hash may be that of a test set that the text is a part of.
    """

    name: str
    hash: str
    sentences: SentenceSet | None = field(default=None, compare=False, repr=False)
    also: tuple[str, ...] = field(default=(), compare=False)  # hashes of other test sets that it shares sentences with
    text: str = field(default="", compare=False)  # its own hash, if it is a part of a test set
    notes: tuple[str, ...] = field(default=(), compare=False)  # which these are, and how much it shares
    is_file: bool = field(default=True, compare=False)  # and no part of a split: random parts of a corpus overlap

    @classmethod
    def of(cls, corpus: Corpus, path: str = "", first: int = 0, last: int | None = None) -> LedgerTestSet:
        """The test set of a corpus of one file, or of some of its sentences."""
        path = path or (corpus.parts[0].path if corpus.parts else corpus.name)
        digest, hashes = text_hashes(corpus, first=first, last=last)
        lengths = np.diff(corpus.offsets[first : None if last is None else last + 1])
        sentences = SentenceSet.of(hashes, lengths)
        return cls(os.path.basename(path), digest, sentences, is_file=bool(corpus.parts))

    @property
    def all(self) -> tuple[str, ...]:
        """The hashes of the test sets that an evaluation on it counts for."""
        return self.hash, *self.also

    def singly(self) -> Iterator[LedgerTestSet]:
        """One for each of these test sets; `StoredTestSets.resolve` puts them together again."""
        for digest in self.all:
            text = self.text if digest == self.hash else self.text or self.hash
            yield replace(self, hash=digest, also=(), text=text)


@dataclass(frozen=True, slots=True)
class StoredTestSets:
    """The test sets in the lines of a ledger, with the sentences of those that have them."""

    data: bytes
    sets: Mapping[str, tuple[str, SentenceSet]]  # name and sentences, by hash

    @classmethod
    def of(cls, data: bytes) -> StoredTestSets:
        sets: dict[str, tuple[str, SentenceSet]] = {}
        for line in find_lines(data, f'"{SENTENCES}":'):
            digest, name, sentences = _stored_line(line)
            if digest and sentences is not None:
                sets.setdefault(digest, (name, sentences))
        return cls(data, sets)

    def resolve(self, test_sets: Iterable[LedgerTestSet]) -> list[LedgerTestSet]:
        """What evaluations on these test sets count for; each test set of the ledger occurs once."""
        resolved: list[LedgerTestSet] = []
        seen: set[str] = set()
        for test_set in test_sets:
            target = self.find(test_set, is_test=not test_set.text) or test_set
            left = [digest for digest in target.all if digest not in seen]
            if left:
                text = target.text if left[0] == target.hash else target.text or target.hash
                resolved.append(replace(target, hash=left[0], also=tuple(left[1:]), text=text))
                seen.update(left)
        return resolved

    def find(self, test_set: LedgerTestSet, *, is_test: bool) -> LedgerTestSet | None:
        """The test sets of the ledger that a text is, is a part of or contains; None if it is nothing of that.

        A text that `is_test` is a test set of its own, unless it is mostly a part of another.
        """
        text = test_set.text or test_set.hash
        test_set = replace(test_set, hash=text, text="")
        is_stored = f'"test_set":"{text}"'.encode() in self.data
        if test_set.sentences is None:
            return test_set if is_stored else self._part_named(test_set) or (test_set if is_test else None)
        shares = {
            digest: test_set.sentences.shares(sentences)
            for digest, (_, sentences) in self.sets.items()
            if digest != text and sentences.unit == test_set.sentences.unit
        }
        others = [digest for digest in shares if max(shares[digest]) >= SHARE]
        others.sort(key=shares.__getitem__, reverse=True)
        if others and not is_stored and not (is_test and shares[others[0]][0] < MOSTLY):
            notes = tuple(self._notes(test_set.name, others, shares, "an"))
            return replace(test_set, hash=others[0], also=tuple(others[1:]), text=text, notes=notes)
        notes = tuple(self._notes(test_set.name, others, shares, "also an"))
        return replace(test_set, also=tuple(others), notes=notes) if is_stored or is_test else None

    def overlapping(self, test_set: LedgerTestSet) -> tuple[str, ...]:
        """Hashes of the other test sets that one shares sentences with."""
        target = self.find(test_set, is_test=True)
        return () if target is None else tuple(digest for digest in target.all if digest != test_set.hash)

    def _part_named(self, test_set: LedgerTestSet) -> LedgerTestSet | None:
        """What a text was resolved to before, for a hash without sentences."""
        for event in parse_events(self.data, f'"text":"{test_set.hash}"'):
            digests = tuple(test_sets_of(event))
            if digests and event.get("text") == test_set.hash:
                return replace(test_set, hash=digests[0], also=digests[1:], text=test_set.hash)
        return None

    def _notes(
        self, name: str, others: Iterable[str], shares: Mapping[str, tuple[float, float]], article: str
    ) -> Iterator[str]:
        for digest in others:
            (of_text, of_other), (other, sentences) = shares[digest], self.sets[digest]
            parts = "items are items" if sentences.unit == ITEM else "words are in sentences"
            yield (
                f"{name}: {100 * of_text:.0f} % of its {parts} of {other}, which are "
                f"{100 * of_other:.0f} % of that test set: this is {article} evaluation of {other}"
            )


@lru_cache(maxsize=512)
def _stored_line(line: bytes) -> tuple[str, str, SentenceSet | None]:
    """Test set, its name and its sentences; the same lines are read before every evaluation of a study."""
    event = parse_line(line)
    return next(test_sets_of(event), ""), clean(event.get("name")), SentenceSet.parse(event)


def test_sets_of(event: Mapping[str, Any]) -> Iterator[str]:
    """The hashes of the test sets that a line is about."""
    also = event.get("also")
    for digest in (event.get("test_set"), *(also if isinstance(also, list) else ())):
        if isinstance(digest, str) and _HASH.fullmatch(digest):
            yield digest
