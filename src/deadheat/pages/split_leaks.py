"""What leaks between the parts of splits, and how unlike they are, as sections of a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deadheat.charts.chart import Figure
from deadheat.charts.intervals import IntervalPlot, IntervalRow
from deadheat.documents import Document
from deadheat.pages.section import Section, Table
from deadheat.pages.wording import NONE, listed
from deadheat.terminal.splits import LEGEND
from deadheat.text import pluralize

Row = Mapping[str, Any]
Leaks = Mapping[tuple[str, str], Sequence[Row]]  # the leaks of every split by (within, of)


def _by_pair(document: Document) -> Leaks:
    pairs: dict[tuple[str, str], list[Row]] = {}
    for split in document["splits"]:
        for leak in split["leaks"]:
            pairs.setdefault((leak["within"], leak["of"]), []).append(leak)
    return pairs


def leaks(document: Document) -> Section:
    """What of one part is in another."""
    pairs = _by_pair(document)
    said = [_leak_text(within, of, many) for (within, of), many in pairs.items()]
    if document["verified"]:
        said.insert(0, f"{pluralize(document['verified'], 'file')} of {document['folder']} are as the manifest says.")
    leaking = any(leak["identical"] or leak["near_duplicates"] for many in pairs.values() for leak in many)
    figures = (Figure("split-leaks", _drawn_leaks(pairs)),) if leaking else ()
    if leaking:
        said.append(_reading(document, "share of the sentences of the one part that are in the other, too"))
    return Section(
        "What leaks between the parts", tuple(said), figures, (_leak_table(document, pairs),), _notes(document)
    )


def _notes(document: Document) -> tuple[str, ...]:
    return (" ".join(LEGEND.partition("apart:")[0].split()), *document["notes"])


def _reading(document: Document, what: str) -> str:
    several = len(document["splits"]) > 1
    lines = ", on average over the splits; lines reach from the least to the most" if several else ""
    return f"The figure shows the {what}{lines}."


def _leak_text(within: str, of: str, many: Sequence[Row]) -> str:
    """What of one part is in another, in words."""
    sentences = _mean(many, lambda leak: leak["sentences"])
    same, long, near = (
        _mean(many, lambda leak, key=key: leak[key])  # type: ignore[misc]
        for key in ("identical", "identical_long", "near_duplicates")
    )
    over = f", on average over {len(many):,} splits" if len(many) > 1 else ""
    if not same and not near:
        ever = f" on any of {len(many):,} splits" if len(many) > 1 else ""
        told, over = f"No sentence of {of} is in {within}{ever}, nor is a near-duplicate of one", ""
    else:
        told = (
            f"Of the {_number(sentences)} sentences of {of}, {_number(same)} stand in {within} word for word "
            f"({100 * same / max(1, sentences):.2f} %), {_number(long)} of them with five words or more; "
            f"near-duplicates besides: {_number(near)}"
        )
    documents = [leak["shared_documents"] for leak in many if leak["shared_documents"] is not None]
    if not documents:
        shared = "whether they share documents is not known"
    elif not any(documents):
        shared = "they share no document"
    else:
        shared = f"they share {_number(sum(documents) / len(documents))} documents"
    return f"{told}{over}; {shared}."


def _mean(many: Sequence[Row], value: Callable[[Row], float]) -> float:
    return sum(map(value, many)) / len(many)


def _number(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")


def _drawn_leaks(pairs: Leaks) -> IntervalPlot:
    rows = []
    for (within, of), many in pairs.items():
        for name, key in (("identical", "identical"), ("nearly", "near_duplicates")):
            shares = [100 * leak[key] / max(1, leak["sentences"]) for leak in many]
            rows.append(_reach(f"{of} in {within}, {name}", shares, "{:.2f} %"))
    return IntervalPlot(tuple(rows), title="Sentences that are in two parts", axis="% of the sentences")


def _reach(name: str, values: Sequence[float], shape: str) -> IntervalRow:
    mean = sum(values) / len(values)
    told = f"{name}: {shape.format(mean)}"
    if min(values) < max(values):
        told += f" ({shape.format(min(values))} to {shape.format(max(values))})"
    return IntervalRow(name, mean, min(values), max(values), told)


def _leak_table(document: Document, pairs: Leaks) -> Table:
    counts = ("sentences", "identical", "identical_long", "near_duplicates", "shared_documents")
    rows = []
    for (within, of), many in pairs.items():
        cells = [mean_and_ends([leak[key] for leak in many], "{:,.0f}") for key in counts]
        cells += [
            mean_and_ends([100 * leak[key] for leak in many], "{:.2f}") for key in ("unknown_words", "shared_types")
        ]
        rows.append((of, within, *cells))
    header = ("of", "in", "sentences", "identical", "of 5+ words", "near", "documents", "unknown words %", "types %")
    several = len(document["splits"]) > 1
    over = f"{len(document['splits']):,} splits: the mean, and the least and the most." if several else ""
    return Table(header, tuple(rows), left=2, caption=over)


def apart(document: Document) -> Section:
    """How far the distributions of parts lie apart."""
    pairs = _by_pair(document)
    kinds = list(dict.fromkeys(kind for many in pairs.values() for leak in many for kind in leak["divergence"]))
    named = {f"{of} and {within}": many for (within, of), many in pairs.items()}
    rows, reaches = [], []
    for name, many in named.items():
        found = {kind: [leak["divergence"][kind] for leak in many if kind in leak["divergence"]] for kind in kinds}
        rows.append((name, *(mean_and_ends(found[kind], "{:.4f}") for kind in kinds)))
        reaches += [_reach(f"{name}: {kind}", found[kind], "{:.4f}") for kind in kinds if found[kind]]
    known = [(each.value, each.name) for each in reaches]
    said = [
        "Jensen-Shannon divergence tells how unlike two parts are in the lengths of their sentences and in their "
        "labels, from 0 bits (alike) to 1 bit (nothing in common).",
    ]
    if known:
        most, name = max(known)
        said.append(f"The largest is {most:.4f}, for {name}.")
        said.append(_reading(document, f"divergence in {listed(kinds)}"))
    figures = (Figure("split-divergence", _drawn_apart(reaches)),) if known else ()
    return Section("How unlike the parts are", tuple(said), figures, (Table(("parts", *kinds), tuple(rows)),))


def _drawn_apart(rows: Sequence[IntervalRow]) -> IntervalPlot:
    return IntervalPlot(tuple(rows), title="How unlike the parts are", axis="Jensen-Shannon divergence, bits")


def mean_and_ends(values: Sequence[float | None], shape: str) -> str:
    """The mean over splits, with the least and the most where they differ.

    Examples
    --------
    >>> mean_and_ends([10, 12, None], "{:,.0f}"), mean_and_ends([3, 3], "{:,.0f}"), mean_and_ends([None], "{:,.0f}")
    ('11.0 (10 to 12)', '3', '-')
    """
    known = [value for value in values if value is not None]
    if not known:
        return NONE
    if min(known) == max(known):
        return shape.format(known[0])
    mean = shape.replace(".0f", ".1f").format(sum(known) / len(known))
    return f"{mean} ({shape.format(min(known))} to {shape.format(max(known))})"
