"""Arcs that are not projective, against the definition and over all small trees."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadheat.corpus import read
from deadheat.kernels.trees import PROJECTIVITY_ARRAYS, non_projective
from tests.corpus.strategies import trees

Heads = Sequence[int]


def count(trees: Iterable[Heads], *, plainly: bool = False) -> list[int]:
    """What the kernel counts in each tree, all of them in one call."""
    found = list(trees)
    sizes = [len(heads) for heads in found]
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    room = np.full(PROJECTIVITY_ARRAYS * (max(sizes, default=0) + 1), -7, np.int32)
    arcs = np.full(len(found), -7, np.int32)
    heads = np.array([head for each in found for head in each], np.int32)
    run = non_projective.python if plainly else non_projective
    total = run(heads, offsets, room, arcs)
    assert total == arcs.sum()
    return [int(number) for number in arcs]


def ancestors(heads: Heads, word: int) -> Iterator[int]:
    while word:
        yield word
        word = heads[word - 1]
    yield 0


def by_definition(heads: Heads) -> int:
    """Arcs over a word that is not a descendant of the arc's head."""
    above = [set(ancestors(heads, word)) for word in range(len(heads) + 1)]
    return sum(
        any(head not in above[between] for between in range(min(head, word) + 1, max(head, word)))
        for word, head in enumerate(heads, start=1)
    )


def is_tree(heads: Heads) -> bool:
    for start in range(1, len(heads) + 1):
        word = start
        for _ in heads:
            word = heads[word - 1] if word else 0
        if word:
            return False
    return True


def all_trees(words: int) -> list[Heads]:
    """Every way to give words heads without a cycle, with any number of roots."""
    return [heads for heads in product(range(words + 1), repeat=words) if is_tree(heads)]


@pytest.mark.parametrize("words", range(1, 7))
def test_all_small_trees_are_counted_as_by_the_definition(words: int) -> None:
    every = all_trees(words)
    assert len(every) == (words + 1) ** (words - 1)
    assert count(every) == [by_definition(heads) for heads in every]


@given(st.lists(st.integers(1, 30).flatmap(trees), max_size=5))
def test_larger_trees_are_counted_as_by_the_definition(found: list[list[int]]) -> None:
    assert count(found) == [by_definition(heads) for heads in found]


@given(st.lists(st.integers(1, 8).flatmap(trees), max_size=3))
def test_plain_python_counts_as_the_machine_code_does(found: list[list[int]]) -> None:
    assert count(found, plainly=True) == count(found)


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        pytest.param([2, 0, 2], 0, id="flat"),
        pytest.param([3, 0, 2], 1, id="an arc over the root"),
        pytest.param([0, 1, 1, 2], 1, id="crossing arcs"),
        pytest.param([0, 5, 1, 1, 1], 2 - 1, id="an arc over two words of the root"),
        pytest.param([0, 0, 0], 0, id="three roots"),
        pytest.param([3, 0, 0], 1, id="an arc over another root"),
        pytest.param([], 0, id="no words"),
    ],
)
def test_small_trees_are_counted_as_by_hand(heads: list[int], expected: int) -> None:
    assert count([heads, [0], heads]) == [expected, 0, expected]


def test_words_without_heads_have_no_arcs() -> None:
    assert count([[-1, -1, -1], [3, 0, 2]]) == [0, 1]


def test_heads_that_are_no_tree_come_to_an_end() -> None:
    assert count([[2, 1, 0], [1], [9, 0]])[1:] == [0, 0]


@pytest.mark.parametrize("shape", ["chain to the right", "chain to the left", "star", "nested"])
def test_a_sentence_of_a_million_words_takes_linear_time(shape: str) -> None:
    words = 1_000_000
    numbers = np.arange(1, words + 1)
    if shape == "chain to the right":
        heads = np.where(numbers == words, 0, numbers + 1)
    elif shape == "chain to the left":
        heads = numbers - 1
    elif shape == "star":
        heads = np.where(numbers == words // 2, 0, words // 2)
    else:  # 1 heads the last word, that one word 2, which heads the last but one, and so on
        order = np.stack([numbers, numbers[::-1]], axis=1).reshape(-1)[:words]
        heads = np.zeros(words, np.int64)
        heads[order[1:] - 1] = order[:-1]
    arcs = np.zeros(1, np.int32)
    room = np.empty(PROJECTIVITY_ARRAYS * (words + 1), np.int32)
    assert non_projective(heads.astype(np.int32), np.array([0, words]), room, arcs) == 0


def test_the_share_of_non_projective_trees_in_a_treebank_is_as_others_counted_it(shared_data: Path) -> None:
    # 1.55 % of en_ewt dev's sentences have crossing arcs; counted by a program of its own.
    corpus = read(shared_data / "treebanks" / "en_ewt" / "en_ewt-ud-dev.conllu")
    trees = np.split(corpus.trees, corpus.offsets[1:-1])
    assert 100 * np.mean(np.array(count([tree.tolist() for tree in trees])) > 0) == pytest.approx(1.55, abs=0.005)
