"""What a merged store will hold: for every cell its run, scores of the same cell in other stores, and its conflicts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from deadheat.study.plan.cells import DONE, PredictionFile
from deadheat.study.store.database import CorruptStore, readable_errors
from deadheat.study.store.store import Store

ScoreName = tuple[str, str]  # part and metric


@dataclass(frozen=True, slots=True)
class StoredScore:
    """A score as a store holds it, with the fingerprints of its columns of counts instead of their ids."""

    value: float | None  # None is NaN
    sentences: int
    words: int
    units: int
    columns: tuple[bytes, ...]

    def agrees(self, other: StoredScore) -> bool:
        """Whether two scores are the same; one without counts has nothing else to compare."""
        if not self.columns or not other.columns:
            return self.value == other.value
        return self == other


@dataclass(eq=False)
class MergeSource:
    """A store that is merged, open for reading."""

    path: Path
    folder: Path  # of its predictions
    connection: sqlite3.Connection

    @cached_property
    def names(self) -> dict[int, str]:
        names = dict(self.rows("SELECT id, name FROM names"))
        with readable_errors(self.path):
            if not all(isinstance(name, str) for name in names.values()):
                raise CorruptStore("a name that is not text")
        return names

    @cached_property
    def runs(self) -> dict[str, tuple[int, str]]:
        """The id and the status of every run, by its key, in the order in which they were stored."""
        return {
            key: (number, status) for number, key, status in self.rows("SELECT id, key, status FROM runs ORDER BY id")
        }

    @cached_property
    def fingerprints(self) -> dict[str, bytes]:
        return {str(number): value for number, value in self.rows("SELECT id, fingerprint FROM columns")}

    @cached_property
    def labels(self) -> dict[str, str]:
        """What systems are called in the study, by their names."""
        systems = [self.names[number] for (number,) in self.rows("SELECT DISTINCT system FROM runs")]
        with Store.read(self.path) as store:
            return store.labels(systems)

    def scores(self, key: str) -> dict[ScoreName, StoredScore]:
        """The scores of a run."""
        scores: dict[ScoreName, StoredScore] = {}
        sql = "SELECT part, metric, value, sentences, words, units, columns FROM scores WHERE run = ?"
        for part, metric, value, sentences, words, units, columns in self.rows(sql, self.runs[key][0]):
            try:
                fingerprints = tuple(self.fingerprints[number] for number in columns.split())
                score = StoredScore(value, sentences, words, units, fingerprints)
                scores[self.names[part], self.names[metric]] = score
            except (AttributeError, KeyError):
                with readable_errors(self.path):
                    raise CorruptStore(f"scores of run {key}") from None
        return scores

    def predictions(self, key: str) -> dict[str, PredictionFile]:
        """The files of the predictions of a run, by part."""
        sql = "SELECT part, file, sha256, bytes FROM predictions WHERE run = ?"
        return {part: PredictionFile(*file) for part, *file in self.rows(sql, self.runs[key][0])}

    def describe(self, key: str) -> str:
        """A cell in words."""
        sql = "SELECT system, number, corpus, seed FROM runs WHERE key = ?"
        ((system, number, corpus, seed),) = self.rows(sql, key)
        return f"{self.labels[self.names[system]]} on split {number} of {self.names[corpus]}, seed {seed}"

    def rows(self, query: str, *values: object) -> list[Any]:
        """What a query gives; errors are reported with the path of the store."""
        with readable_errors(self.path):
            return self.connection.execute(query, values).fetchall()


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """A cell that is not the same in two stores: chance without a seed, another version, or another machine."""

    key: str
    cell: str  # in words
    what: str  # differs: a metric on a part, or a prediction
    first: tuple[Path, str]  # the store whose cell is kept if the conflict is resolved, and its value
    second: tuple[Path, str]

    def __str__(self) -> str:
        (a, one), (b, two) = self.first, self.second
        if one == two:
            return f"{self.cell}: {self.what} has the same value, {one}, in {a} and {b}, but from different sentences"
        return f"{self.cell}: {self.what} differs: {one} in {a}, {two} in {b}"


@dataclass(slots=True)
class MergedCell:
    """Where all of a cell comes from."""

    key: str
    source: MergeSource  # of its run
    shared: bool = False  # whether it is in several stores
    added: list[tuple[MergeSource, list[ScoreName]]] = field(default_factory=list)  # scores that the run lacks
    files: dict[str, list[tuple[MergeSource, PredictionFile]]] = field(default_factory=dict)  # equal ones, by part


def merge_cells(
    sources: Sequence[MergeSource], preferred: Sequence[MergeSource]
) -> tuple[list[MergedCell], list[MergeConflict], list[MergeConflict]]:
    """All cells, conflicts that nothing resolves, and those in which the cell of a preferred store is kept."""
    order = [*preferred, *(source for source in sources if source not in preferred)]
    holders: dict[str, list[MergeSource]] = {key: [] for source in sources for key in source.runs}
    for source in order:
        for key in source.runs:
            holders[key].append(source)
    cells: list[MergedCell] = []
    conflicts: list[MergeConflict] = []
    resolved: list[MergeConflict] = []
    for key, of_cell in holders.items():
        done = [source for source in of_cell if source.runs[key][1] == DONE]
        first, *others = done or of_cell
        cell = MergedCell(key, first, shared=len(of_cell) > 1)
        cell.files = {part: [(first, file)] for part, file in first.predictions(key).items()}
        if done and others:
            for conflict in _add_others(cell, others):
                (resolved if first in preferred else conflicts).append(conflict)
        cells.append(cell)
    return cells, conflicts, resolved


def _add_others(cell: MergedCell, others: Iterable[MergeSource]) -> Iterator[MergeConflict]:
    """Add what other stores have of a cell; of one that differs, nothing is added."""
    key = cell.key
    scores = {name: (score, cell.source) for name, score in cell.source.scores(key).items()}
    for other in others:
        other_scores, other_files = other.scores(key), other.predictions(key)
        conflict = _score_conflict(cell, scores, other, other_scores) or _file_conflict(cell, other, other_files)
        if conflict is not None:
            yield conflict
            continue
        new = [name for name in other_scores if name not in scores]
        scores |= {name: (other_scores[name], other) for name in new}
        if new:
            cell.added.append((other, new))
        for part, file in other_files.items():
            cell.files.setdefault(part, []).append((other, file))


def _score_conflict(
    cell: MergedCell,
    scores: Mapping[ScoreName, tuple[StoredScore, MergeSource]],
    other: MergeSource,
    other_scores: Mapping[ScoreName, StoredScore],
) -> MergeConflict | None:
    for (part, metric), score in other_scores.items():
        mine, source = scores.get((part, metric), (score, other))
        if not mine.agrees(score):
            words, what = cell.source.describe(cell.key), f"{metric} on {part}"
            return MergeConflict(
                cell.key, words, what, (source.path, repr(mine.value)), (other.path, repr(score.value))
            )
    return None


def _file_conflict(cell: MergedCell, other: MergeSource, files: Mapping[str, PredictionFile]) -> MergeConflict | None:
    for part, file in files.items():
        for source, mine in cell.files.get(part, [])[:1]:
            if (mine.sha256, mine.bytes) != (file.sha256, file.bytes):
                words, what = cell.source.describe(cell.key), f"the prediction of {part}"
                return MergeConflict(
                    cell.key, words, what, (source.path, mine.sha256[:12]), (other.path, file.sha256[:12])
                )
    return None
