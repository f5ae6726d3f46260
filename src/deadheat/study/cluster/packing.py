"""The files of a study on their way to the nodes of a cluster: study file, corpora, texts, models and users' code.

Every node has them once, in a folder that is named after the hash of their contents. They lie in it as they lie
beside the study file, so that relative names in the study file mean the same there.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from deadheat.corpus.reading import expand
from deadheat.encoders.folder import folder_files
from deadheat.errors import InputError, reason
from deadheat.study.plan.entries import CorpusEntry
from deadheat.study.plan.plan import Plan
from deadheat.study.store.recording import compress, decompress
from deadheat.systems import SYSTEMS
from deadheat.systems.recipe import is_of_recipe
from deadheat.user_code import hash_file

PREFIX = "deadheat-files-"
KEPT_S = 24 * 3600  # how long a node keeps files that nobody uses
Send = Callable[[bytes], Any]  # makes data available on all nodes, and returns a reference to it


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file of a study, and where nodes find its contents."""

    path: str  # relative to the folder of the package
    sha256: str
    size: int
    executable: bool
    content: Any  # a reference to compressed bytes


@dataclass(frozen=True, slots=True)
class Package:
    """All files that the cells of a study read."""

    study: str  # the path of the study file in it
    overrides: tuple[str, ...]
    files: tuple[PackedFile, ...]

    @property
    def digest(self) -> str:
        contents = [(file.path, file.sha256, file.executable) for file in self.files]
        return hashlib.sha256(json.dumps(contents).encode()).hexdigest()[:32]


def pack(plan: Plan, send: Send) -> Package:
    """Send the files of a study. Those outside its folder keep their place relative to it."""
    study = Path(os.path.abspath(plan.path))
    files = {Path(os.path.abspath(file)): None for file in [study, *_files(plan, study.parent)]}
    root = Path(os.path.commonpath([file.parent for file in files]))
    packed = tuple(_pack_file(file, root, send) for file in files)
    overrides = (*plan.overrides, *_absolute_corpora(plan, study.parent))
    return Package(study.relative_to(root).as_posix(), overrides, packed)


def _files(plan: Plan, folder: Path) -> Iterator[Path]:
    for corpus in plan.study.corpora.values():
        paths = dict.fromkeys(path for _, paths in corpus.paths(folder) for path in paths)
        yield from map(Path, expand(paths))
    yield from (folder / named.file for named in plan.named_files)
    for encoder in dict.fromkeys(SYSTEMS.make(system).encoder for system in plan.systems):
        if encoder and (folder / encoder).is_dir():  # nodes download encoders that are no folders by their names
            yield from folder_files(str(folder / encoder))
    yield from (file for file in plan.code_files if not _is_installed(file))
    for name in plan.study.engine.files:
        path = folder / name
        if not path.exists():
            raise InputError(f"{plan.path}: engine.files: {name}: no such file or folder; expected it beside the study")
        yield from sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def _is_installed(file: Path) -> bool:
    """Whether a file belongs to an installed package or program, which every node has to have."""
    if is_of_recipe(file):
        return True
    folders = {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
    return any(file.is_relative_to(folder) for folder in folders if folder)


def _absolute_corpora(plan: Plan, folder: Path) -> Iterator[str]:
    """Overrides for corpora that the study file names by absolute paths: relative ones, which exist on nodes too."""
    for name, corpus in plan.study.corpora.items():
        names = [corpus.files] if isinstance(corpus.files, str) else corpus.files
        if not any(Path(file).is_absolute() for file in names):
            continue
        if "." in name:
            problem = "an absolute path, and a dot in its name"
            raise InputError(f"{plan.path}: corpus {name}: {problem}; expected a path relative to the study file")
        relative = [os.path.relpath(file, folder) if Path(file).is_absolute() else file for file in names]
        yield f"corpora.{name}={_inline_table(corpus.model_copy(update={'files': relative}))}"


def _inline_table(entry: CorpusEntry) -> str:
    """An entry as TOML. Strings of JSON are strings of TOML."""
    values = entry.model_dump(exclude_defaults=True)
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in values.items()) + " }"


def _pack_file(file: Path, root: Path, send: Send) -> PackedFile:
    try:
        data = file.read_bytes()
        executable = os.access(file, os.X_OK)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({reason(error)}); expected a file to send to the nodes") from error
    digest = hashlib.sha256(data).hexdigest()
    return PackedFile(file.relative_to(root).as_posix(), digest, len(data), executable, send(compress(data)))


class Unpacked:
    """The files of a package on a node; the folder is locked until it is closed, so that nobody removes it."""

    def __init__(self, package: Package, fetch: Callable[[Sequence[Any]], Sequence[bytes]]) -> None:
        parent = Path(tempfile.gettempdir())
        remove_unused(parent)
        self.folder = parent / f"{PREFIX}{os.getuid()}-{package.digest}"
        with suppress(OSError):
            os.utime(self.folder)
        if not self._is_whole(package):
            self._write(package, fetch)
        self._lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def close(self) -> None:
        os.close(self._lock)

    def _is_whole(self, package: Package) -> bool:
        """Whether all files are there, unchanged."""
        try:
            if self.folder.lstat().st_uid != os.getuid():
                raise InputError(f"{self.folder}: belongs to somebody else; expected no such folder")
            return all(hash_file(self.folder / file.path) == file.sha256 for file in package.files)
        except OSError:
            return False

    def _write(self, package: Package, fetch: Callable[[Sequence[Any]], Sequence[bytes]]) -> None:
        """Write all files to a new folder, and rename it; another agent of this node may be faster."""
        scratch = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getuid()}-new-"))
        try:
            for file, compressed in zip(package.files, fetch([file.content for file in package.files]), strict=True):
                data = decompress(compressed, file.size)
                target = scratch / PurePosixPath(file.path)
                if hashlib.sha256(data).hexdigest() != file.sha256:
                    raise InputError(f"{file.path}: changed on its way to this node; expected the same contents")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                target.chmod(0o700 if file.executable else 0o600)
            if self.folder.exists() and not self._is_whole(package):
                os.rename(self.folder, f"{scratch}-old")
            with suppress(OSError):
                os.rename(scratch, self.folder)
            if not self._is_whole(package):
                raise InputError(f"{self.folder}: cannot be written; expected the files of the study in it")
        finally:
            for path in (scratch, Path(f"{scratch}-old")):
                shutil.rmtree(path, ignore_errors=True)


def remove_unused(parent: Path) -> None:
    """Remove the files of studies that no agent has used for a day."""
    for path in parent.glob(f"{PREFIX}{os.getuid()}-*"):
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime < KEPT_S or path.is_symlink():
                continue
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
