"""The exceptions that Deadheat raises.

    DeadheatError
    └── InputError            the input is wrong: commands end with exit code 2
        ├── CorpusError       errors in corpus files, with line numbers
        ├── AlignmentError    gold and prediction have different texts
        ├── SplitError        an invalid split: a sentence in two parts, an empty part
        ├── StudyError        errors in a study file, with line numbers
        └── NameUnknown       a metric, setting, column or strategy that does not exist

A message reads `where: what is wrong; what was expected or nearest`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from deadheat.text import pluralize

# What is refused takes longer, or more memory; but estimates are rough, so usual numbers are never refused.
MOST_SECONDS, MOST_BYTES, USUAL = 3600, 8 << 30, 10_000
HOUR, YEAR = 3600, 31_557_600
UNITS = (YEAR, "year"), (86_400, "day"), (HOUR, "hour")


class DeadheatError(Exception):
    """Base class of all exceptions of Deadheat."""


class InputError(DeadheatError):
    """The input is wrong; the message says where and what was expected."""

    def on_command_line(self) -> str:
        """The message as a command prints it: remedies are options."""
        return str(self)


@dataclass(frozen=True, slots=True)
class Fault:
    """An error in a file. Line 0 stands for the whole file."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}" if self.line else f"{self.path}: {self.message}"


@dataclass(frozen=True, slots=True)
class Remedy:
    """What makes Deadheat accept a file: an option of the commands, a keyword argument in Python, and what it does."""

    option: str
    keyword: str
    effect: str


class CorpusError(InputError):
    """Errors in one or more corpus files: the first of each kind, how many more there are, and what accepts them.

    `more` has the number of errors that are not listed, by the first of the same kind.
    """

    def __init__(
        self, faults: Sequence[Fault], *, more: Mapping[Fault, int] | None = None, remedies: Sequence[Remedy] = ()
    ) -> None:
        self.faults = tuple(faults)
        self.more = {fault: number for fault, number in (more or {}).items() if number}
        self.remedies = tuple(remedies)
        super().__init__("\n".join([*self._lines(), *(f"{item.keyword} {item.effect}" for item in remedies)]))

    def on_command_line(self) -> str:
        return "\n".join([*self._lines(), *(f"{item.option} {item.effect}" for item in self.remedies)])

    def _lines(self) -> Iterator[str]:
        paths = dict.fromkeys(fault.path for fault in self.faults)
        for path in paths:
            yield from (str(fault) for fault in self.faults if fault.path == path)
            for fault, number in self.more.items():
                if fault.path == path:
                    yield f"{path}: {pluralize(number, 'more error')} like that in line {fault.line}"

    @classmethod
    def combine(cls, errors: Sequence[CorpusError]) -> CorpusError:
        """Combine the errors of several files."""
        faults = dict.fromkeys(fault for error in errors for fault in error.faults)
        more = {fault: number for error in errors for fault, number in error.more.items()}
        remedies = dict.fromkeys(remedy for error in errors for remedy in error.remedies)
        return cls(list(faults), more=more, remedies=list(remedies))


class AlignmentError(InputError):
    """Two files that should have the same text do not."""


class StudyError(InputError):
    """All errors in a study file, one line each."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, faults)))


class SplitError(InputError):
    """Parts that do not make a split."""


class NameUnknown(InputError):
    """An unknown name; the message suggests the nearest known one."""

    def __init__(self, kind: str, name: str, names: Iterable[str]) -> None:
        self.kind, self.name, self.names = kind, name, tuple(names)
        super().__init__(f"{kind} {name!r} is unknown; {nearest(name, self.names)}")


def reason(error: OSError) -> str:
    """Return what the operating system says about a failed file operation."""
    return (error.strerror or str(error)).lower()


def nearest(name: str, names: Sequence[str]) -> str:
    """Suggest the name that was probably meant, or list all names."""
    from difflib import get_close_matches

    by_lower_case = {candidate.lower(): candidate for candidate in names}
    close = get_close_matches(name.lower(), list(by_lower_case), n=1, cutoff=0.6)
    if close:
        return f"did you mean {by_lower_case[close[0]]!r}?"
    return f"expected one of {', '.join(names)}" if names else "there are none"


def check_work(what: str, number: int, *, nanoseconds: float, size: float = 0) -> None:
    """Raise if so many resamples, draws, ... take too long or too much memory, given what one takes.

    Examples
    --------
    >>> check_work("draws", 10**11, nanoseconds=10_000)
    Traceback (most recent call last):
        ...
    deadheat.errors.InputError: 100,000,000,000 draws; expected at most 360,000,000: so many would take about 12 days
    """
    most = int(min(1e9 * MOST_SECONDS / max(nanoseconds, 1), MOST_BYTES / max(size, 1e-9)))
    if number <= max(most, USUAL):
        return
    shown = f"{number:,}" if number < 10**16 else f"more than 10^{math.ceil(math.log10(number)) - 1}"
    seconds = nanoseconds / 1e9 * min(number, 10**30)
    if seconds <= MOST_SECONDS:
        cost = f"need {size * number / 1e9:,.0f} GB of memory"
    elif seconds >= 1e6 * YEAR:
        cost = "take millions of years"
    else:
        unit, name = next((unit, name) for unit, name in UNITS if seconds >= 2 * unit or unit == HOUR)
        cost = f"take about {pluralize(round(seconds / unit), name)}"
    raise InputError(f"{shown} {what}; expected at most {max(most, USUAL):,}: so many would {cost}")
