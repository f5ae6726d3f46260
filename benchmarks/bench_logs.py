"""Scores of items: a folder of logs of lm-evaluation-harness, and a Parquet table of ten million rows.

`python -m benchmarks.bench_logs` writes 20 models by 50 tasks by 1,000 items, some 1.2 GB, and a table of 10 systems by
1,000,000 items to a temporary folder, and deletes both; `--tasks 5 --rows 1000000` writes a tenth. Seconds are of the
clock and of the processor, of whole programs.
"""

from __future__ import annotations

import argparse
import json
import resource
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


def write_table(path: Path, rows: int, systems: int = 10) -> int:
    """Write a table with a row per item and system; return how many bytes."""
    rng, items = np.random.default_rng(0), rows // systems
    system_N, item_N = np.repeat(np.arange(systems), items), np.tile(np.arange(items), systems)
    names = pl.Series([f"model-{number}" for number in range(systems)])
    right_N = rng.random(len(item_N)) < 0.4 + system_N / 50
    frame = {"item": item_N, "passage": item_N // 10, "system": names.gather(system_N), "correct": right_N}
    pl.DataFrame(frame).write_parquet(path)
    return path.stat().st_size


def command(*arguments: str) -> str:
    """A program that runs a command and prints nothing."""
    return (
        "import contextlib, os; from deadheat.cli.main import main\n"
        f"with open(os.devnull, 'w') as null, contextlib.redirect_stdout(null): assert main({list(arguments)!r}) == 0"
    )


def row(label: str, program: str, size: float) -> list[str]:
    """Clock, processor, megabytes a second and memory of a program."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    memory = peak_memory(program)
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [label, f"{seconds:.1f}", f"{processor:.1f}", f"{size / seconds:.0f}", f"{memory / 1e6:.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, number in (("models", 20), ("tasks", 50), ("items", 1000), ("rows", 10_000_000)):
        parser.add_argument(f"--{name}", type=int, default=number)
    options = parser.parse_args()
    heads = ["program", "seconds", "processor", "MB/s", "peak memory, MB"]
    with TemporaryDirectory(prefix="deadheat-bench-") as name:
        folder = Path(name)
        size = write_logs(folder, options.models, options.tasks, options.items) / 1e6
        programs = {
            "deadheat compare FOLDER": command("compare", name),
            "deadheat, reading alone": f"from deadheat.items.logs.read import read_logs; read_logs({name!r})",
            "polars scan_ndjson": f"from benchmarks.bench_logs import *; polars_scan(Path({name!r}))",
        }
        print(f"{options.models * options.tasks:,} files, {size:,.0f} MB")
        print(table(heads, [row(label, program, size) for label, program in programs.items()]))
    with TemporaryDirectory(prefix="deadheat-bench-") as name:
        path = f"{name}/items.parquet"
        size = write_table(Path(path), options.rows) / 1e6
        read = f"open_items({path!r})"
        programs = {
            "deadheat compare TABLE": command("compare", path, "--unit", "item"),
            "the same, by passage": command("compare", path),
            "deadheat, reading alone": f"from deadheat.items.sources import open_items; {read}",
            "polars read_parquet": f"import polars; polars.read_parquet({path!r})",
        }
        print(f"\n{options.rows:,} rows of Parquet, {size:,.0f} MB")
        print(table(heads, [row(label, program, size) for label, program in programs.items()]))


if __name__ == "__main__":
    main()
