"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from deadheat.corpus.writing import write_bytes
from deadheat.errors import InputError, reason

AnyPath = str | os.PathLike[str]


def check_place(path: AnyPath) -> None:
    """Refuse a place that a file could not be written to, before anything is worked out.

    Folders that are not there yet are not made.
    """
    target = _place(path)
    folder = next(each for each in target.parents if each.exists())
    if not folder.is_dir():
        raise InputError(f"{path}: {folder} is not a folder; expected a file in a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path}: cannot be written (permission denied in {folder})")


def write_whole(path: AnyPath, content: str | bytes) -> Path:
    """Write a file; if that fails, what was there before is still there. Folders on the way to it are made."""
    check_place(path)
    target = _place(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({reason(error)})") from error
    write_bytes(target, content.encode() if isinstance(content, str) else content)
    return Path(path)


def _place(path: AnyPath) -> Path:
    """Where the file will lie, links followed; something that is there and is no file is not written over."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InputError(f"{path}: is a folder; expected the name of a file")
    if target.exists() and not target.is_file():
        raise InputError(f"{path}: is no ordinary file; expected the name of one")
    return target
