"""Values on a line, and the one that was chosen among them."""

import pytest

from deadheat.charts.chart import WIDE, Chart, Layout
from deadheat.charts.distributions import MOST_IN_STRIP, Strip, StripPlot
from tests.charts.axis_reading import across
from tests.charts.svg_reading import LAYOUTS, NAN, assert_sound, boxes, cells, only, texts

layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
ROWS = [Strip("first", (90.0, 92.0, 91.5), ("a", "b", "c"), 1), Strip("second", (88.0, 89.0), ("a", "b"), 0)]


def drawn(rows: list[Strip], layout: Layout = WIDE) -> Chart:
    return StripPlot(tuple(rows), title="Settings", axis="Accuracy in percent").draw(layout)


@layouts
def test_dots_the_median_and_the_chosen_one_are_in_their_places(layout: Layout) -> None:
    chart = drawn(ROWS, layout)
    place = across(chart, layout)
    own = [box for box in boxes(chart, layout) if box.tooltip.startswith("first")]
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


def test_the_legend_and_the_description_say_what_was_chosen() -> None:
    chart = drawn(ROWS)
    said = [box.content for box in texts(chart, WIDE)]
    assert {"all values, range and median", "selected"} <= set(said)
    # 92 is the highest of the first row; 88, chosen in the second, is not.
    assert chart.description == "2 rows, 5 values; the selected value is the highest of its row in 1 of 2."


def test_every_value_stands_in_the_table() -> None:
    rows = cells(drawn(ROWS))
    assert [(row["name"], row["label"], float(row["value"]), row["selected"]) for row in rows] == [
        ("first", "a", 90.0, ""),
        ("first", "b", 92.0, "yes"),
        ("first", "c", 91.5, ""),
        ("second", "a", 88.0, "yes"),
        ("second", "b", 89.0, ""),
    ]


@layouts
def test_what_is_missing_is_left_out(layout: Layout) -> None:
    chart = drawn([Strip("some", (90.0, NAN), ("a", "b"), 1), Strip("none", (NAN,), ("a",), None)], layout)
    assert_sound(chart, layout)
    told = [box.tooltip for box in boxes(chart, layout)]
    assert "some, a: 90.00" in told
    assert not [each for each in told if "selected" in each]
    assert "no value" in [box.content for box in texts(chart, layout)]
    assert drawn([]).description == "No data."


def test_of_very_many_values_some_are_drawn_and_all_are_listed() -> None:
    values = tuple(90 + i / 1000 for i in range(3 * MOST_IN_STRIP))
    chart = drawn([Strip("many", values, tuple(map(str, range(len(values)))), 7)])
    dots = [box for box in boxes(chart, WIDE) if box.tag == "circle" and box.tooltip]
    assert len(dots) == MOST_IN_STRIP
    assert (dots[0].tooltip, dots[-1].tooltip) == ("many, 0: 90.00", f"many, {len(values) - 1}: 90.90")
    assert f"At most {MOST_IN_STRIP} values of a row are drawn" in chart.description
    assert len(chart.rows) == len(values)
