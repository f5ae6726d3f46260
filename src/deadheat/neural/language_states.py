"""Language models and their states at the ends of words, both cached: models are trained once per text and setting."""

from __future__ import annotations

import functools
import hashlib
import io
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from deadheat.corpus.corpus import Corpus
from deadheat.kernels.cache import create_folder, locked, read_cached, trim_folder, write_cached
from deadheat.neural.contextual import DIRECTIONS, LanguageModelSettings, LanguageText
from deadheat.neural.devices import compile_program, configure_jax
from deadheat.neural.features import Features, cached_features
from deadheat.neural.language_model import LanguageModel, Weights, encode, run, start_state, train_language_model
from deadheat.neural.raw_text import RawSentences

FOLDER = "language-models"  # of the cache
MODELS_ON_DISK = 1 << 30  # bytes of language models that stay in the cache
ROWS = 32  # sentences read at once: always as many, so that states do not depend on what is read beside them
SHORTEST = 64  # what sentences are padded to at least


def language_models(text: LanguageText, settings: LanguageModelSettings) -> tuple[LanguageModel, LanguageModel]:
    """The forward and the backward model of a text, from the cache or trained now."""
    forward, backward = (language_model(text, settings, direction) for direction in DIRECTIONS)
    return forward, backward


def language_model(text: LanguageText, settings: LanguageModelSettings, direction: str) -> LanguageModel:
    """A model from the cache, or trained now; where several processes need it, one trains and the others wait."""
    key = settings.key(text.hash, direction, jax.default_backend())
    name = hashlib.sha256(key.encode()).hexdigest()[:32]
    if (model := _unpack(read_cached(FOLDER, name), direction)) is not None:
        return model
    with locked(FOLDER, f"{name}.lock"):
        if (model := _unpack(read_cached(FOLDER, name), direction)) is not None:
            return model
        model = train_language_model(text.text, settings, direction)
        write_cached(FOLDER, name, _pack(model))
    if (folder := create_folder(FOLDER)) is not None:
        trim_folder(folder, MODELS_ON_DISK)
    return model


def _pack(model: LanguageModel) -> bytes:
    """A model as the bytes of an .npz file."""
    stream = io.BytesIO()
    letters = np.array([ord(letter) for letter in model.characters[1:]], np.uint32)
    np.savez(stream, letters=letters, bits=np.float64(model.bits), **model.weights._asdict())
    return stream.getvalue()


def _unpack(stored: bytes | None, direction: str) -> LanguageModel | None:
    """A model from the bytes of an .npz file; None if there is none, or it is of another release."""
    if stored is None:
        return None
    try:
        with np.load(io.BytesIO(stored), allow_pickle=False) as arrays:
            weights = Weights(**{name: arrays[name] for name in Weights._fields})
            return LanguageModel(direction, ("", *map(chr, arrays["letters"].tolist())), float(arrays["bits"]), weights)
    except (KeyError, ValueError, OSError, zipfile.BadZipFile):
        return None


def word_states(text: LanguageText, settings: LanguageModelSettings, corpora: Sequence[Corpus]) -> Features:
    """The states of both models at the ends of all words of some corpora: (words, 1, 2U)."""
    configure_jax()
    sentences = [RawSentences.of(corpus) for corpus in corpora]
    words = sum(corpus.words for corpus in corpora)
    digest = hashlib.sha256()
    for raw in sentences:
        digest.update(raw.hash.encode())
    device = jax.default_backend()
    key = "|".join([*(settings.key(text.hash, direction, device) for direction in DIRECTIONS), digest.hexdigest()])

    def fill(array: Features) -> None:
        for at, model in enumerate(language_models(text, settings)):
            columns = slice(at * settings.units, (at + 1) * settings.units)
            first = 0
            for raw in sentences:
                last = first + int(raw.offsets[-1])
                fill_states(array[first:last, 0, columns], model, raw)
                first = last

    return cached_features(key, (words, 1, len(DIRECTIONS) * settings.units), fill)


def fill_states(states: NDArray[np.float16], model: LanguageModel, raw: RawSentences) -> None:
    """Write a model's state at the end of every word (of its reading direction) of some sentences."""
    weights = jax.tree.map(jnp.asarray, model.weights)
    for numbers, length, most in _batches(raw):
        codes = np.zeros((ROWS, length), np.int32)
        ends = np.zeros((ROWS, most), np.int32)
        for row, sentence in enumerate(numbers):
            text = raw.sentences[sentence]
            first, last = raw.offsets[sentence : sentence + 2]
            read = encode([text], model.characters, model.direction)[:-1]  # without the new line at the end
            codes[row, : len(read)] = read
            # The first character that is read is the new line.
            ends[row, : last - first] = (
                raw.ends[first:last] if model.direction == DIRECTIONS[0] else len(text) - raw.starts[first:last]
            )
        found = np.asarray(_program()(weights, codes, ends))
        for row, sentence in enumerate(numbers):
            first, last = raw.offsets[sentence : sentence + 2]
            states[first:last] = found[row, : last - first]


def _batches(raw: RawSentences) -> Iterator[tuple[list[int], int, int]]:
    """Sentences of similar length, with the numbers of characters and of words that they are padded to."""
    sizes: dict[tuple[int, int], list[int]] = {}
    for sentence, (text, words) in enumerate(zip(raw.sentences, np.diff(raw.offsets).tolist(), strict=True)):
        if words:
            length = _padded(len(text) + 1)
            # As many words as characters are possible, and rare.
            sizes.setdefault((length, length // 2 if words <= length // 2 else length), []).append(sentence)
    for (length, most), numbers in sorted(sizes.items()):
        for at in range(0, len(numbers), ROWS):
            yield numbers[at : at + ROWS], length, most


def _padded(length: int) -> int:
    """A length that many sentences share: 64, 96, 128, 192, 256, 384, ..."""
    power = max(SHORTEST, 1 << (length - 1).bit_length())
    return power * 3 // 4 if power > SHORTEST and length <= power * 3 // 4 else power


@functools.cache
def _program() -> Any:
    """The compiled program that reads sentences and returns their states at some positions (B, W): (B, W, U)."""

    def states_at(weights: Weights, codes: Array, ends: Array) -> Array:
        states, _ = run(weights, codes.T, start_state(len(codes), len(weights.recurrent)))
        by_sentence = jnp.moveaxis(states, 0, 1)
        return jnp.take_along_axis(by_sentence, ends[:, :, None], axis=1).astype(jnp.float16)

    return compile_program(states_at)
