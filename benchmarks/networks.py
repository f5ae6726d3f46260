"""Networks per hour: stacks of the BiLSTM-CNN-CRF tagger against the same network in PyTorch, one after the other.

    python -m benchmarks.networks --data FOLDER [--sizes 1,256] [--random 256] [--epochs 2] [--torch-epochs 1]

FOLDER holds CoNLL-2000's train.txt and test.txt. Both train on the same batches: 32 sentences, the same lengths.
PyTorch has cuDNN's LSTM, an ordinary batched random field (a loop over words) and the same dropout but for that of
recurrent units, which cuDNN's LSTM does not know. Loading and compiling are not counted. --random adds stacks of
different networks, drawn as Reimers & Gurevych (2017, section 4.2) draw them, but for the batch and characters.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deadheat.corpus import read
from deadheat.neural import batches
from deadheat.neural.config import CHOICES, RATES, HyperParams, Shape, TrainSchedule, Variant, merge_shapes
from deadheat.neural.devices import on_accelerator, parameter_count
from deadheat.neural.lstm import DIRECTIONS
from deadheat.neural.programs import DeviceData
from deadheat.neural.schemes import f1_of
from deadheat.neural.stack import Splits, Stack, StackJob
from deadheat.neural.text import Encoding, encode_corpora, tokens_of

if TYPE_CHECKING:
    from benchmarks.networks_torch import Training

EPOCHS = 25  # of a network, to extrapolate by


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sizes", default="1,256")
    parser.add_argument("--random", default="", help="sizes of stacks of different networks")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--torch-epochs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--limit", type=int, default=10**9, help="sentences of train")
    given = parser.parse_args()
    corpus = read(
        [given.data / "train.txt", given.data / "test.txt"], format="columns", columns=["form", "pos", "chunk"]
    )
    labels = corpus.column("chunk")
    encoding = encode_corpora([corpus], labels.codes, labels.vocabulary.strings)
    sentences = np.arange(corpus.parts[0].sentences if hasattr(corpus.parts[0], "sentences") else 8936)
    sentences = sentences[: given.limit]
    cut = len(sentences) * 9 // 10
    train, tune = sentences[:cut], sentences[cut:]
    shape = Shape()
    lengths = np.asarray(encoding.arrays["lengths"])
    groups = batches.group_by_length(lengths, train, shape.batch)
    tokens = int(lengths[train].sum())
    steps = sum(batches.batch_counts(groups, shape.batch).values())
    work = operations(shape, encoding) * tokens
    print(
        f"{len(train):,} sentences, {tokens:,} words, {steps} steps an epoch, "
        f"padding {100 * batches.padding(groups, lengths, shape.batch):.1f} %, "
        f"{parameter_count(shape, len(encoding.words), len(encoding.characters), len(encoding.labels)):,} weights"
    )
    rows: list[dict[str, Any]] = []
    for size in map(int, filter(None, given.sizes.split(","))):
        rows.append(ours(encoding, shape, train, tune, size, given.epochs))
        print(rows[-1], flush=True)
    for size in map(int, filter(None, given.random.split(","))):
        shapes, hypers = random_networks(size)
        rows.append(ours(encoding, merge_shapes(shapes), train, tune, size, given.epochs, (shapes, hypers)))
        print(rows[-1], flush=True)
    if given.torch_epochs:
        from benchmarks.networks_torch import train_tagger

        rows += torchs(partial(train_tagger, encoding, shape, groups), given.torch_epochs, graphs=on_accelerator())
    table(rows, tokens, steps, work)
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1))


def operations(shape: Shape, encoding: Encoding) -> float:
    """Multiplications and additions of one word in training: forward, and twice as many backward."""
    inputs = DIRECTIONS * shape.units[-1]
    return 3.0 * (layers_operations(shape) + 2 * inputs * len(encoding.labels))


def layers_operations(shape: Shape) -> int:
    """Multiplications and additions of the LSTM layers for one word, forward."""
    inputs, found = shape.inputs, 0
    for units in shape.units:
        found += 2 * DIRECTIONS * 4 * units * (inputs + units)
        inputs = DIRECTIONS * units
    return found


def random_networks(count: int, seed: int = 0) -> tuple[list[Shape], list[HyperParams]]:
    """Networks of one family: units, layers, dropout, optimizers, thresholds and classifiers are drawn."""
    rng = np.random.default_rng(seed)
    shapes, hypers = [], []
    for _ in range(count):
        units = tuple(int(number) for number in rng.integers(25, 126, size=rng.integers(1, 4)))
        kind = str(rng.choice(["sgd", "adagrad", "adadelta", "rmsprop", "adam", "nadam"]))
        dropout, dropped = str(rng.choice(CHOICES["dropout"])), str(rng.choice(CHOICES["dropped"]))
        classifier = str(rng.choice(CHOICES["classifier"]))
        shapes.append(Shape(units=units, optimizer=kind, dropout=dropout, dropped=dropped, classifier=classifier))
        clip, norm = (float(rng.choice([1, 3, 5, 10, np.inf])) for _ in range(2))
        hypers.append(HyperParams(RATES[kind], float(rng.choice([0.05, 0.1, 0.25, 0.5])), clip, norm))
    return shapes, hypers


def ours(
    encoding: Encoding, shape: Shape, train: np.ndarray, tune: np.ndarray, size: int, epochs: int,
    drawn: tuple[list[Shape], list[HyperParams]] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Train a stack, and time its epochs once everything is compiled."""
    data = DeviceData.of(shape, encoding, encoding.knowledge([train]))
    gold = np.asarray(encoding.arrays["labels"])[
        tokens_of(encoding.arrays["starts"], encoding.arrays["lengths"], np.sort(tune))
    ]
    offsets = np.concatenate([[0], np.cumsum(np.asarray(encoding.arrays["lengths"])[np.sort(tune)])])

    def judge(split: int, labels: np.ndarray) -> float:
        return f1_of(gold, labels, encoding.labels, offsets)

    stack = Stack(data, Splits([train], [tune]), judge, size=size)
    networks: list[tuple[HyperParams, Variant | None]] = [(HyperParams(RATES[shape.optimizer]), None)] * size
    if drawn is not None:
        networks = [(hyper, each.variant(len(shape.units))) for each, hyper in zip(*drawn, strict=True)]
    found = timed(stack, networks, epochs)
    scores = [slot.curve[-1] for slot in stack.slots if slot is not None]
    if drawn is not None:
        found["what"] = f"{size} different"
    return {**found, "f1": float(np.mean(scores)), "f1_sd": float(np.std(scores))}


def timed(stack: Stack, networks: Sequence[tuple[HyperParams, Variant | None]], epochs: int) -> dict[str, Any]:
    """Seconds of epochs of a full stack, once everything is compiled and the first epoch is over."""
    import jax

    course = TrainSchedule(epochs + 1, epochs + 1)
    began = time.perf_counter()
    jobs = [(at, StackJob(hyper, at, 0, course, variant)) for at, (hyper, variant) in enumerate(networks)]
    stack._start_jobs(jobs[::-1])
    if on_accelerator():  # elsewhere programs are made when they are first used
        stack.compile()
    jax.block_until_ready(stack.weights)  # type: ignore[no-untyped-call]
    compiled = time.perf_counter() - began
    spent = []
    for number in (1, epochs):
        began = time.perf_counter()
        for _ in range(number):
            stack._run_epoch()
        jax.block_until_ready(stack.weights)  # type: ignore[no-untyped-call]
        spent.append(time.perf_counter() - began)
    return {"what": f"stack of {stack.size}", "networks": stack.size, "seconds": spent[1], "epochs": epochs,
            "compiled": compiled, "first": spent[0]}  # fmt: skip


def torchs(training: Callable[..., Training], epochs: int, *, graphs: bool = False) -> list[dict[str, Any]]:
    """The same of a network in PyTorch, packed, not packed, and with CUDA graphs if asked for."""
    from benchmarks.networks_torch import timed

    kinds = [("PyTorch", {"packed": True}), ("PyTorch, no packing", {"packed": False})]
    if graphs:
        kinds.append(("PyTorch, CUDA graphs", {"packed": False, "graphs": True}))
    rows = []
    for what, options in kinds:
        seconds = timed(training(**options), epochs)
        rows.append({"what": what, "networks": 1, "seconds": seconds, "epochs": epochs})
        print(rows[-1], flush=True)
    return rows


def table(rows: list[dict[str, Any]], tokens: int, steps: int, work: float) -> None:
    """A row for everything that was timed; `work` is that of an epoch."""
    others = [row for row in rows if row["what"].startswith("PyTorch")]
    base = min(others, key=lambda row: float(row["seconds"])) if others else None
    print(
        f"{'what':20} {'s/epoch':>8} {'net-steps/ms':>12} {'tokens/s':>12} {'TFLOP/s':>8} {'networks/h':>10} "
        f"{'50,000 take':>12} {'x PyTorch':>9}"
    )
    for row in rows:
        epoch = row["seconds"] / row["epochs"]
        rate = row["networks"] / epoch  # epochs of a network a second
        hour = 3600 * rate / EPOCHS
        ratio = "" if base is None else f"{rate * base['seconds'] / base['epochs']:.1f}"
        days = 50_000 / hour / 24
        shown = f"{days:.1f} d" if days >= 1 else f"{24 * days:.1f} h"
        print(
            f"{row['what']:20} {epoch:8.3f} {rate * steps / 1000:12.3f} {rate * tokens:12,.0f} "
            f"{rate * work / 1e12:8.2f} {hour:10,.0f} {shown:>12} {ratio:>9}"
        )


if __name__ == "__main__":
    main()
