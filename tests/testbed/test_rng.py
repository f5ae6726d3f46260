"""Draws have the distributions they are named for."""

from __future__ import annotations

from collections import Counter
from statistics import fmean, stdev

import pytest

from deadheat.testbed.rng import Rng, weighted, zipfian


def test_the_first_draws_of_a_key_never_change() -> None:
    rng = Rng("language", 0, "document", 3)
    assert [rng.below(1000) for _ in range(5)] == [887, 333, 228, 779, 89]


def test_keys_with_different_parts_give_different_draws() -> None:
    assert Rng("a", "b").random() != Rng("ab").random() != Rng("a", "b", 0).random()


def test_draws_follow_the_weights() -> None:
    rng = Rng("weights")
    counts = Counter(rng.draw(weighted("abc", [1.0, 2.0, 5.0])) for _ in range(16_000))
    assert [counts[item] / 16_000 for item in "abc"] == pytest.approx([1 / 8, 2 / 8, 5 / 8], abs=0.012)


def test_ranks_follow_the_exponent() -> None:
    rng = Rng("ranks")
    counts = Counter(rng.draw(zipfian(range(50), exponent=2.0, shift=0.0)) for _ in range(16_000))
    assert counts[0] / counts[1] == pytest.approx(4, rel=0.1)
    assert counts[1] / counts[3] == pytest.approx(4, rel=0.15)


def test_normal_draws_are_normal() -> None:
    rng = Rng("normal")
    draws = [rng.normal() for _ in range(16_000)]
    assert fmean(draws) == pytest.approx(0, abs=0.025)
    assert stdev(draws) == pytest.approx(1, abs=0.025)
    assert fmean(draw < 1.6449 for draw in draws) == pytest.approx(0.95, abs=0.006)


def test_a_draw_of_zero_is_still_a_number() -> None:
    rng = Rng("zero")
    rng.random = lambda: 0.0
    assert -9 < rng.normal() < -8
    assert rng.draw(weighted("ab", [1.0, 1.0])) == "a"
