"""Counts broken down: by document, genre, relation or tag."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deadheat.corpus import Column
from deadheat.errors import InputError, NameUnknown
from deadheat.metrics import METRICS, Metric, Pair
from deadheat.metrics.metric import Counts
from deadheat.metrics.universal import main_label

GROUPS = ("genre", "document", "relation", "tag")


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The counts of a metric over some units or some words."""

    name: str
    metric: Metric
    counts_NF: Counts


def grouped(pair: Pair, metrics: Sequence[Metric], by: str) -> Iterator[Group]:
    """The counts of each metric, whole or broken down."""
    if by and by not in GROUPS:
        raise NameUnknown("breakdown", by, GROUPS)
    if by in ("relation", "tag"):
        yield from _by_class(pair, metrics, by)
        return
    split = _units_by(pair, by) if by else None
    for metric in metrics:
        counts_NF = metric.counts(pair)
        if split is None:
            yield Group("", metric, counts_NF)
            continue
        codes, names = split
        for code, name in enumerate(names):
            yield Group(name, metric, counts_NF[codes == code])


def _units_by(pair: Pair, by: str) -> tuple[np.ndarray, Sequence[str]]:
    """The group of every unit, by its first sentence."""
    from deadheat.corpus.documents import document_names, genres

    if by == "genre":
        codes, names = genres(pair.gold)
    elif not pair.gold.has_documents:
        raise InputError(f"{pair.gold.name}: no document marks; expected `# newdoc` comments or -DOCSTART- lines")
    else:
        codes, names = pair.gold.documents, document_names(pair.gold)
    return codes[pair.units.gold_sentences], names


def _by_class(pair: Pair, metrics: Sequence[Metric], by: str) -> Iterator[Group]:
    """One metric a relation, tag or type of chunk: its precision, recall and F1."""
    for metric in metrics:
        if (by == "relation") != (metric.compares == "tree") or metric.compares in ("", "head"):
            wanted = "las, by relation" if by == "relation" else "upos, xpos, accuracy or chunks, by tag"
            raise InputError(f"{metric.name} by {by}; expected {wanted}")
        chunked = by == "tag" and metric.base == "chunks"
        column = metric.compares if metric.compares in pair.gold.columns else "upos"
        if by == "relation":
            make, column, settings = "relation", "deprel", {}
        elif chunked:
            make, settings = "chunks", dict(metric.settings)
        else:
            make, settings = "tag", {"column": column}
        for name in _classes(pair, column, by=by, chunked=chunked):
            narrowed = METRICS.make(make, **(settings | {"label": name}))
            yield Group(name, replace(narrowed, label=metric.label), narrowed.counts(pair))


def _classes(pair: Pair, column: str, *, by: str, chunked: bool) -> list[str]:
    """The classes that occur on either side, the most frequent in gold first."""
    frequency: dict[str, int] = {}
    sides: list[Column] = [pair.gold.column(column), pair.predicted.column(column)]
    for weight, side in zip((1, 0), sides, strict=True):
        for string, times in zip(side.vocabulary.strings, side.frequencies().tolist(), strict=True):
            name = main_label(string) if by == "relation" else string.partition("-")[2] if chunked else string
            if times and name:
                frequency[name] = frequency.get(name, 0) + weight * times
    return sorted(frequency, key=lambda name: (-frequency[name], name))
