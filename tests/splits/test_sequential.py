"""Splits that follow the order of the text, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from deadheat.corpus import Corpus, concatenate, read
from deadheat.errors import InputError
from deadheat.splits import split
from tests.splits.corpora import as_file, lengths_of, tagged_text, tree


def parts_of(corpus: Corpus, strategy: str, *, seed: int = 0) -> dict[str, list[int]]:
    return {part: numbers.tolist() for part, numbers in split(corpus, strategy, seed=seed)[0].parts.items()}


def files(**sentences: int) -> Corpus:
    """A file a part, of sentences of two words."""
    return concatenate(
        [as_file(tree(["a", "b"]) * count, f"xx_yy-ud-{part}.conllu") for part, count in sentences.items()]
    )


# Ten sentences of 3 1 5 2 4 3 1 5 2 4 words: after the first four there are 11 words.
TEN = read(text=tagged_text([3, 1, 5, 2, 4] * 2))


@pytest.mark.parametrize(
    ("train", "words", "expected_train", "expected_dev"),
    [
        (9, 6, 3, [8, 9]),
        (9, 7, 3, [7, 8, 9]),
        (10, 6, 4, [8, 9]),
        (10, 0, 4, [4, 5, 6, 7, 8, 9]),
        (1, 27, 1, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (26, 1, 9, [9]),
    ],
)
def test_seq_takes_the_last_sentences_that_reach_the_words(
    train: int, words: int, expected_train: int, expected_dev: list[int]
) -> None:
    result = parts_of(TEN, f"seq(train={train}, words={words})")
    assert result == {"train": list(range(expected_train)), "dev": expected_dev}


def test_rand_takes_every_sentence_after_train_alike() -> None:
    corpus, times = read(text=tagged_text([2] * 25)), 800
    hits = np.zeros(25, int)
    for partition in split(corpus, "rand(train=10, words=10, part='test')", times=times):
        assert partition.parts["train"].tolist() == [0, 1, 2, 3, 4]
        assert len(partition.parts["test"]) == 5
        hits[partition.parts["test"]] += 1
    low, high = binom.ppf([1e-6, 1 - 1e-6], times, 5 / 20)
    assert np.all(hits[:5] == 0)
    assert np.all((low <= hits[5:]) & (hits[5:] <= high))


def test_rand_seq_takes_a_run_from_every_start_alike() -> None:
    times = 800
    result = [
        tuple(partition.parts["dev"].tolist()) for partition in split(TEN, "rand-seq(train=9, words=6)", times=times)
    ]
    # After three sentences the lengths are 2 4 3 1 5 2 4; runs of at least six words from every start that has them.
    runs = [(3, 4), (4, 5), (5, 6, 7), (6, 7), (7, 8), (8, 9)]
    assert set(result) == set(runs)
    low, high = binom.ppf([1e-6, 1 - 1e-6], times, 1 / 6)
    assert all(low <= result.count(run) <= high for run in runs)


def test_no_part_has_fewer_words_than_asked_nor_a_sentence_more() -> None:
    lengths = lengths_of(TEN)
    for strategy in ("seq", "rand", "rand-seq"):
        for words in range(1, 18):
            for seed in range(5):
                dev = split(TEN, f"{strategy}(train=8, words={words})", seed=seed)[0].parts["dev"]
                assert words <= lengths[dev].sum() < words + 5


def test_tune_takes_the_last_sentences_of_train_and_dev() -> None:
    result = parts_of(files(train=10, dev=5, test=4), "tune(tune=2, dev=3, test=4)")
    assert result == {"train": list(range(6)), "tune": [6, 7], "dev": [8, 9, 10], "test": [11, 12, 13, 14]}


def test_tune_has_a_thousand_sentences_of_each_by_default() -> None:
    result = parts_of(read(text=tagged_text([1] * 3500)), "tune")
    assert result["train"] == list(range(500))
    assert [result[part][0] for part in ("tune", "dev", "test")] == [500, 1500, 2500]
    assert [len(result[part]) for part in ("tune", "dev", "test")] == [1000, 1000, 1000]


def test_standard_is_what_the_files_say() -> None:
    result = parts_of(files(train=3, dev=2, test=1), "standard")
    assert result == {"train": [0, 1, 2], "dev": [3, 4], "test": [5]}
    result = parts_of(files(dev=2, test=1), "standard")
    assert result == {"dev": [0, 1], "test": [2]}


@pytest.mark.parametrize(
    ("sizes", "last", "expected"),
    [
        ({"train": 10, "dev": 7, "test": 3}, 100, {"train": 10, "tune": 2, "dev": 5, "test": 3}),
        ({"train": 300, "test": 3}, 100, {"train": 200, "tune": 33, "dev": 67, "test": 3}),
        ({"train": 31, "test": 5}, 100, {"train": 16, "tune": 5, "dev": 10, "test": 5}),
        ({"train": 31}, 9, {"train": 22, "tune": 3, "dev": 6}),
        ({"train": 6, "test": 1}, 100, {"train": 3, "tune": 1, "dev": 2, "test": 1}),
    ],
)
def test_ud_tune_takes_a_third_of_dev(sizes: dict[str, int], last: int, expected: dict[str, int]) -> None:
    corpus = files(**sizes)
    made = split(corpus, f"ud-tune(last={last})")
    assert {part: len(numbers) for part, numbers in made[0].parts.items()} == expected
    order = [part for part in ("train", "tune", "dev", "test") if part in expected]
    assert np.concatenate([made[0].parts[part] for part in order]).tolist() == list(range(corpus.sentences))
    assert made.notes == (
        ()
        if "dev" in sizes
        else (f"no dev set: the last {min(last, sizes['train'] // 2)} sentences of train are used as dev",)
    )


def test_ud_tune_refuses_what_has_no_third() -> None:
    for sizes in ({"train": 10, "dev": 2}, {"train": 5, "test": 9}, {"dev": 9, "test": 9}):
        with pytest.raises(InputError, match="expected at least 3, and train"):
            split(files(**sizes), "ud-tune")
    with pytest.raises(InputError, match="already has a tune part"):
        split(files(train=9, tune=9, dev=9), "ud-tune")


def test_files_must_name_their_parts_where_these_are_used() -> None:
    for name in ("standard", "ud-tune"):
        with pytest.raises(
            InputError, match=rf"text: not all file names tell a part; strategy {name} expected names such as"
        ):
            split(TEN, name)
