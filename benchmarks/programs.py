"""Other people's programs that are installed: accuracy, seconds and what the seed does, on a few sentences.

    python -m benchmarks.programs TRAIN.conllu DEV.conllu 1,1,2 [PROGRAM ...] [PROGRAM:COLUMN ...]

The first sentences of TRAIN are learned from; the first of DEV are for tuning, and those after them for testing. Every
program is trained with the seeds, one at a time: 1 and 1 show whether a seed decides the result, 1 and 2 whether it
matters. Budgets are small, so that all of it takes minutes; what a
program reaches with its defaults and more text is another question.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import table
from deadheat import score
from deadheat.corpus import Corpus, read, take, write
from deadheat.systems import SYSTEMS
from deadheat.systems.recipe import ANY, RECIPES, state_of

TRAIN, TUNE, TEST = 200, 100, 200  # sentences
BUDGETS: dict[str, dict[str, Any]] = {
    "flairnlp": {"epochs": 5, "units": 64},
    "opennlp": {"cutoff": 2},
    "spacy": {"epochs": 5},
    "stanza": {"steps": 20, "interval": 10},
    "supar": {"epochs": 5},
    "uuparser": {"epochs": 3},
}
HEADER = ["program", "predicts", "settings", "metric", "accuracy", "train s", "predict s", "same seed", "other seed"]


def measure(name: str, column: str, parts: tuple[Corpus, Corpus, Corpus], seeds: list[int], folder: Path) -> list[str]:
    """A row of the table: a program with the seeds, on one task."""
    settings = BUDGETS.get(name, {})
    train, tune, test = parts
    system = SYSTEMS.make(name, column=column, **settings)
    gold, files, seconds = folder / "gold.conllu", [], []
    write(test, gold)
    for number, seed in enumerate(seeds):
        start = time.monotonic()
        model = system.train(train, tune, seed)
        trained = time.monotonic()
        predicted = model.predict(test)
        seconds.append((trained - start, time.monotonic() - trained))
        getattr(model, "close")()  # noqa: B009 - not all models have it
        files.append(folder / f"{name}-{column}-{number}.conllu")
        write(predicted, files[-1])
    metric = "las" if column == "trees" else "accuracy"
    scores = [score(gold, file, metrics=[metric]).rows[0].value for file in files]
    contents = {seed: file.read_bytes() for seed, file in zip(seeds, files, strict=True)}
    first = [file.read_bytes() for seed, file in zip(seeds, files, strict=True) if seed == seeds[0]]
    options = ", ".join(f"{key}={value}" for key, value in settings.items()) or "-"
    return [
        name, column, options, metric, " / ".join(f"{100 * value:.1f}" for value in scores),
        f"{min(seconds)[0]:.0f}", f"{min(second for _, second in seconds):.1f}",
        "-" if len(first) < 2 else "same" if len(set(first)) == 1 else "differs",
        "-" if len(contents) < 2 else "same" if len(set(contents.values())) == 1 else "differs",
    ]  # fmt: skip


def columns_of(name: str) -> Iterator[str]:
    yield from ("upos" if column == ANY else column for column in RECIPES[name].commands)


def main() -> None:
    import tempfile

    train, dev, seeds, *chosen = sys.argv[1:]
    first = take(read(train), np.arange(TRAIN))
    rest = read(dev)
    parts = (first, take(rest, np.arange(TUNE)), take(rest, np.arange(TUNE, TUNE + TEST)))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for text in chosen or [name for name, recipe in RECIPES.items() if state_of(recipe) == "installed"]:
            name, _, only = text.partition(":")
            for column in [only] if only else columns_of(name):
                rows.append(measure(name, column, parts, [int(seed) for seed in seeds.split(",")], Path(folder)))
                print("  ".join(rows[-1]), file=sys.stderr, flush=True)
    print(table(HEADER, rows))


if __name__ == "__main__":
    main()
