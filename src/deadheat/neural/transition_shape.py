"""What a transition-based parser looks like; nothing here needs jax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deadheat.errors import InputError
from deadheat.neural.shape import Shape


@dataclass(frozen=True, slots=True)
class TransitionShape(Shape):
    """A parser that takes transitions, which two small networks score by the encoder's states of twelve words."""

    hidden: int = 100  # units of each of the two

    network: ClassVar[str] = "deadheat.neural.transitions"
    tuned: ClassVar[bool] = False

    def __post_init__(self) -> None:
        Shape.__post_init__(self)
        if self.hidden < 1:
            raise InputError(f"hidden={self.hidden}; expected at least one unit")
