"""Splits, or what leaks in them, as sections of a page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from deadheat.charts.chart import Chart, Figure, Layout
from deadheat.charts.intervals import Reach, intervals
from deadheat.documents import Document, plain
from deadheat.pages.section import Section, Table
from deadheat.pages.split_leaks import apart, leaks, mean_and_ends
from deadheat.text import pluralize

MOST_SPLITS = 12  # whose parts are listed one by one


def sections(document: Document) -> list[Section]:
    """The sizes of parts, or what leaks between them where splits were checked."""
    told = plain(document)
    if not told["splits"]:
        return [Section("Splits", ("There are no splits.",))]
    if "leaks" in told["splits"][0]:
        return [leaks(told), apart(told)]
    return [_sizes(told)]


def _sizes(document: Document) -> Section:
    splits = document["splits"]
    parts = list(dict.fromkeys(part for each in splits for part in each["parts"]))
    said = [
        f"{pluralize(len(splits), 'split')} of {document['corpus']} ({pluralize(document['sentences'], 'sentence')}, "
        f"{pluralize(document['words'], 'word')}) by {document['strategy']}, seed {document['seed']}.",
        "Words by part: " + "; ".join(_part_text(document, part) for part in parts) + ".",
        *_left_out(document),
        _documents_text(document),
    ]
    several = len(splits) > 1 and any(len(set(_words(document, part))) > 1 for part in parts)
    figures = (Figure("split-sizes", partial(_drawn_sizes, document=document, parts=parts)),) if several else ()
    if several:
        said.append(
            "In the figure, a dot is the mean over the splits, and the line reaches from the least to the most."
        )
    rule = document["documents"]
    found = f"{rule['rule']} ({pluralize(rule['count'], 'document')})" if rule["count"] else "none"
    notes = (f"Documents: {found}.", *document["notes"])
    return Section("Sizes of the parts", tuple(said), figures, _size_tables(document, parts), notes)


def _words(document: Document, part: str) -> list[int]:
    return [each["parts"][part]["words"] for each in document["splits"] if part in each["parts"]]


def _part_text(document: Document, part: str) -> str:
    shares = [100 * words / max(1, document["words"]) for words in _words(document, part)]
    mean = f"{part} {sum(shares) / len(shares):.2f} %"
    low, high = f"{min(shares):.2f}", f"{max(shares):.2f}"
    return mean if low == high else f"{mean} ({low} to {high})"


def _left_out(document: Document) -> list[str]:
    """What share of the words is in no part, if any is."""
    used = [sum(part["words"] for part in each["parts"].values()) for each in document["splits"]]
    shares = [1 - words / max(1, document["words"]) for words in used]
    if max(shares) <= 0:
        return []
    return [f"{100 * sum(shares) / len(shares):.2f} % of the words are in no part, on average over the splits."]


def _documents_text(document: Document) -> str:
    """Whether a document is in two parts."""
    shared = [each["shared_documents"] for each in document["splits"]]
    if not any(shared):
        return "Documents are not known, so that parts may share some."
    pairs: dict[str, list[int]] = {}
    for each in shared:
        for pair, count in each.items():
            pairs.setdefault(pair, []).append(count)
    leaking = {pair: counts for pair, counts in pairs.items() if any(counts)}
    if not leaking:
        return "No document is in two parts of a split."
    told = (
        f"{pair.replace('/', ' and ')} share {f'{sum(counts) / len(counts):,.1f}'.removesuffix('.0')}"
        for pair, counts in leaking.items()
    )
    over = " on average over the splits" if len(shared) > 1 else ""
    return f"Documents are in two parts{over}: {'; '.join(told)}. What is learned of a document may help on its rest."


def _drawn_sizes(layout: Layout, *, document: Document, parts: Sequence[str]) -> Chart:
    rows = []
    for part in parts:
        shares = [100 * words / max(1, document["words"]) for words in _words(document, part)]
        rows.append(Reach(part, sum(shares) / len(shares), min(shares), max(shares), _part_text(document, part)))
    title = f"Sizes of the parts over {pluralize(len(document['splits']), 'split')}"
    return intervals(rows, layout, title=title, axis="% of the words")


def _size_tables(document: Document, parts: Sequence[str]) -> tuple[Table, ...]:
    splits = document["splits"]
    first = next(iter(splits[0]["parts"].values()))
    kinds = [kind for kind in ("sentences", "words", "documents") if kind in first]
    rows = []
    for part in parts:
        own = [each["parts"][part] for each in splits if part in each["parts"]]
        rows.append((part, *(mean_and_ends([each[kind] for each in own], "{:,.0f}") for kind in kinds)))
    over = "" if len(splits) == 1 else f" over {len(splits):,} splits: the mean, and the least and the most"
    tables = [Table(("part", *kinds), tuple(rows), caption=f"Parts{over}.")]
    if 1 < len(splits) <= MOST_SPLITS or any(each["nested"] for each in splits):
        each_set = tuple(
            (split["split"], name, *(f"{own[kind]:,}" for kind in kinds))
            for split in splits[:MOST_SPLITS]
            for name, own in (*split["parts"].items(), *split["nested"].items())
        )
        few = "" if len(splits) <= MOST_SPLITS else f", of the first {MOST_SPLITS} splits"
        tables.append(Table(("split", "set", *kinds), each_set, left=2, caption=f"Every set{few}.", folded=True))
    return tuple(tables)
