"""Power of the items of a table, and what more items or attempts would buy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from deadheat.errors import InputError
from deadheat.items.options import RUNS
from deadheat.items.table import ItemTable
from deadheat.questions.item_comparison import scale_of
from deadheat.questions.item_counts import ITEM, CountedItems, count_items
from deadheat.questions.joint import JointScores
from deadheat.questions.power import check_difference, planned_runs, power_result
from deadheat.questions.score import AUTO
from deadheat.questions.shared_tasks import check_shared_tasks
from deadheat.results.data import Power
from deadheat.stats.estimates import RunScores
from deadheat.stats.noise import Noise
from deadheat.stats.power import AttemptsPlan, plan_attempts, plan_power
from deadheat.text import join_names, pluralize

Pair: TypeAlias = tuple[RunScores, RunScores]


@dataclass(frozen=True, slots=True)
class PowerSettings:
    """What is planned."""

    difference: float | None
    units: int | None
    attempts: int | None
    runs: int | None
    alpha: float
    target: float
    seed: int


def power_of_table(
    table: ItemTable,
    planned_at: PowerSettings,
    *,
    pair: Sequence[str],
    metric: str,
    unit: str,
    errors: str,
    repeats: str,
) -> Power:
    """Power of the items of a table to show a difference between two of its systems."""
    systems = _two_systems(table, pair)
    table = replace(table.only(system=systems), repeats=table.repeats if repeats == "auto" else repeats)
    counted = count_items(table, metric=metric, unit=unit, unscored=errors)
    lacking = check_shared_tasks(table.source, counted.datasets)
    if lacking:
        table = table.only(task=[dataset.name for dataset in counted.datasets if len(dataset.counts) == len(systems)])
        counted = count_items(table, metric=metric, unit=unit, unscored=errors)
    noise, pair_scores = _noise(table, counted, systems, errors)
    planned = _planned(noise, planned_at.attempts, planned_at.runs, systems)
    if planned_at.units is not None and unit == AUTO and counted.unit != ITEM:
        expected = f"expected --unit {counted.unit}, or --unit {ITEM}"
        raise InputError(f"{pluralize(planned_at.units, 'unit')}, although {counted.unit}s vary here; {expected}")
    scale = scale_of(counted)
    gap = check_difference(planned_at.difference, scale)
    analysis = plan_power(
        noise,
        gap,
        rng=np.random.default_rng(planned_at.seed),
        units=planned_at.units,
        runs=planned,
        alpha=planned_at.alpha,
        target=planned_at.target,
    )
    plans: tuple[AttemptsPlan, ...] = ()
    if noise.are_attempts and min(noise.runs) > 1:
        more = max(planned or noise.runs)
        plans = plan_attempts(
            noise, gap, units=analysis.units, more=more, alpha=planned_at.alpha, target=planned_at.target
        )
    return replace(
        power_result(analysis, counted.unit),
        systems=systems,
        metric=counted.metric.name,
        measured_units=noise.units,
        measured_runs=noise.runs,
        runs=planned or noise.runs,
        repeat="attempt" if noise.are_attempts else "run",
        design_effect=_design_effect(table, counted, systems, pair_scores, errors),
        scale=scale,
        attempts=plans,
        notes=tuple(dict.fromkeys([*table.notes, *counted.notes, *lacking, *_remarks(noise, systems)])),
    )


def _two_systems(table: ItemTable, pair: Sequence[str]) -> tuple[str, str]:
    names = list(dict.fromkeys(pair)) or table.systems
    if len(names) != 2:
        listed = f" ({join_names(names)})" if names else ""
        expected = "two, or --pair A B to name them" if len(names) > 2 and not pair else "two"
        raise InputError(f"{table.source}: {pluralize(len(names), 'system')}{listed}; expected {expected}")
    return names[0], names[1]


def _scores(counted: CountedItems, systems: Sequence[str]) -> Pair:
    """The scores of two systems over all tasks, each of which has the same weight."""
    joint = JointScores.of(counted.datasets, counted.metric.aggregate.value)
    scores = list[RunScores]()
    for system in systems:
        parts = [joint.scores[dataset.name, system] for dataset in counted.datasets]
        if len({part.runs for part in parts}) > 1:
            runs = ", ".join(
                f"{dataset.name} {part.runs}" for dataset, part in zip(counted.datasets, parts, strict=True)
            )
            raise InputError(f"{system}: runs differ between tasks ({runs}); expected the same number on each")
        scores.append(RunScores.joined(parts) if len(parts) > 1 else parts[0])
    return scores[0], scores[1]


def _noise(table: ItemTable, counted: CountedItems, systems: tuple[str, str], errors: str) -> tuple[Noise, Pair]:
    """The noise of two systems; that of attempts by the items at which all attempts have a score."""
    pair = _scores(counted, systems)
    if table.repeats == RUNS:
        noise = Noise.of(*pair)
    else:
        single = [_attempts(table, counted, system, errors) for system in systems]
        noise = Noise.of_attempts(*pair, (single[0], single[1]))
    if noise.design(0.0, noise.units, noise.runs).estimate.error == 0:
        problem = f"{' and '.join(systems)}: their difference is the same on every {counted.unit}"
        raise InputError(f"{problem}, so there is no noise to measure; expected scores that vary")
    return noise, pair


def _attempts(table: ItemTable, counted: CountedItems, system: str, errors: str) -> RunScores | None:
    """Single attempts of a system, counted as its runs; None where attempts cannot be told from items."""
    alone = replace(table.only(system=[system]), repeats=RUNS)
    try:
        as_runs = count_items(alone, metric=counted.metric.name, unit=counted.unit, unscored=errors)
    except InputError:  # no item at which all attempts have a score
        return None
    numbers = {dataset.counts[system].shape[0] for dataset in as_runs.datasets}
    return None if len(numbers) > 1 or numbers == {1} else _scores(as_runs, [system, system])[0]


def _planned(noise: Noise, attempts: int | None, runs: int | None, systems: tuple[str, str]) -> tuple[int, int] | None:
    """The attempts or runs that are asked about; None for those at hand."""
    if not noise.are_attempts:
        if attempts is not None:
            raise InputError("planned attempts, although the repeats are runs; expected --runs, or --repeats attempts")
        return planned_runs(runs, systems, noise.runs)
    if runs is not None:
        raise InputError("planned runs, although the repeats are attempts; expected --attempts, or --repeats runs")
    if attempts is None:
        return None
    if attempts < 1:
        raise InputError(f"{pluralize(attempts, 'attempt')}; expected at least one")
    single = [name for name, number in zip(systems, noise.runs, strict=True) if number == 1]
    if single:
        problem = f"{pluralize(attempts, 'planned attempt')}, but the noise between attempts is unknown for"
        raise InputError(f"{problem} {' and '.join(single)}; expected two or more attempts of each at every item")
    return attempts, attempts


def _design_effect(
    table: ItemTable, counted: CountedItems, systems: Sequence[str], clustered: Pair, errors: str
) -> float:
    """The variance of the difference by clusters of items over that by items; NaN without clusters."""
    if counted.unit == ITEM:
        return math.nan
    by_item = _scores(count_items(table, metric=counted.metric.name, unit=ITEM, unscored=errors), systems)
    coarse, fine = (pair[0].minus(pair[1]).variance_of("units") for pair in (clustered, by_item))
    return coarse / fine if fine > 0 else math.nan


def _remarks(noise: Noise, systems: tuple[str, str]) -> list[str]:
    single = " and ".join(name for name, number in zip(systems, noise.runs, strict=True) if number == 1)
    if not single:
        return []
    if noise.are_attempts:
        reason = "one attempt at every item, or not the same number at each"
        return [f"{single}: {reason}, so attempts cannot be planned from these data"]
    return [f"one run of {single}: noise between runs is left out, so real power is lower"]
