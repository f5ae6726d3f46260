"""Neural parsers as reference systems of four paradigms; they need deadheat[neural].

All read words, characters and tags, and morphological features if asked to (gold ones, those of a tagger trained on the
same training part, or none), all pick the epoch by LAS on tune, and all predict trees with one root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from deadheat.corpus import Column, Corpus, take
from deadheat.corpus.transforms import with_labels, with_trees
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError, NameUnknown
from deadheat.neural import config as networks
from deadheat.neural.config import BatchTrainer, OnStep, ParserConfig, Shape, TrainJob, TrainResult, layer_sizes
from deadheat.systems.system import SYSTEMS, Model, System, check_at_least
from deadheat.trees import problems, require_trees

TrainJobs = Callable[[Corpus, Sequence[TrainJob]], Iterator[tuple[int, TrainResult]]]
TAGS = ("gold", "predicted", "none")
BAD_TREES = ("refuse", "skip")
FOLDS = 5  # of the training part, each tagged by a tagger trained on the others
# Defaults of settings that are not given, by `size`.
SIZES: Mapping[str, Mapping[str, Any]] = {
    "full": {
        "units": "400,400", "word_size": 100, "tag_size": 50, "filters": 100, "arc_size": 500, "relation_size": 100,
        "read": "125,125", "hidden": 100, "batch": 32, "drop": 0.33, "rate": 0.002,
    },
    "small": {
        "units": "64,64", "word_size": 50, "tag_size": 16, "filters": 30, "arc_size": 64, "relation_size": 32,
        "read": "64,64", "hidden": 64, "batch": 16, "drop": 0.2, "rate": 0.005,
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ParserInput:
    """Where tags come from, and what to do with training sentences that are not trees."""

    tags: str
    tag_column: str
    tagger: str
    bad_trees: str
    features: str = ""  # the column of morphological features, if any

    @property
    def column(self) -> str:
        """The column that tags are read from, if any."""
        return "" if self.tags == "none" else self.tag_column

    @property
    def feature_column(self) -> str:
        """The column that morphological features are read from, if any."""
        return "" if self.tags == "none" else self.features

    @property
    def columns(self) -> list[str]:
        """All columns that are read besides words."""
        return [column for column in (self.column, self.feature_column) if column]

    def __post_init__(self) -> None:
        if self.tags not in TAGS:
            raise NameUnknown("tags", self.tags, TAGS)
        if self.bad_trees not in BAD_TREES:
            raise NameUnknown("bad_trees", self.bad_trees, BAD_TREES)
        if self.tags == "predicted":
            SYSTEMS.make(self.tagger, column=self.tag_column)

    def train(self, name: str, train: Corpus, tune: Corpus | None, learn: Callable[..., Model]) -> Model:
        """Train a parser, with a tagger of its own if tags are predicted."""
        if not train.words:
            raise InputError(f"{train.name}: no words; {name} expected some to learn from")
        train = take(train, self.usable(name, train, np.arange(train.sentences)))
        if self.tags != "predicted":
            return learn(train, tune)
        tagger = self._train_taggers(train)
        tagged_tune = None if tune is None else tagger.predict(tune)
        return TagThenParse(tagger, learn(self._jackknife(train), tagged_tune))

    def train_jobs(
        self, name: str, corpus: Corpus, jobs: Sequence[TrainJob], learn: TrainJobs
    ) -> Iterator[tuple[int, TrainResult]]:
        """Train many parsers on one corpus; where tags are predicted, one training part after the other."""
        jobs = [replace(job, train=self.usable(name, corpus, np.sort(job.train))) for job in jobs]
        if self.tags != "predicted":
            yield from learn(corpus, jobs)
            return
        groups: dict[bytes, list[int]] = {}
        for number, job in enumerate(jobs):
            groups.setdefault(job.train.tobytes(), []).append(number)
        for numbers in groups.values():
            group = [jobs[number] for number in numbers]
            for at, result in learn(self.with_predicted_tags(corpus, group[0].train), group):
                parts = {part: take(corpus, np.sort(group[at].parts[part])) for part in result.predictions}
                predictions = {part: _copy_trees(parts[part], parsed) for part, parsed in result.predictions.items()}
                yield numbers[at], replace(result, predictions=predictions)

    def usable(self, name: str, corpus: Corpus, sentences: Indices) -> Indices:
        """The sentences that are trees with one root; others are reported with file and line, or skipped."""
        sentences = sentences[np.diff(corpus.offsets)[sentences] > 0]
        part = take(corpus, sentences)
        if self.bad_trees == "refuse" or part.heads is None:
            require_trees(part)
            return sentences
        bad = sorted({problem.sentence for problem in problems(part.heads, part.offsets)})
        good = np.delete(sentences, bad)
        if not len(good):
            raise InputError(f"{corpus.name}: no sentence in train is a tree; {name} expected some to learn from")
        return good

    def with_predicted_tags(self, corpus: Corpus, train: Indices) -> Corpus:
        """The corpus with predicted tags: those of train jackknifed, all others by a tagger trained on it."""
        part = take(corpus, train)
        tagged, jackknifed = self._train_taggers(part).predict(corpus), self._jackknife(part)
        inside = np.zeros(corpus.sentences, bool)
        inside[train] = True
        for column in self.columns:
            tags = np.array(tagged.column(column).strings(), object)
            tags[np.repeat(inside, np.diff(corpus.offsets))] = jackknifed.column(column).strings()
            corpus = with_labels(corpus, column, Column.of(tags.tolist()))
        return corpus

    def _train_taggers(self, train: Corpus) -> Taggers:
        systems = [SYSTEMS.make(self.tagger, column=column) for column in self.columns]
        return Taggers(tuple(system.train(train, None, 0) for system in systems))

    def _jackknife(self, train: Corpus) -> Corpus:
        """The training part with tags by taggers that were not trained on the sentence."""
        fold = np.arange(train.sentences) % FOLDS
        tags = {column: np.empty(train.words, object) for column in self.columns}
        fold_of_word = np.repeat(fold, np.diff(train.offsets))
        for number in range(min(FOLDS, train.sentences)):
            others = take(train, np.flatnonzero(fold != number)) if train.sentences > 1 else train
            tagged = self._train_taggers(others).predict(take(train, np.flatnonzero(fold == number)))
            for column, labels in tags.items():
                labels[fold_of_word == number] = tagged.column(column).strings()
        for column, labels in tags.items():
            train = with_labels(train, column, Column.of(labels.tolist()))
        return train


@dataclass(frozen=True, slots=True, eq=False)
class Taggers:
    """Taggers of several columns, one after the other."""

    models: tuple[Model, ...]

    def predict(self, corpus: Corpus) -> Corpus:
        for model in self.models:
            corpus = model.predict(corpus)
        return corpus


@dataclass(frozen=True, slots=True, eq=False)
class TagThenParse:
    """A parser that reads the tags of a tagger; its predictions keep the tags of the corpus."""

    tagger: Model
    parser: Model

    def predict(self, corpus: Corpus) -> Corpus:
        return _copy_trees(corpus, self.parser.predict(self.tagger.predict(corpus)))


def _copy_trees(corpus: Corpus, parsed: Corpus) -> Corpus:
    return with_trees(corpus, parsed.trees, parsed.column("deprel"))


@dataclass(frozen=True, slots=True)
class ParserSettings:
    """Settings that all parsers have.

    Parameters
    ----------
    tags
        `gold`: those of the corpus; `predicted`: those of `tagger`, which is trained on the same training part (tags of
        that part itself come from taggers that did not see the sentence); `none`.
    tag_column, tagger
        The column of tags, and the system that predicts them.
    features
        A column of morphological features that is read besides tags, such as `feats`; the vectors of the features of a
        word are added up. As tags, they are gold, predicted by `tagger`, or not read; empty for none.
    bad_trees
        What to do with training sentences that are not trees with one root: `refuse` or `skip`.
    size
        `full` or `small`: the defaults of settings that are 0 or empty, and of a drop below 0.
    units, word_size, tag_size
        Units of each direction, layer by layer; sizes of the vectors of words and tags.
    vectors, frozen
        A file of word vectors, and whether training leaves them as they are.
    characters, filters
        `none`, `cnn` or `lstm`; filters of the CNN, or units of each direction of the LSTM.
    drop, dropped
        The share of units that are dropped, the same ones in the whole sentence: `outputs` of layers, `recurrent` units
        or `both`.
    omitted
        How often the vector of a word, of its characters or of its tag is dropped; the others are scaled up.
    decay
        The share of the learning rate that is left after 1,000 updates.
    optimizer, rate, norm, batch, replaced, epochs, patience
        As those of `bilstm.v2`; epochs are picked by LAS on tune.
    """

    tags: str = "gold"
    tag_column: str = "upos"
    tagger: str = "perceptron.v2"
    features: str = ""
    bad_trees: str = "refuse"
    size: str = "full"
    units: str = ""
    word_size: int = 0
    vectors: str = ""
    frozen: bool = False
    characters: str = "cnn"
    filters: int = 0
    tag_size: int = 0
    drop: float = -1.0
    dropped: str = "outputs"
    omitted: float = 0.0
    optimizer: str = "adam-short"
    rate: float = 0.0
    decay: float = 0.85
    norm: float = 5.0
    batch: int = 0
    replaced: float = 0.25
    epochs: int = 60
    patience: int = 10

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The defaults of this size."""
        if self.size not in SIZES:
            raise NameUnknown("size", self.size, list(SIZES))
        return SIZES[self.size]

    @property
    def input(self) -> ParserInput:
        return ParserInput(self.tags, self.tag_column, self.tagger, self.bad_trees, self.features)

    def shape(self, kind: type[Shape], settings: Mapping[str, Any]) -> Shape:
        """The shape of a parser with settings of its own."""
        default = self.defaults
        tag_size = self.tag_size or default["tag_size"]
        return kind(
            units=layer_sizes(self.units or default["units"]), word_size=self.word_size or default["word_size"],
            case_size=0, characters=self.characters, filters=self.filters or default["filters"],
            omits=self.omitted > 0, tag_size=tag_size if self.input.column else 0,
            morphology_size=2 * tag_size if self.input.feature_column else 0,
            classifier="softmax", optimizer=self.optimizer, dropped=self.dropped, batch=self.batch or default["batch"],
            fixed_words=self.frozen, **{name: value or default.get(name, value) for name, value in settings.items()},
        )  # fmt: skip

    def config(self, shape: Shape) -> ParserConfig:
        """The configuration of the networks."""
        drop = self.defaults["drop"] if self.drop < 0 else self.drop
        hyper = networks.hyper_params(
            self.optimizer, self.rate or self.defaults["rate"], drop=drop, norm=self.norm, replaced=self.replaced,
            omitted=self.omitted,
        )  # fmt: skip
        if not 0 < self.decay <= 1:
            raise InputError(f"decay={self.decay:g}; expected a share above 0, at most 1")
        schedule = networks.TrainSchedule(self.epochs, self.patience, self.decay)
        return ParserConfig(
            tags=self.input.column, morphology=self.input.feature_column, vectors=self.vectors, shape=shape,
            hyper=hyper, schedule=schedule,
        )  # fmt: skip


@SYSTEMS.add("biaffine.v1", shared=ParserSettings)
def biaffine(settings: ParserSettings, *, trees: str = "any", arc_size: int = 0, relation_size: int = 0) -> System:
    """A graph-based parser with deep biaffine attention (Dozat & Manning 2017).

    Parameters
    ----------
    settings
        Those of all parsers, by name.
    trees
        `any`: the best tree with one root (exact); `projective`: the best projective one.
    arc_size, relation_size
        Sizes of the vectors that arcs and relations are scored by.
    """
    parser_settings = {"arc_size": arc_size, "relation_size": relation_size, "trees": trees}
    return _parser("biaffine.v1", settings, networks.AttentionShape, parser_settings)


@SYSTEMS.add("pointer.v1", shared=ParserSettings)
def pointer(
    settings: ParserSettings, *, beam: int = 5, decoder: int = 0, arc_size: int = 0, relation_size: int = 0
) -> System:
    """A left-to-right pointer parser (Fernández-González & Gómez-Rodríguez 2019): each word points at its head.

    Parameters
    ----------
    settings, arc_size, relation_size
        As those of `biaffine.v1`.
    beam
        How many partial trees are followed, 1 to 10; no arc closes a cycle, and one word is the child of the root.
    decoder
        Units of the LSTM that reads the words once more and points; 0 is as many as the last layer has.
    """
    last = layer_sizes(settings.units or settings.defaults["units"])[-1]
    parser_settings = {"arc_size": arc_size, "relation_size": relation_size, "trees": "beam", "beam": beam}
    return _parser("pointer.v1", settings, networks.AttentionShape, parser_settings | {"decoder": decoder or last})


@SYSTEMS.add("bracketing.v1", shared=ParserSettings)
def bracketing(settings: ParserSettings) -> System:
    """Parsing as labelling words (Strzyz et al. 2020): brackets of two planes and a relation for each."""
    return _parser("bracketing.v1", settings, networks.BracketShape, {})


@SYSTEMS.add("archybrid.v1", shared=ParserSettings)
def archybrid(settings: ParserSettings, *, hidden: int = 0) -> System:
    """A transition-based parser (Kiperwasser & Goldberg 2016; de Lhoneux et al. 2017): arc-hybrid with swap.

    It learns from a static-dynamic oracle, also in states that follow its own mistakes.

    Parameters
    ----------
    settings
        Those of all parsers, by name.
    hidden
        Units of the layer between the words that a state looks at and the scores of transitions.
    """
    settings = replace(settings, units=settings.units or settings.defaults["read"])
    return _parser("archybrid.v1", settings, networks.TransitionShape, {"hidden": hidden})


def _parser(name: str, settings: ParserSettings, kind: type[Shape], parser_settings: Mapping[str, Any]) -> System:
    """A parser as a system."""
    check_at_least(name, 1, epochs=settings.epochs, patience=settings.patience)
    check_at_least(name, 0, batch=settings.batch)
    try:
        parser_input = settings.input
        config = settings.config(settings.shape(kind, parser_settings))
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    return network_parser(name, config, parser_input)


def network_parser(name: str, config: ParserConfig, parser_input: ParserInput) -> System:
    """A network that parses as a system."""

    def train(train: Corpus, tune: Corpus | None, seed: int) -> Model:
        train_one = networks.import_training(name).train_one
        return parser_input.train(name, train, tune, lambda *corpora: train_one(config, *corpora, seed))

    def train_jobs(
        corpus: Corpus, jobs: Sequence[TrainJob], on_step: OnStep | None = None
    ) -> Iterator[tuple[int, TrainResult]]:
        learn = partial(networks.import_training(name).train_jobs, on_step=on_step)
        yield from parser_input.train_jobs(name, corpus, jobs, learn)

    trainer = BatchTrainer((name, config.group, parser_input), config, train_jobs)
    return System(name, train, tuned=True, trees=True, batch_trainer=trainer)
