"""Best trees, projective and not: against a list of all trees, against each other, and on long sentences."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.errors import InputError
from deadheat.kernels.decoding import (
    CONTRACTION_ARRAYS,
    SPAN_ITEMS,
    SQUARES,
    find_arborescences,
    find_projective_trees,
)
from deadheat.trees import best_projective_trees, best_trees
from deadheat.trees.decoding import arc_scores
from tests.trees.enumeration import (
    apart,
    best_score,
    every_projective_tree,
    every_tree,
    is_projective,
    is_single_root_tree,
    random_tree,
    score,
)  # fmt: skip

Decoder = Callable[[NDArray[np.float64], Indices], Codes]
Square = NDArray[np.float64]
DECODERS = [best_trees, best_projective_trees]
SPACES = [(best_trees, every_tree), (best_projective_trees, every_projective_tree)]
NAMES = ["any", "projective"]


def flat(squares: Sequence[Square]) -> tuple[NDArray[np.float64], Indices]:
    offsets = np.cumsum([0, *(len(square) - 1 for square in squares)]).astype(np.int64)
    return np.concatenate([square.ravel() for square in squares]), offsets


def decoded(decoder: Decoder, squares: Sequence[Square]) -> list[list[int]]:
    scores, offsets = flat(squares)
    return apart(decoder(scores, offsets), offsets)


def draw(kind: str, size: int, rng: np.random.Generator) -> Square:
    shape = (size + 1, size + 1)
    if kind == "ties":
        return rng.integers(0, 3, shape).astype(float)
    if kind == "tempting root":  # every word would rather hang from the root
        square = rng.normal(size=shape)
        square[:, 0] += 5
        return square
    return rng.normal(size=shape)


def test_there_are_as_many_trees_as_there_should_be() -> None:
    assert [len(every_tree(words)) for words in range(1, 7)] == [words ** (words - 1) for words in range(1, 7)]
    # 3n choose n, over 2n + 1, of n = words - 1, and so on: OEIS A006013
    assert [len(every_projective_tree(words)) for words in range(1, 7)] == [1, 2, 7, 30, 143, 728]


@pytest.mark.parametrize("kind", ["normal", "ties", "tempting root"])
@pytest.mark.parametrize("words", range(1, 7))
@pytest.mark.parametrize(("decoder", "trees"), SPACES, ids=NAMES)
def test_no_tree_of_a_full_list_is_better(
    decoder: Decoder, trees: Callable[[int], Sequence[Sequence[int]]], words: int, kind: str
) -> None:
    rng = np.random.default_rng(words)
    squares = [draw(kind, words, rng) for _ in range(200)]
    allowed = set(trees(words))
    for square, heads in zip(squares, decoded(decoder, squares), strict=True):
        assert tuple(heads) in allowed
        assert score(square, heads) == pytest.approx(best_score(square, trees(words)), abs=1e-9)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(0, 2**32), st.integers(1, 4))
def test_what_is_found_is_a_tree_and_the_projective_one_is_never_better(
    sizes: list[int], seed: int, values: int
) -> None:
    rng = np.random.default_rng(seed)
    squares = [rng.integers(0, values, (size + 1, size + 1)).astype(float) for size in sizes]
    found = [decoded(decoder, squares) for decoder in DECODERS]
    for square, free, projective in zip(squares, *found, strict=True):
        assert is_single_root_tree(free)
        assert is_single_root_tree(projective)
        assert is_projective(projective)
        assert score(square, projective) <= score(square, free)
        assert not is_projective(free) or score(square, projective) == score(square, free)


@given(st.integers(2, 12), st.integers(0, 2**32))
def test_a_constant_added_to_the_heads_of_a_word_changes_nothing(words: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    square = rng.integers(0, 100, (words + 1, words + 1)).astype(float)
    shifted = square + rng.integers(-100, 100, (words + 1, 1)).astype(float)
    for decoder in DECODERS:
        before, after = decoded(decoder, [square, shifted])
        assert score(square, before) == score(square, after)


@pytest.mark.parametrize("decoder", DECODERS, ids=NAMES)
def test_one_word_hangs_from_the_root_whatever_the_score(decoder: Decoder) -> None:
    assert decoded(decoder, [np.array([[0.0, 0.0], [-9.0, 9.0]])]) == [[0]]


def test_of_equal_heads_the_lowest_is_taken() -> None:
    # All arcs equal: the best heads of all words are the root, which may have one child.
    assert decoded(best_trees, [np.zeros((4, 4))] * 2) == [decoded(best_trees, [np.zeros((4, 4))])[0]] * 2
    square = np.zeros((4, 4))
    square[1, 0] = 1
    square[3, 1:3] = 1
    square[2, 1] = 1
    assert decoded(best_trees, [square]) == [[0, 1, 1]]


@pytest.mark.parametrize("decoder", DECODERS, ids=NAMES)
def test_sentences_decoded_together_are_decoded_as_alone(decoder: Decoder) -> None:
    rng = np.random.default_rng(0)
    squares = [draw("normal", size, rng) for size in (7, 1, 30, 2, 12)]
    assert decoded(decoder, squares) == [decoded(decoder, [square])[0] for square in squares]


@pytest.mark.parametrize("decoder", DECODERS, ids=NAMES)
def test_a_padded_batch_gives_what_flat_scores_give(decoder: Decoder) -> None:
    rng = np.random.default_rng(1)
    squares = [draw("normal", size, rng) for size in (3, 9, 1, 6)]
    padded = np.full((4, 12, 12), np.nan, np.float64)
    for place, square in zip(padded, squares, strict=True):
        place[: len(square), : len(square)] = square
        np.fill_diagonal(place, np.nan)
    scores, offsets = flat(squares)
    assert decoder(padded, offsets).tolist() == decoder(scores, offsets).tolist()


@pytest.mark.parametrize("decoder", DECODERS, ids=NAMES)
def test_the_tree_that_made_peaked_scores_is_found(decoder: Decoder) -> None:
    rng = np.random.default_rng(2)
    for words in (1, 2, 8, 40):
        heads = random_tree(words, rng) if decoder is best_trees else list(range(words))
        square = rng.normal(size=(words + 1, words + 1))
        square[np.arange(1, words + 1), heads] += 20
        assert decoded(decoder, [square]) == [heads]


def test_a_sentence_of_four_hundred_words_is_decoded() -> None:
    rng = np.random.default_rng(3)
    square = rng.normal(size=(401, 401))
    (free,), (projective,) = (decoded(decoder, [square]) for decoder in DECODERS)
    assert is_single_root_tree(free)
    assert is_single_root_tree(projective)
    assert is_projective(projective)
    bound = np.where(np.eye(401, dtype=bool), -np.inf, square)[1:].max(axis=1).sum()
    assert score(square, projective) < score(square, free) <= bound
    assert score(square, free) > bound - 40  # few words have to give up their best head


def test_huge_scores_hide_no_small_differences() -> None:
    # A mask of -1e9 on most arcs must not swallow a difference of 1e-6 between the others.
    rng = np.random.default_rng(4)
    for _ in range(200):
        square = rng.integers(0, 3, (6, 6)).astype(np.float64) * 1e-6
        square[rng.random((6, 6)) < 0.4] = -1e9
        square[:, 0] += 1000
        (heads,) = decoded(best_trees, [square])
        assert score(square, heads) == pytest.approx(best_score(square, every_tree(5)), rel=1e-15, abs=1e-9)


@pytest.mark.parametrize("decoder", DECODERS, ids=NAMES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_no_number_is_named(decoder: Decoder, value: float) -> None:
    squares = [np.zeros((3, 3)), np.zeros((4, 4))]
    squares[1][2, 3] = value
    with pytest.raises(InputError, match=r"^scores of sentence 1: the arc from 3 to 2 has -?(nan|inf); expected a fin"):
        decoded(decoder, squares)


def test_scores_of_another_size_are_refused() -> None:
    with pytest.raises(InputError, match=r"^scores: 8 numbers; expected 9 numbers for 1 sentence$"):
        best_trees(np.zeros(8), np.array([0, 2]))
    with pytest.raises(InputError, match=r"shape \(1, 3, 3\); expected \(1, N, N\) with N at least 4$"):
        best_trees(np.zeros((1, 3, 3)), np.array([0, 3]))


@given(st.lists(st.integers(1, 6), min_size=1, max_size=3), st.integers(0, 2**32))
def test_plain_python_finds_what_the_machine_code_finds(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, offsets = flat([rng.integers(0, 4, (size + 1, size + 1)).astype(float) for size in sizes])
    arcs = arc_scores(scores, offsets)
    size, heads = arcs.longest + 1, np.empty(int(offsets[-1]), np.int32)
    layout = (arcs.flat, arcs.starts, arcs.widths, arcs.offsets)
    entries, room = np.empty(size * size, np.int32), np.empty(CONTRACTION_ARRAYS * size, np.int32)
    find_arborescences.python(*layout, np.empty(size * size), entries, np.empty(2 * size), room, heads)
    assert heads.tolist() == best_trees(scores, offsets).tolist()
    items = np.empty(SPAN_ITEMS * size, np.int32)
    find_projective_trees.python(*layout, np.empty(SQUARES * size * size), items, heads)
    assert heads.tolist() == best_projective_trees(scores, offsets).tolist()
