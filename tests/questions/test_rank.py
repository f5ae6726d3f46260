"""Rankings over subsets of data sets."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from deadheat.errors import InputError, NameUnknown
from deadheat.questions.rank import rank
from deadheat.ranking.anomalies import Attributes
from deadheat.ranking.integers import integer_scores
from deadheat.ranking.subsets import free, one_per_group, rank_over_subsets
from deadheat.results.base import to_document
from deadheat.results.format import PERCENT, PLAIN
from deadheat.results.rank import Ranking

RNG = np.random.default_rng(0)
DATASETS = [f"d{i}" for i in range(30)]
TABLE = {f"s{i}": dict(zip(DATASETS, (np.round(RNG.normal(80 - i, 8, 30), 2)).tolist(), strict=True)) for i in range(6)}
ATTRIBUTES: Attributes = {"family": tuple("abc"[i % 3] for i in range(30)), "size": np.arange(30.0)}


@pytest.fixture(scope="module")
def found() -> Ranking:
    return rank(
        TABLE,
        samples=300,
        attributes=ATTRIBUTES,
        exact=True,
        anomalies=["s1"],
        subsets={"few": ["d1", "d2", "d3"]},
        leave_one_out=True,
        representative=3,
    )


def test_shares_of_ranks_and_of_pairs_add_up(found: Ranking) -> None:
    for row in found.systems:
        assert sum(row.shares) == pytest.approx(1)
        assert row.mean == pytest.approx(sum(r * p for r, p in enumerate(row.shares, start=1)))
        assert row.best <= row.lower_quartile <= row.median <= row.upper_quartile <= row.worst
    assert len(found.pairs) == 15
    for pair in found.pairs:
        assert pair.ahead + pair.behind + pair.tied == pytest.approx(1)
        assert sum(pair.shares) == pytest.approx(1)
        assert pair.exact is not None
        assert pair.shares[0] == pytest.approx(pair.exact.above / math.comb(30, 10))


def test_systems_come_best_first_and_pairs_with_the_better_first(found: Ranking) -> None:
    means = [row.score for row in found.systems]
    assert means == sorted(means, reverse=True)
    assert [row.rank for row in found.systems] == [1, 2, 3, 4, 5, 6]
    order = [row.system for row in found.systems]
    assert all(order.index(pair.better) < order.index(pair.worse) for pair in found.pairs)
    assert [(pair.better, pair.worse) for pair in found.neighbours] == list(pairwise(order))


def test_what_the_sample_missed_is_what_the_possible_ranks_exceed(found: Ranking) -> None:
    missed = list(found.missed())
    for row in found.systems:
        for sampled, possible, sign in ((row.best, row.possible_best, 1), (row.worst, row.possible_worst, -1)):
            assert possible is not None
            assert possible.proved
            assert sign * possible.rank <= sign * sampled
            assert (possible in missed) is (possible.rank != sampled)
            assert len(possible.subset) == 10
            means = {name: sum(scores[d] for d in possible.subset) for name, scores in TABLE.items()}
            assert 1 + sum(other > means[row.system] + 1e-9 for other in means.values()) == possible.rank
    assert missed  # 300 of 30 million subsets do not show all extremes


def test_the_signature_has_the_seed_wherever_chance_had_a_part() -> None:
    listed = rank(TABLE, subset_size=2, seed=5)
    examined = rank(TABLE, subset_size=2, seed=5, attributes=ATTRIBUTES, anomalies=["s1"])
    assert "seed" not in listed.signature
    assert examined.signature == f"{listed.signature} | seed 5"


def test_parts_that_were_not_asked_for_are_empty(found: Ranking) -> None:
    assert [item.system for item in found.anomalies] == ["s1"]
    assert [item.name for item in found.subsets] == ["few"]
    assert len(found.leave_one_out) == 30
    assert found.representative is not None
    assert [item.method for item in found.representative.subsets] == ["greedy", "exact"]
    bare = rank(TABLE, samples=100)
    assert set(to_document(bare)) == set(to_document(found))
    assert (bare.all_subsets, bare.representative) == (None, None)
    assert not any((bare.anomalies, bare.subsets, bare.leave_one_out, bare.metrics))


def test_few_subsets_are_all_taken_and_more_are_drawn() -> None:
    every, drawn = rank(TABLE, subset_size=2, samples=435), rank(TABLE, subset_size=2, samples=434)
    assert every.samples == math.comb(30, 2) == 435
    assert (every.design, drawn.design) == ("all", "free")
    assert "all subsets of 2" in every.signature
    assert "434 subsets (free) of 2" in drawn.signature


def test_the_size_of_subsets_is_10_or_half_of_few_data_sets() -> None:
    assert rank(TABLE, samples=10).subset_size == 10
    few = {name: {d: scores[d] for d in DATASETS[:7]} for name, scores in TABLE.items()}
    assert rank(few, samples=10).subset_size == 3


def test_subsets_by_groups_are_those_of_their_design() -> None:
    labels = ATTRIBUTES["family"]
    assert isinstance(labels, tuple)
    one_each = rank(TABLE, samples=1000, attributes=ATTRIBUTES, one_per="family")
    assert (one_each.subset_size, one_each.design, one_each.grouped_by) == (3, "one per group", "family")
    scores = integer_scores([list(row.values()) for row in TABLE.values()])
    expected = rank_over_subsets(scores, one_per_group(labels), samples=1000, rng=np.random.default_rng(0))
    assert {row.mean for row in one_each.systems} == set(expected.mean_S.tolist())
    strata = rank(TABLE, samples=1000, attributes=ATTRIBUTES, stratify="family", subset_size=6)
    assert (strata.design, strata.grouped_by) == ("stratified", "family")
    free_means = rank_over_subsets(scores, free(30, 6), samples=1000, rng=np.random.default_rng(0)).mean_S
    assert {row.mean for row in strata.systems} != set(free_means.tolist())


@pytest.mark.parametrize(("highest", "scale"), [(1.0, PERCENT), (1.1, PLAIN)])
def test_one_scale_is_decided_by_all_scores(highest: float, scale: object) -> None:
    """One score above 1 made the terminal show 0.87 where the page showed 86.75."""
    result = rank({"a": {"x": highest, "y": 0.635}, "b": {"x": 0.9, "y": 0.5}}, subset_size=1)
    assert result.scale == scale
    mean = (highest + 0.635) / 2
    shown = f"{100 * mean:.2f}" if scale == PERCENT else f"{mean:.4f}"
    assert all(shown in text for text in (str(result), result.to_latex(), result.to_markdown()))


def test_metrics_are_compared_on_the_same_subsets(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    lines = ["metric,treebank,system,score"]
    for metric, noise in (("steady", 0.0), ("loose", 9.0)):
        for i in range(4):
            lines += [f"{metric},{d},s{i},{80 - i + round(float(RNG.normal(0, 1) * noise), 2)}" for d in DATASETS]
    path.write_text("\n".join(lines), encoding="utf-8")
    made = rank(path, metrics=[], metric="loose", samples=2000)
    steady, loose = made.metrics
    assert (steady.metric, steady.mean_sd, steady.swapped, steady.top, steady.tau.mean) == ("steady", 0, 0, 1, 1)
    assert loose.mean_sd == pytest.approx(np.mean([row.sd for row in made.systems]))
    assert loose.swapped == pytest.approx(np.mean([pair.behind for pair in made.pairs]))
    assert "ranks by steady vary least" in str(made)
    assert json.loads(made.to_json())["metrics"][1]["metric"] == "loose"


def test_wrong_questions_are_refused() -> None:
    with pytest.raises(InputError, match="subsets of 31 of 30 data sets; expected between 1 and 30"):
        rank(TABLE, subset_size=31)
    with pytest.raises(NameUnknown, match=r"system 'ss1' is unknown; did you mean 's1'\?"):
        rank(TABLE, samples=10, anomalies=["ss1"])
    with pytest.raises(NameUnknown, match=r"attribute 'famly' is unknown; did you mean 'family'\?"):
        rank(TABLE, attributes=ATTRIBUTES, stratify="famly")
    with pytest.raises(InputError, match="groups by family, but no attributes"):
        rank(TABLE, one_per="family")
    with pytest.raises(InputError, match="expected only one of them"):
        rank(TABLE, attributes=ATTRIBUTES, one_per="family", stratify="family")
    with pytest.raises(InputError, match="expected neither strata nor one data set per group"):
        rank(TABLE, attributes=ATTRIBUTES, one_per="family", exact=True)
    with pytest.raises(InputError, match="expected neither strata nor one data set per group"):
        rank(TABLE, attributes=ATTRIBUTES, stratify="family", anomalies=["s1"])
    with pytest.raises(InputError, match="a representative subset of 0 of 30 data sets"):
        rank(TABLE, samples=10, representative=0)
    with pytest.raises(InputError, match="1 system; expected at least two to rank"):
        rank({"a": {"x": 1.0}})
    with pytest.raises(InputError, match="expected a file with a column of metrics"):
        rank(TABLE, samples=10, metrics=["las"])


def test_means_of_many_digits_are_counted_and_what_stays_undecided_is_noted() -> None:
    rng = np.random.default_rng(5)
    means = {f"s{i}": {f"d{j}": float(rng.normal(80, 2, 5).mean()) for j in range(47)} for i in range(3)}
    found = rank(means, samples=2000, exact=True)
    (note,) = (note for note in found.notes if "undecided" in note)
    assert note.startswith("the order of some pairs is undecided on up to 0.0")
    for pair in found.pairs:
        assert pair.exact is not None
        assert pair.exact.undecided < 1e-3 * pair.exact.total
        assert pair.shares[0] == pytest.approx(pair.ahead, abs=0.05)
    assert all(row.possible_best is not None and row.possible_best.proved for row in found.systems)


def test_progress_is_reported_by_what_is_counted() -> None:
    counts: dict[str, list[tuple[int, int]]] = {}

    def on_progress(what: str, done: int, total: int) -> None:
        counts.setdefault(what, []).append((done, total))

    table = {"A": {"en": 90.0, "de": 80.0, "fi": 70.0}, "B": {"en": 80.0, "de": 80.0, "fi": 71.0}}
    rank(table, subset_size=2, exact=True, on_progress=on_progress)
    assert counts == {"subsets": [(3, 3)], "systems": [(1, 2), (2, 2)]}
