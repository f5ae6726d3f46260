"""A BiLSTM tagger that reads contextual string embeddings (Akbik et al. 2018); needs deadheat[neural]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deadheat.corpus.corpus import Corpus
from deadheat.errors import InputError
from deadheat.neural import config as networks
from deadheat.neural.config import BatchTrainer, OnStep, TrainJob, TrainResult
from deadheat.neural.contextual import ContextualStrings, LanguageModelSettings, LanguageText
from deadheat.neural.raw_text import RawSentences, read_text
from deadheat.systems.bilstm import TaggerSettings
from deadheat.systems.system import SYSTEMS, Model, System, training_labels

if TYPE_CHECKING:
    from deadheat.neural.language_model import LanguageModel

NAME = "flair.v1"


@SYSTEMS.add(NAME, shared=TaggerSettings)
def flair(  # noqa: PLR0913 (settings of taggers and of language models)
    settings: TaggerSettings,
    *,
    text: str = "",
    lm_units: int = 256,
    lm_epochs: int = 20,
    lm_character_size: int = 32,
    lm_rate: float = 0.01,
    lm_drop: float = 0.3,
    lm_seed: int = 0,
) -> System:
    """A BiLSTM tagger that also reads the states of two character language models, which it does not change.

    Parameters
    ----------
    settings
        Those of `bilstm.v2`, by name.
    text
        The file of raw text that the language models learn from: UTF-8, maybe compressed by gzip, xz or zstd. If empty,
        they learn from the words of the training part, and from nothing else.
    lm_units
        Units of each language model; a word has twice as many features.
    lm_epochs
        How often the language models read the text.
    lm_character_size
        Size of character vectors of language models.
    lm_rate
        The learning rate at the start (Adam); it falls to zero linearly.
    lm_drop
        The share of numbers dropped from character vectors and states while language models learn.
    lm_seed
        The seed of the language models. Taggers with other seeds read the same language models.
    """
    try:
        language_model = LanguageModelSettings(lm_units, lm_epochs, lm_character_size, lm_rate, lm_drop, lm_seed)
    except InputError as error:
        raise InputError(f"{NAME}: {error}") from error
    source = ContextualStrings(language_model, text)
    column, config = settings.column, settings.config(NAME, source)

    def train(train: Corpus, tune: Corpus | None, seed: int) -> Model:
        training_labels(train, column, NAME)
        training = networks.import_training(NAME)
        bound = source.with_text(train, np.arange(train.sentences))
        model: Model = training.train_one(config.with_source(bound), train, tune, seed)
        return model

    def train_jobs(
        corpus: Corpus, jobs: Sequence[TrainJob], on_step: OnStep | None = None
    ) -> Iterator[tuple[int, TrainResult]]:
        training_labels(corpus, column, NAME)
        training = networks.import_training(NAME)
        yield from training.train_jobs(corpus, with_texts(corpus, jobs), on_step)

    trainer = BatchTrainer((NAME, config.family), config, train_jobs)
    return System(NAME, train, tuned=True, batch_trainer=trainer, files=("vectors", "text"), size_of=settings.size_of)


def language_models(text: Corpus | str, **settings: Any) -> tuple[LanguageModel, LanguageModel]:
    """The forward and the backward language model that `flair.v1` reads, from the cache or trained now.

    Parameters
    ----------
    text
        The corpus that a tagger learns from, or the file of a text.
    settings
        Settings of `flair.v1` for language models: `lm_units=128`, ...

    Returns
    -------
    Two language models. Each has its `characters`, and in `bits` how many bits it needs per character of the lines
    that were held out, one in twenty.
    """
    trainer = SYSTEMS.make(NAME, **settings).batch_trainer
    assert trainer is not None
    networks.import_training(NAME)
    source: ContextualStrings = trainer.config.features
    raw = read_text(text) if isinstance(text, str) else RawSentences.of(text).text(np.arange(text.sentences))
    return replace(source, text=LanguageText.of(raw)).language_models()


def with_texts(corpus: Corpus, jobs: Sequence[TrainJob]) -> list[TrainJob]:
    """Jobs whose language models have their text.

    Networks train together if their features are equal: where the text is that of the training part, those of one
    training part train together, one part after the other.
    """
    sources: dict[Any, ContextualStrings] = {}
    bound = []
    for job in jobs:
        source: ContextualStrings = job.config.features
        key = (source, b"" if source.file else np.sort(job.train).tobytes())
        if key not in sources:
            sources[key] = source.with_text(corpus, job.train)
        bound.append(replace(job, config=job.config.with_source(sources[key])))
    return bound
