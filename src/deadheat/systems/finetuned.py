"""Pretrained encoders, fine-tuned with a tagger or a parser on top; needs deadheat[finetuning]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from deadheat.corpus import Corpus, take
from deadheat.errors import InputError
from deadheat.finetuning.config import EXTRA, FinetuningConfig
from deadheat.neural.config import BatchTrainer, OnStep, TrainJob, TrainResult, TrainSchedule, import_training
from deadheat.systems.parsers import ParserInput
from deadheat.systems.system import SYSTEMS, Model, System, check_at_least, training_labels

NAME = "finetuned.v1"
TRAINING = "deadheat.finetuning.training"


@SYSTEMS.add(NAME)
def finetuned(  # noqa: PLR0913 (each is a setting)
    *,
    encoder: str,
    task: str = "tags",
    column: str = "upos",
    scheme: str = "as-is",
    classifier: str = "softmax",
    pieces: str = "first",
    arc_size: int = 500,
    relation_size: int = 100,
    bad_trees: str = "refuse",
    rate: float = 5e-5,
    head_rate: float = 1e-3,
    warmup: float = 0.1,
    weight_decay: float = 0.01,
    drop: float = 0.2,
    norm: float = 1.0,
    batch: int = 32,
    precision: str = "auto",
    threads: int = 1,
    epochs: int = 20,
    patience: int = 5,
) -> System:
    """A pretrained encoder, trained further with a tagger or a biaffine parser on top, as MaChAmp does it.

    Parameters
    ----------
    encoder
        The folder of an encoder in Hugging Face's layout: `config.json`, `model.safetensors` and a tokenizer.
    task
        `tags`: labels of words; `trees`: heads and relations, by a biaffine parser.
    column, scheme
        What a tagger learns, and the scheme in which it learns chunks, as those of `bilstm.v1`.
    classifier
        `softmax` (labels one by one) or `crf` (labels of a sentence are chosen jointly).
    pieces
        The vector of a word is that of its `first` piece, or the `mean` of all.
    arc_size, relation_size
        Sizes of the vectors that a parser scores arcs and relations by.
    bad_trees
        What a parser does with training sentences that are not trees with one root: `refuse` or `skip`.
    rate, head_rate
        The largest learning rates of the encoder and of what is on it. Both rise and fall in a slanted triangle.
    warmup
        The share of all updates in which learning rates rise.
    weight_decay
        The weight decay of AdamW, on matrices.
    drop
        The share of the numbers of words' vectors that is dropped; the encoder has its own dropout in `config.json`.
    norm
        The largest norm of the gradient; 0 is no limit.
    batch
        The most sentences per update; batches of long sentences are smaller.
    precision
        Of products in the encoder: `float32`, `bfloat16`, or `auto`: `bfloat16` on a GPU, else `float32`.
    threads
        Threads on a CPU. Another number may change the last digits.
    epochs, patience
        At most so many epochs, and no more than `patience` without a better score on tune: accuracy, F1 of chunks, or
        LAS.
    """
    check_at_least(NAME, 1, epochs=epochs, patience=patience)
    try:
        config = FinetuningConfig(
            encoder=encoder, task=task, column=column, scheme=scheme, classifier=classifier, pieces=pieces,
            arc_size=arc_size, relation_size=relation_size, rate=rate, head_rate=head_rate, warmup=warmup,
            weight_decay=weight_decay, drop=drop, norm=norm, batch=batch, precision=precision, threads=threads,
            schedule=TrainSchedule(epochs, patience),
        )  # fmt: skip
        return finetuned_system(NAME, config, bad_trees)
    except InputError as error:
        raise InputError(f"{NAME}: {error}") from error


def finetuned_system(name: str, config: FinetuningConfig, bad_trees: str = "refuse") -> System:
    """A system that trains an encoder with a head on it."""
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
    return System(name, train, tuned=True, trees=config.parses, batch_trainer=trainer)
