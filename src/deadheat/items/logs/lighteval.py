"""Logs of lighteval: `details/<model>/<date>/details_<task>_<date>.parquet`, in another order for each model."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from deadheat.errors import InputError
from deadheat.files import FileError, check_size
from deadheat.items.logs.decoding import decode, shorten
from deadheat.items.logs.files import LogFile
from deadheat.items.logs.log import Harness, Log, described, log_of, lower_is_better, no_scores, omission
from deadheat.items.table import ItemMetric
from deadheat.tables.parquet import PARQUET, decoded_size, text_size

NAME = "lighteval"
NEEDED = ("id", "task_name", "specific")  # of a doc, which may hold images
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, OverflowError)


def matches(file: LogFile) -> bool:
    """Whether a file has details of samples."""
    if not file.head.startswith(PARQUET):
        return False
    try:
        schema = pl.read_parquet_schema(file.path)
    except FAILURES:
        return False
    return all(isinstance(schema.get(name), pl.Struct) for name in ("doc", "metric"))


def read(files: Sequence[LogFile], *, partial: bool) -> Iterator[Log]:
    """One log per file and task."""
    for file in files:
        frame, left_out = _frame(file)
        docs, values = frame["doc"].to_list(), frame["metric"].to_list()
        tasks: dict[str, list[int]] = {}
        for row, doc in enumerate(docs):
            tasks.setdefault(_text(file, doc, "task_name", row), []).append(row)
        for task, rows in tasks.items():
            scored = [(shorten(_text(file, docs[row], "id", row)), "1", values[row] or {}) for row in rows]
            fields = described(docs[row].get("specific") for row in rows)
            log = log_of(file.path, NAME, task, _model(file), scored, fields, notes=left_out)
            known = _directions(file, task)
            yield replace(log, metrics={name: known.get(name, metric) for name, metric in log.metrics.items()})


def _frame(file: LogFile) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """What is needed of the columns doc and metric of a file, and notes on the metrics that are no numbers."""
    content = file.read()
    try:
        check_size(file.path, len(content), decoded_size(content))
        scan = pl.scan_parquet(io.BytesIO(content))
        parts = {name: _parts(kind) for name, kind in scan.collect_schema().items()}
        numbers = [name for name, kind in parts["metric"].items() if kind.is_numeric() or kind == pl.Boolean]
        fields = {"doc": [name for name in NEEDED if name in parts["doc"]], "metric": numbers}
        if not all(fields.values()):
            raise no_scores(file.path)
        columns = [pl.struct(pl.col(name).struct.field(*names)).alias(name) for name, names in fields.items()]
        frame = scan.select(columns).collect()
        check_size(file.path, len(content), sum(map(text_size, frame)))
        if not frame.height:
            raise no_scores(file.path)
    except FAILURES as error:
        problem = str(error).partition("\n")[0].lower()[:100]
        raise FileError(file.path, f"corrupt Parquet file ({problem})") from error
    left_out = (omission(name, "it has no score per sample") for name in parts["metric"] if name not in numbers)
    return frame, tuple(left_out)


def _parts(kind: pl.DataType) -> dict[str, Any]:
    return {part.name: part.dtype for part in kind.fields} if isinstance(kind, pl.Struct) else {}


def _text(file: LogFile, doc: Any, name: str, row: int) -> str:
    value = doc.get(name) if isinstance(doc, dict) else None
    if not isinstance(value, str | int):
        raise InputError(f"{file.path}: row {row + 1}: no doc.{name}; expected one for every sample")
    return str(value)


def _model(file: LogFile) -> str:
    """The model, which stands between the folder of details and that of the date."""
    folders = file.folders
    if "details" in folders[:-1]:
        start = len(folders) - folders[::-1].index("details")
        return "/".join(folders[start:-1]) or folders[-1]
    return folders[-1] if folders else file.name


def _directions(file: LogFile, task: str) -> dict[str, ItemMetric]:
    """Which direction is better, as the results say that lie in a folder of the same date."""
    date = file.folders[-1] if file.folders else ""
    model = _model(file).split("/")
    path = file.sibling(*[".."] * (len(model) + 2), "results", *model, f"results_{date}.json")
    results = decode(LogFile(path, b"").read(), dict[str, Any], path) if path else {}
    tasks = results.get("config_tasks")
    config = tasks.get(task) if isinstance(tasks, dict) else None
    metrics = config.get("metrics") if isinstance(config, dict) else None
    known = {}
    for metric in metrics if isinstance(metrics, list) else ():
        name = metric.get("metric_name") if isinstance(metric, dict) else None
        if isinstance(name, str):
            higher = metric.get("higher_is_better")
            known[name] = ItemMetric(name, not higher if isinstance(higher, bool) else lower_is_better(name))
    return known


HARNESS = Harness(NAME, matches, read)
