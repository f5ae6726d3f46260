"""The number a reader sees is the same on terminal, page, LaTeX, Markdown and in JSON, to the digits shown."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from deadheat.report.html import Page, page_html
from deadheat.report.latex import words as latex_words
from deadheat.report.markdown import escape as markdown_escape
from deadheat.report.model import Note, Paragraph, Table, Text, Verdict, View, cell_text
from deadheat.report.terminal import render
from deadheat.report.views import view
from deadheat.results.base import Result, from_document, from_json, to_document
from deadheat.results.format import show
from tests.report.reading import latex_numbers, numbers_in, read_all
from tests.results.samples import all_samples

KINDS = sorted(all_samples())
HOSTILE = [
    "<script>alert(1)</script>",
    "50% \\textbf{x} & y_z",
    "|a|b|",
    "*bold* _it_",
    "שלום",
    "汉字",
    "a\x1b[31mb",
    "=1+2",
    "[x] -- 'y'",
]
NAMES = ("system", "a", "b", "better", "worse", "tied", "dataset", "winner", "option", "best", "level")
FLOATS = st.one_of(
    st.floats(0, 1),
    st.floats(-1, 1),
    st.floats(0, 100),
    st.floats(-1e12, 1e12),
    st.floats(1e-320, 1e-3),
    st.sampled_from([float("nan"), 0.0, 1.0, -0.0, 1e-5, 0.99999, 0.5]),
)


def changed(result: Result, seed: int, floats: list[float]) -> Result:
    """The same result with other numbers and hostile names of systems."""
    chance = random.Random(seed)
    document = to_document(result)
    names: dict[str, str] = {}

    def change(value: Any, key: str = "") -> Any:
        if isinstance(value, float) or value == "NaN":
            number = chance.choice(floats)
            return "NaN" if number != number else number
        if isinstance(value, str) and key in NAMES:
            return names.setdefault(value, f"{chance.choice(HOSTILE)}{len(names)}") if value else value
        if isinstance(value, dict):
            if key == "scale" or key == "dev_scale":
                return {"factor": chance.choice([1.0, 100.0]), "decimals": chance.choice([2, 4])}
            return {field: change(item, field) for field, item in value.items()}
        return [change(item, key) for item in value] if isinstance(value, list) else value

    kept = ("settings", "alpha", "target", "kind", "schema")
    return from_document({key: item if key in kept else change(item, key) for key, item in document.items()})


def tables(blocks: View) -> Iterator[Table]:
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Verdict) and block.claims is not None:
            yield block.claims


def check_tables(result: Result) -> int:
    """Every cell that is not a name reads the same everywhere; returns how many there are."""
    checked = 0
    for table in tables(view(result)):
        rendered = read_all(table)
        for at, row in enumerate(table.cells()):
            for i, cell in enumerate(row):
                if isinstance(cell.value, Text):
                    expected = numbers_in(
                        " ".join(str(piece) for piece in cell.value.pieces if not isinstance(piece, str))
                    )
                    shown = {
                        name: numbers_in(grid[at][i])
                        for name, grid in rendered.items()
                        if name in ("html", "markdown", "latex")
                    }
                    assert all(set(expected) <= set(numbers) or not expected for numbers in shown.values()) or any(
                        piece.format.is_text for piece in cell.value.pieces if not isinstance(piece, str)
                    ), (expected, shown)
                    continue
                assert cell.format is not None
                if cell.format.is_text:
                    continue
                expected_text = show(cell.value, cell.format)
                assert expected_text == cell_text(cell)
                for name in ("html", "markdown", "latex"):
                    assert rendered[name][at][i] == expected_text, (name, table.columns[i].heading)
                assert not expected_text or expected_text in rendered["terminal"][at], (name, rendered["terminal"][at])
                checked += 1
    return checked


@pytest.mark.parametrize("kind", KINDS)
def test_a_real_result_reads_the_same_everywhere(kind: str) -> None:
    result = all_samples()[kind]
    assert check_tables(result) > 0
    assert from_json(result.to_json()) == result
    assert json.loads(result.to_json(indent=1))["kind"] == result.kind
    assert page_html(Page("page", view(result))).startswith("<!doctype html>")
    assert 0 < len(repr(result)) < 400
    assert "\n" not in repr(result)
    assert result._repr_html_().startswith("<div")
    assert str(result) == render(view(result))
    assert result.to_markdown()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15, deadline=None, phases=[Phase.generate])
@given(seed=st.integers(0, 10**6), floats=st.lists(FLOATS, min_size=3, max_size=12))
def test_any_numbers_and_names_read_the_same_everywhere(kind: str, seed: int, floats: list[float]) -> None:
    result = changed(all_samples()[kind], seed, floats)
    check_tables(result)
    again = from_json(result.to_json())
    assert again == result
    assert render(view(again)) == render(view(result))
    assert "<script>alert" not in page_html(Page("page", view(result)))


@pytest.mark.parametrize("kind", KINDS)
def test_sentences_have_the_same_numbers_everywhere(kind: str) -> None:
    for block in view(all_samples()[kind]):
        sentences = (
            [block.text]
            if isinstance(block, Paragraph | Note)
            else [block.headline]
            if isinstance(block, Verdict)
            else []
        )
        for sentence in sentences:
            numbers = numbers_in(str(sentence))
            assert latex_numbers(latex_words(sentence)) == numbers
            assert numbers_in(markdown_escape(str(sentence))) == numbers
