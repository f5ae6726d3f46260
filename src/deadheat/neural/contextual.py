"""Contextual string embeddings (Akbik et al. 2018): states of character language models as features of words.

A word's features are the state of a forward model after its last character, and that of a backward model before its
first, once it has read the word from right to left. Nothing here imports jax: this is part of networks' configuration.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError
from deadheat.neural.raw_text import RawSentences, read_text

if TYPE_CHECKING:
    from deadheat.neural.language_model import LanguageModel

DIRECTIONS = ("forward", "backward")
VERSION = 1  # of language models and of how states are read off; a change makes cached ones useless


@dataclass(frozen=True, slots=True)
class LanguageModelSettings:
    """Settings of character language models.

    The rate is that of Adam at the start; it falls to zero linearly. `drop` is the share of numbers that are dropped
    from the vectors of characters and from the states that predict.
    """

    units: int = 256
    epochs: int = 20
    character_size: int = 32
    rate: float = 0.01
    drop: float = 0.3
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("units", "epochs", "character_size"):
            if getattr(self, name) < 1:
                raise InputError(f"lm_{name}={getattr(self, name)}; expected at least 1")
        if not 0 < self.rate < math.inf:
            raise InputError(f"lm_rate={self.rate:g}; expected a number above 0")
        if not 0 <= self.drop < 1:
            raise InputError(f"lm_drop={self.drop:g}; expected a share from 0 to less than 1")

    def key(self, text_hash: str, direction: str, device: str) -> str:
        """What a model depends on, as text."""
        return json.dumps([VERSION, text_hash, asdict(self), direction, device])


@dataclass(frozen=True, slots=True)
class LanguageText:
    """The text that language models learn from; only its hash counts in comparisons."""

    text: str = field(repr=False, compare=False)
    hash: str

    @classmethod
    def of(cls, text: str) -> LanguageText:
        return cls(text, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())


@dataclass(frozen=True, slots=True)
class ContextualStrings:
    """Features of words from language models that learn from a file, or from the sentences that a tagger learns from.

    It has no text until `with_text` gives it one, so that nothing is read or trained before it is needed.
    """

    settings: LanguageModelSettings
    file: str = ""
    text: LanguageText | None = None

    @property
    def size(self) -> int:
        """Numbers per word: the states of both directions."""
        return len(DIRECTIONS) * self.settings.units

    @property
    def layers(self) -> int:
        return 1

    def with_text(self, corpus: Corpus, train: Indices) -> ContextualStrings:
        """The same with the text of the file, or with that of these sentences of a corpus."""
        text = read_text(self.file) if self.file else RawSentences.of(corpus).text(np.sort(train))
        return replace(self, text=LanguageText.of(text))

    def features(self, corpora: Sequence[Corpus], /) -> NDArray[np.float16]:
        """The features of all words of some corpora: (words, 1, size)."""
        assert self.text is not None
        states: NDArray[np.float16] = _states_module().word_states(self.text, self.settings, corpora)
        return states

    def language_models(self) -> tuple[LanguageModel, LanguageModel]:
        """The forward and the backward model, from the cache or trained now."""
        assert self.text is not None
        models: tuple[LanguageModel, LanguageModel] = _states_module().language_models(self.text, self.settings)
        return models


def _states_module() -> Any:
    return importlib.import_module("deadheat.neural.language_states")
