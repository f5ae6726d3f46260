"""Parsers per hour: stacks of the biaffine parser against the same parser in PyTorch, one after the other.

    python -m benchmarks.parsers --data FOLDER [--size small] [--sizes 1,64] [--epochs 2] [--torch-epochs 1]

FOLDER holds the train and dev part of a treebank in CoNLL-U. Both train on the same batches, of the same lengths.
Loading and compiling are not counted, nor is the look at dev, which is told apart. For CPUs there is parsers_cpu.py.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.networks import layers_operations, table, timed, torchs
from deadheat.corpus import Corpus, read
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError
from deadheat.neural import batches, tasks
from deadheat.neural.config import AttentionShape, ParserConfig
from deadheat.neural.devices import configure_jax, on_accelerator
from deadheat.neural.lstm import DIRECTIONS
from deadheat.neural.programs import DeviceData
from deadheat.neural.stack import Splits, Stack
from deadheat.neural.tasks import make_task
from deadheat.neural.text import Lexicon, distinct_forms
from deadheat.neural.training import with_words
from deadheat.systems import SYSTEMS


def main() -> None:
    parser = arguments()
    parser.add_argument("--sizes", default="1,64", help="of stacks")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--torch-epochs", type=int, default=1)
    parser.add_argument("--limit", type=int, default=10**9, help="sentences of train")
    parser.add_argument("--no-look", action="store_true", help="leave out the look at dev")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    task = Task.of(recipe_of(given), given.data, given.limit, look=not given.no_look)
    print(task, flush=True)
    rows: list[dict[str, Any]] = []
    for size in map(int, filter(None, given.sizes.split(","))):
        rows.append(ours(task, size, given.epochs))
        print(rows[-1], flush=True)
    if given.torch_epochs:
        from benchmarks.parsers_torch import train_parser

        rows += torchs(partial(train_parser, task.config, task.learning.encoding, task.train), given.torch_epochs)
    table(rows, task.words, task.steps, task.operations)
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1))


def arguments() -> argparse.ArgumentParser:
    """What is asked for on every machine: the text, and the parser's settings."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--size", default="small", help="small or full: the settings that are not given")
    parser.add_argument("--units", default="")
    parser.add_argument("--arc-size", type=int, default=0)
    parser.add_argument("--relation-size", type=int, default=0)
    parser.add_argument("--batch", type=int, default=0)
    return parser


def recipe_of(given: argparse.Namespace) -> ParserConfig:
    """The parser that the arguments ask for."""
    names = ("size", "units", "arc_size", "relation_size", "batch")
    batch_trainer = SYSTEMS.make("biaffine.v1", **{name: getattr(given, name) for name in names}).batch_trainer
    assert batch_trainer is not None
    assert isinstance(batch_trainer.config, ParserConfig)
    return batch_trainer.config


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What is trained: a parser, a text, the sentences to learn from, and those to look at."""

    config: ParserConfig
    learning: tasks.Task
    train: Indices
    dev: Indices | None

    @classmethod
    def of(cls, config: ParserConfig, data: Path, limit: int, *, look: bool) -> Task:
        """Read the files of a folder; all of train makes the vocabulary, and some sentences are learned from."""
        corpora = [part(data, "train"), *([part(data, "dev")] if look else [])]
        train = with_words(corpora[0], np.arange(min(limit, corpora[0].sentences)))
        dev = corpora[0].sentences + with_words(corpora[1], np.arange(corpora[1].sentences)) if look else None
        lexicon = Lexicon.of(distinct_forms(corpora))
        return cls(config, make_task(config, corpora, Splits([train], [dev]), lexicon), train, dev)

    def stack(self, size: int) -> Stack:
        """Room for so many networks, which look at nothing after an epoch."""
        configure_jax()
        encoding = self.learning.encoding
        data = DeviceData.of(self.learning.shape, encoding, encoding.knowledge([self.train]))
        return Stack(data, Splits([self.train], [None], {"dev": [self.dev]}), None, size=size)

    @property
    def lengths(self) -> Indices:
        return np.asarray(self.learning.encoding.arrays["lengths"])

    @property
    def words(self) -> int:
        """Of an epoch."""
        return int(self.lengths[self.train].sum())

    @property
    def groups(self) -> dict[int, Indices]:
        return batches.group_by_length(self.lengths, self.train, self.config.shape.batch)

    @property
    def steps(self) -> int:
        """Of an epoch."""
        return sum(batches.batch_counts(self.groups, self.config.shape.batch).values())

    @property
    def operations(self) -> float:
        """Multiplications and additions of an epoch: forward, and twice as many backward."""
        shape = self.config.shape
        assert isinstance(shape, AttentionShape)
        arc, relation, states = shape.arc_size, shape.relation_size + 1, DIRECTIONS * shape.units[-1]
        everywhere = layers_operations(shape) + 2 * states * 2 * (arc + shape.relation_size)
        everywhere += 2 * arc * arc + 2 * relation * (relation + 1) * len(self.learning.encoding.labels)
        own = self.lengths[self.train].astype(float)
        return 3.0 * float((everywhere * own + 2 * arc * own * own).sum())

    def __str__(self) -> str:
        empty = batches.padding(self.groups, self.lengths, self.config.shape.batch)
        return (
            f"{len(self.train):,} sentences, {self.words:,} words, {self.steps} steps an epoch, padding "
            f"{100 * empty:.1f} %, {len(self.learning.encoding.labels)} relations; {self.config.shape}"
        )


def part(data: Path, name: str) -> Corpus:
    """A part of a treebank, by the end of its file's name."""
    found = sorted(data.glob(f"*{name}.conllu*"))
    if len(found) != 1:
        raise InputError(f"{data}: {len(found)} files *{name}.conllu*; expected one")
    return read(found[0])


def ours(task: Task, size: int, epochs: int) -> dict[str, Any]:
    """Train a stack, and time its epochs once everything is compiled; then what one look at dev takes."""
    stack = task.stack(size)
    found = timed(stack, [(task.config.hyper, None)] * size, epochs)
    slots = [slot for slot in stack.slots if slot is not None]
    found["loss"] = float(np.mean([slot.losses[-1] for slot in slots]))
    if task.dev is None:
        return found
    if not on_accelerator():  # there programs are made when they are first used
        stack.predict(stack.weights, [task.dev])
    began = time.perf_counter()
    labels = stack.predict(stack.weights, [task.dev])
    las = [task.learning.score(own, task.dev) for own in labels.values()]
    found |= {"look": time.perf_counter() - began, "las": float(np.mean(las)), "las_sd": float(np.std(las))}
    return found


if __name__ == "__main__":
    main()
