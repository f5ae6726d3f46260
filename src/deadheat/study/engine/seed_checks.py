"""Whether seeds do what systems declare: predictions of different seeds, and of one seed trained twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from deadheat.registry import base_name, code_of, digest_of
from deadheat.study.engine.executor import Executor
from deadheat.study.engine.progress import Progress
from deadheat.study.engine.training import CellResult
from deadheat.study.plan.cells import DONE, Cell, Outcome
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from deadheat.systems import SYSTEMS

REPEAT_S, REPEAT_SHARE = 60.0, 0.1  # a repetition takes so many seconds at most, or this share of the cells of its code
Hashes = Mapping[str, Mapping[str, str]]  # of predictions, by cell and part
Code: TypeAlias = tuple[str, str]


def equal_seeds(plan: Plan, cells: Iterable[Cell], hashes: Hashes) -> Iterator[str]:
    """One note per system of which two seeds gave the same predictions, byte for byte, on all parts of a split."""
    groups: dict[str, dict[object, list[Cell]]] = defaultdict(lambda: defaultdict(list))
    for cell in cells:
        if hashes.get(cell.key):
            groups[cell.system][cell.corpus_split, cell.setup].append(cell)
    for system, by_split in groups.items():
        splits = [split for split in by_split.values() if len(split) > 1]
        pairs = [pair for split in splits if (pair := _first_equal(split, hashes))]
        if pairs:
            first, second = pairs[0]
            where = f"on {len(pairs):,} of {len(splits):,} splits"
            yield (
                f"{plan.label_of(system)}: two seeds gave the same predictions {where} (such as {first.seed} and "
                f"{second.seed}), so they do not count as independent runs. If the seed has no effect, declare "
                'randomness = "fixed" or "none".'
            )


def _first_equal(cells: Iterable[Cell], hashes: Hashes) -> tuple[Cell, Cell] | None:
    """Two cells with the same predictions."""
    seen: dict[tuple[tuple[str, str], ...], Cell] = {}
    for cell in cells:
        predictions = tuple(sorted(hashes[cell.key].items()))
        if predictions in seen:
            return seen[predictions], cell
        seen[predictions] = cell
    return None


def cells_to_repeat(plan: Plan, store: Store, keys: Iterable[str], checked: Iterable[str]) -> list[Cell]:
    """The quickest new cell of all settings of every user's code that was not checked, where a repetition is cheap."""
    known = {_code(name) for name in checked}
    codes = {name: code for name in plan.systems if _is_users(name) and (code := _code(name)) not in known}
    if not codes:
        return []
    times = dict(store.runs().filter(status=DONE).select("key", "wall_s").iter_rows())
    new, total, quickest = set(keys), defaultdict[Code, float](float), dict[Code, Cell]()
    for cell in plan.cells:
        if cell.system in codes and cell.key in times:
            code = codes[cell.system]
            total[code] += times[cell.key]
            best = quickest.get(code)
            if cell.key in new and (best is None or times[cell.key] < times[best.key]):
                quickest[code] = cell
    return [
        replace(cell, repeated=True)
        for code, cell in quickest.items()
        if times[cell.key] <= max(REPEAT_S, REPEAT_SHARE * total[code])
    ]


@dataclass(frozen=True, slots=True)
class Repetitions:
    """Whether systems predicted the same when they were trained again, and the errors of those that failed."""

    same: Mapping[str, bool]
    failed: Mapping[str, str]


def repeat_cells(
    executor: Executor[Cell, CellResult], cells: Iterable[Cell], hashes: Hashes, progress: Progress
) -> Repetitions:
    """Train cells again and compare their predictions; nothing is stored."""
    by_key = {cell.key: cell for cell in cells}
    for key, cell in by_key.items():
        executor.submit(key, cell)
    same: dict[str, bool] = {}
    failed: dict[str, str] = {}
    for result in executor.results(lambda: progress.tick(executor.active)):
        cell = by_key[result.name]
        progress.finished(Outcome(cell, result.status, wall_s=result.wall_s), executor.active)
        if result.value is not None:
            again = {part: prediction.sha256 for part, prediction in result.value.predictions.items()}
            same[cell.system] = again == dict(hashes[cell.key])
        else:
            failed[cell.system] = result.error.partition("\n")[0] or result.status
    return Repetitions(same, failed)


def repetition_notes(plan: Plan, repetitions: Repetitions) -> Iterator[str]:
    """One note per system that failed, or gave different predictions with one seed although it declares otherwise."""
    for system, is_same in repetitions.same.items():
        declared = SYSTEMS.make(system).randomness if system in plan.systems else "noise"
        if not is_same and declared != "noise":
            yield (
                f"{plan.label_of(system)}: two trainings with the same seed gave different predictions, so its results "
                'cannot be reproduced. If that is unavoidable, declare randomness = "noise" and run several seeds.'
            )
    for system, error in repetitions.failed.items():
        yield f"{plan.label_of(system)}: trained again with the same seed, it failed: {error}"


def _code(system: str) -> Code:
    """What the settings of a system have in common: its code, or its commands, and what it declares of its seed."""
    name = code_of(system) if digest_of(system) else system
    return name, SYSTEMS.make(system).randomness


def _is_users(system: str) -> bool:
    """Whether a system is code of a user: a function, or commands."""
    return bool(digest_of(system)) or base_name(system) == "command"
