"""The presentation model: blocks, which views make of results and renderers show.

A view says *what* is shown, with raw values and their kinds; a renderer (terminal, HTML, LaTeX, Markdown, notebook)
decides how it looks, and knows nothing of results. Blocks with `detail=True` are for pages, which have room; all others
are shown everywhere. Views import this module as `m`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from deadheat.results.format import COUNT, NAME, P_VALUE, SHARE, Bounds, Format, Scale, Value, number_format, show
from deadheat.text import pluralize

if TYPE_CHECKING:
    from deadheat.charts.chart import Figure as Drawing
    from deadheat.charts.chart import Plot


@dataclass(frozen=True, slots=True)
class Shown:
    """A value within a sentence."""

    value: Value
    format: Format
    prefix: str = ""
    suffix: str = ""

    def __str__(self) -> str:
        return f"{self.prefix}{show(self.value, self.format)}{self.suffix}"


@dataclass(frozen=True, slots=True)
class Citation(Shown):
    """Publications, by authors and years in a text and by their keys in LaTeX."""

    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Text:
    """Sentences with typed values in them: the pieces in turn are words of ours and values.

    Examples
    --------
    >>> from deadheat.results.format import PERCENT
    >>> print(text("{} is better than {} by {} points.", "A", "B", points(0.0123, PERCENT)))
    A is better than B by +1.23 points.
    """

    pieces: tuple[str | Shown, ...]

    def __str__(self) -> str:
        return "".join(map(str, self.pieces))

    def __add__(self, other: Words) -> Text:
        return Text((*self.pieces, *(other.pieces if isinstance(other, Text) else (other,))))

    def __bool__(self) -> bool:
        return bool(self.pieces)


Words: TypeAlias = str | Text
TextValue: TypeAlias = Shown | Text | str | int | None


def text(template: str, *values: TextValue) -> Text:
    """Sentences from a template with `{}` for each value.

    A string among the values is a name, a whole number a count, and None nothing at all.
    """
    words = template.split("{}")
    assert len(words) == len(values) + 1, f"{template!r}: {len(values)} values for {len(words) - 1} fields"
    pieces: list[str | Shown] = [words[0]]
    for value, following in zip(values, words[1:], strict=True):
        if isinstance(value, Text):
            pieces += value.pieces
        elif isinstance(value, Shown):
            pieces.append(value)
        elif value is not None:
            pieces.append(Shown(value, NAME if isinstance(value, str) else COUNT))
        pieces.append(following)
    return Text(tuple(piece for piece in pieces if piece != ""))


def join_text(parts: Iterable[Words], separator: str = " ") -> Text:
    """Several texts one after the other."""
    joined = Text(())
    for at, part in enumerate(parts):
        joined = joined + (separator if at else "") + part
    return joined


def names(values: Sequence[str], *, limit: int = 8) -> Text:
    """Names as a list; see `listing`."""
    return listing([text("{}", value) for value in values], limit=limit)


def listing(items: Sequence[Text], conjunction: str = "and", *, limit: int = 8) -> Text:
    """Items as a list: `A, B and C`, or `A, B and 7 more`."""
    shown = list(items[:limit])
    if len(items) > limit:
        shown.append(text("{} more", len(items) - limit))
    return join_text(filter(None, [join_text(shown[:-1], ", "), *shown[-1:]]), f" {conjunction} ")


def count(number: int, noun: str) -> Shown:
    """`1 system`, `1,234 systems`."""
    return Shown(number, COUNT, suffix=pluralize(number, noun).removeprefix(f"{number:,}"))


def score(value: float, scale: Scale) -> Shown:
    """A score on its scale."""
    return Shown(value, scale.score)


def points(value: float, scale: Scale) -> Shown:
    """A difference of scores, with its sign."""
    return Shown(value, scale.difference)


def size_of(difference: float, scale: Scale) -> Shown:
    """A difference of scores without its sign, where the sentence says who is ahead."""
    return Shown(abs(difference), scale.score)


def interval(bounds: Bounds, scale: Scale, *, signed: bool = False) -> Shown:
    """An interval of a score or of a difference."""
    return Shown(bounds, scale.difference_interval if signed else scale.interval)


def p_value(value: float) -> Shown:
    """`p = 0.0288`."""
    return Shown(value, P_VALUE, prefix="p " if show(value, P_VALUE).startswith("<") else "p = ")


def share(value: float) -> Shown:
    """A share in percent."""
    return Shown(value, SHARE)


def number(value: float, decimals: int = 3) -> Shown:
    """Any other statistic."""
    return Shown(value, number_format(decimals))


@dataclass(frozen=True, slots=True)
class Heading:
    """Opens a section (level 2) or a chapter (level 1)."""

    text: Words
    level: int = 2
    folded: bool = False  # on a page the section is shown only when asked for
    detail: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences."""

    text: Words
    detail: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """The heading of a column, and what kind of values it holds."""

    heading: str
    format: Format = NAME


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a table that is marked or stands out, or is of another kind than its column."""

    value: Value | Text
    strong: bool = False  # in bold: the best
    mark: str = ""  # a symbol that the table explains
    tone: str = ""  # "good", "bad" or "muted": repeats in colour what the words say
    format: Format | None = None


Content: TypeAlias = Value | Text | Cell
Row: TypeAlias = Sequence[Content]


@dataclass(frozen=True, slots=True)
class Mark:
    """A symbol behind a value, and what it means."""

    symbol: str
    meaning: Words


DAGGER, DOUBLE_DAGGER, STAR, CIRCLE, EQUALS = "†", "‡", "*", "°", "="


@dataclass(frozen=True, slots=True)
class Table:
    """Columns with kinds and rows of raw values."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    name: str = ""  # of the LaTeX file; tables without one are not for papers
    caption: Words = ""
    marks: tuple[Mark, ...] = ()  # only those that some cell has are explained
    labels: int = 1  # how many columns at the left say what a row is
    folded: bool = False
    detail: bool = False

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.columns) for row in self.rows), f"{self.name or self.caption}: uneven rows"

    @property
    def textual(self) -> list[bool]:
        """Which columns hold words, and stand at the left side."""
        return [at < self.labels or column.format.is_text for at, column in enumerate(self.columns)]

    def without_unnamed(self) -> Table:
        """The table without columns that have no heading, such as one for levels where there are none."""
        kept = [i for i, column in enumerate(self.columns) if column.heading]
        rows = tuple(tuple(row[i] for i in kept) for row in self.rows)
        columns = tuple(self.columns[i] for i in kept)
        return replace(self, columns=columns, rows=rows, labels=sum(i < self.labels for i in kept))

    def cells(self) -> Iterator[list[Cell]]:
        """Rows with every content as a cell of a known format."""
        for row in self.rows:
            yield [
                replace(cell, format=cell.format or column.format)
                for cell, column in zip(map(as_cell, row), self.columns, strict=True)
            ]

    def used_marks(self) -> list[Mark]:
        """The marks that some cell has."""
        used = {as_cell(content).mark for row in self.rows for content in row}
        return [mark for mark in self.marks if mark.symbol in used]

    def explained(self) -> Text:
        """The caption, and what the marks mean."""
        marks = [text("{}: ", mark.symbol) + mark.meaning + "." for mark in self.used_marks()]
        return join_text([*([self.caption] if self.caption else []), *marks])


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing; where nothing can be drawn, `alternative` is shown in its place."""

    drawing: Drawing
    alternative: Table | None = None
    detail: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a result comes to: one sentence, and a table of claims by evidence where systems were compared."""

    headline: Words
    claims: Table | None = None
    remarks: tuple[Words, ...] = ()
    omitted: int = 0  # pairs that the table of claims leaves to other tables
    detail: bool = False

    def below_claims(self) -> tuple[Words, ...]:
        """What stands below the table of claims: how many pairs it leaves out, and the remarks."""
        more = (f"The tables have {pluralize(self.omitted, 'more pair')}.",) if self.omitted else ()
        return (*more, *self.remarks)


@dataclass(frozen=True, slots=True)
class Note:
    """Small print: how numbers were made, and what a reader should keep in mind."""

    text: Words
    detail: bool = True


@dataclass(frozen=True, slots=True)
class Signature:
    """The line to quote with the numbers."""

    text: str
    detail: bool = False


Block: TypeAlias = Heading | Paragraph | Table | Figure | Verdict | Note | Signature
View: TypeAlias = tuple[Block, ...]


def columns(form: Format, *headings: str) -> list[Column]:
    """Columns of the same kind."""
    return [Column(heading, form) for heading in headings]


def figure(name: str, plot: Plot, *, alternative: Table | None = None, detail: bool = True) -> Figure:
    """A figure under the name of its file."""
    from deadheat.charts.chart import Figure as Drawing  # what draws is loaded for pages only

    return Figure(Drawing(name, plot), alternative, detail)


def paragraph(template: str, *values: TextValue) -> Paragraph:
    """Sentences with values in them, for every reader."""
    return Paragraph(text(template, *values))


def explanation(template: str, *values: TextValue) -> Paragraph:
    """Sentences that only a page has room for."""
    return Paragraph(text(template, *values), detail=True)


def note(words: str) -> Note:
    """A note of a result as a sentence; what may be a name at its start stays as it is.

    Examples
    --------
    >>> note("only 3 splits").text, note("en.conllu: no documents").text
    ('Only 3 splits.', 'en.conllu: no documents.')
    """
    first = words.split(" ", 1)[0]
    start = words[:1].upper() if first.isalpha() else words[:1]
    return Note(f"{start}{words[1:]}{'' if words.endswith('.') else '.'}")


def as_cell(content: Content) -> Cell:
    """A content of a table as a cell."""
    return content if isinstance(content, Cell) else Cell(content)


def cell_text(cell: Cell) -> str:
    """What a cell of a known format says, without its mark."""
    if isinstance(cell.value, Text):
        return str(cell.value)
    return show(cell.value, cell.format or NAME)


def best_cells(values: Sequence[float], form: Format, *, lowest: bool = False, marks: Sequence[str] = ()) -> list[Cell]:
    """Cells of which the best are in bold: those that read the same are equally good; none where all do.

    Examples
    --------
    >>> from deadheat.results.format import PERCENT
    >>> [cell.strong for cell in best_cells([0.93111, 0.93114, 0.92], PERCENT.score)]
    [True, True, False]
    """
    shown = [show(value, form) for value in values]
    finite = [value for value in values if value == value]
    best = ""
    if len(finite) > 1 and len(set(shown)) > 1:
        best = show(min(finite) if lowest else max(finite), form)
    symbols = marks or [""] * len(values)
    return [
        Cell(value, strong=text == best, mark=mark) for value, text, mark in zip(values, shown, symbols, strict=True)
    ]


def brief(blocks: Iterable[Block]) -> list[Block]:
    """The blocks that are shown everywhere."""
    return [block for block in blocks if not block.detail]
