"""A corpus: annotated sentences as columns of integers, immutable; and the hashes that identify it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Bytes, Codes, Column, Indices, Vocabulary, offsets_of, ranges
from deadheat.errors import InputError, NameUnknown

BLOCK = 10_000  # sentences that are hashed at a time
UNNAMED = "_"  # how the names of columns begin that are not needed


@dataclass(frozen=True, slots=True, eq=False)
class Extras:
    """Multiword tokens and empty nodes: lines of a CoNLL-U file that are not words.

    An extra line precedes word `at`. `span` is the number of words of a multiword token, or minus the second number of
    an empty node's id. `codes` has one row per extra line and the string columns in the order of the file. `ends` is
    the number of extra lines up to the end of each sentence.
    """

    at: Indices
    span: Codes
    codes: NDArray[np.int32]
    ends: Indices

    def __len__(self) -> int:
        return len(self.at)


@dataclass(frozen=True, slots=True, eq=False)
class Comments:
    """The lines before each sentence, unchanged, and those after the last sentence."""

    blob: Bytes
    offsets: Indices
    tail: bytes = b""

    def of(self, sentence: int) -> list[str]:
        """The comment lines of a sentence."""
        raw = self.blob[self.offsets[sentence] : self.offsets[sentence + 1]].tobytes()
        return [line.rstrip("\r") for line in raw.decode().split("\n") if line]


@dataclass(frozen=True, slots=True)
class Layout:
    """How a corpus was written, so that writing it gives the same bytes."""

    format: str = "conllu"
    crlf: bool = False
    separator: str = "\t"
    missing_end: bytes = b""  # what a well-formed file would end with and this one does not


@dataclass(frozen=True, slots=True)
class Part:
    """A file that a corpus was read from, and the number of its first sentence."""

    path: str
    first: int


@dataclass(frozen=True, eq=False)
class Corpus:
    r"""Sentences of words. Word i of the corpus is entry i of every column.

    Examples
    --------
    >>> import deadheat
    >>> corpus = deadheat.read(text="1\tHi\thi\tINTJ\t_\t_\t0\troot\t_\t_\n\n")
    >>> corpus.words, corpus.sentences, corpus.column("upos").strings()
    (1, 1, ['INTJ'])
    """

    name: str
    columns: Mapping[str, Column]
    offsets: Indices
    heads: Codes | None
    extras: Extras
    comments: Comments
    newdoc: NDArray[np.bool_]
    layout: Layout = field(default_factory=Layout)
    parts: tuple[Part, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))
        for array in (self.offsets, self.heads, *(column.codes for column in self.columns.values())):
            if array is not None:
                array.flags.writeable = False
        assert all(len(column) == self.words for column in self.columns.values())

    def __repr__(self) -> str:
        return f"<Corpus {self.name}: {self.sentences:,} sentences, {self.words:,} words>"

    @property
    def words(self) -> int:
        return int(self.offsets[-1])

    @property
    def sentences(self) -> int:
        return len(self.offsets) - 1

    def column(self, name: str) -> Column:
        """Return a column by name."""
        if name not in self.columns:
            raise NameUnknown(f"{self.name}: column", name, list(self.columns))
        return self.columns[name]

    @property
    def trees(self) -> Codes:
        """The head of every word as its number in the sentence, from 1; 0 is the root."""
        if self.heads is None or (self.words and int(self.heads.min()) < 0):
            raise InputError(f"{self.name}: words without heads; expected a tree for every sentence")
        return self.heads

    @cached_property
    def sentence_of_word(self) -> Indices:
        return np.repeat(np.arange(self.sentences), np.diff(self.offsets))

    @cached_property
    def head_words(self) -> Indices:
        """The head of every word as its index in the corpus; -1 for roots."""
        starts = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        heads = self.trees
        return np.where(heads > 0, starts + heads - 1, -1)

    @cached_property
    def documents(self) -> Codes:
        """The number of the document of every sentence; sentences before the first mark are a document too."""
        marks = self.newdoc.copy()
        if len(marks):
            marks[0] = True
        for part in self.parts:
            if part.first < len(marks):
                marks[part.first] = True
        return (np.cumsum(marks) - 1).astype(np.int32)

    @property
    def has_documents(self) -> bool:
        """Whether the files mark documents at all."""
        return bool(self.newdoc.any())

    @property
    def files(self) -> tuple[tuple[str, int, int], ...]:
        """Path, first sentence and end of every file; without files, the name and all sentences."""
        parts = self.parts or (Part(self.name, 0),)
        ends = [*(part.first for part in parts[1:]), self.sentences]
        return tuple((part.path, part.first, end) for part, end in zip(parts, ends, strict=True))

    def location(self, sentence: int) -> str:
        """Return the file and the line of a sentence's first word, as `file:line`."""
        path, line = self.line_of_word(int(self.offsets[sentence]))
        return f"{path}:{line}"

    def line_of_word(self, word: int) -> tuple[str, int]:
        """Return the file and the line of a word."""
        sentence = int(np.searchsorted(self.offsets, word, side="right")) - 1
        # The last part that does not start later: an empty file starts where the next one does.
        part = next((p for p in reversed(self.parts) if p.first <= sentence), Part(self.name, 0))
        if self.layout.format == "tagged":
            return part.path, sentence - part.first + 1
        first = part.first
        before = self.comments.blob[self.comments.offsets[first] : self.comments.offsets[sentence + 1]]
        extras_before = int(self.extras.ends[first - 1]) if first else 0
        extras = int(np.searchsorted(self.extras.at, word, side="right")) - extras_before
        rows = word - int(self.offsets[first]) + extras
        return part.path, int(np.count_nonzero(before == 10)) + rows + (sentence - first) + 1


def text_hash(corpus: Corpus, *, first: int = 0, last: int | None = None) -> str:
    """Hash the words and sentence boundaries of sentences `first` to `last` (exclusive).

    Labels, comments, line ends, compression and file format do not matter, so a copy without labels has the same hash.
    It is the SHA-256 of every word followed by a newline, with one more newline after each sentence: the output of
    `cut -f2` for a CoNLL-U file without comments, multiword tokens and empty nodes.
    """
    return text_hashes(corpus, first=first, last=last)[0]


def text_hashes(corpus: Corpus, *, first: int = 0, last: int | None = None) -> tuple[str, NDArray[np.uint64]]:
    """The hash of the text, and that of every sentence: the first 8 bytes of the SHA-256 of its words and newlines."""
    last = corpus.sentences if last is None else last
    whole, hashes = hashlib.sha256(), []
    for start in range(first, last, BLOCK):
        sentences = _sentence_texts(corpus, corpus.offsets[start : min(start + BLOCK, last) + 1])
        whole.update(b"\n".join([*sentences, b""]))  # one more newline after each sentence
        hashes += [hashlib.sha256(sentence).digest()[:8] for sentence in sentences]
    return whole.hexdigest(), np.frombuffer(b"".join(hashes), ">u8").astype(np.uint64)


def _sentence_texts(corpus: Corpus, offsets: Indices) -> list[bytes]:
    """The words between offsets, each followed by a newline."""
    form = corpus.column("form")
    words = form.codes[offsets[0] : offsets[-1]]
    lengths = np.diff(form.vocabulary.offsets)[words]
    starts = offsets_of(lengths + 1)
    text = np.full(starts[-1], ord("\n"), np.uint8)
    text[ranges(starts[:-1], lengths)] = form.vocabulary.blob[ranges(form.vocabulary.offsets[words], lengths)]
    content = text.tobytes()
    return [content[a:b] for a, b in pairwise(starts[offsets - offsets[0]].tolist())]


def content_hash(corpus: Corpus) -> str:
    """Hash all annotation: words, sentences, all columns, heads, multiword tokens and empty nodes.

    The numbering of vocabularies, comments, line ends and compression do not matter.
    """
    digest = hashlib.sha256()
    extras = corpus.extras
    for array in (corpus.offsets, extras.at, extras.span, extras.ends):
        _add(digest, array)
    _add(digest, np.full(corpus.words, -1, np.int32) if corpus.heads is None else corpus.heads)
    for i, (name, column) in enumerate(corpus.columns.items()):
        digest.update(name.encode() + b"\n")
        codes = np.concatenate([column.codes, extras.codes[:, i]]) if len(extras) else column.codes
        for array in _renumber(codes, column.vocabulary):
            _add(digest, array)
    return digest.hexdigest()


def _add(digest: hashlib._Hash, array: np.ndarray) -> None:
    """Hash an array with its length, so that different pairs of arrays never give the same bytes."""
    plain = array if array.dtype == np.uint8 else array.astype("<i4")  # no corpus has 2**31 words
    digest.update(len(array).to_bytes(8, "little"))
    digest.update(plain.tobytes())


def _renumber(codes: Codes, vocabulary: Vocabulary) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Renumber codes by first occurrence; also return the lengths and bytes of the strings in that order."""
    first = np.full(len(vocabulary), len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last assignment wins: the first occurrence
    order = np.argsort(first, kind="stable")[: int(np.count_nonzero(first < len(codes)))]
    number = np.empty(len(vocabulary), np.int32)
    number[order] = np.arange(len(order))
    lengths = np.diff(vocabulary.offsets)[order]
    return number[codes], lengths, vocabulary.blob[ranges(vocabulary.offsets[order], lengths)]
