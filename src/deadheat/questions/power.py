"""Power: could a test set show a difference of this size."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, TypeAlias, Unpack

import numpy as np

from deadheat.arguments import Argument
from deadheat.corpus.reading import ReadingOptions
from deadheat.errors import InputError
from deadheat.questions import inputs
from deadheat.questions.counting import CountedRuns, count_runs
from deadheat.questions.designs import Prediction, expand_patterns
from deadheat.questions.joint import JointScores
from deadheat.questions.score import AUTO
from deadheat.results.data import Power
from deadheat.results.format import PERCENT, Scale
from deadheat.stats.noise import Noise, RunNoise
from deadheat.stats.power import PowerAnalysis, mcnemar_power, plan_power, simulate_mcnemar_power
from deadheat.study.ledger.ledger import LedgerEntry
from deadheat.text import pluralize

Difference: TypeAlias = Annotated[
    float | None, Argument("true difference that should be shown, in points: 0.5 is half a point", metavar="POINTS")
]
Size: TypeAlias = Annotated[
    int | None, Argument("sentences (or items) of a test set of another size", aliases=("--size",), metavar="N")
]
Documents: TypeAlias = Annotated[
    int | None, Argument("documents of a test set of another size, where documents vary", metavar="N")
]
MOST_ITEMS, MOST_EFFECT = 10**12, 1000  # beyond, the numbers are a mistake, and roundoff is larger than they are
Runs: TypeAlias = Annotated[int | None, Argument("planned runs of each system", metavar="R")]


def power(  # noqa: PLR0913 (the options of the command)
    gold: inputs.CorpusSources,
    systems: Mapping[str, inputs.CorpusSources],
    *,
    difference: Difference = None,
    metric: inputs.MetricName = "",
    unit: inputs.AnyUnit = AUTO,
    units: Size = None,
    documents: Documents = None,
    runs: Runs = None,
    alpha: inputs.Alpha = 0.05,
    target: inputs.Target = 0.8,
    seed: inputs.Seed = 0,
    align: inputs.Align = "text",
    ledger_entry: LedgerEntry | None = None,
    **reading: Unpack[ReadingOptions],
) -> Power:
    """Power of a test set to show a difference between two systems, which vary as their predictions at hand do.

    The observed difference plays no part.

    Parameters
    ----------
    systems
        The prediction of each of two systems by its name, or the predictions of its runs, or a pattern of their files
        such as `pred/*.conllu`.
    difference
        The true difference that should be shown, in points: 0.5 is half a point of LAS.
    unit
        What varies between test sets: `document` where several are marked, else `sentence`; or `token`.
    units, documents
        Ask for a test set of another size, in sentences or in documents.
    runs
        Ask for another number of runs of each system.
    ledger_entry
        Where to record the evaluation of a test set, see `docs/ledger.md`; nothing is recorded without it.
    """
    if len(systems) != 2:
        raise InputError(f"{pluralize(len(systems), 'system')}; expected two")
    gap = check_difference(difference)
    predictions = [
        Prediction("", gold, name, str(number), source)
        for name, sources in systems.items()
        for number, source in enumerate(expand_patterns(sources, gold), start=1)
    ]
    counted = count_runs(predictions, metric, unit=unit, align=align, ledger_entry=ledger_entry, reading=reading)
    measured = _measure(counted)
    planned = planned_runs(runs, tuple(systems), measured.noise.runs)
    analysis = plan_power(
        measured.noise,
        gap,
        rng=np.random.default_rng(seed),
        units=_planned_units(measured.unit, unit, units, documents),
        runs=planned,
        alpha=alpha,
        target=target,
    )
    signature = f"{counted.metric.name} | align {align} | unit {measured.unit}"
    recorded = counted.record(ledger_entry, signature)
    at_hand = measured.noise.runs
    single = [name for name, number in zip(systems, at_hand, strict=True) if number == 1]
    remark = f"one run of {' and of '.join(single)}: noise between runs is left out, so real power is lower"
    return replace(
        power_result(analysis, measured.unit),
        systems=tuple(systems),
        metric=counted.metric.label,
        measured_units=measured.noise.units,
        measured_runs=at_hand,
        runs=planned or at_hand,
        design_effect=measured.design_effect,
        evaluations=tuple(tally for item in recorded for tally in item.tallies),
        notes=(*(note for item in recorded for note in item.notes), *counted.notes, *((remark,) if single else ())),
    )


def check_difference(points: float | None, scale: Scale = PERCENT) -> float:
    """The difference to show as scores are stored, from points as they are shown."""
    if points is None:
        raise InputError("no difference to show; expected one in points, such as --difference 0.5")
    if not 0 < abs(points) <= (PERCENT.factor if scale.is_percent else sys.float_info.max):
        expected = f"points other than 0, up to {PERCENT.factor:g}" if scale.is_percent else "a number other than 0"
        raise InputError(f"difference {points:g}; expected {expected}")
    return abs(points) / scale.factor


def planned_runs(runs: int | None, systems: tuple[str, ...], at_hand: tuple[int, int]) -> tuple[int, int] | None:
    """The runs of each system that are asked about; None for those at hand."""
    if runs is None:
        return None
    if runs < 2:
        raise InputError(f"{pluralize(runs, 'run')} of each system; expected at least two")
    for name, number in zip(systems, at_hand, strict=True):
        if number < 2:
            expected = f"expected two or more runs of each, such as {name}=FILE {name}=FILE"
            raise InputError(f"{runs} planned runs, but the noise between runs is unknown for {name}; {expected}")
    return runs, runs


def _planned_units(unit: str, requested: str, units: int | None, documents: int | None) -> int | None:
    """The planned size of the test set; sentences are never taken for documents."""
    if documents is not None and (unit != "document" or units is not None):
        problem = "beside units" if units is not None else f"although {unit}s vary"
        raise InputError(f"{pluralize(documents, 'document')} {problem}; expected one size, in {unit}s")
    if units is not None and unit == "document" and requested == AUTO:
        expected = "expected --documents N, or --unit sentence"
        raise InputError(f"{pluralize(units, 'unit')}, although documents vary here; {expected}")
    planned = documents if units is None else units
    if planned is not None and planned > MOST_ITEMS:
        raise InputError(f"{planned:,} {unit}s; expected at most {MOST_ITEMS:,}")
    return planned


@dataclass(frozen=True, slots=True)
class _Measured:
    """The noise of two systems by some unit."""

    noise: Noise
    unit: str
    design_effect: float


def _measure(counted: CountedRuns) -> _Measured:
    """The noise of two systems, by the units that were counted."""
    joint = JointScores.of([counted.dataset], counted.metric.value)
    noise = Noise.of(*joint.scores.values())
    unit = counted.dataset.unit
    if noise.design(0.0, noise.units, noise.runs).estimate.error == 0:
        systems = " and ".join(joint.systems)
        problem = f"{systems}: their difference is the same on every {unit}, so there is no noise to measure"
        raise InputError(f"{problem}; expected predictions that vary")
    return _Measured(noise, unit, joint.design_effect(counted.dataset))


def power_result(analysis: PowerAnalysis, unit: str) -> Power:
    """A result that has the numbers of an analysis."""
    values = {field.name: getattr(analysis, field.name) for field in fields(analysis)}
    return Power(**values | {"needed": float(analysis.needed)}, unit=unit)


def assumed_power(  # noqa: PLR0913 (what a person would vary)
    items: int,
    first: float,
    second: float,
    *,
    agreement: float,
    design_effect: float = 1.0,
    runs: int | None = None,
    run_sd: float | None = None,
    alpha: float = 0.05,
    target: float = 0.8,
    seed: int = 0,
) -> Power:
    """Power to show that two accuracies differ, without data: of McNemar's test, or over planned runs.

    Parameters
    ----------
    items
        How many tokens (or sentences, ...) the test set has.
    first, second
        The assumed accuracies.
    agreement
        The share of items on which both systems are right or both are wrong.
    design_effect
        How many times as large the variance is because items of one document are alike; 1 for independent items.
    runs, run_sd
        Planned runs of each system, and the standard deviation of their scores in points.

    Examples
    --------
    >>> assumed_power(25_000, 0.970, 0.968, agreement=0.98)
    <Power: If the true difference is 0.20 points, a test set of 25,000 items shows it with a probability of 60.9%.>
    """
    if not 1 <= items <= MOST_ITEMS:
        raise InputError(f"{items} items; expected between 1 and {MOST_ITEMS:,}")
    if not 1 / MOST_EFFECT <= design_effect <= MOST_EFFECT:
        expected = f"expected a number above 0, 1 for independent items, from {1 / MOST_EFFECT:g} to {MOST_EFFECT:,}"
        raise InputError(f"design effect {design_effect:g}; {expected}")
    for name, value in (("accuracy", first), ("accuracy", second), ("agreement", agreement)):
        if not 0 <= value <= 1:
            raise InputError(f"{name} {value:g}; expected between 0 and 1")
    gap, discordant = first - second, 1 - agreement
    # Both right and both wrong must remain possible: |first + second - 1| <= agreement.
    if abs(gap) > discordant + 1e-12 or abs(first + second - 1) > agreement + 1e-12:
        least, most = abs(first + second - 1), 1 - abs(gap)
        raise InputError(
            f"accuracies {first:g} and {second:g} cannot agree on {agreement:g} of items; "
            f"expected between {least:g} and {most:g}"
        )
    chances, rng = (max(0.0, (discordant + gap) / 2), max(0.0, (discordant - gap) / 2)), np.random.default_rng(seed)
    analysis = mcnemar_power(items, *chances, alpha=alpha, target=target, design_effect=design_effect)
    if runs is None and run_sd is None:
        independent = max(1, round(items / design_effect))
        simulated = simulate_mcnemar_power(independent, *chances, rng=rng, alpha=alpha)
        return replace(power_result(replace(analysis, simulated=simulated), "item"), design_effect=design_effect)
    noise = _assumed_noise(items, design_effect * (discordant - gap**2), design_effect, runs, run_sd)
    analysis = plan_power(noise, gap, rng=rng, alpha=alpha, target=target)
    return replace(power_result(analysis, "item"), design_effect=design_effect, runs=noise.runs)


def _assumed_noise(items: int, per_unit: float, design_effect: float, runs: int | None, run_sd: float | None) -> Noise:
    if runs is None or run_sd is None:
        raise InputError("runs and their standard deviation go together; expected --runs R and --run-sd POINTS")
    if runs < 2 or not 0 <= run_sd <= PERCENT.factor:
        problem = f"{pluralize(runs, 'run')} of each system with a standard deviation of {run_sd:g}"
        raise InputError(f"{problem}; expected at least two runs, and between 0 and {PERCENT.factor:g} points")
    noise = RunNoise(runs, (run_sd / PERCENT.factor) ** 2)
    return Noise(items, items / design_effect, per_unit, math.inf, (noise, noise))
