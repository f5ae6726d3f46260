"""Alpha spending and bounds of p-values over several looks."""

from __future__ import annotations

from fractions import Fraction
from math import isnan, nan

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.stats.looks import look_bound, spent_level


def test_levels_by_hand() -> None:
    assert [spent_level(0.06, look) for look in (1, 2, 3)] == pytest.approx([0.03, 0.01, 0.005])
    assert spent_level(0.05, 7) == pytest.approx(0.05 / 56)


def test_levels_of_any_number_of_looks_sum_to_less_than_alpha() -> None:
    total = sum(Fraction(1, look * (look + 1)) for look in range(1, 1001))
    assert total == Fraction(1000, 1001)
    assert sum(spent_level(0.05, look) for look in range(1, 1001)) == pytest.approx(0.05 * 1000 / 1001)


def test_bounds_by_hand() -> None:
    assert look_bound(0.003, 7) == pytest.approx(0.021)
    assert (look_bound(0.4, 3), look_bound(0.4, 1), look_bound(0.0, 9)) == (1.0, 0.4, 0.0)
    assert isnan(look_bound(nan, 2))


def test_both_keep_the_error_rate_where_looks_are_stopped_at_the_first_success() -> None:
    rng, looks, worlds = np.random.default_rng(0), 8, 20_000
    p_values = rng.random((worlds, looks))  # of independent looks at equally good systems
    stopped_at = np.argmax(p_values <= 0.05, axis=1)
    first_p = p_values[np.arange(worlds), stopped_at]
    plain = np.mean((p_values <= 0.05).any(axis=1))
    spent = np.mean((p_values <= [spent_level(0.05, look) for look in range(1, looks + 1)]).any(axis=1))
    bounded = np.mean([look_bound(p, looks) <= 0.05 for p in first_p])
    assert plain > 0.3
    assert max(spent, bounded) <= 0.05 + 3 * (0.05 * 0.95 / worlds) ** 0.5
    assert spent > 0.035  # little is wasted


def test_there_is_at_least_one_look() -> None:
    with pytest.raises(InputError, match="look 0; expected at least 1"):
        spent_level(0.05, 0)
    with pytest.raises(InputError, match="expected at least 1"):
        look_bound(0.05, 0)
    with pytest.raises(InputError, match="alpha 5"):
        spent_level(5, 1)
