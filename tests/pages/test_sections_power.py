from __future__ import annotations

from dataclasses import replace

import pytest
from deadheat.pages.power import ENDLESS, sections

from deadheat.corpus import read
from deadheat.questions.power import assumed_power, power
from deadheat.results.data import Power
from deadheat.testbed import built_in
from tests.pages.section_checks import HOSTILE, check, drawn, rows, texts


@pytest.fixture(scope="module")
def found() -> Power:
    made = built_in(sentences=300, seed=2)
    systems = {name: read(text=made.predictions[name]) for name in "AB"}
    return power(read(text=made.gold), systems, metric="las")


def test_words_and_table_hold_the_numbers_of_the_result(found: Power) -> None:
    (made,) = check(sections, found.to_dict())
    gap = f"{100 * abs(found.difference):.2f} points of LAS"
    assert made.said[0].startswith(f"If the difference between A and B truly is {gap}, a test set of 300 sentences ")
    assert f"in {100 * found.power:.0f} of 100 cases" in made.said[0]
    assert f"takes {found.needed:,.0f} sentences" in made.said[1]
    assert made.said[2].endswith(f"in 80 of 100 cases is {100 * found.smallest:.2f} points.")
    (table,) = made.tables
    assert [row[1] for row in table.rows] == [
        f"{100 * found.difference:+.2f} points",
        "300",
        f"{found.power:.3f}",
        f"{found.simulated:.3f}",
        f"{100 * found.smallest:.2f} points",
        f"{found.needed:,.0f}",
    ]


def test_a_test_set_that_is_large_enough_is_not_called_small() -> None:
    small, large = (assumed_power(size, 0.95, 0.93, agreement=0.96) for size in (200, 20_000))
    assert small.power < 0.8 < large.power
    told = [" ".join(sections(each.to_dict())[0].said) for each in (small, large)]
    assert ["says little" in each for each in told] == [True, False]
    assert "are assumed" in sections(small.to_dict())[0].notes[0]


def test_the_curves_pass_through_the_numbers_of_the_result(found: Power) -> None:
    charts = drawn(sections(found.to_dict()))
    assert list(charts) == ["power-size", "power-difference"]
    sizes = [[value for value in row if isinstance(value, int | float)] for row in charts["power-size"].rows]
    assert [300, 100 * found.power] in [row[:2] for row in sizes]
    gaps = [[value for value in row if isinstance(value, int | float)] for row in charts["power-difference"].rows]
    assert gaps[0][0] == 0
    assert gaps[0][1] == pytest.approx(5)
    # Power at the smallest difference that is found with 80 % of power is just that.
    reached = [y for x, y, *_ in gaps if x == pytest.approx(100 * found.smallest)]
    assert reached == [pytest.approx(80, abs=0.01)]
    for chart in charts.values():
        assert rows(chart)


@pytest.mark.parametrize("items", [3, 40, 5000])
def test_power_grows_with_size_and_with_difference(items: int) -> None:
    told = assumed_power(items, 0.95, 0.93, agreement=0.96)
    for curve in (told.by_units, told.by_difference):
        powers = [each for _, each in curve]
        assert powers == sorted(powers)
        assert len(curve) >= 10
    assert dict(told.by_units)[items] == told.power
    assert told.by_units[0][0] <= items <= told.by_units[-1][0]
    assert told.by_units[-1][0] >= told.needed


def test_systems_without_a_difference_are_shown() -> None:
    same = assumed_power(500, 0.9, 0.9, agreement=0.9)
    assert same.by_units == ()
    (made,) = check(sections, same.to_dict())
    assert "No number of units would show it in 80 of 100 cases." in made.said
    assert made.tables[0].rows[-1][1] == ENDLESS
    assert list(drawn([made])) == ["power-difference"]
    never = assumed_power(500, 0.9, 0.9, agreement=1)
    assert never.by_difference == ()
    (made,) = check(sections, never.to_dict())
    assert not made.figures
    assert [row[1] for row in made.tables[0].rows][-2:] == ["none", ENDLESS]


def test_notes_and_names_are_text(found: Power) -> None:
    named = replace(found, systems=HOSTILE[:2], notes=("a <b>remark</b>",))
    made = check(sections, named.to_dict())
    assert made[0].notes[-1] == "a <b>remark</b>"
    assert all(any(name in text for text in texts(made)) for name in HOSTILE[:2])
