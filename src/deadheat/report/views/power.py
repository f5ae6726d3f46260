"""Could the test set have shown the difference?"""

from __future__ import annotations

from collections.abc import Iterator

from deadheat.charts.chart import Figure as Drawing
from deadheat.charts.curves import Curve, CurvePlot
from deadheat.report.model import (
    Block,
    Cell,
    Column,
    Figure,
    Heading,
    Note,
    Paragraph,
    Shown,
    Signature,
    Table,
    Text,
    Verdict,
    View,
    count,
    names,
    share,
    size_of,
    text,
)
from deadheat.results.data import Power
from deadheat.results.format import COUNT, PERCENT, SHARE, points_format, score_format


def view(result: Power) -> View:
    """What a test set of this size can show, and what it would take."""
    return (Verdict(_headline(result)), *_blocks(result), Signature(result.signature))


def _headline(result: Power) -> Text:
    between = text(" between {}", names(result.systems)) if result.systems else Text(())
    metric = text(" of {}", result.metric) if result.metric else Text(())
    return text(
        "If the difference{} is {} points{}, a test set of {} shows it with a probability of {}.",
        between,
        size_of(result.difference, PERCENT),
        metric,
        count(result.units, result.unit),
        share(result.power),
    )


def _blocks(result: Power) -> Iterator[Block]:
    units, target = f"{result.unit}s", Shown(result.target, SHARE)
    yield Heading("Could the test set have shown the difference?", detail=True)
    if result.is_reachable:
        needed = text("{} {}", Shown(result.needed, COUNT), units)
        yield Paragraph(text("To show it with a probability of {} takes {}.", target, needed), detail=True)
    else:
        yield Paragraph(text("No number of {} would show it with a probability of {}.", units, target), detail=True)
    if not result.is_sufficient:
        yield Paragraph(
            "So a test that shows no difference here says little: the systems may well differ, and the test set may be too small.",
            detail=True,
        )
    yield from _figures(result, units)
    smallest = (
        Cell(result.smallest, format=score_format(PERCENT)) if result.smallest == result.smallest else Cell("none")
    )
    needed_cell = Cell(result.needed, format=COUNT) if result.is_reachable else Cell("no number is enough")
    yield Table(
        (Column("quantity"), Column("value", SHARE)),
        (
            ("difference, in points", Cell(result.difference, format=points_format(PERCENT))),
            (units, Cell(result.units, format=COUNT)),
            (f"power at alpha {result.alpha:g}", result.power),
            ("power, simulated", result.simulated),
            (f"smallest detectable difference, in points (power {result.target:g})", smallest),
            (f"{units} needed for power {result.target:g}", needed_cell),
        ),
        name="power",
    )
    basis = (
        "The observed difference is taken as the true one, and the units at hand as the population. "
        if result.systems
        else "The difference and how often the systems agree are assumptions. "
    )
    checked = ", checked by simulation." if result.simulated == result.simulated else "."
    yield Note(f"{basis}Power is by the normal approximation{checked}")
    for note in result.notes:
        yield Note(note)


def _figures(result: Power, units: str) -> Iterator[Figure]:
    if result.by_units:
        gap = size_of(result.difference, PERCENT)
        title = f"Power to show a difference of {gap} points, by the size of the test set"
        yield Figure(Drawing("power-size", _curve(result, result.by_units, title, units, factor=1.0, log_x=True)))
    if result.by_difference:
        title = f"Power of {count(result.units, result.unit)}, by the true difference"
        axis = "difference, in points"
        yield Figure(Drawing("power-difference", _curve(result, result.by_difference, title, axis, factor=100.0)))


def _curve(
    result: Power,
    points: tuple[tuple[float, float], ...],
    title: str,
    axis: str,
    *,
    factor: float,
    log_x: bool = False,
) -> CurvePlot:
    curve = Curve("power", tuple(factor * x for x, _ in points), tuple(100 * y for _, y in points))
    return CurvePlot((curve,), title, axis, "power in percent", log_x=log_x, target=100 * result.target)
