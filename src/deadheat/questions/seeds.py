"""Is it the method or the seed: scores over seeds, on one test set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, TypeAlias

import numpy as np

from deadheat.arguments import Argument
from deadheat.errors import InputError
from deadheat.items.options import RUNS, ItemSource
from deadheat.items.table import ItemTable
from deadheat.questions import inputs
from deadheat.questions.contrast import setting_columns
from deadheat.questions.item_ledger import record_items
from deadheat.questions.item_runs import TASK, open_item_runs, runs_of_items
from deadheat.ranking.aso_rates import aso_false_alarms
from deadheat.ranking.contrasts import Codes, configuration_keys
from deadheat.ranking.seed_power import fixed_freedom
from deadheat.ranking.seeds import SystemPair, density, dev_test, run_range, seed_differences, system_pairs
from deadheat.results.format import PERCENT, Scale
from deadheat.results.runs import SeedBlock, Seeds, SystemRuns
from deadheat.results.verdict import Claim, Evidence, Verdict, margin_of
from deadheat.stats.checks import Values, check_alpha
from deadheat.stats.corrections import correct
from deadheat.stats.distributions import summary
from deadheat.study.ledger.ledger import LedgerEntry, RecordedEvaluations
from deadheat.tables.matrix import is_in_range, mixed_scales, range_expected
from deadheat.tables.repeats import check_repeats
from deadheat.tables.table import SYSTEMS, Path, Runs
from deadheat.text import pluralize

MAX_SYSTEMS = 100  # 4,950 pairs
MAX_SCORES = 2000  # of a system, that the result holds one by one
QUANTILES = np.linspace(0, 1, 201)  # instead of more scores
ALL_RUNS = "all runs"
SEED, CONFIGURATION = "seed", "configuration"  # what pairs compare
SOURCES = {SEED: "runs on this test set", CONFIGURATION: "configurations on this test set"}


ComparePairs: TypeAlias = Callable[[Mapping[str, Values]], tuple[SystemPair, ...]]
Difference: TypeAlias = Annotated[
    float | None,
    Argument("difference for which the seeds needed are computed (default: the observed one)", metavar="D"),
]


def seeds(  # noqa: PLR0913 (the options of the command)
    runs: Path | Runs | ItemSource,
    *,
    score: inputs.ScoreColumn = "",
    system: inputs.SystemColumn = "",
    dev: inputs.DevColumn = "",
    by: inputs.ByColumn = "",
    where: inputs.Where = (),
    ignore: inputs.Ignore = (),
    settings: inputs.SettingColumns = (),
    difference: Difference = None,
    alpha: inputs.Alpha = 0.05,
    target: inputs.Target = 0.8,
    correction: inputs.Correction = "holm",
    margin: inputs.Margin = None,
    resamples: inputs.Resamples = 1000,
    seed: inputs.Seed = 0,
    metric: inputs.MetricName = "",
    ledger_entry: LedgerEntry | None = None,
) -> Seeds:
    """Compare systems by their scores over seeds, on one test set.

    Every two systems have the difference of their means with a confidence interval and a p-value by Welch's test,
    corrected for all pairs. What runs on one test set show is about this test set: whether a difference would hold on
    another, `compare` tells from the predictions of all runs.

    Parameters
    ----------
    runs
        A table with one row per run: a file, or what `read_runs` returns. Or scores of items by several runs, in a
        table or logs: the score of a run is its mean over the items, and over tasks unless `by` is `task`.
    score, system, dev
        The columns of (test) scores, where higher is better, of systems, and of development scores. Without `system`
        the column is found by its name; if there is none, all runs are one system.
    by
        Compare systems separately for each level of this column.
    where
        Conditions COLUMN=VALUE that the runs must meet.
    ignore, settings
        Columns that are not settings, and columns that are settings although their names look like results. Runs that
        agree in all settings are runs of one configuration, which differ by their seeds alone.
    difference
        The difference of means for which the number of seeds is computed; the observed one by default.
    target
        The power with which the difference should be found.
    margin
        Differences up to this many points count as equal; by default 0.5 for percentages, and none for other scores.
    metric
        What the scores are; by default the name of their column. Of items, one of their metrics.
    ledger_entry
        Where to record the evaluation of items that are a test set; tables of runs are not recorded.
    """
    check_alpha(alpha)
    correct([], correction)
    if difference is not None and not is_in_range(np.array(difference)):
        raise InputError(f"difference {difference:g}; {range_expected(difference)}")
    ignore, settings = tuple(ignore), tuple(settings)
    if resamples < 2:
        raise InputError(f"{resamples} resamples; expected at least 2")
    opened = open_item_runs(runs)
    recorded = RecordedEvaluations()
    if isinstance(opened, ItemTable):
        _refuse_for_items(opened, by, where=where, dev=dev, settings=settings)
        means = runs_of_items(opened, metric, by_task=bool(by))
        recorded = record_items(ledger_entry, replace(opened, repeats=RUNS), [means.metric], f"seeds {by}")
        opened, score, system, metric = means.runs, "score", "system", means.metric
        recorded, ignore = replace(recorded, notes=(*recorded.notes, *means.notes)), ("task",)
    table = opened.where(where)
    if not score:
        raise InputError(f"{table.path}: no column of scores; expected --score to name it")
    score, dev, by = map(table.optional, (score, dev, by))
    named, system = bool(system), table.find(system, SYSTEMS, what="systems", option="--system")
    system = "" if not named and system in (score, dev, by) else system
    table.distinct(score=score, dev=dev, system=system, by=by)
    configured, _ = setting_columns(table, {score, dev, by, system}, ignore, settings)
    levels_N, levels = table.codes(by)
    systems_N, systems = table.codes(system) if system else (np.zeros_like(levels_N), (ALL_RUNS,))
    arrays = _Arrays(
        table.scores(score),
        table.scores(dev) if dev else None,
        systems_N,
        systems,
        configuration_keys([systems_N, *(table.codes(name)[0] for name in configured)], len(table)),
    )
    notes = check_repeats(table, [system, by], [score, dev], settings=settings, ignore=ignore)
    compare = partial(
        system_pairs, alpha=alpha, correction=correction, resamples=resamples, difference=difference, target=target
    )
    blocks = []
    for i, level in enumerate(levels):
        location = f"{table.path}: {level}" if level else table.path
        rows = np.flatnonzero(levels_N == i)
        present = ((name, arrays.scores_N[rows][systems_N[rows] == k]) for k, name in enumerate(systems))
        mixed = mixed_scales((group for group in present if len(group[1])), "of")
        notes += tuple(f"{level}: {note}" if level else note for note in mixed)
        blocks.append(_block(location, level, arrays, rows, partial(compare, rng=np.random.default_rng(seed))))
    scale, dev_scale = (
        PERCENT if scores is None else Scale.of(scores.tolist()) for scores in (arrays.scores_N, arrays.dev_N)
    )
    width = margin_of(margin, scale)
    claims = [claim for block in blocks for claim in _claims(block, alpha, metric or score, scale, width)]
    verdict = Verdict(tuple(claims), sum(len(block.pairs) for block in blocks) - len(claims), len(systems))
    return Seeds(
        *(score, dev, system, by, tuple(configured), alpha, correction, width, target, resamples, seed),
        tuple(blocks),
        verdict,
        scale,
        dev_scale,
        metric or score,
        notes=(*recorded.notes, *notes, *(note for block in blocks for note in _notes(block))),
    )


def _refuse_for_items(table: ItemTable, by: str, **options: object) -> None:
    """Refuse what is for tables of runs."""
    given = next((name.replace("settings", "setting") for name, value in options.items() if value), "")
    if by not in ("", TASK):
        raise InputError(f"{table.source}: --by {by} with scores of items; expected --by {TASK}, or none")
    if given:
        raise InputError(f"{table.source}: --{given} with scores of items; expected it with a table of runs only")


def _claims(block: SeedBlock, alpha: float, metric: str, scale: Scale, margin: float) -> Iterator[Claim]:
    """The system with the best mean against all others."""
    best, *others = block.ranked()
    for other in others:
        pair = block.pair(best.system, other.system)
        low, high = pair.means.interval.bounds
        evidence = Evidence(
            SOURCES[block.unit],
            block.state(best.system, other.system, margin),
            difference=best.compared_mean - other.compared_mean,
            low=low if pair.a == best.system else -high,
            high=high if pair.a == best.system else -low,
            p=pair.means.p_corrected,
            count=best.compared + other.compared,
            margin=margin,
            detectable=pair.detectable,
        )
        yield Claim(best.system, other.system, metric, (evidence,), block.level, scale, alpha)


def _notes(block: SeedBlock) -> Iterator[str]:
    where = block.level or "all runs"
    if block.differences is None:
        yield f"{where}: no two runs agree in all settings, so the variation between seeds is unknown"
    if block.pairs and block.unit == CONFIGURATION:
        reason = "some systems were run with several configurations, so pairs compare the means of configurations"
        yield f"{where}: {reason}; select runs with --where, or exclude a column that is not a setting with --ignore"
    compared = {row.system: row.compared for row in block.systems}
    unequal = [
        f"{pair.a} - {pair.b}"
        for pair in block.pairs
        if fixed_freedom((compared[pair.a], compared[pair.b]), pair.power.alpha / pair.power.comparisons)
    ]
    if unequal:
        others = f" and {pluralize(len(unequal) - 3, 'other pair')}" if len(unequal) > 3 else ""
        reason = "the numbers of runs are so unequal that Welch's test would find too many differences"
        instead = "the degrees of freedom are those of the system with fewer runs"
        yield f"{where}: {', '.join(unequal[:3])}{others}: {reason}; {instead}"


@dataclass(frozen=True, slots=True, eq=False)
class _Arrays:
    scores_N: Values
    dev_N: Values | None
    systems_N: Codes
    systems: tuple[str, ...]
    keys_N: Codes  # the configuration of every run


def _block(where: str, level: str, arrays: _Arrays, rows: Codes, compare: ComparePairs) -> SeedBlock:
    rows_of = {
        name: selected for i, name in enumerate(arrays.systems) if len(selected := rows[arrays.systems_N[rows] == i])
    }
    if len(rows_of) > MAX_SYSTEMS:
        problem = f"{pluralize(len(rows_of), 'system')}; expected at most {MAX_SYSTEMS} to compare all pairs"
        raise InputError(f"{where}: {problem}")
    keys = arrays.keys_N[rows]
    repeated = len(np.unique(keys)) < len(keys)
    averaged = repeated and any(len(np.unique(arrays.keys_N[selected])) > 1 for selected in rows_of.values())
    compared = {
        name: _means(arrays, selected) if averaged else arrays.scores_N[selected] for name, selected in rows_of.items()
    }
    pairs = compare(compared)
    return SeedBlock(
        level,
        CONFIGURATION if averaged else SEED,
        tuple(_system(name, arrays, selected, compared[name]) for name, selected in rows_of.items()),
        pairs,
        seed_differences(keys, arrays.scores_N[rows]) if repeated else None,
        aso_false_alarms([len(values) for values in compared.values()], pairs[0].aso_a.alpha) if pairs else None,
    )


def _system(name: str, arrays: _Arrays, rows: Codes, compared: Values) -> SystemRuns:
    scores, dev = arrays.scores_N[rows], None if arrays.dev_N is None else arrays.dev_N[rows]
    means = (len(compared), float(compared.mean()))
    if len(scores) > MAX_SCORES:
        kept = ((), tuple(np.quantile(scores, QUANTILES).tolist()), ())
    else:
        kept = (tuple(scores.tolist()), (), () if dev is None else tuple(dev.tolist()))
    predicted = None if dev is None else dev_test(dev, scores)
    is_one = len(scores) > 1 and len(np.unique(arrays.keys_N[rows])) == 1
    return SystemRuns(
        name, summary(scores), *means, density(scores), *kept, predicted, run_range(scores) if is_one else None
    )


def _means(arrays: _Arrays, rows: Codes) -> Values:
    """The mean score of every configuration."""
    indices, sizes = np.unique(arrays.keys_N[rows], return_inverse=True, return_counts=True)[1:]
    means: Values = np.bincount(indices, arrays.scores_N[rows]) / sizes
    return means
