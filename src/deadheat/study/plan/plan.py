"""What a study will run: its cells, and what is needed to run one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.corpus import Corpus, read
from deadheat.corpus.documents import sort_by_part
from deadheat.corpus.reading import expand
from deadheat.corpus.vocabulary import Indices
from deadheat.corpus.writing import stream
from deadheat.errors import Fault, InputError, StudyError, nearest, reason
from deadheat.metrics import METRICS, Metric
from deadheat.neural.jobs import lacking
from deadheat.splits import STRATEGIES, Partition, Strategy
from deadheat.splits.strategy import Material
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.study_file import Study, SystemEntry, line_of, read_study
from deadheat.study.search.space import grid
from deadheat.systems import SYSTEMS

USUAL = ("accuracy", "unknown", "sentence-accuracy")  # metrics
USUAL_OF_TREES = ("las", "uas")
TREES, TREE_COLUMNS = "trees", ("head", "deprel", "tree")
TRAIN, SEARCH = "train", "search"
KEPT = 8  # splits; they are asked for one after the other


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


@dataclass(frozen=True, eq=False)
class Plan:
    """A study with its corpora read and its cells listed; a worker process makes the same plan from the same file."""

    path: Path
    text: str
    study: Study
    materials: dict[str, Material]
    hashes: dict[str, str]
    overrides: tuple[str, ...] = ()
    chosen: tuple[Cell, ...] | None = None  # in the place of all cells of the systems
    _partitions: dict[tuple[str, str, int, int], Partition] = field(default_factory=dict, repr=False)
    _vectors: VectorFiles = field(default_factory=VectorFiles, repr=False)

    @classmethod
    def of(cls, path: Path, overrides: Sequence[str] = ()) -> Plan:
        """Read a study file and its corpora; all mistakes are told together."""
        study, text = read_study(path, overrides)
        materials: dict[str, Material] = {}
        faults: list[Fault] = []
        for name, entry in study.corpora.items():
            try:
                materials[name] = Material(_corpus(path.parent, entry.model_dump()), entry.documents)
            except InputError as error:
                line = line_of(text, ["corpora", name])
                faults += [Fault(str(path), line, f"corpus {name}: {each}") for each in str(error).split("\n")]
        if faults:
            raise StudyError(faults)
        hashes = {name: _hash(material) for name, material in materials.items()}
        plan = cls(path, text, study, materials, hashes, tuple(overrides))
        faults = [Fault(str(path), line_of(text, place), told) for place, told in dict.fromkeys(plan._problems())]
        if faults:
            raise StudyError(faults)
        return plan

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every training there is, in the order in which they are begun: whole splits first."""
        if self.chosen is not None:
            return self.chosen
        tune = "" if self.study.tune == "auto" else self.study.tune
        vectors = {system: self.vectors_of(system) for system in self.systems}
        found = [
            Cell(corpus, self.hashes[corpus], strategy.name, seed, number, system, run, tune, vectors=vectors[system])
            for corpus in self.materials
            for strategy, times, seed in self.strategies_of(corpus)
            for number in range(times)
            for system, runs in self.systems.items()
            for run in runs
        ]
        return tuple({cell.key: cell for cell in found}.values())

    @cached_property
    def strategies(self) -> tuple[tuple[Strategy, int, int], ...]:
        """The ways to split, each with how often and with which seed; once where there is but one such split."""
        made = [(STRATEGIES.make(each.strategy, **each.settings), each) for each in self.study.splits]
        return tuple((way, 1, 0) if way.once else (way, each.times, each.seed) for way, each in made)

    def strategies_of(self, corpus: str) -> tuple[tuple[Strategy, int, int], ...]:
        """The ways in which this corpus is split."""
        return tuple(way for way, entry in zip(self.strategies, self.study.splits, strict=True) if entry.splits(corpus))

    @cached_property
    def systems(self) -> dict[str, list[int]]:
        """The seeds of every system, by its name with settings; one seed where the seed changes nothing."""
        found: dict[str, list[int]] = {}
        for entry in self.study.systems:
            for settings in grid(entry.settings):
                made = SYSTEMS.make(entry.name, **settings)
                seeds = self.study.seeds_of(entry) if made.seeded else [0]
                found[made.name] = list(dict.fromkeys([*found.get(made.name, []), *seeds]))
        return found

    @cached_property
    def metrics(self) -> dict[str, list[Metric]]:
        """What every system is scored by: the metrics of the study that look at the column it predicts, or the usual.

        What a system does not predict it leaves as it was, and so another metric would compare gold with gold.
        """
        return {system: self.metrics_of(system) for system in self.systems}

    def metrics_of(self, system: str) -> list[Metric]:
        """What one system is scored by."""
        asked = list({metric.name: metric for metric in map(METRICS.make, self.study.metrics)}.values())
        column = _column(system)
        if column == TREES:
            own = [each for each in asked if each.compares in TREE_COLUMNS]
            return own if asked else list(map(METRICS.make, USUAL_OF_TREES))
        usual = [METRICS.make(name, column=column or "upos") for name in USUAL]
        return [each for each in asked if column in ("", each.compares)] if asked else usual

    @cached_property
    def _columns(self) -> dict[str, str]:
        """What every system predicts: a column, or trees; nothing where that is not known."""
        searched = [SYSTEMS.make(name, **settings).name for where, _, name, settings in self._asked if where == SEARCH]
        return {name: _column(name) for name in [*self.systems, *searched]}

    @cached_property
    def labels(self) -> dict[str, str]:
        """What systems are called in tables: their label, or their name; with settings where there are several."""
        found: dict[str, str] = {}
        for entry in self.study.systems:
            variants = grid(entry.settings)
            varied = {key for key in entry.settings if len({repr(each[key]) for each in variants}) > 1}
            for settings in variants:
                name = SYSTEMS.make(entry.name, **settings).name
                found[name] = _label(entry, name, {key: settings[key] for key in sorted(varied)})
        return found if len(set(found.values())) == len(found) else {name: name for name in found}

    def label_of(self, system: str) -> str:
        """What a system is called in tables; one that is searched has its name."""
        return self.labels.get(system, system)

    def vectors_of(self, system: str) -> str:
        """The hash of the file of word vectors that a system reads; nothing if it reads none."""
        return self._vectors.hash_of(system, self.path.parent) if system else ""

    def check_unchanged(self, cell: Cell) -> None:
        """Refuse to train a cell whose corpus or vectors are not those that it is known by."""
        for what, now, then in (
            (f"corpus {cell.corpus}", self.hashes.get(cell.corpus), cell.corpus_hash),
            (f"word vectors of {cell.system}", self.vectors_of(cell.system), cell.vectors),
        ):
            if now != then:
                raise InputError(f"{what}: changed while the study was running; expected the same to its end")

    def partition(self, cell: Cell) -> Partition:
        """The split of a cell."""
        return self._drawn(cell.corpus, cell.split, cell.split_seed, cell.number)

    def _drawn(self, corpus: str, split: str, seed: int, number: int) -> Partition:
        place = (corpus, split, seed, number)
        if place not in self._partitions:
            if len(self._partitions) >= KEPT:
                self._partitions.clear()
            material = self.materials[corpus]
            drawn = self._ways[split].draw(material, seed, number)
            self._partitions[place] = Partition(str(number), drawn.parts, material.corpus.sentences)
        return self._partitions[place]

    @cached_property
    def _ways(self) -> dict[str, Strategy]:
        return {strategy.name: strategy for strategy, _, _ in self.strategies}

    def learned(self, cell: Cell) -> Indices:
        """The sentences that a cell learns from."""
        parts = self.partition(cell).parts
        return np.sort(np.concatenate([parts[name] for name in (cell.learned or TRAIN).split("+")]))

    def tune_part(self, partition: Partition, cell: Cell | None = None) -> str:
        """The part that picks among what training makes, of all cells or of one; nothing if there is none."""
        wanted = self.study.tune if cell is None else cell.tune or self.study.tune
        if wanted == "auto":
            return next((part for part in ("tune", "dev") if part in partition.parts), "")
        if wanted == "none":
            return ""
        if wanted not in partition.parts:
            raise InputError(f"tune = {wanted!r}; the split has {', '.join(partition.parts)}")
        return wanted

    def evaluated(self, partition: Partition) -> list[str]:
        """The parts that are scored: those asked for, or all but train."""
        asked: list[str] = list(dict.fromkeys(self.study.evaluate))
        asked = asked or [part for part in partition.parts if part != "train"]
        missing = [part for part in ("train", *asked) if part not in partition.parts]
        if missing or not asked:
            absent = missing[0] if missing else "a part to evaluate"
            raise InputError(f"{absent} is missing; the split has {', '.join(partition.parts)}")
        return asked

    def scored_parts(self, cell: Cell) -> list[str]:
        """The parts that are scored of a cell: its own, or those of all splits that are made as its split."""
        if cell.scored:
            return list(cell.scored)
        return self.evaluated(self._drawn(cell.corpus, cell.split, cell.split_seed, 0))

    def _problems(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """What shows only now, with its place: metrics that look at nothing, columns and parts that corpora lack."""
        predicted = set(self._columns.values())
        predicted |= set(TREE_COLUMNS) if TREES in predicted else set()
        for i, metric in enumerate(map(METRICS.make, self.study.metrics)):
            if not predicted & {"", metric.compares}:
                yield ("metrics", i), f"{metric.name} looks at nothing that a system predicts; expected it to"
        for system, column in self._columns.items():
            if not self.metrics_of(system):
                yield ("metrics",), f"none looks at {column}, which {system} predicts; expected one"
            for name, material in self.materials.items():
                known = list(material.corpus.columns)
                if column and column != TREES and column not in known:
                    yield ("systems",), f"{system}: corpus {name} has no column {column!r}; {nearest(column, known)}"
        for where, i, name, settings in self._asked:
            made = SYSTEMS.make(name, **settings)
            if made.together is not None and (told := lacking(made.name.partition("(")[0])):
                yield (where, i), told
        yield from self._vector_problems()
        yield from self._split_problems()

    def _vector_problems(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Word vectors that are no file."""
        for where, entries in (("systems", self.study.systems), (SEARCH, self.study.search)):
            for i, entry in enumerate(entries):
                given = entry.settings.get("vectors", "")
                for vectors in given if isinstance(given, list) else [given]:
                    if vectors and not (self.path.parent / str(vectors)).is_file():
                        yield (where, i, "vectors"), f"vectors {vectors!r} is no file; expected word vectors"

    @property
    def _asked(self) -> list[tuple[str, int, str, dict[str, Any]]]:
        """Every entry of a system or a search: where it stands, the system's name, and the first of its settings."""
        first = [(each.name, grid(each.settings)[0]) for each in self.study.systems]
        searched = [(each.system, each.space.drawn(1, each.seed)[0]) for each in self.study.search]
        return [
            (where, i, name, settings)
            for where, own in (("systems", first), (SEARCH, searched))
            for i, (name, settings) in enumerate(own)
        ]

    def _split_problems(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Corpora that are unknown, or cannot be split as asked."""
        for i, entry in enumerate(self.study.splits):
            for name in entry.corpora:
                if name not in self.materials:
                    yield ("splits", i, "corpora"), f"corpus {name!r} is unknown; {nearest(name, list(self.materials))}"
        for name in self.materials:
            if not self.strategies_of(name):
                yield ("corpora", name), f"no way to split corpus {name}; expected one in [[splits]]"
            for i, (strategy, _, seed) in enumerate(self.strategies):
                if not self.study.splits[i].splits(name):
                    continue
                try:
                    partition = self._drawn(name, strategy.name, seed, 0)
                    self.tune_part(partition)
                    self.evaluated(partition)
                except InputError as error:
                    yield ("splits", i), f"corpus {name}, {strategy.name}: {error}"

    @property
    def store_path(self) -> Path:
        """Where results go: beside the study file unless it says otherwise, and never outside its folder."""
        named = self.study.store or f"{self.path.stem}.sqlite"
        target = self.path.parent / named
        inside = target.resolve().is_relative_to(self.path.parent.resolve())
        if not inside:
            raise InputError(f"{self.path}: store {named!r} is outside the study's folder; expected --store to name it")
        return target


def _column(system: str) -> str:
    """What a system predicts: a column, or trees; nothing where that is not known."""
    made = SYSTEMS.make(system)
    return TREES if made.trees else str(made.settings.get("column", ""))


def _corpus(folder: Path, entry: dict[str, Any]) -> Corpus:
    files = [entry["files"]] if isinstance(entry["files"], str) else entry["files"]
    paths = sort_by_part(expand([folder / file for file in files]))
    options = {key: entry[key] for key in ("format", "columns", "separator", "lenient")}
    corpus = read(paths, **options)
    if not corpus.sentences:
        raise InputError(f"{corpus.name}: no sentences; expected some")
    return corpus


def _hash(material: Material) -> str:
    """Of all bytes of the corpus, for splits look at comments too, and of how columns, documents, parts are found."""
    digest = hashlib.sha256(material.document_rule.encode())
    if material.corpus.layout.format == "columns":
        digest.update("\t".join(material.corpus.columns).encode())
    if material.file_parts is not None:
        digest.update(np.ascontiguousarray(material.file_parts).tobytes())
    for block in stream(material.corpus, np.arange(material.corpus.sentences)):
        digest.update(block)
    return digest.hexdigest()[:32]


def _label(entry: SystemEntry, name: str, varied: dict[str, Any]) -> str:
    base = entry.label or name.partition(".v")[0]
    return f"{base} {' '.join(f'{key}={value}' for key, value in varied.items())}" if varied else base
