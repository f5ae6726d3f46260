"""Several data sets and runs on page, in LaTeX, Markdown and on a terminal, worked out from the scores of the runs."""

import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from deadheat.charts.comparisons import IntervalRow
from deadheat.reporting.model import CIRCLE, DAGGER, Figure, Table, Verdict
from deadheat.reporting.report import report
from deadheat.reporting.views import headline, view
from deadheat.reporting.views.compare_datasets import text_intervals
from deadheat.results.base import from_json
from deadheat.results.compare import Comparison, PairwiseTest
from deadheat.stats.corrections import decision_levels
from tests.reporting.blocks import column, data, drawn, rows, tables
from tests.reporting.latex_compiler import compile_latex
from tests.reporting.reading import plain_latex
from tests.results.samples import compared_datasets

DATASETS, SYSTEMS = ["en", "de", "fi", "ta"], ["A", "C", "B"]
SCOPES = ["these data sets", "data sets like these"]
PAIRS = {"A - C": 3, "A - B": 4, "C - B": 3}  # with the number of their data sets, in order of the ranking


@pytest.fixture(scope="module")
def result() -> Comparison:
    return compared_datasets()


def named(result: Comparison, name: str) -> Table:
    (table,) = [table for table in tables(view(result)) if table.name == name]
    return table


def forward(result: Comparison, name: str) -> PairwiseTest:
    """A pair in the order of its name."""
    a, b = name.split(" - ")
    (pair,) = [pair for pair in result.pairs if {pair.a, pair.b} == {a, b}]
    return pair if pair.a == a else pair.turned()


def run_scores(result: Comparison, dataset: str, system: str) -> np.ndarray:
    (row,) = [row for row in result.datasets if row.dataset == dataset]
    return 100 * np.array(row[system].scores)


def points(bounds: tuple[float, float]) -> str:
    return f"[{100 * bounds[0]:+.2f}, {100 * bounds[1]:+.2f}]"


def holm(p_values: list[float]) -> list[float]:
    """Holm's method, step by step."""
    corrected, largest = dict[int, float](), 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, (len(p_values) - rank) * p_values[at])
        corrected[at] = min(1.0, largest)
    return [corrected[at] for at in range(len(p_values))]


def test_the_table_of_data_sets_has_means_spreads_averages_and_marks(result: Comparison) -> None:
    table = named(result, "systems")
    assert [item.heading for item in table.columns] == ["data set", *SYSTEMS]
    assert [row[0] for row in rows(table)] == [*DATASETS, "average"]
    for system, runs in zip(SYSTEMS, (3, 1, 2), strict=True):
        cells = column(table, system)
        means = []
        for dataset in DATASETS:
            if (system, dataset) == ("C", "ta"):
                assert cells[dataset] == "-"
                continue
            scores = run_scores(result, dataset, system)
            assert len(scores) == runs
            spread = f" ({scores.std(ddof=1):.2f})" if runs > 1 else ""
            assert cells[dataset] == f"{scores.mean():.2f}{spread}"
            means.append(scores.mean())
        assert cells["average"] == f"{np.mean(means[:3]):.2f}"  # of the three data sets that all systems have
    by_dataset = {name: {row.dataset: row for row in forward(result, name).by_dataset} for name in PAIRS}
    for row in list(table.cells())[:4]:
        for system, cell in zip(SYSTEMS[1:], row[2:], strict=True):
            single = by_dataset[f"A - {system}"].get(str(row[0].value))
            assert cell.mark == (CIRCLE if single is None else DAGGER if single.p_corrected > 0.05 else "")
        assert row[1].strong
        assert row[1].mark == ""
    assert "Mean (standard deviation over runs) of Accuracy (tag)." in str(table.caption)


def test_every_difference_on_every_data_set_is_in_a_table_with_corrected_p_values(result: Comparison) -> None:
    """Ten differences: the p-values and the widths of the intervals are corrected for all of them together."""
    table = named(result, "differences")
    every = [(name, row) for name in PAIRS for row in forward(result, name).by_dataset]
    assert len(every) == sum(PAIRS.values()) == len(table.rows)
    corrected = holm([row.p for _, row in every])
    levels = decision_levels([row.p for _, row in every], "holm", 0.05)
    for cells, (name, row), p, level in zip(rows(table), every, corrected, levels, strict=True):
        a, b = name.split(" - ")
        gap = run_scores(result, row.dataset, a).mean() - run_scores(result, row.dataset, b).mean()
        assert 100 * row.difference == pytest.approx(gap)
        numbers = [f"{100 * row.difference:+.2f}", points(row.interval.bounds), f"{row.p:.4f}", f"{p:.4f}"]
        assert cells == [name, row.dataset, *numbers]
        assert row.p_corrected == pytest.approx(p)
        assert row.interval.level == pytest.approx(1 - level)
        low, high = row.interval.bounds
        assert (low > 0 or high < 0) == (p <= 0.05)
    assert (
        str(table.caption) == "Differences by data set; intervals are widened as p-values are corrected; "
        "p-values corrected by Holm's method for 10 tests."
    )


def test_pairs_are_means_over_the_data_sets_that_both_have(result: Comparison) -> None:
    table = named(result, "pairs")
    assert [row[0] for row in rows(table)] == list(PAIRS)
    for name, number in PAIRS.items():
        pair = forward(result, name)
        gaps = [row.difference for row in pair.by_dataset]
        assert len(gaps) == number
        assert pair.difference == pytest.approx(np.mean(gaps))
        assert column(table, "difference")[name] == f"{100 * np.mean(gaps):+.2f}"
        assert column(table, "95% CI")[name] == points(pair.interval.bounds)
        assert column(table, "ahead on")[name] == f"{sum(gap > 0 for gap in gaps)} of {number}"
        assert column(table, "shown better on")[name] == f"{pair.shown_on} of {number}"
        winner = pair.winner(0.05)
        assert column(table, "outcome")[name] == (f"{winner} is better" if winner else pair.state(0.05).value)


def test_a_forest_has_every_data_set_and_both_scopes(result: Comparison) -> None:
    charts = drawn(view(result))
    figures = {block.drawing.name: block for block in view(result) if isinstance(block, Figure)}
    for number, name in enumerate(PAIRS, start=1):
        pair = forward(result, name)
        assert pair.elsewhere is not None
        names = [*(row.dataset for row in pair.by_dataset), *SCOPES]
        intervals = [*(row.interval for row in pair.by_dataset), pair.interval, pair.elsewhere.interval]
        values = [*(row.difference for row in pair.by_dataset), pair.difference, pair.difference]
        points_drawn = data(charts[f"compare-forest-{number}"])
        assert [row["name"] for row in points_drawn] == names
        for key, expected in (
            ("value", values),
            ("low", [item.low for item in intervals]),
            ("high", [item.high for item in intervals]),
        ):
            assert [row[key] for row in points_drawn] == pytest.approx([100 * value for value in expected])
        text = figures[f"compare-forest-{number}"].alternative
        assert text is not None
        assert list(column(text, "difference").items()) == [
            (label, f"{100 * value:+.2f}") for label, value in zip(names, values, strict=True)
        ]
        assert list(column(text, "95% CI").values()) == [points(item.bounds) for item in intervals]
        ends = [0.0, *(end for item in intervals for end in item.bounds), *values]
        least, width = min(ends), max(ends) - min(ends)
        for bar, value, item in zip(column(text, "").values(), values, intervals, strict=True):
            places = [round(32 * (end - least) / width) for end in (value, item.low, item.high, 0.0)]
            assert bar.index("o") == places[0]
            assert len(bar) == max(places) + 1
            zero = "o" if places[3] == places[0] else "|"
            assert bar[places[3]] == zero
            for place, bracket in zip(places[1:3], "()", strict=True):
                assert bar[place] == ("o" if place == places[0] else "|" if place == places[3] else bracket)
            inside = set(bar[places[1] + 1 : places[2]]) - set("o|")
            assert inside <= {"-"}


def test_an_interval_that_is_unknown_is_a_point_on_the_scale() -> None:
    nan = float("nan")
    drawn_rows = text_intervals([IntervalRow("a", 1, nan, nan), IntervalRow("b", -1, -2, 2)], width=5)
    assert drawn_rows == ["  |o", "(o|-)"]
    assert text_intervals([IntervalRow("a", 0, 0, 0)], width=5) == ["o"]


def test_the_verdict_speaks_of_these_data_sets_and_of_others(result: Comparison) -> None:
    (verdict,) = [block for block in view(result) if isinstance(block, Verdict)]
    assert verdict.claims is not None
    headings = [item.heading for item in verdict.claims.columns]
    assert headings == ["higher > lower", *(f"over {scope}" for scope in SCOPES)]
    for name, cells in zip(PAIRS, rows(verdict.claims), strict=True):
        pair = forward(result, name)
        assert pair.elsewhere is not None
        gap, ahead = f"{100 * pair.difference:+.2f}", f", ahead on {pair.ahead_on} of {PAIRS[name]}"
        assert cells == [
            name.replace(" - ", " > "),
            f"{pair.state(0.05).value}: {gap} {points(pair.interval.bounds)}{ahead}",
            f"{pair.state_elsewhere().value}: {gap} {points(pair.elsewhere.interval.bounds)}",
        ]
    assert "On these data sets" not in headline(result)
    remarks = " ".join(map(str, verdict.remarks))
    assert "Data sets like these: would other data sets?" in remarks
    assert "Each system has one run" not in remarks  # A has three and B has two


def test_page_latex_markdown_and_terminal_have_the_same_numbers(result: Comparison, tmp_path: Path) -> None:
    page = report(result)
    html = page.html()
    plain = {
        "page": unescape(re.sub(r"<[^>]*>", " ", html)),
        "latex": plain_latex(result.to_latex()),
        "markdown": result.to_markdown().replace("\\", ""),
        "terminal": str(result),
        "json": str(from_json(result.to_json())),
    }
    pairs = [forward(result, name) for name in PAIRS]
    everywhere = [points(pair.interval.bounds) for pair in pairs]
    in_tables = [points(row.interval.bounds) for pair in pairs for row in pair.by_dataset]
    elsewhere = [points(pair.elsewhere.interval.bounds) for pair in pairs if pair.elsewhere]
    for where, text in plain.items():
        text = text.replace("$-$", "-").replace("{[}", "[")
        for numbers in (*everywhere, *in_tables, *([] if where == "latex" else elsewhere)):
            assert numbers in text, (where, numbers)
        for dataset in DATASETS:
            assert re.search(rf"\b{dataset}\b", text), (where, dataset)
    names = [figure.name for figure in page.figures]
    assert [name for name in names if "forest" in name] == [f"compare-forest-{number}" for number in (1, 2, 3)]
    assert html.count("<figure>") == len(names)
    assert page.verdicts == [headline(result)]
    for name in PAIRS:
        assert f"{name} by data set" in plain["page"]
    compile_latex(result.to_latex(), tmp_path)
