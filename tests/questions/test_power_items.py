"""Power on scores of items: components by hand, planned against simulated, and what attempts can be planned from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.special import expit
from scipy.stats import nct, norm, t

from deadheat.errors import InputError
from deadheat.items.table import ItemTable, item_table
from deadheat.questions.compare_items import compare_items
from deadheat.questions.power_items import power_items
from deadheat.results.base import from_json
from deadheat.results.data import Power
from tests.questions.item_worlds import ItemDesign, draw, rate, wins

FEW, MANY = 60, 1000


def long_table(scores_SKI: np.ndarray, *, task: str = "t", items_per_cluster: int = 0) -> pl.DataFrame:
    """One row per score of system A or B, attempt and item."""
    system, attempt, item = (axis.ravel() for axis in np.indices(scores_SKI.shape))
    frame = pl.DataFrame({"task": task, "item": item, "epoch": attempt, "score": scores_SKI.ravel()})
    frame = frame.with_columns(pl.Series("system", np.array(["A", "B"])[system]))
    return frame.with_columns(passage=item // items_per_cluster) if items_per_cluster else frame


def answers(items: int, attempts: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    chance_SI = rng.beta(2, 1.5, size=items) * np.ones((2, 1)) * 0.7 + 0.3 * rng.random((2, items))
    return (rng.random((attempts, 2, items)) < chance_SI).swapaxes(0, 1).astype(float)


def components(scores_SKI: np.ndarray) -> tuple[float, float, float]:
    """Variance of a difference on an item without attempts, and that of single attempts of both systems, by hand."""
    attempts = scores_SKI.shape[1]
    a, b = scores_SKI
    within = []
    for y_KI in (a, b):
        rest = y_KI - y_KI.mean(axis=0) - y_KI.mean(axis=1, keepdims=True) + y_KI.mean()
        within.append(float((rest**2).sum() / ((y_KI.shape[0] - 1) * (y_KI.shape[1] - 1))))
    total = float((a.mean(axis=0) - b.mean(axis=0)).var(ddof=1))
    return max(0.0, total - sum(within) / attempts), within[0], within[1]


def test_components_and_power_are_those_computed_by_hand() -> None:
    scores = answers(80, 5)
    between, of_a, of_b = components(scores)
    differ = int((scores[0].sum(axis=0) != scores[1].sum(axis=0)).sum())
    for units, attempts in ((80, 5), (200, 5), (200, 2), (50, 12)):
        planned = power_items(long_table(scores), difference=6, units=units, attempts=attempts)
        error = np.sqrt((between + (of_a + of_b) / attempts) / units)
        assert planned.error == pytest.approx(error)
        freedom = differ / 80 * units - 1  # as many items count as those on which the systems differ
        assert planned.freedom == pytest.approx(freedom)
        both_tails = nct.sf(t.ppf(0.975, freedom), freedom, 0.06 / error) + nct.cdf(
            t.ppf(0.025, freedom), freedom, 0.06 / error
        )
        assert planned.power == pytest.approx(both_tails)
    now = power_items(long_table(scores), difference=6)
    assert (now.runs, now.measured_runs, now.repeat, now.unit) == ((5, 5), (5, 5), "attempt", "item")


def test_items_needed_are_those_of_the_formula() -> None:
    scores = answers(400, 4)
    between, of_a, of_b = components(scores)
    result = power_items(long_table(scores), difference=2)
    spread = (norm.ppf(0.975) + norm.ppf(0.8)) ** 2 / 0.02**2
    for plan in result.attempts:
        expected = spread * (between + (of_a + of_b) / plan.attempts)
        assert plan.needed == pytest.approx(expected, abs=4)  # Student's t asks for two or three more than the normal
    assert [plan.attempts for plan in result.attempts] == [1, 2, 4, 8, 16, np.inf]
    assert {plan.attempts: plan.needed for plan in result.attempts}[4] == result.needed
    powers = [plan.power for plan in result.attempts]
    assert powers == sorted(powers)
    assert all(plan.power < plan.power_twice for plan in result.attempts)
    planned = power_items(long_table(scores), difference=2, attempts=3, units=800)
    (three,) = (plan for plan in planned.attempts if plan.attempts == 3)
    assert (three.power, three.needed) == (planned.power, planned.needed)


def test_attempts_that_explain_all_of_the_noise_leave_none_between_items() -> None:
    rng = np.random.default_rng(3)
    worlds = [(rng.random((2, 8, 40)) < 0.5).astype(float) for _ in range(20)]
    limits = [power_items(long_table(world), difference=5).attempts[-1] for world in worlds]
    assert any(limit.power == 1 for limit in limits)  # the component is cut off at 0 in about half of the worlds
    assert all(0 < limit.power <= 1 for limit in limits)


def test_clusters_of_one_item_change_nothing_and_larger_ones_have_a_design_effect() -> None:
    scores = answers(60, 3)
    items = power_items(long_table(scores), difference=5, attempts=6)
    single = power_items(long_table(scores, items_per_cluster=1), difference=5, attempts=6)
    assert (single.unit, items.unit) == ("passage", "item")
    assert single.error == pytest.approx(items.error)
    assert single.needed == items.needed
    assert single.design_effect == pytest.approx(1)
    clustered = long_table(np.repeat(answers(60, 3), 4, axis=2), items_per_cluster=4)  # four times the same answers
    result = power_items(clustered, difference=5)
    assert (result.unit, result.units) == ("passage", 60)
    assert result.design_effect == pytest.approx(4, rel=0.05)
    by_item = power_items(clustered, difference=5, unit="item")
    assert result.error**2 / by_item.error**2 == pytest.approx(result.design_effect)
    with pytest.raises(InputError, match="although passages vary here; expected --unit passage, or --unit item"):
        power_items(clustered, difference=5, units=100)
    assert power_items(clustered, difference=5, unit="passage", units=240).error == pytest.approx(result.error / 2)


def test_tasks_have_equal_weight_and_their_variances_add_up() -> None:
    small, large = answers(40, 4, seed=1), answers(160, 4, seed=2)
    frames = [long_table(small, task="small"), long_table(large, task="large")]
    result = power_items(pl.concat(frames), difference=5, attempts=2)
    alone = [power_items(frame, difference=5, attempts=2).error for frame in frames]
    assert result.units == 200
    assert result.error == pytest.approx(np.sqrt(alone[0] ** 2 + alone[1] ** 2) / 2, rel=0.02)


def test_one_attempt_at_every_item_cannot_plan_attempts() -> None:
    one = long_table(answers(60, 1)).drop("epoch")
    result = power_items(one, difference=5)
    assert result.attempts == ()
    assert "A and B: one attempt at every item" in result.notes[0]
    with pytest.raises(InputError, match="noise between attempts is unknown for A and B; expected two or more"):
        power_items(one, difference=5, attempts=4)


def test_items_with_missing_attempts_are_used_for_what_they_have() -> None:
    frame = long_table(answers(100, 4))
    gaps = frame.filter(~((pl.col("item") % 10 == 0) & (pl.col("epoch") == 3)))
    whole, gappy = (power_items(table, difference=5) for table in (frame, gaps))
    assert gappy.units == 100
    assert gappy.error == pytest.approx(whole.error, rel=0.1)
    assert gappy.attempts
    own_names = frame.with_columns(epoch=pl.col("item") * 10 + pl.col("epoch"))  # a name for every single answer
    result = power_items(own_names, difference=5)
    assert result.attempts == ()
    assert result.error == pytest.approx(whole.error)


def test_runs_are_planned_as_runs() -> None:
    runs = long_table(answers(100, 4)).rename({"epoch": "seed"})
    result = power_items(runs, difference=5, runs=8)
    assert (result.repeat, result.runs, result.measured_runs) == ("run", (8, 8), (4, 4))
    assert not np.isnan(result.run_share)
    with pytest.raises(InputError, match="although the repeats are runs; expected --runs"):
        power_items(runs, difference=5, attempts=8)
    with pytest.raises(InputError, match="although the repeats are attempts; expected --attempts"):
        power_items(runs, difference=5, runs=8, repeats="attempts")


def test_scores_that_are_no_shares_are_in_their_own_points() -> None:
    grades = 1 + 4 * answers(100, 3)
    result = power_items(long_table(grades), difference=0.3)
    shares = power_items(long_table((grades - 1) / 4), difference=7.5)
    assert result.power == pytest.approx(shares.power)
    assert result.error == pytest.approx(4 * shares.error)
    assert "A and B truly differ by 0.30 in score, a test set" in repr(result)
    with pytest.raises(InputError, match="difference inf; expected a number other than 0"):
        power_items(long_table(grades), difference=np.inf)


def test_two_systems_are_named_where_a_table_has_more() -> None:
    frame = long_table(answers(50, 2))
    three = pl.concat([frame, frame.filter(system="A").with_columns(system=pl.lit("C"), score=1 - pl.col("score"))])
    with pytest.raises(InputError, match=r"3 systems \(A, B and C\); expected two, or --pair A B to name them"):
        power_items(three, difference=5)
    assert power_items(three, difference=5, pair=["C", "B"]).systems == ("C", "B")
    with pytest.raises(InputError, match="1 system"):
        power_items(three, difference=5, pair=["A", "A"])
    with pytest.raises(InputError, match="'D'"):
        power_items(three, difference=5, pair=["A", "D"])


def test_an_item_table_gives_the_same_and_results_survive_json() -> None:
    frame = long_table(answers(50, 3))
    table = item_table("items", frame.rename({"epoch": "repeat"}))
    assert isinstance(table, ItemTable)
    result = power_items(frame, difference=5)
    assert power_items(table, difference=5).power == result.power
    assert from_json(result.to_json()) == result


def true_difference(design: ItemDesign, effect: float) -> float:
    """The difference of the models over all items there could be: a pilot of 30,000 is off by up to half a point."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    sd = np.sqrt(1.5**2 + design.item_sd**2 + design.passage_sd**2 * bool(design.passages))
    first, second = (float(weights @ expit(0.6 + shift + sd * nodes) / weights.sum()) for shift in (effect, 0.0))
    return first - second


def planned(design: ItemDesign, effect: float) -> Power:
    """Power as planned on a large pilot with four attempts."""
    pilot = replace(design, items=30_000, passages=3000 if design.passages else 0, attempts=4)
    frame = draw(pilot, np.random.default_rng(5), effect=effect)
    frame = frame if design.passages else frame.drop("passage")
    units, unit = (design.passages, "passage") if design.passages else (design.items, "item")
    gap = 100 * true_difference(design, effect)
    return power_items(frame, difference=gap, attempts=design.attempts, units=units, unit=unit)


SIMULATED = [
    ItemDesign("150 items x 1 attempt", items=150),
    ItemDesign("150 items x 4 attempts", items=150, attempts=4),
    ItemDesign("150 items x 16 attempts", items=150, attempts=16),
    ItemDesign("25 items x 4 attempts", items=25, attempts=4),
    ItemDesign("30 passages x 10 items x 2 attempts", items=300, passages=30, attempts=2),
]
EFFECTS = (0.7, 0.55, 0.5, 1.2, 0.6)
CASES = pytest.mark.parametrize(
    ("design", "effect"), list(zip(SIMULATED, EFFECTS, strict=True)), ids=[design.name for design in SIMULATED]
)


def simulated(design: ItemDesign, effect: float, worlds: int) -> float:
    def won(rng: np.random.Generator) -> bool:
        frame = draw(design, rng, effect=effect)
        return wins(compare_items(frame if design.passages else frame.drop("passage")))

    return rate(won, worlds) / worlds


@CASES
def test_planned_power_is_that_of_simulated_comparisons(design: ItemDesign, effect: float) -> None:
    assert simulated(design, effect, FEW) == pytest.approx(planned(design, effect).power, abs=0.2)


@pytest.mark.slow
@CASES
def test_planned_power_is_within_three_points_of_simulated_comparisons(design: ItemDesign, effect: float) -> None:
    assert simulated(design, effect, MANY) == pytest.approx(planned(design, effect).power, abs=0.03)
