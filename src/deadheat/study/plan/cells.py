"""Cells of a study: one training with its predictions, identified by its inputs, and its outcome."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deadheat.metrics.metric import Counts
from deadheat.registry import base_name

TRAIN = "train"
DONE, FAILED, TIMED_OUT, KILLED = "done", "failed", "timed out", "killed"


@dataclass(frozen=True, slots=True)
class CorpusSplit:
    """A split of a corpus."""

    corpus: str  # its name in the study
    split: str  # the strategy with its settings
    split_seed: int
    number: int

    def __str__(self) -> str:
        return f"{self.corpus}, {base_name(self.split)} {self.number}"


@dataclass(frozen=True, slots=True)
class Cell:
    """One system with its settings and seed, on one split of one corpus.

    The key is the hash of all inputs. It covers the text of the corpus, not its name.
    """

    corpus: str  # its name in the study
    corpus_hash: str
    split: str  # the strategy with its settings
    split_seed: int
    number: int  # of the split
    system: str  # its name with settings
    seed: int
    tune: str = ""  # the part to tune on, if the study names one
    learned: str = ""  # the training parts, joined by +, if not train alone
    scored: tuple[str, ...] = field(default=(), compare=False)  # parts to score, if not those of the study
    vectors: str = ""  # the hash of the files that its settings name: word vectors, texts, encoders; if any
    final: bool = False  # the winner of a search, trained again for the test set
    run_by: str = ""  # the hash of the code that runs it, where its system has the name of an earlier state
    repeated: bool = field(default=False, compare=False)  # trained again to compare its predictions, and not stored
    key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = ("corpus_hash", "number", "seed", "split", "split_seed", "system")
        inputs = {name: getattr(self, name) for name in names}
        inputs |= {
            name: value for name in ("tune", "learned", "vectors", "final", "run_by") if (value := getattr(self, name))
        }
        object.__setattr__(self, "key", hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:32])

    @property
    def corpus_split(self) -> CorpusSplit:
        return CorpusSplit(self.corpus, self.split, self.split_seed, self.number)

    @property
    def setup(self) -> str:
        """The training parts and the part that selects the epoch, if the cell sets them itself.

        Examples
        --------
        >>> Cell("ewt", "", "standard.v1", 0, 0, "hmm.v1", 0, tune="dev", learned="train+tune").setup
        'train+tune, epoch by dev'
        """
        setup = f"{self.learned or 'train'}, epoch by {self.tune}" if self.tune else self.learned
        return f"{setup}, final" if self.final else setup


@dataclass(frozen=True, slots=True, eq=False)
class PartScores:
    """The scores of a cell on one part: the value of every metric, and its counts per sentence.

    `failed` has the errors of metrics that give no score, by their names; they are not stored.
    """

    part: str
    sentences: int
    words: int
    values: Mapping[str, float]
    counts: Mapping[str, Counts]
    failed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PredictionFile:
    """The file of a prediction in the folder of a store, with the hash and the size of its contents."""

    file: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """How a cell ended; only a cell that is done has scores and predictions."""

    cell: Cell
    status: str
    started: float = 0.0  # seconds since 1970
    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_mb: float = 0.0
    log: str = ""
    error: str = ""
    scores: tuple[PartScores, ...] = ()
    predictions: Mapping[str, PredictionFile] = field(default_factory=dict)  # by part
    provenance: Mapping[str, Any] = field(default_factory=dict)
