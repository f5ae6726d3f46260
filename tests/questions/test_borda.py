"""Borda counts in rankings: by hand, by listing all pairs and subsets, and what a reader sees."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from deadheat.questions.rank import rank
from deadheat.ranking.borda import doubled_counts
from deadheat.ranking.integers import integer_scores
from deadheat.reporting.views import view
from deadheat.results.base import from_json
from deadheat.results.rank import Ranking
from tests.reporting.blocks import rows, tables, texts

# A wins by the mean because of one data set; B beats it on two of three.
TABLE = {"A": {"x": 90, "y": 50, "z": 60}, "B": {"x": 60, "y": 55, "z": 65}, "C": {"x": 60, "y": 40, "z": 60}}


def counts(result: Ranking) -> dict[str, tuple[float, int, int]]:
    assert result.borda is not None
    return {row.system: (row.count, row.rank, row.mean_rank) for row in result.borda.systems}


def test_points_by_hand() -> None:
    # x: A beats 2, B and C tie (0.5 each); y: B 2, A 1, C 0; z: B 2, A and C tie (0.5 each).
    result = rank(TABLE, subset_size=2)
    assert counts(result) == {"B": (4.5, 1, 2), "A": (3.5, 2, 1), "C": (1.0, 3, 3)}
    assert [row.system for row in result.systems] == ["A", "B", "C"]


def test_the_winner_on_subsets_by_hand() -> None:
    result = rank(TABLE, subset_size=2)
    assert result.borda is not None
    # x and y: A 3, B 2.5; x and z: A 2.5, B 2.5; y and z: B 4. A tie for first counts for both.
    assert {row.system: row.first for row in result.borda.systems} == pytest.approx({"A": 2 / 3, "B": 2 / 3, "C": 0})
    assert result.borda.samples == 3


@given(arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.integers(0, 4)))
def test_counts_are_those_of_all_pairs_and_of_average_ranks(scores_SD: np.ndarray) -> None:
    systems, datasets = scores_SD.shape
    slow = np.zeros((systems, datasets))
    for a, b in combinations(range(systems), 2):
        slow[a] += (scores_SD[a] > scores_SD[b]) + (scores_SD[a] == scores_SD[b]) / 2
        slow[b] += (scores_SD[b] > scores_SD[a]) + (scores_SD[a] == scores_SD[b]) / 2
    points = doubled_counts(scores_SD) / 2
    assert points.tolist() == slow.tolist()
    assert points.tolist() == (rankdata(scores_SD, axis=0) - 1).tolist()
    assert points.sum() == datasets * systems * (systems - 1) / 2


def test_shares_on_subsets_are_those_of_listing_them() -> None:
    rng = np.random.default_rng(0)
    scores = {name: dict(zip("tuvwxyz", rng.integers(40, 60, 7).tolist(), strict=True)) for name in "ABCD"}
    result = rank(scores, subset_size=3)
    assert result.borda is not None
    points = doubled_counts(integer_scores([list(row.values()) for row in scores.values()]).above_SD)
    sums = np.array([points[:, list(subset)].sum(axis=1) for subset in combinations(range(7), 3)])
    shares = (sums == sums.max(axis=1, keepdims=True)).mean(axis=0)
    assert {row.system: row.first for row in result.borda.systems} == pytest.approx(
        dict(zip("ABCD", shares, strict=True))
    )


def test_other_options_leave_it_as_it_is_and_json_keeps_it() -> None:
    plain = rank(TABLE, subset_size=2)
    assert rank(TABLE, subset_size=2, leave_one_out=True).borda == plain.borda
    again = from_json(plain.to_json())
    assert isinstance(again, Ranking)
    assert again.borda == plain.borda


def test_a_reader_sees_it_where_it_differs_from_the_ranking_by_means() -> None:
    result = rank(TABLE, subset_size=2)
    (table,) = (table for table in tables(view(result)) if table.name == "borda")
    assert [row[:4] for row in rows(table)] == [["B", "4.5", "1", "2"], ["A", "3.5", "2", "1"], ["C", "1.0", "3", "3"]]
    assert not table.detail
    assert any("2 systems of 3 have another rank than by mean scores" in text for text in texts(view(result)))
    same = {name: {"x": score, "y": score} for name, score in (("A", 3), ("B", 2), ("C", 1))}
    (table,) = (table for table in tables(view(rank(same, subset_size=1))) if table.name == "borda")
    assert table.detail
