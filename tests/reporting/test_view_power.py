"""What a reader sees of the power of a test set."""

import math
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
    systems = {name: read(text=made.predictions[name]) for name in "AB"}
    return power(read(text=made.gold), systems, metric="las", difference=1, unit="sentence")


def values(result: Power) -> list[str]:
    (table,) = tables(view(result))
    return [row[1] for row in rows(table)]


def test_sentences_and_table_hold_the_numbers_of_the_result(measured: Power) -> None:
    chance, interval = f"{100 * measured.power:.1f}%", f"{measured.needed_low:,.0f} to {measured.needed_high:,.0f}"
    assert headline(measured) == (
        f"If A and B truly differ by 1.00 points of LAS, a test set of 300 sentences shows it with a probability of "
        f"{chance}."
    )
    needed = f"takes {measured.needed:,.0f} sentences (95% CI {interval})."
    assert any(needed in text for text in texts(view(measured)))
    assert values(measured) == [
        "1.00",
        "300",
        "1",
        f"{100 * measured.error:.2f}",
        *([f"{measured.design_effect:.2f}"] if measured.design_effect == measured.design_effect else []),
        chance,
        f"{100 * measured.simulated:.1f}%",
        f"{100 * measured.smallest:.2f}",
        f"{measured.needed:,.0f}",
        interval,
    ]


def test_runs_are_in_the_sentence_and_in_the_table(measured: Power) -> None:
    runs = replace(measured, runs=(5, 3), run_share=0.25, needed=math.inf, needed_high=math.inf, needed_low=900)
    assert "a test set of 300 sentences with 5 and 3 runs shows it" in headline(runs)
    assert {"5 and 3", "25.0%", "no number is enough", "900 or more"} <= set(values(runs))
    assert any("with so few runs" in text for text in texts(view(runs)))
    assert "with 4 runs of each system" in headline(replace(measured, runs=(4, 4)))


def test_only_a_test_set_that_is_too_small_is_said_to_show_little() -> None:
    small, large = (assumed_power(size, 0.95, 0.93, agreement=0.96) for size in (200, 20_000))
    assert small.power < 0.8 < large.power
    assert [any("says little" in text for text in texts(view(result))) for result in (small, large)] == [True, False]
    assert any("and the design effect are assumptions" in text for text in texts(view(small)))


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
    assert "<script> and a & b truly differ" in headline(named)
    assert texts(view(named))[-1] == "A <b>remark</b>."
