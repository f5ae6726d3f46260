"""Compare systems: which differences are real."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from deadheat.corpus import Corpus
from deadheat.errors import InputError
from deadheat.metrics import METRICS, Metric, Pair, align
from deadheat.metrics.metric import Counts
from deadheat.questions.contest import Contest, Settings, verdict
from deadheat.questions.disagreement import Disagreement, disagreement
from deadheat.questions.groups import grouped
from deadheat.questions.looks import recorded, unsealed
from deadheat.questions.score import Given, Score, default_metric, notes_on, open_corpora, open_corpus, scored
from deadheat.stats.ranks import CriticalDifference
from deadheat.study.ledger.ledger import LedgerEntry, Tally
from deadheat.text import pluralize
from deadheat.version import __version__


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Scores of systems on the same units, every pair tested, and who is tied with the best."""

    metric: str
    unit: str
    reason: str  # why this test
    settings: Settings
    systems: tuple[Score, ...]
    pairs: tuple[Contest, ...]
    tied: tuple[str, ...]
    units: int
    scale: float = 100.0  # what scores are multiplied by to be shown
    alignment: str = ""  # of words, where files were compared
    besides: tuple[Score, ...] = ()  # other scores of the same systems: unknown words, whole sentences
    disagreement: Disagreement | None = None
    ranks: CriticalDifference | None = None  # over data sets, for three systems or more
    notes: tuple[str, ...] = ()
    looks: tuple[Tally, ...] = ()  # how often the test sets were looked at, this time included

    @property
    def test(self) -> str:
        return self.settings.test

    @property
    def decimals(self) -> int:
        """How many to show: two for percentages, four for scores of a table that are shares."""
        return 4 if self.scale == 1 and all(abs(row.value) <= 2 for row in self.systems) else 2

    @property
    def signature(self) -> str:
        """All that the numbers depend on, to quote in a paper."""
        return " | ".join(
            [
                f"deadheat {__version__}",
                self.systems[0].metric.name,
                *([f"align {self.alignment}"] if self.alignment else []),
                f"units {self.units} ({self.unit})",
                self.test,
                f"{self.settings.correction}, {pluralize(len(self.pairs), 'test')}",
                f"alpha {self.settings.alpha:g}",
                f"bootstrap intervals, {self.settings.resamples} resamples",
                f"seed {self.settings.seed}",
            ]
        )

    def __str__(self) -> str:
        return "\n".join(
            [*map(str, self.systems), *map(str, self.pairs), f"tied with the best: {', '.join(self.tied)}"]
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the command prints them under `--json`."""
        rows = [
            {"system": row.file, "value": row.value, "low": row.interval.low, "high": row.interval.high}
            for row in self.systems
        ]
        found = {
            "kind": "compare",
            "systems": rows,
            "pairs": [pair.to_dict() | {"winner": pair.winner(self.settings.alpha)} for pair in self.pairs],
            "tied": list(self.tied),
            "agreement": self.disagreement.to_dict() if self.disagreement else {},
            "besides": [row.to_dict() for row in self.besides],
            "ranks": self.ranks.to_dict() if self.ranks else {},
            "metric": self.metric,
            "unit": self.unit,
            "test": self.test,
            "reason": self.reason,
            "correction": self.settings.correction,
            "alpha": self.settings.alpha,
            "scale": self.scale,
            "signature": self.signature,
            "notes": list(self.notes),
        }
        return found | ({"looks": [each.to_dict() for each in self.looks]} if self.looks else {})

    def to_latex(self) -> str:
        """Systems with intervals and who is tied with the best, then pairs with p-values, for the booktabs package."""
        from deadheat.questions.latex import joined
        from deadheat.questions.latex_tables import compare_tables

        return joined(compare_tables(self.to_dict()))


def compare(  # noqa: PLR0913 (the options of the command)
    gold: Given | Sequence[Given],
    systems: Mapping[str, Given],
    *,
    metric: str = "",
    unit: str = "sentence",
    settings: Settings | None = None,
    reference: str = "",
    training: Given | Sequence[Given] | None = None,
    align_by: str = "text",
    ledger_entry: LedgerEntry | None = None,
    **reading: Any,
) -> Comparison:
    r"""Compare systems on one test set.

    Parameters
    ----------
    systems
        Predictions by the name of their system, two or more.
    metric
        By default LAS for trees, else the first metric that `deadheat.score` would show.
    unit
        What is swapped or drawn: `sentence`, `document`, or `token` where the metric counts words.
    settings
        The test, the correction for many tests, alpha, resamples and seed.
    reference
        Test every system against this one alone.
    training
        The training file: accuracy on unknown words is shown besides, for metrics of tags.
    ledger_entry
        Where to record that a test set was looked at, see `docs/ledger.md`; nothing is recorded without it.

    Examples
    --------
    >>> import deadheat
    >>> gold = deadheat.read(text="a_X b_Y c_Z\n" * 20)
    >>> good, bad = deadheat.read(text="a_X b_Y c_X\n" * 20), deadheat.read(text="a_X b_X c_X\n" * 20)
    >>> found = deadheat.compare(gold, {"good": good, "bad": bad})
    >>> print(found.pairs[0].test, found.pairs[0].p, found.tied)
    permutation-exact 1.9073486328125e-06 ('good',)
    """
    settings = settings or Settings()
    labelled, sealed = unsealed(gold, reading, ledger_entry, open_corpus)
    gold_corpus, named = _opened(labelled, systems, reading)
    everyone = list(named.values())
    chosen, pairs = _aligned(gold_corpus, everyone, metric, unit, align_by)
    shared: dict[str, Any] = {"level": 1 - settings.alpha, "resamples": settings.resamples, "seed": settings.seed}
    rows = [row for pair in pairs for row in scored(pair, grouped(pair, [chosen], ""), proportions=False, **shared)]
    notes = [note for pair, row in zip(pairs, rows, strict=True) for note in notes_on(pair, unit, [row])]
    counts, name = _common_counts({row.file: row.counts_NF[:, :3] for row in rows}, pairs)
    found = verdict(counts, {row.file: row.value for row in rows}, chosen.value, settings, reference=reference)
    same_words = all(pair.same_words for pair in pairs)
    comparison = Comparison(
        chosen.label,
        name,
        found.reason,
        found.settings,
        tuple(rows),
        found.pairs,
        found.tied,
        len(counts[everyone[0].name]),
        alignment=align_by,
        besides=_besides(pairs, chosen, training, reading, shared) if same_words else (),
        disagreement=_disagreement(gold_corpus, named, chosen, sealed=bool(sealed)) if same_words else None,
        notes=tuple(dict.fromkeys([*sealed, *notes])),
    )
    done = recorded(ledger_entry, gold_corpus, everyone, [chosen.name], comparison.signature)
    return replace(comparison, notes=tuple(dict.fromkeys([*done.notes, *comparison.notes])), looks=done.tallies)


def _disagreement(gold: Corpus, named: Mapping[str, Corpus], metric: Metric, *, sealed: bool) -> Disagreement | None:
    """How far systems agree; no sentences are shown of gold that is sealed."""
    found = disagreement(gold, named, metric)
    return replace(found, sentences=()) if found is not None and sealed else found


def compared_counts(
    gold: Given | Sequence[Given],
    systems: Mapping[str, Given],
    *,
    metric: str,
    unit: str,
    reading: dict[str, Any],
    ledger_entry: LedgerEntry | None = None,
) -> tuple[Metric, dict[str, Counts], tuple[str, ...]]:
    """The metric, the counts of every system over the same units, and what a person should be told."""
    align_by = reading.pop("align_by", "text")
    labelled, sealed = unsealed(gold, reading, ledger_entry, open_corpus)
    gold_corpus, named = _opened(labelled, systems, reading)
    everyone = list(named.values())
    chosen, pairs = _aligned(gold_corpus, everyone, metric, unit, align_by)
    counts, _ = _common_counts({pair.predicted.name: chosen.counts(pair)[:, :3] for pair in pairs}, pairs)
    done = recorded(
        ledger_entry, gold_corpus, everyone, [chosen.name], f"{chosen.name} | align {align_by} | unit {unit}"
    )
    return chosen, counts, (*done.notes, *sealed)


def _aligned(
    gold: Corpus, systems: Sequence[Corpus], metric: str, unit: str, align_by: str
) -> tuple[Metric, list[Pair]]:
    if unit == "document" and not gold.has_documents:
        raise InputError(f"{gold.name}: no document marks; expected them to compare by document")
    pairs = [align(gold, each, by=align_by, unit=unit) for each in systems]
    return METRICS.make(metric or default_metric(pairs[0])), pairs


def _common_counts(counts: Mapping[str, Counts], pairs: Sequence[Pair]) -> tuple[dict[str, Counts], str]:
    """Counts of every system, each over units of its own, over the units that all share, and what such a unit is.

    Systems with sentence boundaries of their own have blocks of their own; cut where all of them and gold begin a
    sentence, the same row is the same text for everybody.
    """
    if pairs[0].units.name == "token":
        if any(each[:, 1].max(initial=0) > 1 for each in counts.values()):
            raise InputError("the metric counts more than one item a token; expected sentences or documents as units")
        return dict(counts), "token"
    common = reduce(np.intersect1d, [pair.units.gold_sentences for pair in pairs])
    shared = {}
    for (name, each), pair in zip(counts.items(), pairs, strict=True):
        rows = np.searchsorted(pair.units.gold_sentences, common)
        shared[name] = np.add.reduceat(each, rows, axis=0) if len(rows) else each
    kinds = {pair.units.name for pair in pairs}
    return shared, kinds.pop() if len(kinds) == 1 else "block"


def _opened(
    gold: Given | Sequence[Given], systems: Mapping[str, Given], reading: dict[str, Any]
) -> tuple[Corpus, dict[str, Corpus]]:
    if len(systems) < 2:
        raise InputError(f"{pluralize(len(systems), 'system')}; expected at least two to compare")
    for name, given in systems.items():
        if isinstance(given, str | os.PathLike) and isinstance(gold, str | os.PathLike) and _same_file(gold, given):
            raise InputError(f"{name}={os.fspath(given)}: the gold file itself; expected a prediction")
    gold_corpus, *others = open_corpora([gold, *systems.values()], reading)
    return gold_corpus, {name: replace(each, name=name) for name, each in zip(systems, others, strict=True)}


def _same_file(a: str | os.PathLike[str], b: str | os.PathLike[str]) -> bool:
    return os.path.exists(a) and os.path.exists(b) and os.path.samefile(a, b)


def _besides(
    pairs: Sequence[Pair],
    metric: Metric,
    training: Given | Sequence[Given] | None,
    reading: dict[str, Any],
    shared: dict[str, Any],
) -> tuple[Score, ...]:
    """For tags: accuracy on whole sentences and, given the training file, on unknown words."""
    column = metric.compares
    if column in ("", "head", "tree") or metric.base == "chunks":
        return ()
    names = [f"sentence-accuracy(column={column!r})"]
    names += [f"unknown(column={column!r})"] if training is not None else []
    train = None if training is None else open_corpus(training, reading)
    # These are shown by sentence whatever the unit of the comparison is.
    sides = [align(pair.gold, pair.predicted, by=pair.alignment, training=train) for pair in pairs]
    made = [METRICS.make(name) for name in names]
    return tuple(row for pair in sides for row in scored(pair, grouped(pair, made, ""), proportions=True, **shared))
