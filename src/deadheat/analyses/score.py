"""How good is each prediction, with intervals."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from deadheat.analyses.groups import Group, grouped
from deadheat.analyses.looks import recorded, unsealed
from deadheat.corpus import Corpus, read
from deadheat.errors import CorpusError, InputError, NameUnknown
from deadheat.metrics import METRICS, Metric, Pair, align
from deadheat.metrics.metric import CORRECT, GOLD, PREDICTED, Counts, is_proportion, precision, recall
from deadheat.metrics.universal import OFFICIAL
from deadheat.stats import Interval, wilson
from deadheat.stats.checks import check_level
from deadheat.stats.intervals import percentiles, resampled_sums
from deadheat.study.ledger import Look
from deadheat.study.tally import Tally
from deadheat.text import pluralize
from deadheat.version import __version__

INTERVALS = ("auto", "bootstrap")
FEW_UNITS = 20
Given: TypeAlias = str | os.PathLike[str] | Corpus


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """One metric of one prediction (or of a group of its units), with its evidence."""

    file: str
    metric: Metric
    value: float
    interval: Interval
    total: Counts
    counts_NF: Counts
    group: str = ""

    @property
    def correct(self) -> int:
        return int(self.total[CORRECT])

    @property
    def gold(self) -> int:
        return int(self.total[GOLD])

    @property
    def predicted(self) -> int:
        return int(self.total[PREDICTED])

    @property
    def precision(self) -> float:
        return float(precision(self.total))

    @property
    def recall(self) -> float:
        return float(recall(self.total))

    def __str__(self) -> str:
        place = f"{self.file}, {self.group}" if self.group else self.file
        return f"{self.metric.label} {self.value:.4f} {self.interval}, {self.correct} of {self.gold}: {place}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the command prints them under `--json`."""
        row: dict[str, Any] = {"file": self.file, "metric": self.metric.label}
        if self.group:
            row["group"] = self.group
        return row | {
            "value": self.value,
            "low": self.interval.low,
            "high": self.interval.high,
            "correct": self.correct,
            "gold": self.gold,
            "predicted": self.predicted,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """All scores of a call, what to quote with them, and what a reader should know besides."""

    rows: tuple[Score, ...]
    signature: str
    notes: tuple[str, ...] = ()
    by: str = ""
    looks: tuple[Tally, ...] = ()  # how often the test sets were looked at, this time included

    def __str__(self) -> str:
        return "\n".join([*map(str, self.rows), self.signature])

    def __getitem__(self, label: str) -> Score:
        """The first score of a metric, by its label or name."""
        wanted = METRICS.make(label).name if label.lower() == label else label
        for row in self.rows:
            if wanted in (row.metric.label, row.metric.name):
                return row
        raise KeyError(label)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the command prints them under `--json`."""
        found = {"kind": "score", "scores": [row.to_dict() for row in self.rows], "signature": self.signature}
        found |= {"notes": list(self.notes)} if self.notes else {}
        return found | ({"looks": [each.to_dict() for each in self.looks]} if self.looks else {})

    def to_latex(self) -> str:
        """A table of files by metrics, in percent, the best in bold, for the booktabs package."""
        from deadheat.analyses.latex import joined
        from deadheat.analyses.latex_tables import score_tables

        return joined(score_tables({**self.to_dict(), "by": self.by}))


def score(  # noqa: PLR0913 (the options of the command)
    gold: Given | Sequence[Given],
    predictions: Given | Sequence[Given],
    *,
    metrics: Iterable[str] = (),
    training: Given | Sequence[Given] | None = None,
    by: str = "",
    align_by: str = "text",
    unit: str = "sentence",
    interval: str = "auto",
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    look: Look | None = None,
    **reading: Any,
) -> Scores:
    r"""Score predictions against gold.

    Parameters
    ----------
    gold, predictions
        Files, or corpora that were read. Several gold files are one corpus.
    metrics
        Names such as `las`, `las-supar` or `chunks(scheme='bio')`. By default the thirteen of CoNLL 2018 for
        CoNLL-U; accuracy, and F1 of chunks where there are any, for other formats.
    training
        The training file: adds accuracy on known, unknown and ambiguous words.
    by
        Break down by `genre`, `document`, `relation` or `tag`.
    align_by
        `text` or `position`, see `deadheat.metrics.align`.
    unit
        What is resampled where an interval is by bootstrap: `sentence` or `document`.
    interval
        `auto`: Wilson's where the score is a proportion, else by bootstrap. `bootstrap`: for all. Wilson's takes words
        for independent; the bootstrap over sentences does not, and is wider where errors cluster.
    look
        Where to record that a test set was looked at, see `docs/ledger.md`; nothing is recorded without it.
    reading
        Passed on to `deadheat.read` for files.

    Examples
    --------
    >>> from deadheat import read, score
    >>> gold = read(text="the_DT heat_NN is_VBZ dead_JJ\n")
    >>> guess = read(text="the_DT heat_NN is_VBZ dead_NN\n")
    >>> scores = score(gold, guess)
    >>> print(scores["Accuracy (tag)"].value, scores["Accuracy (tag)"].correct)
    0.75 3
    """
    check_level(level)
    if interval not in INTERVALS:
        raise NameUnknown("interval", interval, INTERVALS)
    if resamples < 1:
        raise InputError(f"{resamples} resamples; expected at least 1")
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    given = [predictions] if isinstance(predictions, str | os.PathLike | Corpus) else list(predictions)
    labelled, sealed = unsealed(gold, reading, look, open_corpus)
    wanted: list[Given | Sequence[Given]] = [labelled, *given, *([] if training is None else [training])]
    gold_corpus, *predicted_corpora = open_corpora(wanted, reading)
    train_corpus = predicted_corpora.pop() if training is not None else None
    rows: list[Score] = []
    notes: list[str] = [*sealed]
    units: list[str] = []
    pair: Pair | None = None
    chosen: list[Metric] = []
    for predicted in predicted_corpora:
        pair = align(gold_corpus, predicted, by=align_by, unit=unit, training=train_corpus)
        chosen = [METRICS.make(name) for name in names or default_metrics(pair, by)]
        own = scored(
            pair,
            grouped(pair, chosen, by),
            proportions=interval == "auto",
            level=level,
            resamples=resamples,
            seed=seed,
        )
        rows += own
        notes += notes_on(pair, unit, own)
        units.append(pair.units.name)
    if pair is None:
        raise InputError("no prediction was given; expected at least one")
    shared = "/".join(dict.fromkeys(units))
    method = f"wilson or bootstrap {resamples}" if interval == "auto" else f"bootstrap {resamples}"
    settings = f"unit {shared} | {level:.4g} {method} | seed {seed}"
    signature = _signature(gold_corpus, pair, chosen, by, settings)
    done = recorded(look, gold_corpus, predicted_corpora, [metric.name for metric in chosen], signature)
    return Scores(tuple(rows), signature, tuple(dict.fromkeys([*done.notes, *notes])), by, done.tallies)


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


def open_corpora(given: Sequence[Given | Sequence[Given]], reading: dict[str, Any]) -> list[Corpus]:
    """Several corpora; the faults of all files are told together."""
    corpora: list[Corpus] = []
    errors: list[CorpusError] = []
    for each in given:
        try:
            corpora.append(open_corpus(each, reading))
        except CorpusError as error:
            errors.append(error)
    if errors:
        raise CorpusError.combine(errors)
    return corpora


def open_corpus(given: Given | Sequence[Given], reading: dict[str, Any]) -> Corpus:
    """A corpus as it is, or read from its files."""
    if isinstance(given, Corpus):
        return given
    if isinstance(given, Sequence) and not isinstance(given, str):
        if len(given) == 1 and isinstance(given[0], Corpus):
            return given[0]
        if any(isinstance(each, Corpus) for each in given):
            raise InputError("corpora and files mixed; expected files, or one corpus")
    return read(given, **reading)  # type: ignore[arg-type]


def scored(
    pair: Pair, groups: Iterable[Group], *, proportions: bool, level: float, resamples: int, seed: int
) -> list[Score]:
    """Scores of one aligned prediction; `proportions` get Wilson's interval, all else the bootstrap's."""
    rows: list[Score] = []
    waiting: list[int] = []
    for group in groups:
        total = group.counts_NF.sum(axis=0)
        if proportions and is_proportion(group.counts_NF):
            interval = wilson(int(total[CORRECT]), int(total[GOLD]), level=level)
        else:
            waiting.append(len(rows))
            interval = Interval(np.nan, np.nan, level, "bootstrap")
        value = float(group.metric.value(total))
        rows.append(Score(pair.predicted.name, group.metric, value, interval, total, group.counts_NF, group.name))
    for many in _alike([(at, rows[at]) for at in waiting]):
        stacked = np.concatenate([row.counts_NF[:, :3] for _, row in many], axis=1)
        sums = resampled_sums(stacked, resamples=resamples, rng=np.random.default_rng(seed))
        for i, (at, row) in enumerate(many):
            interval = percentiles(row.metric.value(sums[:, 3 * i : 3 * i + 3]), level=level)
            rows[at] = Score(row.file, row.metric, row.value, interval, row.total, row.counts_NF, row.group)
    return rows


def _alike(rows: Sequence[tuple[int, Score]]) -> list[list[tuple[int, Score]]]:
    """Rows over the same number of units share their resamples."""
    found: dict[int, list[tuple[int, Score]]] = {}
    for at, row in rows:
        if len(row.counts_NF) > 1:
            found.setdefault(len(row.counts_NF), []).append((at, row))
    return list(found.values())


def notes_on(pair: Pair, unit: str, rows: Sequence[Score]) -> list[str]:
    """What a reader should know of a prediction beside its scores."""
    found = []
    if pair.units.name == "block":
        found.append(
            f"{pair.predicted.name}: other sentence boundaries than gold; counted in {len(pair.units):,} blocks "
            f"between common boundaries instead of {unit}s"
        )
    for column, told in (("upos", "UPOS"), ("xpos", "XPOS"), ("feats", "features"), ("lemma", "lemmas")):
        if column in pair.gold.columns and _filled(pair.gold, column) and not _filled(pair.predicted, column):
            found.append(f"{pair.predicted.name}: no {told} in the prediction; they count as wrong")
    if pair.alignment == "position":
        found.append(f"{pair.predicted.name}: words aligned by position; forms, tokens and sentences were not compared")
    if pair.units.name == "document" and not pair.gold.has_documents:
        found.append(f"{pair.gold.name}: no document marks; every file is one document")
    if len(pair.units) < FEW_UNITS and any(row.interval.method == "bootstrap" for row in rows):
        few = pluralize(len(pair.units), pair.units.name)
        found.append(f"{pair.predicted.name}: only {few}; intervals by bootstrap are rough")
    return found


def _filled(corpus: Corpus, column: str) -> bool:
    """Whether a column has anything but `_`."""
    found = corpus.column(column)
    return bool(corpus.words) and bool(np.any(found.codes != found.vocabulary.find("_")))


def _signature(gold: Corpus, pair: Pair, metrics: Sequence[Metric], by: str, settings: str) -> str:
    names = [metric.name for metric in metrics]
    shown = "conll18.v1" if names == [f"{name}.v1" for name in OFFICIAL] else " ".join(names)
    parts = [f"deadheat {__version__}", shown, f"sentences {gold.sentences}", f"words {gold.words}"]
    parts += [f"align {pair.alignment}"]
    parts += [f"by {by}"] if by else []
    parts += [f"training words {pair.training.words}"] if pair.training is not None else []
    return " | ".join([*parts, settings])
