"""Verdicts on scores of items err as rarely as they say, through the function behind the command."""

from __future__ import annotations

import pytest

from tests.questions.item_worlds import DESIGNS, ItemDesign, compared, most_expected, naive_wins, rate, wins

SLOW, FAST = 1000, 60


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
@pytest.mark.parametrize("worlds", [FAST, pytest.param(SLOW, marks=pytest.mark.slow)])
def test_equal_models_seldom_win(design: ItemDesign, worlds: int) -> None:
    assert rate(lambda rng: wins(compared(design, rng)), worlds) <= most_expected(worlds)


@pytest.mark.slow
def test_answers_taken_for_items_err_more_often() -> None:
    design = DESIGNS[0]
    assert rate(lambda rng: naive_wins(design, rng), SLOW) > 2 * most_expected(SLOW)
