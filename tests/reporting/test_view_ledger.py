"""What a reader sees of evaluations of test sets."""

import pytest

from deadheat.reporting.views import headline, view
from deadheat.results.ledger import LedgerLine, LedgerReport, PeriodCounts, Tally
from tests.reporting.blocks import column, data, drawn, rows, tables, texts

HOSTILE = ("<script>alert('a')</script>", "a & b", "מנתח")


def tally(name: str, evaluations: int, *, budget: int | None = None, over_budget: int = 0) -> Tally:
    systems = tuple(f"system {i}" for i in range(min(2, evaluations)))
    return Tally(
        name, "0" * 64, evaluations, systems, 1, ("ana",), "2026-01-01T10:00:59", "", False, budget, over_budget
    )


@pytest.mark.parametrize(
    ("test_sets", "expected"),
    [
        ([], "No evaluation of a test set is recorded."),
        ([tally("x", 0, budget=3)], "No evaluation of a test set is recorded."),
        ([tally("x", 1)], "x: 1 evaluation."),
        ([tally("x", 3, budget=2, over_budget=1)], "x: 3 evaluations, 1 evaluation past a budget."),
        ([tally("x", 3), tally("y", 4), tally("z", 0)], "7 evaluations of 2 test sets, 4 of them of y."),
    ],
)
def test_the_verdict_counts_evaluations(test_sets: list[Tally], expected: str) -> None:
    assert headline(LedgerReport(tuple(test_sets))) == expected
    assert len(tables(view(LedgerReport(tuple(test_sets))))) == bool(test_sets)


def test_the_most_used_test_set_comes_first_with_what_is_left_of_its_budget() -> None:
    sets = (tally("few", 1, budget=3), tally("many", 3, budget=2, over_budget=1), tally("free", 2))
    result = LedgerReport(sets, "ledger.jsonl", notes=("a remark",))
    (table,) = tables(view(result))
    assert column(table, "evaluations") == {"many": "3", "free": "2", "few": "1"}
    assert column(table, "left") == {"many": "0", "free": "-", "few": "2"}
    assert column(table, "budget") == {"many": "2", "free": "none", "few": "3"}
    assert column(table, "first")["many"] == "2026-01-01 10:00"
    shown = texts(view(result))
    assert "Evaluated past the budget: many." in shown
    assert {"Ledger: ledger.jsonl.", "A remark."} <= set(shown)


def test_of_a_single_test_set_every_line_is_shown() -> None:
    lines = (
        LedgerLine("2026-01-01T10:00:00", "ana", "guard", budget=2),
        LedgerLine("2026-01-02T10:00:00", "bo", "look", "s", "f" * 64, ("las.v1",), "table 1", None, "two\nlines"),
    )
    _, table = tables(view(LedgerReport((tally("x", 1),), lines=lines)))
    assert rows(table) == [
        ["2026-01-01 10:00", "ana", "guard", "-", "-", "-", "budget 2 evaluations"],
        ["2026-01-02 10:00", "bo", "look", "s", "f" * 12, "las.v1", "table 1; over budget: two lines"],
    ]
    long = LedgerReport((tally("x", 1),), lines=lines * 300)
    table = tables(view(long))[1]
    assert (len(table.rows), table.folded, str(table.caption)) == (500, True, "The last 500 of 600 lines.")


def test_names_of_any_kind_are_shown_as_they_are() -> None:
    sets = tuple(Tally(name, "0" * 64, 1, HOSTILE, 1, HOSTILE) for name in HOSTILE)
    (table,) = tables(view(LedgerReport(sets, HOSTILE[0])))
    assert [row[0] for row in rows(table)] == list(HOSTILE)
    assert set(column(table, "users").values()) == {f"{HOSTILE[0]}, {HOSTILE[1]} and {HOSTILE[2]}"}


def test_evaluations_by_period_are_a_table_and_a_figure() -> None:
    periods = (PeriodCounts("2010", (2, 4)), PeriodCounts("2020", (3, 8, 10)))
    tabled = view(LedgerReport((), periods=periods, counted="row"))
    (table,) = tables(tabled)
    assert [column.heading for column in table.columns] == ["year", "rows", "evaluations", "median per row", "most"]
    assert rows(table) == [["2010", "2", "6", "3", "4"], ["2020", "3", "21", "8", "10"]]
    (chart,) = drawn(tabled).values()
    assert [(row["name"], row["value"]) for row in data(chart)] == [
        ("2010", 2), ("2010", 4), ("2020", 3), ("2020", 8), ("2020", 10)
    ]  # fmt: skip
    recorded = view(LedgerReport((tally("x", 3),), periods=(PeriodCounts("2026-05", (3,)),), by="month"))
    assert rows(tables(recorded)[1]) == [["2026-05", "1", "3", "3", "3"]]
    assert list(drawn(recorded)) == ["evaluations-by-period"]
