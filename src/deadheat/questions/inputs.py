"""What questions are asked about: arguments that several of them have, corpora, sealed labels, and the ledger."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, TypeAlias

from deadheat.arguments import Argument, whole_number
from deadheat.corpus import Corpus, read
from deadheat.corpus.corpus import content_hash
from deadheat.corpus.reading import ReadingOptions
from deadheat.errors import CorpusError, InputError
from deadheat.items.detection import is_item_source
from deadheat.metrics.pair import ALIGNMENTS
from deadheat.metrics.pair import UNITS as COUNTED_UNITS
from deadheat.study.ledger.ledger import Evaluation, Ledger, LedgerEntry, LedgerTestSet, RecordedEvaluations

CorpusSource: TypeAlias = str | os.PathLike[str] | Corpus
CorpusSources: TypeAlias = CorpusSource | Sequence[CorpusSource]  # several files are one corpus
Train: TypeAlias = Annotated[
    CorpusSources | None, Argument("training files, for accuracy on unknown words", metavar="FILE", several=True)
]
MetricName: TypeAlias = Annotated[
    str, Argument("the metric (default: LAS for trees, else the first that applies)", short="-m", metavar="NAME")
]
UNITS = ("auto", *COUNTED_UNITS)
Unit: TypeAlias = Annotated[
    str, Argument("what varies between test sets; auto: documents if several are marked", choices=UNITS)
]
AnyUnit: TypeAlias = Annotated[
    str,
    Argument(
        f"what varies between test sets: {', '.join(UNITS)}; of items: item, or a column of what they belong to; "
        "auto: documents if several are marked",
        metavar="UNIT",
    ),
]
Align: TypeAlias = Annotated[str, Argument("align words by text or by position", choices=ALIGNMENTS)]
OMIT, ZERO = "omit", "zero"
Errors: TypeAlias = Annotated[
    str, Argument("items without a score: left out of all systems, or counted as wrong", choices=(OMIT, ZERO))
]
Correction: TypeAlias = Annotated[
    str, Argument("correction for several tests: bonferroni, holm, bh or none", aliases=("--correct",), metavar="NAME")
]
Alpha: TypeAlias = Annotated[float, Argument("significance level", metavar="ALPHA")]
Margin: TypeAlias = Annotated[
    float | None,
    Argument(
        "differences up to this many points count as equal (default: 0.5 for percentages, none for other scores)",
        metavar="POINTS",
    ),
]
Level: TypeAlias = Annotated[float, Argument("confidence level of the intervals", metavar="LEVEL")]
Resamples: TypeAlias = Annotated[int, Argument("number of resamples", metavar="N")]
Seed: TypeAlias = Annotated[int, Argument("random seed", metavar="N", parse=whole_number)]
Reference: TypeAlias = Annotated[str, Argument("compare every system with this one only", metavar="NAME")]
Missing: TypeAlias = Annotated[str, Argument("what to do if a data set lacks a score", choices=("refuse", "drop"))]
ScoreColumn: TypeAlias = Annotated[str, Argument("column of scores; higher is better", metavar="COLUMN")]
SystemColumn: TypeAlias = Annotated[str, Argument("column of systems (default: by its name)", metavar="COLUMN")]
DatasetColumn: TypeAlias = Annotated[
    str,
    Argument(
        "column of data sets, tasks or benchmarks (default: by its name)",
        flag="--dataset",
        aliases=("--task",),
        metavar="COLUMN",
    ),
]
ItemColumn: TypeAlias = Annotated[str, Argument("column of items (default: by its name)", metavar="COLUMN")]
RunColumn: TypeAlias = Annotated[str, Argument("column of runs or attempts (default: by its name)", metavar="COLUMN")]
ClusterColumn: TypeAlias = Annotated[
    str, Argument("column of what items belong to, such as a passage (default: by its name)", metavar="COLUMN")
]
MetricColumn: TypeAlias = Annotated[str, Argument("column of metrics (default: by its name)", metavar="COLUMN")]
Partial: TypeAlias = Annotated[
    bool, Argument("accept logs of runs that did not finish, and repeats with only some of the items")
]
DevColumn: TypeAlias = Annotated[str, Argument("column of development scores", metavar="COLUMN")]
ByColumn: TypeAlias = Annotated[str, Argument("repeat for every value of this column", metavar="COLUMN")]
Where: TypeAlias = Annotated[
    Iterable[str], Argument("use only runs with this value", metavar="COLUMN=VALUE", repeat=True)
]
Ignore: TypeAlias = Annotated[
    Iterable[str], Argument("runs of one configuration may differ in this column", metavar="COLUMN", repeat=True)
]
IgnoredColumns: TypeAlias = Annotated[
    Sequence[str], Argument("a column of a table of items that is no system", metavar="COLUMN", repeat=True)
]
SettingColumns: TypeAlias = Annotated[
    Iterable[str],
    Argument(
        "a column that is a setting although it is named like a result", flag="--setting", metavar="COLUMN", repeat=True
    ),
]
Target: TypeAlias = Annotated[float, Argument("target power", aliases=("--power",), metavar="POWER")]


def item_columns(  # noqa: PLR0913 (the options of all these commands)
    *,
    item: ItemColumn = "",
    system: SystemColumn = "",
    score: ScoreColumn = "",
    run: RunColumn = "",
    task: DatasetColumn = "",
    cluster: ClusterColumn = "",
    metric_column: MetricColumn = "",
    ignore: IgnoredColumns = (),
) -> dict[str, Any]:
    """The columns of an item table that are named: declared once, for every command that takes scores of items."""
    texts = {"item": item, "system": system, "score": score, "run": run, "task": task, "cluster": cluster}
    columns = {**texts, "metric_column": metric_column, "ignore": ignore}
    return {kind: value for kind, value in columns.items() if value}


def open_corpora(sources: Sequence[CorpusSources], reading: ReadingOptions) -> list[Corpus]:
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


def open_corpus(source: CorpusSources, reading: ReadingOptions) -> Corpus:
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
    gold: CorpusSources, reading: ReadingOptions, entry: LedgerEntry | None
) -> tuple[CorpusSources, tuple[str, ...]]:
    """Gold as it was given, or its sealed labels where it is a text without labels; and a note on that."""
    if entry is None or not entry.ledger.has_sealed or "-" in sources_of(gold):  # standard input is read only once
        return gold, ()
    from deadheat.study.ledger.sealing import sealed_labels

    lenient: ReadingOptions = {**reading, "lenient": {*reading.get("lenient", ()), "missing-heads"}}
    try:
        text = open_corpus(gold, lenient)
    except CorpusError:  # reported when gold is read as strictly as was asked for
        return gold, ()
    labels = sealed_labels(entry.ledger, text)
    return (gold, ()) if labels is None else (labels[0], (labels[1],))


def is_sealed(entry: LedgerEntry | None, gold: Corpus) -> bool:
    """Whether labels of gold are sealed; what a ledger that cannot be read says is unknown, and no."""
    if entry is None or not entry.ledger.has_sealed:
        return False
    try:
        test_sets = entry.ledger.test_sets_in(gold)
        return any(entry.ledger.tally(digest).sealed for test_set in test_sets for digest in test_set.all)
    except InputError:
        return False


def record(
    entry: LedgerEntry | None, gold: Corpus, predictions: Iterable[Corpus], metrics: Iterable[str], settings: str
) -> RecordedEvaluations:
    """Record an evaluation of every prediction, if gold is a test set; a prediction's name is that of its system."""
    evaluations = (Evaluation(corpus.name, content_hash(corpus), tuple(metrics), settings) for corpus in predictions)
    return record_evaluations(entry, lambda ledger: ledger.test_sets_in(gold), evaluations)


def record_evaluations(
    entry: LedgerEntry | None,
    find_test_sets: Callable[[Ledger], Sequence[LedgerTestSet]],
    evaluations: Iterable[Evaluation],
) -> RecordedEvaluations:
    """Record evaluations, if there are test sets; a ledger that cannot be read is a note."""
    try:
        test_sets = find_test_sets(entry.ledger) if entry is not None else ()
    except InputError as error:
        return RecordedEvaluations(notes=(f"{error}; this evaluation was not recorded",))
    if entry is None or not test_sets:
        return RecordedEvaluations()
    return entry.ledger.record(test_sets, list(evaluations), purpose=entry.purpose, over_budget=entry.over_budget)


def sources_of(sources: CorpusSources) -> list[CorpusSource]:
    """One source or several, as a list."""
    one = isinstance(sources, str | os.PathLike | Corpus) or is_item_source(sources)
    return [sources] if one else list(sources)  # type: ignore[list-item, arg-type]


def key_of(source: CorpusSources) -> object:
    """What tells sources apart: paths, or the corpora themselves."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    return id(source) if isinstance(source, Corpus) else tuple(key_of(item) for item in source)


def check_prediction(system: str, gold: CorpusSources, predicted: CorpusSource) -> None:
    """Refuse the gold file as a prediction."""
    paths = [path for path in (gold, predicted) if isinstance(path, str | os.PathLike)]
    if len(paths) == 2 and all(map(os.path.exists, paths)) and os.path.samefile(*paths):
        raise InputError(f"{system}={os.fspath(paths[1])}: the gold file itself; expected a prediction")
