"""What a study of test set sizes shows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from deadheat.charts.chart import WIDE
from deadheat.corpus import read
from deadheat.errors import InputError
from deadheat.metrics import METRICS
from deadheat.questions.size import TestSet, size, study_sizes
from deadheat.ranking.size_samples import CountedSet, SizeSettings
from deadheat.reporting.model import Figure, Heading, Table, cell_text
from deadheat.reporting.views import headline, view
from deadheat.reporting.views.size import SETS
from deadheat.results.base import from_json
from deadheat.results.rank import SizeStudy
from tests.reporting.latex_checker import check

SETTINGS = SizeSettings((100, 500, 1000), strategies=("seq", "rand"), draws=20, aso_draws=2)


def simulated(
    *, sets: int = 1, gap: float = 0.1, runs: int = 1, seed: int = 0, settings: SizeSettings = SETTINGS
) -> SizeStudy:
    """Test sets of 200 sentences of ten words, on which each of three systems is better than the next by some words."""
    rng = np.random.default_rng(seed)
    systems = [name for name in "abc" for _ in range(runs)]
    test_sets = []
    for number in range(sets):
        right = [rng.binomial(10, 0.9 - gap * "abc".index(name), size=200) for name in systems]
        counts = np.stack([np.stack([row, np.full(200, 10), np.full(200, 10)], axis=1) for row in right])
        counted = CountedSet(f"set {number}", tuple(systems), np.full(200, 10), counts, METRICS.make("las"))
        test_sets.append(TestSet(counted))
    return study_sizes(test_sets, settings)


def tables(result: SizeStudy, heading: str) -> list[Table]:
    blocks = [block for block in view(result) if isinstance(block, Table)]
    return [block for block in blocks if heading in [column.heading for column in block.columns]]


@pytest.fixture(scope="module")
def found() -> SizeStudy:
    return simulated(runs=2)


def test_the_verdict_in_each_state(found: SizeStudy) -> None:
    rand = found.sets[0].curves[1]
    assert headline(found) == f"{rand.sufficient} words of set 0 are sufficient to rank the systems."
    assert "is at least 0.9 in at least 95% of the draws" in str(found)
    none = simulated(gap=0.0)
    assert headline(none) == "No size tried is sufficient to rank the systems on set 0."
    single = simulated(settings=replace(SETTINGS, strategies=("seq",)))
    assert headline(single).startswith("Only one sample of each size was drawn")
    both = simulated(sets=2)
    assert headline(both).endswith(" words of each of 2 test sets are sufficient to rank the systems.")
    half = simulated(settings=SizeSettings((1100,), strategies=("rand",), draws=9, threshold=0.1))
    assert headline(half) == "1,100 words of set 0, more than half of it, are sufficient to rank the systems."
    assert "more than half of the test set" in str(half)


def test_answers_have_the_evidence(found: SizeStudy) -> None:
    seq, rand = found.sets[0].curves
    shown = str(found)
    tau = "tau with the ranking on the whole test set is"
    assert "set 0: 2,000 words in 200 sentences" in shown
    last = seq.samples[-1].tau
    assert f"seq: one sample only, so no size is called sufficient. At 1,000 words, {tau} {last:.3f}." in shown
    point = rand.at(rand.sufficient or 0)
    assert point is not None
    assert f"rand: {point.words} words are sufficient; {tau} at least 0.9 in {point.reached} of 20 draws" in shown
    none = simulated(gap=0.0)
    assert "rand: no size tried is sufficient. At 1,000 words" in str(none)


def test_curves_are_the_means_and_bands_of_the_draws(found: SizeStudy) -> None:
    taus, significance = (block.drawing.draw(WIDE) for block in view(found) if isinstance(block, Figure))
    points = [(curve, point) for curve in found.sets[0].curves for point in curve.samples]
    assert len(points) == len(taus.rows) == 6  # the whole test set agrees with itself, and is no point of a curve
    for row, (curve, point) in zip(taus.rows, points, strict=True):
        assert row[:3] == (curve.strategy, point.words, point.tau)
        if curve.draws > 1:
            assert row[3:] == (point.low, point.high)
    for row, (_, point) in zip(significance.rows, points, strict=True):
        assert point.aso is not None
        assert row[2] == 100 * point.aso.disagreement


def test_the_table_has_every_size_of_every_strategy(found: SizeStudy) -> None:
    (table,) = tables(found, "mean tau")
    points = [(curve.strategy, point) for curve in found.sets[0].curves for point in curve.points]
    for row, (strategy, point) in zip(table.cells(), points, strict=True):
        words = "all" if point.whole else f"{point.words:,}"
        expected = [strategy, words, f"{point.units:,.0f}", str(point.draws), f"{point.tau:.3f}"]
        assert [cell_text(cell) for cell in row[:5]] == expected
    published = simulated(settings=SizeSettings((100, 1999), strategies=("rand",), draws=3))
    assert not tables(published, "published as sufficient for")


def test_published_sizes_are_shown_where_they_were_tried() -> None:
    gold = read(text="a_X b_Y\n" * 1100)
    bad = read(text="a_X b_Y\na_X b_X\n" * 550)
    result = size(gold, {"good": gold, "bad": bad}, settings=SizeSettings((2000,), strategies=("rand",), draws=5))
    (table,) = tables(result, "published as sufficient for")
    (row,) = table.cells()
    assert [cell_text(cell) for cell in row[1:]] == ["2,000", "1.000 (100%)"]


def test_latex_has_mean_tau_with_the_sufficient_size_in_bold(found: SizeStudy) -> None:
    (table,) = check(found.to_latex()).tables
    assert table[0] == ["test set", "sampling", "100", "500", "1,000"]
    seq, rand = found.sets[0].curves
    assert [row[2:] for row in table[1:]] == [[f"{point.tau:.3f}" for point in curve.samples] for curve in (seq, rand)]
    assert rand.sufficient is not None
    bold = rand.at(rand.sufficient)
    assert bold is not None
    assert rf"\textbf{{{bold.tau:.3f}}}" in found.to_latex()


def test_several_sets_have_a_summary_and_an_overall() -> None:
    several = simulated(sets=2)
    headings = [str(block.text).partition(":")[0] for block in view(several) if isinstance(block, Heading)]
    assert headings == ["All test sets", "All test sets together", "set 0", "set 1"]
    (summary,) = tables(several, "sufficient, rand")
    for row, test_set in zip(summary.cells(), several.sets, strict=True):
        assert [cell_text(cell) for cell in row[2:]] == ["one sample only", f"{test_set.curves[1].sufficient}"]
    (between,) = tables(several, "set 1")
    assert cell_text(next(between.cells())[2]) == f"{several.between[0][1]:.3f}"


def test_of_many_sets_the_hardest_are_open_and_drawn() -> None:
    several = simulated(sets=SETS + 3, gap=0.02)
    blocks = [block for block in view(several) if isinstance(block, Heading)]
    shown = {str(block.text).partition(":")[0] for block in blocks[2:] if not block.folded}
    lowest = {each.name: min(curve.samples[-1].share for curve in each.curves) for each in several.sets}
    folded = [name for name in lowest if name not in shown]
    assert (len(shown), len(folded)) == (SETS, 3)
    assert max(lowest[name] for name in shown) <= min(lowest[name] for name in folded)
    assert sum(isinstance(block, Figure) for block in view(several)) == SETS + 1


def test_systems_with_the_same_score_have_no_tau_and_no_curve() -> None:
    gold = read(text="a_X b_Y\n" * 40)
    level = size(gold, {"a": gold, "b": gold}, settings=SizeSettings((10, 20), strategies=("rand",), draws=5))
    assert not any(isinstance(block, Figure) for block in view(level))
    assert all(math.isnan(point.tau) for point in level.sets[0].curves[0].points)
    (table,) = tables(level, "mean tau")
    assert {cell_text(row[4]) for row in table.cells()} == {"-"}


def test_samples_of_one_set_beside_the_ranking_on_another() -> None:
    result = simulated(sets=3, gap=0.02, runs=2, settings=replace(SETTINGS, cross=True))
    assert [(item.source, item.target) for item in result.cross] == [
        (f"set {a}", f"set {b}") for a in range(3) for b in range(3) if a != b
    ]
    assert from_json(result.to_json()) == result
    (summary,) = tables(result, "tau, other")
    rows = {tuple(map(cell_text, row[:2])): row for row in summary.cells()}
    own = [item.curves[1].at(500) for item in result.sets]
    other = [item.curves[1].at(500) for item in result.cross]
    expected = [np.mean([point.tau for point in points if point]) for points in (own, other)]
    assert [cell.value for cell in rows["rand", "500"][3:5]] == pytest.approx(expected)
    distances = [point.aso.distance for point in other if point and point.aso]
    assert rows["rand", "500"][-1].value == pytest.approx(np.mean(distances))
    assert rows["seq", "all"][3].value == 1
    (pairs,) = tables(result, "ranking on all of")
    assert len(pairs.rows) == 9 * 2
    figures = {block.drawing.name: block.drawing.plot for block in view(result) if isinstance(block, Figure)}
    taus = figures["size-across-sets"].draw(WIDE)
    assert {(row[0], row[1]) for row in taus.rows} == {(f"set {a}", f"set {b}") for a in range(3) for b in range(3)}
    assert "size-across-sets-aso" in figures
    check(result.to_latex())
    assert "| tau, other" in result.to_markdown()
    assert "Across test sets" not in str(simulated(sets=2))


def test_one_set_or_other_systems_cannot_be_compared_across() -> None:
    crossed = replace(SETTINGS, cross=True)
    with pytest.raises(InputError, match="set 0: one test set; expected several to compare across"):
        simulated(settings=crossed)
    separate = simulated(sets=2, runs=2, settings=replace(crossed, runs="separate"))
    assert any(note.startswith("runs are matched across test sets by their order") for note in separate.notes)
