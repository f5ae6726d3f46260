"""Rankings on particular subsets of data sets: named ones, all but one, and a few that represent all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError, nearest
from deadheat.ranking.exact import TIME_LIMIT, positive_rows
from deadheat.ranking.integers import Indices, Integers, IntegerScores, integer_scores, ranks_of
from deadheat.ranking.subsets import every_subset, free
from deadheat.stats.agreement import kendall
from deadheat.stats.checks import Values
from deadheat.text import pluralize

MOST_LISTED = 2_000_000  # up to this many subsets are all tried
SUBSETS_PER_BLOCK = 1 << 14
HALVINGS, RANDOM = 10, 1000


@dataclass(frozen=True, slots=True)
class ErrorReduction:
    """The share of the reference's errors that a system avoids, averaged over data sets."""

    reference: str
    system: str
    share: float  # up to 1; negative if the system makes more errors


@dataclass(frozen=True, slots=True)
class SubsetScore:
    """A system on a subset."""

    system: str
    mean: float
    rank: int


@dataclass(frozen=True, slots=True)
class NamedSubset:
    """Mean scores, ranking and error reductions on a named subset of the data sets."""

    name: str
    datasets: tuple[str, ...]
    absent: tuple[str, ...]  # data sets of the subset without scores
    systems: tuple[SubsetScore, ...]  # best first on all data sets
    tau: float  # with the ranking on all data sets
    error_reductions: tuple[ErrorReduction, ...]


def named_subsets(
    scores_SD: Values,
    systems: Sequence[str],
    datasets: Sequence[str],
    subsets: Mapping[str, Sequence[str]],
    *,
    perfect: float | None = None,
) -> tuple[NamedSubset, ...]:
    """Means, ranks and error reductions on named subsets; members without scores are left out and listed as absent.

    The error reduction of a system against a reference is the mean over data sets of (score - reference) / (perfect -
    reference). Every system is a reference for every other; systems that are worse on all data sets together come
    first. It is NaN if the reference makes no error on some data set. `perfect` is the score without errors; None means
    1 if no score is above it, else 100 if no score is above that.
    """
    integers = integer_scores(scores_SD)
    ascending: list[int] = np.argsort(integers.sums_S, kind="stable").tolist()
    best_first: list[int] = np.argsort(-integers.sums_S, kind="stable").tolist()
    pairs = list(combinations(ascending, 2))
    pairs += [(better, worse) for worse, better in pairs]
    top = _perfect_score(scores_SD, perfect)
    columns = {name: column for column, name in enumerate(datasets)}
    results = []
    for name, members in subsets.items():
        chosen, absent = _members(name, members, columns)
        sums_S = integers.above_SD[:, chosen].sum(axis=1)
        means, ranks = scores_SD[:, chosen].mean(axis=1).tolist(), ranks_of(sums_S).tolist()
        tau = kendall(sums_S, integers.sums_S) if len(systems) > 1 else math.nan
        shares_SS = _reductions(np.ascontiguousarray(scores_SD[:, chosen]), top)
        reductions = tuple(
            ErrorReduction(systems[reference], systems[system], float(shares_SS[reference, system]))
            for reference, system in pairs
        )
        rows = tuple(SubsetScore(systems[system], means[system], ranks[system]) for system in best_first)
        names = tuple(datasets[column] for column in chosen)
        results.append(NamedSubset(name, names, absent, rows, tau, reductions))
    return tuple(results)


def _members(name: str, members: Sequence[str], columns: Mapping[str, int]) -> tuple[list[int], tuple[str, ...]]:
    """Columns of the members that have scores, and names of those that have none."""
    repeated = [member for at, member in enumerate(members) if member in members[:at]]
    if repeated:
        raise InputError(f"subset {name}: {repeated[0]} twice; expected each data set once")
    chosen = [columns[member] for member in members if member in columns]
    if not chosen:
        guess = nearest(members[0], tuple(columns)) if members else "expected at least one data set"
        raise InputError(f"subset {name}: no scores on any of its {len(members)} data sets; {guess}")
    return chosen, tuple(member for member in members if member not in columns)


def _perfect_score(scores_SD: Values, perfect: float | None) -> float:
    highest = float(scores_SD.max())
    if perfect is None:
        return 1.0 if highest <= 1 else 100.0 if highest <= 100 else math.nan
    if not perfect >= highest:
        raise InputError(f"a perfect score of {perfect:g} with scores up to {highest:g}; expected at least that")
    return perfect


def _reductions(scores_SD: Values, perfect: float) -> Values:
    """The error reductions of all systems (columns) against all references (rows)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares_SS = ((scores_SD - scores_SD[:, None]) / (perfect - scores_SD)[:, None]).mean(axis=2)
    return np.where(np.isfinite(shares_SS), shares_SS, np.nan)


@dataclass(frozen=True, slots=True)
class RankChange:
    """A system whose rank changes without a data set."""

    system: str
    rank: int  # on all data sets
    without: int


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """The ranking without one data set, compared with the ranking on all."""

    dataset: str
    tau: float
    swapped: int  # pairs of systems that change their order
    changes: tuple[RankChange, ...]


def rank_without_each(
    scores: IntegerScores, systems: Sequence[str], datasets: Sequence[str]
) -> tuple[LeaveOneOut, ...]:
    """How the ranking changes without each data set, the most influential data sets first."""
    if scores.datasets < 2 or scores.systems < 2:
        shape = f"{pluralize(scores.systems, 'system')} on {pluralize(scores.datasets, 'data set')}"
        raise InputError(f"{shape}; expected at least two of each to leave one out")
    all_S = scores.sums_S
    ranks_S = ranks_of(all_S)
    order = np.sign(all_S[:, None] - all_S)
    best_first: list[int] = np.argsort(ranks_S, kind="stable").tolist()
    results = []
    for column, name in enumerate(datasets):
        rest_S = all_S - scores.above_SD[:, column]
        without_S = ranks_of(rest_S)
        swapped = int((order * np.sign(rest_S[:, None] - rest_S) < 0).sum()) // 2
        changes = tuple(
            RankChange(systems[s], int(ranks_S[s]), int(without_S[s])) for s in best_first if ranks_S[s] != without_S[s]
        )
        results.append(LeaveOneOut(name, kendall(rest_S, all_S), swapped, changes))
    return tuple(sorted(results, key=lambda result: (-result.swapped, -len(result.changes))))


@dataclass(frozen=True, slots=True)
class RepresentativeSubset:
    """A few data sets, and on how many pairs of systems their order is that of all data sets."""

    method: str  # greedy or exact
    datasets: tuple[str, ...]
    agreeing: int
    bound: int  # no subset of this size agrees on more pairs
    pairs: int  # that all data sets order
    tau: float


@dataclass(frozen=True, slots=True)
class RepresentativeSubsets:
    """Subsets that rank systems as all data sets do, and the shares of pairs with the same order in a test of them.

    Half of the systems choose a subset, in turn and several times: `fitted` is for the systems that chose, `held_out`
    for the others, and `random` for the others with random subsets of the same size.
    """

    size: int
    subsets: tuple[RepresentativeSubset, ...]
    halvings: int
    fitted: float
    held_out: float
    random: float


def representative(
    scores: IntegerScores,
    datasets: Sequence[str],
    size: int,
    *,
    rng: np.random.Generator,
    halvings: int = HALVINGS,
    time_limit: float = TIME_LIMIT,
) -> RepresentativeSubsets:
    """The data sets whose ranking agrees most with that on all, and a test on held-out systems."""
    if not 1 <= size <= scores.datasets:
        total = pluralize(scores.datasets, "data set")
        raise InputError(f"a representative subset of {size} of {total}; expected between 1 and {scores.datasets}")
    if scores.systems < 4:
        systems = pluralize(scores.systems, "system")
        raise InputError(f"{systems}; expected at least 4, so that half of them can be held out")
    leads_PD, greedy = _leads(scores), greedy_subset(scores, size)
    subsets = []
    for method, subset, bound in (
        ("greedy", greedy, len(leads_PD)),
        ("exact", *exact_subset(scores, greedy, time_limit=time_limit)),
    ):
        names = tuple(datasets[column] for column in subset.tolist())
        tau = kendall(scores.above_SD[:, subset].sum(axis=1), scores.sums_S)
        agreeing = int(_agreeing(leads_PD, subset[None])[0])
        subsets.append(RepresentativeSubset(method, names, agreeing, bound, len(leads_PD), tau))
    return RepresentativeSubsets(size, tuple(subsets), halvings, *_held_out_shares(scores, size, rng, halvings))


def greedy_subset(scores: IntegerScores, size: int) -> Indices:
    """Add the data set that helps most, one at a time; then exchange single ones as long as that helps."""
    leads_PD = _leads(scores)
    chosen, value = list[int](), (-1, 0.0)
    while True:
        rest = [column for column in range(scores.datasets) if column not in chosen]
        kept = [chosen] if len(chosen) < size else [[*chosen[:at], *chosen[at + 1 :]] for at in range(size)]
        candidates = [[*others, column] for others in kept for column in rest]
        best, merit = _best(leads_PD, candidates) if candidates else (chosen, value)
        if len(chosen) == size and merit <= value:
            return np.sort(np.array(chosen))
        chosen, value = best, merit


def exact_subset(scores: IntegerScores, start: Indices, *, time_limit: float = TIME_LIMIT) -> tuple[Indices, int]:
    """The subset that agrees on most pairs, and a bound on how many these can be.

    All subsets are tried if there are few, else it is found by integer programming; `start` is returned if none is
    better.
    """
    leads_PD, size = _leads(scores), len(start)
    agreeing = int(_agreeing(leads_PD, start[None])[0])
    if agreeing == len(leads_PD):
        return start, agreeing
    total = math.comb(scores.datasets, size)
    if total <= MOST_LISTED:
        return _best_of_all(leads_PD, scores.datasets, size, total)
    subset, bound = positive_rows(leads_PD, size, time_limit=time_limit)
    improved = int(_agreeing(leads_PD, subset[None])[0])
    return (start, max(bound, agreeing)) if agreeing > improved else (subset, max(bound, improved))


def _leads(scores: IntegerScores) -> Integers:
    """For each pair of systems that all data sets order, the lead of the better one on every data set."""
    all_S = scores.sums_S
    better, worse = np.nonzero(all_S[:, None] > all_S)
    return scores.above_SD[better] - scores.above_SD[worse]


def _merit(leads_PD: Integers, subsets: list[list[int]]) -> list[tuple[int, float]]:
    """Pairs with the same order, then closeness of the mean leads to those on all data sets; higher is better."""
    size = len(subsets[0])
    sums_CP = leads_PD.T[np.array(subsets)].sum(axis=1)
    distance_C = ((sums_CP / size - leads_PD.mean(axis=1)) ** 2).sum(axis=1)
    return list(zip((sums_CP > 0).sum(axis=1).tolist(), (-distance_C).tolist(), strict=True))


def _best(leads_PD: Integers, subsets: list[list[int]]) -> tuple[list[int], tuple[int, float]]:
    merits = _merit(leads_PD, subsets)
    at = max(range(len(subsets)), key=merits.__getitem__)
    return subsets[at], merits[at]


def _best_of_all(leads_PD: Integers, datasets: int, size: int, total: int) -> tuple[Indices, int]:
    design, key = every_subset(datasets, size), np.zeros(1, np.uint64)
    most, best = -1, np.arange(size)
    for first in range(0, total, SUBSETS_PER_BLOCK):
        subsets_BK = design.draw(key, range(first, min(first + SUBSETS_PER_BLOCK, total)))
        agreeing_B = _agreeing(leads_PD, subsets_BK)
        if int(agreeing_B.max()) > most:
            most, best = int(agreeing_B.max()), subsets_BK[agreeing_B.argmax()]
    return best, most


def _agreeing(leads_PD: Integers, subsets_BK: Indices) -> NDArray[np.int64]:
    sums_BP = np.zeros((len(subsets_BK), len(leads_PD)), np.int64)
    for column_B in subsets_BK.T:
        sums_BP += leads_PD.T[column_B]
    agreeing_B: NDArray[np.int64] = (sums_BP > 0).sum(axis=1)
    return agreeing_B


def _held_out_shares(
    scores: IntegerScores, size: int, rng: np.random.Generator, halvings: int
) -> tuple[float, float, float]:
    """Shares of pairs with the same order on subsets chosen by half of the systems: fitted, held out, random."""
    key = rng.integers(0, 2**64, size=1, dtype=np.uint64)
    random_BK = free(scores.datasets, size).draw(key, range(RANDOM))
    totals = np.zeros(5)
    for _ in range(halvings):
        shuffled = rng.permutation(scores.systems)
        halves = [
            IntegerScores(scores.above_SD[part], scores.unit, scores.exact) for part in np.array_split(shuffled, 2)
        ]
        for seen, unseen in (halves, halves[::-1]):
            chosen_BK = greedy_subset(seen, size)[None]
            seen_PD, unseen_PD = _leads(seen), _leads(unseen)
            fitted, held_out = _agreeing(seen_PD, chosen_BK)[0], _agreeing(unseen_PD, chosen_BK)[0]
            totals += [fitted, len(seen_PD), held_out, _agreeing(unseen_PD, random_BK).mean(), len(unseen_PD)]
    fitted, pairs, held_out, random, others = totals.tolist()
    return (fitted / pairs if pairs else math.nan, held_out / others, random / others) if others else (math.nan,) * 3
