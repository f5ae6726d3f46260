"""A study of how much test data is enough, of 165 parsers: CPU time of each part, and of draws one by one."""

from __future__ import annotations

import importlib

import numpy as np

from benchmarks.timing import cpu, table
from deadheat.metrics import METRICS
from deadheat.ranking.size_samples import CountedSet, SizeSettings, sample_weights, sampled_scores
from deadheat.ranking.sizes import sample_taus, size_curves

SYSTEMS, RUNS, SENTENCES, DRAWS = 33, 5, 2000, 100
FEW = 3  # draws that are done one by one, and reckoned up


def parsers() -> CountedSet:
    """33 parsers of 80 to 90 % and five runs of each, on 2,000 sentences of 1 to 24 words."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 25, SENTENCES)
    accuracy = np.repeat(np.linspace(0.8, 0.9, SYSTEMS), RUNS) + rng.normal(0, 0.003, SYSTEMS * RUNS)
    totals = np.broadcast_to(lengths, (SYSTEMS * RUNS, SENTENCES))
    counts = np.stack([rng.binomial(lengths, accuracy[:, None]), totals, totals], axis=2)
    names = tuple(f"parser {number}" for number in range(SYSTEMS) for _ in range(RUNS))
    return CountedSet("made up", names, lengths, counts, METRICS.make("las"))


def one_by_one(given: CountedSet, settings: SizeSettings, draws: int) -> list[float]:
    """Each sample scored and ranked by itself."""
    weightedtau = importlib.import_module("scipy.stats").weightedtau
    whole = given.metric.value(given.counts_RNF.sum(axis=1))
    taus = []
    for draw in range(draws):
        for weights in sample_weights(given.lengths_N, "rand", given.sizes(settings), draw=draw, seed=settings.seed):
            sample = given.metric.value(given.counts_RNF[:, weights > 0].sum(axis=1))
            taus.append(float(weightedtau(sample, whole).statistic))
    return taus


def main() -> None:
    given = parsers()
    plain = SizeSettings(draws=DRAWS, runs="separate", aso_draws=0)
    random = SizeSettings(draws=DRAWS, runs="separate", aso_draws=0, strategies=("rand",))
    ours = cpu(lambda: size_curves([given], random), repeats=3)
    slow = cpu(lambda: one_by_one(given, random, FEW), repeats=1) * DRAWS / FEW
    by_size = sample_taus(sampled_scores(given, "rand", random), given.systems, random)
    taus = np.array([tau_B[:FEW] for tau_B in by_size]).T.reshape(-1)
    assert np.allclose(taus, one_by_one(given, random, FEW), rtol=0, atol=1e-9)
    every = cpu(lambda: size_curves([given], plain), repeats=3)
    full = cpu(lambda: size_curves([given], SizeSettings(draws=DRAWS, runs="separate")), repeats=1)
    rows = [
        ["rand, all draws at once", f"{ours:.2f}", "1.0"],
        ["rand, draw by draw with numpy and scipy.stats.weightedtau", f"{slow:.2f}", f"{slow / ours:.1f}"],
        ["seq, rand and rand-seq", f"{every:.2f}", ""],
        ["the same, and almost stochastic order for 20 draws a size", f"{full:.2f}", ""],
    ]
    sizes = len(given.sizes(plain))
    title = f"{SYSTEMS * RUNS} parsers, {SENTENCES:,} sentences, {sizes} sizes, {DRAWS} draws"
    print(table([title, "s CPU", "times as long"], rows))


if __name__ == "__main__":
    main()
