"""What a reader sees of the power of a test set."""

from dataclasses import replace

import pytest

from deadheat.corpus import read
from deadheat.questions.power import assumed_power, power
from deadheat.reporting.views import headline, view
from deadheat.results.data import Power
from deadheat.testbed import built_in
from tests.reporting.blocks import data, drawn, rows, tables, texts


@pytest.fixture(scope="module")
def measured() -> Power:
    made = built_in(sentences=300, seed=2)
    return power(read(text=made.gold), {name: read(text=made.predictions[name]) for name in "AB"}, metric="las")


def values(result: Power) -> list[str]:
    (table,) = tables(view(result))
    return [row[1] for row in rows(table)]


def test_sentences_and_table_hold_the_numbers_of_the_result(measured: Power) -> None:
    gap, chance = f"{100 * abs(measured.difference):.2f} points of LAS", f"{100 * measured.power:.1f}%"
    assert headline(measured) == (
        f"If the difference between A and B is {gap}, a test set of 300 sentences shows it with a probability of "
        f"{chance}."
    )
    assert any(f"takes {measured.needed:,.0f} sentences." in text for text in texts(view(measured)))
    assert values(measured) == [
        f"{100 * measured.difference:+.2f}",
        "300",
        chance,
        f"{100 * measured.simulated:.1f}%",
        f"{100 * measured.smallest:.2f}",
        f"{measured.needed:,.0f}",
    ]


def test_only_a_test_set_that_is_too_small_is_said_to_show_little() -> None:
    small, large = (assumed_power(size, 0.95, 0.93, agreement=0.96) for size in (200, 20_000))
    assert small.power < 0.8 < large.power
    assert [any("says little" in text for text in texts(view(result))) for result in (small, large)] == [True, False]
    assert any("how often the systems agree are assumptions" in text for text in texts(view(small)))


def test_the_curves_pass_through_the_numbers_of_the_result(measured: Power) -> None:
    charts = drawn(view(measured))
    assert list(charts) == ["power-size", "power-difference"]
    sizes, gaps = ([tuple(row.values())[1:3] for row in data(chart)] for chart in charts.values())
    assert (300, 100 * measured.power) in sizes
    assert gaps[0] == (0, pytest.approx(5))
    reached = [y for x, y in gaps if x == pytest.approx(100 * measured.smallest)]
    assert reached == [pytest.approx(80, abs=0.01)]


def test_systems_that_do_not_differ_need_no_number_of_units() -> None:
    same = assumed_power(500, 0.9, 0.9, agreement=0.9)
    assert any("No number of items would show it with a probability of 80.0%." in text for text in texts(view(same)))
    assert values(same)[-1] == "no number is enough"
    assert list(drawn(view(same))) == ["power-difference"]
    identical = assumed_power(500, 0.9, 0.9, agreement=1)
    assert drawn(view(identical)) == {}
    assert values(identical)[-2:] == ["none", "no number is enough"]


def test_notes_and_names_are_text(measured: Power) -> None:
    named = replace(measured, systems=("<script>", "a & b"), notes=("a <b>remark</b>",))
    assert "between <script> and a & b" in headline(named)
    assert texts(view(named))[-1] == "A <b>remark</b>."
