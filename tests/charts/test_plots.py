"""What holds of every kind of plot, in every layout."""

from dataclasses import FrozenInstanceError

import pytest

from deadheat.charts.chart import WIDE, Layout
from deadheat.charts.drawing import xml_text
from tests.charts.examples import PLOTS
from tests.charts.svg_reading import AWKWARD, assert_sound, boxes, layouts, said

plots = pytest.mark.parametrize("make", PLOTS, ids=lambda make: make.__name__)


@plots
@layouts
def test_names_of_any_kind_are_text_and_appear_in_full(make, layout: Layout) -> None:  # type: ignore[no-untyped-def]
    chart = make(AWKWARD).draw(layout)
    assert_sound(chart, layout)
    assert "<script>alert" not in chart.marks
    written = " ".join(box.content + box.tooltip for box in boxes(chart, layout))
    assert all(xml_text(name) in written for name in AWKWARD)
    assert set(AWKWARD) <= {cell for row in chart.rows for cell in row}


@plots
@layouts
@pytest.mark.parametrize("count", [1, 2, 9, 26, 40])
def test_any_number_of_systems_is_inside_and_no_text_overlaps(make, layout: Layout, count: int) -> None:  # type: ignore[no-untyped-def]
    assert_sound(make([f"system {i}" for i in range(count)]).draw(layout), layout)


@plots
@layouts
def test_a_plot_without_data_says_so(make, layout: Layout) -> None:  # type: ignore[no-untyped-def]
    chart = make(()).draw(layout)
    assert_sound(chart, layout)
    assert said(chart, layout) == ["no data"]
    assert chart.description == "No data."
    assert chart.rows == ()


@plots
def test_plots_are_values_that_are_drawn_the_same_every_time(make) -> None:  # type: ignore[no-untyped-def]
    names = ("biaffine", "pointer")
    first, second = make(names), make(names)
    assert first == second
    assert hash(first) == hash(second)
    assert first.draw(WIDE) == second.draw(WIDE)
    assert first.draw(WIDE).title == first.title
    with pytest.raises((FrozenInstanceError, AttributeError)):
        first.title = "another"
