"""Names made plain, cells, and what is the best; the checker itself is checked first."""

import math
import re

import pytest

from deadheat.questions.latex import (
    DAGGER,
    STAR,
    Cell,
    Tabular,
    best,
    booktabs,
    escape,
    fixed,
    joined,
    p_fixed,
    slug,
    spanned,
)
from tests.paper.checker import check, plain
from tests.paper.documents import HOSTILE

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
    "a tie that is none": "a~b",
    "a formula that stays open": "$-1",
    "a row that reads as an option": r"\begin{tabular}{lr}" + "\na & 1 \\\\\n[x] & 2 \\\\\n" + r"\end{tabular}",
}


@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG)
def test_the_checker_finds_what_latex_would_stumble_over(source: str) -> None:
    with pytest.raises(AssertionError):
        check(source)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_are_text_and_read_as_they_were(name: str) -> None:
    (table,) = check(booktabs(["system", "x"], [[name, "1"], [name, "2"]])).tables
    shown = re.sub(r"[\s\x00]+", " ", name).strip()
    assert [row[0] for row in table] == ["system", shown, shown]
    assert [row[1] for row in table] == ["x", "1", "2"]


def test_signs_that_latex_would_draw_as_one_are_kept_apart() -> None:
    assert escape("a--b") == "a-{}-b"
    assert escape("'''") == "'{}'{}'"
    assert escape("it's a-b, c") == "it's a-b, c"


def test_letters_of_all_scripts_stay_as_they_are() -> None:
    assert escape("Gómez ß 汉字 שלום ğ") == "Gómez ß 汉字 שלום ğ"


def test_only_numbers_get_a_minus() -> None:
    assert Cell("-0.25", number=True).latex() == "$-$0.25"
    assert Cell("[-0.25, -.5]", number=True).latex() == "{[}$-$0.25, $-$.5]"
    assert Cell("3-4", number=True).latex() == "3-4"
    assert Cell("model-5").latex() == "model-5"


def test_a_mark_takes_no_room() -> None:
    assert Cell("1.0", bold=True, mark=DAGGER, number=True).latex() == r"\textbf{1.0}\rlap{$^{\dagger}$}"
    assert plain(Cell("1.0", bold=True, mark=STAR, number=True).latex()) == "1.0"


def test_numbers_are_rounded_once_and_never_minus_zero() -> None:
    assert fixed(0.8765, scale=100) == "87.65"
    assert fixed(-0.00004, scale=100) == "0.00"
    assert fixed(-0.00004, scale=100, sign="+") == "+0.00"
    assert fixed(-0.02, scale=100, sign="+") == "-2.00"
    assert fixed(math.nan) == fixed(None) == fixed(math.inf) == "-"
    assert spanned(None, 1.0) == "-"


def test_p_values_have_four_decimals_or_are_below_them() -> None:
    assert [p_fixed(p) for p in (1.0, 0.0001, 0.00009, 0.0, None, math.nan)] == [
        "1.0000", "0.0001", "<0.0001", "<0.0001", "-", "-",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "shown", "lowest", "expected"),
    [
        ([1.0, 3.0, 2.0], ["1", "3", "2"], False, [False, True, False]),
        ([1.0, 3.0, 2.0], ["1", "3", "2"], True, [True, False, False]),
        ([93.111, 93.114, 92.0], ["93.11", "93.11", "92.00"], False, [True, True, False]),
        ([2.0, 2.0], ["2", "2"], False, [False, False]),
        ([2.0], ["2"], False, [False]),
        ([None, 2.0], ["-", "2"], False, [False, False]),
        ([None, 2.0, math.nan, 1.0], ["-", "2", "-", "1"], False, [False, True, False, False]),
        ([], [], False, []),
    ],
)
def test_the_best_is_what_reads_as_the_best(
    values: list[float | None], shown: list[str], *, lowest: bool, expected: list[bool]
) -> None:
    assert best(values, shown, lowest=lowest) == expected


def test_a_wide_table_says_so() -> None:
    narrow = Tabular("t", ("system", "score"), (("a", Cell("1.00")),))
    assert narrow.characters == len("system") + 2 + len("score")
    assert not narrow.wide
    assert Tabular("t", ("system", "score"), (("a" * 60, Cell("1.00")),)).wide


def test_several_tables_are_told_apart_by_their_captions() -> None:
    table = Tabular("t", ("a", "b"), (("x", "1"),), caption="First.")
    assert joined([table]) == str(table)
    assert joined([table, table]) == f"% First.\n{table}\n\n% First.\n{table}"


def test_names_of_files_and_labels_are_plain() -> None:
    assert slug("study", "../../etc", "Ünïcode") == "study-etc-n-code"
    assert slug("a", "", "x" * 100) == "a-" + "x" * 40
