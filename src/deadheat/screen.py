"""What an output stream can show: terminal or not, width, colour, and encoding."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Self, TextIO, TypeVar

DEFAULT_COLUMNS, MIN_COLUMNS = 80, 20
UNLIMITED = 10_000  # columns of a stream that is not a terminal
LONGEST_LINE, MOST_LINES = 1000, 50  # of a message
# Control characters except the newline, marks that change the direction of text, and surrogates.
_CONTROL = "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"

# What spreadsheets take for a formula (also in full width), unless all of it is a number.
_FORMULA = "(?s)[=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20]."
_NUMBER = r"[+-]?[\d,]*\.?\d+(?:[eE][+-]?\d+)?\s*%?"
Cell = TypeVar("Cell")


@dataclass(frozen=True, slots=True)
class Screen:
    """Width, colour and encoding of an output stream."""

    columns: int
    color: bool = True
    encoding: str = "utf-8"

    @classmethod
    def of(cls, stream: TextIO) -> Self:
        """Find out about a stream, also from environment variables."""
        return cls(columns(stream), shows_color(stream), encoding(stream))

    def can_show(self, text: str) -> bool:
        """Return whether the encoding has all of these characters."""
        return encodable(text, self.encoding) == text


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that understands control sequences."""
    try:
        return stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
    except ValueError:  # the stream is closed
        return False


def is_drawn_on(stream: TextIO) -> bool:
    """Return whether tables are drawn: on terminals, and elsewhere if colour is requested."""
    return is_terminal(stream) or shows_color(stream)


def shows_color(stream: TextIO) -> bool:
    """Return whether to use colours: on terminals, unless `NO_COLOR` or `FORCE_COLOR` say otherwise."""
    if os.environ.get("NO_COLOR"):
        return False
    return os.environ.get("FORCE_COLOR", "0").lower() not in ("", "0", "false") or is_terminal(stream)


def columns(stream: TextIO) -> int:
    """Return the characters per line, from `COLUMNS` or else from the terminal."""
    setting = os.environ.get("COLUMNS", "")
    if setting.isascii() and setting.isdigit() and int(setting) > 0:
        return max(MIN_COLUMNS, int(setting))
    if not is_terminal(stream):
        return UNLIMITED
    try:
        return max(MIN_COLUMNS, os.get_terminal_size(stream.fileno()).columns or DEFAULT_COLUMNS)
    except (OSError, ValueError):  # not a file
        return DEFAULT_COLUMNS


def encoding(stream: TextIO) -> str:
    """Return the encoding of a stream; UTF-8 if it has none."""
    return getattr(stream, "encoding", None) or "utf-8"


def encodable(text: str, encoding: str) -> str:
    """Replace characters that an encoding lacks by escapes."""
    if text.isascii():
        return text
    try:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    except LookupError:  # an unknown encoding
        return text


def visible(text: str) -> str:
    """Replace by escapes what would move the cursor, change colours or hide text; names in files may be malicious."""
    if text.replace("\n", "").isprintable():  # nearly always, and compiling the expression takes time at start-up
        return text
    return re.sub(_CONTROL, lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def message(text: str) -> str:
    """A message for standard error: names in it may be malicious, and longer than anybody reads."""
    lines = text.split("\n")
    shown = [line if len(line) <= LONGEST_LINE else _shortened(line) for line in lines[:MOST_LINES]]
    more = [f"... and {len(lines) - MOST_LINES:,} more lines"] if len(lines) > MOST_LINES else []
    return visible("\n".join([*shown, *more]))


def _shortened(line: str) -> str:
    half = LONGEST_LINE // 2
    return f"{line[:half]} [... {len(line) - 2 * half:,} more characters ...] {line[-half:]}"


def spreadsheet_cell(cell: Cell) -> Cell | str:
    r"""Return a cell as it is safe to open in a spreadsheet: text is visible, and no formula; numbers stay as they are.

    Examples
    --------
    >>> [spreadsheet_cell(cell) for cell in ("=1+1", "-0.5", "a-b", "\tx", -2)]
    ["'=1+1", '-0.5', 'a-b', "'\\tx", -2]
    """
    if not isinstance(cell, str):
        return cell
    is_formula = re.match(_FORMULA, cell) and not re.fullmatch(_NUMBER, cell)
    return "'" * bool(is_formula) + visible(cell)
