"""One log: the scores of one system on one task, and what is known about the items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import polars as pl

from deadheat.errors import InputError
from deadheat.items.logs.decoding import INFINITE, NotANumber, number_of
from deadheat.items.logs.files import LogFile
from deadheat.items.table import ItemMetric
from deadheat.text import join_names

HASH, CLUSTER = "hash", "cluster"
LOWER_IS_BETTER = frozenset(
    "perplexity word_perplexity byte_perplexity bits_per_byte ter wer cer brier_score mse mae rmse ece loss".split()
)
# Fields that say what the answer is, not where the item is from.
ANSWERS = frozenset("answer answers answerkey label labels target targets gold gold_index correct solution".split())


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """The scores of one system on one task.

    `scores` has the columns item, repeat, metric and score, and counts where a metric is no mean. `items` has the
    column item, and where they are known hash (of its content), cluster (the declared one), and further fields.
    """

    path: str
    harness: str
    task: str
    system: str
    scores: pl.DataFrame
    items: pl.DataFrame
    metrics: Mapping[str, ItemMetric] = field(default_factory=dict)
    cluster: str = ""  # what the declared clusters are
    is_ordered: bool = False  # items are numbered lines, so that all systems must have as many
    identity: str = ""  # of the run, where the log has one
    notes: tuple[str, ...] = ()


class Reader(Protocol):
    """Reads logs of one harness, in their order; `partial` accepts those of runs that did not finish."""

    def __call__(self, files: Sequence[LogFile], /, *, partial: bool) -> Iterator[Log]: ...


@dataclass(frozen=True, slots=True)
class Harness:
    """What writes logs: how its files are recognised, and what reads them."""

    name: str
    matches: Callable[[LogFile], bool]
    read: Reader


Row: TypeAlias = tuple[str, str, Mapping[str, Any]]  # item, repeat, and values by metric


def log_of(
    path: str,
    harness: str,
    task: str,
    system: str,
    rows: Sequence[Row],
    fields: Mapping[str, Sequence[str | None]] | None = None,
    **details: Any,
) -> Log:
    """A log from the values of items by metric. A metric that an item lacks was not scored on it.

    Metrics that are no numbers are left out with a note. `fields` has what is known about the items, row by row.
    """
    items, repeats = [item for item, _, _ in rows], [repeat for _, repeat, _ in rows]
    refuse_duplicates(path, zip(items, repeats, strict=True), len(items))
    keys = pl.DataFrame({"item": items, "repeat": repeats}, schema={"item": pl.String, "repeat": pl.String})
    frames, notes = [], []
    metrics: dict[str, ItemMetric] = {}
    for name in dict.fromkeys(name for _, _, values in rows for name in values):
        try:
            scores = score_series([values.get(name) for _, _, values in rows])
        except NotANumber as error:
            notes.append(omission(name, str(error)))
        else:
            frames.append(keys.with_columns(pl.lit(name).alias("metric"), scores))
            metrics[name] = ItemMetric(name, lower_is_better(name))
    if not frames:
        raise no_scores(path, notes)
    details["notes"] = (*details.get("notes", ()), *notes)
    return Log(path, harness, task, system, pl.concat(frames), item_rows(items, fields or {}), metrics, **details)


def no_scores(path: str, notes: Sequence[str] = ()) -> InputError:
    """The error of a log without any scores."""
    left_out = f" ({'; '.join(notes)})"[:300] if notes else ""
    return InputError(f"{path}: no scores of items{left_out}; expected some")


def score_series(values: Sequence[Any]) -> pl.Series:
    """Values as a column of scores, null where an item was not scored; raise `NotANumber` for anything else."""
    try:
        numbers = np.array(values, float)  # None is NaN
    except (TypeError, ValueError, OverflowError):
        numbers = np.array([number_of(value) for value in values], float)
    if numbers.ndim != 1:
        raise NotANumber("its values are lists")
    if np.isinf(numbers).any():
        raise NotANumber(INFINITE)
    return pl.Series("score", numbers, nan_to_null=True)


def refuse_duplicates(path: str, keys: Iterable[tuple[str, str]], number: int) -> None:
    """Raise if an item has two scores by the same metric; the second part of a key is its repeat, or filter."""
    numbers = Counter(keys)
    if len(numbers) < number:
        (item, part), times = numbers.most_common(1)[0]
        raise InputError(f"{path}: {times:,} scores of item {item} ({part}); expected one")


def omission(metric: str, problem: str) -> str:
    """The note on a metric that is left out."""
    return f"metric {metric} left out: {problem}"


def lower_is_better(name: str) -> bool:
    """Whether a metric of this name is an error or a loss, where its log does not say."""
    return name.partition(",")[0].lower() in LOWER_IS_BETTER


def item_rows(items: Sequence[str], fields: Mapping[str, Sequence[str | None]]) -> pl.DataFrame:
    """What is known about items, once for each."""
    columns = {name: pl.Series(name, values, dtype=pl.String) for name, values in fields.items()}
    rows = pl.DataFrame({"item": pl.Series(items, dtype=pl.String), **columns})
    return rows if len(set(items)) == len(items) else rows.unique("item", maintain_order=True)


def field_name(name: str) -> str:
    """The column of a field, which may not be that of something else; "" for a field that tells the answer."""
    if name.lower() in ANSWERS:
        return ""
    taken = {"task", "item", "repeat", "system", "metric", "score", "counts", HASH, CLUSTER}
    return f"doc.{name}" if name in taken else name


def grouping_fields(items: pl.DataFrame) -> list[str]:
    """The fields by which items may belong together: two items per value or more on average, and two values.

    Of fields that group items alike, only the first is named.
    """
    kept: list[str] = []
    groups: set[bytes] = set()
    for name in items.columns:
        values = items[name]
        if name in ("item", HASH, CLUSTER) or values.null_count():
            continue
        number = values.n_unique()
        if not 2 <= number <= len(values) / 2:
            continue
        group = values.rank("dense").to_numpy()
        first = pl.Series(group).unique(maintain_order=True)
        codes = pl.Series(group).replace_strict(first, range(len(first))).to_numpy().astype("int32").tobytes()
        if codes not in groups:
            groups.add(codes)
            kept.append(name)
    return kept


def listed(names: Iterable[str]) -> str:
    """Names for a message."""
    return join_names(dict.fromkeys(names), 5)
