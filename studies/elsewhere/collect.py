"""A study whose networks were trained elsewhere: what they said is scored here, and stored as that of any study.

    python -m studies.elsewhere.collect STUDY.toml [STUDY.toml ...] --trained OUT [OUT ...] [--stores FOLDER]

OUT are folders that `studies.elsewhere.train` wrote. Results of searches are printed, and kept as STUDY.json beside the
study files.
"""

from __future__ import annotations

import argparse
import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from deadheat.corpus import Column, Corpus, Vocabulary, take
from deadheat.corpus.transforms import with_labels, with_trees
from deadheat.questions.run import run_plan
from deadheat.study.engine.executor import ActiveTask
from deadheat.study.engine.training import CellResult, score_predictions
from deadheat.study.engine.worker import TaskResult
from deadheat.study.ledger.ledger import Ledger, LedgerEntry
from deadheat.study.plan.cells import DONE, FAILED, Cell
from deadheat.study.plan.plan import Plan
from deadheat.study.store.recording import predictions_folder, write_prediction
from deadheat.systems import SYSTEMS
from studies.elsewhere.orders import key_of, phase_of
from studies.elsewhere.train import LINES


class TrainedElsewhere:
    """Gives every cell what its network said, if it was trained."""

    workers = 1

    def __init__(self, plan: Plan, store: Path, outs: Sequence[Path]) -> None:
        self._plan, self._folder = plan, predictions_folder(store).absolute()
        archives = [zipfile.ZipFile(out / "trained.zip") for out in outs]
        self._kept = {name: archive for archive in archives for name in archive.namelist()}
        self._waiting: list[tuple[str, Cell]] = []

    def submit(self, name: str, task: Cell) -> None:
        self._waiting.append((name, task))

    def results(self, on_wait: Callable[[], None] | None = None) -> Iterator[TaskResult[CellResult]]:
        del on_wait  # nothing is waited for
        while self._waiting:
            name, cell = self._waiting.pop(0)
            file = f"{key_of(cell)}.{phase_of(cell)}.npz"
            if file not in self._kept:
                yield TaskResult(name, FAILED, error="it was not trained")
                continue
            packed = np.load(io.BytesIO(self._kept[file].read(file)))
            parts = {part: self._said(cell, part, packed) for part in self._plan.scored_parts(cell)}
            keep = lambda part, data, key=cell.key: write_prediction(self._folder, key, part, data)  # noqa: E731
            yield TaskResult(name, DONE, score_predictions(self._plan, cell, parts, keep), started=time.time())

    def _said(self, cell: Cell, part: str, packed: np.lib.npyio.NpzFile) -> Corpus:
        corpus = self._plan.materials[cell.corpus].corpus
        gold = take(corpus, np.sort(self._plan.partition(cell).parts[part]))
        labels = Column(packed[f"{part}_codes"].astype(np.int32), Vocabulary.of(packed[f"{part}_names"].tolist()))
        system = SYSTEMS.make(cell.system)
        if not system.trees:
            return with_labels(gold, str(system.settings["column"]), labels)
        return with_trees(gold, packed[f"{part}_heads"].astype(np.int32), labels)

    def active(self) -> list[ActiveTask]:
        return []

    def cancel(self) -> None:
        self._waiting.clear()

    close = cancel

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()


def main() -> None:
    """Score, pick and compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("studies", nargs="+", type=Path)
    parser.add_argument("--trained", nargs="+", type=Path, required=True)
    parser.add_argument("--stores", type=Path, default=Path("out/elsewhere"))
    given = parser.parse_args()
    given.stores.mkdir(parents=True, exist_ok=True)
    for path in given.studies:
        told = [json.loads(line) for out in given.trained for line in (out / LINES).read_text().splitlines()]
        plan = Plan.of(path)
        lacking = sorted(set(plan.materials) - {each["corpus"] for each in told if each["study"] == path.stem})
        store, ledger_entry = given.stores / f"{path.stem}.sqlite", LedgerEntry(Ledger(given.stores / "ledger.jsonl"))
        elsewhere = partial(TrainedElsewhere, outs=given.trained)
        done = run_plan(plan, store, retry_failed=True, ledger_entry=ledger_entry, executor=elsewhere)
        for search in done.result.searches:
            print(search)
            path.with_suffix(".json").write_text(search.to_json() + "\n")
        print(f"{done.summary}" + (f"; not trained: {', '.join(lacking)}" if lacking else ""))


if __name__ == "__main__":
    main()
