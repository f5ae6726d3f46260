"""Systems of a study over all of its corpora, and over corpora like these."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from deadheat.questions.joint import corrected_pairs, joint_verdict, over_datasets, tied_systems
from deadheat.questions.study_pairs import PairName, SplitTest
from deadheat.results.compare import RESAMPLED_T, Comparison, DatasetScores, PairwiseSettings, RunSummary
from deadheat.results.format import Scale, unit_names
from deadheat.results.score import Score
from deadheat.results.study import NAN, StudyBlock, SystemScores
from deadheat.stats.estimates import Estimate
from deadheat.stats.intervals import Interval
from deadheat.stats.paired import CLUSTERED_T

LEVEL = 0.95  # of the intervals of scores
BlockPair = tuple[int, str, str]  # a block and two of its systems


@dataclass(frozen=True, slots=True)
class PairSummary:
    """The estimate of a pair on all splits of a block, before any correction."""

    estimate: Estimate
    tests: tuple[SplitTest, ...]
    splits: int
    ahead: int
    about_runs: bool


def over_corpora(
    blocks: Sequence[StudyBlock],
    estimates: Mapping[BlockPair, PairSummary],
    settings: PairwiseSettings,
    metric_names: Mapping[str, str],
    scale: Scale,
) -> tuple[Comparison, ...]:
    """Systems over all corpora, for every part, strategy and metric that several corpora share."""
    families: dict[tuple[str, str, str], list[int]] = {}
    for at, block in enumerate(blocks):
        for metric in dict.fromkeys(block.first_metrics().values()):
            families.setdefault((block.part, block.split_label, metric), []).append(at)
    comparisons = []
    for (part, _, metric), members in families.items():
        if len(members) < 2:
            continue
        pairs: dict[PairName, dict[str, Estimate]] = {}
        single: set[PairName] = set()  # of one seed each on some corpus
        for at in members:
            for (_, a, b), summary in ((key, item) for key, item in estimates.items() if key[0] == at):
                if blocks[at].first_metrics()[a] == metric:
                    first, second = sorted((a, b))
                    value = summary.estimate if a == first else summary.estimate.negated()
                    pairs.setdefault((first, second), {})[blocks[at].corpus] = value
                    single |= {(first, second)} if summary.about_runs else set()
        rows = {
            (blocks[at].corpus, row.system): row
            for at in members
            for row in blocks[at].ranked_by(metric)
            if not math.isnan(row.mean)
        }
        label = metric_names.get(metric, metric)
        several = any(blocks[at].splits > 1 for at in members)
        name = RESAMPLED_T if several else CLUSTERED_T
        if pairs:
            tested = replace(settings, test=name)
            comparison = _comparison(pairs, rows, tested, metric, label, scale, several=several)
            tests = tuple(replace(pair, about_runs=bool({(pair.a, pair.b)} & single)) for pair in comparison.pairs)
            comparison = replace(comparison, pairs=tests)
            comparisons.append(replace(comparison, dataset=part))
    return tuple(comparisons)


def _comparison(
    pairs: Mapping[PairName, Mapping[str, Estimate]],
    rows: Mapping[tuple[str, str], SystemScores],
    settings: PairwiseSettings,
    metric: str,
    label: str,
    scale: Scale,
    *,
    several: bool,
) -> Comparison:
    """Systems over the corpora that they share."""
    corpora = list(dict.fromkeys(corpus for corpus, _ in rows))
    systems = list(dict.fromkeys(system for _, system in rows))
    estimates = []
    for (a, b), by_corpus in pairs.items():
        means = [math.fsum(rows[name, system].mean for name in by_corpus) / len(by_corpus) for system in (a, b)]
        estimates.append(over_datasets(a, b, (means[0], means[1]), by_corpus))
    tests = corrected_pairs(estimates, settings, scale=scale)
    nothing = Interval(NAN, NAN, LEVEL, "none")
    summaries = tuple(
        DatasetScores(corpus, "split" if several else "sentence", 0, tuple(_summaries(rows, corpus, systems)))
        for corpus in corpora
    )
    scores = []
    common = [corpus for corpus in corpora if all((corpus, system) in rows for system in systems)]
    for system in systems:
        means = [rows[corpus, system].mean for corpus in common or corpora if (corpus, system) in rows]
        scores.append(Score(system, label, metric, math.fsum(means) / len(means), nothing, 0, 0, 0, NAN, NAN))
    means_by_name = {row.system: row.value for row in scores}
    unit = "split" if several else "document or sentence"
    verdict = joint_verdict(tests, means_by_name, settings, metric=label, source=unit_names(unit), units=0, scale=scale)
    tied = tied_systems(means_by_name, tests, settings.alpha)
    reason = "splits overlap" if several else "its error comes from documents or sentences, and from seeds"
    outcome = (settings, reason, tuple(scores), tests, tied, verdict)
    return Comparison(label, metric, unit, len(corpora), *outcome, scale=scale, datasets=summaries)


def _summaries(
    rows: Mapping[tuple[str, str], SystemScores], corpus: str, systems: Sequence[str]
) -> Iterator[RunSummary]:
    for system in systems:
        row = rows.get((corpus, system))
        if row is not None:
            low, high = row.interval or (NAN, NAN)
            runs = tuple(value for split in row.by_run for value in split) or row.by_split
            yield RunSummary(system, row.mean, row.sd, Interval(low, high, LEVEL, "clustered wilson"), runs)
