"""What networks are trained: their configuration, training jobs and results.

Nothing here imports jax: which networks can train together is known before anything is loaded that could train them.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError, NameUnknown

if TYPE_CHECKING:
    from jax import Array

    from deadheat.neural.features import FeatureSource

# What the extras of networks install; deadheat[neural] is for networks in jax.
EXTRAS = {"neural": ("jax", "optax"), "finetuning": ("torch", "transformers", "safetensors", "tokenizers")}
# Learning rates of the methods' authors, or as Keras had them in 2017 where these leave it open. The last is Adam with
# beta 2 of 0.9, as Dozat & Manning (2017) have it for parsers.
RATES = {
    "sgd": 0.1, "adagrad": 0.01, "adadelta": 1.0, "rmsprop": 0.001, "adam": 0.001, "nadam": 0.002, "adam-short": 0.002,
}  # fmt: skip
OPTIMIZERS = tuple(RATES)
LEAST_UNITS, MOST_UNITS = 16, 128  # what kernels pad units to; the weights of more do not fit into a multiprocessor
SMALL_WORDS = 50_000  # a training part with fewer words is small
CASES = 8  # kinds of casing, see `deadheat.neural.text.casing`
AS_IS = "as-is"
CHOICES = {
    "characters": ("none", "cnn", "lstm"),
    "classifier": ("softmax", "crf"),
    "optimizer": OPTIMIZERS,
    "dropout": ("none", "naive", "variational"),
    "dropped": ("outputs", "recurrent", "both"),
    "trees": ("any", "projective", "beam"),
    "scheme": (AS_IS, "bio", "iob1", "iobes"),
}


def check_choices(settings: Mapping[str, Any]) -> None:
    """Refuse unknown values of settings that are one of a few names."""
    for name, allowed in CHOICES.items():
        if settings.get(name, allowed[0]) not in allowed:
            raise NameUnknown(name, settings[name], allowed)


class Variant(NamedTuple):
    """What a network has where those of a stack differ in their shapes; numbers, so that one program serves all."""

    units: tuple[Any, ...]  # of each layer of the stack; 0 for layers that the network does not have
    optimizer: Any  # an index of OPTIMIZERS
    crf: Any  # 1 for a random field, 0 for a softmax
    naive: Any  # 1 for a new dropout mask per word, 0 for one per sentence
    outputs: Any  # 1 if outputs of layers are dropped
    recurrent: Any  # 1 if recurrent units are dropped


@dataclass(frozen=True, slots=True)
class Shape:
    """All that a compiled program depends on besides the text. Networks of one shape train in one stack."""

    units: tuple[int, ...] = (100, 100)  # of each direction, layer by layer
    word_size: int = 100
    case_size: int = 10  # 0: no casing feature
    characters: str = "cnn"
    character_size: int = 30
    filters: int = 30  # of the CNN, or units of each direction of the LSTM
    affix_size: int = 0  # of vectors of prefixes and suffixes; 0: none
    width: int = 3  # of a filter, in characters
    classifier: str = "crf"
    optimizer: str = "nadam"
    dropout: str = "variational"
    dropped: str = "both"
    batch: int = 32
    fixed_words: bool = False  # whether word vectors stay as they are
    tag_size: int = 0  # of tag vectors; 0: no tags
    morphology_size: int = 0  # of vectors of morphological features; 0: none
    omits: bool = False  # whether whole vectors of words, characters and tags are dropped in training
    feature_size: int = 0  # numbers per word and layer of a source of features; the source decides
    feature_layers: int = 1  # of which a mixture is learned
    varied: bool = False  # whether networks have variants: `units` are then the most, and a random field is there

    network: ClassVar[str] = "deadheat.neural.tagger"  # the module that implements it

    def __post_init__(self) -> None:
        check_choices({name: getattr(self, name) for name in self.__dataclass_fields__})
        if len(self.units) > 3 or min(self.units, default=1) < 1:
            raise InputError(f"units {self.units}; expected at most three layers, each of at least one unit")

    @property
    def family(self) -> Shape:
        """What must be equal for taggers to train together where the device has kernels that pad units."""
        if type(self) is not Shape or not self.units or max(self.units) > MOST_UNITS:
            return self
        return replace(
            self, units=(1,), classifier="crf", optimizer="nadam", dropout="variational", dropped="both", varied=True
        )

    def variant(self, layers: int) -> Variant:
        """The network in a stack whose networks have at most so many layers."""
        dropped = self.dropped if self.dropout != "none" else ""
        return Variant(
            units=tuple(map(float, (*self.units, *[0] * (layers - len(self.units))))),
            optimizer=float(OPTIMIZERS.index(self.optimizer)),
            crf=float(self.classifier == "crf"),
            naive=float(self.dropout == "naive"),
            outputs=float(dropped in ("outputs", "both")),
            recurrent=float(dropped in ("recurrent", "both")),
        )

    @property
    def inputs(self) -> int:
        """The size of a word's vector at the first layer."""
        characters = {"none": 0, "cnn": self.filters, "lstm": 2 * self.filters}[self.characters]
        own = self.word_size + self.case_size + characters + self.affix_size + self.tag_size
        return own + self.morphology_size + self.feature_size


def merge_shapes(shapes: Sequence[Shape]) -> Shape:
    """The shape of a stack of different networks of one family."""
    layers, units = max(len(shape.units) for shape in shapes), max(max(shape.units) for shape in shapes)
    padded = max(LEAST_UNITS, 1 << (units - 1).bit_length())
    naive = any(shape.dropout == "naive" and shape.dropped != "outputs" for shape in shapes)
    return replace(shapes[0].family, units=(padded,) * layers, dropout="naive" if naive else "variational")


@dataclass(frozen=True, slots=True)
class AttentionShape(Shape):
    """A parser that scores every word as the head of every other, by states of the encoder or of a decoder."""

    arc_size: int = 300
    relation_size: int = 100
    decoder: int = 0  # units of the LSTM whose states point at heads; 0: the encoder's states do
    trees: str = "any"  # which decoder finds trees
    beam: int = 5

    network: ClassVar[str] = "deadheat.neural.attention"

    def __post_init__(self) -> None:
        Shape.__post_init__(self)
        if not 1 <= self.beam <= 10:
            raise InputError(f"beam={self.beam}; expected 1 to 10")


@dataclass(frozen=True, slots=True)
class BracketShape(Shape):
    """A parser that labels words with brackets of two planes, and relations."""

    relations: int = 1  # the number of relations, and of labels of each plane; the text decides
    planes: tuple[int, int] = (1, 1)

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


def hyper_params(
    optimizer: str, rate: float, *, drop: float, clip: float = 0.0, norm: float, replaced: float, omitted: float = 0.0
) -> HyperParams:
    """Hyperparameters from settings: a rate of 0 is the optimizer's default, and a threshold of 0 is none."""
    if not 0 <= rate < math.inf:
        raise InputError(f"rate={rate:g}; expected a number above 0, or 0 for the optimizer's default")
    for name, value in (("drop", drop), ("replaced", replaced), ("omitted", omitted)):
        if not 0 <= value < 1:
            raise InputError(f"{name}={value:g}; expected a share from 0 to less than 1")
    for name, value in (("clip", clip), ("norm", norm)):
        if not value >= 0:
            raise InputError(f"{name}={value:g}; expected a number above 0, or 0 for none")
    return HyperParams(rate or RATES[optimizer], drop, clip or math.inf, norm or math.inf, replaced, omitted)


def layer_sizes(units: str) -> tuple[int, ...]:
    """Units of each layer, from a setting such as `100,75`."""
    try:
        return tuple(int(size) for size in units.split(","))
    except ValueError:
        raise InputError(f"units={units!r}; expected the units of one to three layers such as '100,75'") from None


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
    features: FeatureSource | None = None
    shape: Shape
    hyper: HyperParams
    schedule: TrainSchedule
    small: NetworkConfig | None = None  # what is trained instead of it on a small training part

    def for_words(self, words: int) -> NetworkConfig:
        """The configuration for a training part of so many words."""
        return self.small if self.small is not None and words < SMALL_WORDS else replace(self, small=None)

    def with_source(self, features: FeatureSource) -> NetworkConfig:
        """The configuration with another source of features, at every size."""
        return replace(self, features=features, small=self.small and self.small.with_source(features))

    @property
    def group(self) -> NetworkConfig:
        """What must be equal for networks to train together: all but hyperparameters and schedule."""
        small = self.small and self.small.group
        return replace(self, hyper=HyperParams(0.0), schedule=TrainSchedule(), small=small)

    @property
    def family(self) -> NetworkConfig:
        """What must be equal for networks to train together where one program serves many shapes."""
        small = self.small and self.small.family
        return replace(self.group, shape=self.shape.family, small=small)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggerConfig(NetworkConfig):
    """The configuration of a tagger."""

    column: str
    scheme: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserConfig(NetworkConfig):
    """The configuration of a parser."""

    tags: str  # the column that tags are read from, if any
    morphology: str = ""  # the column that morphological features are read from, if any


@dataclass(frozen=True, slots=True, eq=False)
class TrainJob:
    """One network to train: the sentences to learn from, to pick the epoch by, and to label in the end."""

    config: Any  # of the system; jobs with the same group train together
    seed: int
    train: Indices
    tune: Indices | None = None
    parts: Mapping[str, Indices] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class TrainResult:
    """The result of a job: each part with the network's labels, or in `failed` why there are none."""

    predictions: Mapping[str, Corpus]
    epoch: int  # that was kept, from 1
    epochs: int  # that were trained
    score: float  # on tune, of the epoch that was kept; NaN without
    curve: tuple[float, ...] = ()  # scores on tune, epoch by epoch
    losses: tuple[float, ...] = ()
    failed: str = ""


OnStep: TypeAlias = Callable[[int, int], None]  # the epoch that networks are in, and how many there may be


class Trainer(Protocol):
    """Trains networks; yields the index and the result of each job as soon as it is finished.

    `on_step` is called again and again while they train.
    """

    def __call__(
        self, corpus: Corpus, jobs: Sequence[TrainJob], on_step: OnStep | None = None, /
    ) -> Iterator[tuple[int, TrainResult]]: ...


@dataclass(frozen=True, slots=True)
class BatchTrainer:
    """How a system trains many networks at once, or one after the other on one device: those with equal `group`."""

    group: Hashable
    config: Any
    train: Trainer
    extra: str = "neural"  # of the package, that has what they need


def import_training(system: str, module: str = "deadheat.neural.training", extra: str = "neural") -> Any:
    """The module that trains networks, which needs an extra; the error says how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "deadheat":
            raise
        raise InputError(_not_installed(system, error.name or EXTRAS[extra][0], extra)) from error


def missing_package(system: str, extra: str = "neural") -> str:
    """An error message if a package that networks need is not installed, else empty; nothing is imported."""
    missing = next((name for name in EXTRAS[extra] if importlib.util.find_spec(name) is None), "")
    return _not_installed(system, missing, extra) if missing else ""


def _not_installed(system: str, package: str, extra: str) -> str:
    wanted = f"deadheat[{extra}]"
    return f"{system}: the package {package} is not installed; expected {wanted} (pip install '{wanted}')"
