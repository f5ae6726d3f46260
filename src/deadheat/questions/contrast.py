"""Which option of a factor wins over all configurations, and which factors matter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias

import numpy as np

from deadheat.arguments import Argument
from deadheat.errors import InputError
from deadheat.questions.inputs import Alpha, ByColumn, Correction, Ignore, ScoreColumn, Seed, SettingColumns, Where
from deadheat.ranking.contrasts import REPEATS, TIES, Codes, configuration_keys, contrast_options, paired_scores
from deadheat.ranking.importance import Importance, factor_importance
from deadheat.results.format import Scale
from deadheat.results.runs import AverageWins, Contrast, ContrastBlock
from deadheat.results.verdict import Claim, Evidence, Verdict
from deadheat.stats.checks import Values, check_alpha
from deadheat.stats.corrections import correct
from deadheat.tables.matrix import mixed_scales
from deadheat.tables.repeats import IDENTITIES, check_repeats, is_result, words_of
from deadheat.tables.table import Path, Runs, open_runs

# Columns that a table of runs does not have.
ITEMS = ("item", "item_id", "question_id", "example_id", "instance_id", "sample_id", "doc_id", "segment_id")

MAX_OPTIONS = 50
EMPTY = "(empty)"  # the option of runs without a value


OptionNames: TypeAlias = Annotated[
    Iterable[str], Argument("only this option of the factor", flag="--option", metavar="NAME", repeat=True)
]
Repeats: TypeAlias = Annotated[
    str, Argument("runs of one configuration: use their mean, or pair each (tests use means)", choices=REPEATS)
]
Ties: TypeAlias = Annotated[
    str, Argument("ties: the win goes to the option with most wins, or is shared", choices=TIES)
]


def contrast(  # noqa: PLR0913 (the options of the command)
    runs: Path | Runs,
    *,
    score: ScoreColumn,
    factor: Annotated[str, Argument("column whose options are compared", metavar="COLUMN")] = "",
    by: ByColumn = "",
    second: Annotated[str, Argument("a second factor: compare for each of its values", metavar="COLUMN")] = "",
    where: Where = (),
    ignore: Ignore = (),
    settings: SettingColumns = (),
    options: OptionNames = (),
    repeats: Repeats = "mean",
    ties: Ties = "most",
    alpha: Alpha = 0.05,
    correction: Correction = "holm",
    importance: Annotated[bool, Argument("how much of the variance each setting explains")] = False,
    seed: Seed = 0,
) -> Contrast:
    """Compare the options of a factor over runs that agree in every other setting.

    Parameters
    ----------
    runs
        A table with one row per run: a file, or what `read_runs` returns.
    score, factor
        The column of scores, where higher is better, and the column whose options are compared.
    by
        Make a table for every level of this column; runs are paired within a level.
    second
        A second factor: the same table for each of its levels.
    where
        Conditions COLUMN=VALUE that the runs must meet.
    ignore
        Columns in which paired runs may differ. Columns without a value that all options share, such as the size of
        something that only one option has, are ignored automatically.
    settings
        Columns that are settings although their names look like results or names of runs.
    options
        Only these options of the factor (all).
    repeats
        Runs of the same settings and option: use their `mean`, or pair `each` with one of every other option, for wins,
        medians and differences; tests use the means of configurations in any case.
    ties
        Where several options share the highest score: the win goes to the one with `most` others, or they `share` it.
    alpha, correction
        Significance level, and correction of p-values for all pairs of options in a table: `holm`, `bonferroni`, `bh`
        or `none`.
    importance
        Also compute how much of the variance of scores each setting explains.
    """
    if not factor and not importance:
        raise InputError("contrast: no factor; expected the column whose options are compared, or importance")
    check_alpha(alpha)
    correct([], correction)
    ignore, settings = tuple(ignore), tuple(settings)
    table = open_runs(runs).where(where)
    items = next((name for name in table.frame.columns if name.lower() in ITEMS), "")
    if items:
        expected = "expected one row per run (deadheat compare and seeds take scores of items)"
        raise InputError(f"{table.path}: scores of items (column {items}); {expected}")
    score, factor, by, second = map(table.optional, (score, factor, by, second))
    table.distinct(score=score, factor=factor, by=by)
    table.distinct(score=score, factor=factor, second=second)
    if options:
        table = table.where([f"{factor}={option}" for option in options])
    paired, unpaired = setting_columns(table, {score, factor, by}, ignore, settings)
    if second and second not in paired:
        expected = f"one of the settings ({', '.join(paired)})" if paired else "a table with other settings"
        raise InputError(f"{table.path}: second factor {second}; expected {expected}")
    scores = table.scores(score)
    notes = list(check_repeats(table, [factor, by], [score], settings=settings, ignore=ignore))
    levels_N, levels = table.codes(by)
    design = _Design(table, factor, tuple(paired), second, scores, levels_N, levels)
    required = {table.column(name) for name in settings}
    dependent = [name for name in design.dependent_settings() if name not in required] if factor else []
    if dependent:
        unpaired += dependent
        paired = [name for name in paired if name not in dependent]
        design = replace(design, settings=tuple(paired))
        verb = "has" if len(dependent) == 1 else "have"
        notes.append(
            f"{', '.join(dependent)} {verb} no value that all options of {factor} share, so runs are not paired on it"
        )
    blocks: tuple[ContrastBlock, ...] = ()
    if factor:
        blocks, more = design.blocks(repeats, ties, correction)
        options_N, names = table.codes(factor)
        notes += [*more, *mixed_scales(((name, scores[options_N == i]) for i, name in enumerate(names)), "of")]
    shares: dict[str, Importance] = {}
    if importance:
        rng = np.random.default_rng(seed)
        columns = [*([factor] if factor else []), *paired]
        shares = {level: _importance(design, i, columns, rng) for i, level in enumerate(levels)}
        reason = "the forest does not predict the scores of unseen runs, so its shares are chance"
        notes += [f"{level or table.path}: {reason}" for level, share in shares.items() if share.is_chance]
    scale = Scale.of((float(scores.min()), float(scores.max())))
    claims = tuple(claim for block in blocks for claim in _claims(block, second, alpha, score, scale))
    compared = len({option.option for block in blocks for option in block.comparison.options})
    roles = (factor, score, by, second, tuple(paired), tuple(unpaired))
    outcome = (blocks, shares, Verdict(claims, systems=compared))
    asked = (repeats, ties, alpha, correction, seed, len(table))
    return Contrast(*roles, *asked, *outcome, scale, _average_wins(blocks), notes=tuple(notes))


def _average_wins(blocks: Sequence[ContrastBlock]) -> tuple[AverageWins, ...]:
    """The mean wins of the options that all of several levels have, for each level of the second factor."""
    averages: list[AverageWins] = []
    for second_level in dict.fromkeys(block.second_level for block in blocks):
        levels = [
            {row.option: row.wins for row in block.comparison.options}
            for block in blocks
            if block.second_level == second_level
        ]
        if len(levels) < 2:
            continue
        common = [option for option in levels[0] if all(option in level for level in levels)]
        means = [(option, math.fsum(level[option] for level in levels) / len(levels)) for option in common]
        ranked = sorted(means, key=lambda mean: -mean[1])
        averages += [AverageWins(second_level, option, wins, len(levels)) for option, wins in ranked]
    return tuple(averages)


def _claims(block: ContrastBlock, second: str, alpha: float, metric: str, scale: Scale) -> Iterator[Claim]:
    """The option with most wins against all others."""
    dataset = ", ".join(filter(None, (block.level, f"{second} {block.second_level}" if second else "")))
    comparison = block.comparison
    for row in comparison.ranked()[1:]:
        pair = comparison.pair(comparison.best, row.option)
        evidence = Evidence(
            "settings",
            block.state(row.option, alpha),
            difference=-row.median_difference or math.nan,  # a median of 0 does not mean equal scores
            p=pair.sign_p_corrected,
            count=comparison.configurations,
            ahead=pair.a_better if pair.a == comparison.best else pair.b_better,
        )
        yield Claim(comparison.best, row.option, metric, (evidence,), dataset, scale, alpha)


def setting_columns(
    runs: Runs, taken: set[str], ignore: Iterable[str], forced: Iterable[str]
) -> tuple[list[str], list[str]]:
    """Columns that are settings, and those that are not."""
    ignored, required = {runs.column(name) for name in ignore}, {runs.column(name) for name in forced}
    columns = [name for name in runs.frame.columns if name not in taken]
    other = [name for name in columns if name in ignored or (name not in required and not _is_setting(runs, name))]
    return [name for name in columns if name not in other], other


def _is_setting(runs: Runs, name: str) -> bool:
    """Whether a column is neither named like a result or an id nor different in every run."""
    if words_of(name) & IDENTITIES or is_result(runs, name):
        return False
    return len(runs) < 3 or runs.frame[name].n_unique() < len(runs)


@dataclass(frozen=True, slots=True, eq=False)
class _Design:
    """Runs, and the settings they are paired on."""

    runs: Runs
    factor: str
    settings: tuple[str, ...]
    second: str
    scores_N: Values
    levels_N: Codes
    levels: tuple[str, ...]

    def blocks(self, repeats: str, ties: str, correction: str) -> tuple[tuple[ContrastBlock, ...], list[str]]:
        """One comparison for each level, and notes on levels without one."""
        options_N, options = self.runs.codes(self.factor, by_size=True)
        if len(options) < 2:
            raise InputError(f"{self.runs.path}: {self.factor} has one option, {options[0]}; expected at least two")
        if len(options) > MAX_OPTIONS:
            problem = f"{self.factor} has {len(options):,} options"
            raise InputError(f"{self.runs.path}: {problem}; expected {MAX_OPTIONS} at most, or some of them (--option)")
        keys_N = configuration_keys([self.runs.codes(name)[0] for name in self.settings], len(self.runs))
        second_N, second_levels = self.runs.codes(self.second)
        blocks, notes, single = [], [], 0
        for i, level in enumerate(self.levels):
            rows = np.flatnonzero(self.levels_N == i)
            used, codes = np.unique(options_N[rows], return_inverse=True)
            names = [options[option] or EMPTY for option in used]
            where = level or self.runs.path
            if len(used) < 2:
                notes.append(f"{where}: the only option is {names[0]}, so there is nothing to compare")
                single += 1
                continue
            runs = keys_N[rows], codes.astype(np.int64), self.scores_N[rows]
            scores, first_runs = paired_scores(*runs, options=len(used), repeats=repeats)
            means, first_of_means = paired_scores(*runs, options=len(used))
            if not len(scores):
                notes.append(f"{where}: no runs of all {len(used)} options agree in every other setting")
                continue
            for k, second_level in enumerate(second_levels):
                selected, selected_means = (second_N[rows[first]] == k for first in (first_runs, first_of_means))
                if selected.any():
                    comparison = contrast_options(
                        scores[selected], names, means_CO=means[selected_means], correction=correction, ties=ties
                    )
                    blocks.append(ContrastBlock(level, second_level, comparison))
        if not blocks:
            raise InputError(self._nothing_paired(options, single=single))
        return tuple(blocks), notes

    def dependent_settings(self) -> list[str]:
        """Settings that depend on the factor, such as the size of something that only one option has.

        No value occurs with every option, and any two options have the same values or none in common. Where options
        share some of their values, runs are missing, and the setting matters.
        """
        options_N, options = self.runs.codes(self.factor)
        if not 2 <= len(options) <= MAX_OPTIONS:
            return []
        names = [name for name in self.settings if name != self.second]
        return [name for name in names if self._depends(name, options_N, len(options))]

    def _depends(self, name: str, options_N: Codes, options: int) -> bool:
        codes, values = self.runs.codes(name)
        seen_OV = np.zeros((options, len(values)), bool)
        seen_OV[options_N, codes] = True
        overlap_OO = seen_OV.astype(np.int64) @ seen_OV.T.astype(np.int64)
        sizes_O = seen_OV.sum(axis=1)
        same_OO = (overlap_OO == sizes_O[:, None]) & (overlap_OO == sizes_O[None, :])
        return not seen_OV.all(axis=0).any() and bool((same_OO | (overlap_OO == 0)).all())

    def _nothing_paired(self, options: Sequence[str], *, single: int) -> str:
        """Why no runs could be paired; `single` levels have only one option."""
        if single == len(self.levels):
            return f"{self.runs.path}: one option of {self.factor} in every level; expected two or more in some"
        problem = (
            f"{self.runs.path}: no runs of all {len(options)} options of {self.factor} agree in every other setting"
        )
        options_N = self.runs.codes(self.factor)[0]
        blocking = [name for name in self.settings if not self._is_shared(name, options_N, len(options))]
        if blocking:
            differ = f"{', '.join(blocking)} {'differs' if len(blocking) == 1 else 'differ'} in all"
            return (
                f"{problem}: {differ}; expected settings that the options share, fewer options (--option), or --ignore"
            )
        return f"{problem}; expected such runs, fewer options (--option), or settings to --ignore"

    def _is_shared(self, name: str, options_N: Codes, options: int) -> bool:
        """Whether any value of a setting occurs with every option, within one level."""
        codes = self.runs.codes(name)[0]
        cells = np.unique(np.stack([self.levels_N, codes, options_N]), axis=1)
        _, counts = np.unique(cells[:2], axis=1, return_counts=True)
        return bool((counts == options).any())


def _importance(design: _Design, level: int, columns: Sequence[str], rng: np.random.Generator) -> Importance:
    """How much each setting matters on one level; settings that always change together count as one."""
    rows = np.flatnonzero(design.levels_N == level)
    factors: list[tuple[str, Codes, bool]] = []  # with whether its levels are numbers
    for name in columns:
        codes = np.unique(design.runs.codes(name, by_size=True)[0][rows], return_inverse=True)[1].astype(np.int64)
        if codes.max(initial=0) == 0:
            continue
        twin = next((i for i, (_, other, _) in enumerate(factors) if _one_to_one(codes, other)), None)
        if twin is None:
            factors.append((name, codes, design.runs.is_number(name)))
        else:
            factors[twin] = (f"{factors[twin][0]}={name}", *factors[twin][1:])
    if not factors:
        where = design.levels[level] or design.runs.path
        raise InputError(f"{where}: no setting varies; expected one that does, to say how much it matters")
    ordered = [name for name, _, is_number in factors if is_number]
    levels = [(name, codes) for name, codes, _ in factors]
    return factor_importance(levels, design.scores_N[rows], rng=rng, ordered=ordered)


def _one_to_one(first: Codes, second: Codes) -> bool:
    if first.max() != second.max():
        return False
    pairs = np.unique(first * (second.max() + 1) + second)
    return len(pairs) == int(first.max()) + 1
