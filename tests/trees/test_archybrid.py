"""Transitions: every tree made by free ones, costs against a search over all continuations, any end a tree."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deadheat.corpus import read
from deadheat.corpus.vocabulary import Codes
from deadheat.kernels import archybrid as kernels
from deadheat.kernels.native import Kernel
from deadheat.trees import archybrid
from deadheat.trees.archybrid import LEFT, NEVER, NONE, RIGHT, SHIFT, STAY, SWAP, States
from deadheat.trees.checking import require_trees
from tests.trees.enumeration import (
    apart,
    every_projective_tree,
    every_tree,
    is_projective,
    is_single_root_tree,
    random_tree,
    together,
)  # fmt: skip

Words = tuple[int, ...]
# A hearing is scheduled on the issue today (Nivre 2009): its projective order is 1 2 5 6 7 3 4 8.
HEARING = [2, 3, 0, 3, 2, 7, 5, 4]


def begin(trees: Sequence[Sequence[int]]) -> States:
    heads, offsets = together(trees)
    return archybrid.start(offsets, gold=heads)


def step(states: States, actions: NDArray[np.integer]) -> None:
    archybrid.apply(states, actions, np.zeros(len(states), np.int32))


def line(states: States, row: int) -> tuple[Words, Words]:
    """The stack, top last, and the buffer, front first."""
    stacked, buffered = states.counts[row, [kernels.STACKED, kernels.BUFFERED]]
    return tuple(states.stack[row, :stacked].tolist()), tuple(states.buffer[row, :buffered][::-1].tolist())


def distinct(states: States, trees: NDArray[np.int64], *, arcs: bool) -> NDArray[np.int64]:
    """Rows that differ in their tree, in the line of words, in arcs still reachable, or, if asked, in their arcs."""
    seen: dict[object, int] = {}
    for row, tree in enumerate(trees.tolist()):
        made = states.attached[row].tobytes() if arcs else b""
        seen.setdefault((tree, line(states, row), states.reachable[row].tobytes(), made), row)
    return np.array(list(seen.values()), np.int64)


def take(states: States, rows: NDArray[np.int64]) -> States:
    """Copies of some rows."""
    return replace(states, **{field.name: getattr(states, field.name)[rows] for field in fields(states)})


def explored(states: States, allowed: frozenset[int], *, free: bool) -> Iterator[tuple[States, NDArray[np.int64]]]:
    """States reached by any allowed transitions (only by those that cost nothing, if so asked), step after step."""
    trees = np.arange(len(states))
    while len(states):
        yield states, trees
        costs = archybrid.costs(states)
        open_to = (costs == 0 if free else costs != NEVER) & np.isin(np.arange(4), list(allowed))
        assert open_to[~archybrid.finished(states)].any(axis=1).all()
        rows, actions = np.nonzero(open_to)
        states, trees = take(states, rows), trees[rows]
        step(states, actions)
        rows = distinct(states, trees, arcs=free)
        states, trees = take(states, rows), trees[rows]


@pytest.mark.parametrize("words", range(1, 6))
def test_every_tree_is_made_by_whatever_free_transitions_one_takes(words: int) -> None:
    every = every_tree(words)
    ended = set()
    for states, trees in explored(begin(every), frozenset({SHIFT, LEFT, RIGHT, SWAP}), free=True):
        for row in np.flatnonzero(archybrid.finished(states)).tolist():
            assert tuple(states.attached[row, 1:].tolist()) == every[trees[row]]
            ended.add(trees[row])
    assert len(ended) == len(every)


@cache
def most_gold(stack: Words, buffer: Words, tree: Words) -> int:
    """The most gold arcs that any sequence without swaps makes from here on."""
    known = continuations(stack, buffer, tree).values()
    return max((gain + most_gold(*after, tree) for gain, after in known), default=0)


def continuations(stack: Words, buffer: Words, tree: Words) -> dict[int, tuple[int, tuple[Words, Words]]]:
    """For each legal transition but SWAP: whether it makes a gold arc, and what stands where after it."""
    found = {}
    if buffer[0]:
        found[SHIFT] = 0, ((*stack, buffer[0]), buffer[1:])
    if stack and (buffer[0] or len(stack) == 1):
        found[LEFT] = int(tree[stack[-1] - 1] == buffer[0]), (stack[:-1], buffer)
    if len(stack) > 1:
        found[RIGHT] = int(tree[stack[-1] - 1] == stack[-2]), (stack[:-1], buffer)
    return found


@pytest.mark.parametrize("words", [*range(1, 6), pytest.param(6, marks=pytest.mark.slow)])
def test_for_projective_trees_a_cost_is_what_the_best_continuation_loses(words: int) -> None:
    every = every_projective_tree(words)
    compared: Counter[int] = Counter()
    for states, trees in explored(begin(every), frozenset({SHIFT, LEFT, RIGHT}), free=False):
        legal, costs = archybrid.legal(states), archybrid.costs(states)
        assert ((costs == NEVER) == ~legal).all()
        for row in range(len(states)):
            stack, buffer = line(states, row)
            tree = every[trees[row]]
            best = most_gold(stack, buffer, tree)
            known = continuations(stack, buffer, tree)
            assert set(np.flatnonzero(legal[row]).tolist()) - {SWAP} == set(known)
            for transition, (gain, after) in known.items():
                lost = best - gain - most_gold(*after, tree)
                assert costs[row, transition] == lost
                compared[lost] += 1
    assert words < 4 or (compared[0] and compared[1] and compared[2])


def follow_free(states: States, rng: np.random.Generator) -> None:
    """Take free transitions at random to the end."""
    while not (done := archybrid.finished(states)).all():
        free = archybrid.costs(states) == 0
        assert free[~done].any(axis=1).all()
        step(states, np.where(done, STAY, (free * rng.random(free.shape)).argmax(axis=1)))


@given(st.lists(st.integers(1, 25), min_size=1, max_size=4), st.integers(0, 2**32))
def test_larger_trees_are_made_by_free_transitions(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    heads, offsets = together(random_tree(size, rng) for size in sizes)
    states = archybrid.start(offsets, gold=heads)
    follow_free(states, rng)
    assert archybrid.heads(states).tolist() == heads.tolist()


@pytest.mark.slow
def test_training_trees_of_treebanks_are_made_by_free_transitions(shared_data: Path) -> None:
    rng = np.random.default_rng(0)
    files = sorted((shared_data / "treebanks").glob("*/*-train.conllu"))
    assert files
    for path in files:
        corpus = read(path)
        sample = rng.permutation(corpus.sentences)[:200]
        states = archybrid.start(corpus.offsets, sentences=sample, gold=require_trees(corpus))
        follow_free(states, rng)
        gold = np.concatenate([corpus.trees[corpus.offsets[s] : corpus.offsets[s + 1]] for s in sample])
        assert archybrid.heads(states).tolist() == gold.tolist(), path.name


@given(st.lists(st.integers(1, 12), min_size=1, max_size=5), st.integers(0, 2**32), st.sampled_from([None, 0, 2]))
def test_any_legal_transitions_end_in_a_tree_with_one_root(
    sizes: list[int], seed: int, swaps_per_word: int | None
) -> None:
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    states = archybrid.start(offsets, swaps_per_word=swaps_per_word)
    steps = 0
    while not (done := archybrid.finished(states)).all():
        legal = archybrid.legal(states)
        assert (legal.any(axis=1) == ~done).all()
        step(states, np.where(done, STAY, (legal * rng.random(legal.shape)).argmax(axis=1)))
        steps += 1
        assert steps <= 2 * max(sizes) + 2 * max(sizes) ** 2
    for heads, swaps in zip(apart(archybrid.heads(states), offsets), states.swaps.tolist(), strict=True):
        assert is_single_root_tree(heads)
        assert swaps_per_word is None or swaps <= swaps_per_word * len(heads)
        assert swaps or is_projective(heads)


def test_the_projective_order_is_that_of_the_published_example() -> None:
    states = begin([HEARING])
    assert (np.argsort(states.ranks[0, 1:]) + 1).tolist() == [1, 2, 5, 6, 7, 3, 4, 8]
    assert states.ranks[0, 0] == 9
    follow_free(states, np.random.default_rng(0))
    assert archybrid.heads(states).tolist() == HEARING
    assert states.swaps.tolist() == [6]  # "is" and "scheduled" each pass "on", "the" and "issue"


def test_features_are_the_outermost_words_of_what_hangs_below() -> None:
    # 2 -> 1, 4 -> 3, 2 -> 4: s0, s1, s2 and b0 with their left-most and right-most words
    states = begin([[2, 0, 4, 2]])
    seen = []
    for action in (SHIFT, LEFT, SHIFT, SHIFT, LEFT, SHIFT, RIGHT, LEFT):
        seen.append(archybrid.features(states)[0].tolist())
        assert archybrid.costs(states)[0, action] == 0
        archybrid.apply(states, np.array([action]), np.array([action + 10]))
    no = [NONE] * 3
    assert seen == [
        [*no, *no, *no, 1, 1, 1],
        [1, 1, 1, *no, *no, 2, 2, 2],
        [*no, *no, *no, 2, 1, 2],
        [2, 1, 2, *no, *no, 3, 3, 3],
        [3, 3, 3, 2, 1, 2, *no, 4, 4, 4],
        [2, 1, 2, *no, *no, 4, 3, 4],
        [4, 3, 4, 2, 1, 2, *no, 0, 0, 0],
        [2, 1, 4, *no, *no, 0, 0, 0],
    ]
    assert archybrid.finished(states).all()
    assert archybrid.relations(states).tolist() == [LEFT + 10, LEFT + 10, LEFT + 10, RIGHT + 10]


def test_a_swap_puts_a_word_back_behind_the_first_of_the_buffer() -> None:
    states = begin([[2, 0, 1]])
    step(states, np.array([SHIFT]))
    assert line(states, 0) == ((1,), (2, 3, 0))
    step(states, np.array([SWAP]))
    assert line(states, 0) == ((), (2, 1, 3, 0))
    step(states, np.array([SHIFT]))
    assert not archybrid.legal(states)[0, SWAP]  # 2 stands after 1 in the text


def test_only_one_word_can_hang_from_the_root() -> None:
    states = begin([[0, 1]])
    for action in (SHIFT, SHIFT):
        step(states, np.array([action]))
    assert archybrid.legal(states).tolist() == [[False, False, True, False]]
    step(states, np.array([RIGHT]))
    assert archybrid.legal(states).tolist() == [[False, True, False, False]]


def test_shifting_the_root_word_onto_others_costs_its_arc_too() -> None:
    states = begin([[2, 0]])
    step(states, np.array([SHIFT]))
    # Lost are 2 -> 1, and that 2 hangs from the root: 1 now stands below it.
    assert archybrid.costs(states).tolist() == [[2, 0, NEVER, 1]]


def test_after_a_wrong_swap_words_that_can_not_be_swapped_back_make_no_shift_free() -> None:
    states = begin([[3, 3, 0]])
    for action in (SHIFT, SHIFT, SWAP):
        step(states, np.array([action]))
    assert line(states, 0) == ((1,), (3, 2, 0))
    # Word 2 belongs before 3, but the two stay as they are: 3 -> 1 is lost, and that 3 hangs from the root.
    assert archybrid.costs(states)[0, SHIFT] == 2


def test_a_transition_that_is_not_legal_is_refused() -> None:
    with pytest.raises(AssertionError, match="1 of 2 transitions are not legal"):
        step(begin([[0], [0]]), np.array([SHIFT, LEFT]))


def test_padding_changes_nothing() -> None:
    heads, offsets = together([HEARING, [0], [2, 0]])
    narrow = archybrid.start(offsets, gold=heads, sentences=np.array([2, 0]))
    wide = archybrid.start(offsets, gold=heads, longest=50)
    copy = take(wide, np.array([2, 0]))
    assert copy.width == 51
    for states in (narrow, copy):
        follow_free(states, np.random.default_rng(1))
        assert archybrid.heads(states).tolist() == [2, 0, *HEARING]
    assert archybrid.heads(wide).tolist() == [NONE] * 11


@given(st.lists(st.integers(1, 6), min_size=1, max_size=3), st.integers(0, 2**32))
def test_plain_python_does_what_the_machine_code_does(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    heads, offsets = together(random_tree(size, rng) for size in sizes)

    def run() -> list[list[object]]:
        chance = np.random.default_rng(seed)
        states = archybrid.start(offsets, gold=heads)
        told: list[list[object]] = []
        while not (done := archybrid.finished(states)).all():
            legal = archybrid.legal(states)
            told.append([legal.tolist(), archybrid.costs(states).tolist(), archybrid.features(states).tolist()])
            step(states, np.where(done, STAY, (legal * chance.random(legal.shape)).argmax(axis=1)))
        return [*told, [archybrid.heads(states).tolist()]]

    native = run()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("look", "weigh", "advance", "describe", "rank_words"):
            patch.setattr(kernels, name, flattened(getattr(kernels, name)))
        assert run() == native


def flattened(kernel: Kernel[...]) -> Callable[..., int]:
    """The Python function of a kernel, given arrays of one axis as the machine code sees them."""

    def call(*arguments: Codes | int) -> int:
        return kernel.python(*(each.reshape(-1) if isinstance(each, np.ndarray) else each for each in arguments))

    return call
