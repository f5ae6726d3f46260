"""Readers of file formats that users and other packages define; the built-in formats are in `formats.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from deadheat.corpus.corpus import Corpus, Part
from deadheat.errors import InputError, NameUnknown
from deadheat.registry import Registry

FORMATS = ("conllu", "conllx", "columns", "tagged")


@dataclass(frozen=True, slots=True)
class Reader:
    """A named reader of a file format. `read` makes a corpus of the contents of a file, decompressed.

    Mostly, it rewrites the text as that of a known format, and calls `deadheat.read(text=...)`.
    """

    name: str
    read: Callable[[bytes], Corpus]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    def read_file(self, path: str, contents: bytes) -> Corpus:
        """Read a file; its problems are reported with its path."""
        try:
            corpus = self.read(contents)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        except Exception as error:
            problem = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"{path}: {self.name} failed ({problem}); expected it to read this file") from error
        if not isinstance(corpus, Corpus):
            raise InputError(f"{self.name} returned {type(corpus).__name__!r}; expected 'Corpus'")
        return replace(corpus, name=path, parts=(Part(path, 0),))


READERS: Registry[Reader] = Registry("format", "conllu, or mine.py:reader", made=Reader, group="readers")


def find_reader(format: str) -> Reader | None:
    """The reader of a format; None for `auto` and the built-in formats."""
    if format in ("auto", *FORMATS):
        return None
    try:
        return READERS.find(format)
    except NameUnknown as error:
        if error.kind == READERS.kind:
            raise NameUnknown("format", format, ("auto", *FORMATS, *error.names)) from None
        raise
