"""Write the study files: random configurations as in section 4.2 of Reimers & Gurevych (2017), and seeds of one.

python -m studies.networks.draw                                              as they stand beside this file
python -m studies.networks.draw --shapes 200 --numbers 1 --seeds 100,100 --epochs 100 --batches 1,8,16,32,64 \
    --optimizers sgd,adagrad,adadelta,rmsprop,adam,nadam --runs 2,2 --tasks chunking,tagging,xpos --out FOLDER
                                                                             200 configurations of all there is

A shape is what a compiled program depends on (layers, characters, optimizer, ...), numbers are what it takes as
arguments (dropout rate, thresholds). Shape i of a task and the numbers j of it depend on the seed, i and j alone: more
of them keep those that there are.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from deadheat.neural.config import OPTIMIZERS
from deadheat.splits.drawing import below, generator

FOLDER = Path(__file__).parent
LAYERS = (1, 2, 3)
UNITS = (25, 50, 75, 100, 125)  # of a layer
CHARACTERS = ("none", "cnn", "lstm")
SCHEMES = ("bio", "iobes")
DROPOUTS = ("none", "naive", "variational")
PLACES = ("outputs", "recurrent", "both")  # of variational dropout; the naive is of outputs
DROPS = (0.05, 0.1, 0.25, 0.5)
THRESHOLDS = (0.0, 1.0, 3.0, 5.0, 10.0)  # of clipping and of the norm; 0 is none
BATCHES = (1, 8, 16, 32, 64)
CLASSIFIERS = ("softmax", "crf")
T = TypeVar("T")
Settings = dict[str, str | int | float]
ONE: Settings = {
    "units": "50,50", "characters": "cnn", "optimizer": "nadam", "dropout": "variational", "dropped": "both",
    "drop": 0.25, "batch": 8,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Task:
    """What is learned, from which corpus, and how it is scored."""

    name: str
    place: int  # among the tasks, for chance
    corpus: str
    column: str
    metric: str
    schemes: tuple[str, ...]  # none where labels are no chunks


TASKS = (
    Task("chunking", 0, "conll2000", "chunk", "chunks", SCHEMES),
    Task("tagging", 1, "en_ewt", "upos", "accuracy", ()),
    Task("xpos", 2, "en_ewt", "xpos", "accuracy", ()),
)


@dataclass(frozen=True, slots=True)
class Size:
    """How large the study is, and what of section 4.2 is drawn from."""

    shapes: int = 5
    numbers: int = 2  # of each shape
    runs: tuple[int, int] = (1, 2)  # of each configuration with a softmax, with a CRF
    seeds: tuple[int, int] = (10, 25)  # of the one configuration, likewise
    epochs: int = 15
    patience: int = 5
    batches: tuple[int, ...] = (8, 16, 32, 64)
    optimizers: tuple[str, ...] = ("rmsprop", "adam", "nadam")
    tasks: tuple[str, ...] = ("chunking", "tagging")


def drawn_shape(task: Task, number: int, size: Size, *, seed: int) -> Settings:
    """What of a configuration changes the program, the classifier aside.

    Examples
    --------
    >>> drawn_shape(TASKS[1], 0, Size(), seed=0)["units"] == drawn_shape(TASKS[1], 0, Size(shapes=9), seed=0)["units"]
    True
    """
    rng = _chance(task, number, 0, seed)
    layers = _one_of(LAYERS, rng)
    units = ",".join(str(_one_of(UNITS, rng)) for _ in range(layers))
    found: Settings = {"units": units, "characters": _one_of(CHARACTERS, rng)}
    found["optimizer"] = _one_of(size.optimizers, rng)
    found["dropout"] = _one_of(DROPOUTS, rng)
    place = _one_of(PLACES, rng)
    found["dropped"] = place if found["dropout"] == "variational" else "outputs"
    found["batch"] = _one_of(size.batches, rng)
    if task.schemes:
        found["scheme"] = _one_of(task.schemes, rng)
    return found


def drawn_numbers(task: Task, number: int, shape: Settings, size: Size, *, seed: int) -> list[Settings]:
    """Dropout rates and thresholds for a shape.

    Thresholds that gradients never reach make no difference, so that rates differ as long as there are others.
    """
    found: list[Settings] = []
    draw = 0
    while len(found) < size.numbers:
        draw += 1
        rng = _chance(task, number, draw, seed)
        drop = _one_of(DROPS, rng)
        numbers: Settings = {
            "drop": 0.0 if shape["dropout"] == "none" else drop,
            "clip": _one_of(THRESHOLDS, rng),
            "norm": _one_of(THRESHOLDS, rng),
        }
        rates = [each["drop"] for each in found]
        again = shape["dropout"] != "none" and len(found) < len(DROPS) and numbers["drop"] in rates
        if numbers not in found and not again:
            found.append(numbers)
    return found


def configurations(task: Task, size: Size, *, seed: int) -> list[list[Settings]]:
    """All that is drawn for a task: a list for each shape."""
    shapes = [drawn_shape(task, number, size, seed=seed) for number in range(size.shapes)]
    if size.numbers > len(THRESHOLDS) ** 2:
        raise ValueError(
            f"{size.numbers} numbers of a shape; there are {len(THRESHOLDS) ** 2} where nothing is dropped"
        )
    return [
        [shape | numbers for numbers in drawn_numbers(task, number, shape, size, seed=seed)]
        for number, shape in enumerate(shapes)
    ]


def files(size: Size, *, seed: int) -> dict[str, str]:
    """The study files by their names."""
    made = {}
    for task in (task for task in TASKS if task.name in size.tasks):
        drawn = configurations(task, size, seed=seed)
        listed = [
            (own | {"classifier": classifier}, runs, "")
            for shape in drawn
            for classifier, runs in zip(CLASSIFIERS, size.runs, strict=True)
            for own in shape
        ]
        told = f"{sum(map(len, drawn))} random configurations of {len(drawn)} shapes, seed {seed}"
        made[f"{task.name}_configurations.toml"] = _file(task, size, told, ["test"], listed)
        one = ONE | ({"scheme": "bio"} if task.schemes else {})
        both = [
            (one | {"classifier": classifier}, seeds, classifier)
            for classifier, seeds in zip(CLASSIFIERS, size.seeds, strict=True)
        ]
        made[f"{task.name}_seeds.toml"] = _file(task, size, "many seeds of one configuration", ["dev", "test"], both)
    return made


def _file(
    task: Task, size: Size, told: str, evaluate: Sequence[str], systems: Sequence[tuple[Settings, int, str]]
) -> str:
    lines = [
        f"# Reimers & Gurevych (2017), {task.name}: {told}. Written by draw.py, which says how.",
        "# Data: python -m studies.networks.cut writes them to where they are looked for, or",
        f"#   --set corpora.{task.corpus}.files=FOLDER (relative to this file, or absolute).",
        f'name = "networks, {task.name}"',
        f"evaluate = {_value(evaluate)}",
        'tune = "dev"          # picks the epoch, as in the paper',
        f'metrics = ["{task.metric}"]' if task.name != "xpos" else f"metrics = [\"{task.metric}(column='xpos')\"]",
        "",
        f"[corpora.{task.corpus}]",
        f'files = "../../.data/networks/{task.corpus}"',
    ]
    common = {"column": task.column, "size": "full", "epochs": size.epochs, "patience": size.patience}
    for settings, runs, label in systems:
        entry = {"name": "bilstm"} | ({"label": label} if label else {}) | {"seeds": runs} | settings | common
        lines += ["", "[[systems]]", *(f"{key} = {_value(value)}" for key, value in entry.items())]
    return "\n".join(lines) + "\n"


def _value(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return "[" + ", ".join(map(_value, value)) + "]" if isinstance(value, Sequence) else repr(value)


def _chance(task: Task, shape: int, draw: int, seed: int) -> np.random.Generator:
    return generator(seed, (task.place * 1_000_000 + shape) * 1_000 + draw)


def _one_of(options: Sequence[T], rng: np.random.Generator) -> T:
    return options[below(len(options), rng=rng)]


def main() -> None:
    """Write the files beside this one, or to another folder."""
    usual = Size()
    parser = argparse.ArgumentParser(description="Write the study files of studies/networks.")
    parser.add_argument("--seed", type=int, default=0)
    for name in ("shapes", "numbers", "epochs", "patience"):
        parser.add_argument(f"--{name}", type=int, default=getattr(usual, name))
    for name in ("runs", "seeds"):
        told = "with a softmax, with a CRF"
        parser.add_argument(f"--{name}", type=_two, default=getattr(usual, name), metavar="A,B", help=told)
    parser.add_argument("--batches", type=_integers, default=usual.batches, metavar="A,B")
    parser.add_argument("--optimizers", type=_known(OPTIMIZERS), default=usual.optimizers, metavar="A,B")
    parser.add_argument("--tasks", type=_known(tuple(task.name for task in TASKS)), default=usual.tasks, metavar="A,B")
    parser.add_argument("--out", type=Path, default=FOLDER)
    given = vars(parser.parse_args())
    seed, out = given.pop("seed"), given.pop("out")
    for name, text in files(Size(**given), seed=seed).items():
        (out / name).write_text(text, "utf-8")


def _integers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(","))


def _two(text: str) -> tuple[int, ...]:
    found = _integers(text)
    if len(found) != 2:
        raise argparse.ArgumentTypeError(f"{text!r}; expected two numbers, of softmax and of CRF, such as 10,25")
    return found


def _known(names: tuple[str, ...]) -> Callable[[str], tuple[str, ...]]:
    """What reads some of these names from the command line."""

    def read(text: str) -> tuple[str, ...]:
        given = tuple(text.split(","))
        unknown = [each for each in given if each not in names]
        if unknown:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is unknown; expected some of {', '.join(names)}")
        return given

    return read


if __name__ == "__main__":
    main()
