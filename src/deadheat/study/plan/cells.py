"""A cell of a study: one training and its predictions, known by what it is made from; and what came of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deadheat.metrics.metric import Counts

DONE, FAILED, TIMED_OUT, KILLED = "done", "failed", "timed out", "killed"


@dataclass(frozen=True, slots=True)
class Cell:
    """One system with its settings and seed, on one split of one corpus.

    Its key is the hash of all it is made from; the name of the corpus does not count, its text does.
    """

    corpus: str  # its name in the study
    corpus_hash: str
    split: str  # the strategy with its settings
    split_seed: int
    number: int  # of the split
    system: str  # its name with settings
    seed: int
    tune: str = ""  # the part to tune on, where the study names one
    learned: str = ""  # the parts to learn from, joined by +, where that is not train alone
    scored: tuple[str, ...] = field(default=(), compare=False)  # parts; as the study says where none is named
    vectors: str = ""  # the hash of the file of word vectors that it reads, if any
    final: bool = False  # a winner of a search, trained once more to be looked at on test
    key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        made_from = {
            "corpus_hash": self.corpus_hash,
            "number": self.number,
            "seed": self.seed,
            "split": self.split,
            "split_seed": self.split_seed,
            "system": self.system,
        }
        made_from |= {name: value for name in ("tune", "learned", "vectors", "final") if (value := getattr(self, name))}
        object.__setattr__(self, "key", hashlib.sha256(json.dumps(made_from).encode()).hexdigest()[:32])

    @property
    def setup(self) -> str:
        """What it learns from and what picks its epoch, where the cell says so itself; and whether it won a search.

        Examples
        --------
        >>> Cell("ewt", "", "standard.v1", 0, 0, "hmm.v1", 0, tune="dev", learned="train+tune").setup
        'train+tune, epoch by dev'
        """
        way = f"{self.learned or 'train'}, epoch by {self.tune}" if self.tune else self.learned
        return f"{way}, final" if self.final else way


@dataclass(frozen=True, slots=True, eq=False)
class PartScores:
    """The scores of a cell on one part: for every metric its value and the counts of every sentence."""

    part: str
    sentences: int
    words: int
    values: Mapping[str, float]
    counts: Mapping[str, Counts]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What came of a cell; only a cell that is done has scores and predictions."""

    cell: Cell
    status: str
    started: float = 0.0  # seconds since 1970
    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_mb: float = 0.0
    log: str = ""
    error: str = ""
    scores: tuple[PartScores, ...] = ()
    predictions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # part -> file, sha256
    provenance: Mapping[str, Any] = field(default_factory=dict)
