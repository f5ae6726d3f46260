"""The trigram tagger against NLTK's TnT: accuracy, and CPU time to train and to predict, in one run."""

from __future__ import annotations

import importlib
import importlib.util
import platform
import time
from dataclasses import dataclass
from importlib.metadata import version
from itertools import pairwise
from typing import Any

from benchmarks.timing import DATA, cpu, table
from deadheat.corpus import Corpus, read
from deadheat.systems import SYSTEMS
from deadheat.testbed import generate

FOLDER = DATA / "treebanks" / "en_ewt"
SYSTEM = "hmm.v1"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Labels, and seconds of CPU time."""

    labels: list[str]
    training: float
    prediction: float


def corpora() -> tuple[Corpus, Corpus]:
    """English EWT's train and dev where they lie beside us, else made-up ones."""
    if FOLDER.is_dir():
        return read(FOLDER / "en_ewt-ud-train.conllu"), read(FOLDER / "en_ewt-ud-dev.conllu")
    sizes = ((12000, 0), (2000, 1))
    train, dev = (read(text=generate("velani", sentences=size, seed=seed)) for size, seed in sizes)
    return train, dev


def ours(train: Corpus, dev: Corpus, name: str) -> Outcome:
    system = SYSTEMS.make(name)
    model = system.train(train, None, 0)
    labels = model.predict(dev).column(system.settings["column"]).strings()
    return Outcome(labels, cpu(lambda: system.train(train, None, 0)), cpu(lambda: model.predict(dev)))


def theirs(train: Corpus, dev: Corpus, column: str, *, capitals: bool) -> Outcome:
    """NLTK's tagger on the same sentences, as lists of pairs, which are made before the clock starts."""
    tnt: Any = importlib.import_module("nltk.tag.tnt")
    sentences, forms = pairs(train, column), [[form for form, _ in each] for each in pairs(dev, column)]
    best = Outcome([], float("inf"), float("inf"))
    for _ in range(2):
        tagger = tnt.TnT(C=capitals)
        start = time.process_time()
        tagger.train(sentences)
        trained = time.process_time()
        tagged = [tagger.tag(each) for each in forms]  # it remembers words, so a second time would be unfair to us
        done = time.process_time()
        labels = [label for each in tagged for _, label in each]
        best = Outcome(labels, min(best.training, trained - start), min(best.prediction, done - trained))
    return best


def pairs(corpus: Corpus, column: str) -> list[list[tuple[str, str]]]:
    every = list(zip(corpus.column("form").strings(), corpus.column(column).strings(), strict=True))
    return [every[a:b] for a, b in pairwise(corpus.offsets.tolist())]


def share(labels: list[str], others: list[str]) -> str:
    return f"{100 * sum(map(str.__eq__, labels, others)) / len(labels):.2f}"


def main() -> None:
    train, dev = corpora()
    peer = importlib.util.find_spec("nltk") is not None
    versions = f"Deadheat {version('deadheat')}" + (f", NLTK {version('nltk')}" if peer else "")
    print(f"{versions}, Python {platform.python_version()}")
    print(f"{train.words:,} words to learn from, {dev.words:,} to label; thousands of words a second of CPU")
    rows = []
    for column in ("upos", "xpos"):
        for capitals in (True, False):
            mine = ours(train, dev, f"{SYSTEM}(column={column!r}, capitals={capitals})")
            gold = dev.column(column).strings()
            cells = [f"{column}, {'with' if capitals else 'without'} capitals"]
            known = {"deadheat": mine} | ({"nltk": theirs(train, dev, column, capitals=capitals)} if peer else {})
            for name, found in known.items():
                speeds = train.words / found.training / 1000, dev.words / found.prediction / 1000
                ratios = found.training / mine.training, found.prediction / mine.prediction
                times = [f"{speed:.0f}" for speed in speeds] + [f"{ratio:.0f}" for ratio in ratios]
                rows.append(
                    [f"{name}: {cells[0]}", share(found.labels, gold), *times, share(found.labels, mine.labels)]
                )
    print(table(["tagger", "accuracy", "train", "predict", "times ours", "times ours", "same labels"], rows))
    if not peer:
        print("nltk is not installed; pip install nltk to compare with its TnT")


if __name__ == "__main__":
    main()
