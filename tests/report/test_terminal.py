from __future__ import annotations

import io
import math
import sys

import pytest
from deadheat.paper.sentences import percent
from deadheat.terminal.tables import emphasis, prose, table, word_rows

from deadheat.paper.paragraph import paragraph
from deadheat.report.rich_tables import Toned
from deadheat.report.terminal import width

HOSTILE = "evil\x1b[31m\x1b]0;title\x07[red]\tname\n\u202e\x9b2J"
SHOWN = r"evil\x1b[31m\x1b]0;title\x07[red]\tname\n\u202e\x9b2J"


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def become_terminal(patch: pytest.MonkeyPatch, columns: int = 40) -> None:
    """Standard output is a terminal that shows colours, from now to the end of the test."""
    patch.setattr(sys, "stdout", Terminal())
    for name in ("NO_COLOR", "FORCE_COLOR"):
        patch.delenv(name, raising=False)
    patch.setenv("TERM", "xterm")
    patch.setenv("COLUMNS", str(columns))


def test_columns_stand_under_their_headings() -> None:
    assert table(["a", "long"], [["x", "1"], ["yy", "22"]]).splitlines() == ["a   long", "x      1", "yy    22"]


def test_wide_and_combining_characters_keep_the_columns_straight() -> None:
    assert [width(text) for text in ("abc", "日本", "e\u0301")] == [3, 4, 1]
    lines = table(["w", "n"], [["日本", "1"], ["ab", "2"]]).splitlines()
    assert [width(line) for line in lines[1:]] == [7, 7]


def test_a_missing_value_is_a_dash() -> None:
    assert percent(math.nan) == "-"
    assert percent(0.891949) == "89.19"


def test_a_tone_is_nothing_where_no_terminal_is() -> None:
    assert table(["a"], [[Toned("b wins", "win")]]) == "a\nb wins"
    assert emphasis("a") == "a"


def test_a_terminal_gets_bold_headings_over_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    become_terminal(monkeypatch)
    assert table(["a"], [["b"]]) == "\x1b[1ma\x1b[0m\n\x1b[2m─\x1b[0m\nb"
    assert table(["a"], [[Toned("b wins", "win")]]).endswith("\x1b[1;32mb wins\x1b[0m")
    assert emphasis("a") == "\x1b[1ma\x1b[0m"


def test_without_colour_a_terminal_gets_no_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    become_terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")  # the wish for none is the stronger one
    assert table(["a"], [[Toned("b wins", "win")]]) == "a\n──────\nb wins"
    assert emphasis("a") == "a"
    monkeypatch.setenv("NO_COLOR", "")  # as if it were not set: no-color.org
    assert "\x1b[1m" in table(["a"], [["b"]])


def test_a_dumb_terminal_gets_what_a_file_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    become_terminal(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    assert table(["a"], [["b"]]) == "a\nb"


@pytest.mark.parametrize(("value", "forced"), [("1", True), ("3", True), ("true", True), ("0", False), ("", False)])
def test_colours_can_be_forced_and_then_no_width_is_kept(
    monkeypatch: pytest.MonkeyPatch, value: str, *, forced: bool
) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    for name in ("NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FORCE_COLOR", value)
    shown = table(["name"], [["long " * 100]])
    assert ("\x1b[1mname\x1b[0m" in shown) is forced
    assert shown.count("\n") == 1 + forced
    assert len(prose("words " * 100).split("\n")) == 1


def test_names_do_nothing_to_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    become_terminal(monkeypatch, columns=200)
    monkeypatch.setenv("NO_COLOR", "1")
    shown = table(["file", HOSTILE], [[Toned(HOSTILE, "win"), "1"]])
    assert shown.count(SHOWN) == 2
    assert emphasis(HOSTILE.replace("\n", "")) == SHOWN.replace(r"\n", "")
    for text in (shown, emphasis(HOSTILE), prose(HOSTILE), word_rows([HOSTILE], [(HOSTILE, [HOSTILE])])):
        assert not [c for c in text if c in "\x1b\x07\x9b\t\u202e"]


def test_names_do_nothing_where_no_terminal_is() -> None:
    assert table(["file"], [[HOSTILE]]) == f"file\n{SHOWN}"
    for text in (emphasis(HOSTILE), prose(HOSTILE), paragraph(HOSTILE), word_rows([HOSTILE], [(HOSTILE, [HOSTILE])])):
        assert not [c for c in text if c in "\x1b\x07\x9b\t\u202e"]


def test_markup_and_emoji_names_of_rich_are_text(monkeypatch: pytest.MonkeyPatch) -> None:
    become_terminal(monkeypatch)
    assert "[bold]:smile:[/bold] [link=x]" in table(["a"], [["[bold]:smile:[/bold] [link=x]"]])


def test_what_the_encoding_lacks_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert table(["a", "n"], [["naïve", "1"], ["b", "2"]]) == "a         n\nna\\xefve  1\nb         2"
    assert prose("naïve \udcff") == "na\\xefve \\udcff"


def test_a_terminal_breaks_sentences_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    become_terminal(monkeypatch)
    text = "permutation-exact, by sentence: the systems share their totals in every unit"
    assert prose(f"{text}\n") == ("permutation-exact, by sentence: the\nsystems share their totals in every unit\n")
    assert prose("of all words of the text there are 96.36 % right") == (
        "of all words of the text there are\n96.36 % right"
    )
    assert prose(f"  {text}").split("\n")[1].startswith("  systems")
    assert paragraph("a few words\nmore") == "a few words more"
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert prose(f"{text}\n") == f"{text}\n"
    assert paragraph("a few words\nmore") == "a few words\nmore"


WORDS = ["The", "dog", "that", "barked", "did", "not", "bite", "."]
ROWS = [("gold", ["DET", "NOUN", "PRON", "VERB", "AUX", "PART", "VERB", "PUNCT"]), ("mine", ["."] * 7 + ["SYM"])]


def test_a_sentence_is_one_line_for_a_file() -> None:
    assert word_rows(WORDS, ROWS).split("\n") == [
        "        The  dog   that  barked  did  not   bite  .",
        "  gold  DET  NOUN  PRON  VERB    AUX  PART  VERB  PUNCT",
        "  mine  .    .     .     .       .    .     .     SYM",
    ]
    assert word_rows(["x" * 200], [("gold", ["X"])]).split("\n")[0] == " " * 8 + "x" * 107 + "..."


def test_a_sentence_is_folded_between_words_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    become_terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    assert word_rows(WORDS, ROWS).split("\n") == [
        "      The  dog   that  barked",
        "gold  DET  NOUN  PRON  VERB",
        "mine  .    .     .     .",
        "",
        "      did  not   bite  .",
        "gold  AUX  PART  VERB  PUNCT",
        "mine  .    .     .     SYM",
    ]
