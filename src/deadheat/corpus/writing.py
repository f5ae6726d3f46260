"""Write corpora; an unchanged corpus gives the bytes that were read."""

from __future__ import annotations

import contextlib
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
from deadheat.kernels.strings import write_rows, write_tagged


def to_bytes(corpus: Corpus, *, mend: bool = False) -> bytes:
    """Return a corpus in its own format; `mend` adds a newline or empty line that the file lacked at its end."""
    whole = _render(corpus, _Strings.of(corpus)) + corpus.comments.tail
    layout = corpus.layout
    if layout.missing_end and not mend:
        whole = whole[: len(whole) - len(layout.missing_end)]
    return whole


def stream(corpus: Corpus, sentences: Indices) -> Iterator[bytes]:
    """Yield the bytes of some sentences in blocks, to save memory."""
    strings = _Strings.of(corpus)
    for start in range(0, len(sentences), BLOCK):
        yield _render(take(corpus, sentences[start : start + BLOCK]), strings)


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


def _render(corpus: Corpus, strings: _Strings) -> bytes:
    """Return every sentence with the lines before it."""
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
    """Write a corpus to a file atomically; compressed if its name ends in .gz, .xz or .zst."""
    write_bytes(Path(path), compress(to_bytes(corpus, mend=mend), Path(path).suffix))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically; links are followed, modes kept, devices and pipes written to directly."""
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        with replace_file(target) as scratch:
            scratch.write_bytes(data)
            if target.exists():
                scratch.chmod(stat.S_IMODE(target.stat().st_mode))
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({reason(error)})") from error


@contextlib.contextmanager
def replace_file(target: Path, scratch: Path | None = None, *, sync: bool = False) -> Iterator[Path]:
    """A file to write that takes the place of the target unless the block fails; `sync` waits for the disk."""
    scratch = scratch or target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        yield scratch
        if sync:
            _wait_for_disk(scratch)
        scratch.replace(target)
        if sync:
            _wait_for_disk(target.parent)  # the new name survives a power failure too
    finally:
        with contextlib.suppress(OSError):
            scratch.unlink(missing_ok=True)


def _wait_for_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
