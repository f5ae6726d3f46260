"""What holds for the sections of every kind of result."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from deadheat.pages.section import Section, Table

from deadheat.charts.chart import LAYOUTS, Chart
from deadheat.documents import Document, to_json

Make = Callable[[Document], list[Section]]

HOSTILE = ("<script>alert('a')</script>", '"><img src=x onerror=alert(1)>', "a & b &lt; 'c'", "מנתח תחבירי", "n" * 200)


def drawn(sections: Sequence[Section]) -> dict[str, Chart]:
    """Every figure by its name, drawn for every room; each must be XML without anything that a name brought in."""
    found: dict[str, Chart] = {}
    for figure in (figure for section in sections for figure in section.figures):
        for layout in LAYOUTS.values():
            chart = figure.draw(layout)
            root = ElementTree.fromstring(chart.svg(font=layout.font))
            assert not [each.tag for each in root.iter() if each.tag.rpartition("}")[2] in ("script", "img")]
            assert chart.title
            assert chart.description.endswith(".")
            assert chart.rows
            assert figure.name not in found or found[figure.name].rows == chart.rows  # the room changes no number
            found[figure.name] = chart
    return found


def texts(sections: Sequence[Section]) -> list[str]:
    """All that sections say outside of figures."""
    said = [text for each in sections for text in (each.heading, *each.said, *each.notes)]
    tables = [table for each in sections for table in each.tables]
    return said + [cell for table in tables for row in (table.header, *table.rows) for cell in row]


def shown(sections: Sequence[Section]) -> list[Any]:
    """Sections as plain values, figures by what they draw."""
    return [
        (
            each.heading,
            each.said,
            each.tables,
            each.notes,
            {name: chart.inline() for name, chart in drawn([each]).items()},
        )
        for each in sections
    ]


def check(make: Make, document: Document) -> list[Section]:
    """The sections of a document, which must be the same after a journey through either kind of JSON."""
    made = make(document)
    assert made
    assert all(each.said for each in made)
    assert not [text for text in texts(made) if "nan" in text.split() or "None" in text or "inf" in text.split()]
    expected = shown(made)
    assert shown(make(json.loads(json.dumps(document)))) == expected
    assert shown(make(json.loads(to_json(document)))) == expected
    return made


def section(sections: Sequence[Section], heading: str) -> Section:
    """The one section whose heading begins so."""
    (found,) = [each for each in sections if each.heading.startswith(heading)]
    return found


def column(table: Table, name: str) -> dict[str, str]:
    """A column of a table by the first cell of each row."""
    place = table.header.index(name)
    return {row[0]: row[place] for row in table.rows}


def rows(chart: Chart) -> list[Mapping[str, Any]]:
    """The data of a figure."""
    return [dict(zip(chart.header, row, strict=True)) for row in chart.rows]
