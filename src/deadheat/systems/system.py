"""Systems

What a system is: it learns from train and tune, and nothing else, and predicts one column of a corpus.

Train many networks of one corpus at once: every setting with every seed on every split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Column
from deadheat.errors import InputError, pluralize
from deadheat.neural.jobs import Done, Order, Together
from deadheat.registry import Registry
from deadheat.splits.splitting import Partition


class Model(Protocol):
    """A trained system."""

    def predict(self, corpus: Corpus) -> Corpus:
        """The same words with the model's labels; what the corpus had in their place is not looked at."""
        ...


@dataclass(frozen=True, slots=True)
class System:
    """A named, versioned way to learn. `train(train, tune, seed)` gives a model.

    `tune` picks among what training makes (epochs, say), and may be None where the system needs none. The result
    depends on these three and the settings alone. `seeded` says whether the seed changes anything, `tuned` whether tune
    does, `trees` that it predicts heads and relations rather than a column. A system that can train many at once says
    how in `together`.
    """

    name: str
    train: Callable[[Corpus, Corpus | None, int], Model]
    seeded: bool = True
    tuned: bool = False
    trees: bool = False
    together: Together | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


SYSTEMS: Registry[System] = Registry("system", "perceptron, perceptron.v1 or perceptron.v1(column='xpos')")


def checked_training(train: Corpus, column: str, system: str) -> Column:
    """The labels to learn, if there is anything to learn."""
    labels = train.column(column)
    if not train.words:
        raise InputError(f"{train.name}: no words; {system} expected some to learn from")
    return labels


def check_at_least(system: str, least: int, **settings: int) -> None:
    """Refuse a setting that is too small."""
    for name, value in settings.items():
        if value < least:
            raise InputError(f"{system}: {name}={value}; expected at least {least}")


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """One of many that were trained: what it is, and what it says of each part; `failed` says why it says nothing."""

    system: str  # with its settings
    partition: str
    seed: int
    epoch: int  # that was kept, from 1
    epochs: int  # that were trained
    score: float  # on tune, of the epoch that was kept; NaN without
    curve: tuple[float, ...] = field(repr=False)  # scores on tune, epoch by epoch
    predictions: Mapping[str, Corpus] = field(repr=False)
    failed: str = ""

    def __str__(self) -> str:
        told = f"failed: {self.failed}" if self.failed else f"{self.score:.4f} on tune in epoch {self.epoch}"
        return f"{self.system}, split {self.partition}, seed {self.seed}: {told}"


def train_many(
    corpus: Corpus,
    partitions: Sequence[Partition],
    seeds: Sequence[int],
    settings: Mapping[str, Any] | Sequence[Mapping[str, Any]] = (),
    *,
    system: str = "bilstm.v1",
    tune: str = "",
) -> Iterator[Network]:
    """Train a network for every setting, split and seed; each is given as soon as it is finished.

    On an accelerator networks train in stacks: those whose settings change no shapes train together, in one compiled
    program, as many at a time as the memory holds. On a CPU, where that does not pay, one trains after the other; a
    study (`deadheat run`) trains one on each core. What a network becomes depends on its setting, split and seed alone.

    Parameters
    ----------
    corpus
        All sentences, of which the partitions hold the numbers.
    partitions
        Splits with a part `train`; the other parts are labelled. A network never sees their labels, but for `tune`.
    seeds
        Of first weights, order of sentences and dropout.
    settings
        Settings of the system, or several of them.
    system
        A system that can train many at once.
    tune
        The part that picks the epoch: by default `tune`, else `dev`; without either, the last epoch is kept.

    Raises
    ------
    InputError
        If the system is not one that trains many at once, or a partition is of another corpus or has no part to learn
        from.
    """
    variants = [settings] if isinstance(settings, Mapping) else list(settings) or [{}]
    made = [SYSTEMS.make(system, **each) for each in variants]
    if made[0].together is None:
        raise InputError(f"{made[0].name} trains one at a time; expected a system of networks such as bilstm.v1")
    wanted = [(own, partition, seed) for own in made for partition in partitions for seed in seeds]
    for partition in partitions:
        if partition.sentences != corpus.sentences:
            told = f"split {partition.name}: of {pluralize(partition.sentences, 'sentence')}"
            raise InputError(f"{told}; the corpus {corpus.name} has {corpus.sentences:,}")
    orders = [_order(own, partition, seed, tune) for own, partition, seed in wanted]
    for number, done in made[0].together.train(corpus, orders):
        yield _network(*wanted[number], done)


def _order(system: System, partition: Partition, seed: int, tune: str) -> Order:
    assert system.together is not None
    parts = dict(partition.parts)
    if "train" not in parts:
        raise InputError(f"split {partition.name}: no part train; it has {', '.join(parts)}")
    if tune and tune not in parts:
        raise InputError(f"split {partition.name}: tune={tune!r}; it has {', '.join(parts)}")
    picked = tune or next((name for name in ("tune", "dev") if name in parts), "")
    train = parts.pop("train")
    return Order(system.together.recipe, seed, train, parts.get(picked), parts)


def _network(system: System, partition: Partition, seed: int, done: Done) -> Network:
    return Network(
        system.name, partition.name, seed, done.epoch, done.epochs, done.score, done.curve, done.predictions,
        done.failed,
    )  # fmt: skip
