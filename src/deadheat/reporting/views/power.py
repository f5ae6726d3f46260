"""Whether a test set could have shown a difference."""

from __future__ import annotations

from collections.abc import Iterator

from deadheat.charts.curves import Curve, CurvePlot
from deadheat.reporting import model as m
from deadheat.results.data import Curve as Points
from deadheat.results.data import Power
from deadheat.results.format import COUNT, PERCENT, SHARE


def view(result: Power) -> Iterator[m.Block]:
    """What a test set of this size can show, and what it would take."""
    between = m.text(" between {}", m.names(result.systems)) if result.systems else None
    metric = m.text(" of {}", result.metric) if result.metric else None
    words = "If the difference{} is {} points{}, a test set of {} shows it with a probability of {}."
    size, gap = m.count(result.units, result.unit), m.size_of(result.difference, PERCENT)
    yield m.Verdict(m.text(words, between, gap, metric, size, m.share(result.power)))
    units, target = f"{result.unit}s", m.share(result.target)
    yield m.Heading("Could the test set have shown the difference?", detail=True)
    if result.is_reachable:
        needed = m.Shown(result.needed, COUNT)
        yield m.explanation("To show it with a probability of {} takes {} {}.", target, needed, units)
    else:
        yield m.explanation("No number of {} would show it with a probability of {}.", units, target)
    if not result.is_sufficient:
        yield m.explanation(
            "So a test that shows no difference here says little: the systems may well differ, and the test set may "
            "be too small."
        )
    yield from _figures(result, units)
    smallest = m.Cell(result.smallest if result.smallest == result.smallest else "none", format=PERCENT.score)
    enough = m.Cell(result.needed if result.is_reachable else "no number is enough", format=COUNT)
    yield m.Table(
        (m.Column("quantity"), m.Column("value", SHARE)),
        (
            ("difference, in points", m.Cell(result.difference, format=PERCENT.difference)),
            (units, m.Cell(result.units, format=COUNT)),
            (f"power at alpha {result.alpha:g}", result.power),
            ("power, simulated", result.simulated),
            (f"smallest detectable difference, in points (power {result.target:g})", smallest),
            (f"{units} needed for power {result.target:g}", enough),
        ),
        name="power",
    )
    basis = "The difference and how often the systems agree are assumptions."
    if result.systems:
        basis = "The observed difference is taken as the true one, and the units at hand as the population."
    checked = ", checked by simulation" if result.simulated == result.simulated else ""
    yield m.Note(f"{basis} Power is by the normal approximation{checked}.")


def _figures(result: Power, units: str) -> Iterator[m.Figure]:
    sizes = tuple((size, power) for size, power in result.by_units if size >= 1)
    if sizes:
        gap = m.size_of(result.difference, PERCENT)
        title = f"Power to show a difference of {gap} points, by the size of the test set"
        yield m.figure("power-size", _curve(result, sizes, title, units, log_x=True))
    if result.by_difference:
        title = f"Power of {m.count(result.units, result.unit)}, by the true difference"
        points = tuple((100 * difference, power) for difference, power in result.by_difference)
        yield m.figure("power-difference", _curve(result, points, title, "difference, in points"))


def _curve(result: Power, points: Points, title: str, axis: str, *, log_x: bool = False) -> CurvePlot:
    curve = Curve("power", tuple(x for x, _ in points), tuple(100 * y for _, y in points))
    return CurvePlot((curve,), title, axis, "power in percent", log_x=log_x, target=100 * result.target)
