"""Tables and logs of items in the ledger: a test set is its set of items, as a corpus is its set of sentences.

An item is known by its task and its key, and by its content where that is known: the hash in a log, or the gold label.
So a part of a benchmark, or its items in another order or another file, is still that test set.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from deadheat.items.options import RUNS
from deadheat.items.table import ItemTable
from deadheat.questions.inputs import record_evaluations
from deadheat.results.compare import Comparison
from deadheat.results.ledger import look_note
from deadheat.stats.looks import spent_level
from deadheat.study.ledger.ledger import Evaluation, Ledger, LedgerEntry, RecordedEvaluations, is_test_name
from deadheat.study.ledger.overlap import ITEM, LedgerTestSet, SentenceSet

HASH_SIZE = 8  # bytes


def test_set_of(table: ItemTable) -> LedgerTestSet:
    """The items of a table as a test set."""
    keys = table.contents().unique().sort(pl.all())
    hashes = np.array([_hash(key) for key in keys.iter_rows()], np.uint64)
    digest = hashlib.sha256(b"items" + np.unique(hashes).astype("<u8").tobytes()).hexdigest()
    path = table.paths[0] if table.paths else table.source
    name = os.path.basename(os.path.normpath(path))
    return LedgerTestSet(name, digest, SentenceSet.of(hashes, np.ones(len(hashes), np.int64), unit=ITEM))


test_set_of.__test__ = False  # type: ignore[attr-defined]  # not a test for pytest


def _hash(key: Sequence[str | None]) -> int:
    text = "\0".join(part or "" for part in key)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=HASH_SIZE).digest(), "little")


def record_items(
    entry: LedgerEntry | None, table: ItemTable, metrics: Sequence[str], settings: str
) -> RecordedEvaluations:
    """Record an evaluation of every system, and of every run of it, if the items are a test set.

    They are one if a file is named so, or if they are in the ledger.
    """

    def test_sets(ledger: Ledger) -> tuple[LedgerTestSet, ...]:
        is_test = any(map(is_test_name, table.paths))
        return ledger.test_sets_of(lambda: test_set_of(table), is_test=is_test)

    return record_evaluations(entry, test_sets, _evaluations(table, tuple(metrics), settings))


def _evaluations(table: ItemTable, metrics: tuple[str, ...], settings: str) -> Iterator[Evaluation]:
    """One per system, or per run of it; read only if they are recorded."""
    keys = ["system", "repeat"] if table.repeats == RUNS else ["system"]
    rest = [name for name in ("task", "item", "repeat", "metric", "score", "counts") if name in table.frame.columns]
    for key, rows in table.frame.group_by(keys, maintain_order=True):
        content = rows.select(rest).sort("task", "item", "repeat", "metric").write_ndjson()
        yield Evaluation(str(key[0]), hashlib.sha256(content.encode()).hexdigest(), metrics, settings)


def with_looks(
    result: Comparison, recorded: RecordedEvaluations, *, again: Callable[[float], Comparison], spend_alpha: bool
) -> Comparison:
    """A comparison with what the ledger says about it, at the level that is left if alpha is spent."""
    tallies, alpha = recorded.tallies, result.settings.alpha
    look = max((tally.look for tally in tallies), default=0)
    note = look_note(tallies, min((pair.p_corrected for pair in result.pairs), default=math.nan), alpha=alpha)
    if spend_alpha and look:
        result = again(spent_level(alpha, look))
        level = result.settings.alpha
        note = f"look {look} at this test set, tested at alpha {level:.4f} of {alpha:g} (alpha spending)"
    notes = [*recorded.notes, *filter(None, [note]), *result.notes]
    return replace(result, notes=tuple(dict.fromkeys(notes)), evaluations=tallies)
