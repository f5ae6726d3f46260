"""Verdicts on scores of items err as rarely as they say, through the function behind the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.questions.item_worlds import (
    BY_COMMAND,
    DESIGNS,
    ItemDesign,
    compared,
    compared_by_command,
    most_expected,
    naive_wins,
    rate,
    wins,
)

SLOW, FAST = 1000, 60


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
@pytest.mark.parametrize("worlds", [FAST, pytest.param(SLOW, marks=pytest.mark.slow)])
def test_equal_models_seldom_win(design: ItemDesign, worlds: int) -> None:
    assert rate(lambda rng: wins(compared(design, rng)), worlds) <= most_expected(worlds)


@pytest.mark.slow
def test_answers_taken_for_items_err_more_often() -> None:
    design = DESIGNS[0]
    assert rate(lambda rng: naive_wins(design, rng), SLOW) > 2 * most_expected(SLOW)


@pytest.mark.parametrize("name", BY_COMMAND)
def test_the_command_says_what_the_function_says(name: str, tmp_path: Path) -> None:
    (design,) = (design for design in DESIGNS if design.name == name)
    for world in range(4):
        by_command = compared_by_command(design, np.random.default_rng([17, world]), tmp_path)
        by_function = compared(design, np.random.default_rng([17, world]))
        assert repr(by_command.pairs) == repr(by_function.pairs)  # NaN is not equal to itself
        assert by_command.settings == by_function.settings
