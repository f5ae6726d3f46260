from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import Self, TextIO

import pytest

from deadheat.screen import Screen
from deadheat.study.engine.estimate import RemainingWork
from deadheat.study.engine.executor import ActiveTask
from deadheat.study.engine.progress import BAR_SIZES, Progress, ProgressBar, duration, running_line, speed
from deadheat.study.plan.cells import DONE, FAILED, Outcome
from tests import pseudo_terminal
from tests.pseudo_terminal import on_terminal
from tests.study.store_outcomes import cell
from tests.study.study_cases import study_file


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Run:
    """A study whose cells finish when a test says so; its progress is shown on a stream."""

    def __init__(
        self, total: int, stream: TextIO | None = None, *, workers: int = 1, quiet: bool = False, stored: int = 0
    ) -> None:
        self.clock = Clock()
        self.cells = [cell(number) for number in range(total)]
        self.running: list[ActiveTask] = []
        work = RemainingWork(self.cells, workers=workers)
        self.progress = Progress(work, stored=stored, quiet=quiet, stream=stream, clock=self.clock)

    def __enter__(self) -> Self:
        self.progress.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.progress.__exit__(*error)

    def finish(self, wall_s: float = 1.0, *, running: int = 0, failed: bool = False) -> None:
        """Let the next cell finish, and some after it start."""
        first = self.progress.done + 1
        self.running = [ActiveTask(cell.key, self.clock.now) for cell in self.cells[first : first + running]]
        outcome = Outcome(self.cells[self.progress.done], FAILED if failed else DONE, wall_s=wall_s)
        self.progress.finished(outcome, lambda: self.running)

    def wait(self, seconds: float) -> None:
        """Let time pass second by second, in which no cell finishes."""
        until = self.clock.now + seconds
        while self.clock.now < until:
            self.clock.now += 1.0
            self.progress.tick(lambda: self.running)


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
    stream = Terminal()
    with Run(100, stream, workers=2) as run:
        assert screen(stream.getvalue()) == ["────────────────────────────────────────  0 of 100 done, 0 s so far"]
        for number in range(40):
            run.clock.now = number + 1.0
            run.finish(2.0, running=2, failed=number == 5)
        expected = "━━────  40 of 100 done, 1 failed, 2 running, 1/s, 40 s so far, 1 min 0 s left"
        assert screen(stream.getvalue()) == [expected]
        assert stream.getvalue().count("\x1b[J") == 41
        assert "\x1b[1;31m1 failed\x1b[0m" in stream.getvalue()
    assert screen(stream.getvalue()) == ["━━────  40 of 100 done, 1 failed, 1/s, stopped after 40 s", ""]


def test_the_clock_ticks_and_running_cells_are_named_while_none_finishes() -> None:
    stream = Terminal()
    with Run(4, stream, workers=2, stored=12) as run:
        run.clock.now = 1.0
        run.finish(20.0, running=2)
        before = stream.getvalue().count("\x1b[J")
        run.wait(12)
        assert stream.getvalue().count("\x1b[J") == before + 12
        assert screen(stream.getvalue()) == [
            "━╸────  1 of 4 done, 12 already there, 4.62/min, 13 s so far, 20 s left",
            "running: perceptron.v2, split 1, seed 1 (12 s); 1 more",
        ]
        run.clock.now = 15.0
        run.finish(14.0, running=1)
        assert len(screen(stream.getvalue())) == 1  # cells that began just now are not named
    assert screen(stream.getvalue()) == ["━━━───  2 of 4 done, 12 already there, 8/min, stopped after 15 s", ""]


def test_stacks_of_networks_show_their_epoch() -> None:
    stream = Terminal()
    with Run(64, stream) as run:
        run.running = [ActiveTask(run.cells[0].key, 0.0, "epoch 3 of 25, 12 of 64 networks done")]
        run.wait(2)
        assert screen(stream.getvalue()) == [
            f"{'─' * 40}  0 of 64 done, 2 s so far",
            "running: perceptron.v2: epoch 3 of 25, 12 of 64 networks done (2 s)",
        ]


def test_cells_of_a_cluster_are_named_like_others_with_their_node() -> None:
    stream = Terminal()
    with Run(9, stream, workers=2) as run:
        began = [(0.0, "desk1"), (0.0, "desk2"), (4.0, "desk2")]
        run.running = [
            ActiveTask(cell.key, started, node=node) for cell, (started, node) in zip(run.cells[:3], began, strict=True)
        ]
        run.wait(5)
        assert screen(stream.getvalue()) == [
            f"{'─' * 40}  0 of 9 done, 3 running, 5 s so far",
            "running: perceptron.v2, split 0, seed 0, on desk1 (5 s); 2 more",
        ]


def test_a_stack_on_a_cluster_shows_its_epoch_and_its_node() -> None:
    stream = Terminal()
    with Run(64, stream) as run:
        run.running = [ActiveTask(run.cells[0].key, 0.0, "epoch 3 of 25", "desk2")]
        run.wait(2)
        assert screen(stream.getvalue())[1] == "running: perceptron.v2: epoch 3 of 25, on desk2 (2 s)"


def test_names_of_others_cannot_change_the_terminal() -> None:
    stream = io.StringIO()
    work = RemainingWork([cell(0)], workers=1)
    progress = Progress(work, lambda system: f"\x1b[2J\n{system}", stream=stream, clock=lambda: 100.0)
    progress._began = 0.0
    progress.tick(lambda: [ActiveTask(cell(0).key, 90.0)])
    text = stream.getvalue()
    assert (
        text == "0 of 1 done, 1 running, 1 min 40 s so far; running: \\x1b[2J perceptron.v2, split 0, seed 0 (10 s)\n"
    )


def test_as_many_running_cells_are_named_as_there_is_room_for() -> None:
    names = ["a (3 min 0 s)", "日本 (1 min 0 s)", "c (5 s)"]
    assert running_line(names, 4, None) == "running: a (3 min 0 s); 日本 (1 min 0 s); c (5 s); 1 more"
    assert running_line(names, 3, 51) == "running: a (3 min 0 s); 日本 (1 min 0 s); c (5 s)"
    assert running_line(names, 3, 47) == "running: a (3 min 0 s); 2 more"  # wide characters take two columns
    assert running_line(names, 3, 20) == ""
    assert running_line([], 2, None) == ""


def test_the_last_line_says_how_long_it_took() -> None:
    stream = Terminal()
    with Run(2, stream) as run:
        for second in (90.0, 150.0):
            run.clock.now = second
            run.finish(60.0)
        run.progress.close()
    assert screen(stream.getvalue()) == [f"{'━' * 24}  2 of 2 done, 48/h, took 2 min 30 s", ""]


def test_an_interrupted_study_says_how_far_it_came_and_the_cursor_was_never_hidden() -> None:
    stream = Terminal()
    with pytest.raises(KeyboardInterrupt), Run(4, stream):
        raise KeyboardInterrupt
    assert screen(stream.getvalue()) == [f"{'─' * 40}  0 of 4 done, stopped after 0 s", ""]
    assert "\x1b[?25" not in stream.getvalue()


def test_a_terminal_is_not_written_to_more_often_than_a_person_can_read() -> None:
    stream = Terminal()
    run = Run(10_000, stream, workers=2)
    for number in range(10_000):
        run.clock.now = number / 1000
        run.finish(0.002)
    assert 90 <= stream.getvalue().count("\x1b[J") <= 101
    run.progress.close()
    assert "10,000 of 10,000 done" in screen(stream.getvalue())[0]


def test_a_clock_that_is_put_back_does_not_stop_the_drawing() -> None:
    stream = Terminal()
    run = Run(3, stream)
    for now in (1000.0, 10.0):
        run.clock.now = now
        run.finish()
    assert "2 of 3 done" in screen(stream.getvalue())[0]


def test_drawing_starts_no_thread() -> None:
    before = threading.active_count(), len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0
    with Run(2, Terminal()) as run:
        run.finish()
        now = threading.active_count(), len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0
    assert now == before


@pytest.mark.parametrize(("kind", "loaded"), [("Terminal", True), ("io.StringIO", False)])
def test_rich_is_loaded_for_a_terminal_alone(kind: str, *, loaded: bool) -> None:
    code = f"""
import io, sys
from deadheat.study.engine.estimate import RemainingWork
from deadheat.study.engine.progress import Progress
from deadheat.study.plan.cells import Cell, Outcome
class Terminal(io.StringIO):
    isatty = lambda self: True
cell = Cell("english", "0f", "random.v1", 0, 0, "hmm.v1", 0)
with Progress(RemainingWork([cell], workers=1), stream={kind}()) as progress:
    progress.finished(Outcome(cell, "done", wall_s=1.0))
sys.exit(10 * ("rich" in sys.modules))
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 10 * loaded


def test_without_colour_the_bar_is_still_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    Run(4, stream).finish(running=1, failed=True)
    assert not re.search(r"\x1b\[[\d;]*m", stream.getvalue())
    assert screen(stream.getvalue()) == ["━━━─────────  1 of 4 done, 1 failed, 1 running, 0 s so far, 3 s left"]


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
    stream = io.StringIO()
    with Run(36, stream) as run:
        for number in range(36):
            run.clock.now = float(number)
            run.finish(running=int(number < 35))
    lines = stream.getvalue().splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["4", "14", "24", "34", "36"]
    assert lines[0] == "4 of 36 done, 1 running, 1.33/s, 3 s so far, 32 s left"
    assert lines[1] == "14 of 36 done, 1 running, 1.08/s, 13 s so far, 22 s left"
    assert lines[-1] == "36 of 36 done, 1.03/s, took 35 s"
    assert "\r" not in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_plain_lines_come_also_while_no_cell_finishes_and_less_often_with_time() -> None:
    stream = io.StringIO()
    with Run(9, stream, workers=4, stored=3) as run:
        run.running = [ActiveTask(cell.key, float(number)) for number, cell in enumerate(run.cells[:4])]
        run.wait(1200)
    lines = stream.getvalue().splitlines()
    names = "; ".join(f"perceptron.v2, split {number}, seed {number} ({10 - number} s)" for number in range(3))
    assert lines[0] == f"0 of 9 done, 3 already there, 4 running, 10 s so far; running: {names}; 1 more"
    times = [int(minutes or 0) * 60 + int(seconds) for line in lines[:-1]
             for minutes, seconds in re.findall(r"(?:(\d+) min )?(\d+) s so far", line)]  # fmt: skip
    pauses = [later - earlier for earlier, later in pairwise([0, *times])]
    assert pauses[:6] == [10] * 6
    assert pauses == sorted(pauses)
    assert pauses[-5:] == [60] * 5
    assert lines[-1] == "0 of 9 done, 3 already there, stopped after 20 min 0 s"


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_dumb_terminals_and_files_get_the_last_line_once(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with Run(1, stream) as run:
        run.clock.now = 1.0
        run.finish()
        run.progress.close()
    assert stream.getvalue() == "1 of 1 done, 1/s, took 1 s\n"


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_nothing_is_shown_if_quiet_or_without_cells(stream: io.StringIO) -> None:
    with Run(2, stream, quiet=True) as run:
        run.finish(running=1)
        run.wait(100)
    with Run(0, stream):
        pass
    assert stream.getvalue() == ""


def test_the_line_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    stream = Terminal()
    run = Run(100, stream)
    run.finish(running=1)
    run.wait(5)
    assert screen(stream.getvalue()) == ["1 of 100 done"]


def test_a_reader_that_is_gone_does_not_stop_the_study() -> None:
    read, write = os.pipe()
    os.close(read)
    stream = open(write, "w")  # noqa: SIM115 (closing it fails too)
    run = Run(1, stream)
    run.finish()
    run.progress.close()
    assert run.progress.done == 1
    with pytest.raises(BrokenPipeError):
        stream.close()


def test_stderr_is_written_to_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    with Run(1) as run:
        run.finish()
    assert capsys.readouterr() == ("", "1 of 1 done, took 0 s\n")


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
FAILING = "[[systems]]\nname = 'command'\npredict = 'false'\n"


def test_a_study_ends_with_one_line_of_progress_above_its_results(tmp_path: Path) -> None:
    path = study_file(tmp_path, times=3)
    path.write_text(path.read_text() + FAILING)
    shown = on_terminal("run", path.name, folder=tmp_path)
    assert shown.code == 1
    bar, first, *_ = shown.lines
    assert re.fullmatch(r"━+  9 of 9 done, 3 failed, [\d.,]+/(s|min), took \d+ s", bar)
    assert first == "On small, unigram is better than majority by 38.20 points of Accuracy (upos)"
    assert sum("of 9 done" in line for line in shown.lines) == 1
    assert shown.lines[-3].startswith("verdict: On small, unigram is better than majority by 38.20 points of Accuracy")
    assert shown.lines[-2:] == ["page: deadheat report study.sqlite", ""]
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
    bar, kept, command, after = shown.lines
    assert re.fullmatch(r"━*╸?─+  \d+ of 12 done, [\d.,]+/(s|min), stopped after \d+ s", bar)
    assert re.fullmatch(r"interrupted: \d+ of 12 cells (is|are) kept in study.sqlite", kept)
    assert (command, after) == ("the same command goes on: deadheat run study.toml", "")
    assert shown.screen.cursor
    assert "\x1b[?25l" not in shown.written  # not even if it had been killed
