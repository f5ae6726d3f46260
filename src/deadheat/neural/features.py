"""Features of words: numbers that a model trained elsewhere gives to words in context, and that no training changes.

Features of a text are computed once and cached in a file, which is memory-mapped. Any number of networks reads them.
Nothing here imports jax: a source of features is part of the configuration of a network.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Corpus
from deadheat.kernels.cache import create_folder, trim_folder

FOLDER = "features"  # of the cache
FEATURES_ON_DISK = 16 << 30  # bytes of features that stay in the cache

Features: TypeAlias = NDArray[np.float16]  # (words, layers, size)


class FeatureSource(Protocol):
    """Where features come from: a frozen, hashable value. Networks with equal sources train together.

    A sentence has the same features, to rounding, whatever other sentences are in the corpora.
    """

    @property
    def size(self) -> int:
        """Numbers per word and layer."""

    @property
    def layers(self) -> int:
        """Layers of numbers, whose mixture a network learns."""

    def features(self, corpora: Sequence[Corpus], /) -> Features:
        """The features of all words of some corpora, one after the other: (words, layers, size)."""


def hash_forms(corpora: Sequence[Corpus]) -> str:
    """A hash of the sentences of some corpora: the forms of their words, and nothing else."""
    digest = hashlib.sha256()
    for corpus in corpora:
        column = corpus.column("form")
        forms = [form.encode("utf-8", "surrogatepass") for form in column.vocabulary.strings]
        sizes = np.array([len(form) for form in forms], np.int64)
        used, codes = np.unique(column.codes, return_inverse=True)
        digest.update(np.diff(corpus.offsets).astype("<i8").tobytes() + b"|")
        digest.update(sizes[used].astype("<i8").tobytes() + b"|" + codes.astype("<i8").tobytes() + b"|")
        digest.update(b"".join(forms[code] for code in used.tolist()))
    return digest.hexdigest()


def cached_features(key: str, shape: tuple[int, int, int], fill: Callable[[Features], None]) -> Features:
    """The features that `fill` writes into an array of zeros, from the cache if they are there.

    The key says all that the features depend on. Where several processes need the same ones, the first computes them
    and the others wait. Where the cache cannot be used, or has no space, the features stay in memory.

    Parameters
    ----------
    key
        What the features are made from: the hashes of the model and of the text, and all settings.
    shape
        Words, layers, and numbers per word and layer.
    fill
        Computes the features.
    """
    folder = create_folder(FOLDER)
    size = int(np.prod(shape)) * np.dtype(np.float16).itemsize
    if folder is None or not size:
        return _in_memory(shape, fill)
    name = hashlib.sha256(f"{key}|{shape}".encode()).hexdigest()[:32]
    path, scratch = folder / f"{name}.f16", folder / f"{name}.part"
    if _is_complete(path, size):
        return _mapped(path, shape)
    trim_folder(folder, max(FEATURES_ON_DISK - size, 0))
    try:
        file = os.open(scratch, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return _in_memory(shape, fill)
    try:
        with suppress(OSError):  # file systems without locks: processes then write the same numbers
            fcntl.flock(file, fcntl.LOCK_EX)
        if _is_complete(path, size):  # another process was faster
            _remove_if_same(scratch, file)
            return _mapped(path, shape)
        try:
            os.ftruncate(file, 0)
            os.posix_fallocate(file, 0, size)  # a full disk is reported now; a mapped file would end the process
        except OSError:
            _remove_if_same(scratch, file)
            return _in_memory(shape, fill)
        with open(os.dup(file), "r+b") as stream:
            array: np.memmap = np.memmap(stream, np.float16, "r+", shape=shape)
        try:
            fill(array)
        except BaseException:
            _remove_if_same(scratch, file)
            raise
        array.flush()
        with suppress(OSError):
            os.replace(scratch, path)
        array.flags.writeable = False
        return array
    finally:
        os.close(file)


def _in_memory(shape: tuple[int, int, int], fill: Callable[[Features], None]) -> Features:
    array = np.zeros(shape, np.float16)
    if array.size:
        fill(array)
    return array


def _is_complete(path: Path, size: int) -> bool:
    with suppress(OSError):
        status = os.stat(path, follow_symlinks=False)
        return status.st_size == size and status.st_uid in (0, os.geteuid())
    return False


def _mapped(path: Path, shape: tuple[int, int, int]) -> Features:
    with suppress(OSError):
        os.utime(path)  # so that it counts as used, and is not trimmed
    mapped: Features = np.memmap(path, np.float16, "r", shape=shape)
    return mapped


def _remove_if_same(path: Path, file: int) -> None:
    """Delete a file unless another process has replaced it."""
    with suppress(OSError):
        if os.path.samestat(os.stat(path), os.fstat(file)):
            os.unlink(path)
