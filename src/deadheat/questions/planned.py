"""What was asked of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deadheat.study.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Planned:
    """Corpora with their sentences and words, ways to split, systems with their seeds, and how many cells it makes."""

    corpora: Mapping[str, tuple[int, int]]
    strategies: tuple[tuple[str, int, int], ...]  # name, times, seed
    systems: Mapping[str, str]  # name with settings -> what it is called here
    seeds: Mapping[str, tuple[int, ...]]  # what it is called -> seeds
    cells: int

    @classmethod
    def of(cls, plan: Plan) -> Planned:
        """What a plan says."""
        sizes = {name: (each.corpus.sentences, each.corpus.words) for name, each in plan.materials.items()}
        strategies = tuple((strategy.name, times, seed) for strategy, times, seed in plan.strategies)
        seeds = {plan.labels[name]: tuple(own) for name, own in plan.systems.items()}
        return cls(sizes, strategies, {name: plan.labels[name] for name in plan.systems}, seeds, len(plan.cells))

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        sizes = self.corpora.items()
        return {
            "systems": dict(self.systems),
            "seeds": {label: list(own) for label, own in self.seeds.items()},
            "corpora": [{"corpus": name, "sentences": each, "words": words} for name, (each, words) in sizes],
            "strategies": [{"split": name, "times": times, "seed": seed} for name, times, seed in self.strategies],
            "cells": self.cells,
        }
