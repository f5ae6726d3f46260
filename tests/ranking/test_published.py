"""The tables of Alonso-Alonso et al. (2022), from the scores of the CoNLL 2018 shared task."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from deadheat.questions.rank import rank
from deadheat.results.rank import Ranking, SystemRanks
from deadheat.tables.scores import read_score_table

SAMPLES = 1_000_000
TABLES = {"las": "fragility_table3_las_rank_stats.csv", "blex": "fragility_table4_blex_rank_stats.csv"}


@cache
def ranking(data: Path, metric: str) -> Ranking:
    return rank(data / "scores" / "conll18_scores.csv.gz", metric=metric, exact=True, samples=SAMPLES)


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def published(data: Path, metric: str) -> list[tuple[SystemRanks, dict[str, float]]]:
    """Our row of each system and the published one; there the names lack the city and a version."""
    pairs = []
    for row in rows(data / "published" / TABLES[metric]):
        name = row.pop("system")
        (result,) = (item for item in ranking(data, metric).systems if item.system.startswith(f"{name} "))
        pairs.append((result, {column: float(text) for column, text in row.items()}))
    return pairs


@pytest.mark.slow
@pytest.mark.parametrize("metric", TABLES)
def test_ranks_over_a_million_subsets_are_the_published_ones(shared_data: Path, metric: str) -> None:
    table = published(shared_data, metric)
    assert len({result.system for result, _ in table}) == 26
    for result, row in table:
        assert result.mean == pytest.approx(row["mean"], abs=0.02)
        assert result.sd == pytest.approx(row["sd"], abs=0.02)
        assert result.median == pytest.approx(row["median"], abs=1)
        assert result.best == pytest.approx(row["best_rank"], abs=2)
        assert result.worst == pytest.approx(row["worst_rank"], abs=2)


@pytest.mark.slow
@pytest.mark.parametrize("metric", TABLES)
def test_exact_extremes_reach_every_sampled_and_published_rank_and_are_proved(shared_data: Path, metric: str) -> None:
    table = read_score_table(shared_data / "scores" / "conll18_scores.csv.gz", metric=metric)
    scores = np.round(table.scores_SD * 100).astype(int)
    for result, row in published(shared_data, metric):
        assert result.possible_best is not None
        assert result.possible_worst is not None
        assert result.possible_best.rank <= min(result.best, row["best_rank"])
        assert result.possible_worst.rank >= max(result.worst, row["worst_rank"])
        for end in (result.possible_best, result.possible_worst):
            assert end.proved
            assert len(set(end.subset)) == 10
            sums = scores[:, [table.datasets.index(name) for name in end.subset]].sum(axis=1)
            assert 1 + (sums > sums[table.systems.index(result.system)]).sum() == end.rank


@pytest.mark.slow
@pytest.mark.parametrize("metric", TABLES)
def test_exact_shares_of_pairs_are_within_chance_of_the_sampled_ones(shared_data: Path, metric: str) -> None:
    squares = []
    for pair in ranking(shared_data, metric).pairs:
        counts = pair.exact
        assert counts is not None
        assert counts.exact
        assert counts.above + counts.level + counts.below == counts.total == 2_139_280_241_670
        share = counts.above / counts.total
        if 0 < share < 1:
            squares.append((pair.ahead - share) ** 2 / (share * (1 - share) / SAMPLES))
        else:
            assert pair.ahead == share
    assert len(squares) > 200
    assert max(squares) < 4.5**2
    assert np.mean(squares) < 1.5


@pytest.mark.slow
def test_blex_is_steadier_than_las(shared_data: Path) -> None:
    path = shared_data / "scores" / "conll18_scores.csv.gz"
    las, blex = rank(path, metrics=["las", "blex"], samples=100_000).metrics
    assert blex.mean_sd < las.mean_sd
    assert blex.tau.mean > las.tau.mean
    assert blex.swapped < las.swapped


@pytest.mark.parametrize("metric", ["las", "uas"])
def test_named_subsets_have_the_published_averages_and_error_reductions(shared_data: Path, metric: str) -> None:
    path = shared_data / "scores" / "fragility_predicted_pos.csv"
    subsets = shared_data / "published" / "fragility_table10_subsets.csv"
    result = {item.name: item for item in rank(path, metric=metric, subsets=subsets, samples=1000).subsets}
    table = {row["set"]: row for row in rows(shared_data / "published" / "fragility_table1_predicted_pos.csv")}
    systems = ("biaffine", "pointer", "bracketing")
    for name in ("Ma18", "Lh16", "AG20", "SA17"):
        means = {row.system: row.mean for row in result[name].systems}
        reductions = {(item.reference, item.system): 100 * item.share for item in result[name].error_reductions}
        for system in systems:
            assert means[system] == pytest.approx(float(table[name][f"{metric}_{system}"]), abs=0.01)
        for pair in (("pointer", "biaffine"), ("bracketing", "biaffine"), ("bracketing", "pointer")):
            expected = float(table[name][f"e{metric}_{pair[0]}_{pair[1]}"])
            assert round(reductions[pair], 2) == pytest.approx(expected, abs=0.03 + 1e-9)
    assert result["SA17"].absent == ("sa_vedic",)
