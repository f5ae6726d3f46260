from __future__ import annotations

import math

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.ranking.selected_subsets import named_subsets

SCORES = np.array([[98.0, 50.0, 70.0], [99.0, 90.0, 60.0], [99.0, 40.0, 70.0]])
SYSTEMS, DATASETS = ["a", "b", "c"], ["en", "kk", "ta"]


def test_error_reductions_are_averaged_over_data_sets_as_in_the_paper() -> None:
    # 98 to 99 removes 50 % of errors, 50 to 90 80 %: 65 % on average, where the averages would say 78.8 %.
    (found,) = named_subsets(SCORES, SYSTEMS, DATASETS, {"two": ["en", "kk"]})
    values = {(each.reference, each.system): each.value for each in found.error_reductions}
    assert values["a", "b"] == pytest.approx(65)
    assert values["b", "a"] == pytest.approx(100 * (-1 / 1 - 40 / 10) / 2)
    assert len(values) == 6


def test_a_subset_has_its_means_ranks_and_agreement_with_all() -> None:
    low, all_three = named_subsets(SCORES, SYSTEMS, DATASETS, {"low": ["kk", "ta"], "all": DATASETS})
    assert low.mean_S.tolist() == [60, 75, 55]
    assert low.rank_S.tolist() == [2, 1, 3]
    assert all_three.tau == 1
    assert low.to_dict()["systems"][1] == {"system": "b", "mean": 75.0, "rank": 1}


def test_equal_means_share_the_better_rank_whatever_their_last_bits() -> None:
    scores = np.array([[0.1, 0.2], [0.3, 0.0], [0.15, 0.1]])  # 0.1 + 0.2 is not 0.3 in floating point
    (found,) = named_subsets(scores, SYSTEMS, ["x", "y"], {"both": ["x", "y"]})
    assert found.rank_S.tolist() == [1, 1, 3]


def test_scores_between_0_and_1_give_error_reductions_on_their_scale() -> None:
    (found,) = named_subsets(SCORES / 100, SYSTEMS, DATASETS, {"two": ["en", "kk"]})
    assert found.error_reductions[0].value == pytest.approx(
        named_subsets(SCORES, SYSTEMS, DATASETS, {"two": ["en", "kk"]})[0].error_reductions[0].value / 100
    )


@pytest.mark.parametrize("perfect", [1.0, 100.0, 300.0])
def test_the_text_gives_per_cent_whatever_the_scale_of_the_scores(perfect: float) -> None:
    scores = SCORES * (perfect / 100)
    (found,) = named_subsets(scores, SYSTEMS, DATASETS, {"two": ["en", "kk"]}, perfect=perfect)
    (each,) = (each for each in found.error_reductions if (each.reference, each.system) == ("a", "b"))
    assert str(each) == "b avoids 65.00 % of the errors of a"
    assert each.value == pytest.approx(0.65 * perfect)


def test_a_reference_without_errors_has_no_error_reduction() -> None:
    scores = np.array([[100.0, 50.0], [90.0, 40.0]])
    (found,) = named_subsets(scores, ["a", "b"], ["x", "y"], {"all": ["x", "y"]})
    values = {each.reference: each.value for each in found.error_reductions}
    assert math.isnan(values["a"])
    assert values["b"] == pytest.approx(100 * (10 / 10 + 10 / 60) / 2)


def test_scores_above_100_need_the_perfect_score() -> None:
    (without,) = named_subsets(SCORES * 3, SYSTEMS, DATASETS, {"all": DATASETS})
    assert all(math.isnan(each.value) for each in without.error_reductions)
    (told,) = named_subsets(SCORES * 3, SYSTEMS, DATASETS, {"two": ["en", "kk"]}, perfect=300)
    assert {(e.reference, e.system): e.value for e in told.error_reductions}["a", "b"] == pytest.approx(3 * 65)
    with pytest.raises(InputError, match="a perfect score of 50 with scores up to 99; expected at least that"):
        named_subsets(SCORES, SYSTEMS, DATASETS, {"all": DATASETS}, perfect=50)


def test_members_without_scores_are_left_out_and_listed() -> None:
    (found,) = named_subsets(SCORES, SYSTEMS, DATASETS, {"two": ["en", "sa", "kk"]})
    assert (found.datasets, found.absent) == (("en", "kk"), ("sa",))
    assert found.mean_S.tolist() == [74, 94.5, 69.5]


def test_a_subset_without_any_scores_and_one_with_twins_are_refused() -> None:
    with pytest.raises(InputError, match=r"subset odd: no scores on any of its 2 data sets; did you mean 'en'\?"):
        named_subsets(SCORES, SYSTEMS, DATASETS, {"odd": ["enn", "xx"]})
    with pytest.raises(InputError, match="subset odd: en twice; expected each data set once"):
        named_subsets(SCORES, SYSTEMS, DATASETS, {"odd": ["en", "kk", "en"]})
