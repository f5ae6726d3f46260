"""Score distributions over seeds against deepsig, rliable and baycomp: CPU time in one run.

The others need packages of their own, some of them old. They run in an environment of theirs, named by $DEADHEAT_PEERS:

    python -m venv peers && peers/bin/pip install deepsig rliable baycomp 'pandas<3'
    DEADHEAT_PEERS=peers/bin/python python -m benchmarks.bench_distributions

`pandas<3` because arch, which rliable needs, does not import with pandas 3. The others are run on a few of the pairs or
systems, in a warm process, and scaled to all.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np

from benchmarks.timing import cpu, table
from deadheat.stats.aggregates import interquartile_mean
from deadheat.stats.aso import aso_matrix
from deadheat.stats.differences import bayesian_signed_rank

PEERS = os.environ.get("DEADHEAT_PEERS", sys.executable)
MODELS, SEEDS, BOOTSTRAPS = 33, 5, 1000
SYSTEMS, DATA_SETS, RUNS, RESAMPLES = 26, 82, 5, 2000
SAMPLES = 50_000

CLOCK = """
import time, warnings
import numpy as np
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
def clock(call):
    start = time.process_time()
    call()
    return time.process_time() - start
"""


@dataclass(frozen=True, slots=True)
class Peer:
    """Somebody else's program, and how many times what is measured of it the whole task is."""

    name: str
    code: str
    scale: float

    def seconds(self) -> float | None:
        """CPU seconds of the whole task, or None where the program is not installed."""
        done = subprocess.run([PEERS, "-c", CLOCK + self.code], capture_output=True, text=True)
        if done.returncode:
            reason = done.stderr.strip().rpartition("\n")[2] or "it ended without a word"
            print(f"{self.name} left out: {reason} (see the head of this file)")
            return None
        return float(done.stdout.split()[-1]) * self.scale


DEEPSIG = Peer(
    "deepsig",
    f"""
from deepsig import aso
a, b = rng.normal(0.9, 0.01, (2, {SEEDS})).tolist()
aso(a, b, num_bootstrap_iterations=10, show_progress=False)
print(clock(lambda: [aso(a, b, num_bootstrap_iterations={BOOTSTRAPS}, show_progress=False, seed=s) for s in (1, 2)]))
""",
    MODELS * (MODELS - 1) / 2 / 2,
)
RLIABLE = Peer(
    "rliable",
    f"""
from rliable import library, metrics
scores = {{str(i): rng.normal(0.8, 0.05, ({RUNS}, {DATA_SETS})) for i in range(3)}}
mean = lambda x: np.array([metrics.aggregate_iqm(x)])
library.get_interval_estimates(scores, mean, reps=10)
print(clock(lambda: library.get_interval_estimates(scores, mean, reps={RESAMPLES})))
""",
    SYSTEMS / 3,
)
BAYCOMP = Peer(
    "baycomp",
    f"""
import baycomp
x, y = rng.normal(0.8, 0.05, (2, {DATA_SETS}))
baycomp.SignedRankTest.probs(x, y, 0.01, nsamples=10)
print(clock(lambda: baycomp.SignedRankTest.probs(x, y, 0.01, nsamples={SAMPLES})))
""",
    1,
)


def main() -> None:
    rng = np.random.default_rng(0)
    scores_SR = rng.normal(0.9, 0.01, (MODELS, SEEDS))
    scores_SDR = rng.normal(0.8, 0.05, (SYSTEMS, DATA_SETS, RUNS))
    a_D, b_D = rng.normal(0.8, 0.05, (2, DATA_SETS))
    tasks = (
        (
            f"almost stochastic order, {MODELS} models x {SEEDS} seeds, {BOOTSTRAPS} resamples",
            DEEPSIG,
            lambda: aso_matrix(scores_SR, resamples=BOOTSTRAPS, rng=rng),
        ),
        (
            f"interquartile means, {SYSTEMS} x {DATA_SETS} x {RUNS}, {RESAMPLES} resamples",
            RLIABLE,
            lambda: [interquartile_mean(scores_DR, resamples=RESAMPLES, rng=rng) for scores_DR in scores_SDR],
        ),
        (
            f"Bayesian signed rank, {DATA_SETS} data sets, {SAMPLES} samples",
            BAYCOMP,
            lambda: bayesian_signed_rank(a_D, b_D, rope=0.01, samples=SAMPLES, rng=rng),
        ),
    )
    rows = []
    for name, peer, call in tasks:
        ours, theirs = cpu(call), peer.seconds()
        rows.append([f"deadheat: {name}", f"{1000 * ours:.1f}", f"{theirs / ours:,.0f}" if theirs else "-"])
        if theirs:
            rows.append([f"{peer.name}: the same", f"{1000 * theirs:,.0f}", "1"])
    print(table(["scores over seeds", "ms CPU", "times faster"], rows))


if __name__ == "__main__":
    main()
