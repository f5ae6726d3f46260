from __future__ import annotations

import gzip
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from deadheat.analyses.contest import Settings
from deadheat.analyses.tables import compare_scores, read_scores
from deadheat.errors import InputError

TABLE = {
    "A": {"en": 90.5, "de": 85.25, "fi": 80.0, "ta": 60.0, "cs": 88.0},
    "B": {"en": 89.0, "de": 84.0, "fi": 78.5, "ta": 61.0, "cs": 87.5},
}


def test_scores_are_paired_by_data_set_and_all_swaps_counted() -> None:
    gaps = np.array([TABLE["A"][name] - TABLE["B"][name] for name in TABLE["A"]])
    exact = np.mean(
        [abs((np.array(signs) * gaps).sum()) >= abs(gaps.sum()) - 1e-9 for signs in product((1, -1), repeat=5)]
    )
    found = compare_scores(TABLE)
    assert found.test == "permutation-exact"
    assert found.pairs[0].p == pytest.approx(exact)
    assert found.pairs[0].difference == pytest.approx(gaps.mean())
    assert found.systems[0].value == pytest.approx(np.mean(list(TABLE["A"].values())))


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "bootstrap", "randomization"])
def test_other_tests_work_on_tables(test: str) -> None:
    assert 0 < compare_scores(TABLE, settings=Settings(test)).pairs[0].p <= 1


def test_a_missing_score_is_named_or_dropped_on_request() -> None:
    holed = {"A": TABLE["A"], "B": {name: value for name, value in TABLE["B"].items() if name not in ("fi", "cs")}}
    with pytest.raises(InputError, match="B has no score on fi, the first of 2 missing scores"):
        compare_scores(holed)
    found = compare_scores(holed, missing="drop")
    assert len(found.systems[0].counts_NF) == 3
    assert found.notes == ("2 data sets without a score of every system left out",)


def test_long_and_wide_tables_are_the_same(tmp_path: Path) -> None:
    wide, long = tmp_path / "wide.csv", tmp_path / "long.tsv.gz"
    wide.write_text("data,A,B\n" + "".join(f"{name},{TABLE['A'][name]},{TABLE['B'][name]}\n" for name in TABLE["A"]))
    rows = [f"las\t{name}\t{system}\t{value}\n" for system, found in TABLE.items() for name, value in found.items()]
    long.write_bytes(gzip.compress(("metric\ttreebank\tsystem\tscore\n" + "".join(rows)).encode()))
    assert read_scores(wide) == read_scores(long) == TABLE
    assert read_scores(long, metric="LAS") == TABLE


def test_several_metrics_need_one_to_be_named(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("metric,dataset,system,score\nlas,en,A,1\nuas,en,A,2\n")
    with pytest.raises(InputError, match=r"several metrics .las, uas."):
        read_scores(path)
    with pytest.raises(InputError, match="did you mean 'las'"):
        read_scores(path, metric="lass")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "an empty table"),
        ("d,A,B\nen,1\n", r":2: 2 columns; expected 3"),
        ("d,A,B\nen,1,x\n", r":2: score 'x'; expected a number"),
        ("d,A,B\nen,1,nan\n", r":2: score 'nan'; expected a number"),
        ("dataset,system,score\nen,A,1\nen,A,2\n", r":3: a second score of A on en"),
    ],
)
def test_faults_of_a_table_are_told_with_their_line(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        read_scores(path)


def test_a_missing_table_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_scores(tmp_path / "none.csv")


def test_the_shared_task_can_be_compared(shared_data: Path) -> None:
    table = read_scores(shared_data / "scores" / "conll18_scores.csv.gz", metric="LAS")
    best = dict(sorted(table.items(), key=lambda item: -np.mean(list(item[1].values())))[:3])
    found = compare_scores(best)
    assert len(found.pairs) == 3
    assert found.tied[0] == next(iter(best))


def test_three_systems_or_more_are_ranked_over_data_sets() -> None:
    three = {**TABLE, "C": {name: value - 5 for name, value in TABLE["B"].items()}}
    ranks = compare_scores(three).ranks
    assert ranks is not None
    assert ranks.average_ranks_S.tolist() == [1.2, 1.8, 3.0]
    assert compare_scores(TABLE).ranks is None
    assert compare_scores(three).to_dict()["ranks"]["friedman"]["data_sets"] == 5


def test_negative_and_tiny_scores_are_compared_as_they_are() -> None:
    shifted = {system: {name: value - 100 for name, value in found.items()} for system, found in TABLE.items()}
    tiny = {system: {name: value * 1e-9 for name, value in found.items()} for system, found in TABLE.items()}
    usual = compare_scores(TABLE)
    assert compare_scores(shifted).pairs[0].p == usual.pairs[0].p
    assert compare_scores(shifted).systems[0].value == pytest.approx(usual.systems[0].value - 100)
    exact = compare_scores(tiny, settings=Settings("randomization"))  # too fine to count all swaps
    assert exact.pairs[0].p == pytest.approx(usual.pairs[0].p, abs=0.02)
    assert compare_scores(tiny).notes == ("scores are compared to 9 digits of their range",)


def test_scores_that_are_equal_in_decimals_are_tied_in_rank_tests() -> None:
    a = {str(i): 60.3 + i * 1.7 for i in range(12)}
    b = {str(i): 60.3 + i * 1.7 + (0.2 if i % 3 else -0.2) for i in range(12)}
    expected = compare_scores(
        {"A": dict.fromkeys(a, 0), "B": {k: 2 if int(k) % 3 else -2 for k in b}}, settings=Settings("wilcoxon")
    )
    assert compare_scores({"A": a, "B": b}, settings=Settings("wilcoxon")).pairs[0].p == expected.pairs[0].p


def test_a_table_in_latex_is_on_its_own_scale() -> None:
    assert "+0.75" in compare_scores(TABLE).to_latex()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("d,A,B\nen,1,2\nen,3,4\n", ":3: a second row of en"),
        ("d,A,A\nen,1,2\n", ":1: two columns are named A"),
        ("system,rank,mean\nx,1,2\n", ":1: systems in rows"),
        ("dataset,system,score\nen,A\n", ":2: 2 columns; expected 3"),
    ],
)
def test_rows_and_columns_that_would_be_lost_are_refused(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        read_scores(path)
    with pytest.raises(InputError, match="did you mean 'drop'"):
        compare_scores(TABLE, missing="dropp")
