"""What a report is made from, once it was read: a store, or a table of scores.

These are apart from what reads them, so that a page of another result needs neither.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deadheat.documents import Document
from deadheat.study.plan.cells import DONE
from deadheat.text import pluralize

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """A store that was read: the study's own result, its rows, and what was worked out from them."""

    path: Path
    study: Document | None  # what `deadheat run` found at its end; None if it never came to it
    scores: pl.DataFrame = field(repr=False)  # systems under their labels
    runs: pl.DataFrame = field(repr=False)
    provenance: tuple[Document, ...]  # of every machine and version that ran some of it
    documents: tuple[Document, ...]  # seeds, rank, compare, size, ledger: those there is something to say of
    notes: tuple[str, ...] = ()  # what was left out, and why

    @property
    def name(self) -> str:
        """What the study is called."""
        return str((self.study or {}).get("study") or self.path.stem)

    def __str__(self) -> str:
        done = self.runs.filter(status=DONE).height
        failed = self.runs.height - done
        told = f"{pluralize(done, 'cell')} done" + (f", {failed:,} failed" if failed else "")
        return f"{self.name}: {told}" + ("" if self.study else "; not come to its end")


@dataclass(frozen=True, slots=True, eq=False)
class Tabled:
    """A table that was read: the mean score of every system on every data set, and what was worked out from it."""

    path: Path
    metric: str
    column: str  # of data sets; nothing where the table has none
    systems: tuple[str, ...]  # best first by the mean over the data sets that all systems share
    datasets: tuple[str, ...]
    means_SD: NDArray[np.float64]  # NaN where there is no score
    runs_SD: NDArray[np.int64]
    documents: tuple[Document, ...]  # seeds, rank, compare: those there is something to say of
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the file is called."""
        return self.path.stem

    def __str__(self) -> str:
        shape = f"{pluralize(len(self.systems), 'system')} on {pluralize(len(self.datasets), 'data set')}"
        return f"{self.metric}: {shape}, {pluralize(int(self.runs_SD.sum()), 'score')}"
