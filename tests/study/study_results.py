"""Studies that were run, and their numbers read again from predictions, word by word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deadheat import systems
from deadheat.metrics.metric import Counts, accuracy
from deadheat.questions.study import study_result
from deadheat.results.study import StudyBlock, StudyResult, SystemScores
from deadheat.stats.estimates import RunScores
from deadheat.study.engine.running import run_study
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from tests.study.study_cases import serial

SYSTEMS = "majority unigram hmm"


def run_result(path: Path, *overrides: str) -> StudyResult:
    """Run a study in this process and read what it found."""
    plan = Plan.of(path, overrides)
    with Store.open(plan.store_path, create=True) as store:
        with serial(plan, store) as executor:
            run_study(plan, store, executor=executor)
        return study_result(plan, store)


def right_words(path: Path, part: str, column: str = "upos", **wanted: Any) -> dict[tuple[str, int, int], list[bool]]:
    """Of every run the words that are right, read from its prediction and the corpus word by word."""
    plan = Plan.of(path)
    gold = gold_of(path, column)
    right: dict[tuple[str, int, int], list[bool]] = {}
    with Store.read(plan.store_path) as store:
        runs = store.runs()
        for key, system, number, seed, corpus in runs.select("key", "system", "number", "seed", "corpus").iter_rows():
            if corpus != wanted.get("corpus", "small"):
                continue
            text = store.prediction(key, part).decode()
            right[system, number, seed] = [
                label == gold[sentence][place] for sentence, labels in words_of(text, column) for place, label in labels
            ]
    return right


def right_counts(path: Path, part: str) -> dict[tuple[str, int, int], Counts]:
    """Of every run the counts of every sentence: right words, words of gold, words of the prediction."""
    lengths: dict[tuple[str, int, int], list[int]] = {}
    plan = Plan.of(path)
    with Store.read(plan.store_path) as store:
        runs = store.runs().select("key", "system", "number", "seed")
        for key, system, number, seed in runs.iter_rows():
            text = store.prediction(key, part).decode()
            lengths[system, number, seed] = [len(labels) for _, labels in words_of(text, "upos")]
    counts = {}
    for run, right in right_words(path, part).items():
        ends = np.cumsum(lengths[run])
        correct = [int(sum(right[end - size : end])) for end, size in zip(ends, lengths[run], strict=True)]
        counts[run] = np.stack([correct, lengths[run], lengths[run]], axis=1).astype(np.int64)
    return counts


def runs_of(counts: dict[tuple[str, int, int], Counts], name: str, number: int, seeds: int) -> RunScores:
    """All seeds of a system on one split; those that use no seed have no other run."""
    rows = [counts[versioned(name), number, seed] for seed in range(seeds)]
    return RunScores.of(np.stack(rows), accuracy, is_fixed=name != "perceptron")


def versioned(system: str) -> str:
    """The name of a system with its newest version."""
    return systems.SYSTEMS.make(system).name


def words_of(text: str, column: str) -> list[tuple[str, list[tuple[int, str]]]]:
    place = {"upos": 3, "xpos": 4}[column]
    sentences = []
    for block in text.strip().split("\n\n"):
        first, *lines = block.split("\n")
        sentences.append((first, [(i, line.split("\t")[place]) for i, line in enumerate(lines)]))
    return sentences


def gold_of(path: Path, column: str) -> dict[str, dict[int, str]]:
    text = (path.parent / "small.conllu").read_text()
    return {sentence: dict(labels) for sentence, labels in words_of(text, column)}


def block_of(result: StudyResult, part: str) -> StudyBlock:
    [block] = [block for block in result.blocks if block.part == part]
    return block


def standing(block: StudyBlock, system: str, metric: str) -> SystemScores:
    [match] = [row for row in block.systems if (row.system, row.metric) == (system, metric)]
    return match


def words_of_splits(path: Path, part: str, splits: int) -> list[int]:
    plan = Plan.of(path)
    lengths = np.diff(plan.materials["small"].corpus.offsets)
    return [int(lengths[plan.partition(split).parts[part]].sum()) for split in plan.corpus_splits[:splits]]
