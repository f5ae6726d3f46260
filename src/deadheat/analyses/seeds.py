"""Is it the method or the seed: distributions of scores over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deadheat.analyses.contrast import setting_columns
from deadheat.errors import InputError, NameUnknown
from deadheat.ranking.contrasts import Codes, configuration_keys
from deadheat.ranking.seed_power import SeedPower, seeds_needed
from deadheat.ranking.seeds import (
    Density,
    DevTest,
    SeedDifferences,
    SystemPair,
    density,
    dev_test,
    seed_differences,
    system_pairs,
)
from deadheat.stats.checks import Values, check_alpha
from deadheat.stats.corrections import correct
from deadheat.stats.distributions import Summary, summary
from deadheat.tables.runs import Path, Runs, read_runs
from deadheat.tables.table import SYSTEMS
from deadheat.text import pluralize

MOST_SYSTEMS = 100  # 4,950 pairs
MOST_VALUES = 2000  # scores of a system that are told one by one
QUANTILES = np.linspace(0, 1, 201)  # what is told of more
ALL_RUNS = "all runs"
SEED, CONFIGURATION = "seed", "configuration"  # what pairs compare


@dataclass(frozen=True, slots=True, eq=False)
class SystemSeeds:
    """One system over its seeds."""

    system: str
    summary: Summary
    density: Density
    dev_test: DevTest | None
    scores: Values
    compared: int  # values that pairs are compared by: runs, or configurations
    dev: Values | None = None  # development scores of the same runs

    def __str__(self) -> str:
        return f"{self.system}: {self.summary}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values; of very many runs, quantiles stand for the scores."""
        few = len(self.scores) <= MOST_VALUES
        told = {"values": self.scores.tolist()} if few else {"quantiles": np.quantile(self.scores, QUANTILES).tolist()}
        if few and self.dev is not None:
            told["dev_values"] = self.dev.tolist()
        return {
            "system": self.system,
            **self.summary.to_dict(),
            "compared": self.compared,
            **told,
            "density": self.density.to_dict(),
            "dev_test": self.dev_test.to_dict() if self.dev_test else None,
        }


@dataclass(frozen=True, slots=True, eq=False)
class SeedBlock:
    """The systems of one level of `by`; `needed` has an entry a pair.

    Pairs compare runs, of one `unit` "seed" each; where a system has several configurations, of which some have several
    runs, they compare the means of configurations, and the unit is "configuration".
    """

    by: str
    unit: str
    systems: tuple[SystemSeeds, ...]
    pairs: tuple[SystemPair, ...]
    needed: tuple[SeedPower, ...]
    differences: SeedDifferences | None

    def __getitem__(self, system: str) -> SystemSeeds:
        for each in self.systems:
            if each.system == system:
                return each
        raise NameUnknown("system", system, [each.system for each in self.systems])

    def to_dict(self, alpha: float) -> dict[str, Any]:
        """Plain values; `alpha` is the level at which a winner is named."""
        pairs = [pair.to_dict() | {"winner": pair.winner(alpha)} for pair in self.pairs]
        needs = zip(pairs, self.needed, strict=True)
        return {
            "by": self.by,
            "unit": self.unit,
            "systems": [each.to_dict() for each in self.systems],
            "pairs": [pair | {"seeds_needed": need.to_dict()} for pair, need in needs],
            "differences": self.differences.to_dict() if self.differences else None,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Seeds:
    """Distributions of scores over seeds, block by block."""

    system: str
    score: str
    dev: str
    by: str
    settings: tuple[str, ...]  # columns in which runs of one configuration agree, the system's besides
    alpha: float
    correction: str
    blocks: tuple[SeedBlock, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(str(each) for block in self.blocks for each in block.systems)

    def __getitem__(self, by: str) -> SeedBlock:
        for block in self.blocks:
            if block.by == by:
                return block
        raise NameUnknown("block", by, [block.by for block in self.blocks])

    @property
    def display_scale(self) -> float:
        """100 where all scores are shares, which people read as percent; else 1."""
        shown = [each.summary for block in self.blocks for each in block.systems]
        return 100.0 if all(each.minimum >= 0 and each.maximum <= 1 for each in shown) else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values, scores in the scale they came in; see docs/seeds.md."""
        return {
            "kind": "seeds",
            "system": self.system,
            "score": self.score,
            "dev": self.dev,
            "by": self.by,
            "settings": list(self.settings),
            "alpha": self.alpha,
            "correction": self.correction,
            "blocks": [block.to_dict(self.alpha) for block in self.blocks],
            "notes": list(self.notes),
        }

    def to_latex(self) -> str:
        """Every system over its runs and who is tied with the best, then every pair, for the booktabs package."""
        from deadheat.analyses.latex import joined
        from deadheat.analyses.latex_runs import seeds_tables

        return joined(seeds_tables(self.to_dict()))


def seeds(  # noqa: PLR0913 (the options of the command)
    runs: Path | Runs,
    *,
    score: str,
    system: str = "",
    dev: str = "",
    by: str = "",
    where: Iterable[str] = (),
    ignore: Iterable[str] = (),
    settings: Iterable[str] = (),
    difference: float | None = None,
    alpha: float = 0.05,
    target: float = 0.8,
    correction: str = "holm",
    resamples: int = 1000,
    seed: int = 0,
) -> Seeds:
    """Compare systems by the distributions of their scores over seeds.

    Parameters
    ----------
    runs
        A table of runs, one a row: a file, or what `read_runs` gave.
    score, system, dev
        The columns of (test) scores, more being better, of systems, and of development scores. Without `system` the
        column whose name says so is taken; where none does, all runs are one system.
    by
        Do so for every level of this column.
    where
        Conditions COLUMN=VALUE that the runs must meet.
    ignore, settings
        Columns that are no settings, and such as are although their names look like results. Runs that agree in all
        settings are runs of one configuration, which differ by their seeds alone.
    difference
        The difference of means to be found, for the number of seeds that it takes; the observed one if none is given.
    """
    check_alpha(alpha)
    correct([], correction)
    if resamples < 2:
        raise InputError(f"{resamples} resamples; expected at least 2")
    found = (runs if isinstance(runs, Runs) else read_runs(runs)).where(where)
    score, dev, by = (found.column(name) if name else "" for name in (score, dev, by))
    guessed = "" if system else found.guess(SYSTEMS, what="systems", option="--system")
    system = found.column(system) if system else "" if guessed in (score, dev, by) else guessed
    found.distinct(score=score, dev=dev, system=system, by=by)
    configured, _ = setting_columns(found, {score, dev, by, system}, ignore, settings)
    levels_N, levels = found.codes(by) if by else (np.zeros(len(found), np.int64), ("",))
    systems_N, systems = found.codes(system) if system else (np.zeros(len(found), np.int64), (ALL_RUNS,))
    table = _Table(
        found.numbers(score),
        found.numbers(dev) if dev else None,
        systems_N,
        systems,
        configuration_keys([systems_N, *(found.codes(name)[0] for name in configured)], len(found)),
    )
    asked = _Asked(difference, alpha, target, correction, resamples, seed)
    blocks = tuple(
        _block(
            f"{found.path}: {level}" if level else found.path, level, table, np.flatnonzero(levels_N == place), asked
        )
        for place, level in enumerate(levels)
    )
    notes = tuple(note for block in blocks for note in _notes(block, alpha))
    return Seeds(system, score, dev, by, tuple(configured), alpha, correction, blocks, notes)


def _notes(block: SeedBlock, alpha: float) -> Iterator[str]:
    """What a reader of the block must know."""
    name = block.by or "the table"
    if block.differences is None:
        yield f"{name}: no two runs agree in every setting, so that nothing is said of seeds"
    if block.pairs and block.unit == CONFIGURATION:
        told = "some systems have runs of several configurations, so that pairs compare the mean of each configuration"
        yield f"{name}: {told}; --where chooses runs, and --ignore a column that is no setting"
    sizes = {each.system: each.compared for each in block.systems}
    uneven = [
        f"{pair.a} - {pair.b}"
        for pair in block.pairs
        if pair.winner(alpha) and pair.brown_forsythe.p <= alpha and sizes[pair.a] != sizes[pair.b]
    ]
    if uneven:
        others = f" and {pluralize(len(uneven) - 3, 'other pair')}" if len(uneven) > 3 else ""
        told = "the spread differs, and so does the number of runs; a win may come of that, with equal means"
        yield f"{name}: {', '.join(uneven[:3])}{others}: {told}"


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Runs as arrays."""

    scores_N: Values
    dev_N: Values | None
    systems_N: Codes
    systems: tuple[str, ...]
    keys_N: Codes


@dataclass(frozen=True, slots=True)
class _Asked:
    difference: float | None
    alpha: float
    target: float
    correction: str
    resamples: int
    seed: int


def _block(where: str, level: str, table: _Table, rows: Codes, asked: _Asked) -> SeedBlock:
    own = {
        name: chosen for place, name in enumerate(table.systems) if len(chosen := rows[table.systems_N[rows] == place])
    }
    if len(own) > MOST_SYSTEMS:
        told = f"{pluralize(len(own), 'system')}; expected at most {MOST_SYSTEMS} to compare all pairs"
        raise InputError(f"{where}: {told}")
    rng = np.random.default_rng(asked.seed)
    scores = {name: table.scores_N[chosen] for name, chosen in own.items()}
    keys = table.keys_N[rows]
    repeated = len(np.unique(keys)) < len(keys)
    averaged = repeated and any(len(np.unique(table.keys_N[chosen])) > 1 for chosen in own.values())
    compared = {name: _means(table, chosen) for name, chosen in own.items()} if averaged else scores
    pairs = system_pairs(compared, rng=rng, alpha=asked.alpha, correction=asked.correction, resamples=asked.resamples)
    needed = tuple(_needed(pair, compared[pair.a], compared[pair.b], len(pairs), asked, rng=rng) for pair in pairs)
    return SeedBlock(
        level,
        CONFIGURATION if averaged else SEED,
        tuple(
            SystemSeeds(
                name,
                summary(found),
                density(found),
                _dev_test(table, own[name]),
                found,
                len(compared[name]),
                None if table.dev_N is None else table.dev_N[own[name]],
            )
            for name, found in scores.items()
        ),
        pairs,
        needed,
        seed_differences(keys, table.scores_N[rows]) if repeated else None,
    )


def _means(table: _Table, rows: Codes) -> Values:
    """The mean score of every configuration."""
    places, sizes = np.unique(table.keys_N[rows], return_inverse=True, return_counts=True)[1:]
    means: Values = np.bincount(places, table.scores_N[rows]) / sizes
    return means


def _needed(
    pair: SystemPair, a: Values, b: Values, pairs: int, asked: _Asked, *, rng: np.random.Generator
) -> SeedPower:
    """The seeds that a pair needs where all pairs share alpha; too few runs find nothing, whatever the theory."""
    found = seeds_needed(
        a,
        b,
        rng=rng,
        difference=asked.difference,
        alpha=asked.alpha,
        comparisons=1 if asked.correction == "none" else pairs,
        target=asked.target,
    )
    if pair.least_p > asked.alpha and min(len(a), len(b)) > 1:
        return replace(found, power_now=0.0, smallest_now=math.inf)
    return found


def _dev_test(table: _Table, rows: Codes) -> DevTest | None:
    return None if table.dev_N is None else dev_test(table.dev_N[rows], table.scores_N[rows])
