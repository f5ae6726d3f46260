"""The last line of a check of a build: whether a system passed, and what could have passed unseen."""

from __future__ import annotations

import math
from collections.abc import Iterable

from deadheat.results.compare import Comparison, PairwiseTest
from deadheat.results.format import show, unit_names
from deadheat.text import join_names


def gate_line(result: Comparison, system: str) -> str:
    """Whether a system passed, by `Comparison.is_worse`, and compared with whom."""
    others = {(pair.b if pair.a == system else pair.a): pair for pair in result.pairs if system in (pair.a, pair.b)}
    winners = {other: pair.winner(result.settings.alpha) for other, pair in others.items()}
    if result.is_worse(system):
        losses = {
            other: pair
            for other, pair in others.items()
            if winners[other] not in ("", system) and not pair.is_within_margin
        }
        return f"gate FAILED: {system} is worse than {_by(result, losses)}"
    better = {other: pair for other, pair in others.items() if winners[other] == system}
    within = {other: pair for other, pair in others.items() if winners[other] == other}
    rest = {other: pair for other, pair in others.items() if not winners[other]}
    parts = []
    if better:
        parts.append(f"is better than {_by(result, better)}")
    if within:
        parts.append(f"is worse than {_by(result, within)}, which is within the margin")
    if rest:
        parts.append(f"is not shown to be worse than {join_names(rest)} ({_unseen(result, rest.values())})")
    return f"gate passed: {system} {'; '.join(parts)}"


def _by(result: Comparison, pairs: dict[str, PairwiseTest]) -> str:
    return " and ".join(f"{other} by {_amount(result, pair.difference)}" for other, pair in pairs.items())


def _amount(result: Comparison, difference: float) -> str:
    unit = " points" if result.scale.is_percent else f" in {result.metric}"
    return f"{show(abs(difference), result.scale.size)}{unit}"


def _unseen(result: Comparison, pairs: Iterable[PairwiseTest]) -> str:
    """The largest of the smallest differences that the data would have shown."""
    drops = [pair.detectable for pair in pairs]
    if all(drop < (1 if result.scale.is_percent else math.inf) for drop in drops):
        return f"a drop of less than {_amount(result, max(drops))} could pass unseen"
    return f"any drop could pass unseen with so few {unit_names(result.unit)}"
