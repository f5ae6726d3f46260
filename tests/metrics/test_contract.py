"""What holds for every registered metric."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.corpus import Corpus
from deadheat.metrics import METRICS, Metric, Pair, align
from deadheat.metrics.accuracy import LABELS, PUNCTUATION
from deadheat.metrics.metric import FIELDS, accuracy, f1
from tests.metrics.oracle import parsed
from tests.metrics.random_pairs import random_pair

# Metrics that need settings, or have some that matter; all others are taken as they are.
WITH_SETTINGS = (
    *(f"attachment(labels={a!r}, punctuation={b!r})" for a in LABELS for b in PUNCTUATION),
    *(f"chunks(column='xpos', scheme={scheme!r})" for scheme in ("conlleval", "iob1", "bio", "iobes", "bilou")),
    "chunks(column='xpos', label='X')",
    "tag(label='NOUN')",
    "tag(label='B-X', column='xpos')",
    "relation(label='nsubj')",
    "relation(label='nsubj', subtypes=True)",
    "las(subtypes=True)",
    "elas(official=True)",
    "eulas(official=True)",
    "accuracy(column='feats')",
    "known(column='xpos')",
    "unknown(column='xpos')",
    "ambiguous(column='lemma')",
)
BARE = ("attachment.v1", "chunks.v1", "tag.v1", "relation.v1")
ALL = [METRICS.make(name) for name in [*WITH_SETTINGS, *(name for name in METRICS if name not in BARE)]]
# Those that are F1 over aligned words stand other tokens, too.
ANY_WORDS = [metric for metric in ALL if metric.value is f1 and "chunks" not in metric.name]
# A word that both sides have keeps the text before it from being aligned with the text behind it.
BARRIER = "1\t|\t_\t_\tO\t_\t0\troot\t0:root\t_\n\n"

seeds = st.lists(st.integers(0, 10_000), min_size=1, max_size=6)
few = settings(max_examples=10)


def texts(chosen: list[int], *, same_words: bool) -> list[tuple[str, str]]:
    pairs = (random_pair(seed, same_words=same_words) for seed in chosen)
    return [(unix(gold) + BARRIER, unix(predicted) + BARRIER) for gold, predicted in pairs]


def unix(text: str) -> str:
    return text.replace("\r\n", "\n")


def joined(parts: list[tuple[str, str]], training: str | None = None) -> Pair:
    gold, predicted = ("".join(side) for side in zip(*parts, strict=True))
    return align(parsed(gold), parsed(predicted), training=parsed(training or training_text()))


def training_text() -> str:
    return "".join(unix(random_pair(seed)[0]) for seed in range(3))


def totals(metric: Metric, pair: Pair) -> list[int]:
    return [int(item) for item in metric.counts(pair).sum(axis=0)]


def same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def test_all_registered_metrics_are_here() -> None:
    assert {metric.name.partition("(")[0] for metric in ALL} == set(METRICS)
    assert {metric.value for metric in ALL} == {f1, accuracy}


@few
@given(seeds, st.booleans())
def test_counts_are_integers_in_a_row_for_each_unit(chosen: list[int], same_words: bool) -> None:  # noqa: FBT001
    pair = joined(texts(chosen, same_words=same_words))
    for metric in ALL if pair.same_words else ANY_WORDS:
        counts = metric.counts(pair)
        assert counts.dtype == np.int64, metric
        assert counts.shape == (len(pair.units), len(metric.fields)), metric
        assert metric.fields[: len(FIELDS)] == FIELDS, metric
        assert (counts >= 0).all(), metric


@few
@given(seeds)
def test_no_more_is_right_than_there_is(chosen: list[int]) -> None:
    pair = joined(texts(chosen, same_words=True))
    for metric in ALL:
        correct, gold, predicted, *aligned = metric.counts(pair).T
        if "official" not in metric.name:
            assert (correct <= gold).all(), metric
            assert (correct <= predicted).all(), metric
        if metric.value is accuracy:
            assert (gold == predicted).all(), metric
        for item in aligned:
            assert (correct <= item).all(), metric
            assert (item <= gold).all(), metric


def ending_alone(text: str, letter: str) -> str:
    """Every chunk's first tag as one of a chunk of one word, for schemes that have a letter for it."""
    return text.replace("\tB-", f"\t{letter}-")


# As the evaluator counts them, enhanced edges of equal files may score above one.
@pytest.mark.parametrize("metric", [metric for metric in ALL if "official" not in metric.name], ids=str)
def test_a_perfect_prediction_scores_one(metric: Metric) -> None:
    text = "".join(unix(random_pair(seed)[0]) for seed in range(40))
    for scheme, letter in (("iobes", "S"), ("bilou", "U")):
        text = ending_alone(text, letter) if scheme in metric.name else text
    corpus = parsed(text)
    pair = align(corpus, parsed(text), training=parsed(training_text()))
    correct, gold, predicted, *_ = totals(metric, pair)
    assert correct == gold == predicted > 0
    assert float(metric.value(metric.counts(pair).sum(axis=0))) == 1.0


@few
@given(seeds, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_sentences_does_not_matter(chosen: list[int], same_words: bool, chance: Random) -> None:  # noqa: FBT001
    parts = texts(chosen, same_words=same_words)
    shuffled = chance.sample(parts, len(parts))
    before, after = joined(parts), joined(shuffled)
    for metric in ALL if before.same_words else ANY_WORDS:
        rows, others = metric.counts(before).tolist(), metric.counts(after).tolist()
        assert sorted(rows) == sorted(others), metric


@few
@given(seeds, st.booleans())
def test_a_corpus_twice_over_has_twice_the_counts_and_the_same_value(chosen: list[int], same_words: bool) -> None:  # noqa: FBT001
    parts = texts(chosen, same_words=same_words)
    once, twice = joined(parts), joined(parts * 2)
    for metric in ALL if once.same_words else ANY_WORDS:
        summed, doubled = (metric.counts(pair).sum(axis=0) for pair in (once, twice))
        assert doubled.tolist() == (2 * summed).tolist(), metric
        assert same(float(metric.value(summed)), float(metric.value(doubled))), metric


# Each is renamed to one that counts in the same way: content for content, function for function.
RENAMED = {
    "lemma": {"a": "b", "A": "B", "a b": "b c"},
    "upos": {"NOUN": "VERB", "VERB": "NOUN"},
    "xpos": {"B-X": "B-Z", "I-X": "I-Z"},
    "deprel": {"nsubj": "iobj", "obj": "nsubj", "det": "case", "case": "mark", "mark": "det", "foo": "bar"},
    "feats": {"Number=Sing": "Number=Ptan", "Case=Nom": "Tense=Past", "Typo=Yes": "Foreign[x]=Yes"},
}
COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


def renamed(text: str) -> str:
    """A text with all labels renamed; relations keep their subtypes."""
    return "\n".join("\t".join(map(renamed_field, COLUMNS, line.split("\t"))) for line in text.split("\n"))


def renamed_field(column: str, field: str) -> str:
    if column == "deprel":
        main, colon, subtype = field.partition(":")
        return RENAMED["deprel"].get(main, main) + colon + subtype
    if column == "deps" and field != "_":
        edges = (edge.partition(":") for edge in field.split("|"))
        return "|".join(f"{head}:{renamed_field('deprel', label)}" for head, _, label in edges)
    if column == "feats":
        return "|".join(RENAMED["feats"].get(item, item) for item in field.split("|"))
    return RENAMED.get(column, {}).get(field, field)


def renamed_metric(metric: Metric) -> Metric:
    labels = {"'NOUN'": "'VERB'", "'B-X'": "'B-Z'", "label='X'": "label='Z'", "'nsubj'": "'iobj'"}
    name = metric.name
    for label, other in labels.items():
        name = name.replace(label, other)
    return METRICS.make(name)


@few
@given(seeds, st.booleans())
def test_the_names_of_labels_do_not_matter(chosen: list[int], same_words: bool) -> None:  # noqa: FBT001
    parts = texts(chosen, same_words=same_words)
    others = [(renamed(gold), renamed(predicted)) for gold, predicted in parts]
    before, after = joined(parts), joined(others, renamed(training_text()))
    for metric in ALL if before.same_words else ANY_WORDS:
        assert metric.counts(before).tolist() == renamed_metric(metric).counts(after).tolist(), metric


ALIKE_FROM_BOTH_SIDES = (
    "tokens", "sentences", "words", "upos", "xpos", "ufeats", "alltags", "uas", "las", "clas", "mlas", "elas", "eulas",
    "uas-spacy", "las-spacy", "las-supar", "ucm-supar", "chunks(column='xpos')", "tag(label='NOUN')",
    "relation(label='nsubj')", "accuracy", "known", "sentence-accuracy",
)  # fmt: skip


@few
@given(seeds)
def test_gold_and_prediction_change_places_where_neither_is_special(chosen: list[int]) -> None:
    parts = texts(chosen, same_words=True)
    forth, back = joined(parts), joined([(predicted, gold) for gold, predicted in parts])
    for name in ALIKE_FROM_BOTH_SIDES:
        correct, gold, predicted = totals(METRICS.make(name), forth)[:3]
        assert totals(METRICS.make(name), back)[:3] == [correct, predicted, gold], name


def test_metrics_of_one_pair_do_not_disturb_each_other() -> None:
    # Metrics share what they work out on a pair; asked alone, each says the same.
    parts = texts([1, 2, 3, 4], same_words=True)
    together = joined(parts)
    forwards = [metric.counts(together).tolist() for metric in ALL]
    backwards = [metric.counts(together).tolist() for metric in reversed(ALL)][::-1]
    alone = [metric.counts(joined(parts)).tolist() for metric in ALL]
    assert forwards == backwards == alone


def test_an_empty_corpus_has_no_rows() -> None:
    nothing: Corpus = parsed("")
    pair = align(nothing, nothing, training=nothing)
    for metric in ALL:
        assert metric.counts(pair).shape == (0, len(metric.fields)), metric
        value = float(metric.value(metric.counts(pair).sum(axis=0)))
        assert same(value, 0.0 if metric.value is f1 else math.nan), metric
