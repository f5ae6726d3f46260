"""A chart as an element of a page, as a file, and as data."""

import re
from xml.etree import ElementTree

import pytest

from deadheat.charts.chart import COLUMN, FULL, WIDE, Chart, Figure, unique
from deadheat.charts.drawing import circle
from tests.charts.svg_reading import AWKWARD, NAN, SVG, FunctionPlot


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


def test_a_figure_named_like_a_number_that_was_given_gets_another() -> None:
    made = unique([Figure(name, FunctionPlot(lambda _: chart_of())) for name in ("x-2", "x", "x", "x")])
    assert len({each.name for each in made}) == 4
