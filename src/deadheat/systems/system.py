"""What a system is: it learns from train and tune, and nothing else, and predicts one column of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Column
from deadheat.errors import InputError
from deadheat.neural.orders import Together
from deadheat.registry import Registry


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
