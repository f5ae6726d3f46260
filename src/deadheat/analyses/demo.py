"""The main job on the built-in corpus, where the truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from deadheat.analyses.differences import Difference, differences
from deadheat.analyses.score import Scores, score
from deadheat.corpus import read, write
from deadheat.errors import InputError
from deadheat.testbed import built_in

METRIC = "LAS"


@dataclass(frozen=True, slots=True, eq=False)
class Demo:
    """Scores of simulated systems, their differences, and what is true of them."""

    language: str
    files: tuple[Path, ...]
    scores: Scores
    differences: tuple[Difference, ...]
    truth: Mapping[str, float]  # the true score of each system, by its name


def demo(folder: Path, *, sentences: int = 3000, seed: int = 0) -> Demo:
    """Write the built-in corpus and three predictions into a folder, score and compare them."""
    made = built_in(sentences=sentences, seed=seed)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({str(error.strerror).lower()})") from error
    files = [folder / "gold.conllu", *(folder / f"{name}.conllu" for name in made.predictions)]
    for file, text in zip(files, (made.gold, *made.predictions.values()), strict=True):
        write(read(text=text), file)
    systems = [replace(read(file), name=name) for file, name in zip(files[1:], made.predictions, strict=True)]
    scores = score(files[0], systems, seed=seed)
    compared = [row for row in scores.rows if row.metric.label == METRIC]
    truth = {name: known.las for name, known in made.truths.items()}
    return Demo(made.language, tuple(files), scores, differences(compared, seed=seed), truth)
