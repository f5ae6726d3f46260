"""What a parser looks like; nothing here needs jax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deadheat.errors import InputError, NameUnknown
from deadheat.neural.shape import Shape

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
