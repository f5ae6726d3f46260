"""What leaks between parts, by hand and against the obvious version; divergences against scipy."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy as scipy_entropy

from deadheat.corpus import Corpus, read
from deadheat.splits.leaks import SentenceIndex, entropy, jensen_shannon, leaks

counts = st.lists(st.integers(0, 50), min_size=1, max_size=8)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=8))
def test_divergence_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    first, second = (np.array(item, np.int64) for item in zip(*pairs, strict=True))
    result = jensen_shannon(first, second)
    if not first.sum() or not second.sum():
        assert np.isnan(result)
    else:
        assert result == pytest.approx(jensenshannon(first, second, base=2) ** 2, abs=1e-12)
        assert 0 <= result <= 1 + 1e-12
        assert result == pytest.approx(jensen_shannon(second, first), abs=1e-12)
        assert result == pytest.approx(jensen_shannon(3 * first, second), abs=1e-12)


@given(counts)
def test_entropy_is_that_of_scipy(values: list[int]) -> None:
    array = np.array(values, np.int64)
    assert entropy(array) == pytest.approx(scipy_entropy(array, base=2) if array.sum() else 0.0, abs=1e-12)


def sentences_of(corpus: Corpus) -> list[tuple[str, ...]]:
    forms = corpus.column("form").strings()
    return [tuple(forms[a:b]) for a, b in pairwise(corpus.offsets.tolist())]


def tagged(sentences: list[list[str]]) -> Corpus:
    return read(text="".join(" ".join(f"{word}_{word.upper()}" for word in item) + "\n" for item in sentences))


few_words = st.lists(
    st.lists(st.sampled_from(["a", "A", "b", "c", "ab"]), min_size=1, max_size=4), min_size=1, max_size=12
)


@given(few_words)
def test_sentences_have_the_same_hash_if_they_are_the_same(sentences: list[list[str]]) -> None:
    hashes = SentenceIndex(tagged(sentences)).hashes.tolist()
    for i, one in enumerate(sentences):
        for j, other in enumerate(sentences):
            assert (hashes[i] == hashes[j]) == (one == other)


def pairs_of(sentence: tuple[str, ...]) -> set[tuple[str, str]]:
    return set(pairwise(["<", *(word.lower() for word in sentence), ">"]))


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(2, 12))
def test_leaks_are_those_of_the_obvious_version(seed: int, kinds: int) -> None:
    rng = Random(seed)
    chosen: list[list[str]] = []
    for _ in range(30):
        if chosen and rng.random() < 0.5:  # nearly or quite a sentence that was there before
            chosen.append([word if rng.random() < 0.9 else "new" for word in rng.choice(chosen)])
        else:
            chosen.append([rng.choice(["w", "W"]) + str(rng.randrange(kinds)) for _ in range(rng.randrange(1, 10))])
    corpus = tagged(chosen)
    order = list(range(30))
    rng.shuffle(order)
    parts = {"train": np.sort(order[:18]), "dev": np.sort(order[18:20]), "test": np.sort(order[20:])}
    sentences = sentences_of(corpus)
    for leak in leaks(corpus, parts):
        there, here = ([sentences[i] for i in parts[part]] for part in (leak.within, leak.of))
        identical = [item for item in here if item in there]
        near = [
            item
            for item in here
            if len(item) >= 5
            and item not in there
            and any(
                len(other) >= 5
                and 10 * len(pairs_of(item) & pairs_of(other)) >= 6 * len(pairs_of(item) | pairs_of(other))
                for other in there
            )
        ]
        words, known = [word for item in here for word in item], {word for item in there for word in item}
        assert leak.sentences == len(here)
        assert leak.identical == len(identical)
        assert leak.identical_long == len([item for item in identical if len(item) >= 5])
        assert leak.near_duplicates == len(near)
        assert leak.unknown_words == pytest.approx(sum(word not in known for word in words) / len(words))
        assert leak.shared_types == pytest.approx(len(set(words) & known) / len(set(words)))
        sizes = [np.bincount([len(item) // 5 for item in part], minlength=2) for part in (there, here)]
        assert leak.divergence["length"] == pytest.approx(jensenshannon(*sizes, base=2) ** 2, abs=1e-12)


def test_a_leak_by_hand() -> None:
    """Test has three sentences: one of train, one that differs in a word of nine, and one that is new."""
    corpus = tagged(
        [
            "the cat sat on the old mat over there".split(),
            "good morning".split(),
            "Good morning".split(),
            "good morning".split(),
            "The cat sat on the new mat over there".split(),
        ]
    )
    (leak,) = leaks(corpus, {"train": np.array([0, 1]), "test": np.array([2, 3, 4])}, {"train/test": 4})
    assert (leak.within, leak.of, leak.sentences, leak.shared_documents) == ("train", "test", 3, 4)
    assert (leak.identical, leak.identical_long) == (1, 0)
    # Ten pairs each, of which eight are shared (two are not, around the other word): 8 of 12, which is 67 %.
    assert leak.near_duplicates == 1
    # Of 13 words, Good, The and new are unknown; of 12 forms, nine are known.
    assert leak.unknown_words == pytest.approx(3 / 13)
    assert leak.shared_types == pytest.approx(9 / 12)
    assert set(leak.divergence) == {"length", "tag"}


def test_a_column_of_one_value_or_of_thousands_is_no_set_of_labels() -> None:
    text = "".join(f"w{i}\tX\tid{i}\t{'ab'[i % 2]}\n\n" for i in range(600))
    corpus = read(text=text, columns=["form", "same", "id", "kind"])
    (leak,) = leaks(corpus, {"train": np.arange(300), "test": np.arange(300, 600)})
    assert leak.divergence == {"length": 0.0, "kind": 0.0}
    assert leak.divergence == {"length": 0.0, "kind": 0.0}


def test_parts_of_short_sentences_have_no_near_duplicates() -> None:
    (leak,) = leaks(tagged([["a", "b"], ["a", "b"]]), {"train": np.array([0]), "test": np.array([1])})
    assert (leak.identical, leak.identical_long, leak.near_duplicates) == (1, 0, 0)
