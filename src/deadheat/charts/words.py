"""What drawings of a sentence share: words, gold labels and those of systems, one a word."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deadheat.charts.chart import Datum
from deadheat.errors import InputError
from deadheat.text import pluralize

MOST_TOLD = 5  # mistakes of a system that a description lists


@dataclass(frozen=True, slots=True)
class Labelled:
    """A sentence with as many labels as words, of gold and of every system."""

    words: tuple[str, ...]
    gold: tuple[str, ...]
    systems: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        for name, labels in self.rows_of_labels:
            if len(labels) != len(self.words):
                told = f"{pluralize(len(labels), 'label')} for {pluralize(len(self.words), 'word')}"
                raise InputError(f"{name}: {told}; expected one a word")

    @property
    def rows_of_labels(self) -> list[tuple[str, tuple[str, ...]]]:
        """Gold's, then the systems', one of which may be called gold too."""
        return [("gold", self.gold), *self.systems.items()]

    @property
    def header(self) -> tuple[str, ...]:
        return ("position", "word", "gold", *self.systems)

    @property
    def rows(self) -> tuple[tuple[Datum, ...], ...]:
        """A row a word."""
        columns = (self.words, self.gold, *self.systems.values())
        return tuple((i, *row) for i, row in enumerate(zip(*columns, strict=True), start=1))

    @property
    def disputed(self) -> list[int]:
        """Positions from 0 of the words that some system has wrong."""
        several = self.systems.values()
        return [i for i, right in enumerate(self.gold) if any(labels[i] != right for labels in several)]

    def mistakes(self) -> str:
        """Who is wrong where, in words."""
        told = [_mistakes(name, labels, self) for name, labels in self.systems.items()]
        return f"{pluralize(len(self.words), 'word')}. " + " ".join(told)


def labelled(words: Sequence[str], gold: Sequence[str], systems: Mapping[str, Sequence[str]]) -> Labelled:
    """A sentence with its labels, checked."""
    return Labelled(tuple(words), tuple(gold), {name: tuple(labels) for name, labels in systems.items()})


def _mistakes(name: str, labels: Sequence[str], sentence: Labelled) -> str:
    wrong = [
        f"{word} {label} for {gold}"
        for word, label, gold in zip(sentence.words, labels, sentence.gold, strict=True)
        if label != gold
    ]
    if not wrong:
        return f"{name} is right throughout."
    others = [f"{len(wrong) - MOST_TOLD} more"] if len(wrong) > MOST_TOLD else []
    return f"{name} is wrong on {pluralize(len(wrong), 'word')}: {', '.join([*wrong[:MOST_TOLD], *others])}."


def right_to_left(words: Sequence[str]) -> bool:
    """Whether a sentence is written from right to left: most of its words with a direction are.

    Examples
    --------
    >>> right_to_left(["قرأ", "الولد", "CoNLL", "."]), right_to_left(["the", "الولد", "read"])
    (True, False)
    """
    directions = [_direction(word) for word in words]
    return directions.count("right") > directions.count("left")


def _direction(word: str) -> str:
    for character in word:
        kind = unicodedata.bidirectional(character)
        if kind in ("R", "AL"):
            return "right"
        if kind == "L":
            return "left"
    return ""
