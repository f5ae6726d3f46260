"""Agreement of systems on every sentence, and thousands of rankings, against other programs: CPU time in one run."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from functools import partial
from itertools import compress

import numpy as np

from benchmarks.timing import cpu, table
from deadheat.stats.agreement import alpha_by_group, kendall_rows, spearman_rows, weighted_kendall_rows

SENTENCES, SYSTEMS = 2000, 6
RANKINGS, RANKED = 5000, 80


def labelled() -> tuple[np.ndarray, np.ndarray]:
    """Labels of six taggers, right nine times in ten, over sentences of 1 to 40 words; one in a hundred is missing."""
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 41, SENTENCES))])
    gold = rng.integers(0, 17, offsets[-1])
    shape = (SYSTEMS, len(gold))
    labels = np.where(rng.random(shape) < 0.9, gold, rng.integers(0, 17, shape))
    labels[rng.random(shape) < 0.01] = -1
    return labels, offsets


def one_by_one(parts: list[np.ndarray]) -> list[float]:
    """The package `krippendorff`, called for each sentence."""
    krippendorff = importlib.import_module("krippendorff")
    return [krippendorff.alpha(reliability_data=part, level_of_measurement="nominal") for part in parts]


def agreement() -> None:
    labels, offsets = labelled()
    ours = cpu(lambda: alpha_by_group(labels, offsets))
    rows = [["deadheat, all sentences at once", f"{1000 * ours:.2f}", "1.0"]]
    if importlib.util.find_spec("krippendorff"):
        data = np.where(labels == -1, np.nan, labels)
        parts = np.split(data, offsets[1:-1], axis=1)
        accepted = [np.nanmin(part) < np.nanmax(part) for part in parts]  # it refuses a sentence of but one label
        parts = list(compress(parts, accepted))
        found = alpha_by_group(labels, offsets).alpha_G[accepted]
        assert np.allclose(one_by_one(parts), found, rtol=0, atol=1e-12)
        slow = cpu(lambda: one_by_one(parts), repeats=3)
        rows.append(["krippendorff, sentence by sentence", f"{1000 * slow:.0f}", f"{slow / ours:.0f}"])
    else:
        print("krippendorff is not installed; pip install krippendorff to compare with it")
    print(table([f"alpha of {SYSTEMS} systems in {SENTENCES} sentences", "ms CPU", "times as long"], rows))


def each(function: Callable[..., object], rows: np.ndarray, one: np.ndarray) -> list[object]:
    return [function(row, one) for row in rows]


def rankings() -> None:
    stats = importlib.import_module("scipy.stats")
    rng = np.random.default_rng(0)
    many, one = rng.integers(0, 200, (RANKINGS, RANKED)).astype(float), rng.normal(size=RANKED)
    few = many[:100]
    rows = []
    pairs: dict[str, tuple[Callable[..., np.ndarray], Callable[..., object]]] = {
        "weighted Kendall": (weighted_kendall_rows, stats.weightedtau),
        "Kendall": (kendall_rows, stats.kendalltau),
        "Spearman": (spearman_rows, stats.spearmanr),
    }
    for name, (ours, theirs) in pairs.items():
        fast = cpu(partial(ours, many, one))
        slow = cpu(partial(each, theirs, few, one), repeats=3) * RANKINGS / len(few)
        rows.append([name, f"{1000 * fast:.0f}", f"{1000 * slow:.0f}", f"{slow / fast:.0f}"])
    print(table([f"{RANKINGS} rankings of {RANKED} systems", "ms CPU", "scipy, ms", "times faster"], rows))


def main() -> None:
    agreement()
    rankings()


if __name__ == "__main__":
    main()
