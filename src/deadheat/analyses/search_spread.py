"""How far the settings of a search lie apart, and how sure it is that the winner is the best of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.stats.intervals import resampled_sums
from deadheat.stats.rankings import spearman
from deadheat.study.search import DEV, TEST, Place, Search, Values
from deadheat.study.store import Store

RESAMPLES = 2000
NONE = float("nan")


@dataclass(frozen=True, slots=True)
class Spread:
    """The scores of all settings on one data set in one setup, each the mean of its seeds.

    `again` is the chance that another sample of dev sentences would have picked the same settings; `kept`, the chance
    that the winner of dev is the winner of test, both sampled anew; without scores on test there is none.
    """

    setup: str
    dev: tuple[float, ...]  # setting by setting
    test: tuple[float, ...]
    again: float
    kept: float
    same: bool | None  # whether the winner of dev is the winner of test; None without test
    rho: float  # Spearman's, between dev and test

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "setup": self.setup, "dev": list(self.dev), "test": list(self.test), "again": self.again,
            "kept": self.kept, "same": self.same, "rho": self.rho,
        }  # fmt: skip


def spread_of(search: Search, store: Store, values: Values, place: Place, setup: str) -> Spread:
    """The spread of a search on one data set."""
    by_part = {part: search.scores(values, place, setup, part) for part in (DEV, TEST)}
    tested = search.entry.tested == "all"
    systems = [
        name
        for name in search.candidates
        if not np.isnan(by_part[DEV][name]) and not (tested and np.isnan(by_part[TEST][name]))
    ]
    dev = np.array([by_part[DEV][name] for name in systems])
    test = np.array([by_part[TEST][name] for name in systems]) if tested else np.empty(0)
    rng = np.random.default_rng([search.entry.seed, 2])
    picked = _winners(search, store, place, setup, systems, DEV, rng)
    again = float(np.mean(picked == int(np.argmax(dev)))) if len(dev) else NONE
    kept, same, rho = NONE, None, NONE
    if tested and len(dev):
        best = _winners(search, store, place, setup, systems, TEST, rng)
        kept, same = float(np.mean(picked == best)), bool(np.argmax(dev) == np.argmax(test))
        rho = spearman(dev, test) if len(dev) > 1 and np.ptp(dev) and np.ptp(test) else NONE
    return Spread(setup, tuple(dev.tolist()), tuple(test.tolist()), again, kept, same, rho)


def _winners(
    search: Search, store: Store, place: Place, setup: str, systems: list[str], part: str, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Which settings win when the sentences of a part are drawn anew, again and again: the same for all settings."""
    if not systems:
        return np.empty(0, np.int64)
    keys = [cell.key for name in systems for cell in search.cells(place, setup, name)]
    counts_RNF = store.counts(keys, part=part, metric=search.metric.name)
    runs, units, fields = counts_RNF.shape
    flat_NX = np.ascontiguousarray(counts_RNF.transpose(1, 0, 2).reshape(units, runs * fields))
    sums = resampled_sums(flat_NX, rng=rng, resamples=RESAMPLES).reshape(RESAMPLES, runs, fields)
    scores = search.metric.value(sums).reshape(RESAMPLES, len(systems), -1).mean(axis=2)
    found: NDArray[np.int64] = np.argmax(scores, axis=1)
    return found
