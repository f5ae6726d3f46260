"""Random splits, folds, and splits by the guidelines of Universal Dependencies."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import binom

from deadheat.corpus import Corpus, read
from deadheat.corpus.transforms import take
from deadheat.errors import InputError
from deadheat.splits import split
from tests.splits.corpora import (
    GENRES,
    Lengths,
    documents_text,
    joined,
    lengths,
    lengths_of,
    seeds,
    tagged_text,
    treebank,
)


def big(words: int, *, seed: int = 0) -> Corpus:
    """Documents of 20 to 600 words, of three genres, of about so many words in all."""
    rng = Random(seed)
    documents: list[list[int]] = []
    while sum(map(sum, documents)) < words:
        documents.append([rng.randrange(4, 30) for _ in range(rng.randrange(5, 20))])
    return read(text=documents_text(documents, seed=seed, kinds=500))


@settings(max_examples=10)
@given(lengths, seeds)
def test_every_sentence_is_in_one_test_fold_and_one_dev_fold_of_a_repetition(documents: Lengths, seed: int) -> None:
    corpus = treebank(documents)
    for name in ("kfold(folds=4)", "kfold(folds=3, unit='document')", "kfold(folds=3, unit='block', block=2)"):
        folds = int(name[12])
        made = split(corpus, name, times=2 * folds, seed=seed)
        for repetition in range(2):
            chosen = made.partitions[repetition * folds : (repetition + 1) * folds]
            for part in ("test", "dev"):
                assert joined(item.parts[part] for item in chosen) == list(range(corpus.sentences))
            assert all(np.array_equal(a.parts["dev"], b.parts["test"]) for a, b in pairwise(chosen))


def test_folds_of_sentences_differ_by_one_at_most_and_repetitions_are_other_shuffles() -> None:
    made = split(read(text=tagged_text([2] * 47)), "kfold", times=30, seed=9)
    assert Counter(len(item.parts["test"]) for item in made) == {4: 9, 5: 21}
    assert len({tuple(item.parts["test"].tolist()) for item in made}) == 30


def test_folds_without_dev_have_all_the_rest_as_train() -> None:
    for partition in split(read(text=tagged_text([2] * 20)), "kfold(folds=4, dev_fold=False)", times=4):
        assert list(partition.parts) == ["train", "test"]
        assert [len(item) for item in partition.parts.values()] == [15, 5]


def test_folds_of_documents_have_the_same_words_and_genres() -> None:
    corpus = big(30_000)
    genres = np.array([GENRES.index(name.split("-")[0]) for name in sent_names(corpus)])
    words = lengths_of(corpus)
    for partition in split(corpus, "kfold(folds=5, unit='document', stratify='genre')", times=5):
        test = partition.parts["test"]
        assert abs(words[test].sum() / words.sum() - 0.2) <= 0.2 * 0.02
        shares = np.bincount(genres[test], words[test]) / np.bincount(genres, words)
        assert np.all(np.abs(shares - 0.2) <= 0.2 * 0.05 + 1e-9)


def sent_names(corpus: Corpus) -> list[str]:
    from deadheat.corpus.documents import sent_ids

    return [name or "" for name in sent_ids(corpus)]


def test_every_sentence_is_as_likely_in_test() -> None:
    corpus, times = treebank([[3, 4], [5], [2, 6, 1]] * 5), 600
    for name in ("random(sizes='50/30/20')", "random(sizes='50/30/20', stratify='genre')"):
        hits = np.zeros(corpus.sentences, int)
        for partition in split(corpus, name, times=times, seed=3):
            hits[partition.parts["test"]] += 1
        low, high = binom.ppf([1e-6, 1 - 1e-6], times, 6 / 30)
        assert np.all((low <= hits) & (hits <= high)), hits


def test_strata_of_sentences_are_in_every_part_in_proportion() -> None:
    text = "".join(
        f"# kind = {'abc'[i % 10 // 5 + i % 10 // 8]}\n1\tx\t_\t_\t_\t_\t0\troot\t_\t_\n\n" for i in range(200)
    )
    corpus = read(text=text)  # 100 of a, 60 of b, 40 of c
    for partition in split(corpus, "random(stratify='kind')", times=5):
        for part, expected in (("train", [80, 48, 32]), ("dev", [10, 6, 4]), ("test", [10, 6, 4])):
            kinds = partition.parts[part] % 10
            result = [
                np.count_nonzero(kinds < 5),
                np.count_nonzero((kinds >= 5) & (kinds < 8)),
                np.count_nonzero(kinds >= 8),
            ]
            assert result == expected


def test_blocks_are_runs_of_sentences_that_begin_anew_in_every_file() -> None:
    corpus = treebank([[1, 1, 1]] * 10)  # files of 18, 6 and 6 sentences
    for partition in split(corpus, "random(sizes='50/50', unit='block', block=4)", times=10):
        for numbers in partition.parts.values():
            chosen = set(numbers.tolist())
            for first, end in [(0, 18), (18, 24), (24, 30)]:
                for start in range(first, end, 4):
                    block = set(range(start, min(start + 4, end)))
                    assert block <= chosen or not block & chosen


@pytest.mark.parametrize("words", [21_000, 60_000, 108_000])
def test_a_middling_treebank_gets_ten_thousand_words_of_test_and_a_tenth_of_the_rest_as_dev(words: int) -> None:
    corpus = big(words)
    for partition in split(corpus, "ud", times=5):
        train, dev, test = (int(lengths_of(corpus)[item].sum()) for item in partition.parts.values())
        assert 10_000 <= test <= 10_600
        assert dev == pytest.approx(0.1 * (dev + train), rel=0.05)


def test_a_large_treebank_gets_test_and_dev_of_ten_thousand_words_to_a_tenth_each() -> None:
    corpus = big(115_000)
    made = split(corpus, "ud", times=5)
    for partition in made:
        _, dev, test = (int(lengths_of(corpus)[item].sum()) for item in partition.parts.values())
        assert 10_000 <= min(dev, test) <= max(dev, test) <= 0.1 * corpus.words
        assert set(made.shared_documents(partition).values()) == {0}
        genres = np.array([GENRES.index(name.split("-")[0]) for name in sent_names(corpus)])
        chosen = partition.parts["test"]
        shares = np.bincount(genres[chosen], lengths_of(corpus)[chosen]) / np.bincount(genres, lengths_of(corpus))
        assert np.all(np.abs(shares / (test / corpus.words) - 1) < 0.1)


def test_a_small_treebank_is_all_test_or_has_a_sample_to_train_on() -> None:
    corpus = read(text=tagged_text([4] * 100))
    made = split(corpus, "ud")
    assert {part: len(item) for part, item in made[0].parts.items()} == {"test": 100}
    assert made.notes == ("fewer than 20,000 words: all sentences are test; cross-validate with kfold",)
    made = split(corpus, "ud(sample=20)", times=2)
    assert {part: len(item) for part, item in made[0].parts.items()} == {"train": 20, "test": 80}
    assert made[0].parts["train"].tolist() != made[1].parts["train"].tolist()


def test_ud_without_documents_asks_for_another_unit() -> None:
    corpus = read(text=tagged_text([20] * 1500, kinds=900))
    with pytest.raises(InputError, match="no documents; expected"):
        split(corpus, "ud")
    made = split(corpus, "ud(unit='block')")
    assert 10_000 <= lengths_of(corpus)[made[0].parts["test"]].sum() <= 10_600


def test_selections_of_a_corpus_can_be_stratified_by_file() -> None:
    """They come from no file, and so are all of one stratum."""
    corpus = take(treebank([[3, 4]] * 5), [0, 1, 2, 3])
    assert [len(item) for item in split(corpus, "random(sizes='50/50', stratify='file')")[0].parts.values()] == [2, 2]
