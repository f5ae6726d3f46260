"""Where bytes come from: files, folders, standard input; plain, gzip, xz or zstd."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from deadheat.compression import BrokenError, decompress, without_suffix
from deadheat.corpus.vocabulary import Bytes
from deadheat.errors import CorpusError, Fault, InputError, reason

PADDING = 16  # kernels read ahead; a missing final newline is put there too
STDIN = "-"
SUFFIXES = (".conllu", ".conll", ".conllx", ".conll06", ".txt", ".tsv", ".pos", ".tagged", ".iob", ".bio", ".iob2")


def read_bytes(path: str) -> Bytes:
    """All bytes of a file or of standard input, decompressed, with room behind them."""
    try:
        raw = _stdin() if path == STDIN else _file(path)
    except OSError as error:
        raise CorpusError([Fault(path, 0, f"cannot be read ({reason(error)})")]) from error
    return _decompressed(path, raw)


def _stdin() -> Bytes:
    return _padded(sys.stdin.buffer.read())


def _file(path: str) -> Bytes:
    with open(path, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return _padded(file.readall())
        buffer = np.empty(status.st_size + PADDING, np.uint8)
        view, filled = buffer.data, 0
        while filled < status.st_size:
            got = file.readinto(view[filled : status.st_size])
            if not got:
                raise OSError(0, f"it shrank while it was read, from {status.st_size} bytes to {filled}")
            filled += got
        buffer[filled:] = 0
        return buffer


def _padded(raw: bytes) -> Bytes:
    buffer = np.zeros(len(raw) + PADDING, np.uint8)
    buffer[: len(raw)] = np.frombuffer(raw, np.uint8)
    return buffer


def _decompressed(path: str, buffer: Bytes) -> Bytes:
    try:
        found = decompress(buffer.data[: len(buffer) - PADDING])
    except BrokenError as error:
        raise CorpusError([Fault(path, 0, str(error))]) from error
    return buffer if found is None else _padded(found)


def expand(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """Files that a path, a folder or several of them stand for; a folder's files come in the order of their names."""
    given: Sequence[str | os.PathLike[str]] = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files: list[str] = []
    for each in given:
        path = os.fspath(each)
        files += _in_folder(path) if path != STDIN and os.path.isdir(path) else [path]
    if not files:
        raise InputError("no file was given; expected at least one")
    return files


def _in_folder(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({reason(error)})") from error
    plain = {name: without_suffix(name) for name in names}
    # A release of Universal Dependencies has the raw text and the licence as .txt beside its .conllu files.
    surely = [name for name in names if plain[name].endswith(SUFFIXES[0])]
    chosen = surely or [name for name in names if plain[name].endswith(SUFFIXES)]
    if not chosen:
        raise InputError(
            f"{folder}: a folder without corpus files; expected names ending in {', '.join(SUFFIXES[:4])} ..."
        )
    return [str(Path(folder) / name) for name in chosen]
