"""Statements about studies of several corpora and about planned pairs, each worked out from the result beside it."""

from dataclasses import replace

import numpy as np
from scipy.stats import t

from deadheat.questions.joint import corrected_pairs, joint_verdict, over_datasets
from deadheat.reporting.model import p_value
from deadheat.results.compare import Comparison, DatasetScores, PairwiseSettings
from deadheat.results.format import PERCENT
from deadheat.results.score import Score
from deadheat.results.study import StudyResult
from deadheat.results.verdict import Claim, Evidence, State, Verdict
from deadheat.stats.estimates import Estimate
from deadheat.stats.intervals import Interval
from tests.paper.cases import NAN, block, pair, scores, sentences, study
from tests.paper.test_study_paragraph import SINGLE, three
from tests.results.samples import study_of_corpora


def several_corpora(number: int) -> StudyResult:
    """B is significantly worse on every second corpus."""
    rows = [scores("A", 0.9, 1), scores("B", 0.88, 1)]
    blocks = [
        block(rows, [pair("A", "B", 0.02, splits=1, p=0.01 if i % 2 else 0.4)], corpus=f"bank{i}", **SINGLE)
        for i in range(number)
    ]
    return study(*blocks)


def test_two_corpora_are_described_one_by_one() -> None:
    lines = sentences(several_corpora(2))
    assert lines[0] == "We trained 2 systems (A and B) on the standard split of each of bank0 and bank1."
    assert "On bank0, A was not told apart from B (+2.00 points, 95% CI [-1.00, +5.00], p = 0.4000)." in lines
    assert "On bank1, A was significantly better than B (+2.00 points, 95% CI [+1.50, +2.50], p = 0.0100)." in lines
    assert any(line.endswith("for 2 pairs (Holm, 1979), and intervals widened likewise.") for line in lines)


def test_many_corpora_are_described_together() -> None:
    result = several_corpora(6)
    lines = sentences(result)
    assert lines[0].endswith("of each of 6 corpora (bank0, bank1, bank2, bank3, bank4 and bank5).")
    assert lines[-2:] == [
        "By mean Accuracy (upos) over 6 data sets, the order is A (90.00) and B (88.00).",
        "Of 6 data sets, A was compared with B (+2.00 points on average): significantly better on 3.",
    ]
    # On the last corpus B is ahead by 3 points: (5 * 2 - 3) / 6 = 1.17 points, and A is better on bank1 and bank3.
    rows, test = (scores("B", 0.93, 1), scores("A", 0.9, 1)), pair("B", "A", 0.03, splits=1, p=0.01)
    turned = replace(result.blocks[5], systems=rows, pairs=(test,))
    assert sentences(replace(result, blocks=(*result.blocks[:5], turned)))[-1] == (
        "Of 6 data sets, A was compared with B (+1.17 points on average): significantly better on 2, significantly "
        "worse on 1."
    )


def joint(*gaps: float, planned: tuple[str, str] | None = None) -> Comparison:
    """A and B over corpora with these differences in points; each has a standard error of one point on 30 degrees."""
    estimates = {f"bank{i}": Estimate(gap / 100, 0.01, 30) for i, gap in enumerate(gaps)}
    means = (0.9, 0.9 - float(np.mean(gaps)) / 100)
    settings = PairwiseSettings("clustered-t", planned=planned)
    tests = corrected_pairs([over_datasets("A", "B", means, estimates)], settings)
    nothing = Interval(NAN, NAN, 0.95, "none")
    systems_ = tuple(
        Score(name, "Accuracy (upos)", "accuracy.v1", mean, nothing, 0, 0, 0, NAN, NAN)
        for name, mean in zip("AB", means, strict=True)
    )
    verdict = joint_verdict(
        tests, dict(zip("AB", means, strict=True)), settings, metric="Accuracy (upos)", source="units", units=0,
        scale=PERCENT,
    )  # fmt: skip
    datasets = tuple(DatasetScores(name, "sentence", 0, ()) for name in estimates)
    outcome = (settings, "", systems_, tests, ("A",), verdict)
    return Comparison("Accuracy (upos)", "accuracy.v1", "unit", 0, *outcome, dataset="test", datasets=datasets)


def test_all_corpora_together_and_others_like_them() -> None:
    """Of four differences 1, 2, 3 and 2, the mean is 2; its error here is 1/2, and elsewhere that or their spread.

    The spread of the four is sd sqrt(2/3) over sqrt(4), 0.41, which is less than 0.5: so 0.5 on 3 degrees of freedom.
    """
    result = replace(several_corpora(4), comparisons=(joint(1, 2, 3, 2),))
    lines = sentences(result)
    at = lines.index(
        "Differences were averaged over corpora, each with the same weight. For corpora like these, the standard error "
        "is that of the mean of the differences if it is greater, on as many degrees of freedom as corpora minus 1."
    )
    assert "partial conjunctions (Benjamini and Heller, 2008; Dror et al., 2017)" in lines[at + 1]
    assert lines[at + 2] == "Over all corpora, on single splits, p-values are of a single test."
    assert lines[at + 3] == "On these 4 corpora, A had the highest mean Accuracy (upos) (90.00)."

    def numbers(freedom: float) -> str:
        reach, p = 0.5 * t.ppf(0.975, freedom), 2 * t.sf(2 / 0.5, freedom)
        return f"+2.00 points, 95% CI [{2 - reach:+.2f}, {2 + reach:+.2f}], {p_value(p)}"

    # By Bonferroni, at least one of four: the smallest p is that of 3 points; at least two: 3 times the next.
    p_single = sorted(2 * t.sf([1, 2, 3, 2], 30))
    least = int(np.sum(np.maximum.accumulate(p_single * np.array([4, 3, 2, 1])) <= 0.05))
    assert lines[at + 4] == (
        f"On these corpora, A was significantly better than B ({numbers(120)}; higher on 4 of 4 corpora, better on "
        f"at least {least})."
    )
    assert lines[at + 5] == f"For corpora like these, A was significantly better than B ({numbers(3)})."
    assert lines[-1].startswith("Of 4 data sets, A was compared with B (+2.00 points on average): ")


def test_a_planned_pair_was_tested_alone() -> None:
    planned = joint(1, 2, 3, 2, planned=("A", "B"))
    result = replace(several_corpora(4), comparisons=(planned,), verdict=planned.verdict, hypothesis="A > B")
    assert "A > B was planned before the study ran, and was tested alone over all corpora." in sentences(result)
    single = three(0.01)
    evidence = Evidence("splits", State.SHOWN, 0.01)
    claims = tuple(Claim(a, b, "Accuracy (upos)", (evidence,), is_planned=a + b == "AB") for a, b in ("AB", "AC"))
    lines = sentences(replace(single, verdict=Verdict(claims), hypothesis="A > B"))
    assert "A > B was planned before the study ran, and was tested alone." in lines
    assert any("Holm's method for 2 pairs" in line for line in lines)
    assert not any("planned" in line for line in sentences(replace(single, hypothesis="A > B")))


def test_a_planned_pair_is_reported_although_another_system_is_the_best() -> None:
    result = study_of_corpora()
    assert result.hypothesis == "unigram > majority"
    joint_ = next(item for item in result.comparisons if item.dataset == "test")
    assert joint_.ranked[0].system == "perceptron"
    lines = sentences(result)
    at = next(at for at, line in enumerate(lines) if "perceptron had the highest mean" in line)
    (pair,) = [pair for pair in joint_.pairs if {pair.a, pair.b} == {"unigram", "majority"}]
    forward = pair if pair.a == "unigram" else pair.turned()
    assert forward.elsewhere is not None
    for line, where, bounds, p in (
        (lines[at + 1], "On these", forward.interval, forward.p),
        (lines[at + 2], "For corpora like these, unigram was", forward.elsewhere.interval, forward.elsewhere.p),
    ):
        assert line.startswith(where)
        low, high = (f"{100 * end:+.2f}" for end in bounds.bounds)
        numbers = f"majority ({100 * forward.difference:+.2f} points, 95% CI [{low}, {high}], {p_value(p)}"
        assert numbers in line  # p is not corrected: the pair is tested alone


def test_a_planned_pair_on_one_corpus_is_reported_before_the_best() -> None:
    evidence = Evidence("splits", State.SHOWN, 0.01)
    claims = (Claim("B", "C", "Accuracy (upos)", (evidence,), is_planned=True),)
    lines = sentences(replace(three(0.01), verdict=Verdict(claims), hypothesis="B > C"))
    planned, best = lines[-3:-1]
    assert planned.startswith("B was significantly better than C (+1.00 points, 95% CI [+0.50, +1.50], p = 0.0100; ")
    assert best.startswith("A was significantly better than B (")
