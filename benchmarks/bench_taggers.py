"""Taggers trained on English EWT: accuracy on dev, CPU time of training and prediction on one core.

Perceptrons are also trained with tune, which is the last documents of train, a tenth of its words: train is then the
rest. Dev is looked at by nobody but this table. Where NLTK is installed, its greedy perceptron is measured alongside.
"""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchmarks.timing import DATA, table
from deadheat.corpus import Corpus, read, take
from deadheat.kernels import precompile
from deadheat.systems import SYSTEMS
from deadheat.testbed import generate

PASSES = {  # over the training text
    "perceptron.v2": 10,
    "perceptron.v2(order=3)": 10,
    "lookahead.v1": 7,
    "loglinear.v2": 120,
}


@dataclass(frozen=True)
class Outcome:
    """What one tagger got right, and what it took."""

    accuracy: float
    unknown: float
    training: float
    prediction: float


def corpora() -> tuple[Corpus, Corpus]:
    """Train and dev of EWT, or a made-up language where EWT is not at hand."""
    folder = DATA / "treebanks" / "en_ewt"
    if folder.is_dir():
        return read(folder / "en_ewt-ud-train.conllu"), read(folder / "en_ewt-ud-dev.conllu")
    return read(text=generate("velani", sentences=5000, seed=0)), read(text=generate("velani", sentences=800, seed=1))


def last_tenth(train: Corpus) -> tuple[Corpus, Corpus]:
    """The first documents and the last ones, which have a tenth of the words."""
    words = np.cumsum(np.diff(train.offsets))
    cut = train.documents[np.searchsorted(words, 0.9 * words[-1])]
    before = train.documents < cut
    return take(train, np.flatnonzero(before)), take(train, np.flatnonzero(~before))


def measured(train: Corpus, dev: Corpus, column: str, learn: Callable[[], Callable[[], list[str]]]) -> Outcome:
    """Train, predict dev, score; `learn` gives something that predicts."""
    start = time.process_time()
    predict = learn()
    trained = time.process_time()
    found = predict()
    predicted = time.process_time()
    right = np.array(found) == np.array(dev.column(column).strings())
    known = set(train.column("form").strings())
    unknown = np.array([form not in known for form in dev.column("form").strings()])
    return Outcome(float(right.mean()), float(right[unknown].mean()), trained - start, predicted - trained)


def ours(name: str, train: Corpus, tune: Corpus | None, dev: Corpus, column: str) -> Outcome:
    def learn() -> Callable[[], list[str]]:
        model = SYSTEMS.make(name, column=column).train(train, tune, 0)
        return lambda: model.predict(dev).column(column).strings()

    return measured(train, dev, column, learn)


def sentences(corpus: Corpus, column: str) -> list[list[tuple[str, str]]]:
    pairs = list(zip(corpus.column("form").strings(), corpus.column(column).strings(), strict=True))
    return [pairs[a:b] for a, b in pairwise(corpus.offsets.tolist())]


def nltk(train: Corpus, dev: Corpus, column: str) -> Outcome:
    module = importlib.import_module("nltk.tag.perceptron")
    text = sentences(train, column)
    forms = [[form for form, _ in sentence] for sentence in sentences(dev, column)]

    def learn() -> Callable[[], list[str]]:
        tagger = module.PerceptronTagger(load=False)
        tagger.train(text, nr_iter=5)
        return lambda: [tag for sentence in forms for _, tag in tagger.tag(sentence)]

    return measured(train, dev, column, learn)


def row(name: str, words: int, passes: int | None, upos: Outcome, xpos: Outcome) -> list[str]:
    speed = f"{words * passes / upos.training:,.0f}" if passes else ""
    scores = [f"{100 * each:.2f}" for each in (upos.accuracy, upos.unknown, xpos.accuracy, xpos.unknown)]
    seconds = [f"{upos.training:.2f}", speed, f"{upos.prediction:.2f}", f"{xpos.training:.2f}"]
    return [name, *scores, *seconds]


def main() -> None:
    precompile()
    train, dev = corpora()
    first, tune = last_tenth(train)
    rows = []
    for name, passes in PASSES.items():
        upos, xpos = (ours(name, train, None, dev, column) for column in ("upos", "xpos"))
        rows.append(row(name, train.words, passes, upos, xpos))
    for name in ("perceptron.v2", "perceptron.v2(order=3)"):
        upos, xpos = (ours(name, first, tune, dev, column) for column in ("upos", "xpos"))
        rows.append(row(f"{name}, tuned", first.words, None, upos, xpos))
    if importlib.util.find_spec("nltk"):
        upos, xpos = (nltk(train, dev, column) for column in ("upos", "xpos"))
        rows.append(row("NLTK, greedy perceptron", train.words, 5, upos, xpos))
    head = "tagger,UPOS,unknown,XPOS,unknown,training s,words/s,prediction s,XPOS training s"
    print(table(head.split(","), rows))
    print("unknown: words of dev that are not in train; words/s: of training, all passes; seconds are of CPU")


if __name__ == "__main__":
    main()
