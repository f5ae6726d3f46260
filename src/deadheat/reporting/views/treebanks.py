"""Treebanks: the sizes of their parts, beside the sizes that were found sufficient to rank parsers."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from deadheat.charts.curves import Curve, CurvePlot
from deadheat.reporting import model as m
from deadheat.reporting.views.size import PUBLISHED
from deadheat.results.data import TreebankSizes
from deadheat.results.format import COUNT
from deadheat.text import pluralize

EVALUATION = ("dev", "test")  # parts that systems are compared on
REFERENCE = max(PUBLISHED)


def view(result: TreebankSizes) -> Iterator[m.Block]:
    """How many treebanks have large dev and test sets, then the parts of every treebank."""
    present = [name for name in EVALUATION if result.words_of(name)]
    large = m.listing([_large(result, name) for name in present])
    verdict = (
        m.text(f"{{}} have {REFERENCE:,} words or more", large) if present else m.text("none has a dev or test set")
    )
    yield m.Verdict(m.text("Of {}, {}.", m.count(len(result.treebanks), "treebank"), verdict))
    if present:
        yield m.Heading("Sizes of dev and test sets", detail=True)
        yield m.figure("treebank-sizes", _plot(result, present))
        yield _summary(result, present)
    names = result.part_names
    rows: list[m.Row] = []
    for treebank in result.treebanks:
        sizes = [treebank.part(name) for name in names]
        counts = [[getattr(size, unit, None) for size in sizes] for unit in ("words", "sentences", "documents")]
        rows.append((treebank.name, *(count for of_unit in counts for count in of_unit)))
    headings = [f"{name} {unit}".strip() for unit in ("", "sent.", "doc.") for name in names]
    columns = (m.Column("treebank"), *m.columns(COUNT, *headings))
    caption = "Words, sentences (sent.) and documents (doc.) in the parts of every treebank."
    yield m.Table(columns, rows, "treebanks", caption)
    sizes_found = "; ".join(f"{words:,} words for {purpose}" for words, purpose in PUBLISHED.items())
    yield m.Note(f"Sizes that van der Goot et al. (2024) found sufficient to rank parsers: {sizes_found}.")


def _large(result: TreebankSizes, part: str) -> m.Text:
    words = result.words_of(part)
    return m.text(f"{{}} of {{}} {part} sets", sum(size >= REFERENCE for size in words), len(words))


def _summary(result: TreebankSizes, parts: list[str]) -> m.Table:
    """What the figure shows in numbers."""
    rows: list[m.Row] = []
    for part in parts:
        words = result.words_of(part)
        large = [sum(size >= reference for size in words) for reference in PUBLISHED]
        rows.append((part, len(words), words[0], round(median(words)), words[-1], *large))
    headings = ("treebanks", "smallest", "median", "largest", *(f"{words:,} or more" for words in PUBLISHED))
    caption = "Words in dev and test sets, and how many treebanks have as many as were found sufficient."
    return m.Table((m.Column("part"), *m.columns(COUNT, *headings)), rows, "treebank-sizes", caption)


def _plot(result: TreebankSizes, parts: list[str]) -> CurvePlot:
    """The cumulative distribution of sizes, as in Figure 1 of van der Goot et al. (2024)."""
    curves = []
    for part in parts:
        words = result.words_of(part)
        shares = tuple(100 * (at + 1) / len(words) for at in range(len(words)))
        curves.append(Curve(part, tuple(words), shares))
    title = f"Sizes of dev and test sets of {pluralize(len(result.treebanks), 'treebank')}"
    axes = "words", "treebanks with at most this many words, in percent"
    return CurvePlot(tuple(curves), title, *axes, log_x=True, marked=tuple(map(float, PUBLISHED)))
