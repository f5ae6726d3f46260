"""ELAS and EULAS: edges of enhanced dependencies, with the official counting faults mended.

The official evaluator counts every pair of equal edges, so an edge that a system writes three times is right
three times (recall 300 %), and two edges that differ only in subtypes are four times right in EULAS. Here a
word's edges are a set. `official=True` counts as the evaluator does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import CorpusError, Fault
from deadheat.metrics.metric import Counts, Metric, f1
from deadheat.metrics.pair import Pair
from deadheat.metrics.registry import METRICS
from deadheat.metrics.universal import main_label

Edges = dict[tuple[int, int, str], int]  # (word, head or -1, label) -> how often


def edges_of(corpus: Corpus, label: Callable[[str], str]) -> Edges:
    """The enhanced edges of a corpus between words; edges to empty nodes count nowhere."""
    column = corpus.column("deps")
    parsed = [_parse(deps) for deps in column.vocabulary.strings]
    starts, sizes = corpus.offsets.tolist(), np.diff(corpus.offsets).tolist()
    sentence_of_word = corpus.sentence_of_word.tolist()
    found: Edges = Counter()
    for word, code in enumerate(column.codes.tolist()):
        sentence = sentence_of_word[word]
        edges = parsed[code]
        if edges is None or any(head > sizes[sentence] for head, _ in edges):
            path, line = corpus.line_of_word(word)
            text = column.vocabulary[code]
            raise CorpusError(
                [Fault(path, line, f"DEPS {text!r}; expected head:relation|... with heads in the sentence")]
            )
        for head, relation in edges:
            found[word, starts[sentence] + head - 1 if head else -1, label(relation)] += 1
    return found


def _parse(deps: str) -> list[tuple[int, str]] | None:
    """Edges of a DEPS field, or None if it is unreadable."""
    edges = []
    for edge in deps.split("|") if deps != "_" else ():
        head, colon, relation = edge.partition(":")
        major, dot, minor = head.partition(".")
        if not colon or not (major.isascii() and major.isdigit()) or (dot and not minor.isdigit()):
            return None
        if not dot:
            edges.append((int(major), relation))
    return edges


def _edge_metric(name: str, label: str, description: str, cut: Callable[[str], str]) -> None:
    def maker(*, official: bool = False) -> Metric:
        def counts(pair: Pair) -> Counts:
            gold, predicted = edges_of(pair.gold, cut), edges_of(pair.predicted, cut)
            to_gold = pair.gold_of_predicted.tolist()
            same: Edges = Counter()
            for (word, head, relation), times in predicted.items():
                moved = (to_gold[word], to_gold[head] if head >= 0 else -1, relation)
                if moved[0] >= 0 and (moved[1] >= 0 or head < 0) and moved in gold:
                    same[moved] += times * gold[moved]
            columns = [
                pair.units.of_gold(_per_word(same, pair.gold.words, official=official)),
                pair.units.of_gold(_per_word(gold, pair.gold.words, official=official)),
                pair.units.of_predicted(_per_word(predicted, pair.predicted.words, official=official)),
            ]
            return np.stack(columns, axis=1)

        shown = f"{label} (official)" if official else label
        return Metric(f"{name}.v1", shown, counts, f1, compares="deps")

    maker.__doc__ = description
    METRICS.add(f"{name}.v1")(maker)


def _per_word(edges: Edges, words: int, *, official: bool) -> NDArray[np.int64]:
    counted: Indices = np.zeros(words, np.int64)
    for (word, _, _), times in edges.items():
        counted[word] += times if official else 1
    return counted


_edge_metric("elas", "ELAS", "Enhanced edges with full labels, each counted once.", str)
_edge_metric("eulas", "EULAS", "Enhanced edges with labels cut at the first colon, each counted once.", main_label)
