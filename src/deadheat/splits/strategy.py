"""What a strategy is, what it sees of a corpus, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.grouping import PARTS, Documents, documents_by, parts_of_sentences, strata_by
from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.errors import InputError, NameUnknown
from deadheat.registry import Registry

UNITS = ("sentence", "document", "block")


@dataclass(frozen=True, slots=True)
class Drawn:
    """The sentences of each part, those first that a smaller set of the part keeps; and what must not be cut.

    `units` is the unit of every sentence of the corpus where parts are made of whole units, else None.
    """

    parts: Mapping[str, Indices]
    units: Codes | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Strategy:
    """A named, versioned way to split. `draw` gives split `number` of a seed, from these two alone.

    `once` says that there is but one such split of a corpus.
    """

    name: str
    draw: Callable[[Material, int, int], Drawn]
    once: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


STRATEGIES: Registry[Strategy] = Registry("strategy", "random, random.v1 or random.v1(unit='document')")


@dataclass(frozen=True, eq=False)
class Material:
    """A corpus as strategies see it; what costs time is found when it is first asked for."""

    corpus: Corpus
    document_rule: str = "auto"

    @cached_property
    def lengths(self) -> Indices:
        """Words of every sentence."""
        return np.diff(self.corpus.offsets)

    @cached_property
    def documents(self) -> Documents | None:
        return documents_by(self.corpus, self.document_rule)

    @cached_property
    def file_parts(self) -> Codes | None:
        """The number in `PARTS` of every sentence's file, if every file's name tells one."""
        return parts_of_sentences(self.corpus)

    @cached_property
    def _strata(self) -> dict[str, Codes]:
        """Strata of sentences that were asked for."""
        return {}

    def everything(self) -> Indices:
        """All sentences, those of train first, then tune, dev and test, where the files say so."""
        if self.file_parts is None:
            return np.arange(self.corpus.sentences)
        return np.argsort(self.file_parts, kind="stable")

    def without_test(self) -> Indices:
        """The sentences of train, tune and dev in this order; all where files do not name their parts."""
        everything = self.everything()
        if self.file_parts is None:
            return everything
        return np.asarray(everything[self.file_parts[everything] != PARTS.index("test")])

    def of_part(self, part: str, strategy: str) -> Indices:
        """The sentences of the files of one part; none if there is no such file."""
        if self.file_parts is None:
            odd = ", ".join(each.path for each in self.corpus.parts) or self.corpus.name
            raise InputError(
                f"{odd}: no part in every file's name; strategy {strategy} expected names as en-train.conllu"
            )
        return np.flatnonzero(self.file_parts == PARTS.index(part))

    def units(self, kind: str, block: int) -> Codes | None:
        """The unit of every sentence: its document, its block of so many sentences; None where it is its own."""
        if kind not in UNITS:
            raise NameUnknown("unit", kind, UNITS)
        if kind == "sentence":
            return None
        if kind == "block":
            return self._blocks(block)
        if self.documents is None:
            told = "no documents" if self.document_rule == "none" else "no documents were found"
            raise InputError(
                f"{self.corpus.name}: {told}; expected '# newdoc' marks or sent_ids that name them (--documents "
                "sent_id:REGEX), or another unit (--unit block, --unit sentence)"
            )
        return self.documents.codes

    def _blocks(self, size: int) -> Codes:
        """Blocks begin anew in every file."""
        if size < 1:
            raise InputError(f"blocks of {size} sentences; expected at least 1")
        starts = [part.first for part in self.corpus.parts] or [0]
        within = np.arange(self.corpus.sentences) - np.repeat(starts, np.diff([*starts, self.corpus.sentences]))
        begins = within % size == 0
        return (np.cumsum(begins) - 1).astype(np.int32)

    def strata(self, name: str, units: Codes | None) -> Codes:
        """The stratum of every unit; of a document that of its first sentence."""
        count = self.corpus.sentences if units is None else int(units.max(initial=-1)) + 1
        if not name:
            return np.zeros(count, np.int32)
        if name not in self._strata:
            self._strata[name] = strata_by(self.corpus, name)[0]
        of_sentences = self._strata[name]
        if units is None:
            return of_sentences
        _, first = np.unique(units, return_index=True)
        return of_sentences[first]
