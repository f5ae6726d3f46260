"""Two systems on the same units: tests that are asked for by name; and how far several systems agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.errors import InputError, NameUnknown
from deadheat.metrics import Metric
from deadheat.metrics.metric import CORRECT, GOLD, PREDICTED, Counts
from deadheat.metrics.universal import main_label
from deadheat.results.compare import Agreement, DisputedSentence, PairwiseSettings
from deadheat.stats import paired
from deadheat.stats.agreement import alpha as krippendorff_alpha
from deadheat.stats.agreement import lowest_agreement, majority, oracle
from deadheat.stats.checks import Values
from deadheat.stats.differences import paired_differences, sign_test, signed_rank
from deadheat.stats.estimates import RunScores
from deadheat.stats.intervals import Value

DISPUTED = 5  # sentences that are kept to look at
ALL_PAIRS = 3  # systems up to which all pairs are claims; of more, those with the best


def pair_p(first_NF: Counts, second_NF: Counts, value: Value, settings: PairwiseSettings) -> tuple[float, float]:
    """The p-value, and which system the test favours: above 0 the first, below 0 the second."""
    rng, test, resamples = np.random.default_rng([settings.seed, 1]), settings.test, settings.resamples
    paired.check_pair(first_NF, second_NF)
    if test not in paired.TESTS:
        raise NameUnknown("test", test, paired.TESTS)
    if test == paired.CLUSTERED_T:
        estimate = RunScores.of(first_NF[None], value).minus(RunScores.of(second_NF[None], value)).estimate
        return estimate.p, estimate.value
    if test in ("sign", "wilcoxon"):
        gaps = paired_differences(*(_unit_scores(counts_NF, value) for counts_NF in (first_NF, second_NF)))
        ranked = sign_test(gaps) if test == "sign" else signed_rank(gaps)
        return ranked.p, float(ranked.positive - ranked.negative)
    first, second = paired.scores_of(first_NF, second_NF, value).tolist()
    gap = first - second
    if test.startswith("mcnemar"):
        items = discordant(first_NF, second_NF)
        if items is None:
            raise InputError(f"{test}: units are not just right or wrong; expected tokens as units, or another test")
        return paired.mcnemar(*items, method=test.removeprefix("mcnemar-")).p, gap
    if test == "permutation-exact":
        return paired.permutation_exact(first_NF, second_NF).p, gap
    resampling = paired.paired_bootstrap if test == "bootstrap" else paired.randomization
    return resampling(first_NF, second_NF, value, rng=rng, resamples=resamples).p, gap


def _unit_scores(counts_NF: Counts, value: Value) -> Values:
    """The score of every unit alone; where there is nothing to find and nothing was predicted, all is right."""
    empty = (counts_NF[:, GOLD] == 0) & (counts_NF[:, PREDICTED] == 0)
    return np.where(empty, 1.0, value(np.where(empty[:, None], 1, counts_NF).astype(float)))


def _are_items(counts_NF: Counts) -> bool:
    """Whether every unit is one item, right or wrong, or none."""
    return bool(counts_NF.max(initial=0) <= 1)


def odds_ratio(first_NF: Counts, second_NF: Counts) -> float:
    """Items that only the first system has right, to those that only the second has; NaN if not just right or wrong."""
    items = discordant(first_NF, second_NF)
    return paired.mcnemar(*items).odds_ratio if items else float("nan")


def discordant(first_NF: Counts, second_NF: Counts) -> tuple[int, int] | None:
    """Items that one system alone has right; None where units are more than one item."""
    if not paired.is_additive(first_NF, second_NF) or not (_are_items(first_NF) and _are_items(second_NF)):
        return None
    a, b = first_NF[:, CORRECT] > 0, second_NF[:, CORRECT] > 0
    return int(np.count_nonzero(a & ~b)), int(np.count_nonzero(b & ~a))


@dataclass(frozen=True, slots=True, eq=False)
class _Labels:
    """One number per word, of gold and of each system; equal where the label is the same."""

    kind: str
    gold_N: Indices
    systems_SN: Indices
    names: Sequence[str]  # what the low part of a number stands for; the head is its high part

    def text(self, number: int) -> str:
        """A label as a person reads it."""
        head, label = divmod(int(number), max(1, len(self.names)))
        if self.kind == "head":
            return str(number)
        return f"{head}:{self.names[label]}" if self.kind == "head and relation" else self.names[label]


def agreement(gold: Corpus, systems: Mapping[str, Corpus], metric: Metric) -> Agreement | None:
    """Agreement of systems on the labels a metric compares; None where there are none."""
    labels = _labels(gold, list(systems.values()), metric)
    if labels is None or not gold.words:
        return None
    right_SN = labels.systems_SN == labels.gold_N
    votes = majority(labels.systems_SN)
    disputed = lowest_agreement(labels.systems_SN, gold.offsets, count=DISPUTED)
    return Agreement(
        labels.kind,
        krippendorff_alpha(labels.systems_SN).alpha,
        float(np.mean(oracle(right_SN))),
        float(np.mean(votes == labels.gold_N)) if len(systems) > 2 else float("nan"),
        tuple(_sentence(gold, systems, labels, sentence, value) for sentence, value in disputed),
    )


def _sentence(
    gold: Corpus, systems: Mapping[str, Corpus], labels: _Labels, sentence: int, value: float
) -> DisputedSentence:
    start, end = int(gold.offsets[sentence]), int(gold.offsets[sentence + 1])
    forms = gold.column("form")
    # A part of a split has no lines in any file.
    location = gold.location(sentence) if gold.parts else f"{gold.name}, sentence {sentence + 1}"
    words = tuple(forms.vocabulary[code] for code in forms.codes[start:end].tolist())
    gold_labels, *others = (tuple(map(labels.text, row_N[start:end])) for row_N in (labels.gold_N, *labels.systems_SN))
    by_system = dict(zip(systems, others, strict=True))
    return DisputedSentence(sentence + 1, location, float(value), words, gold_labels, by_system)


def _labels(gold: Corpus, systems: Sequence[Corpus], metric: Metric) -> _Labels | None:
    """The labels that a metric compares: heads, heads with relations, or a column; None if it compares none."""
    corpora = [gold, *systems]
    if not metric.compares:
        return None
    if metric.compares in ("head", "tree"):
        heads = np.stack([corpus.trees.astype(np.int64) for corpus in corpora])
        if metric.compares == "head":
            return _Labels("head", heads[0], heads[1:], ())
        codes, names = _shared_codes(corpora, "deprel", main=True)
        both = heads * len(names) + codes
        return _Labels("head and relation", both[0], both[1:], names)
    codes, names = _shared_codes(corpora, metric.compares, main=False)
    return _Labels(metric.compares, codes[0], codes[1:], names)


def _shared_codes(corpora: Sequence[Corpus], column: str, *, main: bool) -> tuple[Indices, list[str]]:
    """A column of all corpora in codes of one vocabulary; of relations perhaps without their subtypes."""
    numbers: dict[str, int] = {}
    rows = []
    for corpus in corpora:
        values = corpus.column(column)
        strings = [main_label(string) if main else string for string in values.vocabulary.strings]
        renumber: Codes = np.array([numbers.setdefault(string, len(numbers)) for string in strings], np.int32)
        rows.append(renumber[values.codes].astype(np.int64))
    return np.stack(rows), list(numbers)
