"""Splits: the sizes of their parts, or what leaks between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from deadheat.charts.comparisons import IntervalPlot, IntervalRow
from deadheat.reporting import model as m
from deadheat.results.data import PartSize, SplitReport
from deadheat.results.format import COUNT, NAME, PERCENT, Format, number_format
from deadheat.splits.leaks import Leak
from deadheat.text import pluralize

LISTED = 12  # splits whose parts are listed one by one
BITS = number_format(4)


def view(result: SplitReport) -> Iterator[m.Block]:
    """The sizes of parts, or what leaks between them where splits were checked."""
    return _leaks(result) if result.leaks else _sizes(result)


def _sizes(result: SplitReport) -> Iterator[m.Block]:
    names = list(dict.fromkeys(part.name for split in result.splits for part in split.parts))
    parts = {name: [part for split in result.splits for part in split.parts if part.name == name] for name in names}
    splits = m.count(len(result.splits), "split")
    headline = f"{{}} of {{}} by {{}}, seed {result.seed}: {{}}"
    yield m.Verdict(m.text(headline, splits, result.corpus, result.strategy, _sharing(result)))
    yield m.Heading("Sizes of the parts", detail=True)
    shares = [m.text("{} of the words in {}", m.share(fmean(_shares(result, parts[name]))), name) for name in names]
    left_out = [split.left_out.words if split.left_out else 0 for split in result.splits]
    shares += [m.text("{} in no part", m.share(fmean(left_out) / max(1, result.words)))] if any(left_out) else []
    average = " on average over the splits" if len(result.splits) > 1 else ""
    yield m.explanation(f"{{}}{average}.", m.join_text(shares, ", "))
    if any(len({part.words for part in parts[name]}) > 1 for name in names):
        yield m.figure("split-sizes", _size_plot(result, parts))
    documents = any(part.documents is not None for split in result.splits for part in split.parts)
    columns = [*m.columns(COUNT, "sentences", "words"), m.Column("% of words", PERCENT.score)]
    columns.append(m.Column("documents" if documents else "", COUNT))
    table = _part_table(result, parts, columns) if len(result.splits) > LISTED else _set_table(result, columns)
    yield table.without_unnamed()
    total = pluralize(result.documents, "document")
    rule = f"Documents: {result.document_rule} ({total})." if result.documents else "No documents."
    yield m.Note(rule, detail=False)


def _sharing(result: SplitReport) -> m.Text:
    """Whether a document is in two parts."""
    shared = [split.shared_documents for split in result.splits if split.shared_documents is not None]
    if not shared:
        return m.text("documents are not known, so parts may share some.")
    pairs: dict[str, list[int]] = {}
    for counts in shared:
        for pair, documents in counts.items():
            pairs.setdefault(pair, []).append(documents)
    shares = [
        m.text("{} share {}", pair.replace("/", " and "), m.number(fmean(counts), 1))
        for pair, counts in pairs.items()
        if any(counts)
    ]
    if not shares:
        return m.text("no document is in two parts of a split.")
    average = " on average" if len(shared) > 1 else ""
    return m.text(f"documents are in two parts{average}: {{}}.", m.join_text(shares, "; "))


def _shares(result: SplitReport, parts: Sequence[PartSize]) -> list[float]:
    return [part.words / max(1, result.words) for part in parts]


def _size_plot(result: SplitReport, parts: Mapping[str, Sequence[PartSize]]) -> IntervalPlot:
    rows = tuple(_row(name, [100 * value for value in _shares(result, sizes)]) for name, sizes in parts.items())
    title = f"Sizes of the parts over {pluralize(len(result.splits), 'split')}: mean, minimum and maximum"
    return IntervalPlot(rows, title, "% of the words")


def _sizes_of(result: SplitReport, part: PartSize) -> tuple[float | None, ...]:
    return part.sentences, part.words, part.words / max(1, result.words), part.documents


def _set_table(result: SplitReport, columns: Sequence[m.Column]) -> m.Table:
    """Every part and set of every split."""
    rows = [
        (split.name, part.name, *_sizes_of(result, part))
        for split in result.splits
        for part in (*split.parts, *split.nested, *((split.left_out,) if split.left_out else ()))
    ]
    return m.Table((*m.columns(NAME, "split", "part"), *columns), rows, labels=2)


def _part_table(result: SplitReport, parts: Mapping[str, Sequence[PartSize]], columns: Sequence[m.Column]) -> m.Table:
    """The mean size of each part over many splits, with minimum and maximum."""
    rows: list[m.Row] = []
    for name, sizes in parts.items():
        rows.append((name, *_mean_cells([_sizes_of(result, part) for part in sizes], columns)))
    caption = f"{pluralize(len(result.splits), 'split')}: mean (min-max)."
    return m.Table((m.Column("part"), *columns), rows, caption=caption)


def _mean_cells(rows: Sequence[Sequence[float | None]], columns: Sequence[m.Column]) -> list[m.Cell]:
    """The means of several rows, column by column."""
    return [mean_cell(values, column.format) for values, column in zip(zip(*rows, strict=True), columns, strict=True)]


def mean_cell(values: Sequence[float | None], form: Format) -> m.Cell:
    """The mean over splits, with minimum and maximum where they differ.

    Examples
    --------
    >>> print(mean_cell([10, 12, None], COUNT).value, mean_cell([3, 3], COUNT).value, mean_cell([None], COUNT).value)
    11.0 (10-12) 3 None
    """
    present = [value for value in values if value is not None]
    if not present or min(present) == max(present):
        return m.Cell(present[0] if present else None, format=form)
    mean_format = number_format(1) if form is COUNT else form
    mean, low, high = m.Shown(fmean(present), mean_format), m.Shown(min(present), form), m.Shown(max(present), form)
    return m.Cell(m.text("{} ({}-{})", mean, low, high))


def _leaks(result: SplitReport) -> Iterator[m.Block]:
    pairs: dict[tuple[str, str], list[Leak]] = {}
    for split in result.leaks:
        for leak in split.leaks:
            pairs.setdefault((leak.within, leak.of), []).append(leak)
    yield m.Verdict(_leak_headline(result, pairs))
    yield m.Heading("What leaks between the parts", detail=True)
    if result.verified:
        yield m.Paragraph(f"{pluralize(result.verified, 'file')} of {result.corpus} match the manifest.")
    if any(map(_rate, pairs.values())):
        yield m.figure("split-leaks", _leak_plot(pairs))
    kinds = list(dict.fromkeys(kind for leaks in pairs.values() for leak in leaks for kind in leak.divergence))
    yield _leak_table(result, pairs, kinds)
    yield m.Note(
        "Identical: sentences that are in both parts; short ones such as greetings repeat, so those of five words or "
        "more are counted separately. Near: other sentences of five words or more that share 60% of their word pairs. "
        "Unknown words: words whose form the other part lacks. Divergence: Jensen-Shannon, from 0 bits (alike) to "
        "1 bit.",
        detail=False,
    )
    if kinds:
        yield m.Heading("How different the parts are", detail=True)
        yield m.figure("split-divergence", _divergence_plot(pairs, kinds))


def _leak_headline(result: SplitReport, pairs: Mapping[tuple[str, str], Sequence[Leak]]) -> m.Text:
    if not pairs:
        return m.text("{}: there are no two parts to compare.", result.corpus)
    (within, of), worst = max(pairs.items(), key=lambda item: _rate(item[1]))
    if not _rate(worst):
        return m.text("{}: no sentence of one part is in another, nor a near-duplicate of one.", result.corpus)
    average = " on average" if len(worst) > 1 else ""
    words = f"{{}}: {{}} of the sentences of {{}} are also in {{}} or are near-duplicates{average}."
    return m.text(words, result.corpus, m.share(_rate(worst)), of, within)


def _rate(leaks: Sequence[Leak]) -> float:
    return fmean((leak.identical + leak.near_duplicates) / max(1, leak.sentences) for leak in leaks)


def _leak_table(result: SplitReport, pairs: Mapping[tuple[str, str], Sequence[Leak]], kinds: Sequence[str]) -> m.Table:
    columns = m.columns(COUNT, "sentences", "identical", "of 5+ words", "near", "documents")
    columns += m.columns(PERCENT.score, "unknown words %", "shared types %")
    columns += m.columns(BITS, *(f"{kind} divergence" for kind in kinds))
    rows: list[m.Row] = []
    for (within, of), leaks in pairs.items():
        numbers: list[tuple[float | None, ...]] = []
        for leak in leaks:
            counts = leak.sentences, leak.identical, leak.identical_long, leak.near_duplicates, leak.shared_documents
            numbers.append((*counts, leak.unknown_words, leak.shared_types, *map(leak.divergence.get, kinds)))
        rows.append((of, within, *_mean_cells(numbers, columns)))
    caption = f"{pluralize(len(result.leaks), 'split')}: mean (min-max)." if len(result.leaks) > 1 else ""
    return m.Table((*m.columns(NAME, "of", "in"), *columns), rows, caption=caption, labels=2, name="leaks")


def _row(name: str, values: Sequence[float]) -> IntervalRow:
    return IntervalRow(name, fmean(values), min(values), max(values))


def _leak_plot(pairs: Mapping[tuple[str, str], Sequence[Leak]]) -> IntervalPlot:
    rows = []
    for (within, of), leaks in pairs.items():
        identical = [100 * leak.identical / max(1, leak.sentences) for leak in leaks]
        near = [100 * leak.near_duplicates / max(1, leak.sentences) for leak in leaks]
        rows += [_row(f"{of} in {within}, identical", identical), _row(f"{of} in {within}, near", near)]
    return IntervalPlot(tuple(rows), "Sentences that are in two parts", "% of the sentences")


def _divergence_plot(pairs: Mapping[tuple[str, str], Sequence[Leak]], kinds: Sequence[str]) -> IntervalPlot:
    rows = [
        _row(f"{of} and {within}: {kind}", values)
        for (within, of), leaks in pairs.items()
        for kind in kinds
        if (values := [leak.divergence[kind] for leak in leaks if kind in leak.divergence])
    ]
    return IntervalPlot(tuple(rows), "Divergence between parts", "Jensen-Shannon divergence, bits")
