"""Train parsers on many treebanks, several seeds of each in one stack; keep what they predict.

    python -m studies.fragility.train FOLDER OUT --treebanks wo_wtb,ug_udt --parsers biaffine,pointer [--tags gold]

FOLDER is what `studies.fragility.tagged` wrote. Jobs (a parser on a treebank) run in several processes, so that one
compiles while another trains. OUT/predictions.zip has heads and relations of dev and test for every network, and
OUT/networks.jsonl a line for each; both grow while jobs run. `--variants` names a file of settings, one JSON object a
line, that are all tried; those that differ in numbers train in one stack.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from studies.archive import keep

PARTS = ("train", "dev", "test")
Settings = dict[str, Any]
Told = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Job:
    """A parser on a treebank: all its networks."""

    folder: Path
    out: Path
    treebank: str
    parser: str
    tags: tuple[str, ...]
    seeds: tuple[int, ...]
    variants: tuple[Settings, ...]
    until: float  # no epoch begins after that
    roomy: bool


def jobs_of(given: argparse.Namespace) -> list[Job]:
    """One for each parser on each treebank, in the order in which they are named."""
    variants: list[Settings] = [{}]
    if given.variants:
        variants = [json.loads(line) for line in given.variants.read_text().splitlines() if line.strip()]
    return [
        Job(given.folder, given.out, code, parser, tuple(given.tags.split(",")), seeds, tuple(variants),
            time.time() + given.seconds, given.roomy)
        for code in given.treebanks.split(",")
        for parser in given.parsers.split(",")
        for seeds in ([(seed,) for seed in range(given.seeds)] if given.alone else [tuple(range(given.seeds))])
    ]  # fmt: skip


def train(job: Job) -> str:
    """All networks of a job, in a process of its own; how it went."""
    began = time.time()
    if job.roomy:
        _make_room()
    said = [f"{job.treebank} {job.parser}"]
    try:
        for tags in job.tags:
            if time.time() < job.until:
                found = _train(job, tags)
                for number, variant in enumerate(job.variants):
                    scores = [f"{100 * told['dev']:.2f}" for told in found if told["number"] == number]
                    epochs = [f"{told['epoch']}/{told['epochs']}" for told in found if told["number"] == number]
                    said.append(f"  {tags} {variant or ''} dev {' '.join(scores)} in {' '.join(epochs)}")
    except Exception:
        said.append(traceback.format_exc())
    said[0] += f" ({time.time() - began:.0f} s)"
    return "\n".join(said)


def _train(job: Job, tags: str) -> list[Told]:
    from deadheat.corpus import read
    from deadheat.neural.config import TrainJob
    from deadheat.systems import SYSTEMS

    began, times = time.time(), _clocked(job.until)
    files = [job.folder / tags / job.treebank / f"{part}.conllu.xz" for part in PARTS]
    ends = np.cumsum([0, *(read(file).sentences for file in files)])
    own = {name: np.arange(ends[at], ends[at + 1]) for at, name in enumerate(PARTS)}
    corpus = read(files)
    parts = {"dev": own["dev"], "test": own["test"]}
    wanted = [(number, seed) for number in range(len(job.variants)) for seed in job.seeds]
    systems = [SYSTEMS.make(f"{job.parser}.v1", **variant) for variant in job.variants]
    orders = []
    for number, seed in wanted:
        batch_trainer = systems[number].batch_trainer
        assert batch_trainer is not None
        orders.append(TrainJob(batch_trainer.config, seed, own["train"], own["dev"], parts))
    assert systems[0].batch_trainer is not None
    found = []
    for at, done in systems[0].batch_trainer.train(corpus, orders):
        number, seed = wanted[at]
        told = {
            "treebank": job.treebank, "parser": job.parser, "tags": tags, "settings": job.variants[number],
            "number": number, "seed": seed, "dev": done.score, "epoch": done.epoch, "epochs": done.epochs,
            "curve": [round(each, 4) for each in done.curve], "failed": done.failed,
            "seconds": round(time.time() - began, 1), "times": [round(each, 1) for each in times],
            "file": f"{tags}.{job.treebank}.{job.parser}.{number}.{seed}.npz",
        }  # fmt: skip
        arrays: dict[str, np.ndarray] = {}
        for part, made in done.predictions.items():
            relations = made.column("deprel")
            arrays |= {
                f"{part}_heads": made.trees.astype(np.int16), f"{part}_relations": relations.codes.astype(np.int16),
                f"{part}_names": np.array(relations.vocabulary.strings),
            }  # fmt: skip
        keep(job.out / "networks.jsonl", job.out / "predictions.zip", told, arrays)
        found.append(told)
    return found


def _make_room() -> None:
    """Fill texts up as on an accelerator, so that treebanks share their programs."""
    from deadheat.neural import programs
    from deadheat.neural.text import ACCELERATOR_PADDING

    programs.padding_sizes = lambda: ACCELERATOR_PADDING


def _clocked(until: float) -> list[float]:
    """When each epoch ended, in seconds; after a time given, epochs that have begun are the last."""
    from deadheat.neural.config import TrainSchedule
    from deadheat.neural.stack import Stack

    began, times = time.time(), []

    def after(stack: Stack) -> None:
        times.append(time.time() - began)
        if time.time() > until:
            for slot in filter(None, stack.slots):
                slot.job = replace(slot.job, schedule=TrainSchedule(1, 1))

    Stack.after_epoch = after  # type: ignore[method-assign, assignment]
    return times


def main() -> None:
    """Run all jobs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--treebanks", required=True)
    parser.add_argument("--parsers", default="biaffine,pointer,bracketing")
    parser.add_argument("--tags", default="gold")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="each seed in a job of its own, as it pays on a CPU")
    parser.add_argument("--roomy", action="store_true", help="treebanks share programs, also on a CPU")
    parser.add_argument("--variants", type=Path)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="no epoch begins after so long")
    given = parser.parse_args()
    began = time.time()
    given.out.mkdir(parents=True, exist_ok=True)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(given.workers, mp_context=context) as processes:
        for future in as_completed([processes.submit(train, job) for job in jobs_of(given)]):
            print(f"{time.time() - began:5.0f} s {future.result()}", flush=True)


if __name__ == "__main__":
    main()
