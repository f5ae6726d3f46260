"""The line that a terminal shows while a study runs: a bar, and beside it as much as has room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.style import Style

from deadheat.screen import Screen

SIZES = (40, 24, 12, 6)  # characters of the bar
UNICODE, ASCII = "━╸─", "##-"  # done, begun, to do: the line is heavy or light, and needs no colour to be read
DROPPED = ("running", "speed", "so far")  # in this order, where there is no room
GAP = "  "
STYLES = {"bar": Style.parse("green"), "rest": Style.parse("dim"), "failed": Style.parse("bold red")}


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
    return STYLES[name].render(text) if name in STYLES and screen.color and text else text
