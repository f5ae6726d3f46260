"""A page of a large table and of a large store: seconds, memory, and the size of the page.

`python -m benchmarks.bench_report [RUNS OF THE TABLE] [RUNS OF THE STORE]`: runs of 26 systems on 82 data sets each, by
default 1,000 in the table (2.1 million rows) and 50 in the store (106,600 runs with counts of 300 sentences).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.timing import table
from deadheat.questions.study import scale_of, sort_systems, study_verdict, system_scores
from deadheat.questions.study_corpora import BlockPair, PairSummary, over_corpora
from deadheat.questions.study_pairs import PairName, SplitTest, pair_over_splits
from deadheat.results.compare import PairwiseSettings
from deadheat.results.study import (
    OverallTest,
    PairOverSplits,
    StudyBlock,
    StudyCorpus,
    StudyResult,
    StudySplits,
    StudySystem,
    SystemScores,
)
from deadheat.stats.estimates import Estimate
from deadheat.stats.paired import CLUSTERED_T
from deadheat.study.plan.cells import DONE, Cell, Outcome, PartScores
from deadheat.study.store.store import Store

SYSTEMS, CORPORA, TABLE_RUNS, STORE_RUNS, UNITS, AT_ONCE = 26, 82, 1_000, 50, 300, 2_000
METRIC = "las.v1"
Shares = np.ndarray[Any, np.dtype[np.float64]]


def shares_SDR(runs: int) -> Shares:
    """Scores of systems on corpora: both differ, some corpora suit some systems, and seeds matter a little."""
    rng = np.random.default_rng(0)
    systems, corpora = rng.normal(0.8, 0.03, SYSTEMS), rng.normal(0, 0.08, CORPORA)
    suited_SD = rng.normal(0, 0.01, (SYSTEMS, CORPORA))
    noise_SDR = rng.normal(0, 0.005, (SYSTEMS, CORPORA, runs))
    found: Shares = (systems[:, None, None] + corpora[:, None] + suited_SD[:, :, None] + noise_SDR).clip(0, 1)
    return found


def names() -> tuple[list[str], list[str]]:
    return [f"parser-{i:02}" for i in range(SYSTEMS)], [f"treebank-{i:02}" for i in range(CORPORA)]


def make_tables(folder: Path, runs: int) -> list[Path]:
    """The same long table as Parquet and as CSV."""
    systems, corpora = (pl.Series(each) for each in names())
    frame = pl.DataFrame(
        {
            "system": systems.gather(np.repeat(np.arange(SYSTEMS), CORPORA * runs)),
            "treebank": corpora.gather(np.tile(np.repeat(np.arange(CORPORA), runs), SYSTEMS)),
            "seed": np.tile(np.arange(runs), SYSTEMS * CORPORA),
            "score": (100 * shares_SDR(runs)).round(2).ravel(),
        }
    )
    paths = [folder / "runs.parquet", folder / "runs.csv"]
    frame.write_parquet(paths[0])
    frame.write_csv(paths[1])
    return paths


def outcomes(shares: Shares) -> Iterator[Outcome]:
    """Every run with the counts that give its score, more or less."""
    rng = np.random.default_rng(1)
    systems, corpora = names()
    for place, corpus in enumerate(corpora):
        gold = np.minimum(rng.geometric(1 / 13, UNITS), 60)
        for number, system in enumerate(systems):
            for seed, share in enumerate(shares[number, place].tolist()):
                correct = rng.binomial(gold, share)
                counts = np.stack([correct, gold, gold], axis=1)
                value = float(correct.sum() / gold.sum())
                scores = PartScores("test", UNITS, int(gold.sum()), {METRIC: value}, {METRIC: counts})
                cell = Cell(corpus, f"{place:032x}", "standard.v1", 0, 0, f"{system}.v1", seed)
                yield Outcome(cell, DONE, 1.8e9, 60.0, 60.0, 500.0, "", scores=(scores,), provenance={"host": "here"})


def make_store(folder: Path, runs: int) -> Path:
    """A store with what a study of the same shape would have found."""
    path = folder / "study.sqlite"
    made = outcomes(shares_SDR(runs))
    with Store.open(path, create=True) as store:
        while some := list(islice(made, AT_ONCE)):
            store.add_many(some)
        scores = store.scores()
        store.set_result(result(scores, runs))
    return path


def result(scores: pl.DataFrame, runs: int) -> StudyResult:
    """What `deadheat run` keeps: scores and pairs of every corpus."""
    systems, corpora = names()
    blocks: list[StudyBlock] = []
    estimates: dict[BlockPair, PairSummary] = {}
    for (corpus,), own in scores.sort("corpus").group_by("corpus", maintain_order=True):
        rows = []
        for (system,), values in own.group_by("system", maintain_order=True):
            pairs = [(0, value) for value in values["value"].to_list()]
            mean = float(np.mean(values["value"].to_numpy()))
            interval = (mean - 0.01, mean + 0.01)
            rows.append(system_scores(str(system).removesuffix(".v1"), METRIC, pairs, [0], interval))
        rows = sort_systems(rows)
        summaries = {(a.system, b.system): _summary(a, b) for a, b in combinations(rows, 2)}
        estimates |= {(len(blocks), *pair): summary for pair, summary in summaries.items()}
        tested = tuple(_pair(pair, summary) for pair, summary in summaries.items())
        blocks.append(
            StudyBlock(str(corpus), "standard.v1", 0, "test", (0,), (METRIC,), tuple(rows), tested, (), (200_000,))
        )
    labels, settings = {METRIC: METRIC}, PairwiseSettings(CLUSTERED_T)
    scale = scale_of(blocks)
    comparisons = over_corpora(blocks, estimates, settings, labels, scale)
    return StudyResult(
        "large",
        tuple(blocks),
        labels,
        verdict=study_verdict(blocks, comparisons, labels, scale, settings)[0],
        scale=scale,
        comparisons=comparisons,
        corpora=tuple(StudyCorpus(name, 20_000, 250_000) for name in corpora),
        strategies=(StudySplits("standard.v1", 1, 0),),
        systems=tuple(StudySystem(name, f"{name}.v1", tuple(range(runs))) for name in systems),
        cells=SYSTEMS * CORPORA * runs,
        store="study.sqlite",
        keys=tuple(scores["key"]),
    )


def _summary(a: SystemScores, b: SystemScores) -> PairSummary:
    """The difference of two systems, with the error of about as many sentences."""
    estimate = Estimate(a.mean - b.mean, 0.005, UNITS - 1)
    test = SplitTest(CLUSTERED_T, "sentence", estimate.p, estimate.value, estimate.value)
    return PairSummary(estimate, (test,), 1, int(estimate.value > 0), about_runs=False)


def _pair(pair: PairName, summary: PairSummary) -> PairOverSplits:
    estimate = summary.estimate
    bounds = estimate.interval().bounds
    overall = OverallTest(
        estimate.value, *bounds, estimate.p, estimate.p, 1, summary.ahead, 0.005, estimate.detectable()
    )
    return pair_over_splits(pair, summary.tests, "holm", 0.05, overall)


@dataclass(frozen=True)
class Took:
    """What a command took: seconds by the clock and of the processor, and the most memory, in MiB."""

    wall: float
    cpu: float
    memory: float


PROBE = """
import resource, sys, time
from deadheat.cli.main import main
start = time.perf_counter()
code = main(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_SELF)
peak = next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM'))
print(code, used.ru_utime + used.ru_stime, peak, file=sys.stderr)
"""


def measured(command: list[str], folder: Path) -> Took:
    """Run a command in an interpreter of its own; the start of the interpreter is counted."""
    start = time.perf_counter()
    environment = os.environ | {"DEADHEAT_LEDGER": str(folder / "ledger.jsonl")}
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *command], cwd=folder, capture_output=True, text=True, env=environment
    )
    wall = time.perf_counter() - start
    code, cpu, peak = done.stderr.splitlines()[-1].split()
    assert code == "0", done.stderr
    return Took(wall, float(cpu), int(peak) / 1024)


def main() -> None:
    table_runs, store_runs = (
        int(sys.argv[place]) if len(sys.argv) > place else usual for place, usual in ((1, TABLE_RUNS), (2, STORE_RUNS))
    )
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = time.perf_counter()
        made = dict.fromkeys(make_tables(folder, table_runs), table_runs)
        made[make_store(folder, store_runs)] = store_runs
        print(f"made in {time.perf_counter() - start:.0f} s")
        for path, runs in made.items():
            took = measured(["report", path.name, "--out", "page.html"], folder)
            page = (folder / "page.html").stat().st_size
            size = f"{path.stat().st_size / 1e6:,.0f}"
            cells = (f"{took.wall:.1f}", f"{took.cpu:.1f}", f"{took.memory:,.0f}", f"{page / 1e6:.2f}")
            rows.append((path.name, f"{SYSTEMS * CORPORA * runs:,}", size, *cells))
    print(table(("file", "runs", "MB", "seconds", "CPU", "MiB of memory", "MB of page"), rows))


if __name__ == "__main__":
    main()
