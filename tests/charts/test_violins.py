"""Violins lie where the values do, and say what they leave out."""

import time

import numpy as np
import pytest

from deadheat.charts.chart import COLUMN, WIDE, Chart, Layout
from deadheat.charts.distributions import FEWEST, MOST_DOTS, MOST_IN_TABLE, MOST_SMOOTHED, Sample, ViolinPlot
from tests.charts.axis_reading import across
from tests.charts.svg_reading import LAYOUTS, NAN, assert_sound, boxes, cells, only, root_of, texts

layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
LEGEND = 3  # sizes of the font: signs that are no data lie above


def drawn(samples: list[Sample], layout: Layout = WIDE) -> Chart:
    return ViolinPlot(tuple(samples), title="Seeds", axis="F1 in %").draw(layout)


def normal(count: int, mean: float = 90, sd: float = 0.5, seed: int = 0) -> tuple[float, ...]:
    return tuple(np.random.default_rng(seed).normal(mean, sd, count).tolist())


@layouts
@pytest.mark.parametrize(("systems", "count"), [(1, 1), (1, 20), (2, 100), (5, 4), (26, 20), (26, 100), (40, 20)])
def test_any_number_of_rows_is_inside_and_no_words_cover_others(layout: Layout, systems: int, count: int) -> None:
    chart = drawn([Sample(f"system {i}", normal(count, 90 - i, seed=i)) for i in range(systems)], layout)
    assert_sound(chart, layout)
    assert chart.width == layout.width


@layouts
def test_the_box_reaches_from_quartile_to_quartile_and_the_line_is_the_median(layout: Layout) -> None:
    values = {"a": normal(31, seed=1), "b": normal(200, 91, seed=2)}
    chart = drawn([Sample(name, each) for name, each in values.items()], layout)
    place = across(chart, layout)
    for name, each in values.items():
        lower, median, upper = np.quantile(each, [0.25, 0.5, 0.75])
        mine = [box for box in boxes(chart, layout) if box.tooltip.startswith(f"{name}: median")]
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
    chart = drawn([Sample("a", values)])
    xs, heights = outline(chart, WIDE)
    place = across(chart, WIDE)
    assert (xs[0], xs[-1]) == pytest.approx((place(min(values)), place(max(values))), abs=0.1)
    back = min(values) + (xs - xs[0]) / (xs[-1] - xs[0]) * (max(values) - min(values))
    expected = kernel_density(np.array(values), back)
    assert heights / heights.max() == pytest.approx(expected / expected.max(), abs=0.01)


def test_the_shape_of_very_many_values_rests_on_few_and_says_so() -> None:
    values = normal(50_000, 80, 2)
    chart = drawn([Sample("many", values), Sample("few", (80.0,))])
    xs, heights = outline(chart, WIDE)
    place = across(chart, WIDE)
    expected = np.exp(-0.5 * ((xs - place(80)) / (place(82) - place(80))) ** 2)
    assert heights / heights.max() == pytest.approx(expected, abs=0.05)
    assert f"The densities of 1 use {MOST_SMOOTHED:,} evenly spaced order statistics each." in chart.description
    assert "order statistics" not in drawn([Sample("a", normal(MOST_SMOOTHED))]).description


def test_twenty_six_samples_of_82_000_values_take_less_than_a_second() -> None:
    rng = np.random.default_rng(0)
    samples = [Sample(f"system {i}", tuple(rng.normal(80, 3, 82_000).tolist())) for i in range(26)]
    drawn(samples[:1])
    started = time.process_time()
    chart = drawn(samples)
    assert time.process_time() - started < 1
    assert len(chart.marks) < 400_000


@pytest.mark.parametrize(("count", "points"), [(1, 1), (4, 4), (5, 5), (MOST_DOTS - 1, MOST_DOTS - 1), (MOST_DOTS, 0)])
def test_values_are_points_while_they_are_few_and_have_a_shape_while_they_are_not(count: int, points: int) -> None:
    values = normal(count)
    chart = drawn([Sample("a", values)])
    place = across(chart, WIDE)
    dots = [box for box in boxes(chart, WIDE) if box.tag == "circle" and box.top > LEGEND * WIDE.font]
    assert sorted(box.middle[0] for box in dots) == pytest.approx(
        [place(each) for each in sorted(values)[:points]], abs=0.1
    )
    assert all(box.tooltip.startswith("a: ") for box in dots)
    assert any(box.tag == "polygon" for box in boxes(chart, WIDE)) == (count >= FEWEST)


def test_equal_values_do_not_hide_each_other() -> None:
    chart = drawn([Sample("a", (90.0, 90.0, 90.0, 91.0))])
    dots = [box.middle for box in boxes(chart, WIDE) if box.tag == "circle" and box.top > LEGEND * WIDE.font]
    assert len(set(dots)) == 4


def test_all_values_stand_in_the_table_while_they_are_few_enough() -> None:
    first, second = normal(MOST_IN_TABLE - 1), (1.5,)
    chart = drawn([Sample("a", first), Sample("b", second)])
    assert chart.header == ("name", "value")
    assert [float(row["value"]) for row in cells(chart)] == [*first, *second]
    assert [row["name"] for row in cells(chart)] == ["a"] * len(first) + ["b"]


def test_of_too_many_values_the_table_has_a_summary() -> None:
    values = normal(MOST_IN_TABLE)
    rows = cells(drawn([Sample("a", values), Sample("b", (1.0,)), Sample("c", (NAN,))]))
    assert [row["name"] for row in rows] == ["a", "b", "c"]
    assert [row["n"] for row in rows] == [str(MOST_IN_TABLE), "1", "0"]
    names = ("min", "lower_quartile", "median", "upper_quartile", "max", "mean", "sd")
    expected = [*np.quantile(values, [0, 0.25, 0.5, 0.75, 1]), np.mean(values), np.std(values, ddof=1)]
    assert [float(rows[0][name]) for name in names] == pytest.approx(expected)
    assert rows[1]["sd"] == rows[2]["min"] == ""


@layouts
def test_what_is_no_number_is_left_out_and_told(layout: Layout) -> None:
    chart = drawn([Sample("a", (NAN, 90.0, float("inf"), 91.0)), Sample("b", (NAN,))], layout)
    assert_sound(chart, layout)
    assert "3 missing values are left out." in chart.description
    assert [row["value"] for row in cells(chart)] == ["", "90.0", "", "91.0", ""]
    assert "no values" in {box.content for box in texts(chart, layout)}


@layouts
@pytest.mark.parametrize("count", [1, 3, 10, 100])
def test_values_that_are_all_the_same_have_no_shape_but_a_place(layout: Layout, count: int) -> None:
    chart = drawn([Sample("a", (90.0,) * count)], layout)
    assert_sound(chart, layout)
    marks = [box for box in boxes(chart, layout) if box.tooltip and box.tag in ("circle", "line")]
    assert marks
    assert {round(box.middle[0], 1) for box in marks} == {round(across(chart, layout)(90), 1)}


def test_the_description_tells_counts_and_medians() -> None:
    chart = drawn([Sample("a", (1.0, 2.0, 4.0)), Sample("b", (7.0,))], COLUMN)
    assert chart.description == "3 values of a (median 2.00), 1 value of b (median 7.00)."
