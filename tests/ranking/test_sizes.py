"""Samples of test sets: by hand, against loops and scipy, against theory, and by simulation."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deadheat.metrics import METRICS
from deadheat.ranking import size_samples
from deadheat.ranking.size_samples import (
    CountedSet,
    SizeSettings,
    mean_scores,
    ranked_scores,
    sample_weights,
    sampled_scores,
)
from deadheat.ranking.sizes import (
    ASO_RESAMPLES,
    SizePoint,
    aso_bounds,
    aso_differences,
    runs_of_systems,
    sample_taus,
    size_curves,
    size_point,
    sufficient_size,
)
from deadheat.splits.drawing import generator, sampling_order, sentences_reaching
from deadheat.stats.agreement import weighted_kendall
from deadheat.stats.aso import aso_matrix
from tests.ranking.counts import counted_set, curve_of, made_up, taus_of

SWAPPED = 2 / 11  # three systems, the first two swapped: (4/3 + 5/6 - 3/2) / (4/3 + 5/6 + 3/2)


def test_the_last_sentences_by_hand() -> None:
    # Words right of 2, 3 and 5: on all ten a has 8, b has 7, c has 3; on the last five a has 3, b has 5, c has 1.
    correct = np.array([[2, 3, 3], [1, 1, 5], [1, 1, 1]])
    words = counted_set(correct, np.array([2, 3, 5]), ("a", "b", "c"))
    curve = curve_of(words, SizeSettings(sizes=(4, 5, 6, 8), strategies=("seq",)))
    assert [point.words for point in curve.points] == [4, 5, 6, 8, 10]
    assert [point.units for point in curve.points] == [1, 1, 2, 2, 3]
    # Five words: b, a, c. Eight words: a and b have 6 each, c has 2.
    level = weighted_kendall([6, 6, 2], [8, 7, 3])
    assert [point.tau for point in curve.points] == pytest.approx([SWAPPED, SWAPPED, level, level, 1.0])
    assert SWAPPED < level < 1


def test_the_first_sentence_is_the_rest_of_the_others_by_hand() -> None:
    # The last five words rank b, a, c; the first five a has 5, b has 2, c has 2.
    correct = np.array([[2, 3, 3], [1, 1, 5], [1, 1, 1]])
    words = counted_set(correct, np.array([2, 3, 5]), ("a", "b", "c"))
    curve = curve_of(words, SizeSettings(sizes=(5, 6), strategies=("seq",), against="rest"))
    assert [point.words for point in curve.points] == [5]
    assert curve.points[0].tau == pytest.approx(weighted_kendall([3, 5, 1], [5, 2, 2]))


def slow_tau(words: CountedSet, way: str, size: int, draw: int, settings: SizeSettings) -> float:
    """One sample, word for word: a loop over its sentences, systems and fields, and scipy's tau."""
    order = sampling_order(way, words.lengths_N, size, rng=generator(settings.seed, draw))
    sample = {int(unit) for unit in order[: sentences_reaching(words.lengths_N[order], size)]}
    others = set(range(len(words.lengths_N))) - (sample if settings.against == "rest" else set())
    sides = []
    for units in (sample, others):
        by_system: dict[str, list[float]] = {}
        for run, system in enumerate(words.systems):
            correct, gold, predicted = (
                sum(int(words.counts_RNF[run, unit, field]) for unit in units) for field in range(3)
            )
            score = 2 * correct / (gold + predicted) if gold + predicted else 0.0
            key = system if settings.runs == "average" else f"{system} {run}"
            by_system.setdefault(key, []).append(score)
        sides.append([round(math.fsum(scores) / len(scores), 12) for scores in by_system.values()])
    return float(stats.weightedtau(sides[0], sides[1]).statistic)


@pytest.mark.parametrize("strategy", ["seq", "rand", "rand-seq"])
@pytest.mark.parametrize("against", ["all", "rest"])
@pytest.mark.parametrize("runs", ["average", "separate"])
def test_equal_to_loops_and_scipy(strategy: str, against: str, runs: str) -> None:
    words = made_up(runs=(2, 1, 3, 1, 2), units=60)
    settings = SizeSettings(
        (7, 50, 150), strategies=(strategy,), draws=6, against=against, runs=runs, seed=5, aso_draws=0
    )
    points = curve_of(words, settings).points
    assert len(points) == (3 if against == "rest" else 4)
    for point, tau_B in zip(points, taus_of(words, settings), strict=True):
        expected = [slow_tau(words, strategy, point.words, draw, settings) for draw in range(point.draws)]
        np.testing.assert_allclose(tau_B, expected, rtol=0, atol=1e-12)


def test_samples_are_whole_sentences_that_reach_the_size_and_no_more_than_needed() -> None:
    lengths = made_up(runs=(1, 1), units=80).lengths_N
    sizes = [10, 100, 300]
    for strategy in ("seq", "rand", "rand-seq"):
        for draw in range(20):
            weights = sample_weights(lengths, strategy, sizes, draw=draw, seed=1)
            assert set(np.unique(weights)) <= {0.0, 1.0}
            words = weights @ lengths
            assert np.all(words >= sizes)
            assert np.all(words - lengths.max() < sizes)


def test_random_samples_grow_and_runs_of_sentences_have_no_gap() -> None:
    lengths = made_up(runs=(1, 1), units=80).lengths_N
    starts = set()
    for draw in range(30):
        grown = sample_weights(lengths, "rand", [10, 100, 300], draw=draw, seed=1)
        assert np.all(np.diff(grown, axis=0) >= 0)
        for row in sample_weights(lengths, "rand-seq", [10, 100, 300], draw=draw, seed=1):
            inside = np.flatnonzero(row)
            assert np.array_equal(inside, np.arange(inside[0], inside[-1] + 1))
            starts.add(int(inside[0]))
    assert len(starts) > 20


def test_the_last_sentences_are_one_sample_however_many_draws_are_asked_for() -> None:
    curve = curve_of(made_up(runs=(1, 1, 1), units=60), SizeSettings((20, 100), strategies=("seq",), draws=50))
    assert [point.draws for point in curve.points] == [1, 1, 1]


@pytest.mark.parametrize("strategy", ["rand", "rand-seq"])
def test_more_draws_and_more_sizes_keep_the_old_ones(strategy: str) -> None:
    words = made_up(runs=(1, 1, 1, 1), units=60)
    few = taus_of(words, SizeSettings((20, 200), strategies=(strategy,), draws=10, seed=3))
    many = taus_of(words, SizeSettings((20, 50, 100, 200), strategies=(strategy,), draws=40, seed=3))
    other = taus_of(words, SizeSettings((20, 200), strategies=(strategy,), draws=10, seed=4))
    for tau_B, more_B in zip(few, (many[0], many[3], many[4]), strict=True):
        assert np.array_equal(tau_B, more_B[:10])
    assert not np.array_equal(few[0], other[0])


def test_memory_is_cut_into_blocks_that_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    words, settings = made_up(runs=(1, 2, 1), units=50), SizeSettings((20, 100), strategies=("rand",), draws=23)
    at_once, taus = curve_of(words, settings), taus_of(words, settings)
    monkeypatch.setattr(size_samples, "BLOCK", 3 * 50 * 5)  # five draws of three sizes
    assert curve_of(words, settings) == at_once
    assert all(map(np.array_equal, taus_of(words, settings), taus))


def test_sizes_beyond_what_is_there_are_shown_as_all() -> None:
    words = made_up(runs=(1, 1, 1), units=30)
    for sizes, whole in (((20, words.words, 10**6), False), ((20,), True), ((20, 10**6), True)):
        settings = SizeSettings(sizes, whole, strategies=("rand",), draws=5)
        points = curve_of(words, settings).points
        assert [(point.words, point.whole) for point in points] == [(20, False), (words.words, True)]
        assert taus_of(words, settings)[-1].tolist() == [1.0] * 5
    assert len(curve_of(words, SizeSettings((20,), whole=False, strategies=("rand",))).points) == 1


def chances(ahead: int, behind: int, level: int, drawn: int) -> tuple[float, float]:
    """The chance that more sentences of a sample are for the better system than against it, and that they are level."""
    total = math.comb(ahead + behind + level, drawn)
    better = even = 0
    for a in range(min(ahead, drawn) + 1):
        for b in range(min(behind, drawn - a) + 1):
            ways = math.comb(ahead, a) * math.comb(behind, b) * math.comb(level, drawn - a - b)
            better += ways * (a > b)
            even += ways * (a == b)
    return better / total, even / total


@pytest.mark.slow
def test_two_systems_agree_with_theory_at_every_size() -> None:
    # One word a sentence: 40 only the better system has right, 20 only the other, 140 both.
    ahead, behind, level, draws = 40, 20, 140, 4000
    right = np.array([[1] * ahead + [0] * behind + [1] * level, [0] * ahead + [1] * behind + [1] * level])
    words = counted_set(right, np.ones(200, np.int64), ("better", "worse"))
    sizes = (5, 20, 50, 80, 120, 140, 180)
    curve = curve_of(words, SizeSettings(sizes, whole=False, strategies=("rand",), draws=draws))
    theory = []
    for point in curve.points:
        better, even = chances(ahead, behind, level, point.words)
        theory.append(better)
        assert abs(point.share - better) < 4 * math.sqrt(better * (1 - better) / draws) + 1e-9
        assert abs(point.undefined / draws - even) < 4 * math.sqrt(even * (1 - even) / draws) + 1e-9
    assert min(abs(chance - 0.95) for chance in theory) > 0.02  # so that 4,000 draws leave no doubt
    assert curve.sufficient == next(size for size, chance in zip(sizes, theory, strict=True) if chance > 0.95) == 80


@pytest.mark.slow
def test_the_truth_lies_between_the_ranking_on_all_and_that_on_the_rest() -> None:
    """A sample agrees with the whole too well, and with the rest not well enough, since the rest has its own chance."""
    rng = np.random.default_rng(0)
    accuracy = np.array([0.80, 0.78, 0.76, 0.74, 0.72])
    names = tuple("abcde")
    gaps = []
    for number in range(150):
        right = (rng.random((5, 300)) < accuracy[:, None]).astype(np.int64)
        words = counted_set(right, np.ones(300, np.int64), names)
        settings = SizeSettings((150,), whole=False, strategies=("rand",), draws=4, seed=number)
        whole = taus_of(words, settings)[0]
        rest = taus_of(words, replace(settings, against="rest"))[0]
        samples = [sample_weights(words.lengths_N, "rand", [150], draw=draw, seed=number)[0] for draw in range(4)]
        truth = [weighted_kendall(right @ weights, accuracy) for weights in samples]
        gaps.append([float(np.mean(whole) - np.mean(truth)), float(np.mean(truth) - np.mean(rest))])
    mean, error = np.mean(gaps, axis=0), np.std(gaps, axis=0) / math.sqrt(len(gaps))
    assert np.all(mean > 4 * error)


def point(size: int, *taus: float, threshold: float = 0.9, whole: bool = False) -> SizePoint:
    return size_point(size, 1.0, np.array(taus), SizeSettings(threshold=threshold), whole=whole)


def test_a_size_is_sufficient_where_tau_stays_above_the_threshold() -> None:
    def sufficient(threshold: float, confidence: float) -> int | None:
        good, bad = (1.0, 1.0, 0.9, 1.0), (1.0, 1.0, 0.5, 1.0)
        taus = enumerate((good, bad, good, good), start=1)
        return sufficient_size([point(size, *values, threshold=threshold) for size, values in taus], confidence)

    assert sufficient(0.9, 0.95) == 3  # not the lucky size 1
    assert sufficient(0.9, 0.75) == 1
    assert sufficient(0.95, 0.95) is None
    assert sufficient(0.5, 0.95) == 1


def test_one_sample_is_too_little_to_call_a_size_sufficient() -> None:
    assert sufficient_size([point(1, 1.0), point(2, 1.0), point(9, 1.0, whole=True)], 0.5) is None


def test_the_whole_test_set_is_never_sufficient_because_it_agrees_with_itself() -> None:
    assert sufficient_size([point(1, 0.2, 0.3), point(9, 1.0, 1.0, whole=True)], 0.5) is None


def test_a_sample_without_an_order_does_not_reach_a_threshold_and_is_left_out_of_the_mean() -> None:
    taus = math.nan, 1.0, 0.5
    assert [point(5, *taus, threshold=threshold).reached for threshold in (0.4, 1)] == [2, 1]
    sampled = point(5, *taus)
    assert (sampled.tau, sampled.undefined, sampled.reached) == (0.75, 1, 1)
    assert sampled.low == pytest.approx(0.5125)
    single = point(5, 1.0)
    assert (single.tau, single.share, math.isnan(single.low), math.isnan(single.high)) == (1, 1, True, True)
    assert math.isnan(point(5, math.nan).tau)


def test_a_metric_without_a_score_on_a_sample_gives_no_tau() -> None:
    # Words that count are in the last sentence only, and the first sentence alone has none.
    counts = np.array([[[0, 0, 0], [1, 2, 2]], [[0, 0, 0], [2, 2, 2]]])
    words = CountedSet("few", ("a", "b"), np.array([4, 4]), counts, METRICS.make("accuracy(column='upos')"))
    settings = SizeSettings((4,), whole=False, strategies=("rand",), draws=40)
    for against in ("all", "rest"):
        tau = taus_of(words, replace(settings, against=against))[0]
        assert 0 < np.count_nonzero(np.isnan(tau)) <= 40
        assert set(tau[~np.isnan(tau)]) <= {1.0}


def test_runs_are_averaged_whatever_their_order_and_equal_means_are_ties() -> None:
    scores = np.array([0.1, 0.2, 0.3, 0.3, 0.1, 0.2, 0.2, 0.2, 0.2])
    result = ranked_scores(scores, ["a"] * 3 + ["b"] * 3 + ["c"] * 3, "average")
    assert result.tolist() == [0.2, 0.2, 0.2]
    assert ranked_scores(scores, ["a"] * 9, "separate") is scores


@given(st.permutations(range(5)), st.integers(0, 3))
def test_the_order_of_systems_does_not_matter(order: list[int], seed: int) -> None:
    words = made_up(runs=(1, 1, 1, 1, 1), units=40, seed=seed)
    mixed = CountedSet(
        words.name, tuple(words.systems[at] for at in order), words.lengths_N, words.counts_RNF[order], words.metric
    )
    settings = SizeSettings((30, 100), strategies=("rand",), draws=3)
    for one, other in zip(taus_of(words, settings), taus_of(mixed, settings), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def test_significance_on_a_sample_is_compared_with_that_on_all_data() -> None:
    words = made_up(runs=(3, 3, 1, 4), units=80)
    settings = SizeSettings((60,), strategies=("rand",), draws=7, aso_draws=4, seed=0)
    sample, whole = (point.aso for point in curve_of(words, settings).points)
    assert sample is not None
    assert whole is not None
    assert (sample.draws, whole.draws, sample.systems) == (4, 1, 3)
    assert (whole.disagreement, whole.distance) == (0, 0)
    sampled = sampled_scores(words, "rand", settings)
    runs = runs_of_systems(words.systems)
    sides = (aso_bounds(scores, runs, seed=0) for scores in (sampled.scores_MBR[0, :4], sampled.against_MBR[0]))
    disagreement_B, distance_B = aso_differences(*sides)
    assert (sample.systems, sample.disagreement) == (len(runs), disagreement_B.mean())
    names = np.array(words.systems)
    bounds = []
    weights = sample_weights(words.lengths_N, "rand", [60], draw=3, seed=0)[0]
    for units in (weights > 0, weights >= 0):
        scores = words.metric.value(words.counts_RNF[:, units].sum(axis=1))
        rows = [scores[names == name] for name in ("s0", "s1", "s3")]  # s2 has one run
        bounds.append(aso_matrix(rows, rng=np.random.default_rng(0), resamples=ASO_RESAMPLES).bound_SS)
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    differ = sum((bounds[0][pair] < 0.5) != (bounds[1][pair] < 0.5) for pair in pairs)
    assert disagreement_B[3] == differ / 6
    moved = sum(abs(bounds[0][pair] - bounds[1][pair]) for pair in pairs)
    assert distance_B[3] == pytest.approx(moved / 6)
    assert moved > 0


def test_significance_needs_two_systems_with_two_runs() -> None:
    for runs in ((2, 1), (1, 1, 1)):
        counted = made_up(runs=runs, units=40)
        assert all(point.aso is None for point in curve_of(counted, SizeSettings((30,), strategies=("seq",))).points)
    scores = np.array([[0.1, math.nan, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4]])
    bounds = aso_bounds(scores, runs_of_systems(["a", "a", "b", "b"]), seed=0)
    disagreement_B, distance_B = aso_differences(bounds, bounds[1:])
    np.testing.assert_array_equal(disagreement_B, [math.nan, 0])
    np.testing.assert_array_equal(distance_B, [math.nan, 0])


def test_over_several_sets_the_mean_score_ranks() -> None:
    # Last sentences: a has 3 of 4 and 1 of 4, b 2 of 4 and 3 of 4: b is better on average. On everything a is.
    lengths = np.array([4, 4])
    first = counted_set(np.array([[4, 3], [0, 2]]), lengths, ("a", "b"))
    second = counted_set(np.array([[4, 1], [1, 3]]), lengths, ("a", "b"))
    both = [replace(first, name="first"), replace(second, name="second")]
    result, overall = size_curves(both, SizeSettings((4,), strategies=("seq",)))
    assert [item.curves[0].points[0].tau for item in result] == [1.0, -1.0]
    assert overall is not None
    assert [row.score for row in overall.systems] == [(7 / 8 + 5 / 8) / 2, (2 / 8 + 4 / 8) / 2]
    points = overall.curves[0].points
    assert [(item.words, item.whole, item.tau) for item in points] == [(4, False, -1.0), (16, True, 1.0)]


@pytest.mark.parametrize("against", ["all", "rest"])
def test_over_several_sets_only_common_sizes_are_kept(against: str) -> None:
    small, large = made_up(runs=(2, 1, 2), units=20, name="small"), made_up(runs=(2, 1, 2), units=90, name="large")
    settings = SizeSettings((10, 40, 300), strategies=("rand",), draws=5, against=against, aso_draws=0)
    _, overall = size_curves([small, large], settings)
    assert overall is not None
    points = overall.curves[0].points
    assert [point.words for point in points if not point.whole] == [10, 40]
    # The second size again, one set after the other.
    sides = []
    for words in (small, large):
        weights = np.stack([sample_weights(words.lengths_N, "rand", [40], draw=draw, seed=0)[0] for draw in range(5)])
        for rows in (weights, 1 - weights if against == "rest" else np.ones_like(weights)):
            sums = np.einsum("bn,rnf->brf", rows, words.counts_RNF.astype(float))
            sides.append(ranked_scores(words.metric.value(sums), words.systems, "average"))
    sample, other = (sides[0] + sides[2]) / 2, (sides[1] + sides[3]) / 2
    expected = [stats.weightedtau(a, b).statistic for a, b in zip(sample, other, strict=True)]
    samples = mean_scores([sampled_scores(words, "rand", settings) for words in (small, large)])
    tau_B = sample_taus(samples, small.systems, settings)[1]
    np.testing.assert_allclose(tau_B, expected, rtol=0, atol=1e-12)
    assert points[1].tau == pytest.approx(np.mean(expected))


def test_sets_with_other_systems_or_other_numbers_of_runs_have_no_overall() -> None:
    settings = SizeSettings((10, 100), strategies=("rand",), draws=3)
    one, other = made_up(runs=(1, 1), units=40, name="one"), made_up(runs=(1, 2), units=40, name="other")
    result, overall = size_curves([one, other], settings)
    assert [item.name for item in result] == ["one", "other"]
    assert overall is None
