"""Scoring as a look at a test set: sealed labels in place of none, and a line in the ledger for every system."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from deadheat.corpus import Corpus
from deadheat.corpus.identity import content_hash
from deadheat.errors import CorpusError, InputError
from deadheat.study.ledger.ledger import Evaluation, LedgerEntry, RecordedEvaluations
from deadheat.study.ledger.sealing import has_sealed, sealed_labels

if TYPE_CHECKING:
    from deadheat.questions.score import Given


def unsealed(
    gold: Given | Sequence[Given],
    reading: dict[str, Any],
    ledger_entry: LedgerEntry | None,
    opening: Callable[[Given | Sequence[Given], dict[str, Any]], Corpus],
) -> tuple[Given | Sequence[Given], tuple[str, ...]]:
    """Gold as it was given, or its sealed labels where it is a text without labels; and a note on that."""
    if ledger_entry is None or not has_sealed(ledger_entry.ledger) or _is_stdin(gold):
        return gold, ()
    lenient = {*reading.get("lenient", ()), "missing-heads"}
    try:
        text = opening(gold, {**reading, "lenient": lenient})
    except CorpusError:  # told when gold is read as strictly as was asked for
        return gold, ()
    found = sealed_labels(ledger_entry.ledger, text)
    return (gold, ()) if found is None else (found[0], (found[1],))


def recorded(
    ledger_entry: LedgerEntry | None, gold: Corpus, predictions: Sequence[Corpus], metrics: Sequence[str], settings: str
) -> RecordedEvaluations:
    """Write a look for every prediction, if gold is a test set; a prediction's name is that of its system."""
    if ledger_entry is None:
        return RecordedEvaluations()
    try:
        watched = ledger_entry.ledger.test_sets_in(gold)
    except InputError as error:
        return RecordedEvaluations(notes=(f"{error}; this look was not recorded",))
    if not watched:
        return RecordedEvaluations()
    scored = [Evaluation(each.name, content_hash(each), tuple(metrics), settings) for each in predictions]
    return ledger_entry.ledger.record(
        watched, scored, purpose=ledger_entry.purpose, over_budget=ledger_entry.over_budget
    )


def _is_stdin(gold: Given | Sequence[Given]) -> bool:
    """Standard input can be read only once."""
    given = [gold] if isinstance(gold, str | os.PathLike | Corpus) else gold
    return any(isinstance(each, str) and each == "-" for each in given)
