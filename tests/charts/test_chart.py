"""A chart as an element of a page, as a file, and as data; and what holds of every kind of plot, in every layout."""

import re
from dataclasses import FrozenInstanceError
from xml.etree import ElementTree

import numpy as np
import pytest

from deadheat.charts.chart import COLUMN, FULL, WIDE, Chart, Figure, Layout, Plot, unique
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
from deadheat.charts.drawing import circle, xml_text
from deadheat.charts.ranks import RankBoxes, RankRow
from tests.charts import examples
from tests.charts.examples import PLOTS
from tests.charts.svg_reading import AWKWARD, NAN, SVG, FunctionPlot, about, across, assert_sound, boxes, layouts, said

plots = pytest.mark.parametrize("make", PLOTS, ids=lambda make: make.__name__)


def chart_of(title: str = "Dots", description: str = "One dot.", **changed: object) -> Chart:
    given: dict[str, object] = {"header": ("x", "y"), "rows": ((1, 2.5),)} | changed
    return Chart(title, description, 20, 10, circle("mark", 10, 5, 4), given["header"], given["rows"])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", AWKWARD)
def test_title_and_description_are_words_whatever_they_are(name: str) -> None:
    chart = chart_of(name, f"About {name}.")
    shown = name.replace("\x00", "\ufffd").replace("\x07", "\ufffd")
    inline = ElementTree.fromstring(chart.inline())
    assert inline.get("aria-label") == f"{shown}. About {shown}."
    file = ElementTree.fromstring(chart.svg(font=10))
    assert file.findtext(f"{SVG}title") == shown
    assert file.findtext(f"{SVG}desc") == f"About {shown}."
    assert file.find(".//script") is None


def test_a_name_with_half_a_character_can_still_be_written_as_a_file() -> None:
    chart = chart_of("broken \udcff name")
    for written in (chart.svg(font=10), chart.inline()):
        assert "broken \ufffd name" in written.encode("utf-8").decode()


def test_a_file_brings_size_colours_and_fonts_and_a_page_brings_them_itself() -> None:
    chart = chart_of()
    file = chart.svg(font=10, fonts="@font-face{font-family:X}")
    assert 'width="20" height="10"' in file
    assert "<style>@font-face{font-family:X}.chart text{" in file
    assert "font-size:10px" in file
    inline = chart.inline()
    assert "<style>" not in inline
    assert "width" not in inline.partition(">")[0]
    assert not re.search("#[0-9a-f]{6}", inline)


def test_data_are_given_in_full_and_what_is_missing_is_an_empty_cell() -> None:
    chart = chart_of(rows=((0.1 + 0.2, NAN), (None, "a,b"), (3, float("inf"))))
    assert chart.csv() == 'x,y\n0.30000000000000004,\n,"a,b"\n3,inf\n'


def test_a_spreadsheet_takes_no_name_in_the_data_for_a_formula_and_numbers_stay_numbers() -> None:
    chart = chart_of(header=("@x", "y"), rows=(("=\n1+1", -0.5), ("-2+3", -7), ("-", "-0.5")))
    assert chart.csv() == "'@x,y\n\"'=\n1+1\",-0.5\n'-2+3,-7\n-,-0.5\n"


def test_print_layouts_are_as_wide_as_columns_of_a_paper() -> None:
    assert COLUMN.width / 96 == pytest.approx(3.3, abs=0.01)
    assert FULL.width / 96 == pytest.approx(6.3, abs=0.01)
    assert COLUMN.font * 72 / 96 == 7.5
    assert FULL.font * 72 / 96 == pytest.approx(8, abs=0.05)


def test_figures_of_the_same_name_get_numbers_and_keep_their_drawings() -> None:
    a, b = chart_of("a"), chart_of("b")
    plots = {chart.title: FunctionPlot(lambda _, chart=chart: chart) for chart in (a, b)}  # type: ignore[misc]
    made = unique([Figure("x", plots["a"]), Figure("x", plots["b"]), Figure("y", plots["a"])])
    assert [figure.name for figure in made] == ["x", "x-2", "y"]
    assert [figure.draw(WIDE) for figure in made] == [a, b, a]
    taken = unique([Figure(name, plots["a"]) for name in ("x-2", "x", "x", "x")])
    assert len({figure.name for figure in taken}) == 4


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
