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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deadheat.text import pluralize


class DeadheatError(Exception):
    """Base class of all exceptions of Deadheat."""


class InputError(DeadheatError):
    """The input is wrong; the message says where and what was expected."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An error in a file. Line 0 stands for the whole file."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}" if self.line else f"{self.path}: {self.message}"


class CorpusError(InputError):
    """All errors in one or more corpus files, one line each."""

    def __init__(self, faults: Sequence[Fault], *, unlisted: int = 0) -> None:
        self.faults = tuple(faults)
        self.unlisted = unlisted
        lines = [str(fault) for fault in faults]
        if unlisted:
            lines.append(str(_not_listed(self)))
        super().__init__("\n".join(lines))

    @classmethod
    def combine(cls, errors: Sequence[CorpusError]) -> CorpusError:
        """Combine the errors of several files."""
        if len(errors) == 1:
            return errors[0]
        faults: list[Fault] = []
        for error in errors:
            faults += error.faults
            faults += [_not_listed(error)] if error.unlisted else []
        return cls(list(dict.fromkeys(faults)))


def _not_listed(error: CorpusError) -> Fault:
    """Say how many errors of a file are not listed."""
    return Fault(error.faults[-1].path, 0, f"{pluralize(error.unlisted, 'more error')} not listed")


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
