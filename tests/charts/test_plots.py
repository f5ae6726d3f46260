"""What holds of every kind of plot, in every layout."""

import re
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from deadheat.charts.chart import WIDE, Layout, Plot
from deadheat.charts.curves import MOST_POINTS, Gap, GapPlot
from deadheat.charts.distributions import (
    MOST_IN_STRIP,
    MOST_SPLITS,
    Sample,
    SplitRange,
    SplitRangePlot,
    Strip,
    StripPlot,
    ViolinPlot,
)
from deadheat.charts.drawing import xml_text
from deadheat.charts.ranks import RankBoxes, RankRow
from tests.charts import examples
from tests.charts.examples import PLOTS
from tests.charts.svg_reading import AWKWARD, about, across, assert_sound, boxes, layouts, said

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


@layouts
@pytest.mark.parametrize(
    ("plot", "meanings"),
    [
        (examples.differences("ab"), ["interval excludes zero", "interval includes zero"]),
        (examples.matrix("ab"), ["row above column", "row below column", "significant"]),
        (examples.violins("ab"), ["density, quartiles and median", "single values"]),
        (examples.strips("ab"), ["all values, range and median", "selected"]),
        (examples.splits("ab"), ["standard split with its interval", "random splits and their range"]),
        (examples.boxes("ab"), ["quartiles and median", "mean", "best to worst", "possible over all subsets"]),
        (RankBoxes((RankRow("a", 1, 2, 3, 4, 5, 3),), "Ranks"), ["quartiles and median", "mean", "best to worst"]),
    ],
)
def test_the_legend_says_what_marks_mean(plot: Plot, meanings: list[str], layout: Layout) -> None:
    assert said(plot.draw(layout), layout)[: len(meanings)] == meanings
    assert ("possible over all subsets" in said(plot.draw(layout), layout)) == ("possible over all subsets" in meanings)


MANY = tuple(np.random.default_rng(0).normal(90, 1, 4000).tolist())


@pytest.mark.parametrize(
    ("plot", "start", "most", "note"),
    [
        (StripPlot((Strip("a", MANY, ("b",) * 4000, 7),), "x", "y"), "a, ", MOST_IN_STRIP, "values of a row"),
        (SplitRangePlot((SplitRange("a", 90, 89, 91, MANY),), "x", "y"), "a, random split: ", MOST_SPLITS, "random"),
        (GapPlot(tuple(Gap("a", x, 90) for x in MANY), "x", "dev", "test"), "a: dev ", MOST_POINTS, "of the points"),
    ],
)
def test_of_very_many_values_some_are_drawn_and_all_are_listed(plot: Plot, start: str, most: int, note: str) -> None:
    chart = plot.draw(WIDE)
    dots = [box for box in about(chart, WIDE, start) if box.tag == "circle"]
    assert len(dots) == most
    assert f"{most:,} {note}" in chart.description
    assert len(chart.rows) >= len(MANY)


@layouts
@pytest.mark.parametrize(
    "plot",
    [
        ViolinPlot(tuple(Sample("a", (90.0,) * count) for count in (1, 3, 10, 100)), "x", "y"),
        StripPlot((Strip("a", (90.0,) * 3, ("i", "j", "k"), 1),), "x", "y"),
        SplitRangePlot((SplitRange("a", 90, 90, 90, (90.0,) * 5),), "x", "y"),
        GapPlot((Gap("a", 90, 90),), "x", "dev", "test"),
    ],
    ids=lambda plot: type(plot).__name__,
)
def test_equal_values_are_at_the_same_position(plot: Plot, layout: Layout) -> None:
    chart = plot.draw(layout)
    assert_sound(chart, layout)
    marks = [box for box in boxes(chart, layout) if re.match(r"[ab][:,]", box.tooltip)]
    middles = [box.middle[0] for box in marks]
    assert middles == pytest.approx([across(chart, layout)(90)] * len(marks), abs=0.1)
    assert marks
