"""Samples of one test set and the ranking on another: the section of a study of sizes that compares across sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from deadheat.charts.curves import Curve
from deadheat.charts.panels import Panel, PanelGrid
from deadheat.ranking.sizes import CrossSizes, SizeCurve, SizePoint
from deadheat.reporting import model as m
from deadheat.results.format import COUNT, NAME, SHARE, number_format
from deadheat.results.rank import SizeStudy

TAU = number_format(3)
Measure = Callable[[SizePoint], float]


def across_sets(result: SizeStudy) -> Iterator[m.Block]:
    """How well a sample of one test set shows the ranking on all of another, and on all of its own."""
    whole = [curve.points[-1] for item in result.cross for curve in item.curves[:1] if curve.points[-1].whole]
    yield m.Heading("Across test sets")
    if whole:
        same = sum(point.tau > 1 - 1e-9 for point in whole)
        yield m.paragraph(
            "All of one test set ranks the systems as all of another does in {} of {}; mean tau is {}.",
            same,
            m.count(len(whole), "pair"),
            m.number(fmean(point.tau for point in whole)),
        )
    yield from _figures(result)
    yield _summary(result)
    yield _pairs(result)


def _own(result: SizeStudy) -> list[CrossSizes]:
    """Every test set beside itself."""
    return [CrossSizes(test_set.name, test_set.name, test_set.curves) for test_set in result.sets]


def _distance(point: SizePoint) -> float:
    return point.aso.distance if point.aso is not None else float("nan")


def _disagreement(point: SizePoint) -> float:
    return point.aso.disagreement if point.aso is not None else float("nan")


def _mean(points: Sequence[SizePoint], measure: Measure) -> float | None:
    values = [value for value in map(measure, points) if value == value]
    return fmean(values) if values else None


def _at(curve: SizeCurve, words: int) -> SizePoint | None:
    """Samples of this many words; 0 stands for the whole test set."""
    return curve.at(words) if words else next((point for point in curve.points if point.whole), None)


def _sizes(result: SizeStudy) -> list[int]:
    """All sizes that were tried, and 0 for the whole test set."""
    points = [point for item in _own(result) for curve in item.curves for point in curve.points]
    return [
        *sorted({point.words for point in points if not point.whole}),
        *([0] * any(point.whole for point in points)),
    ]


def _summary(result: SizeStudy) -> m.Table:
    """Means over test sets, and over pairs of them, by strategy and size."""
    tested = any(point.aso for item in result.cross for curve in item.curves for point in curve.points)
    columns = [m.Column("sampling"), *m.columns(COUNT, "words", "sets"), *m.columns(TAU, "tau, same", "tau, other")]
    columns += m.columns(SHARE, *(("ASO, same", "ASO, other") if tested else ("", "")))
    columns += m.columns(TAU, *(("eps_min, same", "eps_min, other") if tested else ("", "")))
    rows: list[m.Row] = []
    for at, strategy in enumerate(result.settings.strategies):
        for words in _sizes(result):
            own, other = (
                [point for item in items if (point := _at(item.curves[at], words)) is not None]
                for items in (_own(result), result.cross)
            )
            values = [_mean(points, measure) for measure in (_tau, _disagreement, _distance) for points in (own, other)]
            rows.append((strategy, m.Cell(words or "all"), len(own), *values))
    whole = "all" if result.settings.against == "all" else "the rest"
    caption = (
        f"Samples of a test set compared with {whole} of the same and with all of every other one: means over test "
        "sets that are larger than the sample, and over their pairs."
    )
    if tested:
        caption += " ASO: share of pairs of systems on which significance differs; eps_min: mean distance."
    return m.Table(columns, rows, "cross-sizes", caption, labels=1).without_unnamed()


def _tau(point: SizePoint) -> float:
    return point.tau


def _pairs(result: SizeStudy) -> m.Table:
    """Mean tau of every pair of test sets by strategy and size."""
    sizes = _sizes(result)
    rows: list[m.Row] = []
    for item in sorted((*_own(result), *result.cross), key=lambda item: item.source):
        for curve in item.curves:
            points = [_at(curve, words) for words in sizes]
            cells = [m.Cell(point.tau, strong=point.words == curve.sufficient) if point else None for point in points]
            rows.append((item.source, item.target, curve.strategy, *cells))
    headings = (f"{words:,}" if words else "all" for words in sizes)
    columns = (*m.columns(NAME, "sample of", "ranking on all of", "sampling"), *m.columns(TAU, *headings))
    caption = (
        "Mean weighted tau between the ranking on samples of one test set, by the number of words, and the ranking on "
        "all of another. Bold: the smallest sufficient size."
    )
    return m.Table(columns, rows, "cross-pairs", caption, labels=3, folded=True, detail=True)


def _figures(result: SizeStudy) -> Iterator[m.Figure]:
    title = "Samples of one test set and the ranking on another: weighted tau"
    yield m.figure("size-across-sets", _grid(result, title, "weighted tau", _tau, result.settings.threshold))
    if any(point.aso for item in result.cross for curve in item.curves for point in curve.points):
        title = "Samples of one test set and significance on another: distance in eps_min"
        yield m.figure("size-across-sets-aso", _grid(result, title, "mean distance in eps_min", _distance, None))


def _grid(result: SizeStudy, title: str, y_axis: str, measure: Measure, target: float | None) -> PanelGrid:
    order = {test_set.name: at for at, test_set in enumerate(result.sets)}
    panels = [
        Panel(item.source, item.target, tuple(_curve(curve, measure) for curve in item.curves))
        for item in sorted((*_own(result), *result.cross), key=lambda item: (order[item.source], order[item.target]))
    ]
    names = "sample of", "ranking on all of"
    return PanelGrid(tuple(panels), title, "words in the sample", y_axis, *names, log_x=True, target=target)


def _curve(curve: SizeCurve, measure: Measure) -> Curve:
    return Curve(curve.strategy, tuple(point.words for point in curve.points), tuple(map(measure, curve.points)))
