"""The configuration of networks: what changes a compiled program (shapes), numbers that do not, and how long to train.

Nothing here imports jax: which networks can train together is known before anything is loaded that could train them.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from deadheat.errors import InputError, NameUnknown

if TYPE_CHECKING:
    from jax import Array

CHARACTERS = ("none", "cnn", "lstm")
CLASSIFIERS = ("softmax", "crf")
# The last is Adam with beta 2 of 0.9, as Dozat & Manning (2017) have it for parsers.
OPTIMIZERS = ("sgd", "adagrad", "adadelta", "rmsprop", "adam", "nadam", "adam-short")
DROPOUTS = ("none", "naive", "variational")
DROPOUT_POSITIONS = ("outputs", "recurrent", "both")
# Learning rates of the methods' authors, or as Keras had them in 2017 where these leave it open.
RATES = {
    "sgd": 0.1, "adagrad": 0.01, "adadelta": 1.0, "rmsprop": 0.001, "adam": 0.001, "nadam": 0.002, "adam-short": 0.002,
}  # fmt: skip
CASES = 8  # kinds of casing, see `deadheat.neural.text.casing`
TREES = ("any", "projective", "beam")
AS_IS = "as-is"
SCHEMES = (AS_IS, "bio", "iob1", "iobes")


@dataclass(frozen=True, slots=True)
class Shape:
    """All that a compiled program depends on besides the text. Networks of one shape train in one stack."""

    units: tuple[int, ...] = (100, 100)  # of each direction, layer by layer
    word_size: int = 100
    case_size: int = 10  # 0: no casing feature
    characters: str = "cnn"
    character_size: int = 30
    filters: int = 30  # of the CNN, or units of each direction of the LSTM
    width: int = 3  # of a filter, in characters
    classifier: str = "crf"
    optimizer: str = "nadam"
    dropout: str = "variational"
    dropped: str = "both"
    batch: int = 32
    fixed_words: bool = False  # whether word vectors stay as they are
    tag_size: int = 0  # of tag vectors; 0: no tags
    omits: bool = False  # whether whole vectors of words, characters and tags are dropped in training

    network: ClassVar[str] = "deadheat.neural.tagger"  # the module that implements it
    tuned: ClassVar[bool] = True  # whether the compiler may autotune it (docs/design/networks.md)

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("characters", self.characters, CHARACTERS),
            ("classifier", self.classifier, CLASSIFIERS),
            ("optimizer", self.optimizer, OPTIMIZERS),
            ("dropout", self.dropout, DROPOUTS),
            ("dropped", self.dropped, DROPOUT_POSITIONS),
        ):
            if value not in allowed:
                raise NameUnknown(name, value, allowed)
        if not 1 <= len(self.units) <= 3 or min(self.units) < 1:
            raise InputError(f"units {self.units}; expected one to three layers of at least one unit")
        if self.batch < 1:
            raise InputError(f"batch {self.batch}; expected at least one sentence")

    @property
    def inputs(self) -> int:
        """The size of a word's vector at the first layer."""
        characters = {"none": 0, "cnn": self.filters, "lstm": 2 * self.filters}[self.characters]
        return self.word_size + self.case_size + characters + self.tag_size


@dataclass(frozen=True, slots=True)
class AttentionShape(Shape):
    """A parser that scores every word as the head of every other, by states of the encoder or of a decoder."""

    arc_size: int = 300
    relation_size: int = 100
    decoder: int = 0  # units of the LSTM whose states point at heads; 0: the encoder's states do
    trees: str = "any"  # which decoder finds trees
    beam: int = 5

    network: ClassVar[str] = "deadheat.neural.attention"
    tuned: ClassVar[bool] = False

    def __post_init__(self) -> None:
        Shape.__post_init__(self)
        if self.trees not in TREES:
            raise NameUnknown("trees", self.trees, TREES)
        if not 1 <= self.beam <= 10:
            raise InputError(f"beam={self.beam}; expected 1 to 10")


@dataclass(frozen=True, slots=True)
class BracketShape(Shape):
    """A parser that labels words with brackets of two planes, and relations."""

    hidden: int = 0  # units between states and labels; 0: none
    relations: int = 1  # the number of relations, and of labels of each plane; the text decides
    planes: tuple[int, int] = (1, 1)

    network: ClassVar[str] = "deadheat.neural.brackets"
    tuned: ClassVar[bool] = False

    def __post_init__(self) -> None:
        Shape.__post_init__(self)
        if min(self.relations, *self.planes) < 1:
            raise InputError(f"relations={self.relations}, planes={self.planes}; expected at least one label of each")

    @property
    def kinds(self) -> tuple[slice, slice, slice]:
        """Where the labels of plane 1, of plane 2, and relations are among all labels; relations come first."""
        first, second = self.relations, self.relations + self.planes[0]
        return slice(first, second), slice(second, second + self.planes[1]), slice(first)


@dataclass(frozen=True, slots=True)
class TransitionShape(Shape):
    """A parser whose transitions are scored by two small networks, from the encoder's states of twelve words."""

    hidden: int = 100  # units of each of the two

    network: ClassVar[str] = "deadheat.neural.transitions"
    tuned: ClassVar[bool] = False

    def __post_init__(self) -> None:
        Shape.__post_init__(self)
        if self.hidden < 1:
            raise InputError(f"hidden={self.hidden}; expected at least one unit")


class HyperParams(NamedTuple):
    """Hyperparameters that may differ within a stack. Thresholds that are off are infinite."""

    rate: Array | float  # learning rate
    drop: Array | float = 0.25
    clip: Array | float = float("inf")  # of a component of the gradient
    norm: Array | float = 1.0  # of the whole gradient
    replaced: Array | float = 0.5  # how often a word seen once is taken for unknown
    omitted: Array | float = 0.0  # how often one of a word's vectors is dropped, if the shape omits


@dataclass(frozen=True, slots=True)
class TrainSchedule:
    """How long to train: at most so many epochs, and at most `patience` epochs without a better score on tune.

    After 1,000 updates `decay` of the learning rate is left; it is lowered after each epoch.
    """

    epochs: int = 50
    patience: int = 5
    decay: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkConfig:
    """What taggers and parsers have in common, except seed and sentences."""

    vectors: str = ""  # a file of word vectors, if any
    shape: Shape
    hyper: HyperParams
    schedule: TrainSchedule

    @property
    def group(self) -> Hashable:
        """What must be equal for networks to train together."""
        return self.vectors, self.shape


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggerConfig(NetworkConfig):
    """The configuration of a tagger."""

    column: str
    scheme: str

    @property
    def group(self) -> Hashable:
        return self.column, self.scheme, self.vectors, self.shape


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserConfig(NetworkConfig):
    """The configuration of a parser."""

    tags: str  # the column that tags are read from, if any

    @property
    def group(self) -> Hashable:
        return self.tags, self.vectors, self.shape


def layer_sizes(units: str) -> tuple[int, ...]:
    """Units of each layer, from a setting such as `100,75`."""
    try:
        return tuple(int(size) for size in units.split(","))
    except ValueError:
        raise InputError(f"units={units!r}; expected the units of one to three layers such as '100,75'") from None


def threshold(name: str, value: float) -> float:
    """A threshold of gradients; 0 means none."""
    if not value >= 0:
        raise InputError(f"{name}={value:g}; expected a number above 0, or 0 for none")
    return value or math.inf


def learning_rate(optimizer: str, rate: float) -> float:
    """The learning rate; 0 means the optimizer's default."""
    if not 0 <= rate < math.inf:
        raise InputError(f"rate={rate:g}; expected a number above 0, or 0 for the optimizer's default")
    return rate or RATES[optimizer]


def share(name: str, value: float) -> float:
    """A share below 1."""
    if not 0 <= value < 1:
        raise InputError(f"{name}={value:g}; expected a share from 0 to less than 1")
    return value


def check_scheme(name: str) -> str:
    """The scheme of that name, if there is one."""
    if name not in SCHEMES:
        raise NameUnknown("scheme", name, SCHEMES)
    return name
