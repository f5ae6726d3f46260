"""Transition-based parsers: scores, the choice among transitions, rollouts, gradients, and stacks of them."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

import jax
import jax.numpy as jnp

from deadheat.corpus import read
from deadheat.errors import InputError
from deadheat.neural import transitions
from deadheat.neural.config import HyperParams, TrainSchedule, TransitionShape
from deadheat.neural.programs import DeviceData, programs
from deadheat.neural.stack import Splits, Stack, StackJob, TrainedNetwork
from deadheat.neural.text import encode_corpora
from deadheat.neural.transitions import (
    Oracle,
    OracleInput,
    choose_best,
    choose_in_training,
    follow_oracle,
    follow_policy,
    portions,
    score_states,
    scorer_of,
    start_states,
    transition_kinds,
)
from deadheat.trees.archybrid import NEVER, NONE, States
from tests.trees.enumeration import every_tree, is_projective, is_single_root_tree, random_tree

RELATIONS = 3
SHIFT, SWAP, LEFT, RIGHT = 0, 1, 2, 2 + RELATIONS  # codes; those of arcs have the first relation
SHAPE = TransitionShape(
    units=(16,), word_size=16, case_size=0, characters="none", hidden=16, batch=10, optimizer="adam"
)  # fmt: skip
WORDS = 16  # the length that sentences are filled up to where there are few

Rectangle = NDArray[np.int32]


def rectangle(trees: Sequence[Sequence[int]]) -> tuple[Rectangle, Rectangle]:
    """The lengths of trees, and their heads as rows of equal length."""
    lengths = np.array(list(map(len, trees)), np.int32)
    heads = np.zeros((len(trees), int(lengths.max())), np.int32)
    for row, tree in zip(heads, trees, strict=True):
        row[: len(tree)] = tree
    return lengths, heads


def oracle(ahead: float, *, draw: float = 0.5) -> Oracle:
    """One whose network puts right transitions ahead of all others by so much."""

    def choose(step: int, seen: OracleInput) -> Rectangle:
        kind, codes = transition_kinds(RELATIONS)[:-1], np.arange(2 + 2 * RELATIONS)
        right = seen.costs[:, kind] == seen.costs.min(axis=1, keepdims=True)
        right &= (codes < LEFT) | ((codes - LEFT) % RELATIONS == seen.gold[:, None])
        found: Rectangle = choose_in_training(ahead * right, seen, np.full(len(right), draw), xp=np)
        return found

    return choose


# Every tree of up to four words, and larger ones.
RNG = np.random.default_rng(7)
LENGTHS, HEADS = rectangle(
    [*(tree for words in range(1, 5) for tree in every_tree(words)), *(random_tree(9, RNG) for _ in range(30))]
)
GOLD = RNG.integers(0, RELATIONS, HEADS.shape).astype(np.int32)


def taught(by: Oracle) -> tuple[States, NDArray[np.int64], Rectangle, Rectangle]:
    """States after following an oracle, and the rows and codes of states to learn from."""
    states = start_states(LENGTHS, words=HEADS.shape[1], heads=HEADS)
    rows, (_, right, wrong) = follow_oracle(states, GOLD, RELATIONS, by)
    return states, rows, right, wrong


def made(states: States) -> tuple[bool, bool]:
    """Whether heads and relations are gold."""
    inside = np.arange(HEADS.shape[1]) < LENGTHS[:, None]
    pairs = (states.attached, HEADS), (states.labels, GOLD)
    heads, relations = (np.array_equal(own[:, 1:][inside], gold[inside]) for own, gold in pairs)
    return heads, relations


def test_a_perfect_network_makes_gold_trees_and_has_nothing_to_learn() -> None:
    states, rows, _, _ = taught(oracle(1.5))
    assert made(states) == (True, True)
    assert len(rows) == 0
    assert int(states.swaps.max()) > 1


def test_a_network_that_is_right_by_less_than_one_learns_from_every_state_with_a_choice() -> None:
    choices = np.zeros(len(LENGTHS), np.int64)
    by = oracle(0.5)

    def counting(step: int, seen: OracleInput) -> Rectangle:
        legal = seen.costs < NEVER
        choices[legal[:, 1:].any(axis=1)] += 1  # only a SHIFT that is alone has no other beside it
        return by(step, seen)

    states, rows, _, _ = taught(counting)
    assert made(states) == (True, True)
    assert np.array_equal(np.bincount(rows, minlength=len(LENGTHS)), choices)
    assert (choices > LENGTHS).any()


def test_a_network_that_is_wrong_everywhere_goes_astray_but_never_by_a_swap_and_ends_in_trees() -> None:
    states, _, right, wrong = taught(oracle(-0.5))
    assert made(states) == (False, False)
    assert all(
        is_single_root_tree(row[1 : 1 + words])
        for row, words in zip(states.attached.tolist(), LENGTHS.tolist(), strict=True)
    )
    assert SWAP in right
    assert SWAP in wrong
    assert SWAP not in wrong[right == SWAP]


def test_a_network_that_is_barely_right_goes_astray_one_time_in_ten() -> None:
    assert made(taught(oracle(0.5, draw=0.89))[0]) == (True, True)
    assert made(taught(oracle(0.5, draw=0.91))[0]) == (False, False)
    assert made(taught(oracle(1.5, draw=0.91))[0]) == (True, True)


def codes_of(scored: dict[int, float], costs: Sequence[int], gold: int = 0, draw: float = 0.5) -> list[int]:
    """The choice where these codes have these scores, and all others -5."""
    found = np.full((1, 2 + 2 * RELATIONS), -5.0)
    found[0, list(scored)] = list(scored.values())
    seen = OracleInput(None, np.array([costs], np.int32), np.array([gold]))
    both = (
        choose_in_training(found, seen, np.array([draw]), xp=np),
        choose_in_training(jnp.asarray(found), seen, np.array([draw])),
    )
    assert np.array_equal(*both)
    return [int(each) for each in both[0][0]]


def test_the_choice_among_transitions_by_hand() -> None:
    # Costs are in the order SHIFT, LEFT, RIGHT, SWAP.
    assert codes_of({SHIFT: 3.0, LEFT: 1.5}, [0, 1, 1, NEVER]) == [SHIFT, LEFT, SHIFT, 0]
    assert codes_of({SHIFT: 1.0, LEFT: 1.5}, [0, 1, 1, NEVER]) == [SHIFT, LEFT, LEFT, 1]
    # The right arc with another relation is wrong; the gold relation is the third.
    assert codes_of({LEFT: 2.0, LEFT + 2: 2.5}, [1, 0, 1, NEVER], gold=2) == [LEFT + 2, LEFT, LEFT + 2, 1]
    assert codes_of({LEFT: 2.0, LEFT + 2: 2.5}, [1, 0, 1, NEVER], gold=2, draw=0.95) == [LEFT + 2, LEFT, LEFT, 1]
    # A wrong swap is not taken, and a right one always is.
    assert codes_of({SHIFT: 1.0, SWAP: 4.0}, [0, 2, 2, 1]) == [SHIFT, SWAP, SHIFT, 1]
    assert codes_of({SHIFT: 4.0, SWAP: 1.0}, [1, 1, 1, 0]) == [SWAP, SHIFT, SWAP, 1]
    # Where nothing is free the cheapest is right, whatever is not legal is not wrong either.
    assert codes_of({RIGHT: 0.5, SHIFT: 9.0}, [NEVER, 2, 1, NEVER]) == [RIGHT, LEFT, RIGHT, 0]
    assert codes_of({SHIFT: 0.5}, [0, NEVER, NEVER, NEVER])[2:] == [SHIFT, 0]
    assert codes_of({}, [NEVER] * 4)[2:] == [NONE, 0]


def test_a_network_that_is_guided_is_never_led_astray() -> None:
    assert codes_of({SHIFT: 1.0, LEFT: 1.5}, [0, 1, 1, NEVER], draw=-1.0) == [SHIFT, LEFT, SHIFT, 1]
    assert codes_of({LEFT: 2.0, LEFT + 2: 2.5}, [1, 0, 1, NEVER], gold=2, draw=-1.0) == [LEFT + 2, LEFT, LEFT + 2, 1]


def test_scores_that_are_no_numbers_lead_to_legal_transitions_and_are_noticed() -> None:
    not_a_number = dict.fromkeys(range(2 + 2 * RELATIONS), math.nan)
    assert codes_of(not_a_number, [0, NEVER, NEVER, NEVER])[2:] == [SHIFT, 1]
    assert codes_of(not_a_number, [NEVER, NEVER, 1, NEVER])[2:] in ([RIGHT + 1, 1], [RIGHT, 1])


def test_states_to_learn_from_come_in_portions_of_equal_size() -> None:
    rows = np.array([0, 5, 3, 5, 4])  # two networks with three sentences each: one state of the first, and four
    places = np.arange(5 * 12, dtype=np.int32).reshape(5, 12)
    states = places, np.arange(5, dtype=np.int32), np.arange(5, 10, dtype=np.int32)
    first, second = portions(rows, states, 2, 3, 3)
    assert first[0].tolist() == [[0, NONE, NONE], [2, 0, 2]]
    assert second[0].tolist() == [[NONE] * 3, [1, NONE, NONE]]
    assert first[2][0, 0] == 0
    assert first[2][1].tolist() == [1, 2, 3]
    assert second[3][1, 0] == 9
    assert np.array_equal(first[1][1], places[1:4])
    assert len(portions(rows[:0], (places[:0], places[:0, 0], places[:0, 0]), 2, 3, 3)) == 1


@pytest.mark.slow
def test_rows_worked_out_beforehand_score_as_twelve_states_side_by_side_do() -> None:
    rng = np.random.default_rng(3)
    sentences, words, size, hidden = 4, 5, 6, 7

    def normal(*shape: int) -> NDArray[np.float32]:
        return rng.normal(size=shape).astype(np.float32)

    weights: dict[str, Any] = {
        "nowhere": normal(size), "places": normal(size, 12, 2 * hidden), "bias": normal(2 * hidden),
        "kinds": (normal(hidden, 4), normal(4)), "labelled": (normal(hidden, 8), normal(8)),
    }  # fmt: skip
    states = normal(sentences, words + 1, size)
    places = rng.integers(-1, words + 1, (sentences, 12)).astype(np.int32)
    known = scorer_of(weights, jnp.asarray(states), jnp.array([True, False, True]))
    kind = [0, 3, 1, 1, 1, 2, 2, 2]
    for row, own in enumerate(places):
        side_by_side = np.concatenate([weights["nowhere"] if at < 0 else states[row, at] for at in own])
        first = weights["places"].transpose(1, 0, 2).reshape(12 * size, 2 * hidden)
        units = np.tanh(side_by_side @ first + weights["bias"])
        plain = (units[:hidden] @ weights["kinds"][0] + weights["kinds"][1])[kind]
        plain += units[hidden:] @ weights["labelled"][0] + weights["labelled"][1]
        plain[[3, 6]] -= 1e4  # the second relation is not possible
        for found in (score_states(known, places), score_states(jax.tree.map(np.asarray, known), places, xp=np)):
            assert np.asarray(found[row]) == pytest.approx(plain, rel=1e-5, abs=1e-3)


def test_the_best_legal_transition_is_taken_at_the_end() -> None:
    found = np.array([[1.0, 4.0, 2.0, 3.0, 0.0, 2.5, 0.0, 0.0]] * 4)
    legal = np.array([[1, 1, 1, 1], [1, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0]], bool)
    assert choose_best(found, legal, xp=np).tolist() == [SWAP, LEFT + 1, RIGHT, NONE]


def test_parsing_at_random_ends_in_trees_with_one_root() -> None:
    rng = np.random.default_rng(4)
    lengths = np.repeat(np.arange(13), 20)
    states = start_states(lengths, words=12)
    follow_policy(states, RELATIONS, lambda _, legal: choose_best(rng.normal(size=(len(legal), 8)), legal, xp=np))
    trees = [row[1 : 1 + words] for row, words in zip(states.attached.tolist(), lengths.tolist(), strict=True)]
    assert all(is_single_root_tree(tree) for tree in trees if tree)
    assert len(set(map(tuple, trees))) > 100
    assert (states.swaps <= 2 * lengths).all()
    assert (states.swaps > 0).any()


def test_a_shape_needs_hidden_units() -> None:
    with pytest.raises(InputError, match="hidden=0; expected at least one unit"):
        TransitionShape(hidden=0)


# From here on networks are compiled.


@pytest.fixture(scope="module")
def treebank() -> tuple[DeviceData, Rectangle, Rectangle]:
    """Ten sentences of up to nine words, some of them not projective, with heads and relations word by word."""
    rng = np.random.default_rng(11)
    trees = [random_tree(int(words), rng) for words in rng.integers(3, 10, size=10)]
    assert 3 <= sum(map(is_projective, trees)) <= 8
    lines = []
    for tree in trees:
        lines += [f"{rng.choice(list('abcdefghijklmnop'))}\tx" for _ in tree] + [""]
    corpus = read(text="\n".join(lines) + "\n", format="columns", columns=["form", "tag"], separator="\t")
    heads = np.concatenate(trees).astype(np.int32)
    relations = rng.integers(0, RELATIONS, len(heads)).astype(np.int32)
    encoding = replace(encode_corpora([corpus], relations, ["a", "b", "c"]), extra={"heads": heads})
    return DeviceData.of(SHAPE, encoding, encoding.knowledge([np.arange(10)])), heads, relations


JOBS = [
    StackJob(HyperParams(0.02, drop, norm=5.0, replaced=0.0), seed, 0) for seed, drop in ((0, 0.0), (1, 0.1), (2, 0.0))
]


def trained(
    treebank: tuple[DeviceData, Rectangle, Rectangle], jobs: list[StackJob], *, size: int, epochs: int
) -> list[TrainedNetwork]:
    data, heads, relations = treebank
    right = np.stack([heads, relations], axis=1)
    splits = Splits([np.arange(10)], [np.arange(10)], {"test": [np.arange(10)]})

    def judge(split: int, found: NDArray[np.integer]) -> float:
        return float((found == right).mean())

    stack = Stack(data, splits, judge, size=size)
    found = dict(stack.run({at: replace(job, schedule=TrainSchedule(epochs, epochs)) for at, job in enumerate(jobs)}))
    return [found[at] for at in range(len(jobs))]


@pytest.fixture(scope="module")
def stacked(treebank: tuple[DeviceData, Rectangle, Rectangle]) -> list[TrainedNetwork]:
    return trained(treebank, JOBS, size=3, epochs=6)


@pytest.mark.long
def test_a_small_network_learns_ten_sentences_by_heart(treebank: tuple[DeviceData, Rectangle, Rectangle]) -> None:
    (network,) = trained(treebank, JOBS[:1], size=1, epochs=80)
    assert network.labels["test"][:, 0].tolist() == treebank[1].tolist()
    assert network.labels["test"][:, 1].tolist() == treebank[2].tolist()
    assert network.losses[-1] < 0.05 < 1 < network.losses[0]


@pytest.mark.long
def test_a_network_is_the_same_alone_and_in_a_stack(
    treebank: tuple[DeviceData, Rectangle, Rectangle], stacked: list[TrainedNetwork]
) -> None:
    for job, network in zip(JOBS, stacked, strict=True):
        (alone,) = trained(treebank, [job], size=1, epochs=6)
        assert network.losses == pytest.approx(alone.losses, rel=1e-4)
        assert network.curve == pytest.approx(alone.curve)
        assert np.array_equal(network.labels["test"], alone.labels["test"])
    assert len({each.losses for each in stacked}) == len(JOBS)


@pytest.mark.long
def test_a_network_is_the_same_whether_host_or_device_chooses(
    treebank: tuple[DeviceData, Rectangle, Rectangle], stacked: list[TrainedNetwork], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transitions, "on_accelerator", lambda: True)
    for by_device, by_host in zip(trained(treebank, JOBS, size=3, epochs=6), stacked, strict=True):
        assert by_device.losses == pytest.approx(by_host.losses, rel=1e-4)
        assert np.array_equal(by_device.labels["test"], by_host.labels["test"])


@pytest.mark.long
def test_a_loss_that_is_no_number_ends_that_network_and_no_other(
    treebank: tuple[DeviceData, Rectangle, Rectangle], stacked: list[TrainedNetwork]
) -> None:
    jobs = [JOBS[0], StackJob(HyperParams(math.nan), 5, 0), JOBS[2]]
    found = trained(treebank, jobs, size=3, epochs=6)
    assert found[1].failed.startswith("its loss is nan in epoch")
    assert found[0].losses == stacked[0].losses
    assert found[2].losses == stacked[2].losses


@pytest.mark.long
def test_networks_before_training_make_trees_with_one_root(treebank: tuple[DeviceData, Rectangle, Rectangle]) -> None:
    data = treebank[0]
    own = programs(SHAPE, 3)
    weights, _ = own.init_networks(np.arange(3, dtype=np.uint32), data.hashes, data.vectors)
    rows = np.tile(np.append(np.arange(10), [NONE] * 118), (3, 1)).astype(np.int32)
    for scale in (1.0, 30.0):
        grown = jax.tree.map(lambda each, scale=scale: scale * each, weights)
        found = own.predict_batch(grown, np.zeros(3, np.int32), rows, data.text, words=WORDS)
        assert found.shape == (3, 128, WORDS, 2)
        for network in found[:, :10]:
            assert all(is_single_root_tree(tree[: data.lengths[at], 0].tolist()) for at, tree in enumerate(network))
        assert found[..., 1].max() < RELATIONS


@pytest.mark.long
def test_the_gradient_is_the_slope_of_the_loss(treebank: tuple[DeviceData, Rectangle, Rectangle]) -> None:
    data = treebank[0]
    own = programs(SHAPE, 1)
    weights, _ = own.init_networks(np.array([3], np.uint32), data.hashes, data.vectors)
    hyper = jax.tree.map(lambda each: np.full(1, each, np.float32), HyperParams(0.01, 0.2))
    where = np.zeros(1, np.int32), np.arange(10, dtype=np.int32)[None]
    rng_state = np.array([3], np.uint32), np.array([17], np.int32)

    def gradient(at: Any) -> tuple[float, Any]:
        value, gradients = transitions.loss_gradient(own, at, rng_state, hyper, where, data.text, words=WORDS)
        return float(value[0]), gradients

    value, gradients = gradient(weights)
    assert value > 1
    leaves, tree = jax.tree.flatten(weights)
    for number, steep in enumerate(jax.tree.leaves(gradients)):
        length = float(jnp.linalg.norm(steep.ravel()))
        assert length > 0
        ends = []
        for step in (2e-3, -2e-3):
            moved = [leaf + step * steep / length if at == number else leaf for at, leaf in enumerate(leaves)]
            ends.append(gradient(jax.tree.unflatten(tree, moved))[0])
        assert (ends[0] - ends[1]) / 4e-3 == pytest.approx(length, rel=0.03)
