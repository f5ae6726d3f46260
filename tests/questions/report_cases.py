"""A study that was run, small but with everything in it, and stores that are made up, for tests of reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from deadheat.questions.demo import Demo, demo
from deadheat.questions.run import StudyRun, run
from deadheat.questions.store_report import read_study
from deadheat.results.study import StudyResult
from deadheat.study.ledger.ledger import Ledger, LedgerEntry
from deadheat.study.plan.cells import DONE, Cell, Outcome, PartScores
from deadheat.study.store.store import Store
from tests.study.study_cases import corpus_text

CORPORA = ("zeta", "beta", "mid & <b>", "omega", "פרח")
LABEL = "<script>alert(1)</script>"
STUDY = """
name = "small study"
seeds = 3
metrics = ["accuracy", "sentence-accuracy"]
{corpora}
[[splits]]
strategy = "standard"
[[splits]]
strategy = "random"
times = 2
corpora = ["zeta"]
[[systems]]
name = "unigram"
[[systems]]
name = "hmm"
label = "{label}"
[[systems]]
name = "perceptron"
epochs = 2
label = "seeded"
[[systems]]
name = "perceptron"
epochs = 1
label = "short"
[[systems]]
name = "command"
label = "broken"
train = "true"
predict = "false"
[engine]
workers = 2
"""
PARTS = {"train": 40, "dev": 8, "test": 30}  # sentences


@dataclass(frozen=True, eq=False)
class FinishedStudy:
    """A study file, what running it gave, and the ledger of its evaluations."""

    path: Path
    run: StudyRun
    ledger: Ledger

    @property
    def store(self) -> Path:
        return self.run.store


def write_study(folder: Path, corpora: Sequence[str] = CORPORA, text: str = STUDY) -> Path:
    """A study file beside its corpora, each in a folder with its standard parts."""
    entries = []
    for at, name in enumerate(corpora):
        home = folder / f"corpus{at}"
        home.mkdir(parents=True)
        for number, (part, sentences) in enumerate(PARTS.items()):
            (home / f"x-ud-{part}.conllu").write_text(corpus_text(sentences, seed=10 * at + number))
        entries.append(f'[corpora."{name}"]\nfiles = "corpus{at}"')
    path = folder / "small.toml"
    path.write_text(text.format(corpora="\n".join(entries), label=LABEL))
    return path


_FINISHED: dict[str, FinishedStudy] = {}


@pytest.fixture(scope="session")
def finished_study(tmp_path_factory: pytest.TempPathFactory) -> FinishedStudy:
    """The study above, run once for all modules that ask for it; nobody may write to its store."""
    if "small" not in _FINISHED:
        folder = tmp_path_factory.mktemp("small-study")
        path, ledger = write_study(folder), Ledger.at(folder / "ledger.jsonl")
        _FINISHED["small"] = FinishedStudy(path, run(path, ledger_entry=LedgerEntry(ledger)), ledger)
    return _FINISHED["small"]


@dataclass(frozen=True)
class FakeCell:
    """A cell that is made up, and what it scored; a score that is None is not a number."""

    system: str
    corpus: str = "one"
    value: float | None = 0.9
    seed: int = 0
    number: int = 0
    split: str = "standard.v1"
    split_seed: int = 0
    part: str = "test"
    status: str = DONE
    metric: str = "accuracy.v1"
    words: int = 0  # that are counted, in sentences of ten

    def outcome(self) -> Outcome:
        """What a store would be given."""
        corpus = f"{sum(map(ord, self.corpus)):032x}"
        cell = Cell(self.corpus, corpus, self.split, self.split_seed, self.number, self.system, self.seed)
        if self.status != DONE:
            return Outcome(cell, self.status, error="it went wrong")
        value = float("nan") if self.value is None else self.value
        gold = np.full(self.words // 10, 10)
        counts = np.stack([gold - (np.arange(len(gold)) % 3 < self.seed + 1), gold, gold], axis=1)
        counted = {self.metric: counts} if self.words else {}
        scores = PartScores(self.part, 10, self.words or 100, {self.metric: value}, counted)
        return Outcome(cell, DONE, 1.8e9, 2.0, 1.5, 100.0, scores=(scores,), provenance={"host": "here"})


def fake_store(
    path: Path, cells: Sequence[FakeCell], result: StudyResult | None = None, *, finished: bool = True
) -> Path:
    """A store of cells that never ran; by default with a result that has their scores, and no tests."""
    with Store.open(path, create=True) as store:
        assert store.add_many([cell.outcome() for cell in cells]) == len(cells)
        if finished and result is None:
            result = replace(read_study(store).result, finished=True, runs=None, provenance=())
        if result is not None:
            store.set_result(result)
    return path


def grid(systems: int, corpora: int, seeds: int = 1) -> list[FakeCell]:
    """Every system on every corpus with every seed, the first systems better than the last, with some noise."""
    rng = np.random.default_rng(0)
    return [
        FakeCell(f"s{system:02}.v1", f"corpus {corpus:02}", round(0.9 - 0.01 * system + rng.normal(0, 0.01), 4), seed)
        for system in range(systems)
        for corpus in range(corpora)
        for seed in range(seeds)
    ]


_DEMO: dict[str, Demo] = {}


@pytest.fixture(scope="session")
def quick_demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """A quick demo, run once for all modules that ask for it; its folder has an awkward name."""
    if "quick" not in _DEMO:
        folder = tmp_path_factory.mktemp("demo") / "a demo's #1 <folder> %20?"
        _DEMO["quick"] = demo(folder, sentences=300, times=2, seeds=2)
    return _DEMO["quick"]
