"""The joint comparison on real predictions: six treebanks, three parsers, three runs each."""

from __future__ import annotations

import gzip
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import deadheat
from deadheat.metrics import METRICS
from deadheat.questions.compare import compare_counts
from deadheat.questions.counting import count_runs
from deadheat.questions.designs import Prediction
from deadheat.questions.joint import CountedDataset
from deadheat.results.compare import Comparison, PairwiseSettings

PARSERS, RUNS = ("biaffine", "bracketing", "pointer"), ("run1", "run2", "run3")
LENIENT = ("multiple-roots", "final-newline")
Values = NDArray[np.float64]


def columns(path: Path) -> list[list[tuple[str, str]]]:
    """Head and relation of every word of every sentence, read without Deadheat."""
    sentences: list[list[tuple[str, str]]] = [[]]
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        cells = line.split("\t")
        if len(cells) < 8:
            sentences += [[]] if sentences[-1] else []
        elif cells[0].isdigit():
            sentences[-1].append((cells[6], cells[7].split(":")[0]))
    return sentences if sentences[-1] else sentences[:-1]


def right_words(folder: Path, parser: str, run: str) -> tuple[Values, Values]:
    """Words with the right head and relation, and words, of every sentence."""
    gold, predicted = (columns(folder / f"{name}.conll.gz") for name in (f"gold.{parser}", f"{parser}.{run}"))
    pairs = list(zip(gold, predicted, strict=True))
    right = [sum(a == b for a, b in zip(*pair, strict=True)) for pair in pairs]
    return np.array(right, float), np.array([len(sentence) for sentence in gold], float)


def plain_estimate(right: dict[str, Values], words: Values, a: str, b: str) -> tuple[float, float, float]:
    """The difference, its variance, and its degrees of freedom, by leaving out one sentence at a time."""
    units, runs, scores, influence = len(words), {}, {}, {}
    for system in (a, b):
        rows = right[system]
        runs[system] = len(rows)
        scores[system] = rows.sum(axis=1) / words.sum()
        left_out = (rows.sum(axis=1)[:, None] - rows) / (words.sum() - words)
        influence[system] = (units - 1) * (left_out.mean(axis=1)[:, None] - left_out)
    difference = scores[a].mean() - scores[b].mean()
    mean_influence = influence[a].mean(axis=0) - influence[b].mean(axis=0)
    of_units = mean_influence.var(ddof=1) / units
    different = np.count_nonzero(right[a].mean(axis=0) != right[b].mean(axis=0))
    freedom = min(words.sum() ** 2 / (words**2).sum(), different) - 1
    of_runs, spread, shared = 0.0, of_units**2 / freedom, 0.0
    for system in (a, b):
        variance = scores[system].var(ddof=1) / runs[system]
        of_runs, spread = of_runs + variance, spread + variance**2 / (runs[system] - 1)
        rest = influence[system] - influence[system].mean(axis=0)
        rest = rest - rest.mean(axis=1)[:, None]
        shared += (rest**2).sum() / ((runs[system] - 1) * (units - 1) * runs[system] * units)
    variance = max(of_units, of_units + of_runs - shared)
    return difference, variance, min(variance**2 / spread, 11)  # three runs each: at most 11


@pytest.fixture(scope="module")
def predictions(shared_data: Path) -> Path:
    return shared_data / "predictions"


@pytest.fixture(scope="module")
def joint(predictions: Path) -> Comparison:
    folder = f"{predictions}/gold-pos"
    patterns = f"{folder}/{{dataset}}/gold.{{system}}.conll.gz", f"{folder}/{{dataset}}/{{system}}.{{run}}.conll.gz"
    return deadheat.compare(*patterns, align="position", lenient=LENIENT)


def test_one_call_says_which_parser_is_better_on_these_treebanks_and_on_others(joint: Comparison) -> None:
    assert [row.system for row in joint.ranked] == ["biaffine", "pointer", "bracketing"]
    assert (len(joint.datasets), joint.runs, len(joint.pairs)) == (6, 3, 3)
    assert all(claim.is_shown and len(claim.evidence) == 2 for claim in joint.verdict.claims)
    assert not any(pair.about_runs for pair in joint.pairs)
    headline = repr(joint)
    assert "biaffine has the best LAS on these 6 data sets and is shown to be better than both others" in headline
    assert "The same holds for data sets like these" in headline


def test_every_number_is_that_of_a_plain_computation(joint: Comparison, predictions: Path) -> None:
    datasets = sorted(path.name for path in (predictions / "gold-pos").iterdir())
    plain: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for dataset in datasets:
        right, words = {}, np.zeros(0)
        for parser in PARSERS:
            rows = [right_words(predictions / "gold-pos" / dataset, parser, run) for run in RUNS]
            right[parser], words = np.stack([row[0] for row in rows]), rows[0][1]
        for a, b in itertools.combinations(PARSERS, 2):
            plain.setdefault((a, b), []).append(plain_estimate(right, words, a, b))
        of_dataset = next(row for row in joint.datasets if row.dataset == dataset)
        for parser in PARSERS:
            scores = right[parser].sum(axis=1) / words.sum()
            assert of_dataset[parser].scores == pytest.approx(tuple(scores))
            assert of_dataset[parser].sd == pytest.approx(scores.std(ddof=1))
    raw = {}
    for pair in joint.pairs:
        values, variances, freedoms = map(np.array, zip(*plain[pair.a, pair.b], strict=True))
        assert [row.difference for row in pair.by_dataset] == pytest.approx(values)
        single = 2 * stats.t.sf(abs(values) / np.sqrt(variances), freedoms)
        assert [row.p for row in pair.by_dataset] == pytest.approx(single, rel=1e-6)
        total = variances.sum()
        error, freedom = math.sqrt(total) / 6, total**2 / (variances**2 / freedoms).sum()
        raw[pair.a, pair.b] = 2 * stats.t.sf(abs(values.mean()) / error, freedom)
        assert (pair.difference, pair.p) == pytest.approx((values.mean(), raw[pair.a, pair.b]), rel=1e-6)
        elsewhere = max(values.std(ddof=1) / math.sqrt(6), error)
        assert pair.elsewhere is not None
        assert pair.elsewhere.p == pytest.approx(2 * stats.t.sf(abs(values.mean()) / elsewhere, 5), rel=1e-6)
    order = sorted(raw.values())
    largest = next(pair for pair in joint.pairs if pair.p == pytest.approx(order[-1]))
    assert largest.p_corrected == pytest.approx(largest.p)  # the last of Holm's steps
    assert largest.interval.level == pytest.approx(0.95)


def same_parser_cases(root: Path) -> list[CountedDataset]:
    cases = []
    for folder in sorted(root.glob("*/*")):
        for parser in PARSERS:
            gold = str(folder / f"gold.{parser}.conll.gz")
            rows = [Prediction("", gold, run, "1", str(folder / f"{parser}.{run}.conll.gz")) for run in RUNS]
            counted = count_runs(rows, "las", align="position", reading={"lenient": LENIENT})
            cases.append(counted.dataset)
    return cases


def test_a_parser_does_not_win_against_itself(predictions: Path) -> None:
    """Two runs against the third: at most 5 of 100 are called better. One run each is a claim about runs alone."""
    metric, wins, cases = METRICS.make("las"), 0, 0
    for dataset in same_parser_cases(predictions):
        for run in RUNS:
            rest = np.concatenate([rows for name, rows in dataset.counts.items() if name != run])
            two = CountedDataset(dataset.name, dataset.unit, {"two": rest, "one": dataset.counts[run]})
            pair = compare_counts([two], metric, PairwiseSettings()).pairs[0]
            wins, cases = wins + bool(pair.winner(0.05)), cases + 1
            assert not pair.about_runs
        single = compare_counts([dataset], metric, PairwiseSettings())
        assert all(claim.about_runs for claim in single.verdict.claims)
        assert "his run of" in repr(single) or "f these runs" in repr(single) or "not told apart" in repr(single)
    assert cases == 108
    assert wins <= 0.05 * cases
