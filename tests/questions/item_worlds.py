"""Simulated evaluations of equally good models, and what the usual comparisons make of them."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit

from deadheat.cli.main import main
from deadheat.questions.compare_items import compare_items
from deadheat.results.base import from_json
from deadheat.results.compare import Comparison
from deadheat.stats.paired import mcnemar

BY_COMMAND = (
    "30 items x 8 attempts",
    "100 items x 5 attempts",
    "10 passages x 10 items",
    "20 uneven passages",
    "5 tasks x 60 items",
)
Answers = NDArray[np.float64]  # models, attempts, items


@dataclass(frozen=True)
class ItemDesign:
    """An evaluation; standard deviations in logits."""

    name: str
    items: int
    attempts: int = 1
    passages: int = 0
    uneven: bool = False
    tasks: int = 1
    runs: bool = False  # attempts are runs: models trained again, each asked all items of all tasks
    item_sd: float = 1.0  # of what is peculiar to a model on an item
    passage_sd: float = 1.0
    run_sd: float = 0.4

    @property
    def naive(self) -> str:
        return "answers" if self.attempts > 1 else "items"


DESIGNS = (
    ItemDesign("30 items x 8 attempts", items=30, attempts=8),
    ItemDesign("100 items x 5 attempts", items=100, attempts=5),
    ItemDesign("200 items", items=200),
    ItemDesign("10 passages x 10 items", items=100, passages=10),
    ItemDesign("20 uneven passages", items=160, passages=20, uneven=True),
    ItemDesign("5 tasks x 60 items", items=60, tasks=5),
    ItemDesign("5 tasks x 60 items, 3 runs on all of them", items=60, tasks=5, attempts=3, runs=True),
)


def draw(design: ItemDesign, rng: np.random.Generator, *, effect: float = 0.0) -> pl.DataFrame:
    """The answers of two models."""
    run_MR = design.run_sd * rng.normal(size=(2, design.attempts)) if design.runs else np.zeros((2, design.attempts))
    return pl.concat([_task(design, rng, task, effect, run_MR) for task in range(design.tasks)])


def _task(design: ItemDesign, rng: np.random.Generator, task: int, effect: float, run_MR: Answers) -> pl.DataFrame:
    items, attempts = design.items, design.attempts
    logits_MI = 0.6 + 1.5 * rng.normal(size=items) + design.item_sd * rng.normal(size=(2, items))
    passages = np.arange(items)
    if design.passages:
        shares = rng.dirichlet(np.full(design.passages, 1.0 if design.uneven else 1e6))
        passages = np.searchsorted(np.cumsum(shares)[:-1], (np.arange(items) + 0.5) / items)
        logits_MI += design.passage_sd * rng.normal(size=(2, design.passages))[:, passages]
    logits_MI[0] += effect
    right_MRI = rng.random((2, attempts, items)) < expit(logits_MI[:, None] + run_MR[:, :, None])
    shape = (2, attempts, items)
    model, attempt, item = (np.broadcast_to(axis, shape).ravel() for axis in np.ogrid[:2, :attempts, :items])
    return pl.DataFrame(
        {
            "task": np.full(item.size, task),
            "item": item,
            "passage": passages[item],
            "run" if design.runs else "epoch": attempt,
            "model": np.where(model == 0, "A", "B"),
            "correct": right_MRI.ravel().astype(int),
        }
    )


def compared(design: ItemDesign, rng: np.random.Generator, *, effect: float = 0.0) -> Comparison:
    """The comparison of one world, as a user has it."""
    frame = draw(design, rng, effect=effect)
    return compare_items(frame if design.passages else frame.drop("passage"))


def compared_by_command(design: ItemDesign, rng: np.random.Generator, folder: Path) -> Comparison:
    """The same by the command: a file is written, and the result is read from what is printed."""
    frame, path, printed = draw(design, rng), folder / "items.csv", io.StringIO()
    (frame if design.passages else frame.drop("passage")).write_csv(path)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        code = main(["compare", str(path), "--json", "--ledger", str(folder / "ledger.jsonl")])
    assert code == 0
    result = from_json(printed.getvalue())
    assert isinstance(result, Comparison)
    return result


def wins(result: Comparison) -> bool:
    """Whether a model is shown to be better."""
    return bool(result.pairs[0].winner(result.settings.alpha))


def naive_wins(design: ItemDesign, rng: np.random.Generator) -> bool:
    """McNemar's test (mid-p) on all answers, as if each were an item of its own."""
    frame = draw(design, rng)
    a, b = (frame.filter(model=name)["correct"].to_numpy() > 0 for name in "AB")
    return mcnemar(int(np.count_nonzero(a & ~b)), int(np.count_nonzero(b & ~a)), method="midp").p <= 0.05


def rate(happens: Callable[[np.random.Generator], bool], worlds: int) -> int:
    """In how many worlds something happens."""
    return sum(happens(np.random.default_rng([17, world])) for world in range(worlds))


def most_expected(worlds: int, share: float = 0.05) -> int:
    """What a rate of this share exceeds in 1 of 1,000 simulations, by the normal approximation."""
    return math.ceil(worlds * share + 3.1 * math.sqrt(worlds * share * (1 - share)))
