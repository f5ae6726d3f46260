"""Progress of a study: a bar that is redrawn on a terminal, plain lines now and then elsewhere.

It is drawn only when a cell finishes. There is no thread, which a fork could interrupt, and the cursor is never hidden,
so nothing has to be restored when the study is killed.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from statistics import fmean
from typing import Any, Self, TextIO

from deadheat.screen import Screen, is_terminal

WINDOW = 50  # last cells that the remaining time is estimated from
TRIMMED = 0.1  # share of the quickest and of the slowest of them that is ignored
REDRAW_S, LINE_S = 0.1, 10.0
BAR_SIZES = (40, 24, 12, 6)  # characters
UNICODE, ASCII = "━╸─", "##-"  # done, half done, to do: readable without colour
OPTIONAL_PARTS = ("running", "speed", "so far")  # dropped in this order if the line is too long
GAP = "  "
STYLES = {"bar": "green", "rest": "dim", "failed": "bold red"}
_CLEAR = "\r\x1b[K"


def trimmed_mean(values: Sequence[float]) -> float:
    """The mean without a tenth of the values at each end, so that one odd cell does not count."""
    cut = int(TRIMMED * len(values))
    return fmean(sorted(values)[cut : len(values) - cut])


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
    """Counts finished cells, of `total` with `workers` at once, and shows the progress on stderr or another stream."""

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
        self._seconds: deque[float] = deque(maxlen=WINDOW)
        self._line = ""
        self._written_at = -math.inf
        self._began = clock()
        self._closed = False
        self._bar = ProgressBar()

    def finished(self, wall_s: float, *, running: int, failed: bool = False) -> None:
        """Count one more finished cell: its time, and how many cells run now."""
        self.done += 1
        self.failed += failed
        self.running = running
        self._seconds.append(wall_s)
        self._update()

    @property
    def seconds_left(self) -> float | None:
        """The estimated remaining time, from the last cells; None before the first."""
        left = self.total - self.done
        if not self._seconds or left <= 0:
            return None if left > 0 else 0.0
        # The last cells do not occupy all workers: a cell takes its time however many could run beside it.
        return trimmed_mean(self._seconds) * max(1.0, left / self._workers)

    def __str__(self) -> str:
        return ", ".join(self._parts().values())

    def close(self) -> None:
        """Show the final state."""
        if (self.done or self._line) and not self._closed:
            self._closed = True
            self._update(last=True)

    def __enter__(self) -> Self:
        if self._redraws and self.total:
            self._update()
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def _parts(self, seconds: float | None = None) -> dict[str, str]:
        parts = {"done": f"{self.done:,} of {self.total:,} done"}
        if self.failed:
            parts["failed"] = f"{self.failed:,} failed"
        if self.running:
            parts["running"] = f"{self.running:,} running"
        if self._seconds and (mean := trimmed_mean(self._seconds)) > 0:
            parts["speed"] = speed(self._workers / mean)
        if seconds is not None:
            parts["so far"] = f"{duration(seconds)} so far"
        if left := self.seconds_left:
            parts["left"] = f"{duration(left)} left"
        return parts

    def _draw(self, now: float, *, last: bool) -> str:
        """The bar, and the text beside it."""
        seconds = now - self._began
        parts = self._parts(seconds)
        if last:
            parts = {name: parts[name] for name in ("done", "failed") if name in parts}
            if self.done and seconds > 0:
                parts["speed"] = speed(self.done / seconds)
            parts["so far"] = f"{'took' if self.done >= self.total else 'stopped after'} {duration(seconds)}"
        return self._bar.line(self.done / max(1, self.total), parts, Screen.of(self._stream))

    def _update(self, *, last: bool = False) -> None:
        now = self._clock()
        if self._quiet or (not last and now - self._written_at < (REDRAW_S if self._redraws else LINE_S)):
            return
        if self._redraws:
            line = self._draw(now, last=last)
            self._write(f"{_CLEAR}{line}" + ("\n" if last else ""))
        elif (line := str(self)) != self._line:
            self._write(f"{line}\n")
        self._line, self._written_at = "" if last and self._redraws else line, now

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # nobody reads it any more; the study goes on
            self._stream.write(text)
            self._stream.flush()


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
