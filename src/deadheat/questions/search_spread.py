"""How far the settings of a search lie apart, and how sure it is that the winner is the best of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.stats.intervals import resampled_sums
from deadheat.stats.rankings import spearman
from deadheat.study.search.search import DEV, TEST, CorpusSplit, Search, Values
from deadheat.study.store.store import Store

RESAMPLES = 2000
NONE = float("nan")


@dataclass(frozen=True, slots=True)
class Spread:
    """The scores of all settings on one data set in one setup, each the mean of its seeds.

    `again` is the chance that another sample of sentences of the part that picks (dev, unless the search says tune)
    would have picked the same settings; `kept`, the chance that none does better on test than its winner, both sampled
    anew; without scores on test there is none.
    """

    setup: str
    systems: tuple[str, ...]  # those that have scores
    dev: tuple[float, ...]  # of each of them
    test: tuple[float, ...]
    again: float
    kept: float
    same: bool | None  # whether none does better on test than the winner; None without test
    rho: float  # Spearman's, between dev and test

    def to_dict(self, numbers: Mapping[str, int]) -> dict[str, Any]:
        """Plain values, with the numbers of systems for their names."""
        return {
            "setup": self.setup, "settings": [numbers[name] for name in self.systems], "dev": list(self.dev),
            "test": list(self.test), "again": self.again, "kept": self.kept, "same": self.same, "rho": self.rho,
        }  # fmt: skip


def spread_of(search: Search, store: Store, values: Values, place: CorpusSplit, setup: str) -> Spread:
    """The spread of a search on one data set."""
    tested, picking = search.entry.tested == "all", search.entry.setting
    parts = dict.fromkeys((picking, DEV, *([TEST] if tested else [])))
    by_part = {part: search.scores(values, place, setup, part) for part in parts}
    names = [name for name in by_part[DEV] if not any(np.isnan(own[name]) for own in by_part.values())]
    if not names:
        return Spread(setup, (), (), (), NONE, NONE, None, NONE)
    scores = {part: np.array([own[name] for name in names]) for part, own in by_part.items()}
    rng = np.random.default_rng([search.entry.seed, 2])
    keys = [cell.key for name in names for cell in search.cells(place, setup, name)]
    picked_B = np.argmax(_resampled(search, store, keys, picking, rng), axis=1)
    winner = int(np.argmax(scores[picking]))
    again = float(np.mean(picked_B == winner))
    kept, same, rho = NONE, None, NONE
    if tested:
        dev, test = scores[DEV], scores[TEST]
        test_BS = _resampled(search, store, keys, TEST, rng)
        kept = float(np.mean(test_BS[np.arange(RESAMPLES), picked_B] == test_BS.max(axis=1)))
        same = bool(test[winner] == test.max())
        rho = spearman(dev, test) if len(dev) > 1 and np.ptp(dev) and np.ptp(test) else NONE
    shown = [tuple(scores[part].tolist()) if part in scores else () for part in (DEV, TEST)]
    return Spread(setup, tuple(names), shown[0], shown[1], again, kept, same, rho)


def _resampled(
    search: Search, store: Store, keys: Sequence[str], part: str, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The scores of all settings when the sentences of a part are drawn anew, again and again: the same for all."""
    counts_RNF = store.counts(keys, part=part, metric=search.metric.name)
    runs, units, fields = counts_RNF.shape
    flat_NX = np.ascontiguousarray(counts_RNF.transpose(1, 0, 2).reshape(units, runs * fields))
    sums = resampled_sums(flat_NX, rng=rng, resamples=RESAMPLES).reshape(RESAMPLES, runs, fields)
    means: NDArray[np.float64] = search.metric.value(sums).reshape(RESAMPLES, -1, len(search.seeds)).mean(axis=2)
    return means
