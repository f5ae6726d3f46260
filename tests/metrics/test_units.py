"""The rows of counts: sentences, documents, and blocks where sentence boundaries differ."""

import unicodedata
from itertools import pairwise

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.metrics import METRICS, Pair, align
from tests.metrics.examples import conllu, corpus, total
from tests.metrics.oracle import NAMES, official, ours, parsed, sentences_of
from tests.metrics.random_pairs import random_pair

SEEDS = range(120)


def length_of(sentence: str) -> int:
    """How many characters a sentence spells, spaces aside."""
    rows = [line.split("\t") for line in sentence.split("\n") if line and not line.startswith("#")]
    size = skip = 0
    for number, form, *_ in rows:
        if "." in number:
            continue
        if skip:
            skip -= 1
            continue
        if "-" in number:
            first, last = number.split("-")
            skip = int(last) - int(first) + 1
        size += sum(unicodedata.category(c) != "Zs" for c in form)
    return size


def blocks_of(gold: str, predicted: str) -> list[tuple[str, str]]:
    """The shortest stretches of both texts between sentence boundaries that they share, in the obvious way."""
    left, right = sentences_of(gold), sentences_of(predicted)
    blocks = []
    mine, theirs = [left.pop(0)], [right.pop(0)]
    while True:
        sizes = [sum(map(length_of, side)) for side in (mine, theirs)]
        if sizes[0] < sizes[1]:
            mine.append(left.pop(0))
        elif sizes[0] > sizes[1]:
            theirs.append(right.pop(0))
        else:
            blocks.append(("".join(mine), "".join(theirs)))
            if not left:
                return blocks
            mine, theirs = [left.pop(0)], [right.pop(0)]


def crosses(pair: Pair) -> bool:
    """Whether words of different units are aligned, see below."""
    sides = (pair.units.gold, pair.gold_words), (pair.units.predicted, pair.predicted_words)
    gold, predicted = (np.searchsorted(starts, words, side="right") for starts, words in sides)
    return not np.array_equal(gold, predicted)


def test_each_unit_has_the_counts_that_the_evaluator_gives_to_it_alone() -> None:
    several = 0
    for seed in SEEDS:
        gold, predicted = random_pair(seed)
        pair = align(parsed(gold), parsed(predicted))
        blocks = blocks_of(gold, predicted)
        assert len(pair.units) == len(blocks), seed
        if crosses(pair):
            continue
        for unit, block in enumerate(blocks):
            assert ours(pair, unit) == official(*block), (seed, unit)
        several += pair.units.name == "block" and len(blocks) > 1
    assert several > len(SEEDS) / 10


def test_where_the_evaluator_aligns_words_of_two_units_they_count_in_that_of_the_gold_word() -> None:
    # Gold has xab|c, the prediction x,a,b|c. Officially xab is left behind first, for x ends earlier; then the
    # token c opens a span, and only one plain word before it is skipped: the `le` of a and that of c meet.
    gold = conllu("xab/0/root", "1-2=c le/0/root u/1/obj")
    predicted = conllu("x/0/root 2-2=a le/1/obj b/1/obj", "c/0/root")
    pair = align(parsed(gold), parsed(predicted))
    assert crosses(pair)
    assert total(pair, "words") == list(official(gold, predicted)["Words"][:3]) == [1, 3, 4]
    assert METRICS.make("words").counts(pair).tolist() == [[0, 1, 3], [1, 2, 1]]


def test_units_begin_where_their_first_sentences_do() -> None:
    for seed in SEEDS:
        gold, predicted = random_pair(seed)
        pair = align(parsed(gold), parsed(predicted))
        blocks = blocks_of(gold, predicted)
        sizes = [[len(sentences_of(side)) for side in block] for block in blocks]
        first = np.cumsum([[0, 0], *sizes], axis=0)[:-1]
        assert pair.units.gold_sentences.tolist() == first[:, 0].tolist()
        assert pair.units.gold.tolist() == pair.gold.offsets[first[:, 0]].tolist()
        assert pair.units.predicted.tolist() == pair.predicted.offsets[first[:, 1]].tolist()


def test_units_are_blocks_only_where_boundaries_differ() -> None:
    gold = corpus("a/0/root", "b/0/root c/1/obj", "d/0/root")
    same_but_tokens = corpus("a/0/root", "bc/0/root", "d/0/root")
    joined = corpus("a/0/root b/1/obj c/1/obj", "d/0/root")
    split = corpus("a/0/root", "b/0/root", "c/0/root", "d/0/root")
    assert [
        (align(gold, item).units.name, len(align(gold, item).units)) for item in (same_but_tokens, joined, split)
    ] == [("sentence", 3), ("block", 2), ("sentence", 3)]


def test_boundaries_that_cross_make_one_block() -> None:
    # |ab|cd|e| against |a|bc|d|e|: only the cut before e is on both sides.
    gold = corpus("ab/0/root", "c/0/root d/1/obj", "e/0/root")
    predicted = corpus("a/0/root", "b/0/root c/1/obj", "d/0/root", "e/0/root")
    pair = align(gold, predicted)
    assert METRICS.make("sentences").counts(pair).tolist() == [[0, 2, 3], [1, 1, 1]]
    assert METRICS.make("words").counts(pair).tolist() == [[2, 3, 4], [1, 1, 1]]


DOCUMENTS = ("# newdoc id = x\na/0/root", "b/0/root c/1/obj", "# newdoc id = y\nd/0/root", "e/0/root")


def test_documents_are_units_of_all_their_sentences() -> None:
    gold = corpus(*DOCUMENTS)
    pair = align(gold, corpus("a/0/root", "b/2/obj c/0/root", "d/0/root", "e/0/root"), unit="document")
    assert (pair.units.name, len(pair.units)) == ("document", 2)
    assert METRICS.make("uas").counts(pair).tolist() == [[1, 3, 3, 3], [2, 2, 2, 2]]
    assert METRICS.make("sentences").counts(pair).tolist() == [[2, 2, 2], [2, 2, 2]]
    assert METRICS.make("ucm-supar").counts(pair).tolist() == [[1, 2, 2], [2, 2, 2]]


@pytest.mark.parametrize(
    ("predicted", "name", "counts"),
    [
        (("a/0/root b/1/obj c/1/obj", "d/0/root", "e/0/root"), "document", [[0, 2, 1], [2, 2, 2]]),
        (("a/0/root", "b/0/root c/1/obj d/1/obj", "e/0/root"), "block", [[2, 4, 3]]),
    ],
    ids=["within documents", "over the end of a document"],
)
def test_other_sentences_join_documents_to_a_block_only_over_their_ends(
    predicted: tuple[str, ...], name: str, counts: list[list[int]]
) -> None:
    pair = align(corpus(*DOCUMENTS), corpus(*predicted), unit="document")
    assert pair.units.name == name
    assert METRICS.make("sentences").counts(pair).tolist() == counts


def test_words_may_be_units_of_metrics_that_count_words() -> None:
    gold = corpus("1-3=abc x/2/det y/0/root z/2/obj d/2/obj", "e/0/root")
    pair = align(gold, corpus("1-3=abc x/2/det y/0/root z/1/obj d/2/obj", "e/0/root"), unit="token")
    assert (pair.units.name, len(pair.units)) == ("token", 5)
    assert METRICS.make("uas").counts(pair)[:, 0].tolist() == [1, 1, 0, 1, 1]
    assert METRICS.make("tokens").counts(pair)[:, 0].tolist() == [1, 0, 0, 1, 1]
    for metric in ("sentences", "ucm-supar", "sentence-accuracy"):
        with pytest.raises(InputError, match="expected sentences or documents"):
            total(pair, metric)
    with pytest.raises(InputError, match="other tokens"):
        align(corpus("ab/0/root"), corpus("a/0/root b/1/obj"), unit="token")


def test_counts_of_words_sum_up_to_those_of_sentences() -> None:
    for seed in range(60):
        sides = [parsed(text) for text in random_pair(seed, same_words=True)]
        by_word, by_sentence = (align(*sides, unit=unit) for unit in ("token", "sentence"))
        for name in NAMES:
            if name != "Sentences":
                counts = METRICS.make(name).counts(by_word)
                assert (counts >= 0).all(), name
                assert counts.sum(axis=0).tolist() == total(by_sentence, name)


def test_files_are_documents_where_nothing_marks_any() -> None:
    pair = align(corpus("a/0/root", "b/0/root"), corpus("a/0/root", "b/0/root"), unit="document")
    assert METRICS.make("words").counts(pair).tolist() == [[2, 2, 2]]


@pytest.mark.parametrize("marks", [(0,), (0, 2), (1, 3), (0, 1, 2, 3)])
def test_counts_of_documents_are_sums_of_those_of_their_sentences(marks: tuple[int, ...]) -> None:
    sentences = ["a/0/root b/1/obj", "c/0/root", "d/2/det e/0/root", "f/0/root g/1/conj h/1/obj"]
    gold = parsed(conllu(*("# newdoc\n" * (i in marks) + item for i, item in enumerate(sentences))))
    predicted = parsed(conllu("a/2/obj b/0/root", "c/0/root", "d/2/obj e/0/root", "f/0/root g/1/conj h/2/obj"))
    by_sentence, by_document = align(gold, predicted), align(gold, predicted, unit="document")
    starts = [0, *(mark for mark in marks if mark), 4]
    for name in NAMES:
        per_sentence = METRICS.make(name).counts(by_sentence)
        summed = [per_sentence[a:b].sum(axis=0).tolist() for a, b in pairwise(starts)]
        assert METRICS.make(name).counts(by_document).tolist() == summed


def test_units_sum_up_to_the_whole() -> None:
    for seed in SEEDS:
        gold, predicted = random_pair(seed)
        pair = align(parsed(gold), parsed(predicted))
        assert ours(pair) == official(gold, predicted)
        assert total(pair, "words")[1:] == [pair.gold.words, pair.predicted.words]
