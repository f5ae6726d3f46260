"""The vectors that a pretrained encoder gives to words, as features of networks. Nothing here imports jax."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.encoders.folder import check_folder, find_folder, hash_folder
from deadheat.encoders.pieces import PieceText, Tokenizer, Window
from deadheat.encoders.weights import Architecture, encoder_size, read_weights
from deadheat.errors import InputError, NameUnknown
from deadheat.neural.features import Features, cached_features, hash_forms

PACKAGES = ("tokenizers", "safetensors")  # of deadheat[transformers]
PIECES = ("first", "mean")
LAYERS = ("last", "all")
VERSION = 1  # of the numbers in the cache
LENGTHS = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)  # that windows are padded to
LARGEST = float(np.finfo(np.float16).max)


@dataclass(frozen=True, slots=True)
class EncoderFeatures:
    """The vectors of an encoder that is not trained any further, by its folder or its name.

    Parameters
    ----------
    encoder
        The folder, or a name that huggingface_hub knows.
    pieces
        What the vector of a word is: that of its `first` piece, or the `mean` of all its pieces.
    used
        The `last` layer, or `all` layers and the embeddings below them.
    """

    encoder: str
    pieces: str = "first"
    used: str = "last"

    def __post_init__(self) -> None:
        for name, value, allowed in (("pieces", self.pieces, PIECES), ("layers", self.used, LAYERS)):
            if value not in allowed:
                raise NameUnknown(name, value, allowed)

    @property
    def folder(self) -> str:
        """The encoder's folder, which has been checked."""
        folder = find_folder(self.encoder)
        check_folder(folder)
        return folder

    @property
    def size(self) -> int:
        """Numbers per word and layer."""
        folder = self.folder
        return encoder_size(check_folder(folder), folder)[1]

    @property
    def layers(self) -> int:
        """Layers that are mixed."""
        folder = self.folder
        return encoder_size(check_folder(folder), folder)[0] + 1 if self.used == "all" else 1

    def features(self, corpora: Sequence[Corpus], /) -> Features:
        """The vectors of all words of some corpora: (words, layers, size)."""
        folder = self.folder
        words = sum(corpus.words for corpus in corpora)
        key = f"encoder.v{VERSION}|{hash_folder(folder)}|{self.pieces}|{self.used}|{hash_forms(corpora)}"

        def fill(array: Features) -> None:
            every = self.used == "all"
            tokenizer, encoder = load_encoder(folder, hash_folder(folder), every=every)
            text = tokenizer.encode(corpora)
            highest = int(text.pieces.max(initial=0))
            if highest >= encoder.vocabulary:
                problem = f"piece {highest} of its tokenizer has no vector, of {encoder.vocabulary:,}"
                raise InputError(f"{folder}: {problem}; expected the tokenizer that belongs to the weights")
            encode_words(text, tokenizer, encoder, array, mean=self.pieces == "mean")
            if not np.isfinite(array).all():
                raise InputError(f"{folder}: the encoder gives numbers that are not finite; expected usable weights")

        return cached_features(key, (words, self.layers, self.size), fill)


@lru_cache(maxsize=1)
def load_encoder(folder: str, _digest: str, *, every: bool) -> tuple[Tokenizer, Any]:
    """An encoder and its tokenizer."""
    config = check_folder(folder)
    if message := missing_package(folder):
        raise InputError(message)
    kind = str(config["model_type"])
    architecture = Architecture.of(config, folder)
    if architecture is None:
        limit = config.get("max_position_embeddings", 0)
        tokenizer = Tokenizer.of(folder, limit if isinstance(limit, int) else 0)
        return tokenizer, importlib.import_module("deadheat.encoders.torch").TorchEncoder(folder, kind, every=every)
    tokenizer = Tokenizer.of(folder, architecture.limit)
    weights = read_weights(folder, architecture, kind)
    return tokenizer, importlib.import_module("deadheat.encoders.forward").Encoder(weights, architecture, every=every)


def missing_package(name: str) -> str:
    """An error message if a package that encoders need is not installed, else empty; nothing is imported."""
    missing = next((package for package in PACKAGES if importlib.util.find_spec(package) is None), "")
    expected = "expected deadheat[transformers] (pip install 'deadheat[transformers]')"
    return f"{name}: the package {missing} is not installed; {expected}" if missing else ""


def encode_words(text: PieceText, tokenizer: Tokenizer, encoder: Any, array: Features, *, mean: bool) -> None:
    """Write the vectors of all words of a text into an array."""
    windows = list(text.windows(tokenizer.capacity))
    sizes = [int(text.bounds[window.end] - text.bounds[window.first]) for window in windows]
    around = len(tokenizer.prefix) + len(tokenizer.suffix)
    limit = tokenizer.capacity + around
    by_length: dict[int, list[Window]] = {}
    for at in np.argsort(sizes, kind="stable").tolist():
        by_length.setdefault(padded_length(sizes[at] + around, limit), []).append(windows[at])
    for length, group in sorted(by_length.items()):
        for first in range(0, len(group), encoder.rows()):
            rows = group[first : first + encoder.rows()]
            pieces, present = make_rows(text, tokenizer, rows, length, encoder.rows())
            vectors = encoder(pieces, present)
            for window, states in zip(rows, vectors, strict=False):
                used = np.arange(window.used_first, window.used_end)
                starts = text.bounds[used] - text.bounds[window.first] + len(tokenizer.prefix)
                if mean and len(used):
                    lengths = text.bounds[used + 1] - text.bounds[used]
                    end = int(starts[-1] + lengths[-1])
                    sums = np.add.reduceat(states[:end], starts, axis=0)
                    states = sums / lengths[:, None, None].astype(np.float32)
                else:
                    states = states[starts]
                array[window.used_first : window.used_end] = np.clip(states, -LARGEST, LARGEST)


def make_rows(
    text: PieceText, tokenizer: Tokenizer, windows: Sequence[Window], length: int, rows: int
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The pieces of windows, padded to so many rows and to one length, and which are real."""
    pieces, present = np.zeros((rows, length), np.int32), np.zeros((rows, length), bool)
    for row, window in enumerate(windows):
        inside = text.pieces[text.bounds[window.first] : text.bounds[window.end]].tolist()
        ids = [*tokenizer.prefix, *inside, *tokenizer.suffix]
        pieces[row, : len(ids)], present[row, : len(ids)] = ids, True
    return pieces, present


def padded_length(pieces: int, limit: int) -> int:
    """The length that a window is padded to: few, so that few programs are compiled."""
    return min(next((length for length in LENGTHS if length >= pieces), limit), limit)
