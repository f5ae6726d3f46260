from __future__ import annotations

import math

import pytest

from deadheat.report.terminal import percent, table, width


def test_columns_stand_under_their_headings() -> None:
    assert table(["a", "long"], [["x", "1"], ["yy", "22"]]).splitlines() == ["a   long", "x      1", "yy    22"]


def test_wide_and_combining_characters_keep_the_columns_straight() -> None:
    assert [width(text) for text in ("abc", "日本", "e\u0301")] == [3, 4, 1]
    lines = table(["w", "n"], [["日本", "1"], ["ab", "2"]]).splitlines()
    assert [width(line) for line in lines[1:]] == [7, 7]


def test_a_missing_value_is_a_dash() -> None:
    assert percent(math.nan) == "-"
    assert percent(0.891949) == "89.19"


def test_headings_are_bold_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert table(["a"], [["b"]]).startswith("\x1b[1m")
    monkeypatch.setenv("NO_COLOR", "1")
    assert table(["a"], [["b"]]).startswith("a")
