"""Parsers by networks, as reference systems of four paradigms; they need deadheat[neural].

All read words, characters and tags (gold ones, those of a tagger that learned from the same training part, or none),
all pick the epoch by LAS on tune, and all give trees with one root.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadheat.corpus.corpus import Corpus
from deadheat.errors import InputError, NameUnknown
from deadheat.neural.orders import Done, Order, Together, needed
from deadheat.neural.parser_recipe import ParserRecipe
from deadheat.neural.parser_shape import AttentionShape, BracketShape
from deadheat.neural.recipe import at_least_one, rate_of, share, sizes_of, threshold
from deadheat.neural.shape import OPTIMIZERS, Course, Numbers, Shape
from deadheat.neural.transition_shape import TransitionShape
from deadheat.systems.parser_input import TAGS, ParserInput
from deadheat.systems.system import SYSTEMS, Model, System

# What `size` stands for: settings that are not given take these.
SIZES: Mapping[str, Mapping[str, Any]] = {
    "full": {
        "units": "200,200,200",
        "word_size": 100,
        "tag_size": 50,
        "arc_size": 300,
        "relation_size": 100,
        "hidden": 100,
    },
    "small": {"units": "64,64", "word_size": 50, "tag_size": 16, "arc_size": 64, "relation_size": 32, "hidden": 64},
}


@dataclass(frozen=True, slots=True)
class Common:
    """Settings that all parsers have."""

    size: str
    units: str
    word_size: int
    vectors: str
    frozen: bool
    characters: str
    tag_size: int
    drop: float
    optimizer: str
    rate: float
    norm: float
    batch: int
    replaced: float
    epochs: int
    patience: int

    def shape(self, kind: type[Shape], *, tagged: bool, **more: Any) -> Shape:
        """The shape of a parser; what is not given is as its size has it."""
        own = self.sized
        return kind(
            units=sizes_of(self.units or own["units"]), word_size=self.word_size or own["word_size"], case_size=0,
            characters=self.characters, tag_size=(self.tag_size or own["tag_size"]) if tagged else 0,
            classifier="softmax", optimizer=self.optimizer, batch=self.batch, fixed_words=self.frozen, **more,
        )  # fmt: skip

    @property
    def sized(self) -> Mapping[str, Any]:
        """What the size stands for."""
        if self.size not in SIZES:
            raise NameUnknown("size", self.size, list(SIZES))
        return SIZES[self.size]

    def recipe(self, shape: Shape, tags: str) -> ParserRecipe:
        """All that networks need to know."""
        at_least_one(batch=self.batch, epochs=self.epochs, patience=self.patience)
        if self.optimizer not in OPTIMIZERS:
            raise NameUnknown("optimizer", self.optimizer, OPTIMIZERS)
        numbers = Numbers(
            rate_of(self.optimizer, self.rate), share("drop", self.drop), threshold("clip", 0.0),
            threshold("norm", self.norm), share("replaced", self.replaced),
        )  # fmt: skip
        return ParserRecipe(tags, self.vectors, shape, numbers, Course(self.epochs, self.patience))


@SYSTEMS.add("biaffine.v1")
def biaffine(  # noqa: PLR0913
    *,
    tags: str = "gold",
    tag_column: str = "upos",
    tagger: str = "perceptron.v1",
    bad_trees: str = "refuse",
    trees: str = "any",
    size: str = "full",
    units: str = "",
    word_size: int = 0,
    vectors: str = "",
    frozen: bool = False,
    characters: str = "cnn",
    tag_size: int = 0,
    arc_size: int = 0,
    relation_size: int = 0,
    drop: float = 0.33,
    optimizer: str = "adam",
    rate: float = 0.002,
    norm: float = 5.0,
    batch: int = 32,
    replaced: float = 0.25,
    epochs: int = 50,
    patience: int = 8,
) -> System:
    """A graph-based parser with deep biaffine attention (Dozat & Manning 2017).

    Parameters
    ----------
    tags
        `gold`: those that stand in the corpus; `predicted`: those of `tagger`, which learns from the same training
        part (the tags of that part itself come from taggers that did not see the sentence); `none`.
    tag_column, tagger
        Where tags stand, and the system that predicts them.
    bad_trees
        What to do with training sentences that are no trees with one root: `refuse` or `skip`.
    trees
        `any`: the best tree with one root (exact); `projective`: the best projective one.
    size
        `full` or `small`: what settings that are 0 or empty stand for.
    units, word_size, tag_size, arc_size, relation_size
        Units of each direction, layer by layer; sizes of the vectors of words and tags; of those that arcs and
        relations are scored by.
    vectors, frozen
        A file of word vectors, and whether training leaves them as they are.
    characters
        `none`, `cnn` or `lstm`.
    drop
        The share of units that are dropped: outputs and recurrent units of layers, the same in the whole sentence.
    optimizer, rate, norm, batch, replaced, epochs, patience
        As those of `bilstm.v1`; epochs are picked by LAS on tune.
    """
    common = Common(
        size, units, word_size, vectors, frozen, characters, tag_size, drop, optimizer, rate, norm, batch, replaced,
        epochs, patience,
    )  # fmt: skip
    given = {"arc_size": arc_size, "relation_size": relation_size, "trees": trees}
    return _parser("biaffine.v1", common, AttentionShape, ParserInput(tags, tag_column, tagger, bad_trees), given)


@SYSTEMS.add("pointer.v1")
def pointer(  # noqa: PLR0913
    *,
    tags: str = "gold",
    tag_column: str = "upos",
    tagger: str = "perceptron.v1",
    bad_trees: str = "refuse",
    beam: int = 5,
    size: str = "full",
    units: str = "",
    decoder: int = 0,
    word_size: int = 0,
    vectors: str = "",
    frozen: bool = False,
    characters: str = "cnn",
    tag_size: int = 0,
    arc_size: int = 0,
    relation_size: int = 0,
    drop: float = 0.33,
    optimizer: str = "adam",
    rate: float = 0.002,
    norm: float = 5.0,
    batch: int = 32,
    replaced: float = 0.25,
    epochs: int = 50,
    patience: int = 8,
) -> System:
    """A left-to-right pointer parser (Fernández-González & Gómez-Rodríguez 2019): each word points at its head.

    Parameters
    ----------
    beam
        How many partial trees are followed, 1 to 10; no arc closes a cycle, and one word hangs on the root.
    decoder
        Units of the LSTM that reads the words once more and points; 0 is as many as the last layer has.
    tags, tag_column, tagger, bad_trees, size, units, word_size, vectors, frozen, characters, tag_size, arc_size
        As those of `biaffine.v1`.
    relation_size, drop, optimizer, rate, norm, batch, replaced, epochs, patience
        As those of `biaffine.v1`.
    """
    common = Common(
        size, units, word_size, vectors, frozen, characters, tag_size, drop, optimizer, rate, norm, batch, replaced,
        epochs, patience,
    )  # fmt: skip
    last = sizes_of(units or common.sized["units"])[-1]
    given = {"arc_size": arc_size, "relation_size": relation_size, "trees": "beam", "beam": beam}
    given["decoder"] = decoder or 2 * last
    return _parser("pointer.v1", common, AttentionShape, ParserInput(tags, tag_column, tagger, bad_trees), given)


@SYSTEMS.add("bracketing.v1")
def bracketing(  # noqa: PLR0913
    *,
    tags: str = "gold",
    tag_column: str = "upos",
    tagger: str = "perceptron.v1",
    bad_trees: str = "refuse",
    size: str = "full",
    units: str = "",
    word_size: int = 0,
    vectors: str = "",
    frozen: bool = False,
    characters: str = "cnn",
    tag_size: int = 0,
    drop: float = 0.33,
    optimizer: str = "adam",
    rate: float = 0.002,
    norm: float = 5.0,
    batch: int = 32,
    replaced: float = 0.25,
    epochs: int = 50,
    patience: int = 8,
) -> System:
    """Parsing as labelling words (Strzyz et al. 2020): brackets of two planes and a relation for each.

    Parameters
    ----------
    tags, tag_column, tagger, bad_trees, size, units, word_size, vectors, frozen, characters, tag_size
        As those of `biaffine.v1`.
    drop, optimizer, rate, norm, batch, replaced, epochs, patience
        As those of `biaffine.v1`.
    """
    common = Common(
        size, units, word_size, vectors, frozen, characters, tag_size, drop, optimizer, rate, norm, batch, replaced,
        epochs, patience,
    )  # fmt: skip
    return _parser("bracketing.v1", common, BracketShape, ParserInput(tags, tag_column, tagger, bad_trees), {})


@SYSTEMS.add("archybrid.v1")
def archybrid(  # noqa: PLR0913
    *,
    tags: str = "gold",
    tag_column: str = "upos",
    tagger: str = "perceptron.v1",
    bad_trees: str = "refuse",
    size: str = "full",
    units: str = "",
    hidden: int = 0,
    word_size: int = 0,
    vectors: str = "",
    frozen: bool = False,
    characters: str = "cnn",
    tag_size: int = 0,
    drop: float = 0.33,
    optimizer: str = "adam",
    rate: float = 0.002,
    norm: float = 5.0,
    batch: int = 32,
    replaced: float = 0.25,
    epochs: int = 50,
    patience: int = 8,
) -> System:
    """A transition-based parser (Kiperwasser & Goldberg 2016; de Lhoneux et al. 2017): arc-hybrid with swap.

    It learns from a static-dynamic oracle, also from states that its own mistakes lead to.

    Parameters
    ----------
    hidden
        Units of the layer between the words that a state looks at and the scores of transitions.
    tags, tag_column, tagger, bad_trees, size, units, word_size, vectors, frozen, characters, tag_size
        As those of `biaffine.v1`.
    drop, optimizer, rate, norm, batch, replaced, epochs, patience
        As those of `biaffine.v1`.
    """
    common = Common(
        size, units, word_size, vectors, frozen, characters, tag_size, drop, optimizer, rate, norm, batch, replaced,
        epochs, patience,
    )  # fmt: skip
    reading = ParserInput(tags, tag_column, tagger, bad_trees)
    return _parser("archybrid.v1", common, TransitionShape, reading, {"hidden": hidden})


def _parser(name: str, common: Common, kind: type[Shape], reading: ParserInput, given: Mapping[str, Any]) -> System:
    """A parser as a system."""
    try:
        if reading.tags not in TAGS:
            raise NameUnknown("tags", reading.tags, TAGS)
        reading.check()
        more = {key: value or common.sized.get(key, value) for key, value in given.items()}
        shape = common.shape(kind, tagged=reading.tags != "none", **more)
        recipe = common.recipe(shape, reading.column)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error

    def train(train: Corpus, tune: Corpus | None, seed: int) -> Model:
        parsing = needed("deadheat.neural.parsing", name)
        return reading.train(name, train, tune, lambda *both: parsing.train_one(recipe, *both, seed))

    def train_many(corpus: Corpus, orders: Sequence[Order]) -> Iterator[tuple[int, Done]]:
        yield from reading.train_many(name, corpus, orders, needed("deadheat.neural.parsing", name).train_orders)

    together = Together((name, recipe.group, reading), recipe, train_many)
    return System(name, train, tuned=True, trees=True, together=together)
