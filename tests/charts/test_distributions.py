"""Distributions: violins, strips and ranges of splits lie where the values do, and say what they leave out."""

import numpy as np
import pytest

from deadheat.charts.chart import COLUMN, WIDE, Chart, Layout
from deadheat.charts.distributions import (
    FEWEST,
    MOST_DOTS,
    MOST_IN_TABLE,
    MOST_SMOOTHED,
    Sample,
    SplitRange,
    SplitRangePlot,
    Strip,
    StripPlot,
    ViolinPlot,
)
from tests.charts.svg_reading import NAN, about, across, assert_sound, boxes, cells, layouts, only, root_of, said, texts

LEGEND = 3  # sizes of the font: signs that are no data lie above


def violins(samples: list[Sample], layout: Layout = WIDE) -> Chart:
    return ViolinPlot(tuple(samples), title="Seeds", axis="F1 in %").draw(layout)


def normal(count: int, mean: float = 90, sd: float = 0.5, seed: int = 0) -> tuple[float, ...]:
    return tuple(np.random.default_rng(seed).normal(mean, sd, count).tolist())


@layouts
def test_the_box_reaches_from_quartile_to_quartile_and_the_line_is_the_median(layout: Layout) -> None:
    values = {"a": normal(31, seed=1), "b": normal(200, 91, seed=2)}
    chart = violins([Sample(name, each) for name, each in values.items()], layout)
    place = across(chart, layout)
    for name, each in values.items():
        lower, median, upper = np.quantile(each, [0.25, 0.5, 0.75])
        mine = about(chart, layout, f"{name}: median")
        box = only(mark for mark in mine if mark.tag == "rect")
        assert (box.left, box.right) == pytest.approx((place(lower), place(upper)), abs=0.1)
        line = only(mark for mark in mine if mark.tag == "line")
        assert line.left == line.right == pytest.approx(place(median), abs=0.1)
        assert box.top < line.middle[1] < box.bottom


def kernel_density(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Silverman (1986), equation 3.31, one kernel after the other."""
    spread = min(np.std(values, ddof=1), np.subtract(*np.quantile(values, [0.75, 0.25])) / 1.34)
    width = 0.9 * spread * len(values) ** -0.2
    return np.array([np.mean(np.exp(-0.5 * ((x - values) / width) ** 2)) for x in at])


def outline(chart: Chart, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Places and heights of the one violin of a chart: its upper and its lower side are the same."""
    bands = [each for each in root_of(chart, layout).iter() if each.get("class") == "band" and len(each)]
    (points,) = (each.attrib["points"] for each in bands)
    places = np.array([[float(v) for v in pair.split(",")] for pair in points.split()])
    above, below = places[: len(places) // 2], places[len(places) // 2 :][::-1]
    assert above[:, 0] == pytest.approx(below[:, 0])
    middle = (above[:, 1] + below[:, 1]) / 2
    assert middle == pytest.approx(middle[0], abs=0.02)
    return above[:, 0], (below[:, 1] - above[:, 1]) / 2


@pytest.mark.parametrize("count", [5, 40, 500])
def test_the_shape_is_the_kernel_density_from_the_least_to_the_greatest_value(count: int) -> None:
    values = normal(count, seed=count)
    chart = violins([Sample("a", values)])
    xs, heights = outline(chart, WIDE)
    place = across(chart, WIDE)
    assert (xs[0], xs[-1]) == pytest.approx((place(min(values)), place(max(values))), abs=0.1)
    back = min(values) + (xs - xs[0]) / (xs[-1] - xs[0]) * (max(values) - min(values))
    expected = kernel_density(np.array(values), back)
    assert heights / heights.max() == pytest.approx(expected / expected.max(), abs=0.01)


def test_the_shape_of_very_many_values_rests_on_few_and_says_so() -> None:
    values = normal(50_000, 80, 2)
    chart = violins([Sample("many", values), Sample("few", (80.0,))])
    xs, heights = outline(chart, WIDE)
    place = across(chart, WIDE)
    expected = np.exp(-0.5 * ((xs - place(80)) / (place(82) - place(80))) ** 2)
    assert heights / heights.max() == pytest.approx(expected, abs=0.05)
    assert f"The densities of 1 use {MOST_SMOOTHED:,} evenly spaced order statistics each." in chart.description
    assert "order statistics" not in violins([Sample("a", normal(MOST_SMOOTHED))]).description


@pytest.mark.parametrize(("count", "points"), [(1, 1), (4, 4), (5, 5), (MOST_DOTS - 1, MOST_DOTS - 1), (MOST_DOTS, 0)])
def test_values_are_points_while_they_are_few_and_have_a_shape_while_they_are_not(count: int, points: int) -> None:
    values = normal(count)
    chart = violins([Sample("a", values)])
    place = across(chart, WIDE)
    dots = [box for box in boxes(chart, WIDE) if box.tag == "circle" and box.top > LEGEND * WIDE.font]
    assert sorted(box.middle[0] for box in dots) == pytest.approx(
        [place(each) for each in sorted(values)[:points]], abs=0.1
    )
    assert all(box.tooltip.startswith("a: ") for box in dots)
    assert any(box.tag == "polygon" for box in boxes(chart, WIDE)) == (count >= FEWEST)


def test_equal_values_do_not_hide_each_other() -> None:
    chart = violins([Sample("a", (90.0, 90.0, 90.0, 91.0))])
    dots = [box.middle for box in boxes(chart, WIDE) if box.tag == "circle" and box.top > LEGEND * WIDE.font]
    assert len(set(dots)) == 4


def test_all_values_of_violins_are_in_the_table_while_they_are_few_enough() -> None:
    first, second = normal(MOST_IN_TABLE - 1), (1.5,)
    chart = violins([Sample("a", first), Sample("b", second)])
    assert chart.header == ("name", "value")
    assert [float(row["value"]) for row in cells(chart)] == [*first, *second]
    assert [row["name"] for row in cells(chart)] == ["a"] * len(first) + ["b"]


def test_of_too_many_values_the_table_has_a_summary() -> None:
    values = normal(MOST_IN_TABLE)
    rows = cells(violins([Sample("a", values), Sample("b", (1.0,)), Sample("c", (NAN,))]))
    assert [row["name"] for row in rows] == ["a", "b", "c"]
    assert [row["n"] for row in rows] == [str(MOST_IN_TABLE), "1", "0"]
    names = ("min", "lower_quartile", "median", "upper_quartile", "max", "mean", "sd")
    expected = [*np.quantile(values, [0, 0.25, 0.5, 0.75, 1]), np.mean(values), np.std(values, ddof=1)]
    assert [float(rows[0][name]) for name in names] == pytest.approx(expected)
    assert rows[1]["sd"] == rows[2]["min"] == ""


@layouts
def test_what_is_no_number_is_left_out_and_told(layout: Layout) -> None:
    chart = violins([Sample("a", (NAN, 90.0, float("inf"), 91.0)), Sample("b", (NAN,))], layout)
    assert_sound(chart, layout)
    assert "3 missing values are left out." in chart.description
    assert [row["value"] for row in cells(chart)] == ["", "90.0", "", "91.0", ""]
    assert "no values" in {box.content for box in texts(chart, layout)}


def test_the_description_tells_counts_and_medians() -> None:
    chart = violins([Sample("a", (1.0, 2.0, 4.0)), Sample("b", (7.0,))], COLUMN)
    assert chart.description == "3 values of a (median 2.00), 1 value of b (median 7.00)."


ROWS = [Strip("first", (90.0, 92.0, 91.5), ("a", "b", "c"), 1), Strip("second", (88.0, 89.0), ("a", "b"), 0)]


def strips(rows: list[Strip], layout: Layout = WIDE) -> Chart:
    return StripPlot(tuple(rows), title="Settings", axis="Accuracy in percent").draw(layout)


@layouts
def test_dots_the_median_and_the_chosen_one_are_in_their_places(layout: Layout) -> None:
    chart = strips(ROWS, layout)
    place = across(chart, layout)
    own = about(chart, layout, "first")
    chosen = only(box for box in own if box.tag == "polygon")
    assert chosen.tooltip == "first, selected, b: 92.00"
    assert chosen.middle[0] == pytest.approx(place(92), abs=0.1)
    dots = {box.tooltip: box.middle[0] for box in own if box.tag == "circle"}
    assert dots == {
        "first, a: 90.00": pytest.approx(place(90), abs=0.1),
        "first, c: 91.50": pytest.approx(place(91.5), abs=0.1),
    }
    band = only(box for box in own if box.tag == "rect")
    assert (band.left, band.right) == pytest.approx((place(90), place(92)), abs=0.1)
    assert only(box for box in own if box.tag == "line").middle[0] == pytest.approx(place(91.5), abs=0.1)


def test_the_description_says_what_was_selected() -> None:
    chart = strips(ROWS)
    # 92 is the highest of the first row; 88, chosen in the second, is not.
    assert chart.description == "2 rows, 5 values; the selected value is the highest of its row in 1 of 2."


def test_every_value_of_a_strip_is_in_the_table() -> None:
    rows = cells(strips(ROWS))
    assert [" ".join(row.values()) for row in rows] == [
        "first a 90.0 ", "first b 92.0 yes", "first c 91.5 ", "second a 88.0 yes", "second b 89.0 ",
    ]  # fmt: skip


@layouts
def test_what_is_missing_in_a_strip_is_left_out(layout: Layout) -> None:
    chart = strips([Strip("some", (90.0, NAN), ("a", "b"), 1), Strip("none", (NAN,), ("a",), None)], layout)
    assert_sound(chart, layout)
    told = [box.tooltip for box in boxes(chart, layout)]
    assert "some, a: 90.00" in told
    assert not [each for each in told if "selected" in each]
    assert "no value" in said(chart, layout)
    assert strips([]).description == "No data."


# Gorman & Bedrick (2019), table 2, with random splits made up for the test.
TAGGERS = [
    SplitRange("TnT", 96.46, 96.36, 96.56, (96.2, 96.5, 96.3)),
    SplitRange("Collins", 97.14, 97.04, 97.23, (97.2, 97.3)),
    SplitRange("Flair", 97.74, 97.65, 97.82, (97.5, 97.6, 97.7)),
]


def splits(rows: list[SplitRange], layout: Layout = WIDE) -> Chart:
    return SplitRangePlot(tuple(rows), title="Splits", axis="Token accuracy in %").draw(layout)


@layouts
def test_scores_intervals_and_ranges_are_in_their_places(layout: Layout) -> None:
    chart = splits(TAGGERS, layout)
    place = across(chart, layout)
    for row in TAGGERS:
        standard = about(chart, layout, f"{row.name}, standard split: {row.standard}")
        diamond = only(box for box in standard if box.tag == "polygon")
        assert diamond.middle[0] == pytest.approx(place(row.standard or NAN), abs=0.1)
        interval = only(box for box in standard if box.tag == "line")
        assert (interval.left, interval.right) == pytest.approx(
            (place(row.low or NAN), place(row.high or NAN)), abs=0.1
        )
        band = only(box for box in about(chart, layout, f"{row.name}, ") if box.tag == "rect")
        assert (band.left, band.right) == pytest.approx((place(min(row.random)), place(max(row.random))), abs=0.1)
        dots = about(chart, layout, f"{row.name}, random split: ")
        assert [box.middle[0] for box in dots] == pytest.approx([place(each) for each in sorted(row.random)], abs=0.1)
        assert diamond.bottom < band.top, "the standard split stands above"


def test_every_score_on_a_split_is_in_the_table() -> None:
    rows = cells(splits(TAGGERS))
    assert [float(row["value"]) for row in rows] == [
        96.46, 96.2, 96.5, 96.3, 97.14, 97.2, 97.3, 97.74, 97.5, 97.6, 97.7,
    ]  # fmt: skip
    assert [row["split"] for row in rows[:4]] == ["standard", "random 1", "random 2", "random 3"]
    assert (rows[0]["low"], rows[0]["high"], rows[1]["low"]) == ("96.36", "96.56", "")


def test_the_description_says_where_the_standard_split_flatters() -> None:
    # TnT is within its random splits, Collins below both of them, Flair above all three.
    assert splits(TAGGERS).description == (
        "3 systems; the score on the standard split is above those on all random splits for 1 of 3, below them for 1."
    )


@layouts
def test_splits_that_are_missing_are_left_out(layout: Layout) -> None:
    rows = [
        SplitRange("no interval", 90, None, None, (89.0, 90.0)),
        SplitRange("no standard split", None, None, None, (88.0, NAN, 91.0)),
        SplitRange("no random split", 92, 91, 93, ()),
        SplitRange("half an interval", 90, 89, NAN, (90.0,)),
        SplitRange("nothing", NAN, NAN, NAN, (NAN,)),
    ]
    chart = splits(rows, layout)
    assert_sound(chart, layout)
    assert len(about(chart, layout, "no interval, standard split")) == 1
    assert not about(chart, layout, "no standard split, standard split")
    assert len(about(chart, layout, "no standard split, random split")) == 2
    assert not about(chart, layout, "no random split, random split")
    assert not about(chart, layout, "nothing")
    assert " of 2, " in chart.description
