from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from deadheat.screen import Screen
from deadheat.study.engine.progress import BAR_SIZES, WINDOW, Progress, ProgressBar, duration, speed, trimmed_mean
from tests import pseudo_terminal
from tests.pseudo_terminal import on_terminal
from tests.study.study_cases import study_file


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def screen(written: str) -> list[str]:
    """The lines a person sees after all that was written."""
    return pseudo_terminal.Screen().after(written).lines


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of eighty columns."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


def test_a_terminal_has_one_line_that_is_redrawn() -> None:
    stream, clock = Terminal(), Clock()
    with Progress(100, workers=2, stream=stream, clock=clock) as progress:
        assert screen(stream.getvalue()) == ["────────────────────────────────────────  0 of 100 done, 0 s so far"]
        for number in range(40):
            clock.now = number + 1.0
            progress.finished(2.0, running=2, failed=number == 5)
        expected = "━━────  40 of 100 done, 1 failed, 2 running, 1/s, 40 s so far, 1 min 0 s left"
        assert screen(stream.getvalue()) == [expected]
        assert stream.getvalue().count("\x1b[K") == 41
        assert "\x1b[1;31m1 failed\x1b[0m" in stream.getvalue()
    assert screen(stream.getvalue()) == ["━━────  40 of 100 done, 1 failed, 1/s, stopped after 40 s", ""]


def test_the_last_line_says_how_long_it_took() -> None:
    stream, clock = Terminal(), Clock()
    with Progress(2, workers=1, stream=stream, clock=clock) as progress:
        for second in (90.0, 150.0):
            clock.now = second
            progress.finished(60.0, running=0)
        progress.close()
    assert screen(stream.getvalue()) == [f"{'━' * 24}  2 of 2 done, 48/h, took 2 min 30 s", ""]


def test_an_interrupted_study_says_how_far_it_came_and_the_cursor_was_never_hidden() -> None:
    stream = Terminal()
    with pytest.raises(KeyboardInterrupt), Progress(4, workers=1, stream=stream, clock=Clock()):
        raise KeyboardInterrupt
    assert screen(stream.getvalue()) == [f"{'─' * 40}  0 of 4 done, stopped after 0 s", ""]
    assert "\x1b[?25" not in stream.getvalue()


def test_a_terminal_is_not_written_to_more_often_than_a_person_can_read() -> None:
    stream, clock = Terminal(), Clock()
    progress = Progress(10_000, workers=2, stream=stream, clock=clock)
    for number in range(10_000):
        clock.now = number / 1000
        progress.finished(0.002, running=2)
    assert 90 <= stream.getvalue().count("\x1b[K") <= 101
    progress.close()
    assert "10,000 of 10,000 done" in screen(stream.getvalue())[0]


def test_drawing_starts_no_thread() -> None:
    before = threading.active_count(), len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0
    with Progress(2, workers=1, stream=Terminal()) as progress:
        progress.finished(1.0, running=1)
        now = threading.active_count(), len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0
    assert now == before


@pytest.mark.parametrize(("kind", "loaded"), [("Terminal", True), ("io.StringIO", False)])
def test_rich_is_loaded_for_a_terminal_alone(kind: str, *, loaded: bool) -> None:
    code = f"""
import io, sys
from deadheat.study.engine.progress import Progress
class Terminal(io.StringIO):
    isatty = lambda self: True
with Progress(1, workers=1, stream={kind}()) as progress:
    progress.finished(1.0, running=0)
sys.exit(10 * ("rich" in sys.modules))
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 10 * loaded


def test_without_colour_the_bar_is_still_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    Progress(4, workers=1, stream=stream, clock=Clock()).finished(1.0, running=1, failed=True)
    assert not re.search(r"\x1b\[[\d;]*m", stream.getvalue())
    assert screen(stream.getvalue()) == ["━━━─────────  1 of 4 done, 1 failed, 1 running, 1/s, 0 s so far, 3 s left"]


def test_an_encoding_without_lines_gets_an_ascii_bar() -> None:
    line = ProgressBar().line(0.5, {"done": "2 of 4 done"}, Screen(80, color=False, encoding="ascii"))
    assert line == f"{'#' * 20}{'-' * 20}  2 of 4 done"


def test_the_bar_does_not_swing_while_numbers_change() -> None:
    bar, wide = ProgressBar(), {"done": "4 of 9 done", "left": "x" * 45}
    first, second, third = (
        bar.line(0.5, parts, Screen(80, color=False)) for parts in (wide, {**wide, "left": "x" * 55}, wide)
    )
    assert [len(line.partition("  ")[0]) for line in (first, second, third)] == [12, 6, 6]


def test_less_is_said_where_there_is_less_room_and_nothing_is_cut() -> None:
    names = {"done": "40 of 100 done", "failed": "1 failed", "running": "2 running", "speed": "1/s"}
    parts = names | {"so far": "40 s so far", "left": "1 min 0 s left"}
    for columns in range(20, 200):
        line = ProgressBar().line(0.4, parts, Screen(columns, color=False))
        assert len(line) < columns
        bar, _, expected = line.rpartition("  ")
        assert len(bar) in (0, *BAR_SIZES)
        kept = expected.split(", ")
        assert kept == [text for text in parts.values() if text in kept]
        assert kept[0] == "40 of 100 done"


def test_a_file_gets_plain_lines_ten_seconds_apart_and_a_last_one() -> None:
    stream, clock = io.StringIO(), Clock()
    with Progress(36, workers=1, stream=stream, clock=clock) as progress:
        for number in range(36):
            clock.now = float(number)
            progress.finished(1.0, running=int(number < 35))
    lines = stream.getvalue().splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["1", "11", "21", "31", "36"]
    assert lines[1] == "11 of 36 done, 1 running, 1/s, 25 s left"
    assert lines[-1] == "36 of 36 done, 1/s"
    assert "\r" not in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_dumb_terminals_and_files_get_the_last_line_once(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with Progress(1, workers=1, stream=stream) as progress:
        progress.finished(1.0, running=0)
        progress.close()
    assert stream.getvalue() == "1 of 1 done, 1/s\n"


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_nothing_is_shown_if_quiet_or_without_cells(stream: io.StringIO) -> None:
    with Progress(2, workers=1, quiet=True, stream=stream) as progress:
        progress.finished(1.0, running=1)
    with Progress(0, workers=1, stream=stream):
        pass
    assert stream.getvalue() == ""


def test_the_line_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    stream = Terminal()
    Progress(100, workers=1, stream=stream).finished(1.0, running=1)
    assert screen(stream.getvalue()) == ["1 of 100 done"]


def test_a_reader_that_is_gone_does_not_stop_the_study() -> None:
    read, write = os.pipe()
    os.close(read)
    stream = open(write, "w")  # noqa: SIM115 (closing it fails too)
    progress = Progress(1, workers=1, stream=stream)
    progress.finished(1.0, running=0)
    assert progress.done == 1
    with pytest.raises(BrokenPipeError):
        stream.close()


def test_stderr_is_written_to_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(1, workers=1) as progress:
        progress.finished(1.0, running=0)
    assert capsys.readouterr() == ("", "1 of 1 done, 1/s\n")


def test_time_left_is_that_of_the_rest_shared_by_the_workers() -> None:
    progress = Progress(21, workers=4, quiet=True)
    assert progress.seconds_left is None

    def left() -> float | None:
        return progress.seconds_left

    progress.finished(6.0, running=4)
    assert left() == 6.0 * 20 / 4
    for _ in range(17):
        progress.finished(6.0, running=3)
    assert left() == 6.0  # three cells, four workers: as long as one of them
    for _ in range(3):
        progress.finished(6.0, running=0)
    assert left() == 0.0


@pytest.mark.parametrize(
    ("total", "seconds", "left"),
    [
        (1000, [100.0] * 500 + [1.0] * WINDOW, 1000 - 500 - WINDOW),  # the last cells count
        (110, [2.0] * 9 + [90_000.0], 200.0),  # one odd cell in ten does not
    ],
)
def test_time_left_follows_the_usual_of_the_last_cells(total: int, seconds: list[float], left: float) -> None:
    progress = Progress(total, workers=1, quiet=True)
    for time in seconds:
        progress.finished(time, running=1)
    assert progress.seconds_left == left


def test_the_trimmed_mean_by_hand() -> None:
    assert trimmed_mean([5.0]) == 5.0
    assert trimmed_mean([1.0, 9.0]) == 5.0
    # Of twenty values two go at each end: 3, ..., 18 are left.
    assert trimmed_mean([float(number) for number in range(20, 0, -1)]) == 10.5


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59.4, "59 s"), (60, "1 min 0 s"), (3600, "1 h 0 min"), (7325, "2 h 2 min"), (864000, "10 d 0 h")],
)
def test_durations_have_two_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(("rate", "text"), [(1234.0, "1,234/s"), (1 / 60, "1/min"), (1 / 7200, "0.5/h")])
def test_speeds_have_a_fitting_unit(rate: float, text: str) -> None:
    assert speed(rate) == text


SLOW = "[[systems]]\nname = 'command'\npredict = 'sh noun.sh 0.1'\n"
FAILING = "[[systems]]\nname = 'command'\npredict = 'sh missing.sh'\n"


def test_a_study_ends_with_one_line_of_progress_above_its_results(tmp_path: Path) -> None:
    path = study_file(tmp_path, times=3)
    path.write_text(path.read_text() + FAILING)
    shown = on_terminal("run", path.name, folder=tmp_path)
    assert shown.code == 1
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
    bar, expected, after = shown.lines
    assert re.fullmatch(r"━*╸?─+  \d+ of 12 done, [\d.,]+/(s|min), stopped after \d+ s", bar)
    assert (expected, after) == ("interrupted", "")
    assert shown.screen.cursor
    assert "\x1b[?25l" not in shown.written  # not even if it had been killed
    assert shown.written.rstrip().endswith("interrupted")
