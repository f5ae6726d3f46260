"""Counts of systems on test sets: from gold and predictions, from a list of them, or as they were saved."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.corpus import Corpus
from deadheat.corpus.corpus import Part
from deadheat.corpus.identity import content_hash, text_hash
from deadheat.errors import InputError, reason
from deadheat.metrics import METRICS, Metric, Pair, align
from deadheat.metrics.metric import FIELDS
from deadheat.questions.looks import recorded, unsealed
from deadheat.questions.score import Given, default_metric, notes_on, open_corpora, open_corpus
from deadheat.ranking.sizes_sampling import CountedSet
from deadheat.study.ledger.ledger import Evaluation, LedgerEntry, LedgerTestSet, RecordedEvaluations, is_test_name

SAVED_AS = "deadheat-counts.v1"
SUFFIX = ".npz"
COLUMNS = ("set", "gold", "system", "prediction")
AnyPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """One run of a system on a test set, and the gold file it is scored against."""

    system: str
    gold: Given | Sequence[Given]
    predicted: Given


@dataclass(frozen=True, slots=True, eq=False)
class TestSet:
    """Counts of a test set and whose they are: the corpora, or their hashes if the counts were saved."""

    __test__ = False  # pytest takes the name for a class of tests

    counted: CountedSet
    golds: tuple[tuple[Corpus, tuple[Corpus, ...]], ...] = ()  # each with the predictions that it was held against
    files: tuple[LedgerTestSet, ...] = ()  # saved: the gold files
    predictions: tuple[str, ...] = ()  # saved: the hash of each run
    notes: tuple[str, ...] = ()

    def record(self, ledger_entry: LedgerEntry | None, settings: str) -> list[RecordedEvaluations]:
        """Write a look a run to the ledger, where the gold file is a test set."""
        metric = self.counted.metric.name
        if self.golds:
            return [recorded(ledger_entry, gold, own, [metric], settings) for gold, own in self.golds]
        if ledger_entry is None:
            return []
        try:
            known = ledger_entry.ledger.read()
        except InputError as error:
            return [RecordedEvaluations(notes=(f"{error}; this look was not recorded",))]
        watched = [each for each in self.files if is_test_name(each.name) or each.hash.encode() in known]
        if not watched:
            return []
        runs = zip(self.counted.systems, self.predictions, strict=True)
        scored = [Evaluation(system, prediction, (metric,), settings) for system, prediction in runs]
        return [
            ledger_entry.ledger.record(
                watched, scored, purpose=ledger_entry.purpose, over_budget=ledger_entry.over_budget
            )
        ]


def count_test_set(
    name: str,
    predictions: Sequence[Prediction],
    *,
    metric: str,
    align_by: str,
    ledger_entry: LedgerEntry | None,
    reading: dict[str, Any],
) -> TestSet:
    """Count every run over the units that all share.

    Runs may have gold files of their own, as long as these have the same sentences: some parsers come with a gold file
    in which they changed what they do not predict.
    """
    for each in predictions:
        _check_other_file(each)
    given = {_key(each.gold): each.gold for each in predictions}
    found = [unsealed(gold, reading, ledger_entry, open_corpus) for gold in given.values()]
    corpora = open_corpora([*(gold for gold, _ in found), *(each.predicted for each in predictions)], reading)
    golds = dict(zip(given, corpora, strict=False))
    runs = [replace(corpus, name=each.system) for each, corpus in zip(predictions, corpora[len(golds) :], strict=True)]
    first = corpora[0]
    for gold in golds.values():
        if not np.array_equal(gold.offsets, first.offsets):
            told = f"other sentences than {first.name}; expected the gold files of one test set to have the same"
            raise InputError(f"{gold.name}: {told}")
    own = [golds[_key(each.gold)] for each in predictions]
    pairs = [align(gold, run, by=align_by) for gold, run in zip(own, runs, strict=True)]
    chosen = METRICS.make(metric or default_metric(pairs[0]))
    notes = dict.fromkeys(note for _, sealed in found for note in sealed)
    notes |= dict.fromkeys(note for pair in pairs for note in notes_on(pair, "sentence", []))
    held = tuple(
        (gold, tuple(run for run, mine in zip(runs, own, strict=True) if mine is gold)) for gold in golds.values()
    )
    return TestSet(_counted(name or first.name, chosen, pairs), held, notes=tuple(notes))


def _counted(name: str, metric: Metric, pairs: Sequence[Pair]) -> CountedSet:
    gold = pairs[0].gold
    common = reduce(np.intersect1d, [pair.units.gold_sentences for pair in pairs])
    if not len(common):
        raise InputError(f"{gold.name}: no sentences; expected some to sample")
    counts = [
        np.add.reduceat(
            metric.counts(pair)[:, : len(FIELDS)], np.searchsorted(pair.units.gold_sentences, common), axis=0
        )
        for pair in pairs
    ]
    lengths = np.diff(gold.offsets[common], append=gold.words).astype(np.int64)
    unit = "sentence" if len(common) == gold.sentences else "block"
    return CountedSet(name, tuple(pair.predicted.name for pair in pairs), lengths, np.stack(counts), metric, unit)


def _key(gold: Given | Sequence[Given]) -> object:
    if isinstance(gold, str | os.PathLike):
        return os.fspath(gold)
    return id(gold) if isinstance(gold, Corpus) else tuple(_key(each) for each in gold)


def _check_other_file(given: Prediction) -> None:
    paths = [path for path in (given.gold, given.predicted) if isinstance(path, str | os.PathLike)]
    if len(paths) == 2 and all(map(os.path.exists, paths)) and os.path.samefile(*paths):
        told = "the gold file itself; expected a prediction"
        raise InputError(f"{given.system}={os.fspath(paths[1])}: {told}")


def listed_sets(path: AnyPath) -> dict[str, list[Prediction]]:
    """Predictions by test set, from a table with the columns set, gold, system and prediction.

    Files are relative to the table. A system that is there twice for one set has two runs.
    """
    from deadheat.tables.table import read_table

    table = read_table(path)
    columns = [table.texts(table.column(name)).to_list() for name in COLUMNS]
    folder = Path(path).parent
    found: dict[str, list[Prediction]] = {}
    for row, cells in enumerate(zip(*columns, strict=True)):
        empty = next((name for name, cell in zip(COLUMNS, cells, strict=True) if not cell), None)
        if empty is not None:
            raise InputError(f"{table.place(row)}: no {empty}; expected {', '.join(COLUMNS)} in every row")
        name, gold, system, prediction = cells
        found.setdefault(name, []).append(Prediction(system, str(folder / gold), str(folder / prediction)))
    return found


def save_counts(test_set: TestSet, path: AnyPath) -> None:
    """Write counts and whose they are, whole or not at all."""
    counted = test_set.counted
    ((gold, runs),) = test_set.golds
    parts = gold.parts or (Part(gold.name, 0),)
    ends = [*(part.first for part in parts[1:]), gold.sentences]
    hashes = [text_hash(gold, first=part.first, last=end) for part, end in zip(parts, ends, strict=True)]
    arrays: dict[str, Any] = {
        "format": SAVED_AS,
        "name": counted.name,
        "metric": counted.metric.name,
        "unit": counted.unit,
        "systems": np.array(counted.systems),
        "lengths": counted.lengths_N,
        "counts": counted.counts_RNF,
        "files": np.array([os.path.basename(part.path) for part in parts]),
        "hashes": np.array(hashes),
        "predictions": np.array([content_hash(run) for run in runs]),
    }
    target = Path(path)
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=target.name, delete=False) as file:
            try:
                np.savez_compressed(file, **arrays)
                file.close()
                os.replace(file.name, target)
            except BaseException:
                with suppress(OSError):
                    os.unlink(file.name)
                raise
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({reason(error)})") from error


def check_target(path: AnyPath) -> None:
    """Refuse a place that counts could not be saved at, before anything is worked out."""
    target = Path(path)
    if target.suffix != SUFFIX:
        raise InputError(f"{target}: counts are saved as {SUFFIX}; expected such a name")
    if not target.parent.is_dir():
        raise InputError(f"{target}: no folder {target.parent}; expected one that is there")


def saved_counts(path: AnyPath) -> TestSet:
    """Read counts that `save_counts` wrote; anything else is refused."""
    name = os.fspath(path)
    arrays = _arrays(name)
    try:
        metric = METRICS.make(str(arrays["metric"]))
        systems = tuple(map(str, arrays["systems"].tolist()))
        lengths, counts = arrays["lengths"].astype(np.int64), arrays["counts"]
        counted = CountedSet(str(arrays["name"]), systems, lengths, counts, metric, str(arrays["unit"]))
        pairs = zip(arrays["files"].tolist(), arrays["hashes"].tolist(), strict=True)
        files = tuple(LedgerTestSet(str(file), str(text)) for file, text in pairs)
        predictions = tuple(map(str, arrays["predictions"].tolist()))
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(f"{name}: broken counts ({str(error).lower()}); {_expected()}") from None
    except InputError as error:
        raise InputError(f"{name}: broken counts ({error})") from None
    if len(predictions) != len(systems):
        raise InputError(f"{name}: broken counts ({len(predictions)} hashes of {len(systems)} runs); {_expected()}")
    return TestSet(counted, files=files, predictions=predictions)


def _arrays(name: str) -> Mapping[str, Any]:
    try:
        raw = Path(name).read_bytes()
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({reason(error)})") from error
    with suppress(ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error):
        loaded = np.load(io.BytesIO(raw), allow_pickle=False)
        if isinstance(loaded, np.lib.npyio.NpzFile):
            arrays = {key: loaded[key] for key in loaded.files}
            if str(arrays.get("format")) == SAVED_AS:
                return arrays
    raise InputError(f"{name}: no counts of ours; {_expected()}")


def _expected() -> str:
    return f"expected a file that deadheat size --save wrote ({SUFFIX})"
