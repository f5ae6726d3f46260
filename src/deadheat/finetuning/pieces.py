"""Words as pieces of an encoder's vocabulary, and windows of sentences that are longer than the encoder takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Indices, offsets_of, ranges
from deadheat.errors import InputError
from deadheat.neural.text import distinct_forms, encode_columns

LONGEST_SHARE = 4  # a word has at most a fourth of the pieces that the encoder takes; the rest of it is not read
UNLIMITED = 10**6  # tokenizers give absurd numbers for encoders without a limit
USUAL_CAPACITY = 512


class Window(NamedTuple):
    """Words of a sentence that are read together, and those among them whose vectors are used."""

    first: int
    end: int
    used_first: int
    used_end: int


@dataclass(frozen=True, slots=True, eq=False)
class PieceText:
    """A text as pieces: those of word i are `pieces[bounds[i]:bounds[i + 1]]`; at least one each."""

    pieces: Indices
    bounds: Indices
    offsets: Indices  # of sentences, in words

    def lengths(self, sentences: Indices) -> Indices:
        """The number of pieces of each of these sentences."""
        return self.bounds[self.offsets[sentences + 1]] - self.bounds[self.offsets[sentences]]

    def windows(self, sentence: int, capacity: int) -> list[Window]:
        """The windows of a sentence: one, unless it has more pieces than the encoder takes.

        Neighbours share up to half of their words. The vector of a word comes from the window in which it is farther
        from an end that is not one of the sentence.
        """
        first, end = int(self.offsets[sentence]), int(self.offsets[sentence + 1])
        if self.bounds[end] - self.bounds[first] <= capacity:
            return [Window(first, end, first, end)]
        spans: list[tuple[int, int]] = []
        start = first
        while True:
            stop = int(np.searchsorted(self.bounds, self.bounds[start] + capacity, side="right")) - 1
            spans.append((start, min(stop, end)))
            if stop >= end:
                break
            half = int(np.searchsorted(self.bounds, self.bounds[start] + capacity // 2))
            start = min(max(half, start + 1), stop)
        limits = [first, *((a[1] + b[0]) // 2 for a, b in pairwise(spans)), end]
        return [Window(*span, *limits[number : number + 2]) for number, span in enumerate(spans)]


@dataclass(frozen=True, slots=True, eq=False)
class Tokenizer:
    """An encoder's tokenizer: the pieces of words, and what stands around a sentence."""

    tokenizer: Any
    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    unknown: int  # for words without pieces
    padding: int
    capacity: int  # pieces of words that the encoder takes at once

    @classmethod
    def of(cls, tokenizer: Any, limit: int, folder: str) -> Tokenizer:
        """A tokenizer of an encoder that takes at most `limit` pieces; 0 where it has no limit."""
        plain = tokenizer("a", add_special_tokens=False)["input_ids"]
        whole = tokenizer("a")["input_ids"]
        starts = [at for at in range(len(whole) - len(plain) + 1) if whole[at : at + len(plain)] == plain]
        if not plain or not starts:
            raise InputError(f"{folder}: its tokenizer gives no pieces for the word 'a'; expected some")
        prefix, suffix = whole[: starts[0]], whole[starts[0] + len(plain) :]
        fallbacks = (tokenizer.unk_token_id, tokenizer.mask_token_id, tokenizer.pad_token_id, plain[0])
        unknown = next(piece for piece in fallbacks if piece is not None)
        limits = [size for size in (limit, tokenizer.model_max_length) if 0 < size < UNLIMITED]
        capacity = min(limits, default=USUAL_CAPACITY) - len(prefix) - len(suffix)
        if capacity < LONGEST_SHARE:
            raise InputError(f"{folder}: the encoder takes {capacity} pieces; expected at least {LONGEST_SHARE}")
        return cls(tokenizer, tuple(prefix), tuple(suffix), unknown, tokenizer.pad_token_id or 0, capacity)

    def encode(self, corpora: Sequence[Corpus]) -> PieceText:
        """The pieces of concatenated corpora. Those of a word do not depend on its neighbours."""
        forms = distinct_forms(corpora)
        of_forms = [row or [self.unknown] for row in self._pieces_of(forms)]
        longest = self.capacity // LONGEST_SHARE
        of_forms = [row[:longest] for row in of_forms]
        lengths = np.array([len(row) for row in of_forms], np.int64)
        starts = offsets_of(lengths)[:-1]
        flat = np.array([piece for row in of_forms for piece in row], np.int64)
        codes = encode_columns([corpus.column("form") for corpus in corpora], forms)
        pieces = flat[ranges(starts[codes], lengths[codes])]
        offsets = offsets_of(np.concatenate([np.diff(corpus.offsets) for corpus in corpora]))
        return PieceText(pieces, offsets_of(lengths[codes]), offsets)

    def _pieces_of(self, forms: Sequence[str]) -> list[list[int]]:
        if not forms:
            return []
        words = [[form] for form in forms]
        rows = self.tokenizer(words, is_split_into_words=True, add_special_tokens=False, truncation=False)["input_ids"]
        return [list(row) for row in rows]


class Rows(NamedTuple):
    """A batch as the encoder reads it, and where the vectors of words come from; B sentences, T words, W windows."""

    pieces: NDArray[np.int64]  # (W, P)
    mask: NDArray[np.int64]  # (W, P)
    sources: NDArray[np.int64]  # where the vectors of words are among all W * P
    words: NDArray[np.int64]  # the word of each source among all B * T
    counts: NDArray[np.float32]  # (B * T,) sources of each word, at least 1


def make_rows(text: PieceText, tokenizer: Tokenizer, sentences: Indices, *, mean: bool) -> Rows:
    """The windows of some sentences, padded."""
    windows = [
        (row, window) for row, sentence in enumerate(sentences.tolist())
        for window in text.windows(sentence, tokenizer.capacity)
    ]  # fmt: skip
    prefix, suffix = list(tokenizer.prefix), list(tokenizer.suffix)
    rows = [
        np.array([*prefix, *text.pieces[text.bounds[window.first] : text.bounds[window.end]].tolist(), *suffix])
        for _, window in windows
    ]
    width = max(map(len, rows))
    longest = int((text.offsets[sentences + 1] - text.offsets[sentences]).max())
    pieces = np.full((len(rows), width), tokenizer.padding, np.int64)
    mask = np.zeros((len(rows), width), np.int64)
    sources, words = [], []
    for number, ((row, window), ids) in enumerate(zip(windows, rows, strict=True)):
        pieces[number, : len(ids)], mask[number, : len(ids)] = ids, 1
        used = np.arange(window.used_first, window.used_end)
        lengths = text.bounds[used + 1] - text.bounds[used] if mean else np.ones(len(used), np.int64)
        at = text.bounds[used] - text.bounds[window.first] + len(prefix)
        sources.append(number * width + ranges(at, lengths))
        word = row * longest + used - text.offsets[sentences[row]]
        words.append(np.repeat(word, lengths))
    counts = np.bincount(np.concatenate(words), minlength=len(sentences) * longest)
    return Rows(pieces, mask, np.concatenate(sources), np.concatenate(words), np.maximum(counts, 1).astype(np.float32))
