"""Neural parsers

What parsers read and learn from: tags, gold or predicted, and training sentences that are trees.

Parsers by networks, as reference systems of four paradigms; they need deadheat[neural].

All read words, characters and tags (gold ones, those of a tagger that learned from the same training part, or none),
all pick the epoch by LAS on tune, and all give trees with one root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deadheat.corpus import Column, Corpus, take
from deadheat.corpus.corpus import Corpus
from deadheat.corpus.transforms import with_labels, with_trees
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError, NameUnknown
from deadheat.neural.config import (
    AttentionShape,
    BracketShape,
    Course,
    Numbers,
    ParserRecipe,
    Shape,
    TransitionShape,
    rate_of,
    share,
    sizes_of,
    threshold,
)
from deadheat.neural.jobs import Done, Order, Together, Trainer, needed
from deadheat.systems.system import SYSTEMS, Model, System, check_at_least
from deadheat.trees import problems, require_trees

TAGS = ("gold", "predicted", "none")
BAD_TREES = ("refuse", "skip")
FOLDS = 5  # of the training part, each tagged by a tagger that learned from the others


@dataclass(frozen=True, slots=True)
class ParserInput:
    """Where tags come from, and what becomes of training sentences that are no trees."""

    tags: str
    tag_column: str
    tagger: str
    bad_trees: str

    @property
    def column(self) -> str:
        """The column that tags are read from; none if there are none."""
        return "" if self.tags == "none" else self.tag_column

    def check(self) -> None:
        """Refuse what cannot be."""
        if self.tags not in TAGS:
            raise NameUnknown("tags", self.tags, TAGS)
        if self.bad_trees not in BAD_TREES:
            raise NameUnknown("bad_trees", self.bad_trees, BAD_TREES)
        if self.tags == "predicted":
            self._tagger()

    def train(
        self, name: str, train: Corpus, tune: Corpus | None, learn: Callable[[Corpus, Corpus | None], Model]
    ) -> Model:
        """A parser that reads tags as it learned to."""
        if not train.words:
            raise InputError(f"{train.name}: no words; {name} expected some to learn from")
        train = take(train, self.sound(name, train, np.arange(train.sentences)))
        if self.tags != "predicted":
            return learn(train, tune)
        tagger = self._tagger().train(train, None, 0)
        tagged = None if tune is None else tagger.predict(tune)
        return TaggedFirst(tagger, learn(self._jackknifed(train), tagged))

    def train_many(
        self, name: str, corpus: Corpus, orders: Sequence[Order], learn: Trainer
    ) -> Iterator[tuple[int, Done]]:
        """Many parsers of one corpus; where tags are predicted, those of one training part at a time."""
        orders = [replace(order, train=self.sound(name, corpus, np.sort(order.train))) for order in orders]
        if self.tags != "predicted":
            yield from learn(corpus, orders)
            return
        groups: dict[bytes, list[int]] = {}
        for number, order in enumerate(orders):
            groups.setdefault(order.train.tobytes(), []).append(number)
        for numbers in groups.values():
            own = [orders[number] for number in numbers]
            for at, done in learn(self.tagged(corpus, own[0].train), own):
                parts = {
                    part: with_trees(take(corpus, np.sort(own[at].parts[part])), parsed.trees, parsed.column("deprel"))
                    for part, parsed in done.predictions.items()
                }
                yield numbers[at], replace(done, predictions=parts)

    def sound(self, name: str, corpus: Corpus, sentences: Indices) -> Indices:
        """The sentences that are trees with one root; others are refused by file and line, or left out."""
        sentences = sentences[np.diff(corpus.offsets)[sentences] > 0]
        own = take(corpus, sentences)
        if self.bad_trees == "refuse" or own.heads is None:
            require_trees(own)
            return sentences
        bad = sorted({problem.sentence for problem in problems(own.heads, own.offsets)})
        found = np.delete(sentences, bad)
        if not len(found):
            raise InputError(f"{corpus.name}: no sentence in train is a tree; {name} expected some to learn from")
        return found

    def _tagger(self) -> System:
        return SYSTEMS.make(self.tagger, column=self.tag_column)

    def _jackknifed(self, train: Corpus) -> Corpus:
        """The training part with tags of taggers that did not learn from the sentence."""
        fold = np.arange(train.sentences) % FOLDS
        tags = np.empty(train.words, object)
        word = np.repeat(fold, np.diff(train.offsets))
        for own in range(min(FOLDS, train.sentences)):
            others = take(train, np.flatnonzero(fold != own)) if train.sentences > 1 else train
            tagged = self._tagger().train(others, None, 0).predict(take(train, np.flatnonzero(fold == own)))
            tags[word == own] = tagged.column(self.tag_column).strings()
        return with_labels(train, self.tag_column, Column.of(tags.tolist()))

    def tagged(self, corpus: Corpus, train: Indices) -> Corpus:
        """The corpus with predicted tags: those of train jackknifed, all others by a tagger that learned from it."""
        own = take(corpus, train)
        tags = np.array(self._tagger().train(own, None, 0).predict(corpus).column(self.tag_column).strings(), object)
        inside = np.zeros(corpus.sentences, bool)
        inside[train] = True
        tags[np.repeat(inside, np.diff(corpus.offsets))] = self._jackknifed(own).column(self.tag_column).strings()
        return with_labels(corpus, self.tag_column, Column.of(tags.tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class TaggedFirst:
    """A parser that reads the tags of a tagger; its predictions keep the tags of the corpus."""

    tagger: Model
    parser: Model

    def predict(self, corpus: Corpus) -> Corpus:
        parsed = self.parser.predict(self.tagger.predict(corpus))
        return with_trees(corpus, parsed.trees, parsed.column("deprel"))


# What `size` stands for: settings that are not given take these.
SIZES: Mapping[str, Mapping[str, Any]] = {
    "full": {
        "units": "400,400",
        "word_size": 100,
        "tag_size": 50,
        "filters": 100,
        "arc_size": 500,
        "relation_size": 100,
        "read": "125,125",
        "hidden": 100,
        "batch": 32,
        "drop": 0.33,
        "rate": 0.002,
    },
    "small": {
        "units": "64,64",
        "word_size": 50,
        "tag_size": 16,
        "filters": 30,
        "arc_size": 64,
        "relation_size": 32,
        "read": "64,64",
        "hidden": 64,
        "batch": 16,
        "drop": 0.2,
        "rate": 0.005,
    },
}


@dataclass(frozen=True, slots=True)
class ParserSettings:
    """Settings that all parsers have.

    Parameters
    ----------
    tags
        `gold`: those that stand in the corpus; `predicted`: those of `tagger`, which learns from the same training
        part (the tags of that part itself come from taggers that did not see the sentence); `none`.
    tag_column, tagger
        Where tags stand, and the system that predicts them.
    bad_trees
        What to do with training sentences that are no trees with one root: `refuse` or `skip`.
    size
        `full` or `small`: what settings that are 0 or empty stand for, and a drop below 0.
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
        How often the vector of a word, of its characters or of its tag is left out; the others make up for it.
    decay
        The share of the rate that is left after 1,000 updates.
    optimizer, rate, norm, batch, replaced, epochs, patience
        As those of `bilstm.v1`; epochs are picked by LAS on tune.
    """

    tags: str = "gold"
    tag_column: str = "upos"
    tagger: str = "perceptron.v1"
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
    def sized(self) -> Mapping[str, Any]:
        """What the size stands for."""
        if self.size not in SIZES:
            raise NameUnknown("size", self.size, list(SIZES))
        return SIZES[self.size]

    @property
    def reading(self) -> ParserInput:
        """What a parser reads besides words, and learns from."""
        return ParserInput(self.tags, self.tag_column, self.tagger, self.bad_trees)

    def shape(self, kind: type[Shape], given: Mapping[str, Any]) -> Shape:
        """The shape of a parser with settings of its own; what is not given is as its size has it."""
        own = self.sized
        more = {key: value or own.get(key, value) for key, value in given.items()}
        return kind(
            units=sizes_of(self.units or own["units"]), word_size=self.word_size or own["word_size"], case_size=0,
            characters=self.characters, filters=self.filters or own["filters"], omits=self.omitted > 0,
            tag_size=(self.tag_size or own["tag_size"]) if self.reading.column else 0,
            classifier="softmax", optimizer=self.optimizer, dropped=self.dropped, batch=self.batch or own["batch"],
            fixed_words=self.frozen, **more,
        )  # fmt: skip

    def recipe(self, shape: Shape) -> ParserRecipe:
        """All that networks need to know."""
        numbers = Numbers(
            rate_of(self.optimizer, self.rate or self.sized["rate"]),
            share("drop", self.sized["drop"] if self.drop < 0 else self.drop), threshold("clip", 0.0),
            threshold("norm", self.norm), share("replaced", self.replaced), share("omitted", self.omitted),
        )  # fmt: skip
        if not 0 < self.decay <= 1:
            raise InputError(f"decay={self.decay:g}; expected a share above 0, at most 1")
        course = Course(self.epochs, self.patience, self.decay)
        return ParserRecipe(self.reading.column, self.vectors, shape, numbers, course)


@SYSTEMS.add("biaffine.v1", shared=ParserSettings)
def biaffine(settings: ParserSettings, *, trees: str = "any", arc_size: int = 0, relation_size: int = 0) -> System:
    """A graph-based parser with deep biaffine attention (Dozat & Manning 2017).

    Parameters
    ----------
    settings
        Those of all parsers, each given by its name.
    trees
        `any`: the best tree with one root (exact); `projective`: the best projective one.
    arc_size, relation_size
        Sizes of the vectors that arcs and relations are scored by.
    """
    given = {"arc_size": arc_size, "relation_size": relation_size, "trees": trees}
    return _parser("biaffine.v1", settings, AttentionShape, given)


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
        How many partial trees are followed, 1 to 10; no arc closes a cycle, and one word hangs on the root.
    decoder
        Units of the LSTM that reads the words once more and points; 0 is as many as the last layer has.
    """
    last = sizes_of(settings.units or settings.sized["units"])[-1]
    given = {"arc_size": arc_size, "relation_size": relation_size, "trees": "beam", "beam": beam}
    return _parser("pointer.v1", settings, AttentionShape, given | {"decoder": decoder or last})


@SYSTEMS.add("bracketing.v1", shared=ParserSettings)
def bracketing(settings: ParserSettings) -> System:
    """Parsing as labelling words (Strzyz et al. 2020): brackets of two planes and a relation for each."""
    return _parser("bracketing.v1", settings, BracketShape, {})


@SYSTEMS.add("archybrid.v1", shared=ParserSettings)
def archybrid(settings: ParserSettings, *, hidden: int = 0) -> System:
    """A transition-based parser (Kiperwasser & Goldberg 2016; de Lhoneux et al. 2017): arc-hybrid with swap.

    It learns from a static-dynamic oracle, also from states that its own mistakes lead to.

    Parameters
    ----------
    settings
        Those of all parsers, each given by its name.
    hidden
        Units of the layer between the words that a state looks at and the scores of transitions.
    """
    sized = replace(settings, units=settings.units or settings.sized["read"])
    return _parser("archybrid.v1", sized, TransitionShape, {"hidden": hidden})


def _parser(name: str, settings: ParserSettings, kind: type[Shape], given: Mapping[str, Any]) -> System:
    """A parser as a system."""
    check_at_least(name, 1, epochs=settings.epochs, patience=settings.patience)
    check_at_least(name, 0, batch=settings.batch)
    reading = settings.reading
    try:
        reading.check()
        recipe = settings.recipe(settings.shape(kind, given))
    except InputError as error:
        raise InputError(f"{name}: {error}") from error

    def train(train: Corpus, tune: Corpus | None, seed: int) -> Model:
        parsing = needed("deadheat.neural.parsing", name)
        return reading.train(name, train, tune, lambda *both: parsing.train_one(recipe, *both, seed))

    def train_many(corpus: Corpus, orders: Sequence[Order]) -> Iterator[tuple[int, Done]]:
        yield from reading.train_many(name, corpus, orders, needed("deadheat.neural.parsing", name).train_orders)

    together = Together((name, recipe.group, reading), recipe, train_many)
    return System(name, train, tuned=True, trees=True, together=together)
