"""Words a CPU second in training: one BiLSTM-CNN-CRF tagger on one core, ours and the same in PyTorch.

    python -m benchmarks.networks_cpu --data FOLDER [--sentences 1500] [--rounds 5]

FOLDER holds CoNLL-2000's train.txt and test.txt. Each contender has a process of its own with one thread, keeps freed
memory, and trains an epoch over the same sentences in batches of the same lengths whenever it is its turn, so that what
else goes on in the machine slows down all of them alike. Compiling and first epochs are not counted. PyTorch's network
has no dropout of recurrent units (see networks_torch.py).
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import read
from deadheat.neural.text import Encoding, encode_corpora

if TYPE_CHECKING:
    from deadheat.neural.stack import Stack, StackJob

Ready = tuple[int, Callable[[], float]]  # words of an epoch, and what trains one and gives its loss
# For the processes of the contenders, before they import anything that starts threads.
ONE_THREAD = {
    "NPROC": "1",  # threads of jax
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
    "CUDA_VISIBLE_DEVICES": "",
}
OURS, PACKED, UNPACKED = "deadheat, a stack of one", "PyTorch, packed", "PyTorch, not packed"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    take_turns(partial(contender, given.data, given.sentences), given.rounds)


def contender(data: Path, sentences: int, name: str) -> Ready:
    """A tagger of ours or of PyTorch's."""
    return ours(data, sentences) if name == OURS else torchs(data, sentences, packed=name == PACKED)


def take_turns(contender: Callable[[str], Ready], rounds: int) -> None:
    """Have each contender train in a process of its own when it is its turn, so many times, and print who did what."""
    os.environ.update(ONE_THREAD)
    spawn = multiprocessing.get_context("spawn")
    lines: dict[str, Connection] = {}
    for name in (OURS, PACKED, UNPACKED):
        lines[name], theirs = spawn.Pipe()
        spawn.Process(target=contend, args=(contender, name, theirs), daemon=True).start()
        theirs.close()  # so that one that dies is noticed
    words = {name: line.recv() for name, line in lines.items()}
    rates: dict[str, list[float]] = {name: [] for name in lines}
    loss: dict[str, float] = {}
    for _ in range(rounds):
        for name, line in lines.items():
            line.send(True)
            seconds, loss[name] = line.recv()
            rates[name].append(words[name] / seconds)
    for line in lines.values():
        line.send(False)
    show(rates, loss, words[OURS])


def contend(contender: Callable[[str], Ready], name: str, line: Connection) -> None:
    """Get ready, say how many words an epoch has, and then train one whenever asked."""
    from deadheat.neural.devices import keep_freed_memory

    keep_freed_memory()
    words, epoch = contender(name)
    epoch()
    line.send(words)
    while line.recv():
        began = time.process_time()
        loss = epoch()
        line.send((time.process_time() - began, loss))


def ours(data: Path, sentences: int) -> Ready:
    """One of our taggers, not stacked."""
    from deadheat.neural.config import RATES, HyperParams, Shape, TrainSchedule
    from deadheat.neural.devices import configure_jax
    from deadheat.neural.programs import DeviceData
    from deadheat.neural.stack import Splits, Stack, StackJob

    configure_jax()
    encoding, lengths = text(data)
    shape, train = Shape(), np.arange(sentences)
    stack = Stack(DeviceData.of(shape, encoding, encoding.knowledge([train])), Splits([train], [None]), None, size=1)
    job = StackJob(HyperParams(RATES[shape.optimizer]), 0, 0, TrainSchedule(10**6, 10**6))
    return int(lengths[train].sum()), epochs_of(stack, job)


def epochs_of(stack: Stack, job: StackJob) -> Callable[[], float]:
    """What trains a stack of one by an epoch and gives its loss."""
    import jax

    stack._start_jobs([(0, job)])

    def epoch() -> float:
        stack._run_epoch()
        jax.block_until_ready(stack.weights)  # type: ignore[no-untyped-call]
        slot = stack.slots[0]
        assert slot is not None
        return slot.losses[-1]

    return epoch


def torchs(data: Path, sentences: int, *, packed: bool) -> Ready:
    """One of PyTorch's."""
    import torch

    from benchmarks.networks_torch import train_tagger
    from deadheat.neural import batches
    from deadheat.neural.config import Shape

    torch.set_num_threads(1)
    encoding, lengths = text(data)
    shape, train = Shape(), np.arange(sentences)
    training = train_tagger(encoding, shape, batches.group_by_length(lengths, train, shape.batch), packed=packed)
    return int(lengths[train].sum()), training.epoch


def text(data: Path) -> tuple[Encoding, NDArray[np.integer]]:
    """CoNLL-2000 encode_corpora, and the lengths of its sentences."""
    files = [data / "train.txt", data / "test.txt"]
    corpus = read(files, format="columns", columns=["form", "pos", "chunk"])
    labels = corpus.column("chunk")
    encoding = encode_corpora([corpus], labels.codes, labels.vocabulary.strings)
    return encoding, np.asarray(encoding.arrays["lengths"])


def show(rates: dict[str, list[float]], loss: dict[str, float], words: int) -> None:
    """A row for every contender; ratios against the quicker PyTorch, round by round."""
    base = max((PACKED, UNPACKED), key=lambda name: statistics.median(rates[name]))
    print(f"{words:,} words an epoch, {len(rates[OURS])} rounds in turn; ratio to {base}, of the same round")
    print(f"{'':26} {'words/CPU s':>11} {'least':>8} {'most':>8}   {'ratio':>5} {'least':>6} {'most':>6} {'loss':>7}")
    for name, own in rates.items():
        ratios = [one / other for one, other in zip(own, rates[base], strict=True)]
        print(
            f"{name:26} {statistics.median(own):11,.0f} {min(own):8,.0f} {max(own):8,.0f}   "
            f"{statistics.median(ratios):5.2f} {min(ratios):6.2f} {max(ratios):6.2f} {loss[name]:7.4f}"
        )


if __name__ == "__main__":
    main()
