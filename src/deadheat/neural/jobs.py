"""Trainings that are asked for and what comes of them: all about one corpus, many at once."""

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
class Order:
    """One training: which sentences to learn from, which to judge epochs by, and which to label at last."""

    recipe: Any  # of the system; those of one group train together
    seed: int
    train: Indices
    tune: Indices | None = None
    parts: Mapping[str, Indices] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """What came of an order: each part with the network's labels; or `failed`, which says why there are none."""

    predictions: Mapping[str, Corpus]
    epoch: int  # that was kept, from 1
    epochs: int  # that were trained
    score: float  # on tune, of the epoch that was kept; NaN without
    curve: tuple[float, ...] = ()  # scores on tune, epoch by epoch
    losses: tuple[float, ...] = ()
    failed: str = ""


Trainer: TypeAlias = Callable[[Corpus, Sequence[Order]], Iterator[tuple[int, Done]]]


@dataclass(frozen=True, slots=True)
class Together:
    """How a system trains many networks at once: those whose `group` is the same.

    `train(corpus, orders)` gives the number of each order and what came of it, as soon as it is finished.
    """

    group: Hashable
    recipe: Any
    train: Trainer


def needed(module: str, system: str) -> Any:
    """A module of ours that needs jax; where there is none, how to get it is said."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "deadheat":
            raise
        raise InputError(_not_installed(system, error.name or module)) from error


def lacking(system: str) -> str:
    """What has to be installed before networks can train here, as a line; empty if all is there. Nothing is loaded."""
    missing = next((name for name in PACKAGES if importlib.util.find_spec(name) is None), "")
    return _not_installed(system, missing) if missing else ""


def _not_installed(system: str, package: str) -> str:
    return (
        f"{system}: the package {package} is not installed; expected deadheat[neural] (pip install 'deadheat[neural]')"
    )
