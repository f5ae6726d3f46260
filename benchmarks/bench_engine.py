"""What worker processes cost: each trivial task, starting, replacing a dead worker, large results; beside others'."""

from __future__ import annotations

import importlib
import os
import signal
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from benchmarks.timing import table
from deadheat.study.engine.executor import LocalExecutor

TASKS, WORKERS = 10_000, 2
DEATHS, LARGE, MEGABYTES = 200, 20, 10


def die(task: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def megabytes(size: int) -> bytes:
    return b"x" * (size * 1_000_000)


def finished(executor: LocalExecutor[int, object], tasks: Iterable[int]) -> int:
    for number, task in enumerate(tasks):
        executor.submit(str(number), task)
    return sum(1 for _ in executor.results())


def ours(work: Callable[[int], object], tasks: Iterable[int]) -> tuple[float, float, int]:
    """Seconds to start and close, seconds for all tasks, and how many were reported."""
    begin = time.perf_counter()
    with LocalExecutor(work, workers=WORKERS) as executor:
        finished(executor, [0])
        started = time.perf_counter()
        count = finished(executor, tasks)
        ended = time.perf_counter()
    return started - begin + time.perf_counter() - ended, ended - started, count


def standard_library(tasks: range) -> tuple[float, float]:
    begin = time.perf_counter()
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as executor:
        executor.submit(abs, 0).result()
        started = time.perf_counter()
        for each in [executor.submit(abs, task) for task in tasks]:
            each.result()
        ended = time.perf_counter()
    return started - begin + time.perf_counter() - ended, ended - started


def loky(tasks: range) -> tuple[float, float] | None:
    try:
        joblib = importlib.import_module("joblib")
    except ImportError:
        return None
    begin = time.perf_counter()
    with joblib.Parallel(n_jobs=WORKERS, batch_size=1, pre_dispatch="all") as parallel:
        parallel(joblib.delayed(abs)(0) for _ in range(1))
        started = time.perf_counter()
        parallel(joblib.delayed(abs)(task) for task in tasks)
        ended = time.perf_counter()
    return started - begin + time.perf_counter() - ended, ended - started


def main() -> None:
    start, tasks, count = ours(abs, range(TASKS))
    assert count == TASKS
    importable = importlib.import_module("benchmarks.bench_engine")  # workers import it by its name
    _, deaths, count = ours(importable.die, range(DEATHS))
    assert count == DEATHS
    _, large, count = ours(importable.megabytes, [MEGABYTES] * LARGE)
    assert count == LARGE
    rows = [["ours", f"{start:.2f}", f"{1e3 * tasks / TASKS:.3f}", "1.0"]]
    for name, measured in (
        ("ProcessPoolExecutor, spawned", standard_library(range(TASKS))),
        ("joblib's loky, one task at a time", loky(range(TASKS))),
    ):
        if measured is not None:
            begin, total = measured
            rows.append([name, f"{begin:.2f}", f"{1e3 * total / TASKS:.3f}", f"{total / tasks:.1f}"])
    print(
        table([f"{TASKS:,} trivial tasks, {WORKERS} workers", "s to start and end", "ms a task", "times as long"], rows)
    )
    print(f"\na task that kills its worker, replaced: {1e3 * deaths / DEATHS:.1f} ms")
    print(f"a result of {MEGABYTES} MB: {1e3 * large / LARGE:.1f} ms")


if __name__ == "__main__":
    main()
