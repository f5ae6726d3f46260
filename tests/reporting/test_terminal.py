"""Blocks on a terminal, and as plain text where there is none."""

from __future__ import annotations

import io
import sys

import pytest

from deadheat.reporting.model import Block, Cell, Column, Heading, Note, Paragraph, Signature, Table, Verdict
from deadheat.reporting.terminal import print_blocks, render, width
from deadheat.results.format import COUNT
from deadheat.screen import Screen

HOSTILE = "evil\x1b[31m\x1b]0;title\x07[red]\tname\n\u202e\x9b2J"
SHOWN = r"evil\x1b[31m\x1b]0;title\x07[red]\tname\n\u202e\x9b2J"
TONED = Table((Column("a"),), ((Cell("b is better", tone="good"),),))


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def become_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard output is a terminal of 40 columns that shows colours."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    return stream


def table(header: list[str], *rows: list[str]) -> Table:
    """The first column is text, the others are numbers."""
    columns = (Column(header[0]), *(Column(heading, COUNT) for heading in header[1:]))
    return Table(columns, tuple(map(tuple, rows)))


def test_columns_stand_under_their_headings() -> None:
    assert render([table(["a", "long"], ["x", "1"], ["yy", "22"])]) == "a   long\nx      1\nyy    22"


def test_wide_and_combining_characters_keep_the_columns_straight() -> None:
    assert [width(text) for text in ("abc", "日本", "e\u0301")] == [3, 4, 1]
    lines = render([table(["w", "n"], ["日本", "1"], ["ab", "2"])]).splitlines()
    assert [width(line) for line in lines[1:]] == [7, 7]


def test_a_tone_is_nothing_where_there_is_no_terminal() -> None:
    assert render([Heading("h"), TONED]) == "h\n\na\nb is better"


def test_a_terminal_gets_bold_headings_over_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = become_terminal(monkeypatch)
    print_blocks([Heading("h"), TONED])
    rule = "─" * 11
    expected = f"\x1b[1mh\x1b[0m\n\n\x1b[1ma\x1b[0m\n\x1b[2m{rule}\x1b[0m\n\x1b[1;32mb is better\x1b[0m\n"
    assert terminal.getvalue() == expected


def test_without_colour_a_terminal_gets_no_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = become_terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")  # NO_COLOR is stronger
    print_blocks([Heading("h"), TONED])
    assert terminal.getvalue() == f"h\n\na\n{'─' * 11}\nb is better\n"
    monkeypatch.setenv("NO_COLOR", "")  # as if it were not set: no-color.org
    print_blocks([TONED])
    assert "\x1b[1m" in terminal.getvalue()


def test_a_dumb_terminal_gets_what_a_file_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = become_terminal(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    print_blocks([TONED])
    assert terminal.getvalue() == "a\nb is better\n"


@pytest.mark.parametrize(("value", "forced"), [("1", True), ("3", True), ("true", True), ("0", False), ("", False)])
def test_colours_can_be_forced_and_then_lines_have_any_length(
    monkeypatch: pytest.MonkeyPatch, value: str, *, forced: bool
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    for name in ("NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FORCE_COLOR", value)
    print_blocks([table(["name"], ["long " * 100]), Paragraph("words " * 100)])
    assert ("\x1b[1mname\x1b[0m" in stream.getvalue()) is forced
    assert stream.getvalue().count("\n") == 4 + forced


@pytest.mark.parametrize("screen", [None, Screen(200, color=False)])
def test_names_do_nothing_to_a_terminal(screen: Screen | None) -> None:
    shown = render([table(["file", HOSTILE], [HOSTILE, "1"]), Paragraph(HOSTILE), Heading(HOSTILE)], screen=screen)
    assert SHOWN in shown
    assert not [c for c in shown if c in "\x1b\x07\x9b\t\u202e"]


def test_markup_and_emoji_names_of_rich_are_text() -> None:
    name = "[bold]:smile:[/bold] [link=x]"
    assert name in render([table(["a"], [name])], screen=Screen(40))


def test_what_the_encoding_lacks_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    print_blocks([table(["a", "n"], ["naïve", "1"], ["b", "2"]), Paragraph("naïve \udcff")])
    stream.seek(0)
    assert stream.read() == "a      n\nna\\xefve  1\nb      2\n\nna\\xefve \\udcff\n"


def test_a_terminal_breaks_sentences_between_words() -> None:
    text = "permutation-exact, by sentence: the systems share their totals in every unit"
    screen = Screen(40, color=False)
    assert render([Paragraph(text)], screen=screen) == (
        "permutation-exact, by sentence: the\nsystems share their totals in every unit"
    )
    assert render([Paragraph(f"  {text}")], screen=screen).split("\n")[1].startswith("  systems")
    assert render([Paragraph(text)]) == text
    assert render([Note(text, detail=False)]) == f"note: {text}"


def test_a_long_result_is_its_verdict_the_first_table_and_what_fits() -> None:
    small, large = table(["n"], *(["1"] for _ in range(3))), table(["n"], *(["1"] for _ in range(90)))
    verdict, heading, signature = Verdict("A is better."), Heading("More"), Signature("deadheat 1")
    blocks: list[Block] = [verdict, small, heading, large, small, signature]
    full = render(blocks)
    assert render(blocks, most_lines=200) == full
    kept: list[Block] = [verdict, small, Paragraph("96 more lines: --full."), signature]
    assert render(blocks, most_lines=40) == render(kept)
    assert len(list(filter(None, render([heading, large, small]).splitlines()))) == 96
    assert render([verdict, large, signature], most_lines=40) == render([verdict, large, signature])
