"""Which differences between systems are real, on scores of single items: tables, DataFrames, logs of evaluations."""

from __future__ import annotations

from typing import Annotated, TypeAlias, Unpack

from deadheat.arguments import Argument
from deadheat.items.options import ATTEMPTS, RUNS, ItemColumns, ItemSource
from deadheat.questions import inputs
from deadheat.questions.compare import SpendAlpha, TestName
from deadheat.questions.score import AUTO
from deadheat.results.compare import Comparison, PairwiseSettings
from deadheat.study.ledger.ledger import LedgerEntry

Repeats: TypeAlias = Annotated[
    str,
    Argument("what repeats are: systems trained again, or attempts at the same item", choices=("auto", RUNS, ATTEMPTS)),
]
PassAt: TypeAlias = Annotated[int, Argument("compare the chance that one of K attempts is right", metavar="K")]


def compare_items(  # noqa: PLR0913 (the options of the command)
    items: ItemSource,
    *,
    metric: inputs.MetricName = "",
    unit: inputs.AnyUnit = AUTO,
    errors: inputs.Errors = inputs.OMIT,
    repeats: Repeats = "auto",
    pass_at: PassAt = 0,
    test: TestName = "",
    correction: inputs.Correction = "holm",
    alpha: inputs.Alpha = 0.05,
    margin: inputs.Margin = None,
    reference: inputs.Reference = "",
    resamples: inputs.Resamples = 10_000,
    seed: inputs.Seed = 0,
    spend_alpha: SpendAlpha = False,
    ledger_entry: LedgerEntry | None = None,
    partial: inputs.Partial = False,
    **columns: Unpack[ItemColumns],
) -> Comparison:
    """Compare systems by their scores on the same items, of one task or several.

    Parameters
    ----------
    items
        A table with a row for every item and system, or a row for every item and a column for every system: a file, a
        DataFrame, rows, or columns. Or logs of evaluations: files and folders, perhaps by the names of their systems.
    metric
        One of the metrics of the table, by default the first.
    unit
        `item`; or the column that says what items belong together, such as `passage`, which is taken where it is
        declared.
    errors
        Items without a score are left out of all systems (`omit`) or count as wrong (`zero`).
    repeats
        Whether repeated scores of an item are `runs`, of a system that was trained again, or `attempts` of the same
        one. By default columns called `run` or `seed` are runs.
    pass_at
        Compare the chance that one of so many attempts is right, instead of their mean.
    test, correction, alpha, margin, reference, resamples, seed, spend_alpha, ledger_entry
        As in `deadheat.compare`.
    partial
        Accept logs of runs that did not finish, and repeats with only some of the items.
    columns
        The columns of a table where their names do not tell: `item`, `system`, `score`, `run`, `task`, `cluster`,
        `metric_column`; and `ignore`, those that are no systems in a table with a column for every system.

    Examples
    --------
    >>> rows = [{"item": i, "model": name, "correct": int(i % 5 < right)} for i in range(60)
    ...         for name, right in {"large": 4, "small": 2}.items()]
    >>> compare_items(rows)  # doctest: +NORMALIZE_WHITESPACE
    <Comparison: large is better than small by 40.00 points of accuracy (95% CI [+26.81, +53.19], p = 2.1e-06).>
    """
    from deadheat.items.sources import open_items
    from deadheat.questions.item_comparison import ItemSettings, compare_table
    from deadheat.questions.item_ledger import record_items, with_looks

    table = open_items(items, partial=partial, **columns)
    chosen = ItemSettings(metric, unit, errors, repeats, pass_at)

    def at(level: float) -> Comparison:
        pairwise = PairwiseSettings(test, correction, level, resamples, seed, margin)
        return compare_table(table, pairwise, chosen, reference=reference)

    result = at(alpha)
    recorded = record_items(ledger_entry, table, [result.metric_name], result.signature)
    return with_looks(result, recorded, again=at, spend_alpha=spend_alpha)
