"""The settings of a tagger, in the form in which networks take them."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

from deadheat.errors import InputError, NameUnknown
from deadheat.neural.shape import RATES, Course, Numbers, Shape

AS_IS = "as-is"
SCHEMES = (AS_IS, "bio", "iob1", "iobes")


@dataclass(frozen=True, slots=True)
class TaggerRecipe:
    """All that a tagger is made by, but for its seed and its sentences."""

    column: str
    scheme: str
    vectors: str  # a file; none if empty
    shape: Shape
    numbers: Numbers
    course: Course

    @property
    def group(self) -> Hashable:
        """What has to be the same for networks to train together; numbers may differ."""
        return self.column, self.scheme, self.vectors, self.shape


def sizes_of(units: str) -> tuple[int, ...]:
    """Units of each layer as a setting writes them.

    Examples
    --------
    >>> sizes_of("100"), sizes_of("100, 75")
    ((100,), (100, 75))
    """
    try:
        return tuple(int(each) for each in units.split(","))
    except ValueError:
        raise InputError(f"units={units!r}; expected the units of one to three layers such as '100,75'") from None


def threshold(name: str, value: float) -> float:
    """A threshold of gradients; 0 is none."""
    if not value >= 0:
        raise InputError(f"{name}={value:g}; expected a number above 0, or 0 for none")
    return value or math.inf


def rate_of(optimizer: str, rate: float) -> float:
    """The learning rate; 0 is the optimizer's usual one."""
    if not 0 <= rate < math.inf:
        raise InputError(f"rate={rate:g}; expected a number above 0, or 0 for the optimizer's usual")
    return rate or RATES[optimizer]


def share(name: str, value: float) -> float:
    """A share that may not be the whole."""
    if not 0 <= value < 1:
        raise InputError(f"{name}={value:g}; expected a share from 0 to less than 1")
    return value


def scheme_named(name: str) -> str:
    """A scheme, if there is one of that name."""
    if name not in SCHEMES:
        raise NameUnknown("scheme", name, SCHEMES)
    return name
