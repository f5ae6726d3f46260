"""LaTeX of blocks and of real results: it compiles, and reads as the numbers and names that went in."""

import re
from pathlib import Path

import pytest

from deadheat.paper.kit import latex_tables
from deadheat.paper.paragraph import paragraph
from deadheat.reporting.latex import escape, float_environment, result_latex, table_width, tabular, words
from deadheat.reporting.model import DAGGER, STAR, Cell, Column, Mark, Table, interval, points, text
from deadheat.results.base import Result
from deadheat.results.format import PERCENT, Format, Kind
from tests.reporting.latex_checker import check, plain
from tests.reporting.latex_compiler import compile_latex
from tests.results.samples import all_samples, renamed

SAMPLES = {name: result for name, result in all_samples().items() if latex_tables([result])}
NAMES = ("A", "B", "good", "perceptron", "small", "text", "ner", "task", "en", "north")
HOSTILE = [
    "\\input{/etc/passwd}",
    "a&b%c$d#e_f{g}~h^i",
    "\"quoted\" `tick` ''two''",
    "[opt]",
    "*star",
    "x--y---z",
    "<script>alert(1)</script>",
    "a|b",
    "line\nbreak\ttab\x00nul",
    "שלום_עולם",
    "汉字&模型",
    "}{",
    "%",
    "x" * 200,
]
SCORE = PERCENT.score
WRONG = {
    "a row with a column too many": r"\begin{tabular}{lr}" + "\na & 1 & 2 \\\\\n" + r"\end{tabular}",
    "a row with a column too few": r"\begin{tabular}{lr}" + "\na \\\\\n" + r"\end{tabular}",
    "an environment that does not end": r"\begin{table}",
    "environments that cross": r"\begin{table}\begin{center}\end{table}\end{center}",
    "a brace that stays open": r"\textbf{a",
    "a brace that was not opened": "a}",
    "an underscore in a text": "a_b",
    "a hat in a text": "a^b",
    "a hash": "a#b",
    "a tilde": "a~b",
    "a formula that stays open": "$-1",
    "a row that reads as an option": r"\begin{tabular}{lr}" + "\na & 1 \\\\\n[x] & 2 \\\\\n" + r"\end{tabular}",
}


def document(*results: Result) -> str:
    """Paragraph and tables, as a paper includes them."""
    return "\n\n".join([paragraph(results).latex, *latex_tables(results).values(), *map(result_latex, results)])


@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG)
def test_the_checker_finds_what_latex_would_stumble_over(source: str) -> None:
    with pytest.raises(AssertionError):
        check(source)


def test_real_results_of_every_kind_compile(tmp_path: Path) -> None:
    source = "\n\\clearpage\n".join(document(result) for result in SAMPLES.values())
    compile_latex(source, tmp_path)


@pytest.mark.parametrize("kind", SAMPLES)
def test_every_kind_has_tables_that_float_with_caption_and_label(kind: str) -> None:
    for name, source in latex_tables([SAMPLES[kind]]).items():
        assert len(check(source).tables) == 1
        assert re.search(r"\\begin\{(table\*?)\}\n\\centering\\\w+\n\\begin\{tabular\}", source)
        assert source.count(r"\caption{") == source.count(rf"\label{{tab:{name}}}") == 1
        assert r"\usepackage{booktabs}" in source


def hostile_document(hostile: str) -> str:
    """All kinds of results in which some names are replaced by one hostile name."""
    names = {name: f"{hostile}{i or ''}" for i, name in enumerate(NAMES)}
    return "\n\\clearpage\n".join(document(renamed(result, names)) for result in SAMPLES.values())


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_do_no_harm(hostile: str, tmp_path: Path) -> None:
    source = hostile_document(hostile)
    assert len(check(source).tables) > 40
    compile_latex(source, tmp_path, any_script=True)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_read_as_they_were(name: str) -> None:
    (table,) = check(tabular(Table((Column("system"), Column("x")), ((name, "1"), (name, "2"))))).tables
    shown = re.sub(r"[\s\x00]+", " ", name).strip()
    assert [row[0] for row in table] == ["system", shown, shown]


def test_signs_that_latex_would_draw_as_one_are_kept_apart() -> None:
    assert escape("a--b") == "a-{}-b"
    assert escape("'''") == "'{}'{}'"
    assert escape("it's a-b, c") == "it's a-b, c"
    assert escape("Gómez ß 汉字 שלום ğ") == "Gómez ß 汉字 שלום ğ"


def cell(value: Cell, form: Format = SCORE) -> str:
    return tabular(Table((Column("x", form),), ((value,),))).split("\n")[4].removesuffix(r" \\")


def test_only_numbers_get_a_minus() -> None:
    assert cell(Cell(-0.0025), PERCENT.difference) == "$-$0.25"
    assert cell(Cell((-0.0025, -0.005)), Format(Kind.INTERVAL)) == "{[}$-$0.25, $-$0.50]"
    assert cell(Cell("model -5"), Format(Kind.NAME)) == "model -5"
    assert words(text("by {} {}", points(-0.01, PERCENT), interval((-0.02, 0.0), PERCENT))) == (
        "by $-$1.00 {[}$-$2.00, 0.00]"
    )


def test_a_mark_takes_no_room_and_is_explained_where_it_is_used() -> None:
    assert cell(Cell(0.01, strong=True, mark=DAGGER)) == r"\textbf{1.00}\rlap{$^{\dagger}$}"
    assert plain(cell(Cell(0.01, strong=True, mark=STAR))) == "1.00"
    marks = (Mark(DAGGER, "not shown"), Mark(STAR, "not used"))
    source = float_environment(Table((Column("x"),), ((Cell("a", mark=DAGGER),),), caption="C.", marks=marks), "tab:x")
    assert r"\caption{C. $^{\dagger}$: not shown.}" in source


def test_a_wide_table_takes_both_columns() -> None:
    columns = (Column("system"), Column("score"))
    narrow, wide = (Table(columns, ((name, "1.00"),)) for name in ("a", "a" * 60))
    assert table_width(narrow) == len("system") + 2 + len("score")
    assert r"\begin{table}" in float_environment(narrow, "x")
    assert r"\begin{table*}" in float_environment(wide, "x")


@pytest.mark.parametrize("name", ["a_b", "a & b & c", r"\undefined", "{", "汉字"])
def test_what_pdflatex_cannot_read_stops_the_compiler(name: str, tmp_path: Path) -> None:
    source = tabular(Table((Column("x"), Column("y")), (("NAME", "2"),)))
    compile_latex(source, tmp_path)
    with pytest.raises(AssertionError, match="pdflatex stopped"):
        compile_latex(source.replace("NAME", name), tmp_path)
