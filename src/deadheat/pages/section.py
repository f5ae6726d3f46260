"""What a page is made of, before it is HTML: sections with sentences, figures and tables."""

from __future__ import annotations

from dataclasses import dataclass

from deadheat.charts.chart import Figure

# What a command prints with --json, and what `to_dict()` of its result gives; `kind` is the name of the command.


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as they are shown; the first `left` columns stand to the left, and so do others that hold words alone."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1
    caption: str = ""
    folded: bool = False  # shown only when asked for

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.header) for row in self.rows), f"{self.caption or self.header}: uneven rows"


@dataclass(frozen=True, slots=True)
class Section:
    """One piece of evidence: what it says in words, then figures, then tables."""

    heading: str
    said: tuple[str, ...] = ()  # paragraphs
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()  # small print: what the numbers rest on
    about: str = ""  # the corpus, block or the like that it is about, where there are several
    chapter: str = ""  # what it stands under on a page of many
    folded: bool = False  # shown only when asked for


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page: the verdict first, then the evidence, then what all of it was made from."""

    title: str
    verdicts: tuple[str, ...]
    sections: tuple[Section, ...]
    foot: tuple[str, ...] = ()  # lines to quote: versions, settings, signatures
