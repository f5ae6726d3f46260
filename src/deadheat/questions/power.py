"""Power: could this test set have shown the difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Annotated, TypeAlias, Unpack

import numpy as np

from deadheat.arguments import Argument
from deadheat.corpus.reading import ReadingOptions
from deadheat.errors import InputError
from deadheat.questions import inputs
from deadheat.questions.compare import align_systems
from deadheat.results.data import Power
from deadheat.stats.power import PowerAnalysis, mcnemar_power, paired_power, simulate_mcnemar_power
from deadheat.study.ledger.ledger import LedgerEntry
from deadheat.text import pluralize

Size: TypeAlias = Annotated[
    int | None, Argument("units of a test set of another size", aliases=("--size",), metavar="N")
]


def power(  # noqa: PLR0913 (the options of the command)
    gold: inputs.CorpusSources,
    systems: Mapping[str, inputs.CorpusSource],
    *,
    metric: inputs.MetricName = "",
    unit: inputs.Unit = "sentence",
    units: Size = None,
    alpha: inputs.Alpha = 0.05,
    target: inputs.Target = 0.8,
    seed: inputs.Seed = 0,
    align: inputs.Align = "text",
    ledger_entry: LedgerEntry | None = None,
    **reading: Unpack[ReadingOptions],
) -> Power:
    """Power of a test set to show the difference between two systems, taking the observed units for the population.

    Parameters
    ----------
    systems
        Two predictions by the name of their system.
    units
        Ask for a test set of another size.
    ledger_entry
        Where to record the evaluation of a test set, see `docs/ledger.md`; nothing is recorded without it.
    """
    if len(systems) != 2:
        raise InputError(f"{pluralize(len(systems), 'system')}; expected two")
    aligned = align_systems(gold, systems, metric, unit, align, reading, ledger_entry)
    measure = aligned.metric
    counts, _ = aligned.common_counts([measure.counts(pair) for pair in aligned.pairs])
    signature = f"{measure.name} | align {align} | unit {unit}"
    recorded = inputs.record(ledger_entry, aligned.gold, aligned.systems.values(), [measure.name], signature)
    rng, (first, second) = np.random.default_rng(seed), counts.values()
    analysis = paired_power(first, second, measure.value, rng=rng, alpha=alpha, target=target, units=units)
    notes = (*recorded.notes, *aligned.notes)
    return replace(_result(analysis, unit), systems=tuple(systems), metric=measure.label, notes=notes)


def _result(analysis: PowerAnalysis, unit: str) -> Power:
    values = {field.name: getattr(analysis, field.name) for field in fields(analysis)}
    return Power(**values | {"needed": float(analysis.needed)}, unit=unit)


def assumed_power(
    items: int,
    first: float,
    second: float,
    *,
    agreement: float,
    alpha: float = 0.05,
    target: float = 0.8,
    seed: int = 0,
) -> Power:
    """Power of McNemar's test to show that two accuracies differ, without data.

    Parameters
    ----------
    items
        How many tokens (or sentences, ...) the test set has.
    first, second
        The assumed accuracies.
    agreement
        The share of items on which both systems are right or both are wrong.

    Examples
    --------
    >>> assumed_power(25_000, 0.970, 0.968, agreement=0.98)
    <Power: If the difference is 0.20 points, a test set of 25,000 items shows it with a probability of 60.9%.>
    """
    if items < 1:
        raise InputError(f"{items} items; expected at least one")
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
    chances = max(0.0, (discordant + gap) / 2), max(0.0, (discordant - gap) / 2)
    analysis = mcnemar_power(items, *chances, alpha=alpha, target=target)
    simulated = simulate_mcnemar_power(items, *chances, rng=np.random.default_rng(seed), alpha=alpha)
    return _result(replace(analysis, simulated=simulated), "item")
