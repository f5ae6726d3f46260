"""A store of 100,000 runs on 2,000 sentences: how long it takes to write, open, list, and compare; and its size.

`python -m benchmarks.bench_store [RUNS]`
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.timing import DATA, peak_memory, table
from deadheat.study.plan.cells import DONE, Cell, Outcome, PartScores
from deadheat.study.store.recording import compress
from deadheat.study.store.store import Store

RUNS, UNITS, SYSTEMS, COMPARED, AT_ONCE, LARGE = 100_000, 2_000, 20, 1_000, 1_000, 10**8
METRIC = "las.v1"
LAYOUTS = {
    "64-bit rows": lambda counts: counts.astype("<i8").tobytes(),
    "rows of small integers": lambda counts: counts.astype("u1").tobytes(),
    "columns of small integers": lambda counts: counts.T.astype("u1").tobytes(),
    "what is correct alone": lambda counts: counts[:, 0].astype("u1").tobytes(),
}
T = TypeVar("T")


@dataclass(frozen=True)
class Took:
    """Seconds by the clock and of the processor."""

    wall: float
    cpu: float


def real_counts() -> np.ndarray | None:
    """LAS of nine runs on English EWT, runs by units by fields, where they lie beside us."""
    folder = DATA / "predictions" / "gold-pos" / "en_ewt"
    if not folder.is_dir():
        return None
    from deadheat.corpus import read
    from deadheat.metrics import METRICS
    from deadheat.metrics.pair import align

    las = METRICS.make("las")
    found = []
    for system in ("biaffine", "bracketing", "pointer"):
        gold = read(folder / f"gold.{system}.conll.gz", lenient=["multiple-roots"])
        for run in (1, 2, 3):
            predicted = read(folder / f"{system}.run{run}.conll.gz", lenient=["multiple-roots"])
            found.append(las.counts(align(gold, predicted, by="position"))[:UNITS, :3])
    return np.stack(found)


def made_counts(rng: np.random.Generator) -> np.ndarray:
    """Counts like those: sentences of 1 to 60 words, nine of ten words right."""
    gold = np.minimum(rng.geometric(1 / 13, (1, UNITS)), 60).repeat(9, axis=0)
    return np.stack([rng.binomial(gold, 0.9), gold, gold], axis=2)


def outcomes(runs: int, counts_RNF: np.ndarray, rng: np.random.Generator) -> Iterator[Outcome]:
    """Runs like the given ones: every sentence as one of them has it."""
    units = np.arange(UNITS)
    for number in range(runs):
        counts_NF = counts_RNF[rng.integers(0, len(counts_RNF), UNITS), units]
        correct, gold = counts_NF.sum(axis=0)[:2]
        scores = PartScores("test", UNITS, int(gold), {METRIC: correct / gold}, {METRIC: counts_NF})
        seed, system = divmod(number, SYSTEMS)
        cell = Cell("en_ewt", "0f" * 32, "standard.v1", 0, 0, f"parser.v1(size={system})", seed)
        yield Outcome(cell, DONE, 1.8e9, 60.0, 60.0, 500.0, "epoch 1\n", scores=(scores,), provenance={"host": "here"})


def timed(call: Callable[[], T]) -> tuple[Took, T]:
    wall, cpu = time.perf_counter(), time.process_time()
    found = call()
    return Took(time.perf_counter() - wall, time.process_time() - cpu), found


def fill(path: Path, runs: int, counts_RNF: np.ndarray) -> Took:
    """What writing takes, the disk included; making up the runs is not counted."""
    made = outcomes(runs, counts_RNF, np.random.default_rng(0))
    parts = []
    with Store.open(path, create=True) as store:
        while some := list(islice(made, AT_ONCE)):
            parts.append(timed(lambda some=some: store.add_many(some))[0])
        parts.append(timed(store.close)[0])
    return Took(sum(each.wall for each in parts), sum(each.cpu for each in parts))


def measured(path: Path, runs: int, counts_RNF: np.ndarray) -> Iterator[tuple[str, Took, str]]:
    """Everything that is done with a store, what it took, and what came of it."""
    took = fill(path, runs, counts_RNF)
    size = path.stat().st_size / runs
    yield "write", took, f"{runs * UNITS / took.wall / 1e6:.1f} M scores/s, {size:,.0f} bytes a run"
    took, store = timed(lambda: Store.read(path))
    yield "open", took, ""
    for name in ("done", "runs", "scores"):
        took, found = timed(getattr(store, name))
        yield f"{name}()", took, f"{len(found):,} rows"
    scores = store.scores()
    keys = [key for each in scores.partition_by("system")[:2] for key in each["key"][:COMPARED]]
    half = len(keys) // 2
    took, counts = timed(lambda: store.counts(keys, part="test", metric=METRIC))
    yield "counts()", took, f"2 systems by {half:,} runs by {UNITS:,} units by 3 fields"
    took, _ = timed(lambda: (counts[:half, :, 0] - counts[half:, :, 0]).mean(axis=0))
    yield "paired difference of them", took, ""
    many = scores["key"].to_list()[: LARGE // UNITS]
    took, counts = timed(lambda: store.counts(many, part="test", metric=METRIC, fields=(0,), dtype=np.uint8))
    yield (
        "counts() of what is correct, as bytes",
        took,
        f"{counts.size:,} scores, {counts.size / took.wall / 1e6:.0f} M/s",
    )
    store.close()


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    real = real_counts()
    counts_RNF = made_counts(np.random.default_rng(0)) if real is None else real
    print(f"bytes a run of {UNITS:,} units by 3 fields ({'made-up' if real is None else 'real'} counts, LAS)")
    sizes = {name: np.mean([len(compress(pack(each))) for each in counts_RNF]) for name, pack in LAYOUTS.items()}
    print(table(("layout", "bytes"), [(name, f"{size:,.0f}") for name, size in sizes.items()]), "\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        rows = [
            (name, f"{took.wall:.3f}", f"{took.cpu:.3f}", told) for name, took, told in measured(path, runs, counts_RNF)
        ]
        print(table((f"{runs:,} runs", "seconds", "CPU", ""), rows))
        program = f"from deadheat.study.store.store import Store\nwith Store.read({str(path)!r}) as s: s.scores()"
        print(f"memory of scores(), the interpreter included: {peak_memory(program) / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
