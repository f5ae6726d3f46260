"""All corpora of a study together: systems that lack a corpus, one seed, and which evidence gives the direction."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from deadheat.questions.study import study_verdict
from deadheat.questions.study_corpora import PairSummary, over_corpora
from deadheat.questions.study_pairs import SplitTest
from deadheat.results.compare import Comparison, PairwiseSettings
from deadheat.results.format import PERCENT
from deadheat.results.study import OverallTest, PairOverSplits, StudyBlock, SystemScores
from deadheat.results.verdict import State
from deadheat.stats.estimates import Estimate

METRIC = "accuracy.v1(column='upos')"
SETTINGS = PairwiseSettings("clustered-t")


def scores(system: str, mean: float) -> SystemScores:
    return SystemScores(system, METRIC, 1, mean, math.nan, mean, mean, None, (mean,))


def block(corpus: str, **means: float) -> StudyBlock:
    rows = tuple(scores(system, mean) for system, mean in sorted(means.items(), key=lambda item: -item[1]))
    return StudyBlock(corpus, "standard.v1", 0, "test", (0,), (METRIC,), rows)


def summary(difference: float, *, about_runs: bool = False) -> PairSummary:
    estimate = Estimate(difference, 0.002, 50)
    test = SplitTest("clustered-t", "sentence", estimate.p, difference, difference)
    return PairSummary(estimate, (test,), 1, int(difference > 0), about_runs)


def together(blocks: list[StudyBlock], estimates: dict[tuple[int, str, str], PairSummary]) -> Comparison:
    (result,) = over_corpora(blocks, estimates, SETTINGS, {METRIC: "UPOS"}, PERCENT)
    return result


def test_a_system_that_lacks_the_hard_corpus_is_not_the_best_for_that() -> None:
    blocks = [block("easy", A=0.95, B=0.94, X=0.90), block("hard", A=0.70, B=0.69)]
    pairs = {(0, "A", "B"): summary(0.01), (0, "A", "X"): summary(0.05), (0, "B", "X"): summary(0.04)}
    result = together(blocks, pairs | {(1, "A", "B"): summary(0.01)})
    assert {row.system: row.value for row in result.systems} == pytest.approx({"A": 0.95, "B": 0.94, "X": 0.90})
    assert result.ranked[0].system == "A"


def test_a_system_without_a_score_on_one_corpus_is_left_out_there() -> None:
    blocks = [block("s", A=0.8, B=math.nan), block("t", A=0.9, B=0.85), block("u", A=0.7, B=0.6)]
    result = together(blocks, {(1, "A", "B"): summary(0.05), (2, "A", "B"): summary(0.1)})
    assert [[row.system for row in dataset.systems] for dataset in result.datasets] == [["A"], ["A", "B"], ["A", "B"]]
    assert result.pairs[0].difference == pytest.approx(0.075)
    assert [row.dataset for row in result.pairs[0].by_dataset] == ["t", "u"]


@pytest.mark.parametrize("about_runs", [False, True])
def test_one_seed_each_is_known_over_corpora(about_runs: bool) -> None:  # noqa: FBT001
    blocks = [block("s", A=0.8, B=0.7), block("t", A=0.9, B=0.85)]
    single = summary(0.05, about_runs=about_runs)
    result = together(blocks, {(0, "A", "B"): summary(0.1), (1, "A", "B"): single})
    assert result.pairs[0].about_runs is about_runs


def test_the_evidence_that_decides_gives_the_direction() -> None:
    """The mean of both strategies favours A, and the random splits, which decide, B."""

    def with_pair(of: StudyBlock, difference: float, splits: int) -> StudyBlock:
        bounds = (difference - 0.005, difference + 0.005)
        overall = OverallTest(difference, *bounds, 0.001, 0.001, splits, 0 if difference < 0 else splits)
        p = (0.001,) * splits
        counts = (splits, overall.ahead, 0, 0)
        pair = PairOverSplits("A", "B", "clustered-t", "sentence", difference, *counts, p, p, overall)
        return replace(of, pairs=(pair,), numbers=tuple(range(splits)))

    standard = with_pair(block("en", A=0.90, B=0.85), 0.05, 1)
    random = with_pair(replace(block("en", A=0.86, B=0.87), split="random.v1"), -0.01, 5)
    verdict, _ = study_verdict([standard, random], [], {METRIC: "UPOS"}, PERCENT, SETTINGS)
    (claim,) = verdict.claims
    assert (claim.better, claim.worse) == ("B", "A")
    assert [item.state for item in claim.evidence] == [State.SHOWN, State.OPPOSITE]
    assert [item.source for item in claim.evidence] == ["splits", "sentences"]
    assert claim.evidence[0].difference == pytest.approx(0.01)
