"""Strengths of systems by battles, and every pair."""

from __future__ import annotations

from collections.abc import Iterator

from deadheat.charts.comparisons import IntervalPlot, IntervalRow
from deadheat.reporting import model as m
from deadheat.reporting.verdict import outcome_cell, verdict_block
from deadheat.results.battles import BattleRanking
from deadheat.results.format import COUNT, P_VALUE, RANK, SHARE, correction_words, interval_name, unit_names

ROWS = 15  # of a table that is not folded


def view(result: BattleRanking) -> Iterator[m.Block]:
    """The verdict, the strengths, and the difference of every pair."""
    yield verdict_block(result.verdict)
    level = interval_name(result.settings.alpha)
    yield m.Heading("Strengths", detail=True)
    rows = tuple(IntervalRow(row.system, row.strength, *row.interval.bounds) for row in result.systems)
    yield m.figure("battle-strengths", IntervalPlot(rows, f"Strength of each system, with {level}", "Elo points"))
    yield _strengths(result, level)
    yield m.Heading("Pairs of systems", detail=True)
    yield _pairs(result, level)
    yield m.Note(
        "Strengths are those of Bradley and Terry's model, in Elo points with the mean at 0: 400 points are odds of "
        "ten to one. A tie is half a win of both. Expected score: the share of wins and half of the ties they imply."
    )


def _strengths(result: BattleRanking, level: str) -> m.Table:
    scale = result.scale
    columns = [m.Column("system"), m.Column("rank", RANK), m.Column("strength", scale.difference)]
    columns += [m.Column(level, scale.difference_interval), *m.columns(COUNT, "battles", "won", "tied", "lost")]
    rows: list[m.Row] = []
    for row in result.systems:
        mark = m.DAGGER if row.system in result.tied and row.system != result.tied[0] else ""
        strength = m.Cell(row.strength, mark=mark, strong=row.rank == 1)
        counts = row.battles, row.wins, row.ties, row.losses
        rows.append((row.system, row.rank, strength, row.interval.bounds, *counts))
    corrected = correction_words(result.settings.correction, len(result.pairs), noun="pair")
    marks = (m.Mark(m.DAGGER, f"not told apart from the best (p-values {corrected}, alpha {result.settings.alpha:g})"),)
    words = f"Strengths by {{}}, errors over {{}} {unit_names(result.cluster)}."
    caption = m.text(words, m.count(result.battles, "battle"), result.clusters)
    return m.Table(columns, rows, "strengths", caption, marks)


def _pairs(result: BattleRanking, level: str) -> m.Table:
    scale, alpha = result.scale, result.settings.alpha
    columns = [m.Column("pair"), m.Column("difference", scale.difference), m.Column(level, scale.difference_interval)]
    columns += [*m.columns(P_VALUE, "p", f"p ({result.settings.correction})"), m.Column("expected score", SHARE)]
    columns += [m.Column("won-tied-lost"), m.Column("outcome")]
    rows: list[m.Row] = []
    for pair, met in zip(result.pairs, result.met, strict=True):
        name, met_text = m.text("{} - {}", pair.a, pair.b), m.text("{}-{}-{}", met.wins, met.ties, met.losses)
        numbers = pair.difference, pair.interval.bounds, pair.p, pair.p_corrected, met.expected
        rows.append((name, *numbers, met_text, outcome_cell(pair.winner(alpha), pair.state(alpha))))
    widened = " Intervals are widened as p-values are corrected." if len(result.pairs) > 1 else ""
    caption = f"Differences in Elo points, first minus second.{widened}"
    return m.Table(columns, rows, "battle-pairs", caption, folded=len(rows) > ROWS)
