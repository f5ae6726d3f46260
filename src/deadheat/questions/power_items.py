"""Power on scores of items: could these items, with so many attempts at each, show a difference of this size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, TypeAlias, Unpack

from deadheat.arguments import Argument
from deadheat.items.options import ItemColumns, ItemSource
from deadheat.questions import inputs
from deadheat.questions.compare_items import Repeats
from deadheat.questions.power import Difference, Runs, Size
from deadheat.questions.score import AUTO
from deadheat.results.data import Power
from deadheat.study.ledger.ledger import LedgerEntry

Attempts: TypeAlias = Annotated[int | None, Argument("planned attempts of each system at every item", metavar="K")]
PairOfSystems: TypeAlias = Annotated[
    Sequence[str], Argument("the two systems, of more than two in a table", metavar="SYSTEM", several=True)
]


def power_items(  # noqa: PLR0913 (the options of the command)
    items: ItemSource,
    *,
    difference: Difference = None,
    pair: PairOfSystems = (),
    metric: inputs.MetricName = "",
    unit: inputs.AnyUnit = AUTO,
    units: Size = None,
    attempts: Attempts = None,
    runs: Runs = None,
    errors: inputs.Errors = inputs.OMIT,
    repeats: Repeats = "auto",
    alpha: inputs.Alpha = 0.05,
    target: inputs.Target = 0.8,
    seed: inputs.Seed = 0,
    ledger_entry: LedgerEntry | None = None,
    partial: inputs.Partial = False,
    **columns: Unpack[ItemColumns],
) -> Power:
    """Power of a set of items to show a difference between two systems, whose scores vary as those at hand do.

    The observed difference plays no part.

    Parameters
    ----------
    items, metric, unit, errors, repeats, ledger_entry, partial, columns
        As in `compare_items`.
    difference
        The true difference that should be shown, in points: 2 is two points of accuracy.
    pair
        The two systems, where the table has more.
    units
        Ask for another number of items, or of clusters of items where these vary.
    attempts, runs
        Ask for another number of attempts of each system at every item, or of runs.

    Examples
    --------
    >>> rows = [{"item": i, "epoch": k, "model": name, "correct": int((7 * i + 5 * k * (i % 3)) % 11 < right)}
    ...         for i in range(90) for k in range(4) for name, right in {"large": 6, "small": 5}.items()]
    >>> power_items(rows, difference=5)  # doctest: +NORMALIZE_WHITESPACE
    <Power: If large and small truly differ by 5.00 points of accuracy, a test set of 90 items with 4 attempts of each
    system shows it with a probability of 36.8%.>
    """
    from deadheat.items.sources import open_items
    from deadheat.questions.item_ledger import record_items
    from deadheat.questions.item_power import PowerSettings, power_of_table

    table = open_items(items, partial=partial, **columns)
    planned = PowerSettings(difference, units, attempts, runs, alpha, target, seed)
    result = power_of_table(table, planned, pair=pair, metric=metric, unit=unit, errors=errors, repeats=repeats)
    recorded = record_items(ledger_entry, table.only(system=result.systems), [result.metric], f"unit {result.unit}")
    return replace(result, notes=(*recorded.notes, *result.notes), evaluations=recorded.tallies)
