"""A plot of every kind, with any names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deadheat.charts.chart import Plot
from deadheat.charts.comparisons import IntervalPlot, IntervalRow, PairCell, PairMatrix
from deadheat.charts.curves import Curve, CurvePlot, Gap, GapPlot
from deadheat.charts.distributions import Sample, SplitRange, SplitRangePlot, Strip, StripPlot, ViolinPlot
from deadheat.charts.panels import Panel, PanelGrid
from deadheat.charts.ranks import CriticalDifferenceDiagram, RankBoxes, RankHeatmap, RankRow
from deadheat.charts.sentences import DependencyTree, LabelledSentence, SystemLabels, TagRows

Names = Sequence[str]


def intervals(names: Names) -> Plot:
    rows = tuple(IntervalRow(name, 90.0 + i, 89.5 + i, 91.0 + i) for i, name in enumerate(names))
    return IntervalPlot(rows, "LAS", "LAS in percent")


def differences(names: Names) -> Plot:
    rows = tuple(IntervalRow(name, i - 1.0, i - 1.5, i + 0.5) for i, name in enumerate(names))
    return IntervalPlot(rows, "Differences", "points " * 40, zero=True)


def matrix(names: Names) -> Plot:
    pairs = tuple(PairCell(a, b, 0.3 * (j - i), 0.2 / (j - i), j - i > 1)
                  for i, a in enumerate(names) for j, b in enumerate(names) if i < j)  # fmt: skip
    return PairMatrix(tuple(names), pairs, "Pairs", "LAS")


def diagram(names: Names) -> Plot:
    ranks = tuple(float(i + 1) for i in range(len(names)))
    groups = tuple((i, i + 1) for i in range(len(names) - 1))
    return CriticalDifferenceDiagram(tuple(names), ranks, groups, "Ranks", difference=1.1)


def curves(names: Names) -> Plot:
    series = (Curve(name, (10, 100, 1000), (i, i + 2, i + 1), (i,) * 3, (i + 3,) * 3) for i, name in enumerate(names))
    return CurvePlot(tuple(series), "Tau", "sentences", "tau", log_x=True, target=4)


def panels(names: Names) -> Plot:
    made = (
        Panel(row, column, tuple(Curve(name, (10, 100, 1000), (i, i + 2.0, i + j)) for name in names[:3]))
        for i, row in enumerate(names)
        for j, column in enumerate(names)
    )
    return PanelGrid(tuple(made), "Panels", "words", "tau", "sample of", "ranking on", log_x=True, target=2)


def gaps(names: Names) -> Plot:
    points = tuple(Gap(name, 90.0 + i, 89.0 + 1.5 * i, "seed 1") for i, name in enumerate(names))
    return GapPlot(points, "Dev and test", "score on dev " * 20, "score on test " * 20)


def boxes(names: Names) -> Plot:
    return RankBoxes(tuple(RankRow(name, 1, 2, 3, 4, 5, 3, 1, 6) for name in names), "Ranks")


def heatmap(names: Names) -> Plot:
    shares = tuple((1 / len(names),) * len(names) for _ in names)
    return RankHeatmap(tuple(names), shares, "Ranks")


def violins(names: Names) -> Plot:
    samples = (Sample(name, tuple(90 + j**0.5 for j in range(10 * i + 1))) for i, name in enumerate(names))
    return ViolinPlot(tuple(samples), "Seeds", "F1")


def strips(names: Names) -> Plot:
    rows = tuple(Strip(name, (90.0 - i, 91.0, 92.0 + i), (name, "b", "c"), i % 3) for i, name in enumerate(names))
    return StripPlot(rows, "Settings", "accuracy")


def splits(names: Names) -> Plot:
    rows = tuple(SplitRange(name, 90, 89, 91, (90.5, 88.0 + i)) for i, name in enumerate(names))
    return SplitRangePlot(rows, "Splits", "accuracy")


def tags(names: Names) -> Plot:
    systems = tuple(SystemLabels(name, tuple(reversed(names))) for name in names[:6])
    return TagRows(LabelledSentence(tuple(names), tuple(names), systems), "Tags")


def trees(names: Names) -> Plot:
    labels = tuple(f"{min(i, 1)}:{name[:20]}" for i, name in enumerate(names))
    systems = tuple(SystemLabels(name, labels) for name in names[:6])
    return DependencyTree(LabelledSentence(tuple(names), labels, systems), "Trees")


PLOTS: tuple[Callable[[Names], Plot], ...] = (
    intervals, differences, matrix, diagram, curves, panels, gaps, boxes, heatmap, violins, strips, splits, tags, trees,
)  # fmt: skip
