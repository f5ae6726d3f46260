"""How far a study is: a bar that is redrawn on a terminal, plain lines now and then elsewhere.

It is drawn when a cell finishes and at no other time: there is no thread, which a fork could catch in the middle of
something. The cursor is never hidden, so that nothing has to be put right when the study is killed.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self, TextIO

from deadheat.screen import Screen, is_terminal, visible

LAST = 50  # cells that the time left is reckoned from
TRIMMED = 0.1  # of these, the share of the quickest and of the slowest that does not count
REDRAW_S, LINE_S = 0.1, 10.0
_CLEAR = "\r\x1b[K"


def trimmed_mean(values: Sequence[float]) -> float:
    """The mean without a tenth of the values at each end, so that one odd cell does not count.

    Examples
    --------
    >>> trimmed_mean([1.0, 2.0, 3.0])
    2.0
    >>> trimmed_mean([1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 3.0, 5000.0])
    2.125
    """
    cut = int(TRIMMED * len(values))
    kept = sorted(values)[cut : len(values) - cut]
    return math.fsum(kept) / len(kept)


def duration(seconds: float) -> str:
    """A time in its two largest units.

    Examples
    --------
    >>> duration(0.4), duration(59.6), duration(3599.0), duration(90000.0)
    ('0 s', '1 min 0 s', '59 min 59 s', '1 d 1 h')
    """
    whole = round(seconds)
    for unit, name, smaller, small_name in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= unit:
            return f"{whole // unit} {name} {whole % unit // smaller} {small_name}"
    return f"{whole} s"


def speed(per_second: float) -> str:
    """How many cells a second, minute or hour.

    Examples
    --------
    >>> speed(12.0), speed(0.5), speed(0.001)
    ('12/s', '30/min', '3.6/h')
    """
    for seconds, name in ((1, "s"), (60, "min")):
        if (rate := per_second * seconds) >= 1:
            return f"{rate:,.0f}/{name}" if rate >= 100 else f"{rate:.3g}/{name}"
    return f"{per_second * 3600:.3g}/h"


class Progress:
    """Counts cells as they finish and says so on stderr.

    Parameters
    ----------
    total
        How many cells there are to run.
    workers
        How many run at once.
    quiet
        Say nothing.
    stream
        Where to write; stderr by default.
    clock
        What tells the time, in seconds.

    Examples
    --------
    >>> import sys
    >>> with Progress(3, workers=1, stream=sys.stdout, clock=lambda: 0.0) as progress:
    ...     progress.finished(4.0, running=1)
    ...     progress.finished(2.0, running=1, failed=True)
    1 of 3 done, 1 running, 15/min, 8 s left
    2 of 3 done, 1 failed, 1 running, 20/min, 3 s left
    """

    def __init__(
        self,
        total: int,
        *,
        workers: int,
        quiet: bool = False,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total, self.done, self.failed, self.running = total, 0, 0, 0
        self._workers, self._quiet, self._clock = max(1, workers), quiet, clock
        self._stream = sys.stderr if stream is None else stream
        self._redraws = is_terminal(self._stream)
        self._seconds: deque[float] = deque(maxlen=LAST)
        self._said = ""
        self._said_at = -math.inf
        self._began = clock()
        self._closed = False
        self._bar: Bar | None = None

    def finished(self, wall_s: float, *, running: int, failed: bool = False) -> None:
        """One cell more is finished; it took so long, and so many run now."""
        self.done += 1
        self.failed += failed
        self.running = running
        self._seconds.append(wall_s)
        self._say()

    @property
    def seconds_left(self) -> float | None:
        """How long the rest will take if it is like the last cells; None before the first."""
        left = self.total - self.done
        if not self._seconds or left <= 0:
            return None if left > 0 else 0.0
        # The last cells of all do not fill the workers: a cell takes its time however many could run beside it.
        return trimmed_mean(self._seconds) * max(1.0, left / self._workers)

    def __str__(self) -> str:
        return ", ".join(self._parts().values())

    def note(self, line: str) -> None:
        """Write a line of its own, above the one that is redrawn."""
        if self._quiet:
            return
        shown = visible(line)
        self._write(f"{_CLEAR}{shown}\n{self._said}" if self._redraws else f"{shown}\n")

    def close(self) -> None:
        """Say for the last time how far it is."""
        if (self.done or self._said) and not self._closed:
            self._closed = True
            self._say(last=True)

    def __enter__(self) -> Self:
        if self._redraws and self.total:
            self._say()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _parts(self) -> dict[str, str]:
        """What there is to say while it runs, by name."""
        parts = {"done": f"{self.done:,} of {self.total:,} done"}
        if self.failed:
            parts["failed"] = f"{self.failed:,} failed"
        if self.running:
            parts["running"] = f"{self.running:,} running"
        if self._seconds and (mean := trimmed_mean(self._seconds)) > 0:
            parts["speed"] = speed(self._workers / mean)
        if left := self.seconds_left:
            parts["left"] = f"{duration(left)} left"
        return parts

    def _drawn(self, now: float, *, last: bool) -> str:
        """The bar, and what stands beside it."""
        if self._bar is None:
            self._bar = Bar()
        parts, seconds = self._parts(), now - self._began
        if last:
            parts = {name: parts[name] for name in ("done", "failed") if name in parts}
            if self.done and seconds > 0:
                parts["speed"] = speed(self.done / seconds)
            parts["so far"] = f"{'took' if self.done >= self.total else 'stopped after'} {duration(seconds)}"
        else:
            left = parts.pop("left", "")
            parts["so far"] = f"{duration(seconds)} so far"
            parts |= {"left": left} if left else {}
        return self._bar.line(self.done / max(1, self.total), parts, Screen.of(self._stream))

    def _say(self, *, last: bool = False) -> None:
        now = self._clock()
        if self._quiet or (not last and now - self._said_at < (REDRAW_S if self._redraws else LINE_S)):
            return
        if self._redraws:
            said = self._drawn(now, last=last)
            self._write(f"{_CLEAR}{said}" + ("\n" if last else ""))
        elif (said := str(self)) != self._said:
            self._write(f"{said}\n")
        self._said, self._said_at = "" if last and self._redraws else said, now

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # nobody reads it any more; the study goes on
            self._stream.write(text)
            self._stream.flush()


SIZES = (40, 24, 12, 6)  # characters of the bar
UNICODE, ASCII = "━╸─", "##-"  # done, begun, to do: the line is heavy or light, and needs no colour to be read
DROPPED = ("running", "speed", "so far")  # in this order, where there is no room
GAP = "  "
STYLES = {"bar": "green", "rest": "dim", "failed": "bold red"}


class Bar:
    """Draws the line; the bar may become shorter while numbers beside it grow, and stays so.

    Examples
    --------
    >>> bar = Bar()
    >>> parts = {"done": "3 of 4 done", "failed": "1 failed", "so far": "9 s so far", "left": "3 s left"}
    >>> for columns in (80, 50, 42, 25):
    ...     print(bar.line(0.75, parts, Screen(columns, color=False)))
    ━━━━━━━━━━━━━━━━━━──────  3 of 4 done, 1 failed, 9 s so far, 3 s left
    ━━━━━━━━━───  3 of 4 done, 1 failed, 3 s left
    ━━━━╸─  3 of 4 done, 1 failed, 3 s left
    3 of 4 done, 1 failed
    """

    def __init__(self) -> None:
        self._sizes: tuple[int, ...] = SIZES

    def line(self, share: float, parts: Mapping[str, str], screen: Screen) -> str:
        """A bar as long as the share that is done, then the parts; one column stays free, for a full line may wrap."""
        room = screen.columns - 1
        for kept in _fewer(parts, DROPPED):
            left = room - len(", ".join(kept.values())) - len(GAP)
            if fitting := [size for size in self._sizes if size <= left]:
                self._sizes = tuple(fitting)
                return _bar(share, fitting[0], screen) + GAP + _said(kept, screen)
        for kept in _fewer(parts, (*DROPPED, "left")):
            if len(", ".join(kept.values())) <= room:
                return _said(kept, screen)
        return parts["done"][:room]


def _fewer(parts: Mapping[str, str], dropped: Sequence[str]) -> Iterator[dict[str, str]]:
    """All parts, then without the first of those that can be dropped, without the first two, ..."""
    for count in range(len(dropped) + 1):
        yield {name: text for name, text in parts.items() if name not in dropped[:count]}


def _said(parts: Mapping[str, str], screen: Screen) -> str:
    return ", ".join(_styled(text, name, screen) for name, text in parts.items())


def _bar(share: float, width: int, screen: Screen) -> str:
    done, begun, rest = tuple(UNICODE if screen.can_show(UNICODE) else ASCII)
    halves = int(2 * width * min(1.0, share))
    drawn = done * (halves // 2) + begun * (halves % 2)
    return _styled(drawn, "bar", screen) + _styled(rest * (width - len(drawn)), "rest", screen)


def _styled(text: str, name: str, screen: Screen) -> str:
    if name not in STYLES or not screen.color or not text:
        return text
    from rich.style import Style  # slow to load, and only a terminal needs it

    return Style.parse(STYLES[name]).render(text)
