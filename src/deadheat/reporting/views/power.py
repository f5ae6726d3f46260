"""Whether a test set could show a difference."""

from __future__ import annotations

import math
from collections.abc import Iterator

from deadheat.charts.curves import Curve, CurvePlot
from deadheat.reporting import model as m
from deadheat.results.data import Power
from deadheat.results.format import COUNT, SHARE, number_format
from deadheat.stats.power import Curve as Points

TEXT_UNITS = ("document", "sentence", "token", "block")


def view(result: Power) -> Iterator[m.Block]:
    """What a test set of this size can show, and what it would take."""
    gap, points = m.size_of(result.difference, result.scale), " points" if result.scale.is_percent else ""
    amount = m.text(
        f"{{}}{result.scale.points} {{}}" if result.metric else f"{{}}{points}", gap, *filter(None, [result.metric])
    )
    difference = m.text("the true difference is {}", amount)
    if result.systems:
        difference = m.text("{} truly differ by {}", m.names(result.systems), amount)
    words = "If {}, a test set of {}{} shows it with a probability of {}."
    size, runs = m.count(result.units, result.unit), _runs(result)
    with_runs = m.text(" with {}", runs) if runs else None
    yield m.Verdict(m.text(words, difference, size, with_runs, m.share(result.power)))
    units, target = f"{result.unit}s", m.share(result.target)
    yield m.Heading("Can the test set show the difference?", detail=True)
    if result.is_reachable:
        needed, bounds = m.Shown(result.needed, COUNT), _bounds(result)
        interval = m.text(" (95% CI {})", bounds) if bounds else None
        yield m.explanation("To show it with a probability of {} takes {} {}{}.", target, needed, units, interval)
    else:
        because = f" with so few {result.repeat}s" if result.runs else ""
        yield m.explanation(f"No number of {{}} would show it with a probability of {{}}{because}.", units, target)
    if not result.is_sufficient:
        yield m.explanation(
            "So a test that shows no difference here says little: the systems may well differ, and the test set may "
            "be too small."
        )
    yield from _figures(result, units)
    yield m.Table((m.Column("quantity"), m.Column("value", SHARE)), tuple(_rows(result, units)), name="power")
    if result.attempts:
        yield _attempts_table(result, units)
    yield m.Note(_basis(result))


def _attempts_table(result: Power, units: str) -> m.Table:
    """What more attempts and more units would buy."""
    headings = (f"{m.count(result.units, result.unit)}", f"{m.count(2 * result.units, result.unit)}")
    columns = [m.Column("attempts", COUNT), *m.columns(SHARE, *headings), m.Column(f"{units} needed", COUNT)]
    rows: list[m.Row] = []
    for plan in result.attempts:
        number = plan.attempts if math.isfinite(plan.attempts) else "no limit"
        needed = plan.needed if math.isfinite(plan.needed) else "none are enough"
        rows.append((m.Cell(number), plan.power, plan.power_twice, m.Cell(needed)))
    caption = f"Power with so many attempts of each system at every item, and the {units} needed for power {{}}."
    return m.Table(columns, rows, "power-attempts", m.text(caption, m.Shown(result.target, number_format(2))))


def _runs(result: Power) -> m.Text | None:
    """`5 runs of each`, where several runs count."""
    if max(result.runs, default=1) < 2:
        return None
    if len(set(result.runs)) == 1:
        return m.text("{} of each system", m.count(result.runs[0], result.repeat))
    return m.text(f"{{}} and {{}} {result.repeat}s", *result.runs)


def _bounds(result: Power) -> m.Text | None:
    """The interval of the units needed."""
    if math.isnan(result.needed_low):
        return None
    low = m.Shown(result.needed_low, COUNT)
    if math.isinf(result.needed_low):
        return m.text("no number is enough")
    if math.isinf(result.needed_high):
        return m.text("{} or more", low)
    return m.text("{} to {}", low, m.Shown(result.needed_high, COUNT))


def _rows(result: Power, units: str) -> Iterator[m.Row]:
    points, measure = result.scale.score, result.scale.in_points
    yield f"true difference{measure}", m.Cell(result.difference, format=points)
    yield units, m.Cell(result.units, format=COUNT)
    if result.runs:
        numbers = tuple(dict.fromkeys(result.runs))
        yield (
            f"{result.repeat}s of each system",
            m.Cell(m.join_text([m.text("{}", number) for number in numbers], " and ")),
        )
    yield f"standard error of the difference{measure}", m.Cell(result.error, format=points)
    if not math.isnan(result.run_share):
        yield "share of its variance from runs", result.run_share
    if not math.isnan(result.design_effect):
        yield "design effect", m.Cell(result.design_effect, format=number_format(2))
    yield f"power at alpha {result.alpha:g}", result.power
    yield "power, simulated", result.simulated
    smallest = m.Cell(result.smallest if result.smallest == result.smallest else "none", format=points)
    yield f"smallest detectable difference{measure} (power {result.target:g})", smallest
    enough = m.Cell(result.needed if result.is_reachable else "no number is enough", format=COUNT)
    yield f"{units} needed for power {result.target:g}", enough
    if bounds := _bounds(result):
        yield f"{units} needed, 95% CI", m.Cell(bounds)


def _basis(result: Power) -> m.Text:
    """Where the noise comes from, and how power was computed."""
    if not result.is_measured:
        method = "over planned runs" if result.runs else "of McNemar's test by the normal approximation"
        basis = m.text("The difference, how often the systems agree and the design effect are assumptions.")
        return basis + f" Power is {method}, checked by simulation."
    measured = m.count(result.measured_units, result.unit)
    basis = m.text("The noise is that of {} of the predictions at hand; their difference is not used.", measured)
    fine = "sentences" if result.unit in TEXT_UNITS else "items"
    units = "documents" if result.unit in TEXT_UNITS else f"{result.unit}s"
    effect = f" The design effect is the variance by {units} over that by {fine}."
    t_test = " Power is that of the t-test, checked by simulation; the interval is due to the uncertain variance."
    return basis + ("" if math.isnan(result.design_effect) else effect) + t_test


def _figures(result: Power, units: str) -> Iterator[m.Figure]:
    sizes = tuple((size, power) for size, power in result.by_units if size >= 1)
    if sizes:
        gap, points = m.size_of(result.difference, result.scale), " points" if result.scale.is_percent else ""
        title = f"Power to show a difference of {gap}{points}, by the size of the test set"
        yield m.figure("power-size", _curve(result, sizes, title, units, log_x=True))
    if result.by_difference:
        title = f"Power of {m.count(result.units, result.unit)}, by the true difference"
        curve = tuple((result.scale.factor * difference, power) for difference, power in result.by_difference)
        yield m.figure("power-difference", _curve(result, curve, title, f"difference{result.scale.in_points}"))


def _curve(result: Power, points: Points, title: str, axis: str, *, log_x: bool = False) -> CurvePlot:
    curve = Curve("power", tuple(x for x, _ in points), tuple(100 * y for _, y in points))
    return CurvePlot((curve,), title, axis, "power in percent", log_x=log_x, target=100 * result.target)
