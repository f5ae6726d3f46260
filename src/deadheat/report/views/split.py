"""Splits: the sizes of their parts, or what leaks between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean

from deadheat.charts.chart import Figure as Drawing
from deadheat.charts.comparisons import IntervalPlot, IntervalRow
from deadheat.report.model import (
    Block,
    Cell,
    Column,
    Content,
    Figure,
    Heading,
    Note,
    Paragraph,
    Shown,
    Signature,
    Table,
    Text,
    Verdict,
    View,
    count,
    join_text,
    number,
    share,
    text,
)
from deadheat.results.data import PartSize, SplitReport
from deadheat.results.format import COUNT, PERCENT, Format, number_format, score_format
from deadheat.splits.leaks import Leak
from deadheat.text import pluralize

LISTED = 12  # splits whose parts are listed one by one
BITS = number_format(4)


def view(result: SplitReport) -> View:
    """The sizes of parts, or what leaks between them where splits were checked."""
    blocks = _leaks(result) if result.leaks else _sizes(result)
    return (*blocks, *(Note(note) for note in result.notes), Signature(result.signature))


def _sizes(result: SplitReport) -> Iterator[Block]:
    names = list(dict.fromkeys(part.name for split in result.splits for part in split.parts))
    parts = {name: [part for split in result.splits for part in split.parts if part.name == name] for name in names}
    yield Verdict(
        text(
            "{} of {} by {}, seed {}: {}",
            count(len(result.splits), "split"),
            result.corpus,
            result.strategy,
            str(result.seed),
            _sharing(result),
        )
    )
    yield Heading("Sizes of the parts", detail=True)
    said = [text("{} of the words in {}", share(fmean(_shares(result, parts[name]))), name) for name in names]
    left_out = [split.left_out.words if split.left_out else 0 for split in result.splits]
    said += [text("{} in no part", share(fmean(left_out) / max(1, result.words)))] if any(left_out) else []
    average = " on average over the splits" if len(result.splits) > 1 else ""
    yield Paragraph(join_text(said, ", ") + f"{average}.", detail=True)
    if any(len({part.words for part in parts[name]}) > 1 for name in names):
        yield Figure(Drawing("split-sizes", _size_plot(result, parts)))
    documents = any(part.documents is not None for split in result.splits for part in split.parts)
    yield (
        _part_table(result, parts, documents=documents)
        if len(result.splits) > LISTED
        else _set_table(result, documents=documents)
    )
    rule = (
        f"Documents: {result.document_rule} ({pluralize(result.documents, 'document')})."
        if result.documents
        else "No documents."
    )
    yield Note(rule, detail=False)


def _sharing(result: SplitReport) -> Text:
    """Whether a document is in two parts."""
    shared = [split.shared_documents for split in result.splits if split.shared_documents is not None]
    if not shared:
        return Text(("documents are not known, so parts may share some.",))
    pairs: dict[str, list[int]] = {}
    for counts in shared:
        for pair, documents in counts.items():
            pairs.setdefault(pair, []).append(documents)
    leaking = {pair: counts for pair, counts in pairs.items() if any(counts)}
    if not leaking:
        return Text(("no document is in two parts of a split.",))
    said = [
        text("{} share {}", pair.replace("/", " and "), number(fmean(counts), 1)) for pair, counts in leaking.items()
    ]
    average = " on average" if len(shared) > 1 else ""
    return text("documents are in two parts{}: {}.", Text((average,)) if average else Text(()), join_text(said, "; "))


def _shares(result: SplitReport, parts: Sequence[PartSize]) -> list[float]:
    return [part.words / max(1, result.words) for part in parts]


def _size_plot(result: SplitReport, parts: Mapping[str, Sequence[PartSize]]) -> IntervalPlot:
    rows = []
    for name, sizes in parts.items():
        shares = [100 * value for value in _shares(result, sizes)]
        rows.append(IntervalRow(name, fmean(shares), min(shares), max(shares)))
    title = f"Sizes of the parts over {pluralize(len(result.splits), 'split')}: mean, minimum and maximum"
    return IntervalPlot(tuple(rows), title, "% of the words")


def _set_table(result: SplitReport, *, documents: bool) -> Table:
    """Every part and set of every split."""
    rows: list[tuple[Content, ...]] = []
    for split in result.splits:
        for part in (*split.parts, *split.nested, *((split.left_out,) if split.left_out else ())):
            sizes = (part.sentences, part.words, part.words / max(1, result.words))
            rows.append((split.name, part.name, *sizes, *((part.documents,) if documents else ())))
    return Table((Column("split"), Column("part"), *_columns(documents=documents)), tuple(rows), labels=2)


def _columns(*, documents: bool) -> tuple[Column, ...]:
    columns = (Column("sentences", COUNT), Column("words", COUNT), Column("% of words", score_format(PERCENT)))
    return (*columns, Column("documents", COUNT)) if documents else columns


def _part_table(result: SplitReport, parts: Mapping[str, Sequence[PartSize]], *, documents: bool) -> Table:
    """The mean size of each part over many splits, with minimum and maximum."""
    rows: list[tuple[Content, ...]] = []
    for name, sizes in parts.items():
        numbers: list[tuple[Sequence[float | None], Format]] = [
            ([part.sentences for part in sizes], COUNT),
            ([part.words for part in sizes], COUNT),
            (_shares(result, sizes), score_format(PERCENT)),
            *([([part.documents for part in sizes], COUNT)] if documents else []),
        ]
        rows.append((name, *(mean_cell(values, form) for values, form in numbers)))
    caption = f"{pluralize(len(result.splits), 'split')}: mean (min-max)."
    return Table((Column("part"), *_columns(documents=documents)), tuple(rows), caption=caption)


def mean_cell(values: Sequence[float | None], form: Format) -> Cell:
    """The mean over splits, with minimum and maximum where they differ.

    Examples
    --------
    >>> print(mean_cell([10, 12, None], COUNT).value, mean_cell([3, 3], COUNT).value, mean_cell([None], COUNT).value)
    11.0 (10-12) 3 None
    """
    present = [value for value in values if value is not None]
    if not present or min(present) == max(present):
        return Cell(present[0] if present else None, format=form)
    mean_format = number_format(1) if form is COUNT else form
    mean, low, high = Shown(fmean(present), mean_format), Shown(min(present), form), Shown(max(present), form)
    return Cell(text("{} ({}-{})", mean, low, high))


def _leaks(result: SplitReport) -> Iterator[Block]:
    pairs: dict[tuple[str, str], list[Leak]] = {}
    for split in result.leaks:
        for leak in split.leaks:
            pairs.setdefault((leak.within, leak.of), []).append(leak)
    yield Verdict(_leak_headline(result, pairs))
    yield Heading("What leaks between the parts", detail=True)
    if result.verified:
        yield Paragraph(f"{pluralize(result.verified, 'file')} of {result.corpus} match the manifest.")
    if any(leak.identical or leak.near_duplicates for leaks in pairs.values() for leak in leaks):
        yield Figure(Drawing("split-leaks", _leak_plot(pairs)))
    kinds = list(dict.fromkeys(kind for leaks in pairs.values() for leak in leaks for kind in leak.divergence))
    yield _leak_table(result, pairs, kinds)
    yield Note(
        "Identical: sentences that are in both parts; short ones such as greetings repeat, so those of five words or more are "
        "counted separately. Near: other sentences of five words or more that share 60% of their word pairs. Unknown words: "
        "words whose form the other part lacks. Divergence: Jensen-Shannon, from 0 bits (alike) to 1 bit.",
        detail=False,
    )
    if kinds:
        yield Heading("How different the parts are", detail=True)
        yield Figure(Drawing("split-divergence", _divergence_plot(pairs, kinds)))


def _leak_headline(result: SplitReport, pairs: Mapping[tuple[str, str], Sequence[Leak]]) -> Text:
    leaking = {
        pair: leaks for pair, leaks in pairs.items() if any(leak.identical or leak.near_duplicates for leak in leaks)
    }
    if not pairs:
        return text("{}: there are no two parts to compare.", result.corpus)
    if not leaking:
        return text("{}: no sentence of one part is in another, nor a near-duplicate of one.", result.corpus)
    (within, of), worst = max(leaking.items(), key=lambda item: _rate(item[1]))
    average = " on average" if len(worst) > 1 else ""
    return text(
        "{}: {} of the sentences of {} are also in {} or are near-duplicates{}.",
        result.corpus,
        share(_rate(worst)),
        of,
        within,
        Text((average,)) if average else Text(()),
    )


def _rate(leaks: Sequence[Leak]) -> float:
    return fmean((leak.identical + leak.near_duplicates) / max(1, leak.sentences) for leak in leaks)


def _leak_table(result: SplitReport, pairs: Mapping[tuple[str, str], Sequence[Leak]], kinds: Sequence[str]) -> Table:
    counts: list[tuple[str, Callable[[Leak], float | None]]] = [
        ("sentences", lambda leak: leak.sentences),
        ("identical", lambda leak: leak.identical),
        ("of 5+ words", lambda leak: leak.identical_long),
        ("near", lambda leak: leak.near_duplicates),
        ("documents", lambda leak: leak.shared_documents),
    ]
    shares: list[tuple[str, Callable[[Leak], float | None]]] = [
        ("unknown words %", lambda leak: leak.unknown_words),
        ("shared types %", lambda leak: leak.shared_types),
    ]
    columns = [Column("of"), Column("in")]
    columns += [Column(heading, COUNT) for heading, _ in counts]
    columns += [Column(heading, score_format(PERCENT)) for heading, _ in shares]
    columns += [Column(f"{kind} divergence", BITS) for kind in kinds]
    rows: list[tuple[Content, ...]] = []
    for (within, of), leaks in pairs.items():
        cells = [mean_cell([value(leak) for leak in leaks], COUNT) for _, value in counts]
        cells += [mean_cell([value(leak) for leak in leaks], score_format(PERCENT)) for _, value in shares]
        cells += [mean_cell([leak.divergence.get(kind) for leak in leaks], BITS) for kind in kinds]
        rows.append((of, within, *cells))
    caption = f"{pluralize(len(result.leaks), 'split')}: mean (min-max)." if len(result.leaks) > 1 else ""
    return Table(tuple(columns), tuple(rows), caption=caption, labels=2, name="leaks")


def _row(name: str, values: Sequence[float]) -> IntervalRow:
    return IntervalRow(name, fmean(values), min(values), max(values))


def _leak_plot(pairs: Mapping[tuple[str, str], Sequence[Leak]]) -> IntervalPlot:
    rows = []
    for (within, of), leaks in pairs.items():
        sizes = [max(1, leak.sentences) for leak in leaks]
        identical = [100 * leak.identical / size for leak, size in zip(leaks, sizes, strict=True)]
        near = [100 * leak.near_duplicates / size for leak, size in zip(leaks, sizes, strict=True)]
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
