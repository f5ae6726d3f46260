"""Sentences as an encoder reads them: padded rows of pieces, and where the vectors of words come from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Indices, ranges
from deadheat.encoders.pieces import PieceText, Tokenizer


def piece_counts(text: PieceText, sentences: Indices) -> Indices:
    """The number of pieces of each of some sentences."""
    return text.bounds[text.offsets[sentences + 1]] - text.bounds[text.offsets[sentences]]


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
        for window in text.windows_of(int(text.offsets[sentence]), int(text.offsets[sentence + 1]), tokenizer.capacity)
    ]  # fmt: skip
    prefix, suffix = list(tokenizer.prefix), list(tokenizer.suffix)
    rows = [
        np.array([*prefix, *text.pieces[text.bounds[window.first] : text.bounds[window.end]].tolist(), *suffix])
        for _, window in windows
    ]
    width = max(map(len, rows))
    longest = int((text.offsets[sentences + 1] - text.offsets[sentences]).max())
    pieces = np.zeros((len(rows), width), np.int64)
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
