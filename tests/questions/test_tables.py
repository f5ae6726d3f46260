from __future__ import annotations

import gzip
import io
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from deadheat.errors import InputError
from deadheat.questions.compare import compare_scores
from deadheat.results.verdict import State
from deadheat.tables.scores import read_score_table

TABLE = {
    "A": {"en": 90.5, "de": 85.25, "fi": 80.0, "ta": 60.0, "cs": 88.0},
    "B": {"en": 89.0, "de": 84.0, "fi": 78.5, "ta": 61.0, "cs": 87.5},
}


def test_scores_are_paired_by_data_set_and_all_swaps_counted() -> None:
    gaps = np.array([TABLE["A"][name] - TABLE["B"][name] for name in TABLE["A"]])
    exact = np.mean(
        [abs((np.array(signs) * gaps).sum()) >= abs(gaps.sum()) - 1e-9 for signs in product((1, -1), repeat=5)]
    )
    result = compare_scores(TABLE)
    assert result.test == "permutation-exact"
    assert result.pairs[0].p == pytest.approx(exact)
    assert result.pairs[0].difference == pytest.approx(gaps.mean())
    assert result.systems[0].value == pytest.approx(np.mean(list(TABLE["A"].values())))


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "bootstrap", "randomization"])
def test_other_tests_work_on_tables(test: str) -> None:
    assert 0 < compare_scores(TABLE, test=test).pairs[0].p <= 1


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


def test_three_systems_or_more_are_ranked_over_data_sets() -> None:
    three = {**TABLE, "C": {name: value - 5 for name, value in TABLE["B"].items()}}
    scores = [list(by_dataset.values()) for by_dataset in three.values()]
    ranks = compare_scores(three).ranks
    assert ranks is not None
    assert ranks.ranks == (1.2, 1.8, 3.0)
    assert ranks.friedman_chi_square == pytest.approx(stats.friedmanchisquare(*scores).statistic)
    assert np.array(ranks.p_values).shape == (3, 3)
    assert ranks.p_values[0][2] == ranks.p_values[2][0] < ranks.p_values[0][1] < 1
    assert compare_scores(TABLE).ranks is None
    assert compare_scores(three).ranks == ranks


def test_negative_and_tiny_scores_are_compared_as_they_are() -> None:
    shifted = {system: {name: value - 100 for name, value in result.items()} for system, result in TABLE.items()}
    tiny = {system: {name: value * 1e-9 for name, value in result.items()} for system, result in TABLE.items()}
    usual = compare_scores(TABLE)
    assert compare_scores(shifted).pairs[0].p == usual.pairs[0].p
    assert compare_scores(shifted).systems[0].value == pytest.approx(usual.systems[0].value - 100)
    exact = compare_scores(tiny, test="randomization")  # too fine to count all swaps
    assert exact.pairs[0].p == pytest.approx(usual.pairs[0].p, abs=0.02)
    assert compare_scores(tiny).notes[0] == "scores are compared to 9 digits of their range"


def test_too_few_data_sets_show_nothing_and_say_so() -> None:
    rows = {name: {f"d{i}": base + i for i in range(6)} for name, base in (("A", 90), ("B", 50), ("C", 10))}
    enough = compare_scores({"A": rows["A"], "B": rows["B"]})  # the smallest p is 2/64
    assert enough.pairs[0].state(0.05) is State.SHOWN
    few = compare_scores(rows)
    assert {pair.state(0.05) for pair in few.pairs} == {State.TOO_FEW}
    assert "cannot be shown with so few" in str(few)
    assert "\u2021" in str(few)
    assert "\u2020" not in str(few)


@pytest.mark.parametrize("factor", [1e-300, 1e-12, 1e14, 1e300])
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
