"""The state of a training on disk after every epoch, so that one that is killed goes on where it was.

A checkpoint is a folder of the cache that is named by the hash of all that decides the training. Only safetensors and
JSON are read. Where the folder cannot be written, training goes on without.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file

from deadheat.kernels.cache import create_folder

FOLDER = "finetuning"
STATE = "state.safetensors"
MOST_DAYS = 30  # after which a checkpoint that nobody went on with is deleted
Tensors = dict[str, Any]


def checkpoint_key(parts: Iterable[bytes]) -> str:
    """The name of the checkpoint of a training, from all that decides it."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A folder with the last state of a training and its best weights; None if nothing can be saved."""

    folder: Path | None

    def save(self, progress: Mapping[str, Any], state: Tensors, best: Tensors | None) -> None:
        """Save the state after an epoch; `best` are the weights of this epoch if it is the best so far."""
        if self.folder is None:
            return
        with suppress(OSError, SafetensorError):  # a full disk, say: the checkpoint before stays
            kept = f"best-{progress['best_epoch']}.safetensors"
            if best is not None:
                self._write(kept, best, {})
            # Written last: it names the best weights, so that both fit together whenever the process dies.
            self._write(STATE, state, {"progress": json.dumps(dict(progress))})
            for path in self.folder.glob("best-*.safetensors"):
                if path.name != kept:
                    path.unlink()

    def _write(self, name: str, tensors: Tensors, metadata: dict[str, str]) -> None:
        assert self.folder is not None
        scratch = self.folder / f"{name}.new"
        save_file({key: tensor.contiguous() for key, tensor in tensors.items()}, scratch, metadata)
        os.replace(scratch, self.folder / name)

    def load(self) -> tuple[dict[str, Any], Tensors, Tensors] | None:
        """Progress, state and best weights; None if there are none that are complete."""
        if self.folder is None:
            return None
        try:
            with safe_open(self.folder / STATE, "pt") as file:
                progress = json.loads((file.metadata() or {})["progress"])
            best = load_file(self.folder / f"best-{int(progress['best_epoch'])}.safetensors")
            return progress, load_file(self.folder / STATE), best
        except (OSError, SafetensorError, KeyError, ValueError, TypeError):
            return None

    def remove(self) -> None:
        """Delete the checkpoint of a training whose predictions are there."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def open_checkpoint(key: str) -> Iterator[Checkpoint]:
    """The checkpoint of a training. If another process trains the same, this one trains without."""
    folder = _locked_folder(key)
    if folder is None:
        yield Checkpoint(None)
        return
    path, lock = folder
    try:
        yield Checkpoint(path)
    finally:
        os.close(lock)


def _locked_folder(key: str) -> tuple[Path, int] | None:
    base = create_folder(FOLDER)
    if base is None:
        return None
    _remove_old(base)
    lock = -1
    try:
        path = base / key
        path.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        if lock >= 0:
            os.close(lock)
        return None
    return path, lock


def _remove_old(base: Path) -> None:
    for path in base.iterdir():
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > MOST_DAYS * 86_400:
                shutil.rmtree(path, ignore_errors=True)
