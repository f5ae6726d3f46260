from __future__ import annotations

import gzip
import io
import time
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from deadheat.errors import InputError
from deadheat.questions.compare_scores import compare_scores
from deadheat.results.verdict import State
from deadheat.stats.corrections import correct, decision_levels
from deadheat.stats.estimates import mean_estimate
from deadheat.tables.scores import read_score_table

TABLE = {
    "A": {"en": 90.5, "de": 85.25, "fi": 80.0, "ta": 60.0, "cs": 88.0},
    "B": {"en": 89.0, "de": 84.0, "fi": 78.5, "ta": 61.0, "cs": 87.5},
}


GAPS = np.array([TABLE["A"][name] - TABLE["B"][name] for name in TABLE["A"]])


def test_scores_are_paired_by_data_set_and_tested_by_students_t() -> None:
    result = compare_scores(TABLE)
    expected = stats.ttest_1samp(GAPS, 0.0)
    interval = expected.confidence_interval(0.95)
    (pair,) = result.pairs
    assert (result.test, result.unit, result.units) == ("clustered-t", "data set", 5)
    assert (pair.difference, pair.p) == pytest.approx((GAPS.mean(), expected.pvalue))
    assert pair.interval.bounds == pytest.approx((interval.low, interval.high))
    assert result.systems[0].value == pytest.approx(np.mean(list(TABLE["A"].values())))
    own = stats.ttest_1samp(list(TABLE["A"].values()), 0.0).confidence_interval(0.95)
    assert result.systems[0].interval.bounds == pytest.approx((own.low, min(own.high, 100)))


def test_the_exact_permutation_test_counts_all_swaps() -> None:
    exact = np.mean(
        [abs((np.array(signs) * GAPS).sum()) >= abs(GAPS.sum()) - 1e-9 for signs in product((1, -1), repeat=5)]
    )
    result = compare_scores(TABLE, test="permutation-exact")
    assert (result.test, result.reason) == ("permutation-exact", "asked for")
    assert result.pairs[0].p == pytest.approx(exact)


def test_intervals_of_several_pairs_agree_with_their_corrected_p_values() -> None:
    """Holm: the smallest p of three is tested at a third of alpha, the next at a half, the last at alpha."""
    rng = np.random.default_rng(3)
    systems = {
        name: dict(zip("abcdefgh", rng.normal(gap, 1, 8).round(2).tolist(), strict=True))
        for name, gap in (("x", 60.0), ("y", 61.0), ("z", 63.0))
    }
    result = compare_scores(systems)
    order = sorted(result.pairs, key=lambda pair: pair.p)
    for pair, tests in zip(order, (3, 2, 1), strict=True):
        gaps = [systems[pair.a][name] - systems[pair.b][name] for name in "abcdefgh"]
        interval = stats.ttest_1samp(gaps, 0.0).confidence_interval(1 - 0.05 / tests)
        if pair.p_corrected == pytest.approx(tests * pair.p):  # not raised to that of a smaller one
            assert pair.interval.bounds == pytest.approx((interval.low, interval.high))
        assert (pair.interval.low > 0 or pair.interval.high < 0) == (pair.p_corrected <= 0.05)
        assert bool(pair.winner(0.05)) == (pair.p_corrected <= 0.05)


def test_a_margin_in_the_units_of_the_table_makes_a_dead_heat() -> None:
    low, high = compare_scores(TABLE).pairs[0].interval.bounds
    reach = max(abs(low), abs(high))
    states = [compare_scores(TABLE, margin=margin).pairs[0].state(0.05) for margin in (None, 0, 0.99 * reach, reach)]
    assert states == [State.NOT_SHOWN, State.NOT_SHOWN, State.NOT_SHOWN, State.EQUAL]
    assert str(compare_scores(TABLE, margin=reach)).startswith("A dead heat: A and B are equal within ")


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "bootstrap", "randomization"])
def test_other_tests_work_on_tables(test: str) -> None:
    assert 0 < compare_scores(TABLE, test=test).pairs[0].p <= 1
    with pytest.raises(InputError, match="1 data set; expected at least two to compare systems"):
        compare_scores({"A": {"en": 90.0}, "B": {"en": 89.0}}, test=test)


def test_a_missing_score_is_named_or_dropped_on_request() -> None:
    holed = {"A": TABLE["A"], "B": {name: value for name, value in TABLE["B"].items() if name not in ("fi", "cs")}}
    with pytest.raises(InputError, match="B has no score on fi, the first of 2 missing scores"):
        compare_scores(holed)
    result = compare_scores(holed, missing="drop")
    assert result.units == 3
    assert result.notes[-1] == "2 data sets without a score of every system left out"


def test_a_table_can_come_from_a_file_of_any_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"las\t{name}\t{system}\t{value}\n" for system, result in TABLE.items() for name, value in result.items()]
    text = ("metric\ttreebank\tsystem\tscore\n" + "".join(rows)).encode()
    path = tmp_path / "long.tsv.gz"
    path.write_bytes(gzip.compress(text))
    expected = compare_scores(TABLE).to_json()
    assert compare_scores(path).to_json() == expected
    frame = pl.read_csv(text, separator="\t")
    frame.write_ndjson(tmp_path / "long.jsonl")
    frame.write_parquet(tmp_path / "long.parquet")
    assert compare_scores(tmp_path / "long.jsonl").to_json() == expected
    assert compare_scores(tmp_path / "long.parquet").to_json() == expected
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert compare_scores("-").to_json() == expected


@pytest.mark.parametrize("table", [{}, {"A": {}}, {"A": {"en": 1.0}}])
def test_fewer_than_two_systems_are_refused(table: dict[str, dict[str, float]], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"{len(table)} systems?; expected at least two to compare"):
        compare_scores(table)
    path = tmp_path / "one.csv"
    path.write_text("dataset,A\nen,1\n")
    with pytest.raises(InputError, match="1 system; expected at least two to compare"):
        compare_scores(path)


def test_a_score_that_is_not_finite_is_refused() -> None:
    with pytest.raises(InputError, match="B on en: score is not finite"):
        compare_scores({"A": {"en": 1.0}, "B": {"en": float("nan")}})


def test_the_shared_task_can_be_compared(shared_data: Path) -> None:
    table = read_score_table(shared_data / "scores" / "conll18_scores.csv.gz", metric="LAS")
    order = np.argsort(-table.scores_SD.mean(axis=1))[:3]
    best = {table.systems[s]: dict(zip(table.datasets, table.scores_SD[s], strict=True)) for s in order}
    result = compare_scores(best)
    assert len(result.pairs) == 3
    assert result.tied[0] == next(iter(best))


def exact_friedman(scores: list[list[float]]) -> float:
    """The share of all orders of the systems on every data set whose rank sums vary as much as those observed."""
    ranks = stats.rankdata(np.array(scores), axis=0)
    observed = ((ranks.sum(axis=1) - 2.0 * ranks.shape[1]) ** 2).sum()
    orders = list(permutations((1, 2, 3)))
    spreads = [
        ((np.sum(chosen, axis=0) - 2.0 * len(chosen)) ** 2).sum() for chosen in product(orders, repeat=ranks.shape[1])
    ]
    return float(np.mean(np.array(spreads) >= observed - 1e-9))


def test_three_systems_or_more_are_ranked_over_data_sets() -> None:
    three = {**TABLE, "C": {name: value - 5 for name, value in TABLE["B"].items()}}
    scores = [list(by_dataset.values()) for by_dataset in three.values()]
    ranks = compare_scores(three).ranks
    assert ranks is not None
    assert ranks.ranks == (1.2, 1.8, 3.0)
    assert ranks.friedman_method == "exact"
    assert ranks.friedman_p == pytest.approx(exact_friedman(scores))
    assert np.array(ranks.p_values).shape == (3, 3)
    assert ranks.p_values[0][2] == ranks.p_values[2][0] < ranks.p_values[0][1] < 1
    assert compare_scores(TABLE).ranks is None
    assert compare_scores(three).ranks == ranks


def test_negative_and_tiny_scores_are_compared_as_they_are() -> None:
    shifted = {system: {name: value - 100 for name, value in result.items()} for system, result in TABLE.items()}
    tiny = {system: {name: value * 1e-9 for name, value in result.items()} for system, result in TABLE.items()}
    usual = compare_scores(TABLE)
    assert compare_scores(shifted).pairs[0].p == pytest.approx(usual.pairs[0].p)
    assert compare_scores(shifted).systems[0].value == pytest.approx(usual.systems[0].value - 100)
    assert compare_scores(tiny).pairs[0].p == pytest.approx(usual.pairs[0].p)
    assert compare_scores(tiny).notes == ()
    exact, counted = (
        compare_scores(table, test=test) for table, test in ((TABLE, "permutation-exact"), (tiny, "randomization"))
    )
    assert counted.pairs[0].p == pytest.approx(exact.pairs[0].p, abs=0.02)
    assert counted.notes[0] == "scores are compared to 9 digits of their range"


def test_data_sets_that_all_agree_show_as_much_as_signs_do() -> None:
    """Equal differences on n data sets: p is 2 / 2^n, so that six show one pair, and five or three pairs do not."""
    rows = {name: {f"d{i}": base + i for i in range(6)} for name, base in (("A", 90), ("B", 50), ("C", 10))}
    enough = compare_scores({"A": rows["A"], "B": rows["B"]})
    assert (enough.pairs[0].p, enough.pairs[0].state(0.05)) == (2 / 64, State.SHOWN)
    few = compare_scores(rows)
    assert {pair.state(0.05) for pair in few.pairs} == {State.TOO_FEW}
    assert "cannot be shown with so few" in str(few)
    assert "\u2021" in str(few)
    assert "\u2020" not in str(few)


def test_one_data_set_shows_nothing() -> None:
    result = compare_scores({"A": {"en": 90.0}, "B": {"en": 80.0}})
    assert (result.pairs[0].difference, result.pairs[0].state(0.05)) == (10.0, State.TOO_FEW)
    assert np.isnan(result.pairs[0].p)


@pytest.mark.parametrize("factor", [1e-50, 1e-12, 1e12])
def test_scores_that_no_integers_can_hold_are_refused(factor: float) -> None:
    scaled = {system: {name: value * factor for name, value in result.items()} for system, result in TABLE.items()}
    with pytest.raises(InputError, match=r"^scores up to .* expected differences of 1e-08 or more and scores up to"):
        compare_scores(scaled)


def test_scores_that_are_equal_in_decimals_are_tied_in_rank_tests() -> None:
    a = {str(i): 60.3 + i * 1.7 for i in range(12)}
    b = {str(i): 60.3 + i * 1.7 + (0.2 if i % 3 else -0.2) for i in range(12)}
    expected = compare_scores({"A": dict.fromkeys(a, 0), "B": {k: 2 if int(k) % 3 else -2 for k in b}}, test="wilcoxon")
    assert compare_scores({"A": a, "B": b}, test="wilcoxon").pairs[0].p == expected.pairs[0].p


def test_a_table_in_latex_is_on_its_own_scale() -> None:
    assert "+0.75" in compare_scores(TABLE).to_latex()


def test_an_unknown_way_with_missing_scores_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'drop'"):
        compare_scores(TABLE, missing="dropp")


@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
def test_all_pairs_together_are_the_same_as_one_at_a_time(correction: str) -> None:
    rng = np.random.default_rng(4)
    scores = np.round(rng.normal(80, 3, (12, 9)) + np.linspace(0, 4, 12)[:, None], 2)
    scores[3], scores[4] = scores[2], scores[2] - 0.5  # no difference, and always the same
    table = {f"s{i}": {f"d{j}": float(score) for j, score in enumerate(row)} for i, row in enumerate(scores)}
    result = compare_scores(table, correction=correction)
    estimates = [mean_estimate(scores[i] - scores[j]) for i, j in combinations(range(12), 2)]
    p_values = [estimate.p for estimate in estimates]
    levels = decision_levels(p_values, correction, 0.05).tolist()
    for pair, estimate, p, corrected, level in zip(
        result.pairs, estimates, p_values, correct(p_values, correction).tolist(), levels, strict=True
    ):
        interval = estimate.interval(1 - level)
        expected = (*interval.bounds, p, corrected, estimate.detectable(level))
        found = (*pair.interval.bounds, pair.p, pair.p_corrected, pair.detectable)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_a_thousand_systems_are_compared_and_shown_in_less_than_a_minute() -> None:
    rng = np.random.default_rng(5)
    scores = np.round(rng.normal(75, 8, 82) + rng.normal(0, 3, (1000, 1)) + rng.normal(0, 1.5, (1000, 82)), 2)
    table = {f"s{i}": {f"d{j}": float(score) for j, score in enumerate(row)} for i, row in enumerate(scores)}
    started = time.process_time()
    result = compare_scores(table)
    text = str(result)
    assert time.process_time() - started < 60
    assert len(result.pairs) == 499_500
    assert len(text) < 500_000
