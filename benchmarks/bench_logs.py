"""Reading a folder of logs of lm-evaluation-harness: seconds, megabytes a second, and memory.

`python -m benchmarks.bench_logs` writes 20 models by 50 tasks by 1,000 items, some 1.2 GB, to a temporary folder, and
deletes it; `--tasks 5` writes a tenth.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from benchmarks.timing import peak_memory, table

DATE = "2026-01-02T03-04-05.678901"
TEXT = "The quick brown fox of the passage jumps over the lazy dog of the question, and is asked again. "


def write_logs(folder: Path, models: int, tasks: int, items: int) -> int:
    """Write logs with seeded content; return how many bytes."""
    rng = np.random.default_rng(0)
    size = 0
    for model in range(models):
        place = folder / f"org__m{model}"
        place.mkdir()
        numbers = {f"task{task}": {"original": items, "effective": items} for task in range(tasks)}
        results = {"model_name_sanitized": place.name, "n-samples": numbers}
        (place / f"results_{DATE}.json").write_text(json.dumps(results))
        for task in range(tasks):
            right = rng.random(items) < 0.4 + model / 50
            path = place / f"samples_task{task}_{DATE}.jsonl"
            path.write_text("".join(_line(task, item, float(right[item])) for item in range(items)))
            size += path.stat().st_size
    return size


def _line(task: int, item: int, score: float) -> str:
    key = f"{task * 1_000_000 + item:064x}"
    document = {"question": f"{TEXT}{item}", "passage_id": f"p{item // 5}", "choices": ["yes", "no"], "answer": 1}
    arguments = {f"gen_args_{choice}": {"arg_0": TEXT * 2, "arg_1": choice} for choice in ("yes", "no")}
    line = {"doc_id": item, "doc": document, "target": "1", "arguments": arguments, "resps": [[["-3.71", "False"]]] * 2}
    line |= {"filtered_resps": [["-3.71", "False"]] * 2, "filter": "none", "metrics": ["acc", "acc_norm"]}
    line |= {"doc_hash": key, "prompt_hash": key, "target_hash": key, "acc": score, "acc_norm": score}
    return json.dumps(line) + "\n"


def polars_scan(folder: Path) -> pl.DataFrame:
    """What polars alone does with the same keys: nothing is checked."""
    schema = {"doc_id": pl.Int64, "doc_hash": pl.String, "filter": pl.String, "acc": pl.Float64, "acc_norm": pl.Float64}
    return pl.scan_ndjson(sorted(folder.glob("*/samples_*.jsonl")), schema=schema, include_file_paths="path").collect()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, number in (("models", 20), ("tasks", 50), ("items", 1000)):
        parser.add_argument(f"--{name}", type=int, default=number)
    options = parser.parse_args()
    with TemporaryDirectory(prefix="deadheat-bench-") as name:
        folder = Path(name)
        size = write_logs(folder, options.models, options.tasks, options.items) / 1e6
        programs = {
            "deadheat": f"from deadheat.items.logs.read import read_logs; read_logs({name!r})",
            "polars scan_ndjson": f"from benchmarks.bench_logs import *; polars_scan(Path({name!r}))",
        }
        rows = []
        for label, program in programs.items():
            started = time.perf_counter()
            memory = peak_memory(program)
            seconds = time.perf_counter() - started
            rows.append([label, f"{seconds:.1f}", f"{size / seconds:.0f}", f"{memory / 1e6:.0f}"])
    print(f"{options.models * options.tasks:,} files, {size:,.0f} MB")
    print(table(["reader", "seconds", "MB/s", "peak memory, MB"], rows))


if __name__ == "__main__":
    main()
