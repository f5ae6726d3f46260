"""Sizes, settings and counts that are wrong are told."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.metrics import METRICS
from deadheat.ranking.size_samples import SizeSettings, parse_sizes
from tests.ranking.counts import counted_set, curve_of, made_up


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"sizes": ()}, "sizes ''; expected increasing numbers of words"),
        ({"sizes": (100, 100)}, "sizes '100,100'; expected increasing numbers"),
        ({"sizes": (200, 100)}, "sizes '200,100'; expected increasing numbers"),
        ({"sizes": (0, 100)}, "sizes '0,100'; expected increasing numbers"),
        ({"strategies": ("rnd",)}, "sampling strategy 'rnd' is unknown; did you mean 'rand'?"),
        ({"strategies": ()}, "sampling strategies ''; expected some of seq, rand, rand-seq"),
        ({"strategies": ("seq", "seq")}, "sampling strategies 'seq,seq'; expected some of"),
        ({"draws": 0}, "draws 0; expected a whole number, at least 1"),
        ({"aso_draws": -1}, "aso draws -1; expected a whole number, at least 0"),
        ({"threshold": -1.0}, "threshold -1.0; expected a tau above -1 and at most 1"),
        ({"threshold": 1.01}, "threshold 1.01; expected"),
        ({"threshold": math.nan}, "threshold nan; expected"),
        ({"confidence": 1.0}, "confidence 1.0; expected between 0 and 1"),
        ({"runs": "mean"}, "runs 'mean' is unknown; expected one of average, separate"),
        ({"against": "al"}, "against 'al' is unknown; did you mean 'all'?"),
    ],
)
def test_wrong_settings_are_reported(changed: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError) as error:
        SizeSettings(**changed)  # type: ignore[arg-type]
    assert problem in str(error.value)


def test_sizes_are_numbers_of_words_and_perhaps_all() -> None:
    assert parse_sizes("100, 2_000,all") == ((100, 2000), True)
    assert parse_sizes("100") == ((100,), False)


@pytest.mark.parametrize("text", ["", "all", "100,x", "1.5", "100,,200", "-5", "all,100"])
def test_sizes_that_are_not_numbers_are_reported(text: str) -> None:
    with pytest.raises(InputError, match="expected increasing numbers of words, such as 100,200,500"):
        parse_sizes(text)


def test_wrong_counts_are_reported() -> None:
    good = made_up(runs=(1, 1), units=5)
    wrong: list[tuple[dict[str, object], str]] = [
        ({"counts_RNF": good.counts_RNF[:, :4]}, "counts of shape (2, 4, 3); expected 2 runs by 5 units by 3 fields"),
        ({"counts_RNF": good.counts_RNF[..., :2]}, "counts of shape (2, 5, 2)"),
        ({"counts_RNF": good.counts_RNF.astype(float)}, "counts of type float64, or negative"),
        ({"counts_RNF": -good.counts_RNF}, "or negative"),
        ({"lengths_N": np.zeros(5, np.int64)}, "a unit without words"),
        ({"counts_RNF": 0 * good.counts_RNF, "metric": METRICS.make("accuracy(column='upos')")}, "s0: no score"),
    ]
    for changed, problem in wrong:
        with pytest.raises(InputError) as error:
            replace(good, **changed)  # type: ignore[arg-type]
        assert problem in str(error.value)


def test_a_test_set_that_is_too_small_for_every_size_is_refused() -> None:
    words = counted_set(np.array([[3, 1], [2, 1]]), np.array([6, 6]), ("a", "b"))
    with pytest.raises(InputError, match="all sizes are larger than 11 words; there are 12"):
        curve_of(words, SizeSettings((12, 50)))
    with pytest.raises(InputError, match="all sizes are larger than 6 words; there are 12"):
        curve_of(words, SizeSettings((7, 50), against="rest"))


def test_one_system_cannot_be_ranked_but_its_runs_can() -> None:
    words = made_up(runs=(3,), units=30)
    with pytest.raises(InputError, match="1 system; expected at least two to rank"):
        curve_of(words, SizeSettings((20,), strategies=("rand",)))
    assert len(curve_of(words, SizeSettings((20,), strategies=("rand",), runs="separate")).points) == 2
