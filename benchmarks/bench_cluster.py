"""What a Ray cluster costs per cell, and how many cells and bytes a second the study can write that directs it.

`python -m benchmarks.bench_cluster [CELLS]`: empty cells on three nodes of two cores, all on this machine; then real
results as nodes send them, written to a store with their predictions and recorded in a ledger.
"""

from __future__ import annotations

import importlib
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import zstandard

from benchmarks.timing import ROOT, corpus_file, table
from deadheat.study.cluster import fleet
from deadheat.study.cluster.agent import Agent, AgentSetup, NodeResult, NodeRunner, packed
from deadheat.study.cluster.connection import connect
from deadheat.study.cluster.executor import WRITERS, RayExecutor, write_predictions
from deadheat.study.engine.executor import ActiveTask, LocalExecutor
from deadheat.study.engine.running import run_study
from deadheat.study.engine.training import CellResult
from deadheat.study.engine.worker import TaskResult
from deadheat.study.ledger.ledger import Ledger, LedgerEntry
from deadheat.study.plan.cells import DONE, Cell, PartScores
from deadheat.study.plan.plan import Plan
from deadheat.study.store.recording import prediction_file, predictions_folder
from deadheat.study.store.store import Store

CELLS, STORED = 5_000, 300
NODES, CORES = 3, 2
WORKERS = (10, 100, 1_000)
BATCH = 16  # results that arrive while the last ones are written
SEEDS = 10  # cells of one split
STUDY = "[corpora.text]\nfiles = 'text.conllu'\n[splits]\nstrategy = 'random'\ntimes = {times}\n"
SYSTEM = f"[[systems]]\nname = 'perceptron'\nepochs = 1\nseeds = {SEEDS}\n"


def nothing(cell: Cell) -> CellResult:
    return CellResult((), {})


def short(cell: Cell) -> CellResult:
    time.sleep(0.05)
    return CellResult((), {})


class EmptyAgent(Agent):
    """An agent whose cells do nothing, or sleep for 50 ms."""

    def start(self, setup: AgentSetup) -> str:
        module = importlib.import_module("benchmarks.bench_cluster")  # workers import it by its name
        work = getattr(module, os.environ["BENCH_CELL"])
        self._executor = LocalExecutor(work, workers=setup.workers)
        return ""


@contextmanager
def cluster() -> Iterator[tuple[str, Any]]:
    """The address of a cluster on this machine, and what adds nodes to it."""
    folder = Path(tempfile.mkdtemp())
    (folder / "token").write_text(os.urandom(32).hex())
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(folder / "token")}
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_memory_monitor_refresh_ms": "0"}
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    made = importlib.import_module("ray.cluster_utils").Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
    )
    try:
        yield str(made.address), made
    finally:
        made.shutdown()


def study(folder: Path, text: Path, times: int) -> Plan:
    (folder / "text.conllu").write_bytes(text.read_bytes())
    (folder / "study.toml").write_text(STUDY.format(times=times) + SYSTEM)
    return Plan.of(folder / "study.toml")


def seconds_on_ray(address: str, plan: Plan, cells: int) -> float:
    """Seconds from the first result to the last."""
    module = importlib.import_module("benchmarks.bench_cluster")
    with patch.object(fleet, "Agent", module.EmptyAgent):
        connection = connect(address)
        with RayExecutor(plan, plan.path.with_suffix(".sqlite"), connection) as executor:
            first = plan.cells[0]
            executor.submit("warm", first)
            list(executor.results())
            while not executor._fleet.settled:
                executor._fleet.check()
                executor._collect()
            start = time.perf_counter()
            for number in range(cells):
                executor.submit(str(number), replace(first, number=number))
            count = sum(1 for _ in executor.results())
            assert count == cells
            return time.perf_counter() - start


@dataclass
class Replay:
    """An executor that returns results as nodes send them, one per cell, and does what a study does with them."""

    templates: list[bytes]
    folder: Path
    cells: list[tuple[str, Cell]] = field(default_factory=list)
    making: float = 0.0  # seconds to make the results up
    received: int = 0
    written: int = 0

    def submit(self, name: str, task: Cell) -> None:
        self.cells.append((name, task))

    def results(self, on_wait: Any = None) -> Iterator[TaskResult[CellResult]]:
        rng = np.random.default_rng(0)
        with ThreadPoolExecutor(WRITERS) as pool:
            for first in range(0, len(self.cells), BATCH):
                start = time.perf_counter()
                cells = [cell for _, cell in self.cells[first : first + BATCH]]
                batch = [varied(self.templates[cell.seed % len(self.templates)], cell, rng) for cell in cells]
                self.making += time.perf_counter() - start
                self.received += sum(map(len, batch))
                results: list[TaskResult[Any]] = [pickle.loads(zstandard.decompress(data)) for data in batch]
                self.written += sum(len(data) for result in results for data in result.value.contents.values())
                yield from write_predictions(results, self.folder, pool)

    def active(self) -> list[ActiveTask]:
        return []


def varied(data: bytes, cell: Cell, rng: np.random.Generator) -> bytes:
    """A result with other counts, for another cell."""
    result: TaskResult[Any] = pickle.loads(zstandard.decompress(data))

    def other(scores: PartScores) -> PartScores:
        counts = {name: rows.copy() for name, rows in scores.counts.items()}
        for rows in counts.values():
            rows[:, 0] = rng.binomial(rows[:, 1], 0.9)
        return replace(scores, counts=counts)

    files = {
        part: replace(file, file=prediction_file(cell.key, part)) for part, file in result.value.predictions.items()
    }
    value = NodeResult(tuple(map(other, result.value.scores)), files, result.value.contents)
    return packed(replace(result, name=cell.key, value=value))


def seconds_to_write(folder: Path, text: Path, cells: int, *, ledger: bool) -> tuple[float, Replay]:
    """What a study does with results of cells, without the cells themselves."""
    plan = study(folder, text, cells // SEEDS)
    runner = NodeRunner(plan.path, plan.text, (), folder)
    runner.prepare()
    templates = [packed(TaskResult(cell.key, DONE, runner.run(cell), started=1.8e9)) for cell in plan.cells[:5]]
    replay = Replay(templates, predictions_folder(folder / "study.sqlite"))
    entry = LedgerEntry(Ledger.at(str(folder / "ledger.jsonl")), "benchmark", "") if ledger else None
    with Store.open(folder / "study.sqlite", create=True) as store:
        start = time.perf_counter()
        run_study(plan, store, executor=replay, ledger_entry=entry)  # type: ignore[arg-type]
        return (time.perf_counter() - start - replay.making) / cells, replay


def seconds_to_sync() -> float:
    """Seconds that the disk takes to make a small file safe."""
    with tempfile.NamedTemporaryFile() as file:
        start = time.perf_counter()
        for _ in range(100):
            file.write(b"x")
            file.flush()
            os.fsync(file.fileno())
        return (time.perf_counter() - start) / 100


def print_overhead(cells: int) -> float:
    """Print what a cell costs on a cluster; returns the seconds per empty cell."""
    with cluster() as (address, made), tempfile.TemporaryDirectory() as name:
        plan = study(Path(name), corpus_file(), 1)
        rows, costs = [], []
        for work, number in (("nothing", cells), ("short", 400)):
            os.environ["BENCH_CELL"] = work
            nodes = [made.add_node(num_cpus=CORES, include_dashboard=False) for _ in range(NODES)]
            took = seconds_on_ray(address, plan, number)
            ideal = 0.05 * number / (NODES * CORES) if work == "short" else 0.0
            costs.append(took / number)
            rows.append([work, f"{number:,}", f"{took:.2f}", f"{ideal:.2f}", f"{1e3 * (took - ideal) / number:.2f}"])
            for node in nodes:
                made.remove_node(node)
        head = [f"cells on {NODES} nodes of {CORES} cores", "number", "s", "ideal s", "overhead, ms per cell"]
        print(table(head, rows))
    return costs[0]


def main() -> None:
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else CELLS
    overhead = print_overhead(cells)
    rows, capacity = [], []
    blocks = corpus_file().read_text().strip().split("\n\n")
    for share, ledger in ((100, True), (10, True), (1, True), (1, False)):  # the first one warms up
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            text = folder / "source.conllu"
            text.write_text("\n\n".join(blocks[::share]) + "\n\n")
            took, replay = seconds_to_write(folder, text, STORED, ledger=ledger)
            size = (folder / "study.sqlite").stat().st_size
        received, total = replay.received / STORED, took + overhead
        label = f"{len(blocks) // share:,} sentences" + ("" if ledger else ", no ledger")
        numbers = [
            1e3 * took,
            1 / total,
            received / 1e3,
            received / total / 1e6,
            (size + replay.written) / STORED / 1e3,
        ]
        capacity.append((label, 1 / total))
        rows.append([label, *(f"{number:.1f}" for number in numbers)])
    print(f"one fsync: {1e3 * seconds_to_sync():.1f} ms")
    del rows[0], capacity[0]
    head = ["one writer", "ms per cell", "cells/s with Ray", "kB received per cell", "MB/s", "kB on disk per cell"]
    print(table(head, rows))
    head = ["seconds that a cell has to take, for one writer to keep up", *(f"{count:,} workers" for count in WORKERS)]
    print(table(head, [[label, *(f"{count / rate:.1f}" for count in WORKERS)] for label, rate in capacity]))


if __name__ == "__main__":
    importlib.import_module("benchmarks.bench_cluster").main()
