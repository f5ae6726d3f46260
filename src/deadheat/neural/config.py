"""The configuration of networks: what they look like and how they train. Nothing here imports jax.

What a network looks like and how it trains: settings that change the program, and numbers that do not.

Nothing here needs jax: what trains together is known before anything is loaded that could train it.

What a parser looks like; nothing here needs jax.

What a transition-based parser looks like; nothing here needs jax.

The settings of a tagger, in the form in which networks take them.

The settings of a parser, in the form in which networks take them; nothing here needs jax.
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
# The last is Adam with a short memory of squares (beta 2 of 0.9), as Dozat & Manning (2017) have it for parsers.
OPTIMIZERS = ("sgd", "adagrad", "adadelta", "rmsprop", "adam", "nadam", "adam-short")
DROPOUTS = ("none", "naive", "variational")
PLACES = ("outputs", "recurrent", "both")
# Learning rates of the methods' authors, or as Keras had them in 2017 where these leave it open.
RATES = {
    "sgd": 0.1, "adagrad": 0.01, "adadelta": 1.0, "rmsprop": 0.001, "adam": 0.001, "nadam": 0.002, "adam-short": 0.002,
}  # fmt: skip
CASES = 8  # kinds of casing; see neural/text.py


@dataclass(frozen=True, slots=True)
class Shape:
    """All that a compiled program depends on besides the text. Networks of one shape train in one stack."""

    units: tuple[int, ...] = (100, 100)  # of each direction, layer by layer
    word_size: int = 100
    case_size: int = 10  # 0: no casing feature
    characters: str = "cnn"
    character_size: int = 30
    filters: int = 30  # of the CNN, or units of each direction of the LSTM
    width: int = 3  # characters a filter sees
    classifier: str = "crf"
    optimizer: str = "nadam"
    dropout: str = "variational"
    dropped: str = "both"
    batch: int = 32
    fixed_words: bool = False  # word vectors that training leaves as they came
    tag_size: int = 0  # of a vector for a tag that comes with the text; 0: none
    omits: bool = False  # whether whole vectors of words, characters and tags are left out in training

    network: ClassVar[str] = "deadheat.neural.tagger"  # the module that knows what to do with it
    tuned: ClassVar[bool] = True  # whether the compiler may try out ways to compute it (docs/design/networks.md)

    def __post_init__(self) -> None:
        for what, value, known in (
            ("characters", self.characters, CHARACTERS),
            ("classifier", self.classifier, CLASSIFIERS),
            ("optimizer", self.optimizer, OPTIMIZERS),
            ("dropout", self.dropout, DROPOUTS),
            ("dropped", self.dropped, PLACES),
        ):
            if value not in known:
                raise NameUnknown(what, value, known)
        if not 1 <= len(self.units) <= 3 or min(self.units) < 1:
            raise InputError(f"units {self.units}; expected one to three layers of at least one unit")
        if self.batch < 1:
            raise InputError(f"batch {self.batch}; expected at least one sentence")

    @property
    def character_outputs(self) -> int:
        """How many numbers the characters of a word become."""
        return {"none": 0, "cnn": self.filters, "lstm": 2 * self.filters}[self.characters]

    @property
    def inputs(self) -> int:
        """How many numbers a word enters the first layer with."""
        return self.word_size + self.case_size + self.character_outputs + self.tag_size


class Numbers(NamedTuple):
    """Settings that are numbers: an axis of a stack. Thresholds that are off are infinite."""

    rate: Array | float  # of learning
    drop: Array | float = 0.25
    clip: Array | float = float("inf")  # of a component of the gradient
    norm: Array | float = 1.0  # of the whole gradient
    replaced: Array | float = 0.5  # how often a word seen once is taken for unknown
    omitted: Array | float = 0.0  # how often one of a word's vectors is left out, if the shape omits


@dataclass(frozen=True, slots=True)
class Course:
    """How long to train: at most so many epochs, and no more than `patience` without a better score on tune.

    After 1,000 updates `decay` of the learning rate is left; it is lowered from epoch to epoch.
    """

    epochs: int = 50
    patience: int = 5
    decay: float = 1.0


TREES = ("any", "projective", "beam")


@dataclass(frozen=True, slots=True)
class AttentionShape(Shape):
    """A parser that scores every word as the head of every other: by states of the encoder, or of a decoder."""

    arc_size: int = 300
    relation_size: int = 100
    decoder: int = 0  # units of the LSTM whose states point at heads; 0: the encoder's states do
    trees: str = "any"  # how trees are found
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
    """A parser that labels words: brackets of two planes, and relations."""

    hidden: int = 0  # units between states and labels; 0: none
    relations: int = 1  # how many there are, and how many labels each plane has: the text says
    planes: tuple[int, int] = (1, 1)

    network: ClassVar[str] = "deadheat.neural.brackets"
    tuned: ClassVar[bool] = False

    def __post_init__(self) -> None:
        Shape.__post_init__(self)
        if min(self.relations, *self.planes) < 1:
            raise InputError(f"relations={self.relations}, planes={self.planes}; expected at least one label of each")

    @property
    def kinds(self) -> tuple[slice, slice, slice]:
        """Where the labels of plane 1, of plane 2, and relations stand among all labels: relations come first."""
        first, second = self.relations, self.relations + self.planes[0]
        return slice(first, second), slice(second, second + self.planes[1]), slice(first)


@dataclass(frozen=True, slots=True)
class TransitionShape(Shape):
    """A parser that takes transitions, which two small networks score by the encoder's states of twelve words."""

    hidden: int = 100  # units of each of the two

    network: ClassVar[str] = "deadheat.neural.transitions"
    tuned: ClassVar[bool] = False

    def __post_init__(self) -> None:
        Shape.__post_init__(self)
        if self.hidden < 1:
            raise InputError(f"hidden={self.hidden}; expected at least one unit")


AS_IS = "as-is"
SCHEMES = (AS_IS, "bio", "iob1", "iobes")


@dataclass(frozen=True, slots=True)
class TaggerRecipe:
    """All that a tagger is made by, but for its seed and its sentences."""

    column: str
    scheme: str
    vectors: str  # a file; none if empty
    shape: Shape
    numbers: Numbers
    course: Course

    @property
    def group(self) -> Hashable:
        """What has to be the same for networks to train together; numbers may differ."""
        return self.column, self.scheme, self.vectors, self.shape


def sizes_of(units: str) -> tuple[int, ...]:
    """Units of each layer as a setting writes them.

    Examples
    --------
    >>> sizes_of("100"), sizes_of("100, 75")
    ((100,), (100, 75))
    """
    try:
        return tuple(int(each) for each in units.split(","))
    except ValueError:
        raise InputError(f"units={units!r}; expected the units of one to three layers such as '100,75'") from None


def threshold(name: str, value: float) -> float:
    """A threshold of gradients; 0 is none."""
    if not value >= 0:
        raise InputError(f"{name}={value:g}; expected a number above 0, or 0 for none")
    return value or math.inf


def rate_of(optimizer: str, rate: float) -> float:
    """The learning rate; 0 is the optimizer's usual one."""
    if not 0 <= rate < math.inf:
        raise InputError(f"rate={rate:g}; expected a number above 0, or 0 for the optimizer's usual")
    return rate or RATES[optimizer]


def share(name: str, value: float) -> float:
    """A share that may not be the whole."""
    if not 0 <= value < 1:
        raise InputError(f"{name}={value:g}; expected a share from 0 to less than 1")
    return value


def scheme_named(name: str) -> str:
    """A scheme, if there is one of that name."""
    if name not in SCHEMES:
        raise NameUnknown("scheme", name, SCHEMES)
    return name


@dataclass(frozen=True, slots=True)
class ParserRecipe:
    """All that a parser is made by, but for its seed and its sentences."""

    tags: str  # the column that tags are read from; none if empty
    vectors: str  # a file; none if empty
    shape: Shape
    numbers: Numbers
    course: Course

    @property
    def group(self) -> Hashable:
        """What has to be the same for parsers to train together; numbers may differ."""
        return self.tags, self.vectors, self.shape
