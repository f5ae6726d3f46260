"""Counts of systems on test sets: from gold and predictions, from a table of them, or as they were saved."""

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
from deadheat.corpus.corpus import Part, content_hash, text_hash
from deadheat.errors import InputError, reason
from deadheat.metrics import METRICS, Metric, Pair, align
from deadheat.metrics.metric import FIELDS
from deadheat.questions.inputs import CorpusSource, open_corpora, record, unseal
from deadheat.questions.score import default_metric, notes_on
from deadheat.ranking.size_samples import CountedSet
from deadheat.study.ledger.ledger import Evaluation, LedgerEntry, LedgerTestSet, RecordedEvaluations, is_test_name

FORMAT = "deadheat-counts.v1"
SUFFIX = ".npz"
COLUMNS = ("set", "gold", "system", "prediction")
AnyPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """One run of a system on a test set, and the gold file it is scored against."""

    system: str
    gold: CorpusSource | Sequence[CorpusSource]
    predicted: CorpusSource


@dataclass(frozen=True, slots=True, eq=False)
class TestSet:
    """The counts of a test set with its corpora, or with their hashes if the counts were saved."""

    __test__ = False  # not a class of tests for pytest

    counted: CountedSet
    golds: tuple[tuple[Corpus, tuple[Corpus, ...]], ...] = ()  # each with the predictions scored against it
    files: tuple[LedgerTestSet, ...] = ()  # saved: the gold files
    predictions: tuple[str, ...] = ()  # saved: the hash of each run
    notes: tuple[str, ...] = ()

    def record(self, entry: LedgerEntry | None, settings: str) -> list[RecordedEvaluations]:
        """Record an evaluation of every run in the ledger, if the gold file is a test set."""
        metric = self.counted.metric.name
        if self.golds:
            return [record(entry, gold, runs, [metric], settings) for gold, runs in self.golds]
        if entry is None:
            return []
        try:
            ledger = entry.ledger.read()
        except InputError as error:
            return [RecordedEvaluations(notes=(f"{error}; this evaluation was not recorded",))]
        watched = [file for file in self.files if is_test_name(file.name) or file.hash.encode() in ledger]
        if not watched:
            return []
        runs = zip(self.counted.systems, self.predictions, strict=True)
        scored = [Evaluation(system, prediction, (metric,), settings) for system, prediction in runs]
        return [entry.ledger.record(watched, scored, purpose=entry.purpose, over_budget=entry.over_budget)]


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

    Runs may have different gold files, as long as these have the same sentences: some parsers come with a gold file in
    which columns that they do not predict are changed.
    """
    for prediction in predictions:
        _check_other_file(prediction)
    sources = {_key(prediction.gold): prediction.gold for prediction in predictions}
    unsealed = [unseal(gold, reading, ledger_entry) for gold in sources.values()]
    corpora = open_corpora(
        [*(gold for gold, _ in unsealed), *(prediction.predicted for prediction in predictions)], reading
    )
    golds = dict(zip(sources, corpora, strict=False))
    runs = [
        replace(corpus, name=prediction.system)
        for prediction, corpus in zip(predictions, corpora[len(golds) :], strict=True)
    ]
    first = corpora[0]
    for gold in golds.values():
        if not np.array_equal(gold.offsets, first.offsets):
            expected = "expected the same sentences in all gold files of a test set"
            raise InputError(f"{gold.name}: other sentences than {first.name}; {expected}")
    gold_of_run = [golds[_key(prediction.gold)] for prediction in predictions]
    pairs = [align(gold, run, by=align_by) for gold, run in zip(gold_of_run, runs, strict=True)]
    measure = METRICS.make(metric or default_metric(pairs[0]))
    notes = dict.fromkeys(note for _, sealing_notes in unsealed for note in sealing_notes)
    notes |= dict.fromkeys(note for pair in pairs for note in notes_on(pair, "sentence", []))
    by_gold = tuple(
        (gold, tuple(run for run, own in zip(runs, gold_of_run, strict=True) if own is gold)) for gold in golds.values()
    )
    return TestSet(_count(name or first.name, measure, pairs), by_gold, notes=tuple(notes))


def _count(name: str, metric: Metric, pairs: Sequence[Pair]) -> CountedSet:
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


def _key(gold: CorpusSource | Sequence[CorpusSource]) -> object:
    if isinstance(gold, str | os.PathLike):
        return os.fspath(gold)
    return id(gold) if isinstance(gold, Corpus) else tuple(_key(source) for source in gold)


def _check_other_file(prediction: Prediction) -> None:
    paths = [path for path in (prediction.gold, prediction.predicted) if isinstance(path, str | os.PathLike)]
    if len(paths) == 2 and all(map(os.path.exists, paths)) and os.path.samefile(*paths):
        problem = "this is the gold file; expected a prediction"
        raise InputError(f"{prediction.system}={os.fspath(paths[1])}: {problem}")


def listed_sets(path: AnyPath) -> dict[str, list[Prediction]]:
    """Predictions by test set, from a table with the columns set, gold, system and prediction.

    Files are relative to the table. A system that is listed twice for a test set has two runs.
    """
    from deadheat.tables.table import read_table

    table = read_table(path)
    columns = [table.texts(table.column(name)).to_list() for name in COLUMNS]
    folder = Path(path).parent
    sets: dict[str, list[Prediction]] = {}
    for row, cells in enumerate(zip(*columns, strict=True)):
        empty = next((name for name, cell in zip(COLUMNS, cells, strict=True) if not cell), None)
        if empty is not None:
            raise InputError(f"{table.location(row)}: no {empty}; expected {', '.join(COLUMNS)} in every row")
        name, gold, system, prediction = cells
        sets.setdefault(name, []).append(Prediction(system, str(folder / gold), str(folder / prediction)))
    return sets


def save_counts(test_set: TestSet, path: AnyPath) -> None:
    """Write counts and the hashes of their corpora to a file, completely or not at all."""
    counted = test_set.counted
    ((gold, runs),) = test_set.golds
    parts = gold.parts or (Part(gold.name, 0),)
    ends = [*(part.first for part in parts[1:]), gold.sentences]
    hashes = [text_hash(gold, first=part.first, last=end) for part, end in zip(parts, ends, strict=True)]
    arrays: dict[str, Any] = {
        "format": FORMAT,
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
    """Refuse a file that counts cannot be saved to, before anything is computed."""
    target = Path(path)
    if target.suffix != SUFFIX:
        raise InputError(f"{target}: not a name for saved counts; expected a name that ends in {SUFFIX}")
    if not target.parent.is_dir():
        raise InputError(f"{target}: no folder {target.parent}; expected one that exists")


def load_counts(path: AnyPath) -> TestSet:
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
            if str(arrays.get("format")) == FORMAT:
                return arrays
    raise InputError(f"{name}: not saved counts; {_expected()}")


def _expected() -> str:
    return f"expected a file that deadheat size --save wrote ({SUFFIX})"
