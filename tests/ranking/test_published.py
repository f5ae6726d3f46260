"""The tables of Alonso-Alonso et al. (2022), from the scores of the CoNLL 2018 shared task."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from deadheat.questions.rank import Ranking, rank

SAMPLES = 1_000_000
TABLES = {"las": "fragility_table3_las_rank_stats.csv", "blex": "fragility_table4_blex_rank_stats.csv"}


@cache
def ranking(data: Path, metric: str) -> Ranking:
    return rank(data / "scores" / "conll18_scores.csv.gz", metric=metric, exact=True, samples=SAMPLES)


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def published(data: Path, metric: str) -> dict[int, dict[str, float]]:
    """The published row of each system, by its place in our table; there the names lack the city and a version."""
    systems = ranking(data, metric).table.systems
    found = {}
    for row in rows(data / "published" / TABLES[metric]):
        name = row.pop("system")
        (place,) = (i for i, each in enumerate(systems) if each.startswith(f"{name} "))
        found[place] = {column: float(text) for column, text in row.items()}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("metric", TABLES)
def test_ranks_over_a_million_subsets_are_the_published_ones(shared_data: Path, metric: str) -> None:
    found = ranking(shared_data, metric).sampled
    table = published(shared_data, metric)
    assert sorted(table) == list(range(26))
    for system, row in table.items():
        assert found.mean_S[system] == pytest.approx(row["mean"], abs=0.02)
        assert found.sd_S[system] == pytest.approx(row["sd"], abs=0.02)
        assert found.quantiles(system)[1] == pytest.approx(row["median"], abs=1)
        assert found.best_S[system] == pytest.approx(row["best_rank"], abs=2)
        assert found.worst_S[system] == pytest.approx(row["worst_rank"], abs=2)


@pytest.mark.slow
@pytest.mark.parametrize("metric", TABLES)
def test_exact_extremes_reach_every_sampled_and_published_rank_and_are_proved(shared_data: Path, metric: str) -> None:
    found = ranking(shared_data, metric)
    assert found.exact is not None
    scores = np.round(found.table.scores_SD * 100).astype(int)
    for system, row in published(shared_data, metric).items():
        best, worst = found.exact.extremes[system]
        assert best.rank <= min(found.sampled.best_S[system], row["best_rank"])
        assert worst.rank >= max(found.sampled.worst_S[system], row["worst_rank"])
        for each in (best, worst):
            assert each.proved
            sums = scores[:, each.subset].sum(axis=1)
            assert len(set(each.subset.tolist())) == 10
            assert 1 + (sums > sums[system]).sum() == each.rank


@pytest.mark.slow
@pytest.mark.parametrize("metric", TABLES)
def test_exact_chances_of_pairs_are_within_chance_of_the_sampled_ones(shared_data: Path, metric: str) -> None:
    found = ranking(shared_data, metric)
    assert found.exact is not None
    squares = []
    for pair in found.exact.pairs:
        assert pair.subsets.exact
        assert pair.subsets.above + pair.subsets.level + pair.subsets.below == pair.subsets.total == 2_139_280_241_670
        a, b = (found.table.systems.index(name) for name in (pair.a, pair.b))
        chance, share = pair.chance, int(found.sampled.wins_SS[a, b]) / SAMPLES
        if 0 < chance < 1:
            squares.append((share - chance) ** 2 / (chance * (1 - chance) / SAMPLES))
        else:
            assert share == chance
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
    found = {each.name: each for each in rank(path, metric=metric, subsets=subsets, samples=1000).subsets}
    table = {row["set"]: row for row in rows(shared_data / "published" / "fragility_table1_predicted_pos.csv")}
    systems = ("biaffine", "pointer", "bracketing")
    for name in ("Ma18", "Lh16", "AG20", "SA17"):
        means = dict(zip(found[name].systems, found[name].mean_S.tolist(), strict=True))
        reductions = {(each.reference, each.system): each.value for each in found[name].error_reductions}
        for system in systems:
            assert means[system] == pytest.approx(float(table[name][f"{metric}_{system}"]), abs=0.01)
        for pair in (("pointer", "biaffine"), ("bracketing", "biaffine"), ("bracketing", "pointer")):
            expected = float(table[name][f"e{metric}_{pair[0]}_{pair[1]}"])
            assert round(reductions[pair], 2) == pytest.approx(expected, abs=0.03 + 1e-9)
    assert found["SA17"].absent == ("sa_vedic",)
