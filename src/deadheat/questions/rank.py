"""Rank: would another choice of data sets change the ranking of the systems."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.errors import InputError, NameUnknown
from deadheat.ranking.anomalies import Anomalies, Attributes, anomalies
from deadheat.ranking.design import Design, every_subset, free, one_per_group, stratified
from deadheat.ranking.exact import ExactPair, exact_pairs
from deadheat.ranking.extremes import TIME_LIMIT, Extreme, extreme_ranks
from deadheat.ranking.influence import LeftOut, leave_one_out
from deadheat.ranking.integers import WholeScores, ranks_of, whole_scores
from deadheat.ranking.named import NamedSubset, named_subsets
from deadheat.ranking.representative import Representative, representative
from deadheat.ranking.stability import MetricStability, metric_stability
from deadheat.ranking.subsets import SubsetRanks, rank_over_subsets
from deadheat.tables.matrix import ScoreTable, score_table
from deadheat.text import pluralize
from deadheat.version import __version__

SUBSET_SIZE, SAMPLES = 10, 1_000_000
Path = str | os.PathLike[str]
Given = Path | ScoreTable | Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """What holds over all subsets of a size: pairs counted, extremes proved. `extremes` has best and worst a system."""

    subsets: int
    pairs: tuple[ExactPair, ...]
    extremes: tuple[tuple[Extreme, Extreme], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """A ranking of systems on all data sets, and what becomes of it on subsets of them."""

    table: ScoreTable
    scores: WholeScores
    sampled: SubsetRanks
    seed: int
    by: str = ""  # the attribute that subsets are stratified by, or have one data set of each value of
    exact: Exact | None = None
    anomalies: tuple[Anomalies, ...] = ()
    subsets: tuple[NamedSubset, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    representative: Representative | None = None
    metrics: tuple[MetricStability, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def order(self) -> list[int]:
        """Systems from the best to the worst on all data sets."""
        order: list[int] = np.argsort(-self.scores.above_SD.sum(axis=1), kind="stable").tolist()
        return order

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of systems, the better first."""
        order = self.order
        return [(a, b) for at, a in enumerate(order) for b in order[at + 1 :]]

    @property
    def signature(self) -> str:
        """The line to quote beside numbers from this ranking."""
        found = self.sampled
        drawn = "all subsets" if found.design.lists_all else f"{found.samples:,} subsets ({found.design.name})"
        by = f" by {self.by}" if self.by else ""
        where = f"{pluralize(len(self.table.systems), 'system')} | {pluralize(len(self.table.datasets), 'data set')}"
        settled = found.design.lists_all and not self.anomalies and self.representative is None
        chance = "" if settled else f" | seed {self.seed}"
        ties = "ties share the better rank"
        return f"deadheat {__version__} | {where} | {drawn}{by} of {found.design.size} | {ties}{chance}"

    def missed(self) -> list[tuple[str, str, int, int | None]]:
        """Extremes that no sampled subset reached: system, best or worst, sampled rank, exact rank if it is proved."""
        if self.exact is None:
            return []
        found = []
        for system in self.order:
            seen = int(self.sampled.best_S[system]), int(self.sampled.worst_S[system])
            # No sample is more extreme than what was found, so that another rank is one beyond it.
            for end, sampled, extreme in zip(("best", "worst"), seen, self.exact.extremes[system], strict=True):
                if extreme.rank != sampled:
                    exact = extreme.rank if extreme.proved else None
                    found.append((self.table.systems[system], end, sampled, exact))
        return found

    def __str__(self) -> str:
        return f"{self.table}; {self.sampled}"

    def to_dict(self) -> dict[str, Any]:
        datasets = self.table.datasets
        return {
            "kind": "rank",
            "metric": self.table.metric or None,
            "data_sets": len(datasets),
            "subset_size": self.sampled.design.size,
            "samples": self.sampled.samples,
            "design": self.sampled.design.name,
            "by": self.by or None,
            "seed": self.seed,
            "systems": [self._system(system) for system in self.order],
            "pairs": [self._pair(a, b) for a, b in self.pairs],
            "tau": self.sampled.tau.to_dict(),
            "exact": self._exact(),
            "anomalies": [each.to_dict(datasets) for each in self.anomalies],
            "subsets": [each.to_dict() for each in self.subsets],
            "leave_one_out": [each.to_dict() for each in self.left_out],
            "representative": self.representative.to_dict(datasets) if self.representative else None,
            "metrics": [each.to_dict() for each in self.metrics],
            "signature": self.signature,
            "notes": list(self.notes),
        }

    def to_latex(self) -> str:
        """A table of the ranks, best system first, for the booktabs package."""
        from deadheat.questions.latex import joined
        from deadheat.questions.latex_tables import rank_tables

        return joined(rank_tables(self.to_dict()))

    def _system(self, system: int) -> dict[str, Any]:
        found = self.sampled
        lower, median, upper = found.quantiles(system)
        return {
            "system": self.table.systems[system],
            "rank": int(ranks_of(self.scores.above_SD.sum(axis=1))[system]),
            "mean_score": float(self.table.scores_SD[system].mean()),
            "best": int(found.best_S[system]),
            "worst": int(found.worst_S[system]),
            "mean": float(found.mean_S[system]),
            "median": median,
            "sd": float(found.sd_S[system]),
            "lower_quartile": lower,
            "upper_quartile": upper,
            "chances": found.chances_SS[system].tolist(),
        }

    def _pair(self, a: int, b: int) -> dict[str, Any]:
        wins, samples = self.sampled.wins_SS, self.sampled.samples
        level = samples - int(wins[a, b]) - int(wins[b, a])
        chances = {"p_a": int(wins[a, b]) / samples, "p_b": int(wins[b, a]) / samples, "p_level": level / samples}
        return {"a": self.table.systems[a], "b": self.table.systems[b], **chances}

    def _exact(self) -> dict[str, Any] | None:
        if self.exact is None:
            return None
        extremes = []
        for system in self.order:
            best, worst = (each.to_dict(self.table.datasets) for each in self.exact.extremes[system])
            extremes.append({"system": self.table.systems[system], "best": best, "worst": worst})
        names = ("system", "end", "sampled", "exact")
        return {
            "subsets": self.exact.subsets,
            "pairs": [each.to_dict() for each in self.exact.pairs],
            "extremes": extremes,
            "missed": [dict(zip(names, each, strict=True)) for each in self.missed()],
        }


def rank(  # noqa: PLR0913 (the options of the command)
    scores: Given,
    *,
    metric: str = "",
    subset_size: int | None = None,
    samples: int = SAMPLES,
    attributes: Path | Attributes | None = None,
    stratify: str = "",
    one_per: str = "",
    exact: bool = False,
    time_limit: float = TIME_LIMIT,
    anomalous: Sequence[str] = (),
    subsets: Path | Mapping[str, Sequence[str]] | None = None,
    perfect: float | None = None,
    left_out: bool = False,
    representative_size: int | None = None,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
    **reading: Any,
) -> Ranking:
    """How stable the ranking of systems is over the choice of data sets; more is better.

    Parameters
    ----------
    scores
        A file with a table of scores, or the scores of each system by data set.
    subset_size
        Data sets a subset; by default 10, or half of them where there are fewer than 20.
    samples
        Random subsets; where there are no more subsets than that, all of them are taken once.
    attributes
        A table of what is known of each data set.
    stratify, one_per
        An attribute: draw subsets in proportion to its values, or one data set of each value.
    exact
        Count pairs over all subsets, and find the best and worst rank that any subset gives.
    time_limit
        Seconds for each search of the exact part.
    anomalous
        Systems whose best and worst subsets are looked into.
    subsets
        Named subsets: a table of subset and data set, or names of data sets by subset.
    perfect
        The score without errors, for error reductions.
    left_out
        How the ranking changes without each data set.
    representative_size
        Find so many data sets that rank the systems as all do.
    metrics
        Compare how stable the ranking is by each of these metrics; an empty list takes all of the table.
    **reading
        `system`, `dataset`, `score`: columns of the table; `missing`: "refuse" or "drop".

    Examples
    --------
    >>> table = {"A": {"en": 90, "de": 80, "fi": 70}, "B": {"en": 80, "de": 80, "fi": 71}}
    >>> print(rank(table, subset_size=2))
    scores: 2 systems on 3 data sets; 3 subsets of 2: 0 systems with one rank in all; tau 0.333 ± 0.943, least -1.000
    """
    table = _table(scores, metric or _first_metric(scores, metrics, reading), reading)
    if len(table.systems) < 2:
        raise InputError(f"{pluralize(len(table.systems), 'system')}; expected at least two to rank")
    known = _attributes(attributes, table)
    by = stratify or one_per
    design = _design(table, subset_size, samples, known, stratify, one_per)
    if (exact or anomalous) and not design.uniform:
        told = "exact answers and anomalies are of all subsets of a size"
        raise InputError(f"{told}; expected neither strata nor one data set a group with them")
    whole = whole_scores(table.scores_SD)
    places = [_place("system", each, table.systems) for each in anomalous]
    named = _named(subsets, table, perfect)
    rng = np.random.default_rng(seed)
    sampled = rank_over_subsets(whole, design, samples=samples, rng=rng)
    return Ranking(
        table,
        whole,
        sampled,
        seed,
        by,
        _exact(whole, table, sampled, time_limit) if exact else None,
        tuple(
            anomalies(sampled, whole, place, name=table.systems[place], attributes=known, rng=rng) for place in places
        ),
        named,
        leave_one_out(whole, table.systems, table.datasets) if left_out else (),
        representative(whole, representative_size, rng=rng, time_limit=time_limit)
        if representative_size is not None
        else None,
        _stability(scores, metrics, sampled, reading) if metrics is not None else (),
        _notes(table, whole, sampled, named),
    )


def _table(scores: Given, metric: str, reading: Mapping[str, Any]) -> ScoreTable:
    if isinstance(scores, ScoreTable):
        return scores
    if isinstance(scores, Mapping):
        return score_table(scores, metric=metric, missing=reading.get("missing", "refuse"))
    from deadheat.tables.scores import read_score_table

    return read_score_table(scores, metric=metric, **reading)


def _attributes(given: Path | Attributes | None, table: ScoreTable) -> Attributes:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return given
    from deadheat.tables.scores import read_attributes

    return read_attributes(given, table.datasets)


def _design(
    table: ScoreTable, size: int | None, samples: int, known: Attributes, stratify: str, one_per: str
) -> Design:
    datasets = len(table.datasets)
    if stratify and one_per:
        raise InputError(f"strata by {stratify} and one data set per {one_per}; expected one way to draw subsets")
    if one_per:
        return one_per_group(_labels(known, one_per), size)
    chosen = size if size is not None else SUBSET_SIZE if datasets >= 2 * SUBSET_SIZE else max(1, datasets // 2)
    if stratify:
        return stratified(_labels(known, stratify), chosen)
    few = 1 <= chosen <= datasets and math.comb(datasets, chosen) <= samples
    return every_subset(datasets, chosen) if few else free(datasets, chosen)


def _labels(known: Attributes, name: str) -> tuple[str, ...]:
    if not known:
        raise InputError(f"groups by {name}, but no attributes; expected a table of them (--attributes)")
    if name not in known:
        raise NameUnknown("attribute", name, known)
    values = known[name]
    return values if isinstance(values, tuple) else tuple(f"{value:g}" for value in values.tolist())


def _place(kind: str, name: str, known: Sequence[str]) -> int:
    """The system of this name, or the only one whose name starts so."""
    if name in known:
        return known.index(name)
    begin = [place for place, each in enumerate(known) if each.lower().startswith(name.lower())]
    if len(begin) == 1:
        return begin[0]
    raise NameUnknown(kind, name, known)


def _named(
    given: Path | Mapping[str, Sequence[str]] | None, table: ScoreTable, perfect: float | None
) -> tuple[NamedSubset, ...]:
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        from deadheat.tables.scores import read_subsets

        given = read_subsets(given)
    return named_subsets(table.scores_SD, table.systems, table.datasets, given, perfect=perfect)


def _exact(whole: WholeScores, table: ScoreTable, sampled: SubsetRanks, time_limit: float) -> Exact:
    size = sampled.design.size
    pairs = exact_pairs(whole, table.systems, size)
    extremes = extreme_ranks(whole, size, sampled=sampled, time_limit=time_limit)
    return Exact(math.comb(whole.datasets, size), pairs, extremes)


def _first_metric(scores: Given, metrics: Sequence[str] | None, reading: Mapping[str, Any]) -> str:
    """What the ranking itself is by where several metrics are compared: the first that is named; of all of them LAS."""
    from deadheat.tables.scores import read_score_tables

    if metrics or metrics is None or not isinstance(scores, str | os.PathLike):
        return metrics[0] if metrics else ""
    known = list(read_score_tables(scores, **reading))
    return next((name for name in known if name.lower() == "las"), known[0])


def _stability(
    scores: Given, metrics: Sequence[str], sampled: SubsetRanks, reading: Mapping[str, Any]
) -> tuple[MetricStability, ...]:
    if isinstance(scores, ScoreTable | Mapping):
        raise InputError("metrics to compare, but scores of one; expected a file with a column of metrics")
    from deadheat.tables.scores import read_score_tables

    tables = read_score_tables(scores, metrics=metrics, **reading)
    return tuple(metric_stability(name, whole_scores(each.scores_SD), sampled) for name, each in tables.items())


def _notes(
    table: ScoreTable, whole: WholeScores, sampled: SubsetRanks, named: Sequence[NamedSubset]
) -> tuple[str, ...]:
    absent = (each for each in named if each.absent)
    notes = [f"subset {each.name}: no scores on {', '.join(each.absent)}, left out" for each in absent]
    if table.dropped:
        notes.append(f"{pluralize(len(table.dropped), 'data set')} without a score of every system left out")
    if not whole.exact:
        notes.append("scores are compared to 9 digits of their range, so that a tie may be missed")
    if sampled.tau.undefined:
        notes.append(f"{pluralize(sampled.tau.undefined, 'subset')} with all systems level, left out of tau")
    return tuple(notes)
