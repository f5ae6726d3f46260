"""Files that the settings of systems name, such as word vectors and texts: they are inputs of a cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from deadheat.encoders.folder import find_folder, hash_folder
from deadheat.errors import InputError, reason
from deadheat.study.plan.entries import SearchEntry, SystemEntry
from deadheat.systems import System
from deadheat.user_code import hash_file

CALLED = {"vectors": "word vectors", "text": "a text"}


class NamedFile(NamedTuple):
    """A file that an entry of a study file names."""

    table: str  # of the study file
    number: int  # of the entry
    setting: str
    file: str

    @property
    def expected(self) -> str:
        """What the file should be."""
        return CALLED.get(self.setting, "a file")


def named_files(
    table: str, entries: Sequence[SystemEntry | SearchEntry], systems: Mapping[int, System]
) -> Iterator[NamedFile]:
    """The files that the entries of a table name; `systems` has the first entry of each system."""
    for number, system in sorted(systems.items(), key=itemgetter(0)):
        for setting in system.files:
            files = entries[number].settings.get(setting, "")
            for file in files if isinstance(files, list) else [files]:
                if file:
                    yield NamedFile(table, number, setting, str(file))


def hash_files_of(system: System, folder: Path) -> str:
    """The hashes of files and encoder that a system's settings name, relative to a folder; empty if there are none."""
    hashes = []
    for setting in _used(system):
        path = folder / str(system.settings[setting])
        try:
            hashes.append(hash_file(path)[:32])
        except OSError as error:
            expected = CALLED.get(setting, "a file")
            raise InputError(f"{path}: {reason(error)}; expected {expected}") from error
    if system.encoder:
        hashes.append(hash_folder(find_folder(system.encoder, folder)))
    return "+".join(hashes)


def files_called(system: System) -> str:
    """What a system's settings name."""
    names = [CALLED.get(setting, "a file") for setting in _used(system)] + ["encoder"] * bool(system.encoder)
    return " or ".join(names) or "files"


def _used(system: System) -> list[str]:
    return [setting for setting in system.files if system.settings.get(setting)]
