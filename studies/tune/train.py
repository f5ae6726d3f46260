"""Train what `studies.tune.orders` wrote: all settings of a search in one stack, then the winners.

    python -m studies.tune.train FOLDER OUT [--corpora en_ewt,ug_udt] [--studies tagger,parser] [--seconds 300]

OUT/trained.zip has what each network says of the parts it is scored on, by the key of its cell.
"""

from __future__ import annotations

import argparse
import json
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

Asked = dict[str, Any]  # an order


def trained(
    corpus: Corpus, parts: Mapping[str, np.ndarray], asked: Sequence[Asked]
) -> Iterator[tuple[Asked, TrainResult]]:
    """Networks of one system, each with its order, as they are finished."""
    orders = []
    for each in asked:
        batch_trainer = SYSTEMS.make(each["system"]).batch_trainer
        assert batch_trainer is not None
        learned = np.sort(np.concatenate([parts[name] for name in each["learned"]]))
        scored = {name: parts[name] for name in each["scored"]}
        orders.append(TrainJob(batch_trainer.config, each["seed"], learned, parts[each["tune"]], scored))
    assert batch_trainer is not None
    for at, done in batch_trainer.train(corpus, orders):
        yield asked[at], done


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


def main() -> None:
    """Search, then train the winners, corpus by corpus."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--corpora", default="")
    parser.add_argument("--studies", default="")
    parser.add_argument("--seconds", type=float, default=1e9, help="no search begins after so long")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    began = time.time()
    splits = np.load(given.folder / "splits.npz")
    groups: dict[tuple[str, str], list[Asked]] = {}
    for line in (given.folder / "orders.jsonl").read_text().splitlines():
        each = json.loads(line)
        groups.setdefault((each["study"], each["corpus"]), []).append(each)
    chosen = [set(filter(None, each.split(","))) for each in (given.studies, given.corpora)]
    for (study, code), asked in groups.items():
        if any(own and name not in own for name, own in zip((study, code), chosen, strict=True)):
            continue
        if time.time() - began > given.seconds:
            print(f"{study} {code}: no time left", flush=True)
            continue
        corpus = read(given.folder / f"{code}.conllu.xz")
        parts = {name.split("/")[2]: splits[name] for name in splits.files if name.startswith(f"{study}/{code}/")}
        told = _searched(corpus, parts, asked, given.out)
        print(f"{time.time() - began:5.0f} s {study} {code}: {told}", flush=True)


def _searched(corpus: Corpus, parts: Mapping[str, np.ndarray], asked: Sequence[Asked], out: Path) -> str:
    dev = take(corpus, np.sort(parts["dev"]))
    scores: dict[str, dict[str, list[float]]] = {}
    for each, done in trained(corpus, parts, [each for each in asked if each["phase"] == "search"]):
        _keep(out, each, done)
        own = scores.setdefault(each["setup"], {}).setdefault(each["system"], [])
        own.append(score(dev, done.predictions["dev"], each["system"]) if not done.failed else float("nan"))
    order = list(dict.fromkeys(each["system"] for each in asked))
    means = {setup: {name: float(np.mean(own[name])) for name in order} for setup, own in scores.items()}
    winners = {setup: max(order, key=lambda name: np.nan_to_num(own[name], nan=-1)) for setup, own in means.items()}
    last = {
        each["key"]: each for each in asked if each["phase"] == "final" and winners[each["setup"]] == each["system"]
    }
    for each, done in trained(corpus, parts, list(last.values())):
        _keep(out, each, done)
    told = [f"{setup} {100 * means[setup][name]:.2f} {name}" for setup, name in winners.items()]
    return "; ".join(told)


def _keep(out: Path, each: Asked, done: TrainResult) -> None:
    told = {"epoch": done.epoch, "epochs": done.epochs, "tune_score": done.score, "failed": done.failed}
    named = {**each, **told, "file": f"{each['key']}.{each['phase']}.npz"}
    keep(out / "trained.jsonl", out / "trained.zip", named, arrays_of(done, each["system"]))


if __name__ == "__main__":
    main()
