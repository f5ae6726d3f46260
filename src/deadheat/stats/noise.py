"""Noise: the variance components of the difference of two systems, from which the errors of other designs follow."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from deadheat.errors import InputError
from deadheat.stats.estimates import RunScores, RunsEstimate, VariancePart, run_freedom


@dataclass(frozen=True, slots=True)
class RunNoise:
    """How much the runs of one system differ on a test set."""

    runs: int
    between: float = 0.0  # variance of the scores of runs on endless test data
    on_units: float = 0.0  # variance on a single unit of what is peculiar to a run

    def times(self, factor: float) -> RunNoise:
        """The same with all variances multiplied."""
        return replace(self, between=self.between * factor, on_units=self.on_units * factor)


@dataclass(frozen=True, slots=True)
class Noise:
    """The variance components of the difference of two systems' scores."""

    units: int  # at hand
    effective: float  # units of equal weight among them
    per_unit: float  # variance of the difference on one unit, beyond what is peculiar to runs
    freedom: float  # degrees of freedom of this variance; infinite where it is assumed
    systems: tuple[RunNoise, RunNoise]
    are_attempts: bool = False  # runs are attempts of the same systems at the same units, which average over them

    @classmethod
    def of(cls, first: RunScores, second: RunScores) -> Self:
        """From the runs of two systems on the same units.

        Notes
        -----
        With V_units and V_shared as in `RunScores.minus`, N units and R runs of a system whose scores have the variance
        s²: what is peculiar to a run varies on a unit by i = R N V_shared, runs on endless data by s² - i / N, and the
        difference of the systems on a unit by N V_units - Σ i / R. Each is at least 0.
        """
        unit_part = first.minus(second).parts[0]
        different = int(np.count_nonzero(np.any(first.means_NF != second.means_NF, axis=1)))
        single = first.runs == second.runs == 1
        if (single and different < 2) or math.isnan(unit_part.variance):
            problem = (
                f"{first.units} units, but the systems differ on fewer than two of them, or one outweighs the others"
            )
            raise InputError(f"{problem}; expected more units to measure noise by")
        per_unit, systems = first.units * unit_part.variance, list[RunNoise]()
        for scores in (first, second):
            estimate, runs = scores.estimate(), scores.runs
            on_units = runs * scores.units * estimate.shared
            between = runs * estimate.variance_of("runs") - on_units / scores.units
            systems.append(RunNoise(runs, max(0.0, between), on_units))
            per_unit -= on_units / runs
        effective = unit_part.freedom + 1
        return cls(first.units, effective, max(0.0, per_unit), unit_part.freedom, (systems[0], systems[1]))

    @classmethod
    def of_attempts(
        cls, first: RunScores, second: RunScores, attempts: tuple[RunScores | None, RunScores | None]
    ) -> Self:
        """From the mean attempts of two systems at the same units, and from single attempts.

        Notes
        -----
        With s² the variance of single attempts at a unit (their interaction with units) and K attempts, the variance of
        a difference of mean attempts is w² + s²_A / K_A + s²_B / K_B. What is left of it without s² is w², at least 0.
        A system of which only one attempt is known (None) has all of its noise in w².
        """
        means, systems = cls.of(first, second), list[RunNoise]()
        for scores in attempts:
            on_units = 0.0 if scores is None else scores.runs * scores.units * scores.shared_variance
            systems.append(RunNoise(1 if scores is None else scores.runs, 0.0, on_units))
        rest = means.per_unit - sum(system.on_units / system.runs for system in systems)
        return replace(means, per_unit=max(0.0, rest), systems=(systems[0], systems[1]), are_attempts=True)

    @property
    def runs(self) -> tuple[int, int]:
        return self.systems[0].runs, self.systems[1].runs

    def times(self, factor: float) -> Self:
        """The same with all variances multiplied."""
        first, second = (system.times(factor) for system in self.systems)
        return replace(self, per_unit=self.per_unit * factor, systems=(first, second))

    def design(self, difference: float, units: float, runs: tuple[float, float]) -> RunsEstimate:
        """The estimate to expect of so many units, and so many runs of each system, if this is the true difference."""
        on_units = self.per_unit / units
        parts, shared = list[VariancePart](), 0.0
        for system, number in zip(self.systems, runs, strict=True):
            peculiar = system.on_units / (number * units)
            on_units += peculiar
            if number > 1 and not self.are_attempts:
                shared += peculiar
                parts.append(VariancePart("runs", system.between / number + peculiar, number - 1))
        unit_part = VariancePart("units", on_units, self.effective * units / self.units - 1)
        limit = run_freedom(*runs) if parts else math.inf
        return RunsEstimate(difference, (unit_part, *parts), shared, limit)

    def variance_bounds(self, units: float, runs: tuple[int, int]) -> tuple[float, float]:
        """The ends of the 95% interval of the variance of a design, as multiples of it; NaN where it is assumed.

        The variance is taken to be chi-square, with Satterthwaite's degrees of freedom for parts that were estimated
        with the units and runs at hand.
        """
        from scipy.special import chdtri

        design = self.design(0.0, units, runs)
        systems = [
            system for system, number in zip(self.systems, runs, strict=True) if number > 1 and not self.are_attempts
        ]
        freedoms = [self.freedom, *(float(system.runs - 1) for system in systems)]
        pairs = zip(design.parts, freedoms, strict=True)
        spread = sum(part.variance**2 / freedom for part, freedom in pairs if part.variance)
        if math.isinf(self.freedom) or not spread:
            return math.nan, math.nan
        freedom = max(1.0, design.estimate.error**4 / spread)
        return freedom / float(chdtri(freedom, 0.025)), freedom / float(chdtri(freedom, 0.975))
