"""Whether seeds do what systems declare: predictions of different seeds, and of one seed trained twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from deadheat.registry import base_name, digest_of
from deadheat.study.engine.executor import Executor
from deadheat.study.engine.progress import Progress
from deadheat.study.engine.training import CellResult
from deadheat.study.plan.cells import DONE, Cell, Outcome
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from deadheat.systems import SYSTEMS

REPEAT_S, REPEAT_SHARE = 60.0, 0.1  # a repetition takes so many seconds at most, or this share of the system's cells
Hashes = Mapping[str, Mapping[str, str]]  # of predictions, by cell and part


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
                f"{second.seed}), so they are not independent runs; if its seed has no effect, expected "
                'randomness = "fixed" or "none"'
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
    """The quickest new cell of every system of a user that was not checked, where a repetition is cheap."""
    users = {name for name in plan.systems if _is_users(name)} - set(checked)
    if not users:
        return []
    times = dict(store.runs().filter(status=DONE).select("key", "wall_s").iter_rows())
    new, total, quickest = set(keys), defaultdict[str, float](float), dict[str, Cell]()
    for cell in plan.cells:
        if cell.system in users and cell.key in times:
            total[cell.system] += times[cell.key]
            best = quickest.get(cell.system)
            if cell.key in new and (best is None or times[cell.key] < times[best.key]):
                quickest[cell.system] = cell
    return [
        replace(cell, repeated=True)
        for system, cell in quickest.items()
        if times[cell.key] <= max(REPEAT_S, REPEAT_SHARE * total[system])
    ]


def repeat_cells(
    executor: Executor[Cell, CellResult], cells: Iterable[Cell], hashes: Hashes, progress: Progress
) -> dict[str, bool]:
    """Train cells again, and say for each system whether it predicted the same; nothing is stored."""
    by_key = {cell.key: cell for cell in cells}
    for key, cell in by_key.items():
        executor.submit(key, cell)
    same: dict[str, bool] = {}
    for result in executor.results(lambda: progress.tick(executor.active)):
        cell = by_key[result.name]
        progress.finished(Outcome(cell, result.status, wall_s=result.wall_s), executor.active)
        if result.value is not None:
            again = {part: prediction.sha256 for part, prediction in result.value.predictions.items()}
            same[cell.system] = again == dict(hashes[cell.key])
    return same


def unequal_repetitions(plan: Plan, same: Mapping[str, bool]) -> Iterator[str]:
    """One note per system that gave different predictions with one seed, although it declares otherwise."""
    for system, is_same in same.items():
        declared = SYSTEMS.make(system).randomness if system in plan.systems else "noise"
        if not is_same and declared != "noise":
            yield (
                f"{plan.label_of(system)}: trained twice with one seed, it gave different predictions, but declares "
                f'randomness = "{declared}": its results cannot be repeated; expected "noise", and several seeds'
            )


def _is_users(system: str) -> bool:
    """Whether a system is code of a user: a function, or commands."""
    return bool(digest_of(system)) or base_name(system) == "command"
