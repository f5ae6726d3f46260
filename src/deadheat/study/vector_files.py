"""Files of word vectors that systems read, by their contents."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from deadheat.errors import InputError, reason
from deadheat.systems import SYSTEMS


@dataclass(slots=True)
class VectorFiles:
    """Knows hashes of the files that systems name; a file that has changed is read once more."""

    _named: dict[str, str] = field(default_factory=dict)  # by systems
    _hashes: dict[tuple[Path, int, int], str] = field(default_factory=dict)  # by path, time of change, size

    def hash_of(self, system: str, folder: Path) -> str:
        """The hash of the file that a system reads, whose name is relative to a folder; nothing if it reads none."""
        if system not in self._named:
            self._named[system] = str(SYSTEMS.make(system).settings.get("vectors", ""))
        if not self._named[system]:
            return ""
        path = folder / self._named[system]
        try:
            now = path.stat()
            place = (path, now.st_mtime_ns, now.st_size)
            if place not in self._hashes:
                with path.open("rb") as file:
                    self._hashes[place] = hashlib.file_digest(file, "sha256").hexdigest()[:32]
        except OSError as error:
            raise InputError(f"{path}: {reason(error)}; expected word vectors") from error
        return self._hashes[place]
