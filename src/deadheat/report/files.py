"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from deadheat.corpus.writing import write_bytes
from deadheat.errors import InputError, reason

AnyPath = str | os.PathLike[str]


def check_target(path: AnyPath) -> None:
    """Refuse a path that could not be written to, before anything is computed. Missing folders are not created."""
    target = _resolve(path)
    folder = next(parent for parent in target.parents if parent.exists())
    if not folder.is_dir():
        raise InputError(f"{path}: {folder} is not a folder; expected a file in a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path}: cannot be written (permission denied in {folder})")


def write_file(path: AnyPath, content: str | bytes) -> Path:
    """Write a file, creating missing folders; if that fails, what was there before is still there."""
    check_target(path)
    target = _resolve(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({reason(error)})") from error
    write_bytes(target, content.encode() if isinstance(content, str) else content)
    return Path(path)


def _resolve(path: AnyPath) -> Path:
    """Where the file will be, links followed; anything there that is not a file is not written over."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InputError(f"{path}: is a folder; expected the name of a file")
    if target.exists() and not target.is_file():
        raise InputError(f"{path}: is not an ordinary file; expected the name of one")
    return target
