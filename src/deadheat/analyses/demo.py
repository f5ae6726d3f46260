"""The main job on the built-in corpus, where the truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from deadheat.analyses.compare import Comparison, compare
from deadheat.analyses.contest import Settings
from deadheat.analyses.score import Scores, score
from deadheat.corpus import read, write
from deadheat.errors import InputError, reason
from deadheat.testbed import built_in

METRIC = "las"


@dataclass(frozen=True, slots=True, eq=False)
class Demo:
    """Scores of simulated systems, every two of them compared, and what is true of them."""

    language: str
    files: tuple[Path, ...]
    scores: Scores
    comparison: Comparison
    truth: Mapping[str, float]  # the true score of each system, by its name


def demo(folder: Path, *, sentences: int = 3000, seed: int = 0) -> Demo:
    """Write the built-in corpus and three predictions into a folder, score and compare them."""
    made = built_in(sentences=sentences, seed=seed)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({reason(error)})") from error
    files = [folder / "gold.conllu", *(folder / f"{name}.conllu" for name in made.predictions)]
    for file, text in zip(files, (made.gold, *made.predictions.values()), strict=True):
        write(read(text=text), file)
    gold = read(files[0])
    systems = {name: replace(read(file), name=name) for file, name in zip(files[1:], made.predictions, strict=True)}
    return Demo(
        made.language,
        tuple(files),
        score(gold, list(systems.values()), seed=seed),
        compare(gold, systems, metric=METRIC, settings=Settings(seed=seed)),
        {name: known.las for name, known in made.truths.items()},
    )
