"""Progress of a study: lines that are redrawn on a terminal, plain lines now and then elsewhere.

They are drawn when a cell finishes, and while none does by the loop that waits for workers. There is no thread, which a
fork could interrupt, and the cursor is never hidden, so nothing has to be restored when the study is killed.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self, TextIO

from deadheat.screen import Screen, encodable, encoding, is_terminal, visible
from deadheat.study.engine.estimate import RemainingWork
from deadheat.study.engine.executor import ActiveTask
from deadheat.study.plan.cells import DONE, Outcome

REDRAW_S = 0.1  # between two drawings on a terminal, at least
FIRST_LINE_S = 3.0  # before the first plain line, if a cell has finished by then: the speed of less says nothing
FIRST_LINES_S, LATER_LINES_S = 10.0, 60.0  # between two plain lines; they become rarer in the first minutes
SLOWDOWN = 6  # from one to the other: a sixth of the time so far
NAMED_S = 3.0  # age from which running cells are named
NAMED, NAMED_IN_LOGS = 8, 3  # of them at most, on a terminal and in plain lines
NAME_LENGTH = 40  # of a system, in characters
BAR_SIZES = (40, 24, 12, 6)  # characters
UNICODE, ASCII = "━╸─", "##-"  # done, half done, to do: readable without colour
OPTIONAL_PARTS = ("running", "speed", "stored", "so far")  # dropped in this order if the line is too long
GAP = "  "
STYLES = {"bar": "green", "rest": "dim", "failed": "bold red"}
_UP, _CLEAR = "\x1b[A", "\r\x1b[J"  # to the line above; all from the beginning of this line

Active = Callable[[], Sequence[ActiveTask]]


def duration(seconds: float) -> str:
    """A time in its two largest units."""
    whole = round(seconds)
    for unit, name, smaller, small_name in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= unit:
            return f"{whole // unit} {name} {whole % unit // smaller} {small_name}"
    return f"{whole} s"


def speed(per_second: float) -> str:
    """Cells per second, minute or hour."""
    for seconds, name in ((1, "s"), (60, "min")):
        if (rate := per_second * seconds) >= 1:
            return f"{rate:,.0f}/{name}" if rate >= 100 else f"{rate:.3g}/{name}"
    return f"{per_second * 3600:.3g}/h"


class Progress:
    """Counts finished cells and shows the progress of a study on stderr or another stream.

    Parameters
    ----------
    work
        The cells that are left to run.
    label_of
        The name of a system in tables.
    done
        What has happened to a finished cell.
    stored
        How many cells of the study were in the store already.
    quiet
        Show nothing.
    clock
        Seconds since 1970.
    """

    def __init__(
        self,
        work: RemainingWork,
        label_of: Callable[[str], str] = str,
        *,
        stored: int = 0,
        done: str = "done",
        quiet: bool = False,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.total, self.done, self.failed = len(work.cells), 0, 0
        self._work, self._label_of, self._done, self._stored = work, label_of, done, stored
        self._quiet, self._clock = quiet, clock
        self._stream = sys.stderr if stream is None else stream
        self._redraws = is_terminal(self._stream)
        self._corpora = len({cell.corpus for cell in work.cells.values()})
        self._height = 0  # lines that are drawn
        self._began = clock()
        self._written_at = math.nan
        self._closed = False
        self._bar = ProgressBar()

    def finished(self, outcome: Outcome, active: Active = tuple) -> None:
        """Count one more finished cell; `active` gives the tasks that run now."""
        self._work.finish(outcome)
        self.done += 1
        self.failed += outcome.status != DONE
        self.tick(active)

    def tick(self, active: Active = tuple) -> None:
        """Draw again if it is time to."""
        now = self._clock()
        if not self._quiet and self._is_due(now):
            self._draw(active(), now)

    def close(self) -> None:
        """Show the final state."""
        if self._closed or self._quiet or not (self.done or self._height):
            return
        self._closed = True
        seconds = self._clock() - self._began
        parts = self._parts((), seconds)
        parts = {name: parts[name] for name in ("done", "stored", "failed", "speed") if name in parts}
        parts["so far"] = f"{'took' if self.done >= self.total else 'stopped after'} {duration(seconds)}"
        self._write(parts, "")
        self._print("\n" if self._redraws else "")

    def __enter__(self) -> Self:
        if self._redraws and self.total:
            self.tick()
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def _is_due(self, now: float) -> bool:
        if self._redraws:
            pause, last = REDRAW_S, self._written_at
        else:
            pause = min(LATER_LINES_S, max(FIRST_LINES_S, (now - self._began) / SLOWDOWN))
            last = self._written_at
            if math.isnan(last):
                last, pause = self._began, FIRST_LINE_S if self.done else FIRST_LINES_S
            if self.done >= self.total:  # the last line follows
                return False
        return not 0 <= now - last < pause  # also if the clock was put back, and if nothing is written yet

    def _draw(self, active: Sequence[ActiveTask], now: float) -> None:
        parts = self._parts(active, now - self._began)
        left = self._work.seconds_left(active, now)
        if left is not None and left >= 1:  # else cells take longer than expected, or all is nearly done
            parts["left"] = f"{duration(left)} left"
        names = [visible(" ".join(name.split())) for name in self._names(active, now)]
        if self._redraws:
            running = running_line(names, len(active), Screen.of(self._stream).columns - 1)
        else:
            running = running_line(names[:NAMED_IN_LOGS], len(active), None)
        self._write(parts, running)
        self._written_at = now

    def _parts(self, active: Sequence[ActiveTask], seconds: float) -> dict[str, str]:
        parts = {"done": f"{self.done:,} of {self.total:,} {self._done}"}
        if self._stored:
            parts["stored"] = f"{self._stored:,} already there"
        if self.failed:
            parts["failed"] = f"{self.failed:,} failed"
        if running := sum(not task.detail for task in active):
            parts["running"] = f"{running:,} running"
        if self.done and seconds > 0:
            parts["speed"] = speed(self.done / seconds)
        parts["so far"] = f"{duration(seconds)} so far"
        return parts

    def _names(self, active: Sequence[ActiveTask], now: float) -> Iterator[str]:
        """What runs now and its age, the oldest first; without cells that began just now."""
        for task in sorted(active, key=lambda task: task.started)[:NAMED]:
            age = max(0.0, now - task.started)
            cell = self._work.cells.get(task.name)
            if age < NAMED_S and not task.detail:
                continue
            name = task.name if cell is None else self._label_of(cell.system)
            name = name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 3]}..."
            if task.detail:
                name += f": {task.detail}"
            elif cell is not None:
                corpus = f" on {cell.corpus}" if self._corpora > 1 else ""
                name += f"{corpus}, split {cell.number}, seed {cell.seed}"
            name += f", on {task.node}" if task.node else ""
            yield f"{name} ({duration(age)})"

    def _write(self, parts: Mapping[str, str], running: str) -> None:
        """Draw the bar with its parts, and a line of running cells; or write both as one line."""
        if not self._redraws:
            self._print("; ".join(filter(None, [", ".join(parts.values()), running])) + "\n")
            self._height = 1
            return
        lines = [self._bar.line(self.done / max(1, self.total), parts, Screen.of(self._stream)), running]
        lines = list(filter(None, lines))
        self._print(_UP * (self._height - 1) + _CLEAR + "\n".join(lines))
        self._height = len(lines)

    def _print(self, text: str) -> None:
        with suppress(OSError, ValueError):  # nobody reads it any more; the study goes on
            self._stream.write(encodable(text, encoding(self._stream)))
            self._stream.flush()


def running_line(names: Sequence[str], running: int, columns: int | None) -> str:
    """The running cells by name, as many as there is room for; empty if there is room for none."""
    for count in range(len(names), 0, -1):
        more = [f"{running - count:,} more"] if running > count else []
        line = f"running: {'; '.join([*names[:count], *more])}"
        if columns is None or _width(line) <= columns:
            return line
    return ""


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # slow to load, and only a terminal needs it

    return cell_len(text)


class ProgressBar:
    """Draws the line; the bar becomes shorter when the numbers beside it grow, and stays so."""

    def __init__(self) -> None:
        self._sizes: tuple[int, ...] = BAR_SIZES

    def line(self, share: float, parts: Mapping[str, str], screen: Screen) -> str:
        """The bar and the parts that fit; one column stays free, since a full line may wrap."""
        width = screen.columns - 1
        for kept in _shorter(parts, OPTIONAL_PARTS):
            left = width - len(", ".join(kept.values())) - len(GAP)
            if sizes := [size for size in self._sizes if size <= left]:
                self._sizes = tuple(sizes)
                return _bar(share, sizes[0], screen) + GAP + _join(kept, screen)
        for kept in _shorter(parts, (*OPTIONAL_PARTS, "left")):
            if len(", ".join(kept.values())) <= width:
                return _join(kept, screen)
        return parts["done"][:width]


def _shorter(parts: Mapping[str, str], optional: Sequence[str]) -> Iterator[dict[str, str]]:
    """All parts, then without the first optional one, without the first two, ..."""
    for count in range(len(optional) + 1):
        yield {name: text for name, text in parts.items() if name not in optional[:count]}


def _join(parts: Mapping[str, str], screen: Screen) -> str:
    return ", ".join(_style(text, name, screen) for name, text in parts.items())


def _bar(share: float, width: int, screen: Screen) -> str:
    done, half, rest = tuple(UNICODE if screen.can_show(UNICODE) else ASCII)
    halves = int(2 * width * min(1.0, share))
    drawn = done * (halves // 2) + half * (halves % 2)
    return _style(drawn, "bar", screen) + _style(rest * (width - len(drawn)), "rest", screen)


def _style(text: str, name: str, screen: Screen) -> str:
    if name not in STYLES or not screen.color or not text:
        return text
    from rich.style import Style  # slow to load, and only a terminal needs it

    return Style.parse(STYLES[name]).render(text)
