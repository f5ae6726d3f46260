"""Results of studies made by hand, small enough to see what must be said about them."""

import math
from typing import Any

from deadheat.paper.paragraph import paragraph
from deadheat.results.base import Result
from deadheat.results.study import (
    OverallTest,
    PairOverSplits,
    StudyBlock,
    StudyCorpus,
    StudyResult,
    StudySystem,
    SystemScores,
)

NAN = math.nan
METRICS = {"accuracy.v1": "Accuracy (upos)", "las.v1": "LAS"}


def scores(system: str, mean: float, runs: int, *, metric: str = "accuracy.v1", sd: float = NAN) -> SystemScores:
    interval = (mean - 0.02, mean + 0.02) if runs == 1 else None
    return SystemScores(system, metric, runs, mean, sd, mean, mean, interval)


def pair(
    a: str, b: str, difference: float, *, splits: int, ahead: int = 0, significant: int = 0, reversed: int = 0,
    p: float = 0.5, width: float = NAN, test: str = "clustered-t",
) -> PairOverSplits:  # fmt: skip
    """Two systems over splits; the interval of their difference is `width` to each side, and agrees with p."""
    unit = "token" if test.startswith("mcnemar") else "sentence"
    reach = (0.005 if p <= 0.05 else 0.03) if math.isnan(width) else width
    bounds = (NAN, NAN) if math.isnan(p) else (difference - reach, difference + reach)
    assert math.isnan(p) or (bounds[0] > 0 or bounds[1] < 0) == (p <= 0.05)
    overall = OverallTest(difference, *bounds, p, p, splits, ahead)
    ps = (p,) * splits
    return PairOverSplits(a, b, test, unit, difference, splits, ahead, significant, reversed, ps, ps, overall)


def block(systems: list[SystemScores], pairs: list[PairOverSplits], *, splits: int, **more: Any) -> StudyBlock:
    """One corpus, one strategy, one part."""
    fields: dict[str, Any] = {
        "corpus": "velani", "split": "random.v1(unit='document')", "seed": 0, "part": "test",
        "numbers": tuple(range(splits)), "metrics": tuple(dict.fromkeys(row.metric for row in systems)),
        "systems": tuple(systems), "pairs": tuple(pairs),
    }  # fmt: skip
    return StudyBlock(**fields | more)


def study(*blocks: StudyBlock, **more: Any) -> StudyResult:
    return StudyResult("mine", blocks, METRICS, **more)


def systems(**seeds: tuple[int, ...]) -> tuple[StudySystem, ...]:
    """Systems with their seeds; names are those of taggers where there are such."""
    return tuple(StudySystem(label, f"{label}.v1", numbers) for label, numbers in seeds.items())


def twenty_splits(**more: Any) -> StudyResult:
    """Two taggers on 20 random splits; the first is ahead on 19, significantly better on 13 and worse on 1."""
    rows = [scores("lookahead", 0.9507, 20, sd=0.0021), scores("loglinear", 0.9468, 20, sd=0.0019)]
    test = pair("lookahead", "loglinear", 0.0039, splits=20, ahead=19, significant=13, reversed=1, p=0.03, width=0.003)
    split = "random.v1(unit='document', stratify='genre')"
    plan = {"corpora": (StudyCorpus("velani", 600, 9544),), "systems": systems(lookahead=(0,), loglinear=(0,))}
    return study(block(rows, [test], splits=20, split=split), **{**plan, "cells": 40, **more})


def sentences(*results: Result) -> list[str]:
    """The sentences of the paragraph, except the last, which names the version."""
    *rest, last = map(str, paragraph(results).sentences)
    assert last.startswith("The analysis was done with Deadheat ")
    return rest
