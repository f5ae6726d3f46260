"""Tables within the width of a terminal: what is broken, what is folded, and what stays whole."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from deadheat.reporting.rich_tables import GAP, NAME, Column, Toned, fitted, rich_table, shortened, wrapped
from deadheat.screen import Screen

HEADER = ["system", "LAS", "95 % interval", "errors saved", "verdict"]
ROWS = [
    ["strong", "85.99", "83.20 - 89.01", "25.00 %", "strong wins"],
    ["weak", "7.10", "5.00 - 9.20", "-", "not proved"],
]

names = st.text(st.characters(categories=["L", "Nd", "Pc", "Pd", "Zs"]), max_size=60).map(lambda text: text.strip())
figures = st.sampled_from(["7.10", "100.00", "83.20 - 89.01", "+1.25", "2.4e-07", "25.00 %", "-", "1,234,567", ""])


def drawn(
    columns: int,
    header: list[str] = HEADER,
    rows: list[list[str]] = ROWS,
    labels: int = 1,
    encoding: str = "utf-8",
    *,
    color: bool = False,
) -> list[str]:
    """The lines of a table in which a column with letters in its first cell is text."""
    first = rows[0] if rows else header
    textual = [i < labels or any(c.isalpha() for c in cell) for i, cell in enumerate(first)]
    screen = Screen(columns, color=color, encoding=encoding)
    return rich_table(header, rows, labels=labels, textual=textual, screen=screen).split("\n")


def test_a_table_that_fits_is_one_table_under_a_rule() -> None:
    wide = [
        "system    LAS  95 % interval  errors saved  verdict",
        "───────────────────────────────────────────────────────",
        "strong  85.99  83.20 - 89.01       25.00 %  strong wins",
        "weak     7.10    5.00 - 9.20             -  not proved",
    ]
    assert drawn(80) == drawn(55) == wide
    assert drawn(54) != wide


def test_headings_go_over_several_lines_first_and_words_of_names_next() -> None:
    assert drawn(48) == [
        "                               errors",
        "system    LAS  95 % interval    saved  verdict",
        "────────────────────────────────────────────────",
        "strong  85.99  83.20 - 89.01  25.00 %  strong",
        "                                       wins",
        "weak     7.10    5.00 - 9.20        -  not",
        "                                       proved",
    ]


def test_what_does_not_fit_is_folded_below_with_the_names_again() -> None:
    assert drawn(40) == [
        "system    LAS  95 % interval",
        "────────────────────────────",
        "strong  85.99  83.20 - 89.01",
        "weak     7.10    5.00 - 9.20",
        "",
        "system  errors saved  verdict",
        "─────────────────────────────────",
        "strong       25.00 %  strong wins",
        "weak               -  not proved",
    ]


def test_a_folded_table_has_about_as_many_columns_in_each_part() -> None:
    header = ["system", *(f"metric {n}" for n in range(13))]
    heads = [line for line in drawn(80, header, [["A", *["100.00"] * 13]]) if line.startswith("system")]
    assert [head.count("metric") for head in heads] == [7, 6]
    assert all(cell_len(head) <= 80 for head in heads)


def test_a_column_whose_heading_is_there_twice_stays_with_the_one_before_it() -> None:
    header = ["system", "accuracy", "least - most", "unknown", "least - most", "known", "least - most"]
    rows = [["unigram", *["77.54", "50.00 - 100.00"] * 3]]
    heads = [line.split()[1:] for line in drawn(60, header, rows) if line.startswith("system")]
    assert heads == [
        ["accuracy", "least", "-", "most", "unknown", "least", "-", "most"],
        ["known", "least", "-", "most"],
    ]


LOOK = (["time", "user", "event", "remark"], [["2026-01-02 03:04", "me", "look", "for a table"]])


def test_columns_of_text_alone_are_not_folded_but_become_lists() -> None:
    assert drawn(31, *LOOK, labels=4) == [
        "time        user  event  remark",
        "───────────────────────────────",
        "2026-01-02  me    look   for a",
        "03:04                    table",
    ]
    assert drawn(30, *LOOK, labels=4) == [
        "time    2026-01-02 03:04",
        "user    me",
        "event   look",
        "remark  for a table",
    ]


def test_where_no_column_fits_beside_the_names_rows_become_lists_too() -> None:
    header = ["file", "metric", "interval"]
    rows = [["mine.conllu", "LAS", "1,083.20 - 1,089.01"], ["theirs.conllu", "UAS", "983.20 - 1,089.01"]]
    assert drawn(42, header, rows, labels=2)[0] == "file           metric             interval"
    assert drawn(30, header, rows, labels=2) == [
        "file      mine.conllu",
        "metric    LAS",
        "interval  1,083.20 - 1,089.01",
        "",
        "file      theirs.conllu",
        "metric    UAS",
        "interval  983.20 - 1,089.01",
    ]


def test_a_table_without_headings_has_no_rule() -> None:
    assert drawn(40, ["", ""], [["units", "1,234"]]) == ["units  1,234"]


def test_a_table_without_rows_has_its_headings() -> None:
    assert drawn(40, ["file", "LAS"], []) == ["file  LAS", "─────────"]


def test_an_encoding_without_lines_gets_an_ascii_rule() -> None:
    for encoding, rule in (("ascii", "-"), ("latin-1", "-"), ("cp437", "─"), ("utf-8", "─")):
        assert drawn(40, ["a"], [["b"]], encoding=encoding) == ["a", rule, "b"]


def test_tones_are_shown_in_colour_and_change_no_text() -> None:
    rows = [
        ["A - B", Toned("A is better", "good")],
        ["B - C", Toned("not proved", "muted")],
        ["C", Toned("none", "bad")],
    ]
    colored = "\n".join(drawn(40, ["pair", "verdict"], rows, color=True))
    assert "\x1b[1;32mA is better\x1b[0m" in colored
    assert "\x1b[2mnot proved\x1b[0m" in colored
    assert "\x1b[1;31mnone\x1b[0m" in colored
    assert "\x1b[1mverdict\x1b[0m" in colored
    plain = "\n".join(drawn(40, ["pair", "verdict"], rows))
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == plain


def test_wide_characters_keep_the_columns_straight() -> None:
    lines = drawn(40, ["name", "n"], [["日本語", "1"], ["ab", "2"], ["e\u0301", "3"]])
    assert {cell_len(line) for line in lines[2:]} == {cell_len("日本語  1")}


def test_long_names_lose_their_middle_but_never_what_distinguishes_them() -> None:
    alike = [[f"{'x' * 200}-{n}", "1.00"] for n in (1, 2)]
    text = "".join(drawn(40, ["name", "LAS"], alike))
    assert text.count("...") == 2
    assert all(f"-{n}" in text for n in (1, 2))
    inside = [[f"{'x' * 100}{n}{'y' * 100}", "1.00"] for n in (1, 2)]
    text = "".join(drawn(40, ["name", "LAS"], inside))
    assert "..." not in text
    assert text.count("x") == 200


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 13, ["one two three"]),
        ("one two three", 7, ["one two", "three"]),
        ("one-two-three", 9, ["one-two-", "three"]),
        ("predictions/a.conllu", 12, ["predictions/", "a.conllu"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("  indented words here", 12, ["  indented", "  words here"]),
        ("日本語", 4, ["日本", "語"]),
        ("", 0, [""]),
    ],
)
def test_text_is_broken_where_a_reader_would(text: str, width: int, lines: list[str]) -> None:
    assert wrapped(text, width) == lines


@given(st.text(st.characters(exclude_categories=["C", "Z", "M"]), max_size=80), st.integers(8, 40))
def test_a_shortened_text_keeps_both_ends_and_fits(text: str, width: int) -> None:
    short = shortened(text, width)
    assert cell_len(short) <= width
    if short != text:
        head, tail = short.split("...")[0], short.split("...")[-1]
        assert text.startswith(head)
        assert text.endswith(tail)
        assert min(len(head), len(tail)) >= 1 or "..." in text


@given(st.lists(st.tuples(names, st.lists(names | figures, min_size=2, max_size=2)), min_size=1), st.integers(10, 120))
def test_columns_fit_exactly_where_they_can(given_columns: list[tuple[str, list[str]]], room: int) -> None:
    columns = [Column(head, tuple(cells), textual=i == 0) for i, (head, cells) in enumerate(given_columns)]
    gaps = GAP * (len(columns) - 1)
    widths = fitted(columns, room)
    assert bool(widths) == (sum(column.narrowest for column in columns) + gaps <= room)
    if widths:
        assert sum(widths) + gaps <= room
        assert all(column.narrowest <= width <= column.widest for column, width in zip(columns, widths, strict=True))
        if sum(column.widest for column in columns) + gaps > room:
            assert sum(widths) + gaps == room


@given(
    st.integers(1, 9).flatmap(
        lambda n: st.tuples(
            st.lists(names, min_size=n + 1, max_size=n + 1),
            st.lists(st.tuples(names, st.lists(figures, min_size=n, max_size=n)), max_size=4),
        )
    ),
    st.integers(2 * NAME + 16, 120),
)
def test_figures_are_never_cut_and_no_line_is_too_long(
    given_table: tuple[list[str], list[tuple[str, list[str]]]], columns: int
) -> None:
    header, body = given_table
    rows = [[name, *cells] for name, cells in body]
    textual = [True, *[False] * (len(header) - 1)]
    text = rich_table(header, rows, labels=1, textual=textual, screen=Screen(columns, color=False))
    assert all(cell_len(line) <= columns for line in text.split("\n"))
    for _, cells in body:
        assert all(cell in text for cell in cells)
