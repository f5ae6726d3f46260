"""How good is each prediction, with confidence intervals; whole, or by document, genre, relation or tag."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, TypeAlias, Unpack

import numpy as np

from deadheat.arguments import Argument
from deadheat.corpus import Corpus
from deadheat.corpus.corpus import UNNAMED
from deadheat.corpus.reading import ReadingOptions
from deadheat.errors import InputError, NameUnknown
from deadheat.items.detection import is_item_source
from deadheat.metrics import METRICS, Metric, Pair
from deadheat.metrics import align as align_words
from deadheat.metrics.metric import CORRECT, FIELDS, GOLD, PREDICTED, Counts, is_proportion, precision, recall
from deadheat.metrics.universal import OFFICIAL, main_label
from deadheat.questions import inputs
from deadheat.questions.columns import GoldColumn, PredictedColumns, check_columns, corpora_of_columns
from deadheat.results.score import Score, Scores, ScoreSettings
from deadheat.stats import Interval, wilson
from deadheat.stats.checks import check_level
from deadheat.stats.estimates import RunScores, effective_units
from deadheat.stats.intervals import percentiles, resampled_sums
from deadheat.study.ledger.ledger import LedgerEntry
from deadheat.text import pluralize

if TYPE_CHECKING:
    from deadheat.items.labels import LabelColumns

AUTO, SENTENCE, DOCUMENT, TOKEN = inputs.UNITS
MIN_SEALED = 10  # sentences of a group whose scores are shown if labels are sealed
MIN_DOCUMENTS = 1.5  # of equal weight; with fewer, one document outweighs all others
FEW_DOCUMENTS = 5  # of equal weight; with fewer, hardly any difference can be shown
# Columns, what their values are called, and metrics that need them beside those that compare the column alone.
COLUMN_METRICS = {
    "upos": ("UPOS", {"mlas"}),
    "xpos": ("XPOS", {"alltags"}),
    "feats": ("features", {"alltags", "mlas"}),
    "lemma": ("lemmas", {"blex"}),
    "deps": ("enhanced dependencies", set()),
}
GROUPS = ("genre", "document", "relation", "tag")
NOTHING = "{}: neither gold nor prediction has anything that {} counts; its score says nothing"
INTERVALS = ("clustered", "bootstrap", "wilson")
MetricNames: TypeAlias = Annotated[
    Iterable[str], Argument("a metric", short="-m", flag="--metric", metavar="NAME", repeat=True)
]
Breakdown: TypeAlias = Annotated[str, Argument("break the scores down by this", choices=GROUPS)]
IntervalMethod: TypeAlias = Annotated[
    str,
    Argument("clustered: units differ; wilson: words are independent, for proportions", choices=INTERVALS),
]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The counts of a metric over all units, or over some units or some words."""

    name: str  # empty for all
    metric: Metric
    counts_NF: Counts


@dataclass(frozen=True, slots=True)
class IntervalSettings:
    """How intervals are computed."""

    method: str = "clustered"
    level: float = 0.95
    resamples: int = 1000
    seed: int = 0


def score(  # noqa: PLR0913 (the options of the command)
    gold: inputs.CorpusSources,
    predictions: inputs.CorpusSources = (),
    *,
    predicted: PredictedColumns = (),
    gold_column: GoldColumn = "",
    metrics: MetricNames = (),
    train: inputs.Train = None,
    by: Breakdown = "",
    align: inputs.Align = "text",
    unit: inputs.AnyUnit = AUTO,
    item: inputs.ItemColumn = "",
    cluster: inputs.ClusterColumn = "",
    errors: inputs.Errors = inputs.OMIT,
    interval: IntervalMethod = "clustered",
    level: inputs.Level = 0.95,
    resamples: inputs.Resamples = 1000,
    seed: inputs.Seed = 0,
    ledger_entry: LedgerEntry | None = None,
    **reading: Unpack[ReadingOptions],
) -> Scores:
    r"""Score predictions against gold.

    Parameters
    ----------
    gold, predictions
        Files, or corpora that were read. Several gold files are one corpus.
    predicted, gold_column
        Columns of column files, by name or number, or of tables. Without predictions, gold is in the files of the
        predictions.
    metrics
        Names such as `las`, `las-supar` or `chunks(scheme='bio')`. By default the thirteen metrics of CoNLL 2018 for
        CoNLL-U; accuracy, and F1 of chunks where there are any, for other formats.
    train
        The training file: adds accuracy on known, unknown and ambiguous words.
    by
        Break down by `genre`, `document`, `relation` or `tag`.
    align
        `text` or `position`, see `deadheat.metrics.align`.
    unit
        What varies between test sets: `document` where several are marked, else `sentence`.
    item, cluster, errors
        For tables with labels of items: their columns, and whether items without a prediction are left out or wrong.
    interval
        `clustered`: units vary as wholes (the jackknife, in Wilson's form). `bootstrap`: they are resampled. `wilson`:
        for proportions, as if words were independent, which is too narrow where errors cluster.
    ledger_entry
        Where to record the evaluation of a test set, see `docs/ledger.md`; nothing is recorded without it.
    reading
        Passed on to `deadheat.read` for files.

    Examples
    --------
    >>> from deadheat import read, score
    >>> gold = read(text="the_DT heat_NN is_VBZ dead_JJ\n")
    >>> predicted = read(text="the_DT heat_NN is_VBZ dead_NN\n")
    >>> scores = score(gold, predicted)
    >>> print(scores["Accuracy (tag)"].value, scores["Accuracy (tag)"].correct)
    0.75 3
    """
    check_level(level)
    if interval not in INTERVALS:
        raise NameUnknown("interval", interval, INTERVALS)
    if resamples < 1:
        raise InputError(f"{resamples} resamples; expected at least 1")
    names, columns = ([given] if isinstance(given, str) else list(given) for given in (metrics, predicted))
    files = inputs.sources_of(predictions)
    intervals = IntervalSettings(interval, level, resamples, seed)
    if item or cluster or any(is_item_source(source, [*columns, gold_column]) for source in (gold, *files)):
        from deadheat.questions.score_items import ItemScoring, score_predictions

        refuse_for_items(by=by, train=train, align=align != "text", **reading_given(reading))
        columns_of: LabelColumns = {"item": item, "cluster": cluster, "gold_column": gold_column, "predicted": columns}
        options = ItemScoring(unit, errors, intervals, ledger_entry)
        return score_predictions(gold, files, columns_of, names, options)
    if unit not in inputs.UNITS:
        raise NameUnknown("unit", unit, inputs.UNITS)
    if columns or gold_column:
        gold, *corpora = corpora_of_columns(gold, files, columns, gold_column, reading)
        files = list[inputs.CorpusSource](corpora)
    if not files:
        raise InputError("no prediction was given; expected at least one, or --predicted to name a column")
    labelled, sealing_notes = inputs.unseal(gold, reading, ledger_entry)
    gold_corpus, *corpora = inputs.open_corpora([labelled, *files, *([] if train is None else [train])], reading)
    train_corpus = corpora.pop() if train is not None else None
    if by in (DOCUMENT, "genre") and (sealing_notes or inputs.is_sealed(ledger_entry, gold_corpus)):
        _check_groups(gold_corpus, by)
    unit = choose_unit(gold_corpus, unit) if by != "document" else SENTENCE
    rows: list[Score] = []
    notes: list[str] = [*sealing_notes]
    units: list[str] = []
    measures: list[Metric] = []
    for source, corpus in zip(files, corpora, strict=True):
        pair = align_words(gold_corpus, corpus, by=align, unit=unit, training=train_corpus)
        if not isinstance(source, Corpus):
            check_columns(pair, reading)
        measures = [METRICS.find(name) for name in names or default_metrics(pair, by)]
        check_gold(gold_corpus, measures)
        scores = group_scores(corpus.name, list(_groups(pair, measures, by)), intervals)
        rows += scores
        notes += [
            NOTHING.format(row.system, row.metric) for row in scores if not row.group and not row.gold + row.predicted
        ]
        notes += notes_on(pair, unit, measures)
        units.append(pair.units.name)
    metric_names, unit = tuple(metric.name for metric in measures), "/".join(dict.fromkeys(units))
    sampling = (align, unit, interval, level, resamples, seed)
    train_words = None if train_corpus is None else train_corpus.words
    settings = ScoreSettings(metric_names, gold_corpus.sentences, gold_corpus.words, *sampling, by, train_words)
    result = Scores(tuple(rows), settings)
    recorded = inputs.record(ledger_entry, gold_corpus, corpora, settings.metrics, result.signature)
    return replace(result, notes=tuple(dict.fromkeys([*recorded.notes, *notes])), evaluations=recorded.tallies)


def refuse_for_items(**options: object) -> None:
    """Refuse options that are for corpora alone."""
    for name, value in options.items():
        if value:
            raise InputError(f"--{name} with labels of items; expected none")


def reading_given(reading: ReadingOptions) -> dict[str, object]:
    """Options of reading corpora that are not as by default."""
    return {name: value for name, value in reading.items() if value not in (None, "auto", (), [], set())}


def default_metrics(pair: Pair, by: str = "") -> list[str]:
    """What a person expects to see for corpora of this kind, broken down or not."""
    columns = pair.gold.columns
    labels = [name for name in columns if name != "form" and not name.startswith(UNNAMED)]
    if not labels:
        raise InputError(f"{pair.gold.name}: words alone; expected a column of labels to score")
    if "deprel" in columns and by in ("relation", "tag"):
        return ["las"] if by == "relation" else ["upos"]
    if "deprel" in columns:
        names = [name for name in OFFICIAL if pair.alignment == "text" or name not in ("tokens", "sentences", "words")]
        label = "upos"
    else:
        label = labels[-1]
        used = columns[label].frequencies() > 0
        tags = [tag for tag, occurs in zip(columns[label].vocabulary.strings, used, strict=True) if occurs]
        chunked = all(tag == "O" or tag[1:2] == "-" for tag in tags) and "O" in tags
        names = [f"chunks(column={label!r})"] if chunked else []
        names += [f"accuracy(column={label!r})", f"sentence-accuracy(column={label!r})"]
    if pair.training is not None:
        names += [f"{kind}(column={label!r})" for kind in ("known", "unknown", "ambiguous")]
    return names


def default_metric(pair: Pair) -> str:
    """The one number that systems of this kind are compared by."""
    if "deprel" in pair.gold.columns:
        return "las" if pair.gold.heads is not None else "upos"
    return default_metrics(pair)[0]


def choose_unit(gold: Corpus, unit: str) -> str:
    """Documents where enough of them are marked, else sentences; or the unit that was asked for."""
    if unit != AUTO:
        return unit
    if not gold.has_documents:
        return SENTENCE
    words = np.bincount(gold.documents, np.diff(gold.offsets)).astype(float)
    return DOCUMENT if effective_units(words) >= MIN_DOCUMENTS else SENTENCE


def group_scores(system: str, groups: Sequence[Group], settings: IntervalSettings) -> list[Score]:
    """Scores of one system with their intervals."""
    if settings.method == "bootstrap":
        return _bootstrapped(system, groups, settings)
    rows = []
    for group in groups:
        total = group.counts_NF.sum(axis=0)
        counts_NF = group.counts_NF[:, : group.metric.width]
        if settings.method == "wilson" and counts_NF.shape[1] == len(FIELDS) and is_proportion(counts_NF):
            interval = wilson(int(total[CORRECT]), int(total[GOLD]), level=settings.level)
        elif not len(group.counts_NF):
            interval = Interval(np.nan, np.nan, settings.level, "clustered wilson")
        else:
            runs = RunScores.of(counts_NF[None], group.metric.value)
            interval = runs.estimate().estimate.bounded_interval(runs.units, settings.level)
        rows.append(score_of(system, group.metric, total, interval, group.name))
    return rows


def _bootstrapped(system: str, groups: Sequence[Group], settings: IntervalSettings) -> list[Score]:
    rows: list[Score] = []
    same_units: dict[tuple[int, ...], list[int]] = {}  # groups of the same number of units share their resamples
    for at, group in enumerate(groups):
        interval = Interval(np.nan, np.nan, settings.level, "bootstrap")
        if len(group.counts_NF) > 1:
            same_units.setdefault((len(group.counts_NF), group.metric.width), []).append(at)
        rows.append(score_of(system, group.metric, group.counts_NF.sum(axis=0), interval, group.name))
    for (_, width), indices in same_units.items():
        stacked = np.concatenate([groups[at].counts_NF[:, :width] for at in indices], axis=1)
        sums = resampled_sums(stacked, resamples=settings.resamples, rng=np.random.default_rng(settings.seed))
        for i, at in enumerate(indices):
            values = groups[at].metric.value(sums[:, width * i : width * (i + 1)])
            rows[at] = replace(rows[at], interval=percentiles(values, level=settings.level))
    return rows


def score_of(system: str, metric: Metric, total: Counts, interval: Interval, group: str = "") -> Score:
    """A score from the sum of counts."""
    value, counts = float(metric.value(total)), (int(total[CORRECT]), int(total[GOLD]), int(total[PREDICTED]))
    rates = (float(precision(total)), float(recall(total)))
    return Score(system, metric.label, metric.name, value, interval, *counts, *rates, group)


def check_gold(gold: Corpus, metrics: Sequence[Metric]) -> None:
    """Refuse gold in which there is nothing to score."""
    if not gold.sentences:
        raise InputError(f"{gold.name}: no sentences; expected some to score")
    for metric in metrics:
        if metric.compares == "deps" and not _has_values(gold, "deps"):
            raise InputError(f"{gold.name}: no enhanced dependencies; expected some in DEPS for {metric.label}")


def notes_on(pair: Pair, unit: str, metrics: Sequence[Metric]) -> list[str]:
    """What a reader should know about a prediction beside its scores by these metrics."""
    notes = []
    predicted, gold = pair.predicted.name, pair.gold.name
    if pair.units.name == "block":
        notes.append(
            f"{predicted}: sentence boundaries differ from gold; counted in {len(pair.units):,} blocks "
            f"between common boundaries instead of {unit}s"
        )
    scored = {name for metric in metrics for name in (metric.compares, metric.base)}
    for column, (plural, others) in COLUMN_METRICS.items():
        in_gold = column in pair.gold.columns and _has_values(pair.gold, column)
        if scored & {column, *others} and in_gold and not _has_values(pair.predicted, column):
            notes.append(f"{predicted}: no {plural} in the prediction; they count as wrong")
    if pair.alignment == "position":
        notes.append("words are aligned by position; forms, tokens and sentences were not compared")
    if pair.units.name == "document" and not pair.gold.has_documents:
        notes.append(f"{gold}: no document marks; every file is one document")
    return notes


def _has_values(corpus: Corpus, column: str) -> bool:
    """Whether a column has anything but `_`."""
    values = corpus.column(column)
    return bool(corpus.words) and bool(np.any(values.codes != values.vocabulary.find("_")))


def _groups(pair: Pair, metrics: Sequence[Metric], by: str) -> Iterator[Group]:
    """The counts of each metric, whole or broken down."""
    if by and by not in GROUPS:
        raise NameUnknown("breakdown", by, GROUPS)
    if by in ("relation", "tag"):
        yield from _by_class(pair, metrics, by)
        return
    if not by:
        yield from (Group("", metric, metric.counts(pair)) for metric in metrics)
        return
    codes, names = _units_by(pair, by)
    for metric in metrics:
        counts_NF = metric.counts(pair)
        yield from (Group(name, metric, counts_NF[codes == code]) for code, name in enumerate(names))


def _units_by(pair: Pair, by: str) -> tuple[np.ndarray, Sequence[str]]:
    """The group of every unit, by its first sentence."""
    codes, names = _sentences_by(pair.gold, by)
    return codes[pair.units.gold_sentences], names


def _sentences_by(gold: Corpus, by: str) -> tuple[np.ndarray, Sequence[str]]:
    """The group of every sentence, and the names of the groups."""
    from deadheat.corpus.documents import document_names, genres

    if by == "genre":
        return genres(gold)
    if not gold.has_documents:
        raise InputError(f"{gold.name}: no document marks; expected `# newdoc` comments or -DOCSTART- lines")
    return gold.documents, document_names(gold)


def _check_groups(gold: Corpus, by: str) -> None:
    """Refuse scores of a few sentences whose labels are sealed."""
    fewest = int(np.bincount(_sentences_by(gold, by)[0]).min())
    if fewest < MIN_SEALED:
        problem = f"by {by}: one with {pluralize(fewest, 'sentence')}; its score says much about labels that are sealed"
        raise InputError(f"{gold.name} {problem}; expected at least {MIN_SEALED} sentences in each, or no --by {by}")


def _by_class(pair: Pair, metrics: Sequence[Metric], by: str) -> Iterator[Group]:
    """One metric for each relation, tag or type of chunk: its precision, recall and F1."""
    for metric in metrics:
        if (by == "relation") != (metric.compares == "tree") or metric.compares in ("", "head"):
            wanted = "las, by relation" if by == "relation" else "upos, xpos, accuracy or chunks, by tag"
            raise InputError(f"{metric.name} by {by}; expected {wanted}")
        column = metric.compares if metric.compares in pair.gold.columns else "upos"
        make, settings = "tag", {"column": column}
        class_of: Callable[[str], str] = str
        if by == "relation":
            make, column, settings, class_of = "relation", "deprel", {}, main_label
        elif metric.base == "chunks":
            make, settings, class_of = "chunks", dict(metric.settings), lambda tag: tag.partition("-")[2]
        for name in _classes(pair, column, class_of):
            narrowed = METRICS.make(make, **(settings | {"label": name}))
            yield Group(name, replace(narrowed, label=metric.label), narrowed.counts(pair))


def _classes(pair: Pair, column: str, class_of: Callable[[str], str]) -> list[str]:
    """The classes that occur on either side, the most frequent in gold first."""
    frequency: dict[str, int] = {}
    for weight, side in ((1, pair.gold.column(column)), (0, pair.predicted.column(column))):
        for string, times in zip(side.vocabulary.strings, side.frequencies().tolist(), strict=True):
            name = class_of(string)
            if times and name:
                frequency[name] = frequency.get(name, 0) + weight * times
    return sorted(frequency, key=lambda name: (-frequency[name], name))
