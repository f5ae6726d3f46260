"""Whether a study can be run: names that must exist, settings that must fit, and not too many cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from deadheat.corpus.readers import READERS, find_reader
from deadheat.errors import InputError, nearest
from deadheat.metrics import METRICS
from deadheat.registry import Registry
from deadheat.splits import STRATEGIES
from deadheat.stats.corrections import CORRECTIONS
from deadheat.stats.paired import TESTS
from deadheat.study.plan.entries import WILDCARDS, SearchEntry, Study, SystemEntry, address_problem
from deadheat.study.plan.protocols import PROTOCOLS
from deadheat.study.plan.toml_lines import TomlPath
from deadheat.study.search.space import grid
from deadheat.systems import SYSTEMS

MAX_CELLS, MAX_SPLITS = 100_000, 10_000
N_CHECKED = 20  # random settings of a search that are checked before anything runs
SHOWN = 80  # characters of a wrong value
Mistake = tuple[TomlPath, str]  # where, and what is wrong


def shorten(value: str) -> str:
    """The beginning of a long value, for messages."""
    return value if len(value) <= SHOWN else f"{value[:SHOWN]}... ({len(value):,} characters)"


def check_size(study: Study) -> Iterator[Mistake]:
    """Refuse more splits or cells than a study can have, from the file alone: nothing is enumerated."""
    splits = sum(
        len([name for name in study.corpora if entry.applies_to(name)]) * _times(entry.strategy, entry.times)
        for entry in study.splits
    )
    if splits > MAX_SPLITS:
        yield ("splits", 0, "times"), f"{_count(splits)} splits of corpora; expected at most {MAX_SPLITS:,}"
        return
    entries: list[SystemEntry | SearchEntry] = [*study.systems, *study.search]
    runs = sum(_runs(study, entry) for entry in entries)
    if splits * runs > MAX_CELLS:
        cells = f"{_count(splits * runs)} cells ({_count(splits)} splits of corpora, {_count(runs)} runs on each)"
        yield ("systems",), f"{cells}; expected at most {MAX_CELLS:,}, or several studies"


def _times(strategy: str, times: int) -> int:
    return 1 if _has(STRATEGIES, strategy, {}, "once") else times


def _runs(study: Study, entry: SystemEntry | SearchEntry) -> int:
    """How often a system with all its settings is trained on a split."""
    lists = [len(value) for value in entry.settings.values() if isinstance(value, list)]
    more = entry.seeds if entry.seeds is not None else study.seeds
    seeds = more if isinstance(more, int) else len(more)
    if isinstance(entry, SearchEntry):
        return (math.prod(lists) if entry.method == "grid" else entry.samples) * seeds * len(entry.setups)
    first = {name: value[0] if isinstance(value, list) and value else value for name, value in entry.settings.items()}
    if seeds <= MAX_CELLS and not _has(SYSTEMS, entry.name, first, "seeded", default=True):
        seeds = 1
    return math.prod(lists) * seeds


def _has(registry: Registry[Any], name: str, settings: Mapping[str, Any], what: str, *, default: bool = False) -> bool:
    """An attribute of what is named; the default if it cannot be made, which is reported elsewhere."""
    try:
        return bool(getattr(registry.make(name, **settings), what))
    except InputError:
        return default


def _count(number: int) -> str:
    return f"{number:,}" if number < 10**15 else "more than 10^15"


def check_names(study: Study, folder: Path) -> Iterator[Mistake]:
    """What types cannot express: names that must exist, settings that must fit."""
    yield from _check_corpora(study, folder)
    for i, split in enumerate(study.splits):
        yield from _check_settings(STRATEGIES, split.strategy, [split.settings], folder, ("splits", i), "strategy")
    yield from _check_systems(study, folder)
    for i, search in enumerate(study.search):
        yield from _check_search(study, search, folder, i)
    for i, metric in enumerate(study.metrics):
        yield from _check_settings(METRICS, metric, [{}], folder, ("metrics",), i)
    for key, name, names in (
        ("test", study.compare.test, ("", *TESTS)),
        ("correction", study.compare.correction, tuple(CORRECTIONS)),
    ):
        if name not in names:
            yield ("compare", key), f"{key} {name!r} is unknown; {nearest(name, [*filter(None, names)])}"
    if study.protocol and study.protocol not in PROTOCOLS:
        yield ("protocol",), f"protocol {study.protocol!r} is unknown; {nearest(study.protocol, list(PROTOCOLS))}"
    if problem := address_problem(study.engine.address):
        yield ("engine", "address"), f"engine.{problem}"
    yield from _check_hypothesis(study)
    yield from _check_roles(study)


def _check_corpora(study: Study, folder: Path) -> Iterator[Mistake]:
    for name, entry in study.corpora.items():
        for file, paths in entry.paths(folder):
            if not paths:
                what = "no such file or folder" if WILDCARDS.isdisjoint(file) else "no file matches this pattern"
                yield ("corpora", name, "files"), f"{shorten(file)}: {what}; expected it beside the study file"
        try:
            find_reader(READERS.resolve(entry.format, folder))
        except InputError as error:
            yield ("corpora", name, "format"), str(error)
    if not study.corpora:
        yield ("corpora",), "no corpora; expected at least one"


def _check_hypothesis(study: Study) -> Iterator[Mistake]:
    """The form of the hypothesis; whether its systems exist is known when all their settings are."""
    entry = study.hypothesis
    if entry.metric and not entry.primary:
        yield ("hypothesis", "metric"), 'hypothesis: a metric without primary; expected as primary = "A > B"'
    if entry.primary and entry.systems is None:
        where = ("hypothesis", "primary")
        yield where, f'hypothesis: primary = {entry.primary!r}; expected two systems, as "A > B"'
    if entry.systems is not None and entry.systems[0] == entry.systems[1]:
        yield ("hypothesis", "primary"), f"hypothesis: {entry.systems[0]} twice; expected two systems"


def _check_roles(study: Study) -> Iterator[Mistake]:
    """Corpora for development leave no choice of parts, and settings are not yet searched on them alone."""
    if study.develops and study.evaluate:
        parts = 'corpora with role = "develop" are scored on dev and the others on test'
        yield ("evaluate",), f"evaluate: {parts}; expected no evaluate"
    if study.develops and study.search:
        alone = 'corpora with role = "develop" cannot be searched apart from the others'
        yield ("search", 0), f"search: {alone}; expected two studies, the second with the winning settings"


def _check_systems(study: Study, folder: Path) -> Iterator[Mistake]:
    for i, system in enumerate(study.systems):
        empty = [key for key, value in system.settings.items() if value == []]
        yield from ((("systems", i, key), f"{key} has no values; expected at least one") for key in empty)
        yield from _check_settings(SYSTEMS, system.name, grid(system.settings), folder, ("systems", i), "name")
        if not study.seeds_of(system):
            yield ("systems", i, "seeds"), "no seeds; expected at least one"
    if not study.systems and not study.search:
        yield ("systems",), "systems is missing; expected some, or a search"


def _check_search(study: Study, entry: SearchEntry, folder: Path, i: int) -> Iterator[Mistake]:
    where: TomlPath = ("search", i)
    try:
        entry.space.check()
        candidates = entry.space.all() if entry.method == "grid" else entry.space.sample(N_CHECKED, entry.seed)
    except InputError as error:
        named = [key for key in entry.settings if str(error).startswith((f"{key} ", f"{key}:"))]
        yield (*where, *named[:1]), f"search: {error}"
        return
    yield from _check_settings(SYSTEMS, entry.system, candidates, folder, where, "system")
    if entry.metric:
        yield from _check_settings(METRICS, entry.metric, [{}], folder, where, "metric")
    if not entry.setups:
        yield (*where, "epoch"), "search: no part selects epochs; expected tune or dev"
    if not study.seeds_of(entry):
        yield (*where, "seeds"), "no seeds; expected at least one"


def _check_settings(
    registry: Registry[Any],
    name: str,
    variants: Sequence[dict[str, Any]],
    folder: Path,
    where: TomlPath,
    key: str | int,
) -> Iterator[Mistake]:
    for settings in variants:
        try:
            registry.find(name, folder, **settings)
        except InputError as error:
            text = str(error)
            wrong: list[str | int] = [name for name in settings if repr(name) in text or f"{name}=" in text]
            yield (*where, *(wrong[:1] or [key])), text
            return
