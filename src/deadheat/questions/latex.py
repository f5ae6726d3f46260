"""LaTeX for results: names made plain, cells with marks, and tables for the booktabs package."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

NONE = "-"
DAGGER, STAR = r"\dagger", "*"
COLUMN_CHARACTERS = 46  # of small text that fit into one column of two

# `"` is active in several languages of babel, and `<`, `>` and `|` are other characters in LaTeX's first encoding.
_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\char34{}", "`": r"\char96{}"}
)
_LIGATURES = re.compile(r"(?<=-)(?=-)|(?<=')(?=')|(?<=,)(?=,)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_MINUS = re.compile(r"(?<![\w.-])-(?=\.?\d)")


def escape(text: str) -> str:
    r"""Text with the characters that mean something to LaTeX made plain; others stay as they are, whatever the script.

    Signs that LaTeX would draw as one (`--`) are kept apart, and what would be read as an option of the line before
    (`[`, `*`) does not stand at the beginning.

    Examples
    --------
    >>> escape("a_b 5 %")
    'a\\_b 5 \\%'
    >>> print(escape("[x]--y"))
    {[}x]-{}-y
    """
    pieces = _LIGATURES.split(_CONTROL.sub(" ", text))
    plain = "{}".join(piece.translate(_SPECIAL) for piece in pieces)
    return f"{{{plain[0]}}}{plain[1:]}" if plain[:1] in ("[", "*") else plain


@dataclass(frozen=True, slots=True)
class Cell:
    r"""One place of a table. A mark is raised and takes no room, so that numbers stay under each other.

    Examples
    --------
    >>> print(Cell("-0.25", number=True, mark=STAR).latex())
    $-$0.25\rlap{$^{*}$}
    >>> print(Cell("a&b", bold=True).latex())
    \textbf{a\&b}
    """

    text: str
    bold: bool = False
    mark: str = ""
    number: bool = False

    def latex(self) -> str:
        """As it stands in a row."""
        plain = _MINUS.sub("$-$", escape(self.text)) if self.number else escape(self.text)
        shown = f"\\textbf{{{plain}}}" if self.bold else plain
        return shown + raised(self.mark) if self.mark else shown


Row: TypeAlias = tuple[str | Cell, ...]


def raised(mark: str) -> str:
    """A mark behind a number."""
    return f"\\rlap{{$^{{{mark}}}$}}"


def booktabs(header: Sequence[str], rows: Sequence[Sequence[str | Cell]], *, left: int = 1) -> str:
    """A tabular for the booktabs package: the first columns to the left, the others to the right."""
    lines = [r"\begin{tabular}{" + "l" * left + "r" * (len(header) - left) + "}", r"\toprule"]
    lines += [" & ".join(map(escape, header)) + r" \\", r"\midrule"]
    lines += [" & ".join(cell_latex(cell) for cell in row) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def cell_latex(cell: str | Cell) -> str:
    """A cell, or a text that is one."""
    return cell.latex() if isinstance(cell, Cell) else escape(cell)


@dataclass(frozen=True, slots=True)
class Tabular:
    """A table before it is LaTeX. The caption is LaTeX already, and explains every mark of the table."""

    name: str  # to call a file and refer to: lower-case letters, digits and hyphens
    header: tuple[str, ...]
    rows: tuple[tuple[str | Cell, ...], ...]
    caption: str = ""
    left: int = 1

    def __str__(self) -> str:
        return booktabs(self.header, self.rows, left=self.left)

    @property
    def characters(self) -> int:
        """How wide the table is, about."""
        lines = [self.header, *([_text(cell) for cell in row] for row in self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.header))]
        return sum(widths) + 2 * (len(widths) - 1)

    @property
    def wide(self) -> bool:
        """Whether it needs both columns of a page."""
        return self.characters > COLUMN_CHARACTERS

    @property
    def texts(self) -> list[str]:
        """What stands in the header and in the rows, as it was given."""
        return [*self.header, *(_text(cell) for row in self.rows for cell in row)]


def _text(cell: str | Cell) -> str:
    return cell.text if isinstance(cell, Cell) else cell


def joined(tables: Iterable[Tabular]) -> str:
    """Several tables one after the other, each with its caption above it as a comment where there are several."""
    found = list(tables)
    if len(found) == 1:
        return str(found[0])
    return "\n\n".join(f"% {table.caption}\n{table}" if table.caption else str(table) for table in found)


def fixed(value: float | None, *, scale: float = 1.0, decimals: int = 2, sign: str = "") -> str:
    """A number with so many decimals; a dash for what is none, and no minus before a zero.

    Examples
    --------
    >>> fixed(0.8746, scale=100), fixed(-0.00001), fixed(None), fixed(0.5, sign="+", decimals=1)
    ('87.46', '0.00', '-', '+0.5')
    """
    if value is None or not math.isfinite(value):
        return NONE
    shown = f"{scale * value:{sign}.{decimals}f}"
    return shown if float(shown) else shown.replace("-", sign)


def spanned(low: float | None, high: float | None, *, scale: float = 1.0, decimals: int = 2) -> str:
    """An interval.

    Examples
    --------
    >>> spanned(0.8, 0.9, scale=100), spanned(None, 0.9)
    ('[80.00, 90.00]', '-')
    """
    ends = [fixed(each, scale=scale, decimals=decimals) for each in (low, high)]
    return NONE if NONE in ends else f"[{', '.join(ends)}]"


def p_fixed(p: float | None) -> str:
    """A p-value with four decimals, so that they stand under each other.

    Examples
    --------
    >>> p_fixed(0.04321), p_fixed(0.00001), p_fixed(None)
    ('0.0432', '<0.0001', '-')
    """
    if p is None or math.isnan(p):
        return NONE
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"


def numbers(shown: Sequence[str], *, bold: Sequence[bool] = (), marks: Sequence[str] = ()) -> list[Cell]:
    """Cells of numbers as they are shown, some of them bold or marked."""
    bolds, signs = bold or [False] * len(shown), marks or [""] * len(shown)
    return [Cell(each, strong, sign, number=True) for each, strong, sign in zip(shown, bolds, signs, strict=True)]


def best(values: Sequence[float | None], shown: Sequence[str], *, lowest: bool = False) -> list[bool]:
    """Which of some numbers are the best, as they are shown: what reads the same is as good. None where all do.

    Examples
    --------
    >>> best([0.9311, 0.9312, 0.92], ["93.11", "93.12", "92.00"])
    [False, True, False]
    >>> best([0.93111, 0.93114, 0.92], ["93.11", "93.11", "92.00"])
    [True, True, False]
    >>> best([1.0, 1.0], ["100.00", "100.00"])
    [False, False]
    """
    known = [value for value in values if value is not None and not math.isnan(value)]
    if len(known) < 2 or len(set(shown)) == 1:
        return [False] * len(values)
    wanted = shown[list(values).index(min(known) if lowest else max(known))]
    return [each == wanted for each in shown]


def display_scale(values: Iterable[float | None]) -> float:
    """100 where all values are shares, which people read as percent; else 1."""
    return 100.0 if all(0 <= value <= 1 for value in values if value is not None and not math.isnan(value)) else 1.0


def slug(*parts: str) -> str:
    """A name for files and labels.

    Examples
    --------
    >>> slug("pairs", "en_EWT", "汉"), slug("table")
    ('pairs-en-ewt', 'table')
    """
    pieces = (re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")[:40].strip("-") for part in parts)
    return "-".join(filter(None, pieces))
