"""The BiLSTM-CNN-CRF tagger with every option of Reimers & Gurevych (2017, section 4.2); needs deadheat[neural]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deadheat.corpus.corpus import Corpus
from deadheat.errors import InputError
from deadheat.neural import config as networks
from deadheat.neural.config import BatchTrainer, OnStep, TrainJob, TrainResult
from deadheat.systems.system import SYSTEMS, Model, System, check_at_least, training_labels

if TYPE_CHECKING:
    from deadheat.neural.features import FeatureSource

NAME = "bilstm.v1"


@dataclass(frozen=True, slots=True)
class TaggerSettings:
    """Settings that all BiLSTM taggers have.

    Parameters
    ----------
    column
        What to learn: any column of the corpus.
    scheme
        The scheme in which chunks are learned: `bio`, `iob1`, `iobes`, or `as-is` for that of the corpus. Predictions
        are in the scheme of the corpus, and invalid sequences are repaired as conlleval reads them.
    units
        Units of each direction, layer by layer: `100`, `100,75`, `100,75,50`.
    classifier
        `crf` (labels of a sentence are chosen jointly) or `softmax` (one by one).
    word_size
        Size of word vectors, unless a file of vectors decides.
    vectors
        A file of word vectors: word2vec's text format, GloVe's, fastText's; plain, gzip, xz or zstd.
    frozen
        Whether training leaves word vectors as they are.
    casing
        Size of casing vectors (lower case, digits, ...); 0 for none.
    characters
        `none`, `cnn` (Ma & Hovy 2016) or `lstm` (Lample et al. 2016).
    character_size, filters
        Size of character vectors; filters of the CNN, or units of each direction of the LSTM.
    dropout
        `none`, `naive` (other units at every word) or `variational` (the same in the whole sentence).
    dropped
        Where: on the `outputs` of layers, on `recurrent` units from word to word, or `both`.
    drop
        The share of units that is dropped.
    optimizer
        `sgd`, `adagrad`, `adadelta`, `rmsprop`, `adam` or `nadam`.
    rate
        The learning rate; 0 is the optimizer's default.
    clip, norm
        Components of the gradient are clipped to `clip`; then the whole is scaled down to the norm `norm`. 0 is off.
    batch
        Sentences per update, 1 to 64 in the paper.
    replaced
        How often a word that was seen once is replaced by the unknown word, so that the latter is learned.
    epochs, patience
        At most so many epochs, and no more than `patience` without a better score on tune: F1 of chunks, or accuracy.
    """

    column: str = "upos"
    scheme: str = "as-is"
    units: str = "100,100"
    classifier: str = "crf"
    word_size: int = 100
    vectors: str = ""
    frozen: bool = False
    casing: int = 10
    characters: str = "cnn"
    character_size: int = 30
    filters: int = 30
    dropout: str = "variational"
    dropped: str = "both"
    drop: float = 0.25
    optimizer: str = "nadam"
    rate: float = 0.0
    clip: float = 0.0
    norm: float = 1.0
    batch: int = 32
    replaced: float = 0.5
    epochs: int = 50
    patience: int = 5

    def config(self, name: str, features: FeatureSource | None = None) -> networks.TaggerConfig:
        """The configuration of the networks of a system."""
        check_at_least(
            name, 1, word_size=self.word_size, character_size=self.character_size, filters=self.filters,
            batch=self.batch, epochs=self.epochs, patience=self.patience,
        )  # fmt: skip
        try:
            if self.casing < 0:
                raise InputError(f"casing={self.casing}; expected a size, or 0 for none")
            networks.check_choices({"scheme": self.scheme})
            shape = networks.Shape(
                units=networks.layer_sizes(self.units), word_size=self.word_size, case_size=self.casing,
                characters=self.characters, character_size=self.character_size, filters=self.filters,
                classifier=self.classifier, optimizer=self.optimizer, dropout=self.dropout, dropped=self.dropped,
                batch=self.batch, fixed_words=self.frozen,
            )  # fmt: skip
            hyper = networks.hyper_params(
                self.optimizer, self.rate, drop=self.drop, clip=self.clip, norm=self.norm, replaced=self.replaced
            )
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
        return networks.TaggerConfig(
            column=self.column, scheme=self.scheme, vectors=self.vectors, features=features, shape=shape, hyper=hyper,
            schedule=networks.TrainSchedule(self.epochs, self.patience),
        )  # fmt: skip


@SYSTEMS.add(NAME, shared=TaggerSettings)
def bilstm(settings: TaggerSettings) -> System:
    """A BiLSTM-CNN-CRF tagger for tags, chunks or entities. The best epoch is picked on tune.

    Parameters
    ----------
    settings
        Those of all BiLSTM taggers, by name.
    """
    column, config = settings.column, settings.config(NAME)

    def train(train: Corpus, tune: Corpus | None, seed: int) -> Model:
        training_labels(train, column, NAME)
        model: Model = networks.import_training(NAME).train_one(config, train, tune, seed)
        return model

    def train_jobs(
        corpus: Corpus, jobs: Sequence[TrainJob], on_step: OnStep | None = None
    ) -> Iterator[tuple[int, TrainResult]]:
        training_labels(corpus, column, NAME)
        yield from networks.import_training(NAME).train_jobs(corpus, jobs, on_step)

    return System(NAME, train, tuned=True, batch_trainer=BatchTrainer((NAME, config.family), config, train_jobs))
