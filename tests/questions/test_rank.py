from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from deadheat.terminal.rank import ranking_text

from deadheat.errors import InputError, NameUnknown
from deadheat.questions.rank import Ranking, rank
from deadheat.ranking.anomalies import Attributes

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
        anomalous=["s1"],
        subsets={"few": ["d1", "d2", "d3"]},
        left_out=True,
        representative_size=3,
    )


def test_chances_of_places_and_of_pairs_add_up(found: Ranking) -> None:
    made = found.to_dict()
    for each in made["systems"]:
        assert sum(each["chances"]) == pytest.approx(1)
        assert each["mean"] == pytest.approx(sum(r * p for r, p in enumerate(each["chances"], start=1)))
        assert each["best"] <= each["lower_quartile"] <= each["median"] <= each["upper_quartile"] <= each["worst"]
    assert len(made["pairs"]) == 15
    for pair in (*made["pairs"], *made["exact"]["pairs"]):
        assert pair["p_a"] + pair["p_b"] + pair["p_level"] == pytest.approx(1)


def test_systems_come_best_first_and_pairs_with_the_better_first(found: Ranking) -> None:
    made = found.to_dict()
    means = [each["mean_score"] for each in made["systems"]]
    assert means == sorted(means, reverse=True)
    assert [each["rank"] for each in made["systems"]] == [1, 2, 3, 4, 5, 6]
    order = [each["system"] for each in made["systems"]]
    assert all(order.index(pair["a"]) < order.index(pair["b"]) for pair in made["pairs"])


def test_what_the_sample_missed_is_what_the_exact_extremes_exceed(found: Ranking) -> None:
    made = found.to_dict()
    sampled = {each["system"]: each for each in made["systems"]}
    missed = {(each["system"], each["end"]): each for each in made["exact"]["missed"]}
    for each in made["exact"]["extremes"]:
        for end in ("best", "worst"):
            exact, seen = each[end]["rank"], sampled[each["system"]][end]
            assert (exact <= seen) if end == "best" else (exact >= seen)
            assert ((each["system"], end) in missed) is (exact != seen)
            assert len(each[end]["subset"]) == 10
            means = {name: sum(scores[d] for d in each[end]["subset"]) for name, scores in TABLE.items()}
            assert 1 + sum(other > means[each["system"]] + 1e-9 for other in means.values()) == exact
    assert missed  # 300 of 30 million subsets do not show all extremes


def test_a_rank_that_is_not_proved_is_not_called_exact(found: Ranking) -> None:
    assert found.exact is not None
    unproved = tuple(
        (replace(best, bound=best.rank - 1), replace(worst, bound=worst.rank + 1))
        for best, worst in found.exact.extremes
    )
    stopped = replace(found, exact=replace(found.exact, extremes=unproved))
    assert None not in {each["exact"] for each in found.to_dict()["exact"]["missed"]}
    assert {each["exact"] for each in stopped.to_dict()["exact"]["missed"]} == {None}
    assert len(stopped.missed()) == len(found.missed())
    assert "sampled subsets; 12 are not proved" in ranking_text(stopped)
    assert "not proved" not in ranking_text(found)


def test_the_line_to_quote_has_the_seed_wherever_chance_had_a_part() -> None:
    listed = rank(TABLE, subset_size=2, seed=5)
    looked_into = rank(TABLE, subset_size=2, seed=5, attributes=ATTRIBUTES, anomalous=["s1"])
    assert "seed" not in listed.signature
    assert looked_into.signature == f"{listed.signature} | seed 5"


def test_all_parts_are_there_and_nothing_else_when_not_asked_for(found: Ranking) -> None:
    made = found.to_dict()
    assert [each["system"] for each in made["anomalies"]] == ["s1"]
    assert [each["subset"] for each in made["subsets"]] == ["few"]
    assert len(made["leave_one_out"]) == 30
    assert made["representative"]["size"] == 3
    bare = rank(TABLE, samples=100).to_dict()
    assert set(bare) == set(made)
    assert bare["exact"] is bare["representative"] is None
    assert not any(bare[part] for part in ("anomalies", "subsets", "leave_one_out", "metrics"))


def test_few_subsets_are_all_taken_and_more_are_drawn() -> None:
    assert rank(TABLE, subset_size=2, samples=435).sampled.samples == math.comb(30, 2) == 435
    every, drawn = rank(TABLE, subset_size=2, samples=435), rank(TABLE, subset_size=2, samples=434)
    assert (every.to_dict()["design"], drawn.to_dict()["design"]) == ("all", "free")
    assert "all subsets of 2" in every.signature
    assert "434 subsets (free) of 2" in drawn.signature


def test_the_size_of_subsets_is_10_or_half_of_few_data_sets() -> None:
    assert rank(TABLE, samples=10).sampled.design.size == 10
    few = {name: {d: scores[d] for d in DATASETS[:7]} for name, scores in TABLE.items()}
    assert rank(few, samples=10).sampled.design.size == 3


def test_subsets_by_groups() -> None:
    one_each = rank(TABLE, samples=1000, attributes=ATTRIBUTES, one_per="family")
    assert one_each.sampled.design.size == 3
    drawn = one_each.sampled.design.draw(one_each.sampled.key, range(200))
    assert (np.sort(drawn % 3, axis=1) == [0, 1, 2]).all()
    strata = rank(TABLE, samples=1000, attributes=ATTRIBUTES, stratify="family", subset_size=6)
    drawn = strata.sampled.design.draw(strata.sampled.key, range(200))
    assert ((drawn % 3 == 1).sum(axis=1) == 2).all()


def test_latex_has_a_row_a_system(found: Ranking) -> None:
    assert found.to_latex().count(r"\\") == 7


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
    assert loose.mean_sd == pytest.approx(float(made.sampled.sd_S.mean()))
    whole = made.scores.above_SD.sum(axis=1)
    turned = [made.sampled.wins_SS[b, a] for a in range(4) for b in range(4) if whole[a] > whole[b]]
    assert loose.swapped == pytest.approx(np.mean(turned) / 2000)


def test_wrong_questions_are_refused() -> None:
    with pytest.raises(InputError, match="subsets of 31 of 30 data sets; expected between 1 and 30"):
        rank(TABLE, subset_size=31)
    with pytest.raises(NameUnknown, match=r"system 'ss1' is unknown; did you mean 's1'\?"):
        rank(TABLE, samples=10, anomalous=["ss1"])
    with pytest.raises(NameUnknown, match=r"attribute 'famly' is unknown; did you mean 'family'\?"):
        rank(TABLE, attributes=ATTRIBUTES, stratify="famly")
    with pytest.raises(InputError, match="groups by family, but no attributes"):
        rank(TABLE, one_per="family")
    with pytest.raises(InputError, match="expected one way to draw subsets"):
        rank(TABLE, attributes=ATTRIBUTES, one_per="family", stratify="family")
    with pytest.raises(InputError, match="expected neither strata nor one data set a group"):
        rank(TABLE, attributes=ATTRIBUTES, one_per="family", exact=True)
    with pytest.raises(InputError, match="expected neither strata nor one data set a group"):
        rank(TABLE, attributes=ATTRIBUTES, stratify="family", anomalous=["s1"])
    with pytest.raises(InputError, match="a representative subset of 0 of 30 data sets"):
        rank(TABLE, samples=10, representative_size=0)
    with pytest.raises(InputError, match="1 system; expected at least two to rank"):
        rank({"a": {"x": 1.0}})
    with pytest.raises(InputError, match="expected a file with a column of metrics"):
        rank(TABLE, samples=10, metrics=["las"])
