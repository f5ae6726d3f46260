"""How good the BiLSTM-CNN-CRF tagger is: many seeds and numbers in one stack, picked on dev, told on test.

python -m benchmarks.networks_accuracy chunking FOLDER      CoNLL-2000's train.txt, dev.txt, test.txt
python -m benchmarks.networks_accuracy upos FOLDER          a UD treebank's three files
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from deadheat.corpus import read
from deadheat.neural.config import HyperParams, Shape, TrainSchedule
from deadheat.neural.programs import DeviceData
from deadheat.neural.schemes import f1_of, recode
from deadheat.neural.stack import Splits, Stack, StackJob
from deadheat.neural.text import encode_corpora, tokens_of


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("task", choices=("chunking", "upos"))
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--patience", type=int, default=8)
    parser.add_argument("--drops", default="0.25,0.5")
    parser.add_argument("--rates", default="0.002,0.001")
    parser.add_argument("--units", default="100,100")
    parser.add_argument("--scheme", default="bio")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=1e9, help="no epoch begins after so long")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.task == "chunking":
        files = [given.data / f"{part}.txt" for part in ("train", "dev", "test")]
        made = [read(file, format="columns", columns=["form", "pos", "chunk"]) for file in files]
        corpus = read(files, format="columns", columns=["form", "pos", "chunk"])
        column = corpus.column("chunk")
    else:
        files = [next(given.data.glob(f"*-{part}.conllu")) for part in ("train", "dev", "test")]
        made = [read(file) for file in files]
        corpus = read(files)
        column = corpus.column("upos")
    codes, names = np.asarray(column.codes), tuple(column.vocabulary.strings)
    offsets = np.append(corpus.offsets[: corpus.sentences], corpus.words)
    if given.task == "chunking" and given.scheme != "bio":
        codes, names = recode(codes, names, offsets, target=given.scheme)
    encoding = encode_corpora([corpus], codes, names)
    ends = np.cumsum([each.sentences for each in made])
    train, dev, test = (np.arange(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True))
    lengths = np.asarray(encoding.arrays["lengths"])

    def measure(sentences: np.ndarray, labels: np.ndarray) -> float:
        gold = np.asarray(codes)[tokens_of(encoding.arrays["starts"], lengths, sentences)]
        if given.task == "upos":
            return float((gold == labels).mean())
        return f1_of(gold, labels, names, np.concatenate([[0], np.cumsum(lengths[sentences])]))

    shape = Shape(units=tuple(map(int, given.units.split(","))), batch=given.batch)
    data = DeviceData.of(shape, encoding, encoding.knowledge([train]))
    numbers = [
        HyperParams(rate, drop)
        for rate, drop in product(map(float, given.rates.split(",")), map(float, given.drops.split(",")))
    ]
    course = TrainSchedule(given.epochs, given.patience)
    jobs = [StackJob(own, seed, 0, course) for own in numbers for seed in range(given.seeds)]
    stack = Stack(
        data, Splits([train], [dev], {"test": [test]}),
        lambda split, labels: measure(dev, labels), size=len(jobs),
    )  # fmt: skip
    began = time.perf_counter()
    told: list[float] = []

    def hurry() -> None:
        """Say how far it is, and let this epoch be the last if time is up."""
        spent = time.perf_counter() - began
        curves = [slot.curve[-1] for slot in stack.slots if slot is not None]
        told.append(spent)
        print(f"epoch {len(told)}: {spent:.0f} s, dev {100 * np.mean(curves):.2f}", flush=True)
        if spent > given.seconds:
            for slot in filter(None, stack.slots):
                slot.job = replace(slot.job, schedule=TrainSchedule(1, 1))

    stack.after_epoch = hurry
    rows = []
    for at, done in stack.run(dict(enumerate(jobs))):
        score = measure(test, done.labels["test"])
        own = done.job.hyper
        said = {"rate": float(own.rate), "drop": float(own.drop), "seed": done.job.seed, "at": at}
        rows.append(said | {"dev": done.score, "test": score, "epoch": done.epoch, "epochs": done.epochs})
    print(f"{len(jobs)} networks, {time.perf_counter() - began:.0f} s with compiling")
    for own in numbers:
        mine = [row for row in rows if (row["rate"], row["drop"]) == (float(own.rate), float(own.drop))]
        dev_scores, test_scores = ([100 * row[name] for row in mine] for name in ("dev", "test"))
        print(f"rate {own.rate} drop {own.drop}: dev {np.mean(dev_scores):.2f} test {np.mean(test_scores):.2f} "
              f"sd {np.std(test_scores, ddof=1):.2f} ({min(test_scores):.2f} - {max(test_scores):.2f}), "
              f"best epoch {np.mean([row['epoch'] for row in mine]):.1f}")  # fmt: skip
    if given.out:
        given.out.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
