"""Test sets that are unlike train: how unlike they could be, by trying all of them."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations, pairwise
from math import log2
from random import Random

import numpy as np
import pytest

from deadheat.corpus import Corpus, read
from deadheat.splits import split
from deadheat.splits.biased import _ngrams
from tests.splits.corpora import lengths_of, tagged_text, treebank


def topical(seed: int, *, sentences: int = 13, length: int = 5, kinds: int = 12) -> Corpus:
    """Sentences about one of three topics: some words are of all of them, others of one."""
    rng = Random(seed)
    text = ""
    for _ in range(sentences):
        topic = rng.randrange(3)
        chosen = [
            f"common{rng.randrange(kinds)}" if rng.random() < 0.4 else f"topic{topic}-{rng.randrange(kinds // 2)}"
            for _ in range(length)
        ]
        text += " ".join(f"{word}_X" for word in chosen) + "\n"
    return read(text=text)


@cache
def all_runs(corpus: Corpus, ngram: int) -> list[list[tuple[str, ...]]]:
    """The runs of so many words of every sentence."""
    forms = corpus.column("form").strings()
    sentences = [forms[start:end] for start, end in pairwise(corpus.offsets.tolist())]
    return [[tuple(item[i : i + ngram]) for i in range(len(item) - ngram + 1)] for item in sentences]


def divergence(corpus: Corpus, test: set[int], ngram: int = 1) -> float:
    """The bits that a word tells of the part it stands in, by its definition: mutual information."""
    inside, outside = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for sentence, result in enumerate(all_runs(corpus, ngram)):
        (inside if sentence in test else outside).update(result)
    total = inside.total() + outside.total()
    bits = 0.0
    for counts in (inside, outside):
        for word, count in counts.items():
            both = inside[word] + outside[word]
            bits += count / total * log2(count * total / (both * counts.total()))
    return bits


def test_the_longest_or_the_shortest_sentences_are_test() -> None:
    corpus = read(text=tagged_text([3, 9, 1, 7, 5, 9, 2, 8, 4, 6]))
    for seed in range(5):
        parts = split(corpus, "biased(sizes='60/20/20')", seed=seed)[0].parts
        assert parts["test"].tolist() == [1, 5]
        assert [len(item) for item in parts.values()] == [6, 2, 2]
        assert split(corpus, "biased(sizes='70/30', end='short')", seed=seed)[0].parts["test"].tolist() == [0, 2, 6]


def test_of_equal_length_random_ones_are_test_and_dev_is_random() -> None:
    corpus = read(text=tagged_text([3] * 40))
    made = split(corpus, "biased", times=20)
    assert len({tuple(item.parts["test"].tolist()) for item in made}) == 20
    assert len({tuple(item.parts["dev"].tolist()) for item in made}) == 20
    assert all([len(part) for part in item.parts.values()] == [32, 4, 4] for item in made)


def test_documents_of_the_longest_sentences_on_average_are_test() -> None:
    corpus = treebank([[9, 1], [4, 4, 4], [6], [5, 5], [3, 3]])  # on average 5, 4, 6, 5 and 3 words
    made = split(corpus, "biased(unit='document', sizes='train=rest,test=6 words')")
    assert made.documents is not None
    assert {made.documents.names[code].split("-")[1] for code in made.documents.codes[made[0].parts["test"]]} == {"2"}


def test_what_no_part_was_asked_to_have_is_left_out() -> None:
    corpus = treebank([[40, 40], [5, 5], [5, 5], [5, 5], [5, 5]])
    partition = split(corpus, "biased(unit='document', sizes='train=10 words,test=10 words')")[0]
    lengths = lengths_of(corpus)
    assert lengths[partition.parts["test"]].tolist() == [
        40,
        40,
    ]  # the only document of long sentences, though too large
    assert lengths[partition.parts["train"]].tolist() == [5, 5]
    assert len(partition.left_out) == 6


@pytest.mark.parametrize("ngram", [1, 2, 3])
def test_runs_of_words_are_those_within_sentences(ngram: int) -> None:
    corpus = read(text=tagged_text([1, 4, 2, 6, 3, 1], kinds=3, seed=5))
    numbers, sentences = _ngrams(corpus, None, ngram)
    expected = [(sentence, run) for sentence, result in enumerate(all_runs(corpus, ngram)) for run in result]
    assert sentences.tolist() == [sentence for sentence, _ in expected]
    of_number = dict(zip(numbers.tolist(), (run for _, run in expected), strict=True))
    assert [of_number[number] for number in numbers.tolist()] == [run for _, run in expected]
    assert len(set(of_number.values())) == len(of_number)


def test_sentences_too_short_for_a_run_do_no_harm() -> None:
    corpus = read(text=tagged_text([1, 2] * 10))
    parts = split(corpus, "biased(by='words', ngram=3, sizes='70/30')")[0].parts
    assert sum(map(len, parts.values())) == 20


@pytest.mark.parametrize("ngram", [1, 2])
def test_on_tiny_corpora_hardly_any_test_set_is_farther_from_train(ngram: int) -> None:
    """All 715 sets of four of thirteen sentences: the one that is found has nearly the divergence of the best."""
    nearness = []
    for seed in range(4):
        corpus = topical(seed)
        everything = [divergence(corpus, set(item), ngram) for item in combinations(range(13), 4)]
        for partition in split(corpus, f"biased(by='words', ngram={ngram}, sizes='train=rest,test=20 words')", times=3):
            result = divergence(corpus, set(partition.parts["test"].tolist()), ngram)
            assert len(partition.parts["test"]) == 4
            assert np.mean(np.array(everything) > result + 1e-9) <= 0.05
            nearness.append(result / max(everything))
    assert np.mean(nearness) > 0.95
    assert max(nearness) == pytest.approx(1)


def test_no_random_split_is_as_far_from_train() -> None:
    corpus = topical(1, sentences=300, length=8, kinds=60)
    for partition in split(corpus, "biased(by='words', sizes='80/20')", times=3):
        result = divergence(corpus, set(partition.parts["test"].tolist()))
        random = split(corpus, "random(sizes='train=rest,test=480 words')", times=50, seed=8)
        assert len(partition.parts["test"]) == 60
        assert result > 1.5 * max(divergence(corpus, set(item.parts["test"].tolist())) for item in random)


def test_two_languages_are_separated() -> None:
    """Sentences of two vocabularies without a common word: test is one of them, whole, and a word tells all."""
    one, two = (tagged_text([6] * count, seed=count, kinds=9) for count in (20, 60))
    corpus = read(text=one.replace("w", "x") + two)
    for partition in split(corpus, "biased(by='words', sizes='75/25')", times=5):
        assert partition.parts["test"].tolist() == list(range(20))
