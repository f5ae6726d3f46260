"""Compare systems: which differences are real."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deadheat.analyses.contest import Contest, Settings, choose_test, contests, tied
from deadheat.analyses.disagreement import Disagreement, disagreement
from deadheat.analyses.latex import booktabs
from deadheat.analyses.score import Given, Score, Scores, default_metrics, open_corpus, score
from deadheat.corpus import Corpus
from deadheat.corpus.faults import counted
from deadheat.errors import InputError
from deadheat.metrics import METRICS, Metric, align
from deadheat.metrics.metric import Counts
from deadheat.stats.ranks import CriticalDifference
from deadheat.version import __version__


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Scores of systems on the same units, every pair tested, and who is tied with the best."""

    metric: str
    unit: str
    test: str
    reason: str
    settings: Settings
    systems: tuple[Score, ...]
    pairs: tuple[Contest, ...]
    tied: tuple[str, ...]
    besides: tuple[Score, ...] = ()  # other scores of the same systems: unknown words, whole sentences
    disagreement: Disagreement | None = None
    ranks: CriticalDifference | None = None  # over data sets, for three systems or more
    notes: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """All that the numbers depend on, to quote in a paper."""
        tested = f"{self.test} ({self.settings.resamples} resamples)" if self.sampled else self.test
        return " | ".join(
            [
                f"deadheat {__version__}",
                self.systems[0].metric.name,
                f"units {len(self.systems[0].counts_NF)} ({self.unit})",
                tested,
                f"{self.settings.correction}, {counted(len(self.pairs), 'test')}",
                f"alpha {self.settings.alpha:g}",
                f"seed {self.settings.seed}",
            ]
        )

    @property
    def sampled(self) -> bool:
        """Whether the p-values come from resamples."""
        return self.test in ("bootstrap", "randomization")

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
        return {
            "systems": rows,
            "pairs": [pair.to_dict() for pair in self.pairs],
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
            "signature": self.signature,
        }

    def to_latex(self) -> str:
        """Pairs of systems with difference, interval and corrected p, for the booktabs package."""
        rows = [
            [
                f"{pair.a} - {pair.b}",
                f"{100 * pair.difference:+.2f}",
                f"[{100 * pair.interval.low:.2f}, {100 * pair.interval.high:.2f}]",
                f"{pair.p:.4f}",
                f"{pair.p_corrected:.4f}",
            ]
            for pair in self.pairs
        ]
        return booktabs(["systems", "difference", "interval", "p", "p corrected"], rows)


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
    gold_corpus, named = _opened(gold, systems, reading)
    everyone = list(named.values())
    shared: dict[str, Any] = {"align_by": align_by, "level": 1 - settings.alpha, "seed": settings.seed}
    chosen, found = _scored(gold_corpus, everyone, metric, unit, shared)
    counts = {row.file: row.counts_NF[:, :3] for row in found.rows}
    test, reason = (settings.test, "asked for") if settings.test else choose_test(list(counts.values()))
    pairs = contests(counts, chosen.value, settings, reference=reference)
    values = {row.file: row.value for row in found.rows}
    same_words = all(align(gold_corpus, each, by=align_by).same_words for each in everyone)
    return Comparison(
        chosen.label,
        unit,
        test,
        reason,
        settings,
        found.rows,
        pairs,
        tied(values, counts, chosen.value, settings, pairs),
        _besides(gold_corpus, everyone, chosen, training, reading, shared) if same_words else (),
        disagreement(gold_corpus, named, chosen) if same_words else None,
        notes=found.notes,
    )


def compared_counts(
    gold: Given | Sequence[Given], systems: Mapping[str, Given], *, metric: str, unit: str, reading: dict[str, Any]
) -> tuple[Metric, dict[str, Counts]]:
    """The metric, and the counts of every system over the same units."""
    align_by = reading.pop("align_by", "text")
    gold_corpus, named = _opened(gold, systems, reading)
    chosen, found = _scored(gold_corpus, list(named.values()), metric, unit, {"align_by": align_by})
    return chosen, {row.file: row.counts_NF[:, :3] for row in found.rows}


def _scored(
    gold: Corpus, systems: Sequence[Corpus], metric: str, unit: str, shared: dict[str, Any]
) -> tuple[Metric, Scores]:
    chosen = METRICS.make(metric or _default(gold, systems[0], shared["align_by"]))
    found = score(gold, list(systems), metrics=[chosen.name], unit=unit, **shared)
    _check_units({row.file: row.counts_NF for row in found.rows}, unit)
    return chosen, found


def _opened(
    gold: Given | Sequence[Given], systems: Mapping[str, Given], reading: dict[str, Any]
) -> tuple[Corpus, dict[str, Corpus]]:
    if len(systems) < 2:
        raise InputError(f"{len(systems)} system; expected at least two to compare")
    for name, given in systems.items():
        if isinstance(given, str | os.PathLike) and isinstance(gold, str | os.PathLike) and _same_file(gold, given):
            raise InputError(f"{name}={os.fspath(given)}: the gold file itself; expected a prediction")
    return open_corpus(gold, reading), {
        name: replace(open_corpus(given, reading), name=name) for name, given in systems.items()
    }


def _same_file(a: str | os.PathLike[str], b: str | os.PathLike[str]) -> bool:
    return os.path.exists(a) and os.path.exists(b) and os.path.samefile(a, b)


def _default(gold: Corpus, predicted: Corpus, align_by: str) -> str:
    if "deprel" in gold.columns:
        return "las" if gold.heads is not None else "upos"
    return default_metrics(align(gold, predicted, by=align_by))[0]


def _check_units(counts: Mapping[str, Counts], unit: str) -> None:
    sizes = {name: len(each) for name, each in counts.items()}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
        raise InputError(
            f"systems with sentence boundaries of their own have different units ({told}); expected the same ones, "
            "as with --unit document"
        )
    if unit == "token" and any(each[:, 1].max(initial=0) > 1 for each in counts.values()):
        raise InputError("the metric counts more than one item a token; expected sentences or documents as units")


def _besides(
    gold: Corpus,
    systems: Sequence[Corpus],
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
    more: Scores = score(gold, list(systems), metrics=names, training=train, **shared)
    return more.rows
