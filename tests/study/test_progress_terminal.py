"""`deadheat run` in a terminal: the bar, how it ends, and what is left of it when somebody presses Ctrl-C."""

from __future__ import annotations

import re
from pathlib import Path

from tests.pseudo_terminal import on_terminal
from tests.study.study_cases import study_file

SLOW = "[[systems]]\nname = 'command'\npredict = 'sh noun.sh 0.1'\n"
FAILING = "[[systems]]\nname = 'command'\npredict = 'sh missing.sh'\n"


def test_a_study_ends_with_one_line_of_progress_above_its_results(tmp_path: Path) -> None:
    path = study_file(tmp_path, times=3)
    path.write_text(path.read_text() + FAILING)
    shown = on_terminal("run", path.name, folder=tmp_path)
    assert shown.code == 0
    bar, first, *_ = shown.lines
    assert re.fullmatch(r"━+  9 of 9 done, 3 failed, [\d.,]+/(s|min), took \d+ s", bar)
    assert first == "On small, unigram is better than majority by 38.20 points of Accuracy (upos)"
    assert sum("of 9 done" in line for line in shown.lines) == 1
    assert "\x1b[1;31m3 failed\x1b[0m" in shown.written
    assert shown.screen.cursor
    drawn = re.findall(r"(\d) of 9 done", shown.written)
    assert drawn[0] == "0"
    assert drawn == sorted(drawn)


def test_an_interrupted_study_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    path = study_file(tmp_path, times=4)
    path.write_text(path.read_text() + SLOW)
    shown = on_terminal(
        "run", path.name, folder=tmp_path, interrupt=lambda written: re.search("[1-9] of 12", written) is not None
    )
    assert shown.code == 130
    bar, said, after = shown.lines
    assert re.fullmatch(r"━*╸?─+  \d+ of 12 done, [\d.,]+/(s|min), stopped after \d+ s", bar)
    assert (said, after) == ("interrupted", "")
    assert shown.screen.cursor
    assert "\x1b[?25l" not in shown.written  # not even if it had been killed
    assert shown.written.rstrip().endswith("interrupted")


def test_a_narrow_terminal_gets_a_line_that_fits(tmp_path: Path) -> None:
    path = study_file(tmp_path, "majority", times=2)
    path.write_text(path.read_text() + FAILING)
    shown = on_terminal("run", path.name, folder=tmp_path, columns=30)
    assert shown.code == 0
    assert shown.lines[0].endswith("  4 of 4 done, 2 failed")
    drawn = [part for part in re.split(r"\r\x1b\[K|\n", shown.written) if " of 4 done" in part]
    assert len(drawn) > 1
    assert all(len(re.sub(r"\x1b\[[\d;]*m", "", part)) < 30 for part in drawn)
