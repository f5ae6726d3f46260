"""Systems learn from train and tune, and nothing else, and predict columns of a corpus, its trees, or both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Column
from deadheat.errors import InputError, NameUnknown
from deadheat.neural.config import BatchTrainer, TrainJob
from deadheat.registry import Registry
from deadheat.splits.splitting import Partition
from deadheat.text import pluralize


class Model(Protocol):
    """A trained system."""

    def predict(self, corpus: Corpus) -> Corpus:
        """The same words with the model's labels; those in the corpus are not looked at."""
        ...


RANDOMNESS = ("seed", "noise", "fixed", "none")
TREES = "trees"
TREE_COLUMNS = ("deprel", "deps")  # besides heads


@dataclass(frozen=True, slots=True)
class System:
    """A named, versioned learning method. `train(train, tune, seed)` returns a model.

    `tune` serves to choose among models (epochs, say), and may be None where the system needs none; `tuned` says
    whether it is used. The result depends on these three and the settings only.

    `randomness` says what the seed does: it decides the result (`seed`), the result varies even with the same seed, as
    on some devices (`noise`), the program has a seed of its own that never changes (`fixed`), or there is no chance in
    it (`none`). In the last two cases, a study runs the system once.

    `column` is what the system predicts, by default its setting of this name, or else `upos`: a column, or several with
    commas, where `trees` stands for heads and relations, as in `upos,feats,trees`. With `trees=True` it predicts trees,
    and columns only if `column` names some. `batch_trainer` is for systems that can train many models at once.
    `most_labels` is how many labels its column may have in training, 0 for any number. `commands` are the command lines
    that it runs: files that they name are part of its code, as those of `code` are. `packages` are the versions of what
    they run with, and `missing` says what has to be done before they can run. `files` are the settings that name a file
    which it reads, and `encoder` is the folder or the name of a pretrained encoder that it reads: their contents are
    part of what identifies a run. `size_of` is for systems whose defaults depend on the training part: it names them
    for a number of words.
    """

    name: str
    train: Callable[[Corpus, Corpus | None, int], Model]
    randomness: str = "seed"
    tuned: bool = False
    trees: bool = False
    batch_trainer: BatchTrainer | None = None
    most_labels: int = 0
    column: str = ""
    commands: tuple[str, ...] = ()
    files: tuple[str, ...] = ("vectors",)
    encoder: str = ""
    size_of: Callable[[int], str] | None = None
    code: tuple[Path, ...] = ()
    packages: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.randomness not in RANDOMNESS:
            raise NameUnknown(f"{self.name}: randomness", self.randomness, RANDOMNESS)

    @property
    def seeded(self) -> bool:
        """Whether another seed may give another result."""
        return self.randomness in ("seed", "noise")

    @property
    def predicts(self) -> tuple[str, ...]:
        """The columns that it predicts, and `trees`; empty if that is not known."""
        names = split_names(self.column or ("" if self.trees else str(self.settings.get("column", ""))))
        return (*names, TREES) if self.trees and TREES not in names else names

    def __str__(self) -> str:
        return self.name


SYSTEMS: Registry[System] = Registry(
    "system", "perceptron, perceptron.v2 or perceptron.v2(column='xpos')", made=System, group="systems"
)


def split_names(text: str) -> tuple[str, ...]:
    """Names that are separated by commas.

    Examples
    --------
    >>> split_names("upos, trees")
    ('upos', 'trees')
    """
    return tuple(name for part in text.split(",") if (name := part.strip()))


def training_labels(train: Corpus, column: str, system: str) -> Column:
    """The labels to learn; an error if the corpus has no words."""
    labels = train.column(column)
    if not train.words:
        raise InputError(f"{train.name}: no words; {system} expected some to learn from")
    return labels


def check_at_least(system: str, least: int, **settings: int) -> None:
    """Refuse settings that are too small."""
    for name, value in settings.items():
        if value < least:
            raise InputError(f"{system}: {name}={value}; expected at least {least}")


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """One of many trained networks, and its predictions for each part; `failed` says why it has none."""

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
        outcome = f"failed: {self.failed}" if self.failed else f"{self.score:.4f} on tune in epoch {self.epoch}"
        return f"{self.system}, split {self.partition}, seed {self.seed}: {outcome}"


def train_many(
    corpus: Corpus,
    partitions: Sequence[Partition],
    seeds: Sequence[int],
    settings: Mapping[str, Any] | Sequence[Mapping[str, Any]] = (),
    *,
    system: str = "bilstm.v2",
    tune: str = "",
) -> Iterator[Network]:
    """Train a network for every setting, split and seed; yields each as soon as it is finished.

    On an accelerator networks train in stacks: those whose settings change no shapes train together, in one compiled
    program, as many at a time as fit into memory. On a CPU, where that does not pay off, one trains after the other; a
    study (`deadheat run`) trains one on each core. A network depends on its setting, split and seed only.

    Parameters
    ----------
    corpus
        All sentences; the partitions hold their numbers.
    partitions
        Splits with a part `train`; the other parts are labelled. A network never sees their labels, except those of
        `tune`.
    seeds
        Of initial weights, order of sentences and dropout.
    settings
        Settings of the system, or several of them.
    system
        A system that can train many networks at once.
    tune
        The part that picks the epoch: by default `tune`, else `dev`; without either, the last epoch is kept.

    Raises
    ------
    InputError
        If the system cannot train many networks at once, or a partition is of another corpus or has no part `train`.
    """
    variants = [settings] if isinstance(settings, Mapping) else list(settings) or [{}]
    systems = [SYSTEMS.find(system, None, **variant) for variant in variants]
    trainer = systems[0].batch_trainer
    if trainer is None:
        raise InputError(f"{systems[0].name} trains one at a time; expected a system of networks such as bilstm.v2")
    for partition in partitions:
        if partition.sentences != corpus.sentences:
            sentences = pluralize(partition.sentences, "sentence")
            has = f"the corpus {corpus.name} has {corpus.sentences:,}"
            raise InputError(f"split {partition.name}: of {sentences}; {has}")
    runs = [(variant, partition, seed) for variant in systems for partition in partitions for seed in seeds]
    jobs = [_job(variant, partition, seed, tune) for variant, partition, seed in runs]
    for number, result in trainer.train(corpus, jobs):
        variant, partition, seed = runs[number]
        yield Network(
            variant.name, partition.name, seed, result.epoch, result.epochs, result.score, result.curve,
            result.predictions, result.failed,
        )  # fmt: skip


def _job(system: System, partition: Partition, seed: int, tune: str) -> TrainJob:
    assert system.batch_trainer is not None
    parts = dict(partition.parts)
    if "train" not in parts:
        raise InputError(f"split {partition.name}: no part train; it has {', '.join(parts)}")
    if tune and tune not in parts:
        raise InputError(f"split {partition.name}: tune={tune!r}; it has {', '.join(parts)}")
    tune_part = tune or next((name for name in ("tune", "dev") if name in parts), "")
    train = parts.pop("train")
    return TrainJob(system.batch_trainer.config, seed, train, parts.get(tune_part), parts)
