"""Power as a section of a page: could the test set have shown the difference."""

from __future__ import annotations

from collections.abc import Sequence

from deadheat.charts.chart import Figure
from deadheat.charts.curves import Curve, CurvePlot
from deadheat.documents import Document, plain
from deadheat.pages.section import Section, Table
from deadheat.pages.wording import known, listed, shown, times, whole

ENDLESS = "no number is enough"


def sections(document: Document) -> list[Section]:
    """What a test set of this size can show, and what it would take."""
    told = plain(document)
    figures = []
    if told.get("by_units"):
        figures.append(Figure("power-size", _by_units(told)))
    if told.get("by_difference"):
        figures.append(Figure("power-difference", _by_difference(told)))
    return [
        Section(
            "Could the test set have shown the difference?",
            tuple(_said(told)),
            tuple(figures),
            (_table(told),),
            _notes(told),
        )
    ]


def _units(document: Document) -> str:
    return f"{document.get('unit') or 'unit'}s"


def _said(document: Document) -> list[str]:
    units, target = _units(document), document["target"]
    gap = f"{shown(abs(document['difference']), scale=100)} points"
    metric = f" of {document['metric']}" if document.get("metric") else ""
    systems = document.get("systems")
    between = f" between {listed(systems)}" if systems else ""
    size = f"{document['units']:,} {units}"
    said = [
        f"If the difference{between} truly is {gap}{metric}, a test set of {size} shows it in "
        f"{times(known(document['power']))} cases (power), with tests at {document['alpha']:g}."
    ]
    wanted = times(target)
    if document["needed"] is None:
        said.append(f"No number of {units} would show it in {wanted} cases.")
    else:
        said.append(f"To show it in {wanted} cases takes {whole(document['needed'])} {units}.")
    if document["smallest"] is not None:
        least = f"{shown(document['smallest'], scale=100)} points"
        said.append(f"The smallest difference that {size} show in {wanted} cases is {least}.")
    if known(document["power"]) < target:
        said.append(
            "So a test that finds no difference here says little: the two may well differ, and the test set be too "
            "small to show it."
        )
    return said


def _notes(document: Document) -> tuple[str, ...]:
    seen = "The difference that was observed is taken for the true one, and the units at hand for all there are. "
    assumed = "The difference and how often the systems agree are assumed. "
    basis = seen if document.get("systems") else assumed
    checked = "Power is by the normal approximation"
    checked += ", checked by simulation." if document["simulated"] is not None else "."
    return (basis + checked, *document.get("notes", ()))


def _table(document: Document) -> Table:
    target, smallest = document["target"], document["smallest"]
    rows = (
        ("difference", f"{shown(document['difference'], scale=100, sign='+')} points"),
        (_units(document), whole(document["units"])),
        (f"power at alpha {document['alpha']:g}", shown(document["power"], decimals=3)),
        ("power, simulated", shown(document["simulated"], decimals=3)),
        (
            f"smallest difference with power {target:g}",
            "none" if smallest is None else f"{shown(smallest, scale=100)} points",
        ),
        (f"{_units(document)} needed for power {target:g}", whole(document["needed"], none=ENDLESS)),
    )
    return Table(("", ""), rows)


def _by_units(document: Document) -> CurvePlot:
    gap = shown(abs(document["difference"]), scale=100)
    title = f"Power to show a difference of {gap} points, by the size of the test set"
    units = _units(document)
    return _curve(document["by_units"], document, title=title, x_axis=units, scale=1.0, log_x=True)


def _by_difference(document: Document) -> CurvePlot:
    title = f"Power of {document['units']:,} {_units(document)}, by the true difference"
    points = document["by_difference"]
    return _curve(points, document, title=title, x_axis="difference, in points", scale=100.0, log_x=False)


def _curve(
    points: Sequence[Sequence[float]],
    document: Document,
    *,
    title: str,
    x_axis: str,
    scale: float,
    log_x: bool,
) -> CurvePlot:
    xs, ys = tuple(scale * x for x, _ in points), tuple(100 * y for _, y in points)
    return CurvePlot(
        (Curve("power", xs, ys),),
        title=title,
        x_axis=x_axis,
        y_axis="power in percent",
        log_x=log_x,
        target=100 * document["target"],
    )
