"""Sizes of parts, of sets within them, and partitions themselves."""

from __future__ import annotations

import re

import numpy as np
import pytest

from deadheat.corpus import read
from deadheat.errors import InputError, SplitError
from deadheat.splits import Partition, split
from deadheat.splits.strategy import parse_sizes, target_amounts
from tests.splits.corpora import joined, lengths_of, tagged_text, treebank

SIZES = [
    ("80/10/10", {"train": "80 %", "dev": "10 %", "test": "10 %"}),
    ("0.8/0.1/0.1", {"train": "80 %", "dev": "10 %", "test": "10 %"}),
    ("80%/20%", {"train": "80 %", "test": "20 %"}),
    ("70/10/10/10", {"train": "70 %", "tune": "10 %", "dev": "10 %", "test": "10 %"}),
    ("1000s/100s/100s", {"train": "1,000 sentences", "dev": "100 sentences", "test": "100 sentences"}),
    ("33.3/33.3/33.4", {"train": "33.3 %", "dev": "33.3 %", "test": "33.4 %"}),
    ("test=5_000 Words, train=rest", {"train": "rest", "test": "5,000 words"}),
    ("dev=1w;test=.5;train=rest", {"train": "rest", "dev": "1 words", "test": "50 %"}),
    (" train = 50 % , test = 50 % ", {"train": "50 %", "test": "50 %"}),
    ("train=10 tokens,test=1 token", {"train": "10 words", "test": "1 words"}),
]
WRONG_SIZES = [
    ("80/10/5", "the shares sum to 95 %; expected 100 %, or rest for one part"),
    ("80/10/20", "the shares sum to 110 %; expected 100 %"),
    ("train=90%,test=5%", "the shares sum to 95 %; expected 100 %"),
    ("train=rest,test=100%", "the shares sum to 100 %; expected less than 100 %"),
    ("train=rest,test=60%,dev=60%", "the shares sum to 120 %"),
    ("train=rest,test=rest", "rest twice; expected it for one part"),
    ("train=5 words,test=5 sentences", "words and sentences mixed"),
    ("train=80%,train=20%", "the same part twice; expected each once"),
    ("train=rest,tset=10%", "part 'tset' is unknown; did you mean 'test'?"),
    ("train=rest,test=10", "'test=10'; expected %, words or sentences after the number"),
    ("train=rest,10%", "'10%'; expected part=size"),
    ("train=rest,test=0%", "size 0 of test; expected more than 0"),
    ("100/0", "size 0 of test; expected more than 0"),
    ("train=rest,test=-5 words", "size '-5 words'; expected a share"),
    ("train=rest,test=5 wordz", "size '5 wordz'; expected a share"),
    ("train=rest,test=1.5 words", "'1.5 words'; expected a whole number of words"),
    ("train=rest,test=" + "9" * 400 + " words", "expected a whole number of words"),
    ("train=rest,test=", "size ''; expected a share"),
    ("80", "expected 80/10/10, or train=rest"),
    ("", "expected 80/10/10, or train=rest"),
    ("a/b", "size 'a'; expected a share"),
    ("20/20/20/20/20", "expected 80/10/10, or train=rest"),
    ("80/10 words", "the shares sum to 8000 %"),
    ("nan/nan", "size 'nan'; expected a share"),
]


@pytest.mark.parametrize(("text", "expected"), SIZES)
def test_sizes_are_understood(text: str, expected: dict[str, str]) -> None:
    result = parse_sizes(text)
    assert {part: str(size) for part, size in result.items()} == expected
    assert list(result) == list(expected)


@pytest.mark.parametrize(("text", "message"), WRONG_SIZES)
def test_sizes_that_make_no_sense_are_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_sizes(text)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"sizes {text!r}")


def test_the_rest_is_what_is_left() -> None:
    assert target_amounts(parse_sizes("train=rest,dev=10%,test=150 words"), 1000, "words", "x") == {
        "train": 750.0,
        "dev": 100.0,
        "test": 150.0,
    }


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("train=rest,test=40 sentences", "test 40 sentences requested; there are 30 sentences"),
        ("train=rest,test=30 sentences", "test 30 sentences requested; there are 30 sentences"),
        ("train=20 sentences,test=11 sentences", "train 20 sentences + test 11 sentences requested; there are 30"),
        ("train=rest,test=9999 words", "test 9,999 words requested; there are 115 words"),
    ],
)
def test_more_than_there_is_cannot_be_had(sizes: str, message: str) -> None:
    corpus = read(text=tagged_text([3, 1, 5, 2, 8, 4] * 5))
    with pytest.raises(InputError, match=re.escape(message)):
        split(corpus, "random", settings={"sizes": sizes})


def test_a_part_that_gets_nothing_is_refused() -> None:
    corpus = read(text=tagged_text([3, 1, 5]))
    with pytest.raises(SplitError, match="split 0: part test is empty; expected at least one sentence"):
        split(corpus, "random")


def test_sizes_in_sentences_and_in_words_are_met() -> None:
    corpus = read(text=tagged_text([3, 1, 5, 2, 8, 4] * 50))
    for seed in range(10):
        parts = split(corpus, "random", seed=seed, settings={"sizes": "train=50s,dev=7s,test=13s"})[0].parts
        assert [len(item) for item in parts.values()] == [50, 7, 13]
        parts = split(corpus, "random", seed=seed, settings={"sizes": "train=rest,dev=100w,test=300w"})[0].parts
        dev, test = (int(lengths_of(corpus)[parts[part]].sum()) for part in ("dev", "test"))
        assert abs(dev - 100) <= 2
        assert abs(test - 300) <= 6


def test_nested_sets_lie_within_each_other_and_have_their_sizes() -> None:
    corpus = treebank([[3, 4, 5], [2, 7], [6], [1, 8]] * 10)
    lengths = lengths_of(corpus)
    for name in ("random(sizes='50/50')", "kfold(folds=3)", "biased(by='words', sizes='50/50')"):
        made = split(corpus, name, seed=4, times=3, nested=["test=5,10,20 words", "train=25%,50%"])
        for partition in made:
            assert list(partition.nested["test"]) == ["test-5-words", "test-10-words", "test-20-words"]
            chain = [*partition.nested["test"].values(), partition.parts["test"]]
            for inner, outer, words in zip(chain, chain[1:], (5, 10, 20), strict=False):
                assert set(inner.tolist()) <= set(outer.tolist())
                # By less than one sentence more than was asked for, and the longest has eight words.
                assert words <= lengths[inner].sum() < words + 8
            train = partition.parts["train"]
            for share, name_of in ((0.25, "train-25-percent"), (0.5, "train-50-percent")):
                inner = partition.nested["train"][name_of]
                assert 0 <= lengths[inner].sum() - share * lengths[train].sum() < 8


def test_nested_sets_are_made_of_whole_documents_where_parts_are() -> None:
    corpus = treebank([[3, 4, 5], [2, 7], [6], [1, 8]] * 10)
    made = split(corpus, "random(unit='document', sizes='50/50')", nested=["test=4,9,20 sentences"])
    assert made.documents is not None
    codes = made.documents.codes
    for inner in made[0].nested["test"].values():
        whole = np.flatnonzero(np.isin(codes, codes[inner]))
        assert joined([inner]) == whole.tolist()


def test_nested_sets_of_text_in_order_are_those_nearest_its_end() -> None:
    corpus = read(text=tagged_text([2] * 30))
    made = split(corpus, "seq(train=10, words=20)", nested=["dev=3,5 sentences"])[0]
    assert made.parts["dev"].tolist() == list(range(20, 30))
    assert made.nested["dev"]["dev-3-sentences"].tolist() == [27, 28, 29]
    made = split(corpus, "tune(tune=4, dev=4, test=4)", nested=["test=1 sentence"])[0]
    assert made.parts["test"].tolist() == [26, 27, 28, 29]
    assert made.nested["test"]["test-1-sentences"].tolist() == [29]


@pytest.mark.parametrize(
    ("nested", "message"),
    [
        (["test=10%", "test=5 words"], "the same part twice; expected all sizes of a part together"),
        (["test"], "nested 'test'; expected as test=100,200,500 words"),
        (["tst=10%"], "nested 'tst=10%': part 'tst' is unknown; did you mean 'test'?"),
        (["tune=10%"], "nested: part 'tune' is unknown; expected one of train, dev, test"),
        (["test=20,10 words"], "expected sizes of one kind in increasing order"),
        (["test=10,10 words"], "in increasing order"),
        (["test=10%,20 words"], "nested 'test=10%,20 words': size '10% words'"),
        (["test=10"], "expected sizes as test=100,200,500 words"),
        (["test=150%"], "expected sizes as test=100,200,500 words"),
        (["test=0 words"], "expected sizes as"),
        (["test=rest"], "expected sizes as"),
        (["test="], "size ''"),
        (["test=9999 words"], "nested: 9,999 words requested; test has "),
    ],
)
def test_nested_sizes_that_make_no_sense_are_refused(nested: list[str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        split(read(text=tagged_text([3, 1, 5, 2] * 10)), "random", nested=nested)
    assert message in str(caught.value)


def test_shares_that_are_nearly_alike_have_names_of_their_own() -> None:
    made = split(read(text=tagged_text([3] * 40)), "random", nested=["train=33.33333%,33.333334%"])[0]
    assert list(made.nested["train"]) == ["train-33.33333-percent", "train-33.333334-percent"]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({}, "split x: no parts"),
        ({"train": [0], "test": []}, "split x: part test is empty"),
        ({"train": [0, 4]}, "split x: part train has sentence 4; expected 0 to 3"),
        ({"train": [-1, 2]}, "split x: part train has sentence -1; expected 0 to 3"),
        ({"train": [2, 1, 2]}, "split x: part train has sentence 2 twice"),
        ({"train": [0, 3], "test": [3]}, "split x: sentence 3 is in two parts"),
    ],
)
def test_a_partition_that_exists_is_right(parts: dict[str, list[int]], message: str) -> None:
    with pytest.raises(SplitError, match=re.escape(message)):
        Partition("x", {part: np.array(item, np.int64) for part, item in parts.items()}, 4)


@pytest.mark.parametrize(
    ("nested", "message"),
    [
        ({"dev": {"dev-1": [0]}}, "subsets of dev, which is not a part; expected train, test"),
        ({"train": {"a": []}}, "a is empty"),
        ({"train": {"a": [1]}}, "a is not within train"),
        ({"train": {"a": [0], "b": [2, 3]}}, "a is not within b"),
    ],
)
def test_nested_sets_that_exist_are_nested(nested: dict[str, dict[str, list[int]]], message: str) -> None:
    sets = {part: {name: np.array(item, np.int64) for name, item in named.items()} for part, named in nested.items()}
    with pytest.raises(SplitError, match=re.escape(message)):
        Partition("x", {"train": np.array([0, 2, 3]), "test": np.array([1])}, 4, sets)


def test_a_partition_cannot_be_changed() -> None:
    partition = Partition("x", {"train": np.array([2, 0])}, 4)
    assert partition.parts["train"].tolist() == [0, 2]
    assert partition.left_out.tolist() == [1, 3]
    with pytest.raises(ValueError, match="read-only"):
        partition.parts["train"][0] = 1
    with pytest.raises(TypeError):
        partition.parts["test"] = np.array([1])  # type: ignore[index]
