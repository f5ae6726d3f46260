"""Trees by a beam from left to right: against lists of all assignments, a plain search, and the best tree."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError
from deadheat.kernels.decoding import find_pointed_trees
from deadheat.trees import best_trees
from deadheat.trees.decoding import arc_scores, beam_trees
from tests.trees.enumeration import apart, every_tree, is_single_root_tree, score

Square = NDArray[np.float64]
Heads = tuple[int, ...]


def flat(squares: Sequence[Square]) -> tuple[NDArray[np.float64], Indices]:
    offsets = np.cumsum([0, *(len(square) - 1 for square in squares)]).astype(np.int64)
    return np.concatenate([square.ravel() for square in squares]), offsets


def decoded(squares: Sequence[Square], beam: int) -> list[list[int]]:
    scores, offsets = flat(squares)
    return apart(beam_trees(scores, offsets, beam=beam), offsets)


def log_softmax(square: Square) -> Square:
    """Log-probabilities of the heads of every word, itself not among them."""
    without = np.where(np.eye(len(square), dtype=bool), -np.inf, square)
    top = without.max(axis=1, keepdims=True)
    return np.asarray(without - top - np.log(np.exp(without - top).sum(axis=1, keepdims=True)))


def has_cycle(heads: Heads) -> bool:
    """Whether words 1, 2, ..., of which these are the heads, are on a cycle; words after them have no heads."""
    for start in range(1, len(heads) + 1):
        word = start
        for _ in heads:
            word = heads[word - 1] if 0 < word <= len(heads) else 0
            if word == start:
                return True
    return False


def allowed(heads: Heads) -> bool:
    return heads.count(0) <= 1 and not has_cycle(heads)


def searched(square: Square, beam: int) -> Heads:
    """The same search with all continuations in a list, and log-probabilities instead of scores."""
    chances, words = log_softmax(square), len(square) - 1
    kept: list[tuple[float, Heads]] = [(0.0, ())]
    for word in range(1, words + 1):
        found = [
            (total + float(chances[word, head]), (*heads, head))
            for total, heads in kept
            for head in range(words + 1)
            if head != word and allowed((*heads, head))
        ]
        kept = sorted(found, key=lambda each: -each[0])[:beam]
    return kept[0][1]


@pytest.mark.parametrize("words", range(1, 6))
def test_heads_without_a_cycle_and_with_one_root_at_most_are_what_trees_begin_with(words: int) -> None:
    for length in range(words + 1):
        choices = [[head for head in range(words + 1) if head != word] for word in range(1, length + 1)]
        beginnings = {tree[:length] for tree in every_tree(words)}
        assert beginnings == set(filter(allowed, product(*choices)))


@pytest.mark.parametrize("words", range(1, 6))
def test_what_is_found_is_a_tree_and_with_a_beam_for_all_assignments_the_best(words: int) -> None:
    rng = np.random.default_rng(words)
    squares = [rng.normal(scale=3, size=(words + 1, words + 1)) for _ in range(60)]
    for square in squares[::2]:
        square[:, 0] += 5  # every word would rather hang from the root
    for beam in (1, 2, 5, 10):
        assert all(map(is_single_root_tree, decoded(squares, beam)))
    scores, offsets = flat([np.nan_to_num(log_softmax(square), neginf=0.0) for square in squares])
    everything = words ** (words - 1)  # as many trees as there are; beginnings of trees are no more
    assert decoded(squares, everything) == apart(best_trees(scores, offsets), offsets)


@pytest.mark.parametrize("beam", [1, 2, 3, 5, 10])
def test_the_beam_keeps_what_a_plain_search_over_log_probabilities_keeps(beam: int) -> None:
    rng = np.random.default_rng(beam)
    squares = [rng.normal(scale=2, size=(words + 1, words + 1)) for words in (1, 2, 3, 4, 5, 6, 8) for _ in range(15)]
    assert decoded(squares, beam) == [list(searched(square, beam)) for square in squares]


def test_a_beam_of_one_takes_the_best_head_that_is_allowed_word_by_word() -> None:
    rng = np.random.default_rng(0)
    squares = [rng.normal(size=(words + 1, words + 1)) for words in (2, 4, 7) for _ in range(30)]
    for square, found in zip(squares, decoded(squares, 1), strict=True):
        words = len(square) - 1
        heads: Heads = ()
        for word in range(1, words + 1):
            choices = [head for head in range(words + 1) if head != word and allowed((*heads, head))]
            heads = (*heads, max(choices, key=lambda head: square[word, head]))
        assert found == list(heads)


def test_no_beam_finds_a_better_tree_than_the_best() -> None:
    rng = np.random.default_rng(1)
    squares = [rng.normal(size=(words + 1, words + 1)) for words in (3, 10, 30, 60)]
    scores, offsets = flat(squares)
    best = apart(best_trees(scores, offsets), offsets)
    for beam in (1, 5, 10):
        for square, found, other in zip(squares, decoded(squares, beam), best, strict=True):
            assert is_single_root_tree(found)
            assert score(square, found) <= score(square, other) + 1e-9


def test_a_later_word_may_change_what_earlier_words_get() -> None:
    # Word 1 would take the root by a little; word 2 by a lot, and only one of them may.
    square = np.array([[0, 0, 0], [2, 0, 1], [9, 1, 0]], float)
    assert decoded([square], 1) == [[0, 1]]
    assert decoded([square], 2) == [[2, 0]]


def test_of_equal_sums_the_better_beginning_is_taken_and_then_the_lower_head() -> None:
    assert decoded([np.zeros((4, 4))], 1) == [[0, 1, 1]]
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 0]], float)  # both trees have a sum of 1
    assert decoded([square], 2) == [[0, 1]]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 6))
def test_ties_leave_trees_and_plain_python_finds_the_same(sizes: list[int], seed: int, values: int, beam: int) -> None:
    rng = np.random.default_rng(seed)
    squares = [rng.integers(0, values, (size + 1, size + 1)).astype(float) for size in sizes]
    found = decoded(squares, beam)
    assert all(map(is_single_root_tree, found))
    scores, offsets = flat(squares)
    arcs, heads = arc_scores(scores, offsets), np.empty(sum(sizes), np.int32)
    room = np.empty(2 * beam * (arcs.longest + 1), np.int32)
    find_pointed_trees.python(
        arcs.flat, arcs.starts, arcs.widths, arcs.offsets, beam, room, np.empty(2 * beam), np.empty(2 * beam, np.int64),
        heads,
    )  # fmt: skip
    assert apart(heads, offsets) == found


@given(st.integers(2, 8), st.integers(0, 2**32), st.integers(1, 5))
def test_a_constant_added_to_the_heads_of_a_word_changes_nothing(words: int, seed: int, beam: int) -> None:
    rng = np.random.default_rng(seed)
    square = rng.integers(0, 100, (words + 1, words + 1)).astype(float)
    shifted = square + rng.integers(-100, 100, (words + 1, 1)).astype(float)
    assert decoded([square], beam) == decoded([shifted], beam)


def test_sentences_are_decoded_together_as_alone_and_padded_as_flat() -> None:
    rng = np.random.default_rng(2)
    squares = [rng.normal(size=(size + 1, size + 1)) for size in (7, 1, 11, 2, 5)]
    scores, offsets = flat(squares)
    together = decoded(squares, 4)
    assert together == [decoded([square], 4)[0] for square in squares]
    padded = np.full((5, 14, 14), np.nan, np.float64)
    for place, square in zip(padded, squares, strict=True):
        place[: len(square), : len(square)] = square
        np.fill_diagonal(place, np.nan)
    assert apart(beam_trees(padded, offsets, beam=4), offsets) == together
    with_empty, expected = np.insert(offsets, 2, offsets[2]), [*together[:2], [], *together[2:]]
    assert apart(beam_trees(np.insert(scores, 64 + 4, 0.0), with_empty, beam=4), with_empty) == expected


def test_arcs_that_are_very_unlikely_are_taken_only_where_nothing_else_is_left() -> None:
    square = np.full((4, 4), -1e9)
    square[1, 2] = square[2, 3] = square[3, 0] = 1e-6
    assert decoded([square], 1) == [[2, 3, 0]]
    square[3, 0], square[3, 1] = -1e9, 5.0  # a cycle of all three would be the best
    assert decoded([square], 1) == [[2, 3, 0]]


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(InputError, match=r"^beam=0; expected at least 1$"):
        beam_trees(np.zeros(4), np.array([0, 1]), beam=0)
    with pytest.raises(InputError, match=r"^scores: 8 numbers; expected 9 numbers for 1 sentence$"):
        beam_trees(np.zeros(8), np.array([0, 2]), beam=2)
    squares = [np.zeros((3, 3)), np.zeros((4, 4))]
    squares[1][2, 3] = np.nan
    with pytest.raises(InputError, match=r"^scores of sentence 1: the arc from 3 to 2 has nan; expected a finite"):
        decoded(squares, 2)
