"""Fine-tune an encoder as a tagger and as a parser, and print the accuracy of UPOS and the LAS on dev, and the times.

    python -m benchmarks.finetuning --data FOLDER --encoder FOLDER [--sentences 200] [--epochs 20] [--tasks tags,trees]
        [--set encoder_rate=2e-5] [--systems finetuned,networks] [--repeat]

FOLDER of `--data` holds the train and dev part of a treebank in CoNLL-U, such as en_ewt. The last tenth of train picks
the epoch; dev is labelled once, at the end. `--repeat` trains for one epoch twice with one seed and says whether the
predictions are the same, byte for byte. `--systems networks` trains `bilstm` and `biaffine(size='small', tags='none')`
on the same sentences, for which it needs jax.
"""

from __future__ import annotations

import argparse
import ast
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from deadheat.corpus import Corpus, concatenate, read, take, to_bytes
from deadheat.metrics import METRICS, align
from deadheat.neural.config import TrainJob, TrainResult
from deadheat.systems import SYSTEMS

FINETUNED = {"tags": "transformer.v1", "trees": "transformer-parser.v1"}
METRIC = {"tags": "accuracy(column='upos')", "trees": "las"}
COMPARED: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "tags": ("bilstm.v2", {}), "trees": ("biaffine.v1", {"size": "small", "tags": "none"}),
}  # fmt: skip


def main() -> None:
    given = arguments().parse_args()
    train, dev = corpora(given.data, given.sentences)
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"CPU, {given.threads} threads"
    print(f"{train.sentences:,} sentences of train, {dev.sentences:,} of dev; torch {torch.__version__}, {device}")
    changed = {name: literal(value) for name, _, value in (item.partition("=") for item in given.set)}
    common = {"encoder": given.encoder, "epochs": given.epochs, "threads": given.threads, **changed}
    for task in given.tasks.split(","):
        settings = {**common, "finetune": True}
        if "networks" in given.systems.split(","):
            report(task, *COMPARED[task], train, dev, given.seed)
        if "finetuned" not in given.systems.split(","):
            continue
        report(task, FINETUNED[task], settings, train, dev, given.seed)
        if given.repeat:
            first, second = (run(FINETUNED[task], {**settings, "epochs": 1}, train, dev, given.seed) for _ in range(2))
            same = to_bytes(first.predictions["dev"]) == to_bytes(second.predictions["dev"])
            print(f"{task}: one epoch, twice with one seed: {'the same' if same else 'other'} predictions")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--sentences", type=int, default=0, help="of train; 0 for all")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--tasks", default="tags,trees")
    parser.add_argument("--set", action="append", default=[], help="a setting, such as encoder_rate=2e-5")
    parser.add_argument("--repeat", action="store_true")
    parser.add_argument("--systems", default="finetuned", help="finetuned, networks or both")
    return parser


def literal(value: str) -> Any:
    try:
        return ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return value


def corpora(folder: Path, sentences: int) -> tuple[Corpus, Corpus]:
    """The train part, or its first sentences, and the dev part."""
    parts = [read(next(iter(sorted(folder.glob(f"*{part}*.conllu"))))) for part in ("train", "dev")]
    train = take(parts[0], np.arange(min(sentences or parts[0].sentences, parts[0].sentences)))
    return train, parts[1]


def run(system: str, settings: Mapping[str, Any], train: Corpus, dev: Corpus, seed: int) -> TrainResult:
    """Train one network that labels dev."""
    both = concatenate([train, dev])
    learned, tuned = np.split(np.arange(train.sentences), [train.sentences * 9 // 10])
    parts = {"dev": np.arange(train.sentences, both.sentences)}
    trainer = SYSTEMS.make(system, **settings).batch_trainer
    assert trainer is not None
    ((_, result),) = trainer.train(both, [TrainJob(trainer.config, seed, learned, tuned, parts)])
    assert not result.failed, result.failed
    return result


def report(task: str, system: str, settings: Mapping[str, Any], train: Corpus, dev: Corpus, seed: int) -> None:
    start = time.perf_counter()
    result = run(system, settings, train, dev, seed)
    seconds = time.perf_counter() - start
    metric = METRICS.make(METRIC[task])
    value = float(metric.value(metric.counts(align(dev, result.predictions["dev"])).sum(axis=0)))
    curve = " ".join(f"{100 * score:.2f}" for score in result.curve)
    print(
        f"{task}: {system}: {metric.name} {100 * value:.2f} on dev; epoch {result.epoch} of {result.epochs}; "
        f"{seconds:.0f} s; on tune: {curve}",
        flush=True,
    )


if __name__ == "__main__":
    main()
