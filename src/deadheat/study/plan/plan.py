"""The plan of a study: its corpora, its cells, and what is needed to run a cell."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.corpus import Corpus, read
from deadheat.corpus.documents import sort_by_part
from deadheat.corpus.readers import READERS
from deadheat.corpus.reading import expand
from deadheat.corpus.vocabulary import Indices
from deadheat.corpus.writing import stream
from deadheat.errors import Fault, InputError, StudyError
from deadheat.metrics import METRICS, Metric
from deadheat.registry import base_name, code_of, digest_of, with_digest
from deadheat.splits import STRATEGIES, Partition, Strategy
from deadheat.splits.strategy import Material
from deadheat.study.plan.cells import TRAIN, Cell, CorpusSplit
from deadheat.study.plan.checks import shorten
from deadheat.study.plan.corpus_checks import TREE_COLUMNS, find_mistakes
from deadheat.study.plan.entries import CorpusEntry, Study, SystemEntry
from deadheat.study.plan.named_files import NamedFile, files_called, hash_files_of, named_files
from deadheat.study.plan.study_file import read_study
from deadheat.study.plan.toml_lines import line_of
from deadheat.study.plan.user_code import files_of
from deadheat.study.search.space import grid
from deadheat.systems import SYSTEMS, System
from deadheat.systems.system import TREES
from deadheat.user_code import hash_files

DEFAULT_METRICS = ("accuracy", "unknown", "sentence-accuracy")
DEFAULT_TREE_METRICS = ("las", "uas")
DEV, TEST = "dev", "test"
MAX_NAME = 200  # bytes of the name of a store; the files beside it have longer ones
CACHED_SPLITS = 8  # cells of one split follow each other


@dataclass(frozen=True, slots=True)
class KeptRuns:
    """What a store has of systems that have the name of earlier code: keys, and hashes of code that ran them since."""

    keys: Set[str] = frozenset()
    codes: tuple[str, ...] = ()

    def of(self, cell: Cell, code: str) -> Cell:
        """The cell as it is in the store, or as it would be run now."""
        stored = (replace(cell, run_by=before) for before in ("", *self.codes))
        return next((cell for cell in stored if cell.key in self.keys), replace(cell, run_by=code))


@dataclass(frozen=True, eq=False)
class Plan:
    """A study with its corpora and its list of cells. Worker processes make the same plan from the same file."""

    path: Path
    text: str
    study: Study
    materials: dict[str, Material]
    hashes: dict[str, str]
    overrides: tuple[str, ...] = ()
    kept: Mapping[str, str] = field(default_factory=dict)  # hashes of earlier code that stand for that of now, by name
    kept_runs: KeptRuns = KeptRuns()
    selection: tuple[Cell, ...] | None = None  # instead of all cells of the systems
    left_out: frozenset[str] = frozenset()  # names of metrics that no system is scored by
    _partitions: dict[CorpusSplit, Partition] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, path: Path, overrides: Sequence[str] = (), kept: Mapping[str, str] | None = None) -> Plan:
        """Read a study file and its corpora; all mistakes are reported together.

        `kept` says which cells of code that has changed since count as those of the code of now: it has the hashes of
        the earlier code, by the names of the code of now (`mine.py:tagger@3fa94c21`).
        """
        study, text = read_study(path, overrides)
        materials: dict[str, Material] = {}
        faults: list[Fault] = []
        for name, entry in study.corpora.items():
            try:
                materials[name] = Material(_read_corpus(path.parent, entry), entry.documents)
            except InputError as error:
                line = line_of(text, ["corpora", name])
                faults += [Fault(str(path), line, f"corpus {name}: {message}") for message in str(error).split("\n")]
        if faults:
            raise StudyError(faults)
        hashes: dict[str, str] = {}
        for name, material in materials.items():
            hashes[name] = _corpus_hash(material)
            same = next(other for other, value in hashes.items() if value == hashes[name])
            if same != name:
                message = f"corpora {same} and {name} have the same text; expected each corpus once"
                faults.append(Fault(str(path), line_of(text, ["corpora", name]), message))
        if faults:
            raise StudyError(faults)
        plan = cls(path, text, study, materials, hashes, tuple(overrides)).keeping(kept or {})
        mistakes = dict.fromkeys(find_mistakes(plan))
        if mistakes:
            raise StudyError([Fault(str(path), line_of(text, where), message) for where, message in mistakes])
        return plan

    def keeping(self, kept: Mapping[str, str], runs: KeptRuns | None = None) -> Plan:
        """The plan in which the hashes of earlier code stand for those of the code of now."""
        for registry in (SYSTEMS, STRATEGIES):
            for name, digest in kept.items():
                registry.accept(name, digest)
        return replace(self, kept=kept, kept_runs=runs or KeptRuns(), _partitions={})

    def _as_kept(self, name: str) -> str:
        """A name with the hash of the earlier code, where that is kept."""
        digest = self.kept.get(code_of(name))
        return name if digest is None else with_digest(name, digest)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells in the order in which they start: one split after the other."""
        if self.selection is not None:
            return self.selection
        tune = "" if self.study.tune == "auto" else self.study.tune
        vectors = {system: self.vectors_of(system) for system in self.systems}
        cells = [
            self.cell(split, system, seed, tune=tune, vectors=vectors[system])
            for split in self.corpus_splits
            for system, seeds in self.systems.items()
            for seed in seeds
        ]
        return tuple({cell.key: cell for cell in cells}.values())

    @cached_property
    def corpus_splits(self) -> list[CorpusSplit]:
        """Every split of every corpus."""
        return [
            CorpusSplit(corpus, strategy.name, seed, number)
            for corpus in self.materials
            for strategy, times, seed in self.strategies_of(corpus)
            for number in range(times)
        ]

    def cell(self, split: CorpusSplit, system: str, seed: int, **setup: Any) -> Cell:
        """A cell on a split; one that is new, but has the name of earlier code, also has the hash of what runs it."""
        identity = (split.corpus, self.hashes[split.corpus], split.split, split.split_seed, split.number)
        cell = Cell(*identity, system, seed, **setup)
        now = {with_digest(name, digest): digest_of(name) for name, digest in self.kept.items()}
        code = "+".join(now[name] for name in map(code_of, (system, split.split)) if name in now)
        return self.kept_runs.of(cell, code) if code else cell

    @cached_property
    def strategies(self) -> tuple[tuple[Strategy, int, int], ...]:
        """The split strategies, each with its number of splits and seed; one split if there can be no other."""
        made = [(STRATEGIES.make(entry.strategy, **entry.settings), entry) for entry in self.study.splits]
        pairs = [(replace(strategy, name=self._as_kept(strategy.name)), entry) for strategy, entry in made]
        return tuple((strategy, *((1, 0) if strategy.once else (entry.times, entry.seed))) for strategy, entry in pairs)

    def strategies_of(self, corpus: str) -> tuple[tuple[Strategy, int, int], ...]:
        """The strategies that apply to a corpus."""
        pairs = zip(self.strategies, self.study.splits, strict=True)
        return tuple(strategy for strategy, entry in pairs if entry.applies_to(corpus))

    @cached_property
    def _variants(self) -> list[tuple[SystemEntry, System, dict[str, Any]]]:
        """Every system with every combination of its settings."""
        variants = ((entry, settings) for entry in self.study.systems for settings in grid(entry.settings))
        return [(entry, self.system(entry.name, settings), settings) for entry, settings in variants]

    def system(self, name: str, settings: Mapping[str, Any]) -> System:
        """A system with settings; the name of one that runs commands has the hash of the files that belong to them."""
        system = SYSTEMS.make(name, **settings)
        files = files_of(system, self.path.parent)
        code = hash_files(files) if files else digest_of(system.name)
        return replace(system, name=self._as_kept(with_digest(system.name, code)))

    @cached_property
    def systems(self) -> dict[str, list[int]]:
        """The seeds of every system, by its name with settings; one seed if the seed has no effect."""
        seeds: dict[str, list[int]] = {}
        for entry, system, _ in self._variants:
            more = self.study.seeds_of(entry) if system.seeded else [0]
            seeds[system.name] = list(dict.fromkeys([*seeds.get(system.name, []), *more]))
        return seeds

    @cached_property
    def metrics(self) -> dict[str, list[Metric]]:
        """The metrics of every system; see `metrics_of`."""
        return {system: self.metrics_of(system) for system in self.systems}

    def metrics_of(self, system: str) -> list[Metric]:
        """The metrics of the study that look at what a system predicts, or the defaults for each column and for trees.

        A system leaves other columns unchanged, so other metrics would compare gold with gold.
        """
        return [metric for metric in self._metrics_for(system) if metric.name not in self.left_out]

    def _metrics_for(self, system: str) -> list[Metric]:
        requested = list({metric.name: metric for metric in map(METRICS.make, self.study.metrics)}.values())
        predicts = SYSTEMS.make(system).predicts
        scored = {*predicts, *(TREE_COLUMNS if TREES in predicts else ())}
        if requested:
            return [metric for metric in requested if not predicts or metric.compares in scored]
        defaults: list[Metric] = []
        for column in predicts or ("upos",):
            if column == TREES:
                defaults += map(METRICS.make, DEFAULT_TREE_METRICS)
            else:
                defaults += [METRICS.make(name, column=column) for name in DEFAULT_METRICS]
        return defaults

    @cached_property
    def labels(self) -> dict[str, str]:
        """The names of systems in tables: their label or base name, with the settings that vary.

        Systems without a label whose base names are the same have their full names.
        """
        labels = {system: label for _, system, label in self.labelled}
        counts = Counter(labels.values())
        return {system: label if counts[label] == 1 else system for system, label in labels.items()}

    @property
    def labelled(self) -> Iterator[tuple[int, str, str]]:
        """The entry of every system, by its position, the name of the system, and what it is called in tables."""
        for entry, system, settings in self._variants:
            base = entry.label or base_name(system.name)
            lists = {key: value for key, value in entry.settings.items() if isinstance(value, list)}
            varied = sorted(key for key, values in lists.items() if len(set(map(repr, values))) > 1)
            label = " ".join([base, *(f"{key}={settings[key]}" for key in varied)])
            yield self.study.systems.index(entry), system.name, label

    def label_of(self, system: str) -> str:
        """The name of a system in tables; for a candidate of a search, its full name."""
        return self.labels.get(system, system)

    def vectors_of(self, system: str) -> str:
        """The hash of the files that a system's settings name, such as word vectors; empty if there are none."""
        return hash_files_of(SYSTEMS.make(system), self.path.parent)

    @property
    def named_files(self) -> Iterator[NamedFile]:
        """The files that settings of systems name."""
        systems = {self.study.systems.index(entry): system for entry, system, _ in reversed(self._variants)}
        yield from named_files("systems", self.study.systems, systems)
        yield from named_files("search", self.study.search, dict(enumerate(self.searched)))

    @cached_property
    def code_files(self) -> tuple[Path, ...]:
        """The files of users' code that cells run: modules, what they import beside them, what commands name."""
        systems = [*(system for _, system, _ in self._variants), *self.searched]
        files = [file for system in systems for file in SYSTEMS.files_of(system.name)]
        files += [file for system in systems for file in files_of(system, self.path.parent)]
        files += [file for name in self.study.metrics for file in METRICS.files_of(name)]
        files += [file for entry in self.study.splits for file in STRATEGIES.files_of(entry.strategy)]
        files += [file for entry in self.study.corpora.values() for file in READERS.files_of(entry.format)]
        return tuple(dict.fromkeys(files))

    def files_of_command(self, code: str) -> tuple[Path, ...]:
        """The files that belong to the commands of a system, by its name with their hash."""
        systems = [*(system for _, system, _ in self._variants), *self.searched]
        files = [
            file for system in systems if code_of(system.name) == code for file in files_of(system, self.path.parent)
        ]
        return tuple(dict.fromkeys(files))

    @cached_property
    def program_packages(self) -> dict[str, dict[str, str]]:
        """The versions of the packages that programs of others run with, by the names of their systems."""
        systems = [*(system for _, system, _ in self._variants), *self.searched]
        return {base_name(system.name): dict(system.packages) for system in systems if system.packages}

    @property
    def searched(self) -> list[System]:
        """The systems of searches, each with some of the settings that are searched."""
        return [self.system(entry.system, entry.space.sample(1, entry.seed)[0]) for entry in self.study.search]

    def digest_of_code(self, system: str) -> str:
        """The hash of the users' code that a system would run now."""
        commands = SYSTEMS.make(system).commands
        return digest_of(self.system(with_digest(system, ""), {}).name) if commands else digest_of(system)

    def check_unchanged(self, cell: Cell) -> None:
        """Refuse to train a cell whose corpus, code or vectors have changed, or whose program is not here."""
        if problem := SYSTEMS.make(cell.system).missing:
            raise InputError(problem)
        if (digest := digest_of(cell.system)) != self.digest_of_code(cell.system):
            name = cell.system.partition("@")[0]
            raise InputError(f"code of {name} ({digest}): changed while the study was running; expected no change")
        for what, now, then in (
            (f"corpus {cell.corpus}", self.hashes.get(cell.corpus), cell.corpus_hash),
            (f"{files_called(SYSTEMS.make(cell.system))} of {cell.system}", self.vectors_of(cell.system), cell.vectors),
        ):
            if now != then:
                raise InputError(f"{what}: changed while the study was running; expected no change until its end")

    def partition(self, cell: Cell | CorpusSplit) -> Partition:
        """The sentences of a split."""
        split = cell.corpus_split if isinstance(cell, Cell) else cell
        if split not in self._partitions:
            if len(self._partitions) >= CACHED_SPLITS:
                self._partitions.clear()
            material = self.materials[split.corpus]
            strategy = next(strategy for strategy, _, _ in self.strategies if strategy.name == split.split)
            parts = strategy.draw(material, split.split_seed, split.number).parts
            self._partitions[split] = Partition(str(split.number), parts, material.corpus.sentences)
        return self._partitions[split]

    def training_sentences(self, cell: Cell) -> Indices:
        """The sentences that a cell is trained on."""
        parts = self.partition(cell).parts
        return np.sort(np.concatenate([parts[name] for name in (cell.learned or TRAIN).split("+")]))

    def tune_part(self, partition: Partition, cell: Cell | None = None) -> str:
        """The part that training tunes on, for all cells or for one; empty if there is none."""
        tune = self.study.tune if cell is None else cell.tune or self.study.tune
        if tune == "auto":
            return next((part for part in ("tune", "dev") if part in partition.parts), "")
        if tune == "none":
            return ""
        if tune not in partition.parts:
            raise InputError(f"tune = {tune!r}; the split has {', '.join(partition.parts)}")
        return tune

    def evaluated_parts(self, partition: Partition, corpus: str) -> list[str]:
        """The parts to score: those that the study names, or all but train.

        Where some corpora are for development, these are scored on dev, and the others on test.
        """
        parts: list[str] = list(dict.fromkeys(self.study.evaluate))
        if self.study.develops:
            parts = [DEV if self.study.corpora[corpus].role == "develop" else TEST]
        parts = parts or [part for part in partition.parts if part != TRAIN]
        missing = [part for part in (TRAIN, *parts) if part not in partition.parts]
        if missing or not parts:
            absent = missing[0] if missing else "a part to evaluate"
            raise InputError(f"{absent} is missing; the split has {', '.join(partition.parts)}")
        return parts

    def scored_parts(self, cell: Cell) -> list[str]:
        """The parts to score of a cell: its own, or those of its strategy."""
        if cell.scored:
            return list(cell.scored)
        return self.evaluated_parts(self.partition(replace(cell.corpus_split, number=0)), cell.corpus)

    @cached_property
    def hypothesis_metric(self) -> Metric | None:
        """The metric of the primary hypothesis: the named one, or the first of its systems; None if there is none."""
        by_label = {label: self.metrics[name] for name, label in self.labels.items()}
        metrics = [by_label[label] for label in self.study.hypothesis.systems or () if label in by_label]
        if len(metrics) < 2:
            return None
        wanted = self.study.hypothesis.metric
        first = [metric for metric in metrics[0] if metric.is_called(wanted)]
        shared = {metric.name for metric in (metrics[1] if wanted else metrics[1][:1])}
        return next((metric for metric in (first if wanted else metrics[0][:1]) if metric.name in shared), None)

    @property
    def store_path(self) -> Path:
        """Where results go: beside the study file unless it says otherwise, and never outside its folder."""
        name = self.study.store or f"{self.path.stem}.sqlite"
        target = self.path.parent / name
        if len(os.fsencode(target.name)) > MAX_NAME or "\0" in name:
            raise InputError(f"{self.path}: store {shorten(name)!r}; expected the name of a file")
        if not Path(os.path.realpath(target)).is_relative_to(os.path.realpath(self.path.parent)):
            raise InputError(f"{self.path}: store {name!r} is outside the study's folder; expected --store to name it")
        return target


def _read_corpus(folder: Path, entry: CorpusEntry) -> Corpus:
    given = dict.fromkeys(path for _, paths in entry.paths(folder) for path in paths)
    paths = sort_by_part(expand(given))
    options = entry.model_dump(include={"format", "columns", "separator", "lenient"})
    corpus = read(paths, **options)
    if not corpus.sentences:
        raise InputError(f"{corpus.name}: no sentences; expected some")
    return corpus


def _corpus_hash(material: Material) -> str:
    """The hash of all bytes of a corpus (splits depend on comments too) and of how it is divided."""
    digest = hashlib.sha256(material.document_rule.encode())
    if material.corpus.layout.format == "columns":
        digest.update("\t".join(material.corpus.columns).encode())
    if material.file_parts is not None:
        digest.update(np.ascontiguousarray(material.file_parts).tobytes())
    for block in stream(material.corpus, np.arange(material.corpus.sentences)):
        digest.update(block)
    return digest.hexdigest()[:32]
