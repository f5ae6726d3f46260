"""Everything that can go wrong with what a person gives us.

    DeadheatError
    └── InputError            the input is wrong: the command ends with exit code 2
        ├── CorpusError       faults of a corpus file, each with its line
        ├── AlignmentError    gold and prediction are not of the same text
        ├── SplitError        a split that is none: a sentence in two parts, an empty part
        ├── StudyError        mistakes in a study file, each with its line
        └── NameUnknown       a metric, setting, column or strategy that does not exist

A message reads `where: what is wrong; what was expected or nearest`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deadheat.text import pluralize


class DeadheatError(Exception):
    """Base of all errors that Deadheat raises on purpose."""


class InputError(DeadheatError):
    """What was given is wrong; the message says where and what was expected."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One mistake in a file. Line 0 means the file as a whole."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}"


class CorpusError(InputError):
    """The faults of one or more corpus files, one line each."""

    def __init__(self, faults: Sequence[Fault], *, unlisted: int = 0) -> None:
        self.faults = tuple(faults)
        self.unlisted = unlisted
        lines = [str(fault) for fault in faults]
        if unlisted:
            lines.append(str(_not_listed(self)))
        super().__init__("\n".join(lines))

    @classmethod
    def gathered(cls, errors: Sequence[CorpusError]) -> CorpusError:
        """The errors of several files as one; how many of a file's faults are not listed is said after that file's."""
        if len(errors) == 1:
            return errors[0]
        faults: list[Fault] = []
        for error in errors:
            faults += error.faults
            faults += [_not_listed(error)] if error.unlisted else []
        return cls(list(dict.fromkeys(faults)))


def _not_listed(error: CorpusError) -> Fault:
    """A line for the faults of a file that are too many to list."""
    return Fault(error.faults[-1].path, 0, f"{pluralize(error.unlisted, 'more fault')} not listed")


class AlignmentError(InputError):
    """Two files that should hold the same text do not."""


class StudyError(InputError):
    """The mistakes of a study file, one line each."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, faults)))


class SplitError(InputError):
    """Parts that are not a split."""


class NameUnknown(InputError):
    """A name that is not known, with the nearest one that is."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        super().__init__(f"{kind} {name!r} is unknown; {nearest(name, self.known)}")


def reason(error: OSError) -> str:
    """What the system says is wrong with a file."""
    return (error.strerror or str(error)).lower()


def nearest(name: str, known: Sequence[str]) -> str:
    """Say which of the known names was probably meant, or list them."""
    from difflib import get_close_matches

    lowered = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.6)
    if close:
        return f"did you mean {lowered[close[0]]!r}?"
    return f"known are {', '.join(known)}" if known else "none are known"
