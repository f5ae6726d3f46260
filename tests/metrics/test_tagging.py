"""Accuracy by word, by sentence, on known, unknown and ambiguous words, and precision and recall by class."""

import math
from random import Random

import pytest

from deadheat.corpus import Corpus
from deadheat.errors import InputError, NameUnknown
from deadheat.metrics import METRICS, Pair, align
from deadheat.metrics.metric import precision, recall
from tests.metrics.examples import corpus, pair_of, tagged, total, value
from tests.metrics.oracle import parsed
from tests.metrics.random_pairs import random_pair

TRAINING = tagged("the_DT dog_NN saw_VB the_DT saw_NN\nThe_DT dog_NN\n")
GOLD = tagged("the_DT saw_NN\nThe_DT cat_NN saw_VB\nTHE_DT dog_NN\n")
PREDICTED = tagged("the_DT saw_VB\nThe_DT cat_NN saw_VB\nTHE_NN dog_NN\n")
# Known: the saw The saw dog, right but the first saw. Unknown: cat and THE, of which cat is right.
# Ambiguous in training: saw, twice, once right. Whole sentences right: the second.


def by_tag(metric: str, training: Corpus | None = TRAINING) -> list[int]:
    return total(align(GOLD, PREDICTED, training=training), f"{metric}(column='tag')")


def test_accuracy_is_by_word_or_by_sentence() -> None:
    assert by_tag("accuracy") == [5, 7, 7]
    assert by_tag("sentence-accuracy") == [1, 3, 3]


def test_words_are_known_unknown_or_ambiguous_by_the_training_file() -> None:
    assert by_tag("known") == [4, 5, 5]
    assert by_tag("unknown") == [1, 2, 2]
    assert by_tag("ambiguous") == [1, 2, 2]


def test_upper_and_lower_case_are_different_words() -> None:
    pair = align(tagged("Dog_X\n"), tagged("Dog_X\n"), training=tagged("dog_X DOG_X\n"))
    assert total(pair, "known(column='tag')") == [0, 0, 0]
    assert total(pair, "unknown(column='tag')") == [1, 1, 1]


def test_without_unknown_words_their_accuracy_is_not_a_number() -> None:
    pair = align(GOLD, PREDICTED, training=GOLD)
    assert total(pair, "unknown(column='tag')") == [0, 0, 0]
    assert math.isnan(value(pair, "unknown(column='tag')"))
    assert math.isnan(value(align(GOLD, PREDICTED, training=PREDICTED), "unknown(column='tag')"))


def test_forms_of_multiword_tokens_and_a_missing_word_do_not_make_a_word_known() -> None:
    # Both `du` and `_` are in the file of the training words, but neither is a word of it.
    training = corpus("1-2=du de/2/case/ADP le/0/root/DET")
    test = corpus("du/0/root/X _/1/obj/X le/1/det/DET")
    pair = align(test, test, training=training)
    assert total(pair, "unknown") == [2, 2, 2]
    assert total(pair, "known") == [1, 1, 1]


@pytest.mark.parametrize("metric", ["known", "unknown", "ambiguous"])
def test_without_a_training_file_nobody_knows_what_is_known(metric: str) -> None:
    with pytest.raises(InputError, match=f"{metric}.v1: no training file"):
        by_tag(metric, None)


@pytest.mark.parametrize("metric", ["accuracy", "known", "tag"])
def test_a_column_that_does_not_exist_is_refused_with_the_nearest(metric: str) -> None:
    with pytest.raises(NameUnknown, match="text: column 'tags' is unknown; did you mean 'tag'"):
        total(align(GOLD, PREDICTED, training=TRAINING), f"{metric}(column='tags')")


def random_tags(seed: int) -> tuple[str, str, str]:
    """Training, gold and predicted text over a few words and tags."""
    rng = Random(seed)

    def text(words: list[list[str]]) -> str:
        return "".join(" ".join(f"{word}_{rng.choice('XYZ')}" for word in line) + "\n" for line in words)

    lines = [[[rng.choice("abcABC") for _ in range(rng.randint(1, 4))] for _ in range(3)] for _ in range(2)]
    return text(lines[0]), text(lines[1]), text(lines[1])


def pairs_of(text: str) -> list[tuple[str, str]]:
    return [(token[0], token[2]) for token in text.split()]


@pytest.mark.parametrize("seed", range(20))
def test_random_tags_are_counted_as_plain_python_counts_them(seed: int) -> None:
    training, gold, predicted = random_tags(seed)
    pair = align(tagged(gold), tagged(predicted), training=tagged(training))
    seen: dict[str, set[str]] = {}
    for word, tag in pairs_of(training):
        seen.setdefault(word, set()).add(tag)
    rows = [(word, a, b) for (word, a), (_, b) in zip(pairs_of(gold), pairs_of(predicted), strict=True)]

    def right(chosen: list[tuple[str, str, str]]) -> list[int]:
        return [sum(a == b for _, a, b in chosen), len(chosen), len(chosen)]

    assert total(pair, "accuracy(column='tag')") == right(rows)
    assert total(pair, "known(column='tag')") == right([row for row in rows if row[0] in seen])
    assert total(pair, "unknown(column='tag')") == right([row for row in rows if row[0] not in seen])
    assert total(pair, "ambiguous(column='tag')") == right([row for row in rows if len(seen.get(row[0], ())) > 1])
    lines = list(zip(gold.split("\n"), predicted.split("\n"), strict=True))[:-1]
    assert total(pair, "sentence-accuracy(column='tag')") == [sum(a == b for a, b in lines), 3, 3]
    for tag in "XYZ":
        both = sum(a == b == tag for _, a, b in rows)
        counted = [both, sum(a == tag for _, a, _ in rows), sum(b == tag for _, _, b in rows)]
        assert total(pair, f"tag(label={tag!r}, column='tag')") == counted


def arcs(side: Corpus, label: str, *, subtypes: bool) -> set[tuple[int, int]]:
    """Words with a relation, and their heads."""
    labels = [item if subtypes else item.split(":")[0] for item in side.column("deprel").strings()]
    heads = side.head_words.tolist()
    return {(word, heads[word]) for word, item in enumerate(labels) if item == label}


def test_relations_have_the_precision_and_recall_of_their_arcs() -> None:
    compared = 0
    for seed in range(60):
        gold, predicted = (parsed(item) for item in random_pair(seed, same_words=True))
        pair = align(gold, predicted)
        for label, subtypes in (
            ("nsubj", False),
            ("nsubj", True),
            ("nsubj:pass", True),
            ("det", False),
            ("root", False),
        ):
            left, right = (arcs(side, label, subtypes=subtypes) for side in (gold, predicted))
            metric = METRICS.make("relation", label=label, subtypes=subtypes)
            assert total(pair, metric.name) == [len(left & right), len(left), len(right)]
            compared += 0 < len(left & right) < max(len(left), len(right))
    assert compared > 10


@pytest.fixture
def by_hand() -> Pair:
    gold = "a/2/nsubj/N b/0/root/V c/2/obj/N d/2/obj:x/N"
    predicted = "a/2/nsubj/N b/0/root/N c/1/obj/N d/2/obj/V"
    return pair_of(gold, predicted)


def test_a_relation_is_right_only_with_its_head(by_hand: Pair) -> None:
    # obj in gold: c and d; predicted: c on another head, and d without a subtype.
    assert total(by_hand, "relation(label='obj')") == [1, 2, 2]
    assert total(by_hand, "relation(label='obj', subtypes=True)") == [0, 1, 2]
    assert total(by_hand, "relation(label='iobj')") == [0, 0, 0]
    assert value(by_hand, "relation(label='iobj')") == 0.0


def test_precision_recall_and_f1_of_a_tag(by_hand: Pair) -> None:
    # N in gold: a c d; predicted: a b c.
    metric = METRICS.make("tag(label='N')")
    summed = metric.counts(by_hand).sum(axis=0)
    assert (summed.tolist(), float(precision(summed)), float(recall(summed))) == ([2, 3, 3], 2 / 3, 2 / 3)
    assert float(metric.value(summed)) == pytest.approx(2 / 3)


def test_tags_and_relations_are_counted_over_other_words_too() -> None:
    pair = pair_of("ab/2/obj/N c/0/root/N", "a/3/obj/N b/3/obj/N c/0/root/N")
    assert total(pair, "tag(label='N')") == [1, 2, 3]
    assert total(pair, "relation(label='obj')") == [0, 1, 2]
