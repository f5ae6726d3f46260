"""The BiLSTM-CNN-CRF tagger with every option of Reimers & Gurevych (2017, section 4.2); needs deadheat[neural]."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from deadheat.corpus.corpus import Corpus
from deadheat.errors import InputError, NameUnknown
from deadheat.neural import config as networks
from deadheat.neural.config import SMALL_WORDS, BatchTrainer, OnStep, TaggerConfig, TrainJob, TrainResult
from deadheat.systems.system import SYSTEMS, Model, System, check_at_least, training_labels

if TYPE_CHECKING:
    from deadheat.neural.features import FeatureSource

NAME = "bilstm.v2"
AUTO = "auto"
# Defaults of settings that are not given, by `size`; the learning rate is the optimizer's times `rate_factor`.
SIZES: Mapping[str, Mapping[str, Any]] = {
    "full": {"affixes": 0, "batch": 32, "drop": 0.25, "rate_factor": 1, "epochs": 50, "patience": 5},
    "small": {"affixes": 50, "batch": 8, "drop": 0.5, "rate_factor": 2, "epochs": 50, "patience": 10},
}


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
    size
        The defaults of affixes, drop, rate, batch, epochs and patience: `full`, `small`, or `auto`, which is `small`
        where train has fewer than 50,000 words. A setting that is given is used at every size.
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
    affixes
        Size of the vectors of prefixes and suffixes of one to four characters, whose sum is part of the input; 0 for
        none; if below 0, that of the size.
    dropout
        `none`, `naive` (other units at every word) or `variational` (the same in the whole sentence).
    dropped
        Where: on the `outputs` of layers, on `recurrent` units from word to word, or `both`.
    drop
        The share of units that is dropped; if below 0, that of the size.
    optimizer
        `sgd`, `adagrad`, `adadelta`, `rmsprop`, `adam` or `nadam`.
    rate
        The learning rate; 0 is the optimizer's default, and twice that with the defaults of `small`.
    clip, norm
        Components of the gradient are clipped to `clip`; then the whole is scaled down to the norm `norm`. 0 is off.
    batch
        Sentences per update, 1 to 64 in the paper; 0 is that of the size.
    replaced
        How often a word that was seen once is replaced by the unknown word, so that the latter is learned.
    epochs, patience
        At most so many epochs, and no more than `patience` without a better score on tune: F1 of chunks, or accuracy.
        0 is that of the size.
    """

    column: str = "upos"
    scheme: str = "as-is"
    size: str = AUTO
    units: str = "100,100"
    classifier: str = "crf"
    word_size: int = 100
    vectors: str = ""
    frozen: bool = False
    casing: int = 10
    characters: str = "cnn"
    character_size: int = 30
    filters: int = 30
    affixes: int = -1
    dropout: str = "variational"
    dropped: str = "both"
    drop: float = -1.0
    optimizer: str = "nadam"
    rate: float = 0.0
    clip: float = 0.0
    norm: float = 1.0
    batch: int = 0
    replaced: float = 0.5
    epochs: int = 0
    patience: int = 0

    def config(self, name: str, features: FeatureSource | None = None) -> TaggerConfig:
        """The configuration of the networks of a system, with that for a small training part if the size is open."""
        check_at_least(name, 1, word_size=self.word_size, character_size=self.character_size, filters=self.filters)
        check_at_least(name, 0, batch=self.batch, epochs=self.epochs, patience=self.patience)
        try:
            if self.casing < 0:
                raise InputError(f"casing={self.casing}; expected a size, or 0 for none")
            networks.check_choices({"scheme": self.scheme})
            if self.size not in (AUTO, *SIZES):
                raise NameUnknown("size", self.size, [AUTO, *SIZES])
            config = self._sized("full" if self.size == AUTO else self.size, features)
            return replace(config, small=self._sized("small", features)) if self.size == AUTO else config
        except InputError as error:
            raise InputError(f"{name}: {error}") from error

    @property
    def size_of(self) -> Callable[[int], str] | None:
        """What names the size whose defaults a training part of so many words gets, if that decides."""
        return size_of if self.size == AUTO else None

    def _sized(self, size: str, features: FeatureSource | None) -> TaggerConfig:
        """The configuration with the defaults of a size."""
        default = SIZES[size]
        shape = networks.Shape(
            units=networks.layer_sizes(self.units), word_size=self.word_size, case_size=self.casing,
            characters=self.characters, character_size=self.character_size, filters=self.filters,
            affix_size=default["affixes"] if self.affixes < 0 else self.affixes, classifier=self.classifier,
            optimizer=self.optimizer, dropout=self.dropout, dropped=self.dropped,
            batch=self.batch or default["batch"], fixed_words=self.frozen,
        )  # fmt: skip
        drop = default["drop"] if self.drop < 0 else self.drop
        hyper = networks.hyper_params(
            self.optimizer, self.rate, drop=drop, clip=self.clip, norm=self.norm, replaced=self.replaced
        )
        hyper = hyper._replace(rate=self.rate or default["rate_factor"] * hyper.rate)
        schedule = networks.TrainSchedule(self.epochs or default["epochs"], self.patience or default["patience"])
        return TaggerConfig(
            column=self.column, scheme=self.scheme, vectors=self.vectors, features=features, shape=shape, hyper=hyper,
            schedule=schedule,
        )  # fmt: skip


@SYSTEMS.add(NAME, shared=TaggerSettings)
def bilstm(settings: TaggerSettings) -> System:
    """A BiLSTM-CNN-CRF tagger for tags, chunks or entities. The best epoch is picked on tune.

    Parameters
    ----------
    settings
        Those of all BiLSTM taggers, by name.
    """
    return replace(network_tagger(NAME, settings.config(NAME)), size_of=settings.size_of)


def network_tagger(name: str, config: TaggerConfig) -> System:
    """A network that tags as a system."""

    def train(train: Corpus, tune: Corpus | None, seed: int) -> Model:
        training_labels(train, config.column, name)
        model: Model = networks.import_training(name).train_one(config, train, tune, seed)
        return model

    def train_jobs(
        corpus: Corpus, jobs: Sequence[TrainJob], on_step: OnStep | None = None
    ) -> Iterator[tuple[int, TrainResult]]:
        training_labels(corpus, config.column, name)
        yield from networks.import_training(name).train_jobs(corpus, jobs, on_step)

    return System(name, train, tuned=True, batch_trainer=BatchTrainer((name, config.family), config, train_jobs))


def size_of(words: int) -> str:
    """The size whose defaults a training part of so many words gets."""
    return "small" if words < SMALL_WORDS else "full"
