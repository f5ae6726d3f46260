"""Training jobs and their results: all on one corpus, many at once. Nothing here imports jax."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError

PACKAGES = ("jax", "optax")  # of deadheat[neural]


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


Trainer: TypeAlias = Callable[[Corpus, Sequence[TrainJob]], Iterator[tuple[int, TrainResult]]]


@dataclass(frozen=True, slots=True)
class BatchTrainer:
    """How a system trains many networks at once: those whose `group` is equal.

    `train(corpus, jobs)` yields the index and the result of each job as soon as it is finished.
    """

    group: Hashable
    config: Any
    train: Trainer


def import_neural(module: str, system: str) -> Any:
    """Import one of our modules that needs jax; the error says how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "deadheat":
            raise
        raise InputError(_not_installed(system, error.name or module)) from error


def missing_package(system: str) -> str:
    """An error message if a package that networks need is not installed, else empty; nothing is imported."""
    missing = next((name for name in PACKAGES if importlib.util.find_spec(name) is None), "")
    return _not_installed(system, missing) if missing else ""


def _not_installed(system: str, package: str) -> str:
    return (
        f"{system}: the package {package} is not installed; expected deadheat[neural] (pip install 'deadheat[neural]')"
    )
