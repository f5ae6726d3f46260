"""One table of item scores: what every reader makes, and what every question takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from deadheat.errors import NameUnknown
from deadheat.items.aggregates import MEAN, Aggregate
from deadheat.items.options import ATTEMPTS

# Columns of the frame. `cluster` is null where none is declared, `score` where an item was not scored, and `counts`
# holds the statistics of metrics that are no mean of scores, such as log-likelihood and words of a perplexity.
SCHEMA = {
    "task": pl.String, "item": pl.String, "cluster": pl.String, "repeat": pl.String,
    "system": pl.String, "metric": pl.String, "score": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ItemMetric:
    """A metric of items: which direction is better, and how scores of items become one."""

    name: str
    lower_is_better: bool = False
    aggregate: Aggregate = MEAN


@dataclass(frozen=True, slots=True, eq=False)
class ItemTable:
    """Scores by task, item, repeat, system and metric.

    `fields` has further columns that may serve as clusters, by their names; `repeats` says whether a repeat is a
    training run of its own or one more attempt at the same item.
    """

    source: str
    frame: pl.DataFrame
    metrics: Mapping[str, ItemMetric] = field(default_factory=dict)
    repeats: str = ATTEMPTS
    cluster: str = ""  # what the clusters are: passage, document
    fields: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()  # of its files and folders
    hashes: pl.DataFrame | None = None  # what is known of the content of items: task, item, name (of the task), hash

    def __post_init__(self) -> None:
        missing = [name for name in SCHEMA if name not in self.frame.columns]
        assert not missing, f"columns {missing} are missing"

    def __str__(self) -> str:
        counts = {name: self.frame[name].n_unique() for name in ("task", "item", "system", "metric")}
        return ", ".join(f"{number:,} {name}{'s' * (number != 1)}" for name, number in counts.items())

    @property
    def tasks(self) -> list[str]:
        return self._names("task")

    @property
    def systems(self) -> list[str]:
        return self._names("system")

    @property
    def metric_names(self) -> list[str]:
        return self._names("metric")

    def metric(self, name: str) -> ItemMetric:
        """What is known of a metric; by default it is a mean, and higher is better."""
        return self.metrics.get(name, ItemMetric(name))

    def only(self, **values: Iterable[str]) -> ItemTable:
        """The rows with these values: `only(task=["gsm8k"])`; a value that does not occur is refused."""
        frame = self.frame
        for name, wanted in values.items():
            names = self._names(name)
            for value in wanted:
                if value not in names:
                    raise NameUnknown(f"{self.source}: {name}", value, names)
            frame = frame.filter(pl.col(name).is_in(list(wanted)))
        return replace(self, frame=frame)

    def clustered_by(self, name: str) -> ItemTable:
        """The same table with another column as clusters."""
        if name == self.cluster:
            return self
        if name not in self.fields:
            raise NameUnknown(f"{self.source}: unit", name, ["item", *filter(None, [self.cluster]), *self.fields])
        return replace(self, frame=self.frame.with_columns(pl.col(name).alias("cluster")), cluster=name)

    def contents(self) -> pl.DataFrame:
        """What tells items from those of other test sets: task, item, and the hash of the content if it is known."""
        keys = self.frame.select("task", "item").unique()
        if self.hashes is None:
            return keys.with_columns(hash=pl.lit(None, pl.String))
        joined = keys.join(self.hashes, on=["task", "item"], how="left")
        return joined.select(pl.coalesce("name", "task").alias("task"), "item", "hash")

    def with_notes(self, *notes: str) -> ItemTable:
        """The same table with more notes."""
        return replace(self, notes=(*self.notes, *notes))

    def _names(self, column: str) -> list[str]:
        return self.frame[column].unique(maintain_order=True).to_list()


def item_table(source: str, frame: pl.DataFrame, **details: object) -> ItemTable:
    """An item table from a frame that may lack columns: one task, no clusters, one repeat, one metric."""
    defaults = {"task": "", "cluster": None, "repeat": "1", "metric": "score"}
    absent = [pl.lit(defaults[name], dtype=pl.String).alias(name) for name in defaults if name not in frame.columns]
    texts = [pl.col(name).cast(pl.String) for name in SCHEMA if name in frame.columns and name != "score"]
    frame = frame.with_columns(*absent, *texts, pl.col("score").cast(pl.Float64))
    return ItemTable(source, frame, **details)  # type: ignore[arg-type]


def encode(series: pl.Series) -> tuple[NDArray[np.int64], list[str]]:
    """A whole number for every distinct text, in the order of first appearance, and the texts."""
    head = series.head(1).to_list()
    if head != [None] and bool((series == series.first()).all(ignore_nulls=False)):  # much faster
        return np.zeros(len(series), np.int64), head
    physical = series.cast(pl.Categorical).to_physical()
    codes = physical.fill_null(int(physical.max() or 0) + 1).to_numpy()  # type: ignore[arg-type]
    first = np.full(int(codes.max()) + 1, -1)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of several rows the first, which is written last
    known = np.flatnonzero(first >= 0)
    order = known[np.argsort(first[known])]
    numbers = np.empty(len(first), np.int64)
    numbers[order] = np.arange(len(order))
    return numbers[codes], series.gather(first[order]).to_list()


def join_sources(names: Sequence[str]) -> str:
    """What several sources are called in messages."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
