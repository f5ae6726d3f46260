"""Which words of a tree can be wrong together, proved on all trees of one to four words, and on half of five."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain, combinations

import pytest

from deadheat.testbed.mistakes import error_rate, possible_errors, reattach
from deadheat.testbed.rng import Rng
from tests.trees.enumeration import every_tree, is_single_root_tree

SIZES = (1, 2, 3, 4, 5)


@cache
def trees(size: int) -> list[tuple[int, ...]]:
    """Cayley: there are size ** (size - 1) of them."""
    result = list(every_tree(size))
    assert len(result) == size ** (size - 1)
    return result


def word_sets(size: int) -> Iterator[frozenset[int]]:
    numbers = range(1, size + 1)
    subsets = chain.from_iterable(combinations(numbers, count) for count in range(size + 1))
    return (frozenset(subset) for subset in subsets)


def differences(one: tuple[int, ...], other: tuple[int, ...]) -> frozenset[int]:
    return frozenset(number for number, (a, b) in enumerate(zip(one, other, strict=True), start=1) if a != b)


class Coin(Rng):
    """A generator whose next toss is fixed."""

    def __init__(self, *, heads: bool) -> None:
        super().__init__("coin")
        self.random = lambda: 0.0 if heads else 0.999


def drawn(heads: tuple[int, ...], wrong: frozenset[int], rng: Rng) -> frozenset[int]:
    hardness = [-1.0 - number / 10 if number in wrong else 1.0 + number / 10 for number in range(1, len(heads) + 1)]
    return possible_errors(heads, hardness, 0.0, rng)


@pytest.mark.parametrize("size", SIZES)
def test_only_two_sets_of_errors_are_impossible(size: int) -> None:
    for heads in trees(size)[:: max(1, size - 3)]:
        possible = {differences(heads, other) for other in trees(size)}
        root = heads.index(0) + 1
        children = frozenset(number for number, head in enumerate(heads, start=1) if head == root)
        impossible = {wrong for wrong in word_sets(size) if wrong not in possible}
        assert impossible == {frozenset({root}), children} - {frozenset()}


@pytest.mark.parametrize("size", SIZES)
def test_every_possible_set_of_errors_is_made_exactly(size: int) -> None:
    rng = Rng("trees", size)
    for heads in trees(size)[:: max(1, size - 3)]:
        possible = {drawn(heads, wrong, Coin(heads=True)) for wrong in word_sets(size)}
        for wrong in possible:
            result = tuple(reattach(heads, wrong, rng))
            assert is_single_root_tree(result)
            assert differences(heads, result) == wrong


@pytest.mark.parametrize("size", SIZES[1:])
def test_the_expected_number_of_errors_is_kept(size: int) -> None:
    for heads in trees(size)[:: max(1, size - 3)]:
        for wrong in word_sets(size):
            either = [drawn(heads, wrong, Coin(heads=side)) for side in (True, False)]
            assert len(either[0]) + len(either[1]) == 2 * len(wrong)


def test_longer_sentences_make_up_for_those_of_one_word() -> None:
    assert error_rate([1, 1, 8], 0.9) * 8 == pytest.approx(10 * 0.1)
    assert error_rate([1, 1], 0.9) == 0
    assert error_rate([1, 2], 0.1) == 1


def test_several_roots_are_made_when_allowed() -> None:
    heads = [2, 0, 2, 3, 4, 5]
    wrong = frozenset({4, 5, 6})
    result = [reattach(heads, wrong, Rng(seed), multiple_roots=True) for seed in range(30)]
    assert any(new.count(0) > 1 for new in result)
    assert all(differences(tuple(heads), tuple(new)) == wrong for new in result)
