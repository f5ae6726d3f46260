"""The number a reader sees is the same on terminal, page, LaTeX, Markdown and in JSON, to the digits shown."""

import json
import random
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import deadheat
from deadheat.reporting.html import Page, fragment, page_html
from deadheat.reporting.latex import words as latex_words
from deadheat.reporting.markdown import escape as markdown_escape
from deadheat.reporting.model import Note, Paragraph, Shown, Table, Text, Verdict, View, cell_text
from deadheat.reporting.report import report
from deadheat.reporting.terminal import render
from deadheat.reporting.views import brief_view, view
from deadheat.results.base import KINDS, Result, from_document, from_json, to_document
from deadheat.results.format import show
from tests.reporting.reading import plain_latex, read_all
from tests.results.samples import all_samples

SAMPLES = sorted(all_samples())
EXACT = ("html", "markdown", "latex")  # renderers whose cells are read back one by one
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
    rng = random.Random(seed)
    document = to_document(result)
    names: dict[str, str] = {}

    def change(value: Any, key: str = "") -> Any:
        if isinstance(value, float) or value == "NaN":
            number = rng.choice(floats)
            return "NaN" if number != number else number
        if isinstance(value, str) and key in NAMES:
            return names.setdefault(value, f"{rng.choice(HOSTILE)}{len(names)}") if value else value
        if isinstance(value, dict):
            if key == "settings":  # alpha and the like, which are checked
                return value
            if key == "scale" or key == "dev_scale":
                return {"factor": rng.choice([1.0, 100.0]), "decimals": rng.choice([2, 4])}
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


def shown_values(text: Text) -> list[str]:
    """The typed values within a text, as they are shown; names are left out."""
    return [str(piece) for piece in text.pieces if isinstance(piece, Shown) and not piece.format.is_text]


def check_tables(result: Result) -> int:
    """Every value in a table reads the same everywhere; returns how many there are."""
    checked = 0
    for table in tables(view(result)):
        rendered = read_all(table)
        for at, row in enumerate(table.cells()):
            for i, cell in enumerate(row):
                if isinstance(cell.value, Text):
                    for value in shown_values(cell.value):
                        assert all(value in rendered[name][at][i] for name in EXACT), (value, rendered)
                        checked += 1
                elif cell.format is not None and not cell.format.is_text:
                    expected = show(cell.value, cell.format)
                    assert expected == cell_text(cell)
                    assert all(rendered[name][at][i] == expected for name in EXACT), table.columns[i].heading
                    assert not expected or expected in rendered["terminal"][at]
                    checked += 1
    return checked


def check_sentences(result: Result) -> None:
    """Every value in a sentence reads the same everywhere."""
    for block in view(result):
        sentence = block.text if isinstance(block, Paragraph | Note) else None
        sentence = block.headline if isinstance(block, Verdict) else sentence
        if isinstance(sentence, Text):
            html = fragment([Verdict(sentence)])
            rendered = (
                plain_latex(latex_words(sentence)),
                markdown_escape(str(sentence)).replace("\\", ""),
                unescape(html),
            )
            for value in shown_values(sentence):
                assert all(value in text for text in rendered), (value, rendered)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_real_result_reads_the_same_everywhere(name: str) -> None:
    result = all_samples()[name]
    assert check_tables(result) > 0
    check_sentences(result)
    assert from_json(result.to_json()) == result
    assert json.loads(result.to_json(indent=1))["kind"] == result.kind
    assert page_html(Page("page", view(result))).startswith("<!doctype html>")
    assert 0 < len(repr(result)) < 400
    assert "\n" not in repr(result)
    assert result._repr_html_().startswith("<div")
    assert str(result) == render(brief_view(result))
    assert result.to_markdown()


def test_every_kind_of_result_is_checked() -> None:
    assert {result.kind for result in all_samples().values()} == set(KINDS)


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=15, deadline=None, phases=[Phase.generate])
@given(seed=st.integers(0, 10**6), floats=st.lists(FLOATS, min_size=3, max_size=12))
def test_any_numbers_and_names_read_the_same_everywhere(name: str, seed: int, floats: list[float]) -> None:
    result = changed(all_samples()[name], seed, floats)
    check_tables(result)
    again = from_json(result.to_json())
    assert again == result
    assert render(view(again)) == render(view(result))
    assert "<script>alert" not in page_html(Page("page", view(result)))


def everywhere(result: Result) -> dict[str, str]:
    """A result as a reader sees it on terminal, page, in LaTeX, Markdown, a notebook, and on a terminal after JSON."""
    return {
        "terminal": str(result),
        "page": unescape(re.sub(r"<[^>]*>", " ", report(result).html())),
        "latex": plain_latex(result.to_latex()),
        "markdown": result.to_markdown().replace("\\", ""),
        "notebook": unescape(re.sub(r"<[^>]*>", " ", result._repr_html_())),
        "json": str(from_json(result.to_json())),
    }


def test_a_contrast_of_scores_around_one_is_percent_nowhere(tmp_path: Path) -> None:
    """Scores from 0.4 to 1.4: their median difference was -0.10 on terminal and page, and -10.00 in LaTeX."""
    path = tmp_path / "runs.csv"
    rows = [
        f"{option},{size},{0.4 + 0.1 * size - 0.1 * (option == 'b'):.1f}" for option in "ab" for size in range(1, 11)
    ]
    path.write_text("\n".join(["option,size,f1", *rows]))
    result = deadheat.contrast(path, factor="option", score="f1")
    assert result[""]["b"].median_difference == pytest.approx(-0.1)
    for name, text in everywhere(result).items():
        assert "-0.1000" in text, name
        assert "10.00" not in text, name
    check_tables(result)
    check_sentences(result)


def test_a_ranking_with_one_score_above_one_is_percent_nowhere(tmp_path: Path) -> None:
    """With one score of 1.10, the mean was 0.87 on the terminal and 86.75 on the page and in LaTeX."""
    path = tmp_path / "scores.csv"
    path.write_text("treebank,A,B\nen,1.10,0.80\nde,0.81,0.70\nfi,0.79,0.60\nta,0.77,0.50\n")
    result = deadheat.rank(path)
    assert result.systems[0].score == pytest.approx(0.8675)
    for name, text in everywhere(result).items():
        assert "0.8675" in text, name
        assert "86.75" not in text, name
    check_tables(result)
    check_sentences(result)
