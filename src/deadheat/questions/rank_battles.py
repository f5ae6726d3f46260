"""Rank by battles: which of two systems was preferred, prompt by prompt, and what that shows about all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Annotated, Any, TypeAlias

import numpy as np
import polars as pl

from deadheat.arguments import Argument
from deadheat.errors import InputError
from deadheat.items.columns import BATTLES, named
from deadheat.questions import inputs
from deadheat.questions.joint import PairEstimates, corrected_pairs, joint_verdict, tied_systems
from deadheat.results.battles import ELO, BattleRanking, PairBattles, SystemStrength
from deadheat.results.compare import PairwiseSettings
from deadheat.stats.bradley_terry import Battles, BradleyTerry, bradley_terry, expected_score
from deadheat.stats.checks import Values
from deadheat.stats.paired import CLUSTERED_T
from deadheat.tables.table import Path, Table, read_table
from deadheat.text import join_names, pluralize

CLUSTERS = ("prompt_id", "question_id", "item_id", "prompt", "question", "item")
OUTCOMES: Mapping[str, float] = {
    "model_a": 1.0, "system_a": 1.0, "a": 1.0, "model_b": 0.0, "system_b": 0.0, "b": 0.0,
    "tie": 0.5, "draw": 0.5, "tie (bothbad)": 0.5, "tie(bothbad)": 0.5, "both_bad": 0.5, "bothbad": 0.5,
}  # fmt: skip
BATTLE = "battle"
Cluster: TypeAlias = Annotated[
    str,
    Argument("column of what battles share, such as a prompt or a judge (default: by its name)", metavar="COLUMN"),
]


def rank_battles(
    battles: Path | Table | Any,
    *,
    cluster: Cluster = "",
    correction: inputs.Correction = "holm",
    alpha: inputs.Alpha = 0.05,
    margin: inputs.Margin = None,
) -> BattleRanking:
    """Rank systems by battles, as arenas have them: which of two was preferred.

    Parameters
    ----------
    battles
        A table with the columns `model_a`, `model_b` and `winner` (`model_a`, `model_b`, `tie` or `tie (bothbad)`).
    cluster
        The column of what battles share: they are not independent. By default `prompt_id`, `question_id` or the like;
        without one, every battle counts for itself.
    correction, alpha, margin
        As in `deadheat.compare`; the margin is in Elo points, and there is none by default.

    Examples
    --------
    >>> rows = [{"model_a": "A", "model_b": "B", "winner": winner, "prompt_id": i}
    ...         for i, winner in enumerate(["model_a"] * 60 + ["tie"] * 20 + ["model_b"] * 20)]
    >>> rank_battles(rows)
    <BattleRanking: A is better than B by 147.2 in strength (95% CI [+80.9, +213.5], p = 2.7e-05).>
    """
    settings = PairwiseSettings(CLUSTERED_T, correction, alpha, margin=margin)
    table = read_table(battles)
    every, cluster = _battles(table, cluster)
    kept, notes = _with_common_scale(table.path, every)
    fit = bradley_terry(kept)
    scores = dict(zip(kept.systems, fit.strengths_S.tolist(), strict=True))
    numbers = list(combinations(sorted(range(len(scores)), key=lambda at: -fit.strengths_S[at]), 2))
    pairs = [_pair(kept.systems, fit, a, b) for a, b in numbers]
    tests = corrected_pairs(pairs, settings, scale=ELO)
    clusters = int(kept.cluster_N.max()) + 1
    source = {"metric": "strength", "source": f"{cluster}s", "units": clusters, "scale": ELO}
    verdict = joint_verdict(tests, scores, settings, **source)  # type: ignore[arg-type]
    if cluster == BATTLE:
        notes.append("battles are taken to be independent; --cluster names the column of what several share")
    return BattleRanking(
        _rows(kept, fit, 1 - alpha),
        tests,
        tuple(_met(kept, a, b, expected_score(test.difference)) for (a, b), test in zip(numbers, tests, strict=True)),
        tied_systems(scores, tests, alpha),
        verdict,
        settings,
        len(kept.outcome_N),
        clusters,
        cluster,
        tuple(name for name in every.systems if name not in kept.systems),
        notes=tuple(notes),
    )


def _battles(table: Table, cluster: str) -> tuple[Battles, str]:
    """The battles of a table, and what clusters are called."""
    columns = [named(table, names) for names in BATTLES]
    for name, names in zip(columns, BATTLES, strict=True):
        if not name:
            raise InputError(f"{table.path}: no column {names[0]}; expected model_a, model_b and winner")
    sides = [table.names(name, "system") for name in columns[:2]]
    itself = (sides[0] == sides[1]).arg_true()
    if len(itself):
        row = int(itself[0])
        raise InputError(f"{table.location(row)}: {sides[0][row]} against itself; expected two systems")
    systems = pl.concat([side.alias("system") for side in sides]).unique(maintain_order=True)
    codes = [side.cast(pl.Enum(systems)).to_physical().to_numpy().astype(np.int64) for side in sides]
    column = table.column(cluster) if cluster else named(table, CLUSTERS)
    cluster_N = np.arange(len(codes[0]))
    if column:
        values = table.names(column, column)
        cluster_N = np.unique(values.rank("dense").to_numpy(), return_inverse=True)[1]
    words = (column or BATTLE).removesuffix("_id").replace("_", " ")
    outcomes = _outcomes(table, columns[2], sides)
    return Battles(tuple(systems.to_list()), codes[0], codes[1], outcomes, cluster_N), words


def _outcomes(table: Table, column: str, sides: Sequence[pl.Series]) -> Values:
    """1 where the first system is preferred, 0 the second, and 1/2 neither."""
    winner = table.names(column, "winner")
    outcomes = (
        winner.str.to_lowercase().replace_strict(OUTCOMES, default=None, return_dtype=pl.Float64).to_numpy().copy()
    )
    for side, value in zip(sides, (1.0, 0.0), strict=True):  # the name of the winner
        outcomes[(winner == side).to_numpy()] = value
    wrong = np.flatnonzero(np.isnan(outcomes))
    if len(wrong):
        row = int(wrong[0])
        expected = "expected model_a, model_b, tie or tie (bothbad)"
        raise InputError(f"{table.location(row)}: {column} {winner[row]!r}; {expected}")
    return outcomes


def _with_common_scale(where: str, battles: Battles) -> tuple[Battles, list[str]]:
    """The battles among systems that won and lost against each other, and a note on the others."""
    if not battles.is_connected():
        expected = "expected battles that connect all systems, or a table for each group"
        raise InputError(f"{where}: systems that never met, not even over others; {expected}")
    groups = battles.comparable()
    kept = groups[0]
    if len(kept) < 2:
        problem = "every system won or lost all of its battles against others, so strengths have no bound"
        raise InputError(f"{where}: {problem}; expected some that won and lost")
    if len(groups) == 1:
        return battles, []
    out = [battles.systems[at] for group in groups[1:] for at in group]
    words = "left out, since strengths have no bound where all battles against the others are won, or all lost"
    return battles.only(sorted(kept)), [f"{pluralize(len(out), 'system')} ({join_names(out)}) {words}"]


def _pair(systems: Sequence[str], fit: BradleyTerry, a: int, b: int) -> PairEstimates:
    strengths = float(fit.strengths_S[a]), float(fit.strengths_S[b])
    return PairEstimates(systems[a], systems[b], strengths, fit.difference(a, b))


def _rows(battles: Battles, fit: BradleyTerry, level: float) -> tuple[SystemStrength, ...]:
    rows = []
    for at, name in enumerate(battles.systems):
        as_first, as_second = battles.outcome_N[battles.first_N == at], 1 - battles.outcome_N[battles.second_N == at]
        own = np.concatenate([as_first, as_second])
        counts = [int(np.count_nonzero(own == value)) for value in (1.0, 0.5, 0.0)]
        rank = 1 + int(np.count_nonzero(fit.strengths_S > fit.strengths_S[at] + 1e-9))
        strength = fit.strength(at)
        rows.append(SystemStrength(name, strength.value, strength.interval(level), rank, *counts))
    return tuple(sorted(rows, key=lambda row: row.rank))


def _met(battles: Battles, a: int, b: int, expected: float) -> PairBattles:
    straight = battles.outcome_N[(battles.first_N == a) & (battles.second_N == b)]
    turned = 1 - battles.outcome_N[(battles.first_N == b) & (battles.second_N == a)]
    own = np.concatenate([straight, turned])
    wins, ties, losses = (int(np.count_nonzero(own == value)) for value in (1.0, 0.5, 0.0))
    return PairBattles(battles.systems[a], battles.systems[b], wins, ties, losses, expected)
