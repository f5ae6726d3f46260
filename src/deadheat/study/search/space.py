"""The settings that a study tries: every combination of values, or some that are drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from deadheat.errors import InputError, NameUnknown
from deadheat.splits.drawing import generator

Settings = dict[str, Any]
RANGE = ("low", "high", "log")
TRIES = 50  # draws for each that is wanted; a small space may have no others left


def grid(settings: Mapping[str, Any]) -> list[Settings]:
    """Every combination of values, where a list stands for each of its items.

    Examples
    --------
    >>> grid({"epochs": [5, 10], "column": "upos"})
    [{'epochs': 5, 'column': 'upos'}, {'epochs': 10, 'column': 'upos'}]
    """
    choices = [value if isinstance(value, list) else [value] for value in settings.values()]
    return [dict(zip(settings, chosen, strict=True)) for chosen in product(*choices)]


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from low to high, whole if both are; evenly spread, or by their logarithms."""

    low: float
    high: float
    log: bool = False

    @classmethod
    def of(cls, name: str, given: Mapping[str, Any]) -> Range:
        """A range as a study file has it: `{low = 0.001, high = 0.01, log = true}`."""
        for key in given:
            if key not in RANGE:
                raise NameUnknown(f"{name}: key of a range", key, RANGE)
        numbers = [given.get(key) for key in ("low", "high")]
        if not all(isinstance(each, int | float) and not isinstance(each, bool) for each in numbers):
            raise InputError(f"{name} = {dict(given)}; expected a range such as {{low = 0.001, high = 0.01}}")
        if not isinstance(given.get("log", False), bool):
            raise InputError(f"{name}: log = {given['log']!r}; expected true or false")
        made = cls(given["low"], given["high"], given.get("log", False))
        if not (math.isfinite(made.low) and math.isfinite(made.high) and made.low < made.high):
            raise InputError(f"{name}: low {made.low:g}, high {made.high:g}; expected the first to be less")
        if made.log and made.low <= 0:
            raise InputError(f"{name}: low {made.low:g}; expected more than 0 where logarithms are drawn")
        return made

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are in it."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    def at(self, share: float) -> float:
        """The number that this share of the range lies below.

        Examples
        --------
        >>> Range(0.001, 0.1, log=True).at(0.5), Range(1, 3).at(0.99), Range(0.0, 1.0).at(0.25)
        (0.01, 3, 0.25)
        """
        low, high = (self.low, self.high + 1) if self.whole else (self.low, self.high)
        if self.log:
            found = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            found = low + share * (high - low)
        rounded = math.floor(found) if self.whole else float(f"{found:.4g}")
        return min(max(rounded, self.low), self.high)


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Settings that are searched: lists of values and ranges; what has one value is as it is."""

    given: Mapping[str, Any]

    @property
    def ranges(self) -> dict[str, Range]:
        """Settings that are drawn from ranges."""
        return {name: Range.of(name, each) for name, each in self.given.items() if isinstance(each, Mapping)}

    @property
    def lists(self) -> dict[str, list[Any]]:
        """Settings that are one of several values."""
        return {name: each for name, each in self.given.items() if isinstance(each, list)}

    @property
    def varied(self) -> list[str]:
        """Settings that may differ, in the order of the file."""
        ranges, lists = self.ranges, self.lists
        return [name for name in self.given if name in ranges or len(lists.get(name, [])) > 1]

    def check(self) -> None:
        """Refuse lists without values, and ranges that are none."""
        for name, values in self.lists.items():
            if not values:
                raise InputError(f"{name} has no values; expected at least one")
        if not self.varied:
            raise InputError("nothing to search; expected several values or a range for some setting")

    def all(self) -> list[Settings]:
        """Every combination.

        Raises
        ------
        InputError
            If a setting has a range, which has no end of values.
        """
        if self.ranges:
            raise InputError(f"{next(iter(self.ranges))} has a range; expected lists of values for a grid")
        return grid(self.given)

    def drawn(self, samples: int, seed: int) -> list[Settings]:
        """Different combinations, drawn at random; fewer where there are no more.

        Examples
        --------
        >>> Space({"drop": [0.1, 0.2], "column": "upos"}).drawn(5, 0)
        [{'drop': 0.2, 'column': 'upos'}, {'drop': 0.1, 'column': 'upos'}]
        """
        chance = generator(seed, 0)
        found: dict[str, Settings] = {}
        for _ in range(TRIES * samples):
            own = self.at(chance.random(len(self.given)))
            found.setdefault(repr(own), own)
            if len(found) == samples:
                break
        return list(found.values())

    def at(self, shares: Sequence[float] | np.ndarray[Any, Any]) -> Settings:
        """The settings at these shares of all ranges and lists, in the order of the file."""
        ranges, lists = self.ranges, self.lists
        made: Settings = {}
        for (name, value), share in zip(self.given.items(), shares, strict=True):
            if name in ranges:
                made[name] = ranges[name].at(float(share))
            elif name in lists:
                made[name] = lists[name][int(share * len(lists[name]))]
            else:
                made[name] = value
        return made
