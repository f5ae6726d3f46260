"""What questions are asked about: corpora and files, sealed labels, and the ledger entry of an evaluation."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

from deadheat.corpus import Corpus, read
from deadheat.corpus.corpus import content_hash
from deadheat.errors import CorpusError, InputError
from deadheat.study.ledger.ledger import Evaluation, LedgerEntry, RecordedEvaluations
from deadheat.study.ledger.sealing import has_sealed, sealed_labels

CorpusSource: TypeAlias = str | os.PathLike[str] | Corpus


def open_corpora(sources: Sequence[CorpusSource | Sequence[CorpusSource]], reading: dict[str, Any]) -> list[Corpus]:
    """Several corpora; the faults of all files are reported together."""
    corpora: list[Corpus] = []
    errors: list[CorpusError] = []
    for source in sources:
        try:
            corpora.append(open_corpus(source, reading))
        except CorpusError as error:
            errors.append(error)
    if errors:
        raise CorpusError.combine(errors)
    return corpora


def open_corpus(source: CorpusSource | Sequence[CorpusSource], reading: dict[str, Any]) -> Corpus:
    """A corpus as it is, or read from its files."""
    if isinstance(source, Corpus):
        return source
    if isinstance(source, Sequence) and not isinstance(source, str):
        if len(source) == 1 and isinstance(source[0], Corpus):
            return source[0]
        if any(isinstance(item, Corpus) for item in source):
            raise InputError("corpora and files mixed; expected files, or one corpus")
    return read(source, **reading)  # type: ignore[arg-type]


def unseal(
    gold: CorpusSource | Sequence[CorpusSource], reading: dict[str, Any], entry: LedgerEntry | None
) -> tuple[CorpusSource | Sequence[CorpusSource], tuple[str, ...]]:
    """Gold as it was given, or its sealed labels where it is a text without labels; and a note on that."""
    if entry is None or not has_sealed(entry.ledger) or _is_stdin(gold):
        return gold, ()
    lenient = {*reading.get("lenient", ()), "missing-heads"}
    try:
        text = open_corpus(gold, {**reading, "lenient": lenient})
    except CorpusError:  # reported when gold is read as strictly as was asked for
        return gold, ()
    labels = sealed_labels(entry.ledger, text)
    return (gold, ()) if labels is None else (labels[0], (labels[1],))


def record(
    entry: LedgerEntry | None, gold: Corpus, predictions: Sequence[Corpus], metrics: Sequence[str], settings: str
) -> RecordedEvaluations:
    """Record an evaluation of every prediction, if gold is a test set; a prediction's name is that of its system."""
    if entry is None:
        return RecordedEvaluations()
    try:
        test_sets = entry.ledger.test_sets_in(gold)
    except InputError as error:
        return RecordedEvaluations(notes=(f"{error}; this evaluation was not recorded",))
    if not test_sets:
        return RecordedEvaluations()
    evaluations = [Evaluation(corpus.name, content_hash(corpus), tuple(metrics), settings) for corpus in predictions]
    return entry.ledger.record(test_sets, evaluations, purpose=entry.purpose, over_budget=entry.over_budget)


def _is_stdin(gold: CorpusSource | Sequence[CorpusSource]) -> bool:
    """Standard input can be read only once."""
    sources = [gold] if isinstance(gold, str | os.PathLike | Corpus) else gold
    return any(isinstance(source, str) and source == "-" for source in sources)
