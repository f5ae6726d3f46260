"""Words and tables as HTML, whatever is in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

# Letters of scripts that run from right to left, and what may stand between two words of them.
_LEFTWARD = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
_LEFTWARD_WORDS = re.compile(rf"({_LEFTWARD}+(?:[\s'\"_-]+{_LEFTWARD}+)*)")
# Controls, marks that turn the direction of all that follows, and halves of characters: none of them can be shown.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\ud800-\udfff]")
_NUMBER = re.compile(r"[\[(]?\s*[<>]?\s*[+\u2212-]?\.?\d")
MISSING = {"", "-"}


def showable(text: str) -> str:
    r"""A text with the replacement character for whatever no page can show.

    Examples
    --------
    >>> showable("a\x00b")
    'a�b'
    """
    return _UNSHOWABLE.sub("\ufffd", text)


def words(text: str) -> str:
    """A sentence; words that run from right to left keep to themselves, so that the numbers beside them stay in place.

    Examples
    --------
    >>> words("a < b & c"), words("אבג: 83.2")
    ('a &lt; b &amp; c', '<bdi>אבג</bdi>: 83.2')
    """
    parts = _LEFTWARD_WORDS.split(text)
    return "".join(f"<bdi>{escape(part)}</bdi>" if i % 2 else escape(part) for i, part in enumerate(parts))


def slug(text: str, taken: set[str]) -> str:
    """A name for a place on the page, which it then takes.

    Examples
    --------
    >>> taken = set()
    >>> slug("LAS by genre", taken), slug("LAS, by genre!", taken), slug("汉字", taken)
    ('las-by-genre', 'las-by-genre-2', 'section')
    """
    base = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-") or "section"
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}-{count}"
    taken.add(name)
    return name


def reads_as_words(column: Sequence[str]) -> bool:
    """Whether no cell of a column begins as a number does, though some cell is not empty.

    Examples
    --------
    >>> reads_as_words(["a dead heat", "-"]), reads_as_words(["[1.2, 3.4]", "-"]), reads_as_words(["-"])
    (True, False, False)
    """
    known = [cell for cell in column if cell not in MISSING]
    return bool(known) and not any(_NUMBER.match(cell) for cell in known)


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1, caption: str = "", label: str = ""
) -> str:
    """A table in a box that scrolls sideways; words stand to the left, numbers to the right.

    `label` is its name for those who hear the page, where there is no caption.
    """
    columns = zip(*rows, strict=True) if rows else ((),) * len(header)
    worded = [i < left or reads_as_words(column) for i, column in enumerate(columns)]
    kinds = ['class="t" ' if i and is_words else "" for i, is_words in enumerate(worded)]
    head = "".join(
        f'<th {kind}scope="col">{words(cell)}</th>' if cell else f"<td {kind}></td>".replace(" >", ">")
        for cell, kind in zip(header, kinds, strict=True)
    )
    opened = [f"<td {kind}>".replace(" >", ">") for kind in kinds]
    body = "\n".join(_row(row, opened) for row in rows)
    named = f' aria-label="{escape(label)}"' if label and not caption else ""
    above = f"<caption><span>{words(caption)}</span></caption>" if caption else ""
    return (
        f'<div class="scroll"><table{named}>{above}<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'
    )


def _row(row: Sequence[str], opened: Sequence[str]) -> str:
    first, *others = row
    cells = "".join(f"{kind}{_cell(cell)}</td>" for kind, cell in zip(opened[1:], others, strict=True))
    return f'<tr><th scope="row">{_cell(first)}</th>{cells}</tr>'


def _cell(cell: str) -> str:
    """What stands in a cell; a name in a script that runs from right to left is one piece."""
    return f"<bdi>{escape(cell)}</bdi>" if _LEFTWARD_WORDS.search(cell) else escape(cell)
