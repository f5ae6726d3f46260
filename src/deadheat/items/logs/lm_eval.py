"""Logs of lm-evaluation-harness: `samples_<task>_<date>.jsonl`, one line per document and filter.

The scores are those of what a filter picked among the repeats of a document (the first, the majority), so that a log
has one repeat. What is known about the run stands in `results_<date>.json` beside it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
import polars as pl

from deadheat.compression import without_suffix
from deadheat.errors import InputError
from deadheat.items.aggregates import BITS, F1, MEAN, PERPLEXITY, Aggregate
from deadheat.items.logs.decoding import NotANumber, decode, decode_lines, shorten, text_of
from deadheat.items.logs.files import LogFile
from deadheat.items.logs.log import (
    HASH,
    Harness,
    Log,
    field_name,
    item_rows,
    lower_is_better,
    no_scores,
    omission,
    refuse_duplicates,
    score_series,
)
from deadheat.items.logs.translation import translation_statistics
from deadheat.items.table import ItemMetric
from deadheat.text import pluralize

NAME = "lm-evaluation-harness"
FILE_NAME = re.compile(r"samples_(.+)_([^_]*)\.jsonl?")
# What a line has beside its metrics, which the files before November 2024 do not list.
OTHER_KEYS = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash "
    "task_name schema model version".split()
)
WEIGHTED = {"word_perplexity": PERPLEXITY, "byte_perplexity": PERPLEXITY, "bits_per_byte": BITS}


class _Document(msgspec.Struct, gc=False):
    doc_id: int | str
    doc: Any = None


def matches(file: LogFile) -> bool:
    """Whether a file has samples of this harness."""
    keys = file.keys[1]
    return {"doc_id", "doc"} <= keys and (b"\n" not in file.head or not keys.isdisjoint(("arguments", "resps")))


def read(files: Sequence[LogFile], *, partial: bool) -> Iterator[Log]:
    """One log per file."""
    known: dict[str, set[str]] = {}  # the items of a task whose documents have been read
    results = cache(_results)
    for file in files:
        task, results_path = _task_and_results(file)
        run = results(results_path)
        data = file.read()
        samples = _Samples(file.path, data)
        items = list(dict.fromkeys(samples.items))
        _check_size(file.path, task, run, len(items), partial=partial)
        columns = {HASH: samples.hashes} if any(samples.hashes) else {}
        described = item_rows(samples.items, columns)
        if not known.setdefault(task, set()).issuperset(items):
            known[task].update(items)
            described = described.join(_documents(file.path, data), on="item", how="left", maintain_order="left")
        scores, metrics, notes = _scores(samples, task, run)
        system = _get(run, "model_name_sanitized") or (file.folders or [task])[-1]
        yield Log(file.path, NAME, task, str(system), scores, described, metrics, notes=notes)


def _task_and_results(file: LogFile) -> tuple[str, str]:
    """The task, which stands between the first underscore of the name and the last, and the path of the results."""
    name = without_suffix(file.name)
    match = FILE_NAME.fullmatch(name)
    if not match:
        return os.path.splitext(name)[0], ""
    return match[1], file.sibling(f"results_{match[2]}.json")


def _results(path: str) -> Any:
    return decode(LogFile(path, b"").read(), dict[str, Any], path) if path else {}


def _get(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _check_size(path: str, task: str, run: Any, number: int, *, partial: bool) -> None:
    """Raise if a file has fewer documents than were evaluated: it is a part of a log."""
    expected = _get(run, "n-samples", task, "effective")
    if isinstance(expected, int) and number < expected and not partial:
        raise InputError(f"{path}: {pluralize(number, 'item')}; expected {expected:,}, as the results beside it say")


class _Samples:
    """The columns of a file: a list per key and metric."""

    def __init__(self, path: str, data: memoryview) -> None:
        self.path = path
        self.metrics: list[str] = []
        self._add(_metrics_of_first_line(path, data))
        while not self._read(data):  # some line lists a metric that is not known yet
            pass

    def _add(self, names: Iterable[str]) -> bool:
        """Add metrics; return whether there were new ones."""
        plain = (name for name in names if name not in OTHER_KEYS and name.isprintable() and not set(name) & set('"\\'))
        before = len(self.metrics)
        self.metrics = list(dict.fromkeys([*self.metrics, *plain]))
        return len(self.metrics) > before

    def _read(self, data: memoryview) -> bool:
        """Read all lines; return whether all metrics that they list are known."""
        fields = [(f"metric_{number}", Any, None) for number in range(len(self.metrics))]
        names = {field[0]: name for field, name in zip(fields, self.metrics, strict=True)}
        keys: list[Any] = [("doc_id", int | str), ("doc_hash", str | None, None), ("filter", str, "none")]
        keys.append(("metrics", tuple[str, ...] | None, None))
        kind: Any = msgspec.defstruct("_Line", [*keys, *fields], rename=names, gc=False)
        self.items: list[str] = []
        self.hashes: list[str | None] = []
        self.filters: list[str] = []
        self.values: list[list[Any]] = [[] for _ in fields]
        for lines in decode_lines(data, kind, self.path):
            self.items += [shorten(str(line.doc_id)) for line in lines]
            self.hashes += [line.doc_hash for line in lines]
            self.filters += [line.filter for line in lines]
            for values, (name, _, _) in zip(self.values, fields, strict=True):
                values += map(attrgetter(name), lines)
            if self._add(chain.from_iterable({line.metrics for line in lines if line.metrics})):
                return False
        return True


def _metrics_of_first_line(path: str, data: memoryview) -> list[str]:
    line = bytes(data[: 1 << 26]).lstrip().partition(b"\n")[0]
    return list(decode(line, dict[str, Any], f"{path}:1"))


def _documents(path: str, data: memoryview) -> pl.DataFrame:
    """The fields of the documents that are short texts or numbers: what items may be grouped by."""
    items: list[str] = []
    columns: dict[str, str] = {}
    fields: dict[str, list[str | None]] = {}
    for lines in decode_lines(data, _Document, path):
        for line in lines:
            if isinstance(line.doc, dict):
                for name, value in line.doc.items():
                    column = columns[name] if name in columns else columns.setdefault(name, field_name(name))
                    if column:
                        fields.setdefault(column, [None] * len(items)).append(text_of(value))
            items.append(shorten(str(line.doc_id)))
            for values in fields.values():
                values += [None] * (len(items) - len(values))
    return item_rows(items, fields)


def _scores(samples: _Samples, task: str, run: Any) -> tuple[pl.DataFrame, dict[str, ItemMetric], tuple[str, ...]]:
    """The scores by metric and filter, what is known about these metrics, and notes on those left out."""
    refuse_duplicates(samples.path, zip(samples.items, samples.filters, strict=True), len(samples.items))
    filters = dict.fromkeys(samples.filters)
    frames, notes = [], []
    metrics: dict[str, ItemMetric] = {}
    for metric, values in zip(samples.metrics, samples.values, strict=True):
        if not any(value is not None for value in values):
            continue
        try:
            columns, aggregate = _columns(metric, values)
        except NotANumber as error:
            notes.append(omission(metric, str(error)))
            continue
        names = {name: f"{metric},{name}" for name in filters}
        texts = {"item": samples.items, "repeat": ["1"] * len(values), "metric": map(names.get, samples.filters)}
        series = [pl.Series(name, list(part), dtype=pl.String) for name, part in texts.items()]
        frames.append(pl.DataFrame([*series, *columns]))
        higher = _get(run, "higher_is_better", task, metric)
        is_lower = not higher if isinstance(higher, bool) else lower_is_better(metric)
        metrics |= {name: ItemMetric(name, is_lower, aggregate) for name in names.values()}
    if not frames:
        raise no_scores(samples.path, notes)
    return pl.concat(frames, how="diagonal"), metrics, tuple(notes)


def _columns(metric: str, values: Sequence[Any]) -> tuple[list[pl.Series], Aggregate]:
    """The columns of a metric: scores, or statistics and the score of every item by them."""
    if not any(isinstance(value, list) for value in values):
        scores = score_series(values)
        if metric != "perplexity":
            return [scores], MEAN
        values = [None if value is None else [value, 1.0] for value in scores]  # a log-likelihood per document
    aggregate, count = _statistics(metric, values)
    counts = [None if value is None else count(value) for value in values]
    if not np.isfinite(list(chain.from_iterable(row for row in counts if row))).all():
        raise NotANumber("some of its values are infinite or NaN")
    empty = [np.nan] * len(aggregate.fields)
    with np.errstate(all="ignore"):
        values = aggregate.value(np.array([row or empty for row in counts], float)).tolist()
    return [score_series(values), pl.Series("counts", counts, dtype=pl.List(pl.Float64))], aggregate


def _statistics(metric: str, values: Sequence[Any]) -> tuple[Aggregate, Callable[[Any], list[float]]]:
    """How the values of a metric that are lists become statistics of items."""
    translation = translation_statistics(metric)
    filled = [value for value in values if value is not None]
    if all(_is_list_of(value, bool) and value for value in filled):  # such as whether each instruction was followed
        return MEAN, lambda flags: [float(sum(flags)), float(len(flags)), float(len(flags))]
    if all(_is_list_of(value, int | float) and len(value) == 2 for value in filled):
        if metric in WEIGHTED or metric == "perplexity":
            return WEIGHTED.get(metric, PERPLEXITY), lambda pair: [float(pair[0]), float(pair[1]), float(pair[1])]
        if metric == "f1" and all(number in (0, 1) for pair in filled for number in pair):
            return F1, lambda pair: [float(pair[0] * pair[1]), float(pair[0]), float(pair[1])]
    if translation and all(_is_pair_of_texts(value) for value in filled):
        aggregate, count = translation
        return aggregate, lambda pair: count(pair[1], [pair[0]] if isinstance(pair[0], str) else pair[0])
    raise NotANumber("its values are lists")


def _is_list_of(value: Any, kind: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, kind) for part in value)


def _is_pair_of_texts(value: Any) -> bool:
    """Whether a value is a reference, or several, and a hypothesis."""
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], str):
        return False
    return isinstance(value[0], str) or (bool(value[0]) and _is_list_of(value[0], str))


HARNESS = Harness(NAME, matches, read)
