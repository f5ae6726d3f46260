"""How test sets were split off, and what they can show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from deadheat.results.base import Result
from deadheat.results.format import PERCENT, Scale
from deadheat.results.ledger import Tally
from deadheat.splits.leaks import Leak
from deadheat.stats.power import AttemptsPlan, Curve
from deadheat.text import pluralize

if TYPE_CHECKING:
    from deadheat.corpus.vocabulary import Indices
    from deadheat.splits.folder import FolderCheck
    from deadheat.splits.splitting import Splits


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

    def signature_parts(self) -> Iterable[str]:
        how = [f"{len(self.splits)} x {self.strategy}", f"seed {self.seed}"] if self.splits else []
        return "split", self.corpus, *how

    @classmethod
    def of(cls, splits: Splits) -> Self:
        """The sizes of the parts of every split."""

        def size(name: str, sentences: Indices) -> PartSize:
            sizes = splits.sizes_of(sentences)
            return PartSize(name, sizes["sentences"], sizes["words"], sizes.get("documents"))

        return cls(
            splits.corpus.name,
            splits.corpus.sentences,
            splits.corpus.words,
            str(splits.strategy),
            splits.seed,
            splits.documents.rule if splits.documents else "none",
            len(splits.documents) if splits.documents else 0,
            tuple(
                SplitSizes(
                    partition.name,
                    tuple(size(name, sentences) for name, sentences in partition.parts.items()),
                    tuple(size(name, indices) for sets in partition.nested.values() for name, indices in sets.items()),
                    size("(left out)", partition.left_out) if len(partition.left_out) else None,
                    splits.shared_documents(partition) if splits.documents else None,
                )
                for partition in splits
            ),
            notes=splits.notes,
        )

    @classmethod
    def of_check(cls, check: FolderCheck) -> Self:
        """What leaks between the parts of every split of a folder."""
        leaks = tuple(SplitLeaks(name, tuple(pairs)) for name, pairs in check.leaks.items())
        return cls(check.folder, leaks=leaks, verified=check.verified, notes=check.notes)


@dataclass(frozen=True, slots=True)
class TreebankParts:
    """A treebank and the sizes of its parts."""

    name: str
    parts: tuple[PartSize, ...]

    def part(self, name: str) -> PartSize | None:
        """A part, if the treebank has it."""
        return next((part for part in self.parts if part.name == name), None)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TreebankSizes(Result):
    """How large the parts of the treebanks in a folder are."""

    kind: ClassVar[str] = "treebanks"

    folder: str
    treebanks: tuple[TreebankParts, ...]

    def signature_parts(self) -> Iterable[str]:
        return "treebanks", self.folder, pluralize(len(self.treebanks), "treebank")

    @property
    def part_names(self) -> list[str]:
        """The parts that some treebank has, in the order of the longest list."""
        longest = max((treebank.parts for treebank in self.treebanks), key=len, default=())
        names = [part.name for part in longest]
        return list(dict.fromkeys([*names, *(part.name for treebank in self.treebanks for part in treebank.parts)]))

    def words_of(self, part: str) -> list[int]:
        """Words of a part in every treebank that has it, in increasing order."""
        return sorted(size.words for treebank in self.treebanks if (size := treebank.part(part)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Power(Result):
    """The probability that a test shows a difference of this size, and what would be needed to show it."""

    kind: ClassVar[str] = "power"
    schema: ClassVar[int] = 2

    difference: float  # the true one that should be shown
    units: int
    alpha: float
    power: float
    simulated: float  # by simulation; NaN without one
    smallest: float  # the smallest detectable difference: shown with the target power
    needed: float  # units that are needed to show this difference with the target power; infinite if none are enough
    target: float = 0.8
    needed_low: float = math.nan  # with the lowest and the highest variance in its 95% interval; NaN if assumed
    needed_high: float = math.nan
    error: float = math.nan  # standard error of the difference
    freedom: float = math.nan  # and its degrees of freedom; NaN for McNemar's test
    run_share: float = math.nan  # the share of the variance that is due to runs; NaN where runs do not count
    by_units: Curve = ()  # sizes of a test set, and the power of each to show this difference
    by_difference: Curve = ()  # differences, and the power of this test set to show each
    unit: str = "unit"
    measured_units: int = 0  # from which the noise was estimated; 0 if it is assumed
    measured_runs: tuple[int, ...] = ()
    runs: tuple[int, ...] = ()  # of each system in the design; none where runs do not count
    design_effect: float = math.nan  # variance by documents over that by sentences, or as assumed; NaN if unknown
    systems: tuple[str, ...] = ()
    metric: str = ""
    evaluations: tuple[Tally, ...] = ()
    scale: Scale = PERCENT
    repeat: str = "run"  # what `runs` counts: a run, or an attempt at the same items
    attempts: tuple[AttemptsPlan, ...] = ()  # what other numbers of attempts would show; none where that is unknown

    @property
    def is_sufficient(self) -> bool:
        return self.power >= self.target

    @property
    def is_reachable(self) -> bool:
        """Whether some number of units has the target power."""
        return math.isfinite(self.needed)

    @property
    def is_measured(self) -> bool:
        """Whether the noise is that of predictions, and not assumed."""
        return self.measured_units > 0

    def signature_parts(self) -> Iterable[str]:
        runs = f"{self.repeat}s {' and '.join(map(str, dict.fromkeys(self.runs)))}" if self.runs else ""
        units = f"units {self.units} ({self.unit})"
        return self.metric, units, runs, f"alpha {self.alpha:g}", f"target {self.target:g}"
