"""Predictions beside a store: compressed files, written whole or not at all, known by the hash of what is in them.

Those of one store lie in `STORE.predictions/ab/KEY.PART.zst`, where `ab` are the first two digits of the key. A file is
first written in a folder for unfinished ones: what a killed process leaves there is cleared away with the next study.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deadheat.errors import InputError, reason
from deadheat.study.packing import TEXT, compressed, decompressed

UNFINISHED = "unfinished"
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*")


def predictions_folder(store: str | os.PathLike[str]) -> Path:
    """Where the predictions of a store lie."""
    path = Path(os.path.realpath(store))
    return path.with_name(f"{path.name}.predictions")


def place_of(key: str, part: str) -> str:
    """A prediction's file, relative to the folder of all; names that could lead out of it are refused.

    Examples
    --------
    >>> place_of("ab12", "test")
    'ab/ab12.test.zst'
    """
    for what, name in (("key", key), ("part", part)):
        if not _NAME.fullmatch(name):
            raise InputError(f"prediction: {what} {name!r}; expected letters, digits, _ and - alone")
    return f"{key[:2]}/{key}.{part}.zst"


def write_prediction(folder: str | os.PathLike[str], key: str, part: str, data: bytes) -> dict[str, Any]:
    r"""Write a prediction and return what a store has to know of it; worker processes call this.

    Raises
    ------
    InputError
        If it cannot be written; then there is no file, or the one from before.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.mkdtemp()
    >>> kept = write_prediction(folder, "ab12", "test", b"1\tHi\n")
    >>> kept["file"], kept["bytes"], read_prediction(Path(folder), kept)
    ('ab/ab12.test.zst', 5, b'1\tHi\n')
    """
    file = place_of(key, part)
    target = Path(folder) / file
    scratch = Path(folder) / UNFINISHED / f"{key}.{part}.{os.getpid()}"
    try:
        for each in (target.parent, scratch.parent):
            each.mkdir(parents=True, exist_ok=True)
        try:
            with scratch.open("wb") as out:
                out.write(compressed(data, level=TEXT))
                out.flush()
                os.fsync(out.fileno())
            scratch.replace(target)
            _sync_folder(target.parent)
        finally:
            scratch.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({reason(error)})") from error
    return {"file": file, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def read_prediction(folder: Path, kept: Mapping[str, Any]) -> bytes:
    """A prediction as it was written; one that is gone or not the same is refused."""
    target = folder / str(kept["file"])
    try:
        if not target.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"{target}: outside the store's folder; expected a file in it")
        raw = target.read_bytes()
    except OSError as error:
        raise InputError(f"{target}: cannot be read ({reason(error)})") from error
    try:
        data = decompressed(raw, int(kept["bytes"]))
    except ValueError as error:
        raise InputError(f"{target}: changed since it was written ({error})") from None
    if hashlib.sha256(data).hexdigest() != kept["sha256"]:
        raise InputError(
            f"{target}: changed since it was written; expected what has the hash {str(kept['sha256'])[:12]}"
        )
    return data


def clear_unfinished(folder: Path) -> None:
    """Take away what killed processes left."""
    with contextlib.suppress(OSError):
        for each in (folder / UNFINISHED).iterdir():
            each.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make sure that the name outlives a power cut too."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
