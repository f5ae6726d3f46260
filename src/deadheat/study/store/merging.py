"""Merge stores: what was run apart becomes one store, each cell once, with its predictions.

The merged store and its predictions are made in a folder beside it, and renamed when they are whole: whatever stops
the merge, there is all of it or nothing.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from deadheat.arguments import Argument
from deadheat.errors import InputError, reason
from deadheat.study.plan.cells import DONE
from deadheat.study.store import database
from deadheat.study.store.merge_plan import MergeConflict, MergedCell, MergeSource, merge_cells
from deadheat.study.store.merge_writing import StoreWriter
from deadheat.study.store.recording import predictions_folder
from deadheat.study.store.store import AnyPath, Store
from deadheat.text import join_names, pluralize

LISTED = 10  # conflicts
# Keys of a study file that say which cells there are, and not what they are.
SELECTING = ("name", "corpora", "splits", "seeds", "engine", "store")


@dataclass(frozen=True, slots=True)
class MergedStore:
    """A store that was merged."""

    path: Path
    cells: int
    sources: tuple[tuple[Path, int], ...]  # the cells of each store
    shared: int  # cells that were in several
    failed: int  # cells that were done in none
    conflicts: tuple[MergeConflict, ...] = ()  # cells that differed, of which the preferred ones were taken
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON holds them."""
        document = asdict(self) | {"path": str(self.path)}
        document["sources"] = {str(path): cells for path, cells in self.sources}
        document["conflicts"] = [str(conflict) for conflict in self.conflicts]
        return document

    def __str__(self) -> str:
        sources = ", ".join(f"{cells:,} in {path}" for path, cells in self.sources)
        counts = [sources, f"{self.shared:,} in several"] if self.shared else [sources]
        counts += [f"{self.failed:,} failed"] if self.failed else []
        return f"{self.path}: {pluralize(self.cells, 'cell')} ({'; '.join(counts)})"


def merge_stores(
    stores: Sequence[AnyPath],
    out: Annotated[AnyPath, Argument("the store to write, which must not exist", metavar="FILE", parse=Path)],
    *,
    prefer: Annotated[
        Sequence[AnyPath],
        Argument("where stores differ, take the cells of this one", metavar="STORE", repeat=True, parse=Path),
    ] = (),
) -> MergedStore:
    """Merge the stores of a study that was run in pieces; a cell that is in several is taken once.

    A cell that is done wins over one that failed, and scores by different metrics are united. Cells with the same key
    and different scores or predictions are a conflict. Predictions are copied along, as hard links where possible. To
    compute the result of the whole, run the study on the merged store: what is there is not trained again.

    Parameters
    ----------
    stores
        Two or more; they are only read.
    out
        The store to write.
    prefer
        Of cells that differ, take that of the first of these stores that has it.

    Raises
    ------
    InputError
        If a store cannot be read or has changed, if cells differ, or if `out` exists or cannot be written. Then
        nothing is written.
    """
    target, paths = Path(out), [Path(path) for path in stores]
    _check_paths(paths, target)
    with ExitStack() as stack:
        sources = [stack.enter_context(_open_source(path)) for path in paths]
        preferred = [_find(path, sources) for path in prefer]
        cells, conflicts, resolved = merge_cells(sources, preferred)
        if conflicts:
            raise InputError("\n".join(_conflict_lines(conflicts)))
        with _new_store(target) as (path, connection):
            writer = StoreWriter(connection, predictions_folder(path))
            writer.write(sources, cells)
    counts = tuple((source.path, len(source.runs)) for source in sources)
    failed = sum(cell.source.runs[cell.key][1] != DONE for cell in cells)
    notes = (*_study_notes(paths, writer.last_studies), *_resolved_notes(resolved))
    return MergedStore(target, len(cells), counts, _shared(cells), failed, tuple(resolved), notes)


def _shared(cells: Iterable[MergedCell]) -> int:
    return sum(cell.shared for cell in cells)


def _check_paths(paths: Sequence[Path], out: Path) -> None:
    """Refuse too few stores, one that is given twice, and an output that exists."""
    if len(paths) < 2:
        raise InputError(f"{pluralize(len(paths), 'store')} to merge; expected two or more")
    seen: dict[tuple[int, int] | None, Path] = {}
    for path in paths:
        identity = database.identity(path)
        if identity is not None and identity in seen:
            raise InputError(f"{path}: the same file as {seen[identity]}; expected each store once")
        seen[identity] = path
    for path in (out, predictions_folder(out)):
        if os.path.lexists(path):
            raise InputError(f"{path}: exists already; expected a new name (--out)")


@contextlib.contextmanager
def _open_source(path: Path) -> Iterator[MergeSource]:
    """A store whose rows are unchanged, at one moment."""
    with Store.read(path) as store:
        store.check_rows(replaced="result")  # which is not copied
    with closing(database.open_reading(path)) as connection:
        connection.execute("BEGIN")
        yield MergeSource(path, predictions_folder(path), connection)


def _find(path: AnyPath, sources: Sequence[MergeSource]) -> MergeSource:
    """The source that a path names."""
    for source in sources:
        if database.identity(Path(path)) == database.identity(source.path):
            return source
    names = join_names([str(source.path) for source in sources])
    raise InputError(f"{os.fspath(path)}: none of the stores to merge; expected to prefer one of {names}")


def _conflict_lines(conflicts: Sequence[MergeConflict]) -> Iterator[str]:
    yield from map(str, conflicts[:LISTED])
    if len(conflicts) > LISTED:
        yield f"{pluralize(len(conflicts) - LISTED, 'more cell')} that differ"
    yield "nothing was written; expected equal cells, or --prefer STORE to take those of one store"


def _resolved_notes(conflicts: Sequence[MergeConflict]) -> Iterator[str]:
    for conflict in conflicts[:LISTED]:
        yield f"{conflict}; the first was taken"
    if len(conflicts) > LISTED:
        yield f"{pluralize(len(conflicts) - LISTED, 'more cell')} that differ were taken from the preferred stores"


def _study_notes(paths: Sequence[Path], texts: Sequence[str]) -> Iterator[str]:
    """Whether the stores are of different studies, not only of different cells of one."""
    studies = [(path, _parsed(text)) for path, text in zip(paths, texts, strict=True) if text]
    for path, study in studies[1:]:
        first, expected = studies[0]
        keys = dict.fromkeys([*expected, *study])
        if differing := [key for key in keys if expected.get(key) != study.get(key)]:
            continuing = "continue with a study file that covers both"
            yield f"the study files of {first} and {path} differ in {join_names(differing)}; {continuing}"


def _parsed(text: str) -> dict[str, Any]:
    """What a study file says, apart from which cells there are; empty if it cannot be read."""
    try:
        study = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}
    return {key: _without_seeds(value) for key, value in study.items() if key not in SELECTING}


def _without_seeds(value: Any) -> Any:
    """A table of a study file, such as a system, without its seeds."""
    if isinstance(value, list):
        return [_without_seeds(item) for item in value]
    return {key: item for key, item in value.items() if key != "seeds"} if isinstance(value, dict) else value


@contextlib.contextmanager
def _new_store(out: Path) -> Iterator[tuple[Path, sqlite3.Connection]]:
    """A store to fill, in a folder of its own; it gets its name when the block ends without an error."""
    workspace = out.with_name(f"{out.name}.merging")
    path = workspace / out.name
    try:
        workspace.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({reason(error)})") from error
    lock = database.WriterLock(path)  # it ends with the process
    try:
        _clear(workspace, keep=f"{path.name}.lock")  # what a killed merge has left
        with _write_errors(path, out):
            database.create(path)
            with closing(database.open_writing(path)) as connection, database.transaction(connection):
                yield path, connection
            _publish(path, out)
    finally:
        shutil.rmtree(workspace, ignore_errors=True)
        lock.release()


@contextlib.contextmanager
def _write_errors(path: Path, out: Path) -> Iterator[None]:
    """Report a full disk and the like in one line, with the name that the store was to have."""
    try:
        yield
    except InputError as error:
        if not str(error).startswith(f"{path}:") or error.__cause__ is None:
            raise
        raise InputError(_write_problem(out, error.__cause__)) from error
    except (sqlite3.Error, OSError) as error:
        raise InputError(_write_problem(out, error)) from error


def _write_problem(out: Path, error: BaseException) -> str:
    problem = reason(error) if isinstance(error, OSError) else str(error)
    return f"{out}: cannot be written ({problem}); nothing of it was kept"


def _clear(folder: Path, *, keep: str) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != keep:
            path.unlink(missing_ok=True)


def _publish(path: Path, out: Path) -> None:
    """Give a whole store and its predictions their names: the predictions first, which mean nothing without it."""
    predictions, expected = predictions_folder(path), predictions_folder(out)
    for name in (out, expected):
        if os.path.lexists(name):
            raise InputError(f"{name}: appeared during the merge; expected a new name (--out)")
    if predictions.exists():
        predictions.rename(expected)
    try:
        path.rename(out)
    except OSError:
        if expected.exists():
            expected.rename(predictions)
        raise
