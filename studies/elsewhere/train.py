"""Train what `studies.elsewhere.orders` wrote, in stacks: the networks of searches and studies, then winners.

    python -m studies.elsewhere.train FOLDER OUT [--corpora en_ewt,ug_udt] [--studies tagger,parser] [--seconds 300]
        [--done LINES]

OUT/trained.zip has what each network says of the parts it is scored on, by the key of its cell, and OUT/trained.jsonl a
line for each. Networks that have a line there, or in the files of --done, are not trained again: what was cut off goes
on where it was. Networks that can train together do, large batches first, since they are the fastest.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.corpus import Corpus, read, take
from deadheat.metrics import METRICS, align
from deadheat.neural.config import TrainJob, TrainResult
from deadheat.systems import SYSTEMS
from studies.archive import keep

ORDERS, SPLITS, CORPORA, LINES = "orders.jsonl", "splits.npz", "corpora.json", "trained.jsonl"
STACK = 256  # networks that are begun together; the device decides how many of them fit
Asked = dict[str, Any]  # an order


def trained(
    corpus: Corpus, parts: Mapping[str, np.ndarray], asked: Sequence[Asked]
) -> Iterator[tuple[Asked, TrainResult]]:
    """Networks that train together, each with its order, as they are finished."""
    orders = []
    for each in asked:
        batch_trainer = SYSTEMS.make(each["system"]).batch_trainer
        assert batch_trainer is not None
        learned = np.sort(np.concatenate([parts[name] for name in each["learned"]]))
        scored = {name: parts[name] for name in each["scored"]}
        orders.append(TrainJob(batch_trainer.config, each["seed"], learned, parts.get(each["tune"]), scored))
    if orders:
        assert batch_trainer is not None
        for at, done in batch_trainer.train(corpus, orders):
            yield asked[at], done


def stacks(asked: Sequence[Asked]) -> list[list[Asked]]:
    """Orders in the groups that train together, those with large batches first."""
    groups: dict[Any, list[Asked]] = {}
    for each in asked:
        trainer = SYSTEMS.make(each["system"]).batch_trainer
        assert trainer is not None
        groups.setdefault((trainer.config.shape.batch, trainer.group), []).append(each)
    ordered = [groups[kind] for kind in sorted(groups, key=lambda kind: -kind[0])]
    return [group[at : at + STACK] for group in ordered for at in range(0, len(group), STACK)]


def score(gold: Corpus, found: Corpus, system: str) -> float:
    """Accuracy on tags, or LAS."""
    made = SYSTEMS.make(system)
    metric = METRICS.make("las") if made.trees else METRICS.make("accuracy", column=made.settings["column"])
    return float(metric.value(metric.counts(align(gold, found))[:, :3].sum(axis=0)))


def arrays_of(done: TrainResult, system: str) -> dict[str, np.ndarray]:
    """What a network says of each part."""
    arrays: dict[str, np.ndarray] = {}
    made = SYSTEMS.make(system)
    for part, corpus in done.predictions.items():
        labels = corpus.column("deprel" if made.trees else made.settings["column"])
        arrays |= {f"{part}_codes": labels.codes.astype(np.int16), f"{part}_names": np.array(labels.vocabulary.strings)}
        if made.trees:
            arrays[f"{part}_heads"] = corpus.trees.astype(np.int16)
    return arrays


class Training:
    """Orders on their way: what is done, and for how long more may be begun."""

    def __init__(self, out: Path, earlier: Sequence[Path], seconds: float) -> None:
        self.out, self.began, self.seconds = out, time.time(), seconds
        lines = [path.read_text().splitlines() for path in (*earlier, out / LINES) if path.exists()]
        told = [json.loads(line) for own in lines for line in own]
        self.done: dict[tuple[str, str], Asked] = {(each["key"], each["phase"]): each for each in told}

    def run(self, corpus: Corpus, parts: Mapping[str, np.ndarray], asked: Sequence[Asked]) -> None:
        """Train what is not done."""
        missing = {(each["key"], each["phase"]): each for each in asked}
        for group in stacks([each for name, each in missing.items() if name not in self.done]):
            if time.time() - self.began > self.seconds:
                return
            for each, done in trained(corpus, parts, group):
                told = {"epoch": done.epoch, "epochs": done.epochs, "tune_score": done.score, "failed": done.failed}
                if each["setup"] and not done.failed:
                    dev = take(corpus, np.sort(parts["dev"]))
                    told["dev_score"] = score(dev, done.predictions["dev"], each["system"])
                named = {**each, **told, "file": f"{each['key']}.{each['phase']}.npz"}
                keep(self.out / LINES, self.out / "trained.zip", named, arrays_of(done, each["system"]))
                self.done[each["key"], each["phase"]] = named

    def winners(self, asked: Sequence[Asked]) -> dict[str, str]:
        """The system of each setup of a search that has the best mean on dev; none where some are not trained."""
        scores: dict[str, dict[str, list[float]]] = {}
        for each in asked:
            if each["setup"] and each["phase"] == "search":
                told = self.done.get((each["key"], "search"), {})
                own = scores.setdefault(each["setup"], {}).setdefault(each["system"], [])
                own.append(told.get("dev_score", -1.0 if told.get("failed") else math.nan))
        means = {setup: {name: float(np.mean(each)) for name, each in own.items()} for setup, own in scores.items()}
        whole = {setup: own for setup, own in means.items() if not any(map(math.isnan, own.values()))}
        return {setup: max(own, key=lambda name: own[name]) for setup, own in whole.items()}

    def search(self, corpus: Corpus, parts: Mapping[str, np.ndarray], asked: Sequence[Asked]) -> str:
        """Train all, then the winners of searches on what they learn from in the end; returns what came of it."""
        self.run(corpus, parts, [each for each in asked if each["phase"] == "search"])
        best = self.winners(asked)
        finals = [each for each in asked if each["phase"] == "final" and best.get(each["setup"]) == each["system"]]
        self.run(corpus, parts, finals)
        count = sum((each["key"], each["phase"]) in self.done for each in asked)
        return "; ".join([f"{count} of {len(asked)}", *(f"{setup} {name}" for setup, name in best.items())])


def main() -> None:
    """Train corpus by corpus."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--corpora", default="")
    parser.add_argument("--studies", default="")
    parser.add_argument("--seconds", type=float, default=1e9, help="no stack begins after so long")
    parser.add_argument("--done", type=Path, nargs="*", default=[], help=f"{LINES} of earlier times")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    training = Training(given.out, given.done, given.seconds)
    splits, options = np.load(given.folder / SPLITS), json.loads((given.folder / CORPORA).read_text())
    groups: dict[tuple[str, str], list[Asked]] = {}
    for line in (given.folder / ORDERS).read_text().splitlines():
        each = json.loads(line)
        groups.setdefault((each["study"], each["corpus"]), []).append(each)
    chosen = [set(filter(None, each.split(","))) for each in (given.studies, given.corpora)]
    for (study, code), asked in groups.items():
        if any(own and name not in own for name, own in zip((study, code), chosen, strict=True)):
            continue
        corpus = read(given.folder / f"{code}.xz", **options[code])
        parts = {name.split("/")[2]: splits[name] for name in splits.files if name.startswith(f"{study}/{code}/")}
        told = training.search(corpus, parts, asked)
        print(f"{time.time() - training.began:5.0f} s {study} {code}: {told}", flush=True)


if __name__ == "__main__":
    main()
