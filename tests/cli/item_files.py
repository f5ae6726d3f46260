"""Files of scores of items for the tests of commands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

Scores = Mapping[str, Sequence[float | None]]


def write_table(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """A CSV file with the columns of the first row; None is an empty cell."""
    lines = [",".join(rows[0])]
    lines += [",".join("" if value is None else str(value) for value in row.values()) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def long_rows(scores: Scores, task: str = "") -> list[dict[str, object]]:
    """One row per item and system."""
    named = {"task": task} if task else {}
    return [
        {**named, "item": f"q{item}", "system": system, "correct": value}
        for system, values in scores.items()
        for item, value in enumerate(values)
    ]


def right(rate: float, items: int = 60, seed: int = 0) -> list[float | None]:
    """Simulated right and wrong answers."""
    return [float(value) for value in np.random.default_rng(seed).random(items) < rate]


def inspect_log(path: Path, task: str, scores: Sequence[float | None], model: str) -> Path:
    """A log of Inspect; None is a sample that was not scored."""
    samples = [
        {"id": f"q{item}", "epoch": 1, "scores": {"match": {"value": float("nan") if value is None else value}}}
        for item, value in enumerate(scores)
    ]
    spec = {"eval_id": f"{path}", "run_id": "r", "task": task, "model": model}
    header = {"version": 2, "status": "success", "eval": spec}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**header, "samples": samples}))
    return path


def labels(path: Path, name: str, values: Sequence[str]) -> Path:
    return write_table(path, [{"id": f"x{item}", name: value} for item, value in enumerate(values)])
