"""How each kind of value is shown."""

import math

import pytest

from deadheat.results.format import (
    COUNT,
    DURATION,
    NAME,
    P_VALUE,
    PERCENT,
    PLAIN,
    RANK,
    SHARE,
    Format,
    Scale,
    Value,
    interval_name,
    number_format,
    show,
)

NAN, INF = math.nan, math.inf
SCORE, POINTS, SIGNED = PERCENT.score, PERCENT.difference, PERCENT.difference_interval
CASES: list[tuple[Format, Value, str]] = [
    (SCORE, 0.891949, "89.19"), (SCORE, 1, "100.00"), (SCORE, -1e-9, "0.00"), (SCORE, NAN, "-"), (SCORE, None, "-"),
    (PLAIN.score, 0.75, "0.7500"), (PLAIN.score, -INF, "-"), (Scale(1.0, 2).score, 87, "87.00"),
    (POINTS, 0.0123, "+1.23"), (POINTS, -0.0123, "-1.23"), (POINTS, 0.0, "+0.00"), (POINTS, -1e-6, "+0.00"),
    (PERCENT.interval, (0.5, 0.75), "[50.00, 75.00]"), (SIGNED, (-0.01, 0.02), "[-1.00, +2.00]"),
    (SIGNED, (NAN, 0.02), "-"), (PERCENT.interval, None, "-"),
    (P_VALUE, 0.0288, "0.0288"), (P_VALUE, 1, "1.0000"), (P_VALUE, 0.0001, "0.0001"), (P_VALUE, 9.9e-5, "9.9e-05"),
    (P_VALUE, 3e-12, "3.0e-12"), (P_VALUE, 0.0, "<1e-300"), (P_VALUE, 1e-310, "<1e-300"), (P_VALUE, NAN, "-"),
    (COUNT, 0, "0"), (COUNT, 1234, "1,234"), (COUNT, -3, "-3"), (COUNT, INF, "-"),
    (SHARE, 0, "0%"), (SHARE, 1, "100%"), (SHARE, 0.5, "50.0%"), (SHARE, 0.99996, ">99.9%"), (SHARE, 0.0004, "<0.1%"),
    (SHARE, 0.9994, "99.9%"), (SHARE, 0.0005, "0.1%"), (SHARE, NAN, "-"), (SHARE, 1.5, "150.0%"),
    (RANK, 1, "1"), (RANK, 2.5, "2.5"), (RANK, 10, "10"), (RANK, 1.125, "1.12"), (RANK, NAN, "-"),
    (RANK, (1, 3.5), "[1, 3.5]"), (RANK, (1, NAN), "-"),
    (number_format(), 0.12345, "0.123"), (number_format(2), NAN, "-"),
    (DURATION, 2, "2.0 s"), (DURATION, 59.94, "59.9 s"), (DURATION, 75, "1 min 15 s"), (DURATION, 3600, "1 h 0 min"),
    (DURATION, 119.9, "2 min 0 s"), (DURATION, 3_700_000, "1,027 h 46 min"), (DURATION, NAN, "-"),
    (DURATION, 0, "0.0 s"),
    (NAME, "<b>", "<b>"), (NAME, "", ""), (SCORE, "none", "none"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "value", "text"), CASES)
def test_a_value_is_shown_by_its_kind(form: Format, value: Value, text: str) -> None:
    assert show(value, form) == text


@pytest.mark.parametrize(
    ("scores", "scale"),
    [
        ([0.5, 0.875], PERCENT),
        ([0, 1], PERCENT),
        ([], PERCENT),
        ([None, NAN, 0.3], PERCENT),
        ([0.5, 1.1], PLAIN),
        ([-0.1, 0.5], PLAIN),
        ([61.2, 87], Scale(1.0, 2)),
        ([0.5, INF], PERCENT),
    ],
)
def test_scores_that_are_all_shares_are_read_in_percent(scores: list[float | None], scale: Scale) -> None:
    assert Scale.of(scores) == scale


def test_the_scale_decides_what_differences_are_called() -> None:
    assert (PERCENT.is_percent, PERCENT.unit, PERCENT.points) == (True, " in percent", " points of")
    assert (PLAIN.is_percent, PLAIN.unit, PLAIN.points) == (False, "", " in")


@pytest.mark.parametrize(("alpha", "name"), [(0.05, "95% CI"), (0.1, "90% CI"), (0.001, "99.9% CI")])
def test_an_interval_is_named_by_its_level(alpha: float, name: str) -> None:
    assert interval_name(alpha) == name
