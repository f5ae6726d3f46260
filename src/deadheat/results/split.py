"""Splits of a corpus: the sizes of their parts, or what leaks between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from deadheat.results.base import Result
from deadheat.splits.leaks import Leak
from deadheat.version import __version__


@dataclass(frozen=True, slots=True)
class PartSize:
    """A part of a split, or a smaller set inside of one."""

    name: str
    sentences: int
    words: int
    documents: int | None = None  # None where they are not known


@dataclass(frozen=True, slots=True)
class SplitSizes:
    """One split of a corpus."""

    name: str
    parts: tuple[PartSize, ...]
    nested: tuple[PartSize, ...] = ()
    left_out: PartSize | None = None  # sentences in no part
    shared_documents: Mapping[str, int] | None = None  # by `train/test`; None where documents are not known


@dataclass(frozen=True, slots=True)
class SplitLeaks:
    """What leaks between the parts of one split."""

    name: str
    leaks: tuple[Leak, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SplitReport(Result):
    """Splits that were made (`splits`), or checked (`leaks`)."""

    kind: ClassVar[str] = "split"

    corpus: str  # its name, or the folder that was checked
    sentences: int = 0
    words: int = 0
    strategy: str = ""  # with its settings
    seed: int = 0
    document_rule: str = ""
    documents: int = 0
    splits: tuple[SplitSizes, ...] = ()
    leaks: tuple[SplitLeaks, ...] = ()
    verified: int = 0  # files whose hash is that of the manifest
    notes: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        how = [f"{len(self.splits)} x {self.strategy}", f"seed {self.seed}"] if self.splits else []
        return " | ".join([f"deadheat {__version__}", "split", self.corpus, *how])
