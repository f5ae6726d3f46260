"""Search spaces: every combination of settings, or a random sample of them."""

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
RANGE_KEYS = ("low", "high", "log")
MAX_DRAWS = 50  # per sample; a small space may have no more distinct settings


def grid(settings: Mapping[str, Any]) -> list[Settings]:
    """Every combination of values, where a list stands for each of its items.

    Examples
    --------
    >>> grid({"epochs": [5, 10], "column": "upos"})
    [{'epochs': 5, 'column': 'upos'}, {'epochs': 10, 'column': 'upos'}]
    """
    choices = [value if isinstance(value, list) else [value] for value in settings.values()]
    return [dict(zip(settings, values, strict=True)) for values in product(*choices)]


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from low to high, integers if both are; uniform, or uniform in their logarithms."""

    low: float
    high: float
    log: bool = False

    @classmethod
    def of(cls, name: str, entry: Mapping[str, Any]) -> Range:
        """A range of a study file: `{low = 0.001, high = 0.01, log = true}`."""
        for key in entry:
            if key not in RANGE_KEYS:
                raise NameUnknown(f"{name}: key of a range", key, RANGE_KEYS)
        bounds = [entry.get(key) for key in ("low", "high")]
        if not all(isinstance(bound, int | float) and not isinstance(bound, bool) for bound in bounds):
            raise InputError(f"{name} = {dict(entry)}; expected a range such as {{low = 0.001, high = 0.01}}")
        if not isinstance(entry.get("log", False), bool):
            raise InputError(f"{name}: log = {entry['log']!r}; expected true or false")
        made = cls(entry["low"], entry["high"], entry.get("log", False))
        if not (math.isfinite(made.low) and math.isfinite(made.high) and made.low < made.high):
            raise InputError(f"{name}: low {made.low:g}, high {made.high:g}; expected low to be less than high")
        if made.log and made.low <= 0:
            raise InputError(f"{name}: low {made.low:g}; expected more than 0 with log = true")
        return made

    @property
    def is_integer(self) -> bool:
        return isinstance(self.low, int) and isinstance(self.high, int)

    def quantile(self, share: float) -> float:
        """The number that this share of the range lies below."""
        low, high = (self.low, self.high + 1) if self.is_integer else (self.low, self.high)
        if self.log:
            value = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            value = low + share * (high - low)
        rounded = math.floor(value) if self.is_integer else float(f"{value:.4g}")
        return min(max(rounded, self.low), self.high)


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Settings that are searched: lists of values and ranges; single values are fixed."""

    settings: Mapping[str, Any]

    @property
    def ranges(self) -> dict[str, Range]:
        return {name: Range.of(name, value) for name, value in self.settings.items() if isinstance(value, Mapping)}

    @property
    def lists(self) -> dict[str, list[Any]]:
        return {name: value for name, value in self.settings.items() if isinstance(value, list)}

    @property
    def varied(self) -> list[str]:
        """The names of settings that vary, in the order of the file."""
        ranges, lists = self.ranges, self.lists
        return [name for name in self.settings if name in ranges or len(lists.get(name, [])) > 1]

    def check(self) -> None:
        """Refuse empty lists, invalid ranges, and spaces with one point."""
        for name, values in self.lists.items():
            if not values:
                raise InputError(f"{name} has no values; expected at least one")
        if not self.varied:
            raise InputError("nothing to search; expected several values or a range for some setting")

    def all(self) -> list[Settings]:
        """Every combination; raises InputError if a setting has a range."""
        if self.ranges:
            raise InputError(f"{next(iter(self.ranges))} has a range; expected lists of values for a grid")
        return grid(self.settings)

    def sample(self, samples: int, seed: int) -> list[Settings]:
        """Distinct random combinations; fewer if there are no more."""
        rng = generator(seed, 0)
        distinct: dict[str, Settings] = {}
        for _ in range(MAX_DRAWS * samples):
            settings = self.quantile(rng.random(len(self.settings)))
            distinct.setdefault(repr(settings), settings)
            if len(distinct) == samples:
                break
        return list(distinct.values())

    def quantile(self, shares: Sequence[float] | np.ndarray[Any, Any]) -> Settings:
        """The settings at these shares of all ranges and lists, in the order of the file."""
        ranges, lists = self.ranges, self.lists
        settings: Settings = {}
        for (name, value), share in zip(self.settings.items(), shares, strict=True):
            if name in ranges:
                settings[name] = ranges[name].quantile(float(share))
            elif name in lists:
                settings[name] = lists[name][int(share * len(lists[name]))]
            else:
                settings[name] = value
        return settings
