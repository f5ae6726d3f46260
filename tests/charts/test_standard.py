"""The standard split above, random splits below, each where its score is."""

import numpy as np
import pytest

from deadheat.charts.chart import WIDE, Chart, Layout
from deadheat.charts.distributions import MOST_SPLITS, SplitRange, SplitRangePlot
from tests.charts.axis_reading import across
from tests.charts.svg_reading import LAYOUTS, NAN, Box, assert_sound, boxes, cells, only, texts

layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)

# Gorman & Bedrick (2019), table 2, with random splits made up for the test.
TAGGERS = [
    SplitRange("TnT", 96.46, 96.36, 96.56, (96.2, 96.5, 96.3)),
    SplitRange("Collins", 97.14, 97.04, 97.23, (97.2, 97.3)),
    SplitRange("Flair", 97.74, 97.65, 97.82, (97.5, 97.6, 97.7)),
]


def drawn(rows: list[SplitRange], layout: Layout = WIDE) -> Chart:
    return SplitRangePlot(tuple(rows), title="Splits", axis="Token accuracy in %").draw(layout)


def about(chart: Chart, layout: Layout, told: str) -> list[Box]:
    return [box for box in boxes(chart, layout) if box.tooltip.startswith(told)]


@layouts
def test_scores_intervals_and_ranges_are_in_their_places(layout: Layout) -> None:
    chart = drawn(TAGGERS, layout)
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


@layouts
def test_the_legend_says_in_words_which_sign_is_which(layout: Layout) -> None:
    said = [box.content for box in texts(drawn(TAGGERS, layout), layout)]
    assert "standard split with its interval" in said
    assert "random splits and their range" in said


def test_every_value_stands_in_the_table() -> None:
    rows = cells(drawn(TAGGERS))
    assert [float(row["value"]) for row in rows] == [
        96.46, 96.2, 96.5, 96.3, 97.14, 97.2, 97.3, 97.74, 97.5, 97.6, 97.7,
    ]  # fmt: skip
    assert [row["split"] for row in rows[:4]] == ["standard", "random 1", "random 2", "random 3"]
    assert (rows[0]["low"], rows[0]["high"], rows[1]["low"]) == ("96.36", "96.56", "")


def test_the_description_says_where_the_standard_split_flatters() -> None:
    # TnT is within its random splits, Collins below both of them, Flair above all three.
    assert drawn(TAGGERS).description == (
        "3 systems; the score on the standard split is above those on all random splits for 1 of 3, below them for 1."
    )


@layouts
def test_whatever_is_missing_is_left_out(layout: Layout) -> None:
    rows = [
        SplitRange("no interval", 90, None, None, (89.0, 90.0)),
        SplitRange("no standard split", None, None, None, (88.0, NAN, 91.0)),
        SplitRange("no random split", 92, 91, 93, ()),
        SplitRange("half an interval", 90, 89, NAN, (90.0,)),
        SplitRange("nothing", NAN, NAN, NAN, (NAN,)),
    ]
    chart = drawn(rows, layout)
    assert_sound(chart, layout)
    assert len(about(chart, layout, "no interval, standard split")) == 1
    assert not about(chart, layout, "no standard split, standard split")
    assert len(about(chart, layout, "no standard split, random split")) == 2
    assert not about(chart, layout, "no random split, random split")
    assert not about(chart, layout, "nothing")
    assert " of 2, " in chart.description


@layouts
def test_random_splits_that_are_all_the_same_are_one_place(layout: Layout) -> None:
    chart = drawn([SplitRange("a", 90, 90, 90, (90.0,) * 5)], layout)
    assert_sound(chart, layout)
    dots = about(chart, layout, "a, random split: ")
    assert [box.middle[0] for box in dots] == pytest.approx([across(chart, layout)(90)] * 5, abs=0.1)


def test_of_very_many_random_splits_some_are_drawn_and_all_are_listed() -> None:
    values = np.random.default_rng(0).normal(90, 1, 3 * MOST_SPLITS)
    chart = drawn([SplitRange("a", 90, 89, 91, tuple(values.tolist()))])
    dots = about(chart, WIDE, "a, random split: ")
    place = across(chart, WIDE)
    assert len(dots) == MOST_SPLITS
    assert (dots[0].middle[0], dots[-1].middle[0]) == pytest.approx((place(values.min()), place(values.max())), abs=0.1)
    assert f"At most {MOST_SPLITS} random splits" in chart.description
    assert len(chart.rows) == 1 + len(values)
