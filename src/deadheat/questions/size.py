"""Size: how much test data is sufficient to rank systems, from predictions or from counts that were saved."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.corpus import content_hash, text_hash
from deadheat.corpus.reading import ReadingOptions
from deadheat.corpus.writing import write_bytes
from deadheat.errors import InputError
from deadheat.files import check_size, read_content
from deadheat.metrics import METRICS
from deadheat.questions import inputs
from deadheat.questions.counting import count_runs
from deadheat.questions.designs import (
    AnyPath,
    Prediction,
    by_dataset,
    expand_patterns,
    missing_combinations,
    read_sets_table,
)
from deadheat.ranking.size_samples import ITEM, ITEM_SIZES, SIZES, CountedSet, SizeSettings, check_systems, ranked_names
from deadheat.ranking.sizes import SetSizes, cross_curves, size_curves
from deadheat.results.format import Scale
from deadheat.results.rank import SizeStudy
from deadheat.stats.agreement import weighted_kendall_rows
from deadheat.study.ledger.ledger import (
    Evaluation,
    Ledger,
    LedgerEntry,
    LedgerTestSet,
    RecordedEvaluations,
    is_test_name,
)

FORMAT, SUFFIX = "deadheat-counts.v1", ".npz"
# What zipfile, zlib and numpy raise for files that are something else.
BROKEN = (ValueError, EOFError, OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error)
EXPECTED = f"expected a file that deadheat size --save wrote ({SUFFIX})"
PART_OF_THE_WHOLE = (
    "a sample is part of the whole test set, so tau approaches 1 as it grows, whatever the data; "
    "--against rest ranks on the {} outside the sample instead"
)
MATCHED_RUNS = (
    "runs are matched across test sets by their order, which means something only if the same trained systems were run "
    "on all of them"
)


@dataclass(frozen=True, slots=True, eq=False)
class TestSet:
    """The counts of a test set with its corpora, or with their hashes if the counts were saved."""

    __test__ = False  # not a class of tests for pytest

    counted: CountedSet
    golds: tuple[tuple[Corpus, tuple[Corpus, ...]], ...] = ()  # each with the predictions scored against it
    files: tuple[LedgerTestSet, ...] = ()  # saved: the gold files
    predictions: tuple[str, ...] = ()  # saved: the hash of each run
    notes: tuple[str, ...] = ()
    is_sealed: bool = False

    def record(self, entry: LedgerEntry | None, settings: str) -> list[RecordedEvaluations]:
        """Record an evaluation of every run in the ledger, if the gold file is a test set."""
        metric = self.counted.metric.name
        if entry is None:
            return []
        if self.golds:
            return [inputs.record(entry, gold, runs, [metric], settings) for gold, runs in self.golds]
        runs = zip(self.counted.systems, self.predictions, strict=True)
        evaluations = (Evaluation(system, prediction, (metric,), settings) for system, prediction in runs)
        return [inputs.record_evaluations(entry, self._saved_test_sets, evaluations)]

    def _saved_test_sets(self, ledger: Ledger) -> list[LedgerTestSet]:
        lines = ledger.read()
        return [file for file in self.files if is_test_name(file.name) or file.hash.encode() in lines]


def size(
    gold: inputs.CorpusSources,
    systems: Mapping[str, inputs.CorpusSources],
    *,
    metric: inputs.MetricName = "",
    settings: SizeSettings | None = None,
    align: inputs.Align = "text",
    save: AnyPath = "",
    ledger_entry: LedgerEntry | None = None,
    **reading: Unpack[ReadingOptions],
) -> SizeStudy:
    r"""How much of a test set is sufficient to rank systems as all of it does.

    Parameters
    ----------
    systems
        The prediction of each system by its name, or the predictions of its runs, or a pattern of their files such as
        `pred/*.conllu`.
    metric
        By default LAS for trees, else the first metric that `deadheat.score` would show.
    settings
        Sizes in words, sampling strategies, draws, how runs are treated, threshold and confidence.
    save
        A file to save the counts to, for `size_of_counts`.
    ledger_entry
        Where to record the evaluation of a test set, see `docs/ledger.md`; nothing is recorded without it.

    Notes
    -----
    A sample is part of the whole, so tau tends to 1 as it grows, whatever the data. With `settings.against` "rest" its
    ranking is compared with that on the sentences outside the sample. See `docs/sizes.md`.

    Examples
    --------
    >>> import deadheat
    >>> gold = deadheat.read(text="a_X b_Y\n" * 60)
    >>> good, bad = deadheat.read(text="a_X b_Y\n" * 60), deadheat.read(text="a_X b_Y\na_X b_X\na_Y b_Y\n" * 20)
    >>> settings = SizeSettings(sizes=(2, 20, 60), strategies=("rand",))
    >>> size(gold, {"good": good, "bad": bad}, settings=settings).sets[0].curves[0].sufficient
    20
    """
    if save:
        check_target(save)
    predictions = [
        Prediction("", gold, name, str(number), run)
        for name, runs in systems.items()
        for number, run in enumerate(expand_patterns(runs, gold), start=1)
    ]
    settings = settings or SizeSettings()
    check_systems([prediction.system for prediction in predictions], settings.runs)
    test_set = count_test_set("", predictions, metric, align, ledger_entry, reading)
    if save and test_set.is_sealed:
        problem = "the counts of every sentence say much about its labels, which are sealed"
        raise InputError(f"{test_set.counted.name}: {problem}; expected no --save")
    result = study_sizes([test_set], settings, ledger_entry=ledger_entry, align=align)
    if save:
        save_counts(test_set, save)
    return result


def size_of_sets(
    sets: AnyPath | Sequence[Prediction],
    *,
    metric: str = "",
    settings: SizeSettings | None = None,
    align: str = "text",
    ledger_entry: LedgerEntry | None = None,
    **reading: Unpack[ReadingOptions],
) -> SizeStudy:
    """How much is sufficient on several test sets: a table of predictions, or a list from `questions.designs`."""
    settings, test_sets = settings or SizeSettings(), list[TestSet]()
    listed = read_sets_table(sets) if isinstance(sets, str | os.PathLike) else sets
    for name, predictions in by_dataset(listed).items():
        check_systems([prediction.system for prediction in predictions], settings.runs, name)
        chosen = test_sets[0].counted.metric.name if test_sets else metric
        test_sets.append(count_test_set(name, predictions, chosen, align, ledger_entry, reading))
    result = study_sizes(test_sets, settings, ledger_entry=ledger_entry, align=align)
    lacking = missing_combinations(listed) if len(test_sets) > 1 and result.overall is None else []
    return replace(result, notes=(*result.notes, *lacking))


def size_of_counts(
    paths: AnyPath | Sequence[AnyPath],
    *,
    metric: str = "",
    settings: SizeSettings | None = None,
    ledger_entry: LedgerEntry | None = None,
) -> SizeStudy:
    """How much is sufficient, from saved counts: one test set per file."""
    files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    test_sets = [load_counts(path) for path in files]
    for path, test_set in zip(files, test_sets, strict=True):
        stored = test_set.counted.metric.name
        if metric and METRICS.find(metric).name != stored:
            raise InputError(f"{os.fspath(path)}: counts of {stored}; expected {METRICS.find(metric).name}")
    return study_sizes(test_sets, settings, ledger_entry=ledger_entry)


def study_test_sets(sets: Sequence[CountedSet], settings: SizeSettings) -> SizeStudy:
    """Compute the curves of test sets that were counted elsewhere."""
    return study_sizes([TestSet(counted) for counted in sets], settings)


def study_sizes(
    test_sets: Sequence[TestSet],
    settings: SizeSettings | None = None,
    *,
    ledger_entry: LedgerEntry | None = None,
    align: str = "",
) -> SizeStudy:
    """Compute the curves, and record the evaluations before anybody sees them."""
    settings = settings or SizeSettings()
    counted = [test_set.counted for test_set in test_sets]
    metrics = {test_set.metric.name: test_set.metric for test_set in counted}
    if len(metrics) > 1:
        raise InputError(f"counts of {' and of '.join(metrics)}; expected one metric for all test sets")
    names = [test_set.name for test_set in counted]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f"two test sets are named {repeated}; expected a different name for each")
    if settings.cross and len(counted) < 2:
        raise InputError(f"{names[0]}: one test set; expected several to compare across (--cross)")
    sets, overall = size_curves(counted, settings)
    cross = cross_curves(counted, settings) if settings.cross else ()
    notes = [note for test_set in test_sets for note in test_set.notes] + list(_notes(sets, settings))
    if len(sets) > 1 and overall is None:
        notes.append(
            f"no overall ranking{' and no comparison across test sets' * settings.cross}, because the test sets do not "
            "have the same systems and runs in the same order"
        )
    metric = counted[0].metric
    scale = Scale.of(row.score for sizes in sets for row in sizes.systems)
    between = _between(sets) if len({ranked_names(item.systems, settings.runs) for item in counted}) == 1 else ()
    runs = sum(len(test_set.systems) for test_set in counted)
    result = SizeStudy(metric.label, metric.name, settings, tuple(sets), scale, overall, between, runs, align)
    recorded = [item for test_set in test_sets for item in test_set.record(ledger_entry, result.signature)]
    ledger_notes = [note for item in recorded for note in item.notes]
    return replace(
        result,
        cross=cross,
        notes=tuple(dict.fromkeys([*ledger_notes, *notes])),
        evaluations=tuple(tally for item in recorded for tally in item.tallies),
    )


def _between(sets: Sequence[SetSizes]) -> tuple[tuple[float, ...], ...]:
    """Tau of the rankings on any two of several test sets."""
    if len(sets) < 2:
        return ()
    scores = [{row.system: row.score for row in sizes.systems} for sizes in sets]
    scores_DS = np.array([[by_system[name] for name in scores[0]] for by_system in scores])
    return tuple(tuple(weighted_kendall_rows(scores_DS, row).tolist()) for row in scores_DS)


def _notes(sets: Sequence[SetSizes], settings: SizeSettings) -> Iterator[str]:
    if settings.against != "rest":
        yield PART_OF_THE_WHOLE.format("items" if all(test_set.unit == ITEM for test_set in sets) else "sentences")
    if settings.cross and settings.runs == "separate":
        yield MATCHED_RUNS
    for test_set in sets:
        name, sizes = test_set.name, {point.words for point in test_set.curves[0].samples}
        beyond = ", ".join(f"{words:,}" for words in settings.sizes if words not in sizes)
        measures = "items" if test_set.unit == ITEM else "words"
        if beyond and settings.against == "rest":
            yield f"{name}: {beyond} {measures} left out, because the rest would be smaller than the sample"
        elif beyond and settings.sizes not in (SIZES, ITEM_SIZES):
            yield f"{name}: {beyond} {measures} are shown as all, because there are only {test_set.words:,}"
        if len({row.score for row in test_set.systems}) == 1:
            yield f"{name}: all systems have the same score, so there is no ranking to agree with"
        if test_set.unit == "block":
            yield f"{name}: sampled in {test_set.units:,} blocks between common sentence boundaries"


def count_test_set(
    name: str,
    predictions: Sequence[Prediction],
    metric: str,
    align: str,
    ledger_entry: LedgerEntry | None,
    reading: ReadingOptions,
) -> TestSet:
    """Count every run over the sentences that all share, the runs of a system one after the other."""
    order = {system: at for at, system in enumerate(dict.fromkeys(row.system for row in predictions))}
    rows = sorted(predictions, key=lambda row: order[row.system])
    runs = count_runs(rows, metric, unit="sentence", align=align, ledger_entry=ledger_entry, reading=reading)
    systems = tuple(system for system, counts_RNF in runs.dataset.counts.items() for _ in counts_RNF)
    lengths = np.diff(runs.gold.offsets[runs.starts], append=runs.gold.words).astype(np.int64)
    counts_RNF = np.concatenate(list(runs.dataset.counts.values()))
    counted = CountedSet(name or runs.gold.name, systems, lengths, counts_RNF, runs.metric, runs.dataset.unit)
    return TestSet(counted, runs.golds, notes=runs.notes, is_sealed=runs.is_sealed)


def save_counts(test_set: TestSet, path: AnyPath) -> None:
    """Write counts and the hashes of their corpora to a file, completely or not at all."""
    counted = test_set.counted
    ((gold, runs),) = test_set.golds
    hashes = [text_hash(gold, first=first, last=end) for _, first, end in gold.files]
    content = io.BytesIO()
    np.savez_compressed(
        content,
        format=FORMAT,
        name=counted.name,
        metric=counted.metric.name,
        unit=counted.unit,
        systems=np.array(counted.systems),
        lengths=counted.lengths_N,
        counts=counted.counts_RNF,
        files=np.array([os.path.basename(path) for path, _, _ in gold.files]),
        hashes=np.array(hashes),
        predictions=np.array([content_hash(run) for run in runs]),
    )
    write_bytes(Path(path), content.getvalue())


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
        if wrong := [file.hash for file in files if not file.hash.isascii()]:
            raise ValueError(f"hash {wrong[0]!r}")
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{name}: broken counts ({str(error).lower()}); {EXPECTED}") from None
    except InputError as error:
        raise InputError(f"{name}: broken counts ({error})") from None
    if len(predictions) != len(systems):
        raise InputError(f"{name}: broken counts ({len(predictions)} hashes of {len(systems)} runs); {EXPECTED}")
    return TestSet(counted, files=files, predictions=predictions)


def _arrays(name: str) -> dict[str, NDArray[Any]]:
    raw = read_content(name)
    with suppress(*BROKEN), zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = archive.infolist()
        check_size(name, len(raw), sum(member.file_size for member in members))
        arrays = {member.filename.removesuffix(".npy"): _array(archive.read(member)) for member in members}
        if str(arrays.get("format")) == FORMAT:
            return arrays
    raise InputError(f"{name}: not saved counts; {EXPECTED}")


def _array(content: bytes) -> NDArray[Any]:
    """Return the array of an .npy file. numpy's own reader reserves the memory that a header asks for."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran_order, dtype = read_header(file)
    return np.frombuffer(content, dtype, offset=file.tell()).reshape(shape, order="F" if fortran_order else "C")
