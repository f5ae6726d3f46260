"""What the types of a study file cannot say: names that must exist, settings that must fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadheat.errors import InputError, nearest
from deadheat.metrics import METRICS
from deadheat.registry import Registry
from deadheat.splits import STRATEGIES
from deadheat.stats.corrections import CORRECTIONS
from deadheat.stats.paired import TESTS
from deadheat.study.space import grid
from deadheat.systems import SYSTEMS

if TYPE_CHECKING:
    from deadheat.study.config import SearchEntry, Study

TRIED = 20  # of settings that would be drawn, before anything runs
Mistake = tuple[tuple[str | int, ...], str]  # where, and what


def checks(study: Study, path: Path) -> Iterator[Mistake]:
    """What types cannot say: names that must exist, settings that must fit."""
    for name, entry in study.corpora.items():
        for file in [entry.files] if isinstance(entry.files, str) else entry.files:
            if not (path.parent / file).exists():
                yield ("corpora", name, "files"), f"{file}: no such file or folder; expected it beside the study file"
    if not study.corpora:
        yield ("corpora",), "no corpora; expected at least one"
    for i, split in enumerate(study.splits):
        yield from _fits(STRATEGIES, split.strategy, [split.settings], ("splits", i), "strategy")
    yield from _system_checks(study)
    for i, search in enumerate(study.search):
        yield from _search_checks(study, search, i)
    for i, metric in enumerate(study.metrics):
        yield from _fits(METRICS, metric, [{}], ("metrics",), i)
    if study.compare.test and study.compare.test not in TESTS:
        yield ("compare", "test"), f"test {study.compare.test!r} is unknown; {nearest(study.compare.test, TESTS)}"
    if study.compare.correction not in CORRECTIONS:
        told = nearest(study.compare.correction, list(CORRECTIONS))
        yield ("compare", "correction"), f"correction {study.compare.correction!r} is unknown; {told}"


def _system_checks(study: Study) -> Iterator[Mistake]:
    for i, system in enumerate(study.systems):
        empty = [key for key, value in system.settings.items() if value == []]
        yield from ((("systems", i, key), f"{key} has no values; expected at least one") for key in empty)
        yield from _fits(SYSTEMS, system.name, grid(system.settings), ("systems", i), "name")
        if not study.seeds_of(system):
            yield ("systems", i, "seeds"), "no seeds; expected at least one"
    if not study.systems and not study.search:
        yield ("systems",), "systems is missing; expected some, or a search"


def _search_checks(study: Study, entry: SearchEntry, i: int) -> Iterator[Mistake]:
    place: tuple[str | int, ...] = ("search", i)
    try:
        entry.space.check()
        if entry.method == "grid":
            entry.space.all()
    except InputError as error:
        named = [key for key in entry.settings if str(error).startswith((f"{key} ", f"{key}:"))]
        yield (*place, *named[:1]), f"search: {error}"
        return
    drawn = entry.space.all() if entry.method == "grid" else entry.space.drawn(TRIED, entry.seed)
    yield from _fits(SYSTEMS, entry.system, drawn, place, "system")
    if entry.metric:
        yield from _fits(METRICS, entry.metric, [{}], place, "metric")
    if not entry.setups:
        yield (*place, "epoch"), "search: no part picks epochs; expected tune or dev"
    if not study.seeds_of(entry):
        yield (*place, "seeds"), "no seeds; expected at least one"


def _fits(
    registry: Registry[Any], name: str, variants: Sequence[dict[str, Any]], place: tuple[str | int, ...], key: str | int
) -> Iterator[Mistake]:
    for settings in variants:
        try:
            registry.make(name, **settings)
        except InputError as error:
            told: list[str | int] = [
                setting for setting in settings if repr(setting) in str(error) or f"{setting}=" in str(error)
            ]
            yield (*place, *(told[:1] or [key])), str(error)
            return
