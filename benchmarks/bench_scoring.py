"""Reading and scoring a pair of files, all metrics, against the official evaluator: CPU time in one run."""

from __future__ import annotations

import gc
import importlib
from pathlib import Path
from tempfile import gettempdir

import deadheat
from benchmarks.timing import BIN, ONE_WORD, corpus_file, cpu, cpu_of_command, peak_memory, table, ten_copies
from deadheat.metrics import METRICS, align
from deadheat.metrics.universal import OFFICIAL
from deadheat.testbed import SimulatedSystem, simulate


def counts_alone(gold: Path, predicted: Path) -> None:
    """Read and count all that the official evaluator counts."""
    pair = align(deadheat.read(gold), deadheat.read(predicted))
    for name in OFFICIAL:
        METRICS.make(name).counts(pair).sum(axis=0)


def official(gold: Path, predicted: Path) -> None:
    udeval = importlib.import_module("udtools.udeval")
    udeval.evaluate(udeval.load_conllu_file(str(gold)), udeval.load_conllu_file(str(predicted)))
    gc.collect()


def main() -> None:
    gold = corpus_file()
    predicted = Path(gettempdir()) / "deadheat-bench-prediction.conllu"
    text = simulate(gold.read_text(encoding="utf-8"), SimulatedSystem("bench"), seed=1)
    predicted.write_text(text, encoding="utf-8")
    theirs = cpu(lambda: official(gold, predicted), repeats=3)
    rows = [["udtools, in a warm process", f"{1000 * theirs:.0f}", "1.0"]]
    for name, call in (
        ("deadheat, counts of 13 metrics", lambda: counts_alone(gold, predicted)),
        ("deadheat, with intervals", lambda: deadheat.score(gold, predicted)),
    ):
        ours = cpu(call, repeats=15)
        rows.append([f"{name}, in a warm process", f"{1000 * ours:.0f}", f"{theirs / ours:.1f}"])
    theirs = cpu_of_command([str(BIN / "udeval"), "-v", str(gold), str(predicted)], repeats=3)
    ours = cpu_of_command([str(BIN / "deadheat"), "score", str(gold), str(predicted)])
    rows.append(["udeval, the whole command", f"{1000 * theirs:.0f}", "1.0"])
    rows.append(["deadheat score, the whole command", f"{1000 * ours:.0f}", f"{theirs / ours:.1f}"])
    print(table(["reading and scoring a pair", "ms CPU", "times faster"], rows))
    large = ten_copies(gold)
    base = peak_memory(f"import deadheat; deadheat.read(text={ONE_WORD!r})")
    used = peak_memory(f"import deadheat; deadheat.score({str(large)!r}, {str(large)!r})") - base
    size = large.stat().st_size
    print(f"memory to score a pair of {size / 1e6:.0f} MB each: {used / size:.1f} times one file")
    large.unlink()


if __name__ == "__main__":
    main()
