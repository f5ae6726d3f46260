from __future__ import annotations

import io
import os

import pytest

from deadheat.study.progress import LAST, Progress, duration, speed, trimmed_mean


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def screen(written: str) -> list[str]:
    """The lines a person sees after all that was written: a carriage return and `ESC [ K` empty the last one."""
    return [line.rpartition("\r\x1b[K")[2] for line in written.split("\n")]


def test_a_terminal_has_one_line_that_is_rewritten() -> None:
    stream, clock = Terminal(), Clock()
    with Progress(100, workers=2, stream=stream, clock=clock) as progress:
        for number in range(40):
            clock.now = number
            progress.finished(2.0, running=2, failed=number == 5)
        assert screen(stream.getvalue()) == ["40 of 100 done, 1 failed, 2 running, 1/s, 1 min 0 s left"]
        assert stream.getvalue().count("\x1b[K") == 40
    assert screen(stream.getvalue()) == ["40 of 100 done, 1 failed, 2 running, 1/s, 1 min 0 s left", ""]


def test_a_terminal_is_not_written_to_more_often_than_a_person_can_read() -> None:
    stream, clock = Terminal(), Clock()
    progress = Progress(10_000, workers=2, stream=stream, clock=clock)
    for number in range(10_000):
        clock.now = number / 1000
        progress.finished(0.002, running=2)
    assert 90 <= stream.getvalue().count("\x1b[K") <= 101
    progress.close()
    assert screen(stream.getvalue())[0].startswith("10,000 of 10,000 done")


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


def test_the_last_line_is_not_said_twice() -> None:
    stream = io.StringIO()
    with Progress(1, workers=1, stream=stream) as progress:
        progress.finished(1.0, running=0)
        progress.close()
    assert stream.getvalue() == "1 of 1 done, 1/s\n"


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_quiet_is_quiet(stream: io.StringIO) -> None:
    with Progress(2, workers=1, quiet=True, stream=stream) as progress:
        progress.finished(1.0, running=1)
        progress.note("a cell failed")
    assert stream.getvalue() == ""


def test_nothing_is_said_of_a_study_with_nothing_to_do() -> None:
    stream = Terminal()
    with Progress(0, workers=1, stream=stream):
        pass
    assert stream.getvalue() == ""


def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    with Progress(1, workers=1, stream=stream) as progress:
        progress.finished(1.0, running=0)
    assert stream.getvalue() == "1 of 1 done, 1/s\n"


def test_a_note_stands_above_the_line_that_is_rewritten() -> None:
    stream, clock = Terminal(), Clock()
    progress = Progress(4, workers=1, stream=stream, clock=clock)
    progress.finished(1.0, running=1)
    progress.note("EWT 3 failed: ValueError: no")
    assert screen(stream.getvalue()) == ["EWT 3 failed: ValueError: no", "1 of 4 done, 1 running, 1/s, 3 s left"]
    clock.now = 1.0
    progress.finished(1.0, running=1)
    assert screen(stream.getvalue()) == ["EWT 3 failed: ValueError: no", "2 of 4 done, 1 running, 1/s, 2 s left"]


def test_the_line_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    stream = Terminal()
    Progress(100, workers=1, stream=stream).finished(1.0, running=1)
    assert screen(stream.getvalue()) == ["1 of 100 done, 1 ru"]


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


def test_time_left_follows_the_last_cells() -> None:
    progress = Progress(1000, workers=1, quiet=True)
    for _ in range(500):
        progress.finished(100.0, running=1)
    for _ in range(LAST):
        progress.finished(1.0, running=1)
    assert progress.seconds_left == 1000 - 500 - LAST


def test_one_odd_cell_in_ten_does_not_change_the_time_left() -> None:
    progress = Progress(110, workers=1, quiet=True)
    for seconds in [2.0] * 9 + [90_000.0]:
        progress.finished(seconds, running=1)
    assert progress.seconds_left == 200.0


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
