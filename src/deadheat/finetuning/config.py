"""What is fine-tuned: the configuration of an encoder with a head. Nothing here imports torch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deadheat.errors import InputError, NameUnknown
from deadheat.neural.config import AS_IS, TrainSchedule

EXTRA = "finetuning"
RATIO = 32  # of the largest learning rate to the smallest
CHOICES: Mapping[str, Sequence[str]] = {
    "task": ("tags", "trees"),
    "classifier": ("softmax", "crf"),
    "scheme": (AS_IS, "bio", "iob1", "iobes"),
    "trees": ("any", "projective"),
    "pieces": ("first", "mean"),
    "precision": ("auto", "float32", "bfloat16"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FinetuningConfig:
    """An encoder with a head, and how they are trained; all except seed and sentences."""

    encoder: str  # its folder
    task: str = "tags"
    column: str = "upos"
    scheme: str = AS_IS
    classifier: str = "softmax"
    pieces: str = "first"
    arc_size: int = 300
    relation_size: int = 100
    trees: str = "any"  # the best tree, or the best projective one
    encoder_rate: float = 5e-5
    rate: float = 1e-3  # of the head
    warmup: float = 0.1
    weight_decay: float = 0.01
    drop: float = 0.1
    norm: float = 5.0
    batch: int = 32
    precision: str = "auto"
    threads: int = 1
    schedule: TrainSchedule = TrainSchedule(30, 5)  # noqa: RUF009 (frozen)

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise NameUnknown(name, getattr(self, name), allowed)
        for name in ("arc_size", "relation_size", "batch", "threads"):
            if getattr(self, name) < 1:
                raise InputError(f"{name}={getattr(self, name)}; expected at least 1")
        for name in ("encoder_rate", "rate"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(f"{name}={getattr(self, name):g}; expected a number above 0")
        for name in ("warmup", "drop"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name}={getattr(self, name):g}; expected a share from 0 to less than 1")
        for name in ("weight_decay", "norm"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(f"{name}={getattr(self, name):g}; expected a number above 0, or 0 for none")

    @property
    def parses(self) -> bool:
        return self.task == "trees"


def slanted_triangle(update: int, updates: int, warmup: float) -> float:
    """The share of the learning rate at an update, from 0 (Howard & Ruder 2018).

    It rises linearly from 1/32 to 1 over the first share `warmup` of all updates, and then falls linearly back to 1/32.

    Examples
    --------
    >>> [slanted_triangle(update, 11, 0.2) for update in (0, 1, 2, 6, 10)]
    [0.03125, 0.515625, 1.0, 0.515625, 0.03125]
    """
    top = warmup * (updates - 1)
    last = max(updates - 1, 1)
    height = update / top if update < top else (last - update) / max(last - top, 1e-9)
    return (1 + max(height, 0.0) * (RATIO - 1)) / RATIO
