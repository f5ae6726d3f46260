"""Studies for tests: a small corpus, study files, and systems that misbehave; worker processes import it by name."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import numpy as np
import pytest

from deadheat.corpus import Column, Corpus, Vocabulary
from deadheat.corpus.transforms import with_labels
from deadheat.study.engine.executor import ActiveTask, LocalExecutor
from deadheat.study.engine.running import CellRunner
from deadheat.study.engine.training import CellResult
from deadheat.study.engine.worker import TaskResult
from deadheat.study.plan.cells import DONE, FAILED, Cell
from deadheat.study.plan.plan import Plan
from deadheat.study.store.recording import predictions_folder
from deadheat.study.store.store import Store
from deadheat.systems import SYSTEMS, Model, System
from deadheat.tracebacks import describe_error

T = TypeVar("T")
R = TypeVar("R")
ROOT = Path(__file__).resolve().parents[2]
WORDS = [
    ("the", "DET", "DT"), ("a", "DET", "DT"), ("dog", "NOUN", "NN"), ("dogs", "NOUN", "NNS"), ("run", "VERB", "VB"),
    ("run", "NOUN", "NN"), ("runs", "VERB", "VBZ"), ("runs", "NOUN", "NNS"), ("big", "ADJ", "JJ"), (".", "PUNCT", "."),
]  # fmt: skip
# Labels every word as a noun. In a study: predict = "sh noun.sh".
NOUN = """sleep ${1:-0}; awk 'BEGIN { FS = OFS = "\\t" } NF == 10 { $4 = "NOUN" } { print }'\n"""


def corpus_text(sentences: int, seed: int = 0) -> str:
    """Sentences of three to seven words; some words have two tags, some words are rare."""
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(sentences):
        lines.append(f"# sent_id = s{number}")
        for place in range(1, int(rng.integers(4, 9))):
            form, upos, xpos = WORDS[rng.integers(len(WORDS))]
            form = f"{form}{rng.integers(40)}" if rng.random() < 0.1 else form
            head, relation = (0, "root") if place == 1 else (1, "dep")
            lines.append(f"{place}\t{form}\t{form}\t{upos}\t{xpos}\t_\t{head}\t{relation}\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"


def study_file(
    folder: Path, systems: str = "majority unigram", more: str = "", *, times: int = 3, sentences: int = 30
) -> Path:
    """A study of systems, given by their names, over random splits of a corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "small.conllu").write_text(corpus_text(sentences))
    (folder / "noun.sh").write_text(NOUN)
    entries = "".join(f"[[systems]]\nname = {name!r}\n" for name in systems.split())
    splits = f"[corpora.small]\nfiles = 'small.conllu'\n[splits]\nstrategy = 'random'\ntimes = {times}\n"
    path = folder / "study.toml"
    path.write_text(f"{more}\n{splits}{entries}[engine]\nworkers = 2\n")
    return path


class SerialExecutor(Generic[T, R]):
    """Runs one task after the other in this process; nothing is isolated or captured."""

    workers = 1

    def __init__(self, work: Callable[[T], R], *, prepare: Callable[[], None] | None = None) -> None:
        self._work = work
        self._queue: deque[tuple[str, T]] = deque()
        if prepare is not None:
            prepare()

    def submit(self, name: str, task: T) -> None:
        self._queue.append((name, task))

    def results(self, on_wait: Callable[[], None] | None = None) -> Iterator[TaskResult[R]]:
        del on_wait  # it never waits
        while self._queue:
            name, task = self._queue.popleft()
            started, clock = time.time(), time.perf_counter()
            value, status, problem, log = None, DONE, "", ""
            try:
                value = self._work(task)
            except Exception as error:
                status, problem, log = FAILED, describe_error(error), traceback.format_exc()
            yield TaskResult(name, status, value, problem, log, started, time.perf_counter() - clock)

    def active(self) -> list[ActiveTask]:
        return []

    def cancel(self) -> None:
        self._queue.clear()

    def close(self) -> None:
        self.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


def serial(plan: Plan, store: Store) -> SerialExecutor[Cell, CellResult]:
    """Cells one by one in this process."""
    return in_this_process(plan, store.path)


def in_this_process(plan: Plan, store: Path) -> SerialExecutor[Cell, CellResult]:
    """The same for the path of a store, as `run_plan` needs it."""
    runner = CellRunner(plan.path, plan.text, plan.overrides, predictions_folder(store))
    return SerialExecutor(runner.run, prepare=runner.prepare)


class OddRunner(CellRunner):
    """A runner that has the systems of this module."""

    def prepare(self) -> None:
        SYSTEMS.add("odd.v1")(odd)
        super().prepare()


def parallel(plan: Plan, store: Store, limit_s: float | None = None) -> LocalExecutor[Cell, CellResult]:
    """Cells in two worker processes."""
    runner = OddRunner(plan.path, plan.text, plan.overrides, predictions_folder(store.path))
    return LocalExecutor(runner.run, workers=2, limit_s=limit_s, prepare=runner.prepare)


def odd_systems(patch: pytest.MonkeyPatch) -> None:
    """Let a test, and no other, know the systems of this module."""
    patch.setitem(SYSTEMS._factories, "odd.v1", odd)
    patch.setitem(SYSTEMS._factories, "witness.v1", witness)


@dataclass(frozen=True)
class Constant:
    """A model that gives every word one label."""

    label: str = "NOUN"

    def predict(self, corpus: Corpus) -> Corpus:
        return with_labels(corpus, "upos", Column(np.zeros(corpus.words, np.int32), Vocabulary.of([self.label])))


def odd(*, does: str = "nothing", marker: str = "", column: str = "upos") -> System:
    """A system that does something odd in training, unless the file `marker` is there."""

    def train(train: Corpus, tune: Corpus | None, seed: int) -> Model:
        del train, tune, seed
        if not (marker and Path(marker).exists()):
            getattr(Odd, does)()
        return Constant()

    return System("odd.v1", train)


class Odd:
    """What can happen to a system."""

    @staticmethod
    def nothing() -> None: ...

    @staticmethod
    def raises() -> None:
        sys.stdout.write("on my way\n")
        raise ValueError("this cannot be learned")

    @staticmethod
    def exits() -> None:
        os._exit(3)

    @staticmethod
    def is_killed() -> None:
        sys.stdout.write("the end is near\n")
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)

    @staticmethod
    def hangs() -> None:
        time.sleep(60)


SEEN: list[dict[str, Any]] = []  # what the system below was given, in this process


def witness(*, column: str = "upos") -> System:
    """A system that writes down all that it is given."""

    def train(train: Corpus, tune: Corpus | None, seed: int) -> Model:
        SEEN.append({"train": sent_ids(train), "tune": sent_ids(tune) if tune is not None else None, "seed": seed})
        return Witness()

    return System("witness.v1", train)


class Witness(Constant):
    """The model of the system that writes down what it is given."""

    def predict(self, corpus: Corpus) -> Corpus:
        seen = SEEN[-1]
        seen.setdefault("predict", []).append(sent_ids(corpus))
        seen.setdefault("labels", set()).update(corpus.column("upos").strings())
        return super().predict(corpus)


def sent_ids(corpus: Corpus) -> frozenset[int]:
    """The numbers of sentences, as their ids tell."""
    blob, offsets = corpus.comments.blob.tobytes(), corpus.comments.offsets
    lines = (blob[a:b].decode() for a, b in pairwise(offsets))
    return frozenset(int(line.rpartition("s")[2]) for line in lines)
