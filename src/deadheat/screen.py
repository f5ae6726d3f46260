"""What a stream can show: whether it is a terminal, how wide it is, in colour or not, and in which characters."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Self, TextIO

USUAL, LEAST = 80, 20  # columns of a terminal that does not say, and of the narrowest that is reckoned with
WIDE = 10_000  # columns of what is no terminal
# Control characters but for the end of a line, marks that turn the order of letters round, and bytes that were no text.
_UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Screen:
    """How much fits on a line, and how it may look."""

    columns: int
    color: bool = True
    encoding: str = "utf-8"

    @classmethod
    def of(cls, stream: TextIO) -> Self:
        """What a stream says of itself, and the environment of it."""
        return cls(columns(stream), shows_color(stream), encoding(stream))

    def can_show(self, text: str) -> bool:
        """Whether the encoding has all of these characters."""
        return encodable(text, self.encoding) == text


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at it, on a terminal that can do more than print lines."""
    try:
        return stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
    except ValueError:  # it is closed
        return False


def is_drawn_on(stream: TextIO) -> bool:
    """Whether tables are drawn: on a terminal, and elsewhere where colour is asked for."""
    return is_terminal(stream) or shows_color(stream)


def shows_color(stream: TextIO) -> bool:
    """Whether bold and colours are wanted: `NO_COLOR` says never, `FORCE_COLOR` says even where no terminal is."""
    if os.environ.get("NO_COLOR"):
        return False
    return os.environ.get("FORCE_COLOR", "0").lower() not in ("", "0", "false") or is_terminal(stream)


def columns(stream: TextIO) -> int:
    """Characters that fit on a line: as `COLUMNS` says, else as the terminal does."""
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdigit() and int(given) > 0:
        return max(LEAST, int(given))
    if not is_terminal(stream):
        return WIDE
    try:
        return max(LEAST, os.get_terminal_size(stream.fileno()).columns or USUAL)
    except (OSError, ValueError):  # no file behind it
        return USUAL


def encoding(stream: TextIO) -> str:
    """The encoding of a stream; of one that has none, UTF-8."""
    return getattr(stream, "encoding", None) or "utf-8"


def encodable(text: str, encoding: str) -> str:
    r"""The text with escapes in place of characters that an encoding lacks.

    Examples
    --------
    >>> print(encodable("naïve", "ascii"), encodable("naïve", "latin-1"))
    na\xefve naïve
    """
    if text.isascii():
        return text
    try:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    except LookupError:  # an encoding that Python does not know
        return text


def visible(text: str) -> str:
    r"""The text with escapes in place of what would move the cursor, change colours or hide something.

    Names come from files, and files from anywhere. The end of a line stays one.

    Examples
    --------
    >>> print(visible("a\x1b[31m\tb"))
    a\x1b[31m\tb
    """
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
