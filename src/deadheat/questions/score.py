"""How good is each prediction, with confidence intervals."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deadheat.corpus import Corpus
from deadheat.errors import InputError, NameUnknown
from deadheat.metrics import METRICS, Metric, Pair
from deadheat.metrics import align as align_words
from deadheat.metrics.metric import CORRECT, GOLD, PREDICTED, Counts, is_proportion, precision, recall
from deadheat.metrics.universal import OFFICIAL
from deadheat.questions.groups import Group, grouped
from deadheat.questions.inputs import CorpusSource, open_corpora, record, unseal
from deadheat.results.score import Score, Scores, ScoreSettings
from deadheat.stats import Interval, wilson
from deadheat.stats.intervals import check_level, percentiles, resampled_sums
from deadheat.study.ledger.ledger import LedgerEntry
from deadheat.text import pluralize

INTERVALS = ("auto", "bootstrap")
FEW_UNITS = 20


@dataclass(frozen=True, slots=True, eq=False)
class CountedScore:
    """A score with the counts of every unit behind it."""

    score: Score
    metric: Metric
    counts_NF: Counts


def score(  # noqa: PLR0913 (the options of the command)
    gold: CorpusSource | Sequence[CorpusSource],
    predictions: CorpusSource | Sequence[CorpusSource],
    *,
    metrics: Iterable[str] = (),
    train: CorpusSource | Sequence[CorpusSource] | None = None,
    by: str = "",
    align: str = "text",
    unit: str = "sentence",
    interval: str = "auto",
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    ledger_entry: LedgerEntry | None = None,
    **reading: Any,
) -> Scores:
    r"""Score predictions against gold.

    Parameters
    ----------
    gold, predictions
        Files, or corpora that were read. Several gold files are one corpus.
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
        What is resampled where an interval is by bootstrap: `sentence` or `document`.
    interval
        `auto`: Wilson's where the score is a proportion, else by bootstrap. `bootstrap`: for all. Wilson's interval
        treats words as independent; the bootstrap over sentences does not, and is wider where errors cluster.
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
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    files = [predictions] if isinstance(predictions, str | os.PathLike | Corpus) else list(predictions)
    if not files:
        raise InputError("no prediction was given; expected at least one")
    labelled, sealing_notes = unseal(gold, reading, ledger_entry)
    gold_corpus, *predicted = open_corpora([labelled, *files, *([] if train is None else [train])], reading)
    train_corpus = predicted.pop() if train is not None else None
    rows: list[Score] = []
    notes: list[str] = [*sealing_notes]
    units: list[str] = []
    made: list[Metric] = []
    for corpus in predicted:
        pair = align_words(gold_corpus, corpus, by=align, unit=unit, training=train_corpus)
        made = [METRICS.make(name) for name in names or default_metrics(pair, by)]
        counted = count_scores(
            pair,
            grouped(pair, made, by),
            proportions=interval == "auto",
            level=level,
            resamples=resamples,
            seed=seed,
        )
        rows += [item.score for item in counted]
        notes += notes_on(pair, unit, rows[-len(counted) :])
        units.append(pair.units.name)
    settings = ScoreSettings(
        tuple(metric.name for metric in made),
        gold_corpus.sentences,
        gold_corpus.words,
        align,
        "/".join(dict.fromkeys(units)),
        interval,
        level,
        resamples,
        seed,
        by,
        None if train_corpus is None else train_corpus.words,
    )
    scores = Scores(tuple(rows), settings)
    recorded = record(ledger_entry, gold_corpus, predicted, settings.metrics, scores.signature)
    return replace(scores, notes=tuple(dict.fromkeys([*recorded.notes, *notes])), evaluations=recorded.tallies)


def default_metrics(pair: Pair, by: str = "") -> list[str]:
    """What a person expects to see for corpora of this kind, broken down or not."""
    columns = pair.gold.columns
    if len(columns) < 2:
        raise InputError(f"{pair.gold.name}: words alone; expected a column of labels to score")
    if "deprel" in columns and by in ("relation", "tag"):
        return ["las"] if by == "relation" else ["upos"]
    if "deprel" in columns:
        names = [name for name in OFFICIAL if pair.alignment == "text" or name not in ("tokens", "sentences", "words")]
        label = "upos"
    else:
        label = [name for name in columns if name != "form"][-1]
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


def count_scores(
    pair: Pair, groups: Iterable[Group], *, proportions: bool, level: float, resamples: int, seed: int
) -> list[CountedScore]:
    """Scores of one aligned prediction; `proportions` get Wilson's interval, all others the bootstrap's."""
    rows: list[CountedScore] = []
    same_units: dict[int, list[int]] = {}  # rows over the same number of units share their resamples
    for group in groups:
        total = group.counts_NF.sum(axis=0)
        if proportions and is_proportion(group.counts_NF):
            interval = wilson(int(total[CORRECT]), int(total[GOLD]), level=level)
        else:
            interval = Interval(np.nan, np.nan, level, "bootstrap")
            if len(group.counts_NF) > 1:
                same_units.setdefault(len(group.counts_NF), []).append(len(rows))
        row = score_of(pair.predicted.name, group.metric, total, interval, group.name)
        rows.append(CountedScore(row, group.metric, group.counts_NF))
    for indices in same_units.values():
        stacked = np.concatenate([rows[at].counts_NF[:, :3] for at in indices], axis=1)
        sums = resampled_sums(stacked, resamples=resamples, rng=np.random.default_rng(seed))
        for i, at in enumerate(indices):
            interval = percentiles(rows[at].metric.value(sums[:, 3 * i : 3 * i + 3]), level=level)
            rows[at] = replace(rows[at], score=replace(rows[at].score, interval=interval))
    return rows


def score_of(system: str, metric: Metric, total: Counts, interval: Interval, group: str = "") -> Score:
    """A score from the sum of counts."""
    return Score(
        system,
        metric.label,
        metric.name,
        float(metric.value(total)),
        interval,
        int(total[CORRECT]),
        int(total[GOLD]),
        int(total[PREDICTED]),
        float(precision(total)),
        float(recall(total)),
        group,
    )


def notes_on(pair: Pair, unit: str, rows: Sequence[Score]) -> list[str]:
    """What a reader should know about a prediction beside its scores."""
    notes = []
    predicted, gold = pair.predicted.name, pair.gold.name
    if pair.units.name == "block":
        notes.append(
            f"{predicted}: sentence boundaries differ from gold; counted in {len(pair.units):,} blocks "
            f"between common boundaries instead of {unit}s"
        )
    for column, plural in (("upos", "UPOS"), ("xpos", "XPOS"), ("feats", "features"), ("lemma", "lemmas")):
        if column in pair.gold.columns and _has_values(pair.gold, column) and not _has_values(pair.predicted, column):
            notes.append(f"{predicted}: no {plural} in the prediction; they count as wrong")
    if pair.alignment == "position":
        notes.append(f"{predicted}: words aligned by position; forms, tokens and sentences were not compared")
    if pair.units.name == "document" and not pair.gold.has_documents:
        notes.append(f"{gold}: no document marks; every file is one document")
    if len(pair.units) < FEW_UNITS and any(row.interval.method == "bootstrap" for row in rows):
        notes.append(f"{predicted}: only {pluralize(len(pair.units), pair.units.name)}; bootstrap intervals are rough")
    return notes


def _has_values(corpus: Corpus, column: str) -> bool:
    """Whether a column has anything but `_`."""
    values = corpus.column(column)
    return bool(corpus.words) and bool(np.any(values.codes != values.vocabulary.find("_")))
