"""Write corpora; an unchanged corpus gives the bytes that were read."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np

from deadheat.compression import compress
from deadheat.corpus.corpus import Corpus
from deadheat.corpus.transforms import BLOCK, take
from deadheat.corpus.vocabulary import Bytes, Indices, offsets_of
from deadheat.errors import InputError, reason
from deadheat.kernels.strings import write_rows, write_tagged

# The vocabularies of all columns, one after the other: bytes and offsets, each with the starts of the columns.
Strings: TypeAlias = tuple[Bytes, Indices, Indices, Indices]


def to_bytes(corpus: Corpus, *, mend: bool = False) -> bytes:
    """Return a corpus in its own format; `mend` adds a newline or empty line that the file lacked at its end."""
    whole = _render(corpus, _strings(corpus)) + corpus.comments.tail
    return whole if mend else whole[: len(whole) - len(corpus.layout.missing_end)]


def stream(corpus: Corpus, sentences: Indices) -> Iterator[bytes]:
    """Yield the bytes of some sentences in blocks, to save memory."""
    strings = _strings(corpus)
    for start in range(0, len(sentences), BLOCK):
        yield _render(take(corpus, sentences[start : start + BLOCK]), strings)


def _strings(corpus: Corpus) -> Strings:
    vocabularies = [column.vocabulary for column in corpus.columns.values()]
    blobs, offsets = [strings.blob for strings in vocabularies], [strings.offsets for strings in vocabularies]
    blob_starts, offset_starts = (offsets_of([len(part) for part in parts])[:-1] for parts in (blobs, offsets))
    return np.concatenate(blobs), blob_starts, np.concatenate(offsets), offset_starts


def _render(corpus: Corpus, strings: Strings) -> bytes:
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
    if layout.format == "tagged":
        into = np.empty(size, np.uint8)
        written = write_tagged(codes.reshape(-1), rows, ord(layout.separator), layout.crlf, *strings, ends, into)
    else:
        numbered = layout.format in ("conllu", "conllx")
        into = np.empty(size + numbered * rows * 24, np.uint8)
        heads = corpus.heads if corpus.heads is not None else np.full(words, -1, np.int32)
        written = write_rows(codes.reshape(-1), rows, width, numbered, ord(layout.separator), layout.crlf, heads,
                             *strings, ends, extras.ends, extras.at, extras.span, corpus.comments.blob,
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
