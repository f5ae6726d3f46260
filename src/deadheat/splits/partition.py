"""A partition: which sentences of a corpus belong to which part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from deadheat.corpus.vocabulary import Indices
from deadheat.errors import SplitError


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Numbers of sentences by part: small to store, easy to check, and right if it exists.

    `nested` holds smaller sets that lie within a part, each inside the next larger one of its part.

    Examples
    --------
    >>> import numpy as np
    >>> Partition("0", {"train": np.array([0, 2]), "test": np.array([1])}, sentences=4)
    <Partition 0: train 2, test 1, left out 1>
    >>> Partition("0", {"train": np.array([0, 1]), "test": np.array([1])}, sentences=4)
    Traceback (most recent call last):
        ...
    deadheat.errors.SplitError: split 0: sentence 1 is in two parts; expected each sentence in one at most
    """

    name: str
    parts: Mapping[str, Indices]
    sentences: int
    nested: Mapping[str, Mapping[str, Indices]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts = {name: _frozen(numbers) for name, numbers in self.parts.items()}
        nested = {
            part: MappingProxyType({name: _frozen(numbers) for name, numbers in sets.items()})
            for part, sets in self.nested.items()
        }
        object.__setattr__(self, "parts", MappingProxyType(parts))
        object.__setattr__(self, "nested", MappingProxyType(nested))
        self._check_parts()
        for part in nested:
            self._check_nested(part)

    def _check_parts(self) -> None:
        if not self.parts:
            raise SplitError(f"split {self.name}: no parts; expected at least one")
        taken = np.zeros(self.sentences, bool)
        for part, numbers in self.parts.items():
            if not len(numbers):
                raise SplitError(f"split {self.name}: part {part} is empty; expected at least one sentence")
            if numbers[0] < 0 or numbers[-1] >= self.sentences:
                worst = int(numbers[0] if numbers[0] < 0 else numbers[-1])
                raise SplitError(
                    f"split {self.name}: part {part} has sentence {worst}; expected 0 to {self.sentences - 1}"
                )
            repeated = numbers[1:][numbers[1:] == numbers[:-1]]
            if len(repeated):
                raise SplitError(f"split {self.name}: part {part} has sentence {repeated[0]} twice; expected it once")
            if taken[numbers].any():
                twice = int(numbers[np.argmax(taken[numbers])])
                raise SplitError(
                    f"split {self.name}: sentence {twice} is in two parts; expected each sentence in one at most"
                )
            taken[numbers] = True

    def _check_nested(self, part: str) -> None:
        if part not in self.parts:
            raise SplitError(
                f"split {self.name}: sets within {part}, which is no part; expected {', '.join(self.parts)}"
            )
        chain = sorted(self.nested[part].items(), key=lambda each: len(each[1]))
        outer = [*chain[1:], (part, self.parts[part])]
        for (name, numbers), (around, larger) in zip(chain, outer, strict=True):
            if not len(numbers):
                raise SplitError(f"split {self.name}: {name} is empty; expected at least one sentence")
            if not np.isin(numbers, larger, assume_unique=True).all():
                raise SplitError(f"split {self.name}: {name} is not inside {around}; expected nested sets")

    @property
    def sets(self) -> dict[str, Indices]:
        """The parts, and the sets nested in them, by name."""
        return dict(self.parts) | {name: each for sets in self.nested.values() for name, each in sets.items()}

    @property
    def left_out(self) -> Indices:
        """Sentences in no part."""
        return np.setdiff1d(np.arange(self.sentences), np.concatenate(list(self.parts.values())), assume_unique=True)

    def __repr__(self) -> str:
        shown = [f"{part} {len(numbers):,}" for part, numbers in self.parts.items()]
        out = len(self.left_out)
        return f"<Partition {self.name}: {', '.join([*shown, *([f'left out {out:,}'] if out else [])])}>"


def _frozen(numbers: Indices) -> Indices:
    ordered = np.sort(np.asarray(numbers, np.int64))
    ordered.flags.writeable = False
    return ordered
