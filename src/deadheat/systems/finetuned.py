"""Pretrained encoders that are trained further with a tagger or a parser on top; needs deadheat[finetuning]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from deadheat.corpus import Corpus, take
from deadheat.finetuning.config import EXTRA, FinetuningConfig
from deadheat.neural.config import BatchTrainer, OnStep, TrainJob, TrainResult, import_training
from deadheat.systems.parsers import ParserInput
from deadheat.systems.system import Model, System, training_labels

TRAINING = "deadheat.finetuning.training"


def finetuned(name: str, config: FinetuningConfig, bad_trees: str = "refuse") -> System:
    """A system that trains an encoder with a head on it. The best epoch is picked on tune."""
    trees = ParserInput("none", "", "", bad_trees)

    def train(train: Corpus, tune: Corpus | None, seed: int) -> Model:
        if not config.parses:
            training_labels(train, config.column, name)
        elif train.words:
            train = take(train, trees.usable(name, train, np.arange(train.sentences)))
        model: Model = import_training(name, TRAINING, EXTRA).train_one(config, train, tune, seed)
        return model

    def train_jobs(
        corpus: Corpus, jobs: Sequence[TrainJob], on_step: OnStep | None = None
    ) -> Iterator[tuple[int, TrainResult]]:
        if config.parses:
            jobs = [replace(job, train=trees.usable(name, corpus, np.sort(job.train))) for job in jobs]
        else:
            training_labels(corpus, config.column, name)
        yield from import_training(name, TRAINING, EXTRA).train_jobs(corpus, jobs, on_step)

    trainer = BatchTrainer((name, config, bad_trees), config, train_jobs, EXTRA)
    return System(name, train, tuned=True, trees=config.parses, batch_trainer=trainer, encoder=config.encoder)
