"""Labels as networks learn them: tags as they are, chunks in the wanted scheme; and back to those of the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Column, Indices, Vocabulary
from deadheat.errors import InputError
from deadheat.neural.recipe import AS_IS
from deadheat.neural.schemes import f1_of, recode, scheme_of
from deadheat.neural.text import codes_among, strings_of, tokens_of

Codes = NDArray[np.integer]


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Label strings of a text: for every word a code, with where sentences begin and how long they are."""

    codes: Codes
    strings: Sequence[str]
    starts: Indices
    lengths: Indices

    @classmethod
    def of(cls, corpora: Sequence[Corpus], name: str) -> Labels:
        """Those of a column of some corpora, one behind the other."""
        columns = [corpus.column(name) for corpus in corpora]
        lengths = np.concatenate([np.diff(corpus.offsets).astype(np.int64) for corpus in corpora])
        strings = strings_of(columns)
        return cls(codes_among(columns, strings), strings, np.cumsum(lengths) - lengths, lengths)

    def part(self, sentences: Indices) -> tuple[Codes, Indices]:
        """Codes of some sentences' words, and the offsets of these sentences."""
        codes = self.codes[tokens_of(self.starts, self.lengths, sentences)]
        return codes, np.concatenate([[0], np.cumsum(self.lengths[sentences])])

    def scheme(self, sentences: Indices) -> str | None:
        """The scheme that these sentences are labelled in; None for plain tags."""
        return scheme_of(self.strings, *self.part(sentences))


@dataclass(frozen=True, slots=True, eq=False)
class Labelling:
    """What networks learn: a code for every word of the sentences they may see, 0 for all others."""

    names: tuple[str, ...]
    source: str | None  # the scheme of the corpus; None for plain tags
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, labels: Labels, sentences: Indices, *, source: str | None, scheme: str) -> Labelling:
        """Labels of these sentences in a scheme; others are not looked at."""
        own, offsets = labels.part(sentences)
        if source is not None:
            found, names = recode(own, labels.strings, offsets, target=source if scheme == AS_IS else scheme)
        elif scheme == AS_IS:
            used = np.flatnonzero(np.bincount(own))
            names = tuple(labels.strings[code] for code in used.tolist())
            found = np.searchsorted(used, own).astype(np.int32)
        else:
            raise InputError(f"scheme={scheme!r}: the labels are no chunks; expected some such as B-NP, or 'as-is'")
        codes = np.zeros(len(labels.codes), np.int32)
        codes[tokens_of(labels.starts, labels.lengths, sentences)] = found
        return cls(names, source, codes)

    def score(self, gold: Codes, predicted: Codes, offsets: Indices) -> float:
        """How good predicted labels are: F1 of chunks, or the share of words."""
        if self.source is not None:
            return f1_of(gold, predicted, self.names, offsets)
        return float((gold == predicted).mean()) if len(gold) else 0.0

    def column(self, predicted: Codes, offsets: Indices) -> Column:
        """Predicted labels as the corpus writes them; sequences that cannot be are mended as conlleval reads them."""
        names, codes = self.names, predicted
        if self.source is not None:
            codes, names = recode(predicted, names, offsets, target=self.source)
        return Column(np.asarray(codes, np.int32), Vocabulary.of(list(names)))
