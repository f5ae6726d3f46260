"""Write corpora: the bytes that were read come back."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deadheat.compression import compress
from deadheat.corpus.corpus import Corpus
from deadheat.corpus.transforms import BLOCK, take
from deadheat.corpus.vocabulary import Bytes, Indices
from deadheat.errors import InputError, reason
from deadheat.kernels.columns import write_rows, write_tagged


def to_bytes(corpus: Corpus, *, mend: bool = False) -> bytes:
    r"""The corpus in its own format.

    Parameters
    ----------
    mend
        Add the newline or empty line that the file lacked at its end.

    Examples
    --------
    >>> from deadheat.corpus import read
    >>> to_bytes(read(text="The_DT heat_NN\n"))
    b'The_DT heat_NN\n'
    """
    whole = _written(corpus, _Strings.of(corpus)) + corpus.comments.tail
    layout = corpus.layout
    if layout.missing_end and not mend:
        whole = whole[: len(whole) - len(layout.missing_end)]
    return whole


def stream(corpus: Corpus, sentences: Indices) -> Iterator[bytes]:
    """The bytes of some sentences, a block at a time: no part of a corpus is held twice."""
    strings = _Strings.of(corpus)
    for start in range(0, len(sentences), BLOCK):
        yield _written(take(corpus, sentences[start : start + BLOCK]), strings)


@dataclass(frozen=True, slots=True, eq=False)
class _Strings:
    """The vocabularies of all columns, one after the other."""

    blobs: Bytes
    blob_starts: Indices
    offsets: Indices
    offset_starts: Indices

    @classmethod
    def of(cls, corpus: Corpus) -> _Strings:
        vocabularies = [column.vocabulary for column in corpus.columns.values()]
        return cls(
            np.concatenate([vocabulary.blob for vocabulary in vocabularies]),
            np.cumsum([0, *(len(vocabulary.blob) for vocabulary in vocabularies)])[:-1].astype(np.int64),
            np.concatenate([vocabulary.offsets for vocabulary in vocabularies]),
            np.cumsum([0, *(len(vocabulary.offsets) for vocabulary in vocabularies)])[:-1].astype(np.int64),
        )


def _written(corpus: Corpus, strings: _Strings) -> bytes:
    """Every sentence with what stands before it."""
    width, words, extras = len(corpus.columns), corpus.words, corpus.extras
    rows = words + len(extras)
    codes = np.empty((width, rows), np.int32)
    size = len(corpus.comments.blob) + 2 * corpus.sentences + rows * (2 + width)
    for i, column in enumerate(corpus.columns.values()):
        codes[i, :words] = column.codes
        codes[i, words:] = extras.codes[::-1, i]
        starts = column.vocabulary.offsets
        size += int((starts[codes[i] + 1] - starts[codes[i]]).sum())
    ends, layout = np.ascontiguousarray(corpus.offsets[1:]), corpus.layout
    all_strings = (strings.blobs, strings.blob_starts, strings.offsets, strings.offset_starts)
    if layout.format == "tagged":
        into = np.empty(size, np.uint8)
        written = write_tagged(codes.reshape(-1), rows, ord(layout.separator), layout.crlf, *all_strings, ends, into)
    else:
        numbered = layout.format in ("conllu", "conllx")
        into = np.empty(size + numbered * rows * 24, np.uint8)
        heads = corpus.heads if corpus.heads is not None else np.full(words, -1, np.int32)
        written = write_rows(codes.reshape(-1), rows, width, numbered, ord(layout.separator), layout.crlf, heads,
                             *all_strings, ends, extras.ends, extras.at, extras.span, corpus.comments.blob,
                             corpus.comments.offsets, into)  # fmt: skip
    return into[:written].tobytes()


def write(corpus: Corpus, path: str | os.PathLike[str], *, mend: bool = False) -> None:
    """Write a corpus to a file, whole or not at all; compressed if its name ends in .gz, .xz or .zst."""
    write_bytes(Path(path), compress(to_bytes(corpus, mend=mend), Path(path).suffix))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; links are followed, modes kept, devices and pipes written to as they are."""
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        scratch = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            scratch.write_bytes(data)
            if target.exists():
                scratch.chmod(stat.S_IMODE(target.stat().st_mode))
            scratch.replace(target)
        finally:
            scratch.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({reason(error)})") from error
