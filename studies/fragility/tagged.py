"""Treebanks for a machine that trains: their own tags, and tags of a tagger, jackknifed on the training part.

    python -m studies.fragility.tagged TREEBANKS FOLDER [CODE ...]

writes FOLDER/gold/CODE and FOLDER/predicted/CODE, each with train, dev and test, for treebanks that have all three.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from deadheat.corpus import read, take, write
from deadheat.systems.parsers import ParserInput

PARTS = ("train", "dev", "test")
PREDICTED = ParserInput("predicted", "upos", "perceptron.v2", "refuse")


def files_of(folder: Path) -> list[Path]:
    """The three parts of a treebank, or nothing."""
    found = [sorted(folder.glob(f"*{part}.conllu*")) for part in PARTS]
    return [each[0] for each in found] if all(found) else []


def prepare(folder: Path, out: Path) -> str:
    """Write a treebank with its tags and with predicted ones; how good those are."""
    corpus = read(files_of(folder))
    sizes = [read(file).sentences for file in files_of(folder)]
    ends = np.cumsum([0, *sizes])
    tagged = PREDICTED.with_predicted_tags(corpus, np.arange(sizes[0]))
    told = []
    for name, own in (("gold", corpus), ("predicted", tagged)):
        for at, part in enumerate(PARTS):
            target = out / name / folder.name / f"{part}.conllu.xz"
            target.parent.mkdir(parents=True, exist_ok=True)
            sentences = np.arange(ends[at], ends[at + 1])
            write(take(own, sentences), target)
            if own is tagged:
                words = slice(corpus.offsets[ends[at]], corpus.offsets[ends[at + 1]])
                gold, found = (np.array(each.column("upos").strings(), object)[words] for each in (corpus, tagged))
                told.append(f"{part} {100 * np.mean(gold == found):.2f}")
    return f"{folder.name}: UPOS {', '.join(told)}"


def main(arguments: Iterable[str] | None = None) -> None:
    """Prepare all treebanks, one on each core."""
    parser = argparse.ArgumentParser()
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("codes", nargs="*")
    given = parser.parse_args(None if arguments is None else list(arguments))
    folders = [each for each in sorted(given.treebanks.iterdir()) if files_of(each)]
    wanted = [each for each in folders if not given.codes or each.name in given.codes]
    with ProcessPoolExecutor() as processes:
        for told in processes.map(partial(prepare, out=given.out), wanted):
            print(told, flush=True)


if __name__ == "__main__":
    main()
