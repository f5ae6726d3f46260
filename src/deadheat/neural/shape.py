"""What a network looks like and how it trains: settings that change the program, and numbers that do not.

Nothing here needs jax: what trains together is known before anything is loaded that could train it.
"""

from __future__ import annotations

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

    network: ClassVar[str] = "deadheat.neural.network"  # the module that knows what to do with it
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
