"""What a study costs beside its systems: a trivial cell, a run with nothing to do, a plan, the tests of a result."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from deadheat.terminal.tables import table

from benchmarks.timing import DATA
from deadheat.questions.study import study_result
from deadheat.study.engine.training import train_cell
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from deadheat.testbed import generate

CELLS = int(os.environ.get("CELLS", "10000"))
ALONE = 300  # cells that are measured without a study around them
SPLITS = 20
TRIVIAL = """\
evaluate = ["dev"]
[corpora.tiny]
files = "tiny.conllu"
[splits]
strategy = "random"
times = {cells}
[[systems]]
name = "majority"
"""
LARGE = """\
[corpora.large]
files = {files}
[splits]
strategy = "random"
times = {splits}
[[systems]]
name = "majority"
[[systems]]
name = "unigram"
[[systems]]
name = "hmm"
beam = [100, 200, 500, 1000]
"""


def study(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text)
    return path


def command(path: Path, *options: str) -> tuple[float, float, str]:
    """Seconds of a clock, seconds of CPU of all processes, and what `deadheat run` printed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "DEADHEAT_LEDGER": str(path.parent / "ledger.jsonl")}
    done = subprocess.run(
        [sys.executable, "-m", "deadheat.cli.main", "run", str(path), "--quiet", *options],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def alone(path: Path) -> float:
    """Seconds of CPU that a cell takes by itself: its training, prediction and scores."""
    plan = Plan.of(path)
    train_cell(plan, plan.cells[0])
    start = time.process_time()
    for cell in plan.cells[:ALONE]:
        train_cell(plan, cell)
    return (time.process_time() - start) / min(ALONE, len(plan.cells))


def trivial(folder: Path) -> None:
    (folder / "tiny.conllu").write_text(generate("velani", sentences=20, seed=0))
    path = study(folder, TRIVIAL.format(cells=CELLS))
    cell = alone(path)
    wall, cpu, _ = command(path)
    rows = [
        ["the cell itself", "", f"{1e3 * cell:.2f}"],
        ["all of deadheat run", f"{1e3 * wall / CELLS:.2f}", f"{1e3 * cpu / CELLS:.2f}"],
        ["of this, beside the cell", "", f"{1e3 * (cpu / CELLS - cell):.2f}"],
    ]
    for name, options in (("deadheat run again, nothing to do", ()), ("deadheat run --plan", ("--plan",))):
        wall, cpu, _ = command(path, *options)
        rows.append([name, f"{1e3 * wall / CELLS:.3f}", f"{1e3 * cpu / CELLS:.3f}"])
    print(table([f"{CELLS:,} trivial cells", "ms a cell", "ms of CPU a cell"], rows))


def large(folder: Path) -> None:
    treebank = DATA / "treebanks" / "en_ewt"
    if not treebank.is_dir():
        treebank = folder / "made.conllu"
        treebank.write_text(generate("velani", sentences=16_000, seed=0))
    path = study(folder, LARGE.format(files=json.dumps(str(treebank)), splits=SPLITS))
    ran, cpu, _ = command(path)
    plan = Plan.of(path)
    with Store.read(plan.store_path) as store:
        start = time.process_time()
        result = study_result(plan, store)
        took = time.process_time() - start
    _, _, printed = command(path, "--json")
    cells = len(plan.cells)
    print(f"\n{treebank.stem}, {SPLITS} splits by {len(plan.systems)} systems, dev and test: {cells} cells")
    print(f"deadheat run: {ran:.0f} s, {cpu:.0f} s of CPU")
    print(f"its result, {sum(len(block.pairs) for block in result.blocks)} pairs: {took:.2f} s of CPU,", end=" ")
    print(f"{len(printed) / 1e6:.2f} MB of JSON")


def main() -> None:
    for measured in (trivial, large):
        with tempfile.TemporaryDirectory() as folder:
            measured(Path(folder))


if __name__ == "__main__":
    main()
