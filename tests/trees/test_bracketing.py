"""Bracket labels: the paper's rules by hand, every small tree there and back, real treebanks, any labels at all."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deadheat.corpus import Column, Vocabulary, read
from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.errors import InputError
from deadheat.kernels.trees import CROSSING_ARRAYS, assign_planes, read_brackets
from deadheat.trees import bracketing
from deadheat.trees.bracketing import decode, encode, planes_of
from tests.trees.enumeration import (
    apart,
    crosses,
    crossing_pairs,
    every_tree,
    is_single_root_tree,
    random_tree,
    together,
)  # fmt: skip

# Three arcs that all cross each other: 4 -> 1, 5 -> 2, 6 -> 3.
TRIPLE = [4, 5, 6, 0, 4, 5]


def labels(heads: Sequence[int]) -> list[list[str]]:
    return [plane.strings() for plane in encode(*together([heads]))]


def decoded(one: Sequence[str], other: Sequence[str], roots: Sequence[int] = ()) -> list[int]:
    """Heads of one sentence; `roots` are the words whose relation is root."""
    marks = np.isin(np.arange(1, len(one) + 1), list(roots))
    heads: list[int] = decode((Column.of(one), Column.of(other)), marks, np.array([0, len(one)])).tolist()
    return heads


def back(heads: Codes, offsets: Indices) -> Codes:
    return decode(encode(heads, offsets), heads == 0, offsets)


def fits_two_planes(heads: Sequence[int]) -> bool:
    """Whether some way of giving two planes to arcs leaves no crossing in either: all ways are tried."""
    pairs = crossing_pairs(heads)
    involved = sorted({word for pair in pairs for word in pair})
    ways = (dict(zip(involved, way, strict=True)) for way in product((1, 2), repeat=len(involved)))
    return any(all(way[one] != way[other] for one, other in pairs) for way in ways)


@pytest.mark.parametrize(
    ("heads", "first", "second"),
    [
        ([0], ["."], ["."]),
        ([2, 0], [".", "<\\"], [".", "."]),
        ([0, 1], [".", "/>"], [".", "."]),
        ([3, 3, 0], [".", "<", "<\\\\"], ["."] * 3),  # both wait for 3
        ([0, 1, 1], [".", "//>", ">"], ["."] * 3),
        ([2, 0, 4, 2], [".", "<\\", "/", "<\\>"], ["."] * 4),
        ([3, 4, 0, 3], [".", "<", "\\", "/>"], [".", ".", "<", "\\"]),  # 3 -> 1 and 4 -> 2 cross
        ([3, 0, 2, 1], [".", "</", "/\\>", ">"], ["."] * 4),  # 3 -> 1, 2 -> 3 and 1 -> 4: below the root, none cross
        (
            [2, 3, 0, 3, 2, 7, 5, 4],  # A hearing is scheduled on the issue today: 4 -> 8 crosses 2 -> 5
            [".", "<\\", "</\\", "/>", ">", "/", "<\\>", "."],
            [".", ".", ".", ".", "/", ".", ".", ">"],
        ),
    ],
)
def test_labels_are_those_worked_out_by_hand(heads: list[int], first: list[str], second: list[str]) -> None:
    assert labels(heads) == [first, second]


@pytest.mark.parametrize("words", range(1, 7))
def test_every_small_tree_that_fits_comes_back(words: int) -> None:
    heads, offsets = together(every_tree(words))
    returned = apart(back(heads, offsets), offsets)
    planes = apart(planes_of(heads, offsets).astype(np.int32), offsets)
    for tree, came, own in zip(every_tree(words), returned, planes, strict=True):
        if fits_two_planes(tree):
            assert came == list(tree)
            assert 3 not in own
        else:
            assert 3 in own
            assert is_single_root_tree(came)
        assert all((plane == 0) == (head == 0) for plane, head in zip(own, tree, strict=True))
        assert not any(own[one - 1] == own[other - 1] != 3 for one, other in crossing_pairs(tree))


def test_plane_two_holds_only_arcs_that_cross_one_in_plane_one() -> None:
    for tree in every_tree(5):
        (planes,) = apart(planes_of(*together([tree])).astype(np.int32), np.array([0, 5]))
        first = [word for word, plane in enumerate(planes, start=1) if plane == 1]
        for word in (word for word, plane in enumerate(planes, start=1) if plane == 2):
            assert any(crosses(tree, word, other) for other in first)


def test_of_arcs_that_all_cross_the_last_is_dropped() -> None:
    assert planes_of(*together([TRIPLE])).tolist() == [1, 2, 3, 0, 1, 1]
    came = back(*together([TRIPLE])).tolist()
    assert came == [4, 5, 4, 0, 4, 5]  # 3 hangs from the root


def test_a_dropped_arc_costs_only_itself() -> None:
    rng = np.random.default_rng(0)
    lost = 0
    for _ in range(300):
        tree = random_tree(12, rng)
        heads, offsets = together([tree])
        differ = int((back(heads, offsets) != heads).sum())
        dropped = int((planes_of(heads, offsets) == 3).sum())
        assert differ <= dropped
        assert (dropped == 0) == fits_two_planes(tree)
        lost += dropped
    assert lost


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), st.integers(0, 2**32))
def test_projective_and_other_trees_together_come_back_as_alone(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    trees = [random_tree(size, rng) for size in sizes]
    heads, offsets = together(trees)
    alone = [back(*together([tree])).tolist() for tree in trees]
    assert apart(back(heads, offsets), offsets) == alone


def test_treebanks_come_back_but_for_the_trees_that_no_two_planes_hold(shared_data: Path) -> None:
    files = sorted((shared_data / "treebanks").glob("*/*.conllu"))
    assert files
    lost = {}
    for path in files:
        corpus = read(path)
        differ = np.unique(corpus.sentence_of_word[back(corpus.trees, corpus.offsets) != corpus.trees])
        dropped = np.unique(corpus.sentence_of_word[planes_of(corpus.trees, corpus.offsets) == 3])
        assert differ.tolist() == dropped.tolist()
        if len(dropped):
            lost[path.stem] = len(dropped)
    assert not any(name.startswith("en_ewt") for name in lost)  # known to be 2-planar throughout


REPAIRS = [
    # labels of plane 1, roots by relation, heads
    ("root marked, brackets say otherwise", [".", "/>"], [2], [2, 0]),
    ("no root: word 1", [".", "<\\"], [], [0, 1]),
    ("several roots: the first stays", [".", ".", "."], [2, 3], [2, 0, 2]),
    ("headless words hang from the root", [".", ".", "/>"], [1], [0, 1, 2]),
    ("closing brackets without opening ones", ["\\>", "\\\\>"], [1], [0, 1]),
    ("opening brackets that none closes", [".", "<///", "<"], [3], [3, 3, 0]),
    ("brackets before the first word", ["</", "\\>"], [2], [2, 0]),
]


@pytest.mark.parametrize(("name", "first", "roots", "heads"), REPAIRS, ids=[case[0] for case in REPAIRS])
def test_labels_that_are_no_tree_are_mended(name: str, first: list[str], roots: list[int], heads: list[int]) -> None:
    assert decoded(first, ["."] * len(first), roots) == heads, name


def test_of_two_arcs_to_a_word_the_later_one_counts() -> None:
    # In plane 1 word 3 takes word 1, in plane 2 word 4 does.
    assert decoded([".", "<", "\\", "."], [".", "<", ".", "\\"], [3]) == [4, 3, 0, 3]
    # At one word plane 1 is read first: 2 and then 1 takes word 3.
    assert decoded([".", ".", "/>", "."], [".", "/", ">", "."], [4]) == [4, 4, 1, 0]


def test_a_cycle_is_broken_where_the_walk_enters_it() -> None:
    # Plane 1: 1 hangs from 2; plane 2: 2 hangs from 1. Word 3 is the root.
    assert decoded([".", "<\\", "."], [".", "/>", "."], [3]) == [3, 1, 0]
    # Word 1 hangs from 3, and 3 and 2 from each other: the walk from 1 comes to 3 first.
    assert decoded([".", "<", "</\\\\>", "."], [".", ".", "/>", "."], [4]) == [3, 3, 4, 0]


texts = st.text("<>/\\.x", max_size=6)


@given(st.lists(st.integers(1, 8), min_size=1, max_size=4), st.data())
def test_any_labels_give_trees_with_one_root(sizes: list[int], data: st.DataObject) -> None:
    words = sum(sizes)
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    one, other = (Column.of(data.draw(st.lists(texts, min_size=words, max_size=words))) for _ in range(2))
    roots = np.array(data.draw(st.lists(st.booleans(), min_size=words, max_size=words)))
    found = decode((one, other), roots, offsets)
    for heads, marks in zip(apart(found, offsets), apart(roots.astype(np.int32), offsets), strict=True):
        assert is_single_root_tree(heads)
        assert heads[marks.index(1) if 1 in marks else 0] == 0
    assert found.tolist() == plainly(one, other, roots, offsets)


def plainly(one: Column, other: Column, roots: NDArray[np.bool_], offsets: Indices) -> list[int]:
    """The same by the kernel's own text, run as Python."""
    heads, longest = np.empty(len(roots), np.int32), int(np.diff(offsets).max())
    tables = [(each.codes, each.vocabulary.blob, each.vocabulary.offsets) for each in (one, other)]
    stacks, seen = np.empty(4 * (6 * longest + 1), np.int32), np.empty(longest + 4, np.int32)
    read_brackets.python(*tables[0], *tables[1], roots.view(np.uint8), offsets, stacks, seen, heads)
    return [int(head) for head in heads]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=3), st.integers(0, 2**32))
def test_plain_python_finds_the_same_planes(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    heads, offsets = together(random_tree(size, rng) for size in sizes)
    planes = np.empty(len(heads), np.uint8)
    dropped = assign_planes.python(heads, offsets, np.empty(CROSSING_ARRAYS * max(sizes), np.int32), planes)
    assert planes.tolist() == planes_of(heads, offsets).tolist()
    assert dropped == (planes == 3).sum()


def test_the_empty_label_comes_first_even_where_no_word_has_it() -> None:
    found = encode(np.array([2, 0], np.int32), np.array([0, 2]))
    assert [plane.vocabulary.strings for plane in found] == [(".", "<\\"), (".",)]
    assert bracketing.EMPTY == "."


def test_labels_for_another_number_of_words_are_refused() -> None:
    plane = Column(np.zeros(3, np.int32), Vocabulary.of(["."]))
    with pytest.raises(InputError, match=r"^bracket labels: 3, 3 and 2 labels of planes 1, 2 and roots; expected 3 of"):
        decode((plane, plane), np.array([True, False]), np.array([0, 3]))
