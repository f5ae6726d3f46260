"""Parsers by biaffine attention and by pointing: against loops in plain numpy; what they find are trees."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

import jax
import jax.numpy as jnp
from jax.test_util import check_grads

from deadheat.neural import attention, rng
from deadheat.neural.attention import ARC_DEPENDENT, ARC_HEAD, FORBIDDEN, LEAK, RELATION_DEPENDENT, RELATION_HEAD
from deadheat.neural.config import AttentionShape, HyperParams
from deadheat.neural.programs import DeviceData
from deadheat.trees import best_projective_trees, best_trees
from deadheat.trees.decoding import beam_trees
from tests.neural.parser_cases import (
    HEADS,
    LENGTHS,
    OFFSETS,
    TREES,
    batch_of,
    encoding,
    in_double,
    loss_of,
    lstm_by_hand,
    outputs_of,
    overfitted,
    random_weights,
    states_by_hand,
    vectors_by_hand,
)  # fmt: skip
from tests.trees.enumeration import is_projective, is_single_root_tree

BIAFFINE = AttentionShape(
    units=(3,), word_size=4, case_size=0, characters="none", dropout="none", arc_size=3, relation_size=2
)
POINTER = replace(BIAFFINE, decoder=4, trees="beam")
SHAPES = {"biaffine": BIAFFINE, "pointer": POINTER}
NUMBERS = HyperParams(0.0, replaced=0.0)
SPLITS = [np.arange(5), np.array([1, 3])]


def grounded(shape: AttentionShape) -> DeviceData:
    return DeviceData.of(shape, encoding(), encoding().knowledge(SPLITS))


def views_by_hand(weights: Any, data: DeviceData, sentence: int, split: int = 0) -> list[np.ndarray]:
    """What the root and the words of a sentence are as dependents and heads, for arcs and relations."""
    shape = data.shape
    assert isinstance(shape, AttentionShape)
    vectors = vectors_by_hand(weights, data, sentence, split)
    states = states_by_hand(weights, shape, np.concatenate([[np.asarray(weights["root"], float)], vectors]))
    pointing = states
    if shape.decoder:
        w, u, b = (np.asarray(each, float) for each in weights["decoder"])
        pointing = lstm_by_hand(w, u, b, states)
    found = []
    for at, (weight, bias) in enumerate(weights["views"]):
        source = pointing if at in (ARC_DEPENDENT, RELATION_DEPENDENT) else states
        seen = source @ np.asarray(weight, float) + np.asarray(bias, float)
        found.append(np.maximum(seen, LEAK * seen))
    return found


def arc_by_hand(weights: Any, seen: list[np.ndarray], dependent: int, head: int) -> float:
    matrix, total = np.asarray(weights["arcs"], float), 0.0
    one, other = [*seen[ARC_DEPENDENT][dependent], 1.0], seen[ARC_HEAD][head]
    for i in range(len(one)):
        for j in range(len(other)):
            total += one[i] * matrix[i, j] * other[j]
    return total


def relations_by_hand(weights: Any, seen: list[np.ndarray], dependent: int, head: int) -> np.ndarray:
    matrices = np.asarray(weights["relations"], float)
    one, other = [*seen[RELATION_DEPENDENT][dependent], 1.0], [*seen[RELATION_HEAD][head], 1.0]
    return np.array([sum(one[i] * matrix[i, j] * other[j] for i in range(len(one)) for j in range(len(other)))
                     for matrix in matrices])  # fmt: skip


def test_scores_of_arcs_are_those_of_a_loop_and_none_leads_from_behind_the_end_or_from_the_word_itself() -> None:
    rng = np.random.default_rng(0)
    seen = [rng.normal(size=(3, 5, 3)).astype(np.float32) for _ in range(4)]
    weights = {"arcs": rng.normal(size=(4, 3)).astype(np.float32)}
    lengths = [4, 1, 2]
    batch = SimpleNamespace(lengths=jnp.array(lengths))
    found = np.asarray(attention.arc_scores(weights, list(map(jnp.asarray, seen)), batch))  # type: ignore[arg-type]
    for sentence, length in enumerate(lengths):
        own = [each[sentence] for each in seen]
        for dependent in range(5):
            for head in range(5):
                allowed = head <= length and head != dependent
                expected = arc_by_hand(weights, own, dependent, head) if allowed else FORBIDDEN
                assert found[sentence, dependent, head] == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("name", SHAPES)
def test_the_loss_is_that_of_a_plain_computation(name: str) -> None:
    data = grounded(SHAPES[name])
    weights = random_weights(attention.init_weights, data)
    sentences, labels, known_labels = [4, 1, -1, 2], np.asarray(data.text.labels), np.asarray(data.text.known_labels)[0]
    total, count = 0.0, 0
    for sentence in (4, 1, 2):
        seen = views_by_hand(weights, data, sentence)
        for word in range(1, LENGTHS[sentence] + 1):
            gold = HEADS[OFFSETS[sentence] + word - 1]
            arcs = {h: arc_by_hand(weights, seen, word, h) for h in range(LENGTHS[sentence] + 1) if h != word}
            relations = np.where(known_labels, relations_by_hand(weights, seen, word, gold), -np.inf)
            total += np.log(sum(map(np.exp, arcs.values()))) - arcs[gold]
            total += np.log(np.exp(relations).sum()) - relations[labels[OFFSETS[sentence] + word - 1]]
            count += 1
    found = loss_of(attention, data, batch_of(data, sentences, 6), NUMBERS)(weights)
    assert float(found) == pytest.approx(total / count, rel=1e-5)


@pytest.mark.parametrize("name", SHAPES)
def test_arcs_and_the_best_relation_of_each_are_those_of_loops(name: str) -> None:
    data = grounded(SHAPES[name])
    weights = random_weights(attention.init_weights, data, seed=1)
    arcs, best = outputs_of(attention, data, weights, batch_of(data, [0, 1], 6, split=1))
    assert arcs.shape == best.shape == (2, 7, 7)
    known_labels = np.asarray(data.text.known_labels)[1]
    assert 0 < known_labels.sum() < len(encoding().labels)
    for at, sentence in enumerate((0, 1)):
        seen = views_by_hand(weights, data, sentence, split=1)
        for word in range(1, LENGTHS[sentence] + 1):
            for head in {*range(LENGTHS[sentence] + 1)} - {word}:
                expected = arc_by_hand(weights, seen, word, head)
                assert arcs[at, word, head] == pytest.approx(expected, rel=1e-4, abs=1e-5)
                relations = np.where(known_labels, relations_by_hand(weights, seen, word, head), -np.inf)
                assert best[at, word, head] == relations.argmax()
            assert (arcs[at, word, LENGTHS[sentence] + 1 :] == FORBIDDEN).all()


@pytest.mark.long
@pytest.mark.parametrize("name", SHAPES)
def test_the_gradient_is_that_of_finite_differences(name: str) -> None:
    with jax.enable_x64(True):
        data = grounded(replace(SHAPES[name], dropout="variational"))
        weights = in_double(random_weights(attention.init_weights, data))
        loss = loss_of(attention, data, batch_of(data, [4, -1, 3], 5), HyperParams(0.0, 0.3), rng.make_key(3))
        check_grads(loss, (weights,), order=1, modes=["rev"])  # type: ignore[no-untyped-call]


def test_a_batch_of_short_sentences_has_a_gradient_whatever_stands_at_the_beginning_of_the_text() -> None:
    # What fills a batch up are copies of the text's first word, whose head is the fifth word of its sentence.
    data = grounded(BIAFFINE)
    weights = random_weights(attention.init_weights, data)
    gradients = jax.grad(loss_of(attention, data, batch_of(data, [3, 1], 2), NUMBERS))(weights)
    assert all(bool(jnp.isfinite(each).all()) for each in jax.tree.leaves(gradients))


@pytest.mark.parametrize(
    ("trees", "decode"),
    [("any", best_trees), ("projective", best_projective_trees), ("beam", lambda *given: beam_trees(*given, beam=3))],
)
def test_what_is_decoded_are_the_trees_of_the_decoder_with_the_relations_of_their_arcs(trees: str, decode: Any) -> None:
    rng = np.random.default_rng(5)
    lengths = np.array([6, 0, 3, 1, 4], np.int32)
    arcs = rng.normal(size=(5, 8, 8)).astype(np.float32)
    for sentence, length in enumerate(lengths):
        arcs[sentence, :, length + 1 :] = FORBIDDEN
    arcs[:, np.arange(8), np.arange(8)] = FORBIDDEN
    relations = rng.integers(0, 50, size=(5, 8, 8)).astype(np.int16)
    found = attention.decode(replace(BIAFFINE, trees=trees, beam=3), (arcs, relations), lengths)
    assert found.shape == (5, 7, 2)
    for sentence in (0, 2, 3, 4):
        length = int(lengths[sentence])
        square = np.ascontiguousarray(arcs[sentence, : length + 1, : length + 1])
        heads = found[sentence, :length, 0].tolist()
        assert heads == decode(square.ravel(), np.array([0, length])).tolist()
        assert is_single_root_tree(heads)
        assert trees != "projective" or is_projective(heads)
        expected = [relations[sentence, word, head] for word, head in enumerate(heads, 1)]
        assert found[sentence, :length, 1].tolist() == expected


def test_a_batch_without_sentences_is_decoded() -> None:
    made = np.zeros((2, 4, 4), np.float32), np.zeros((2, 4, 4), np.int16)
    for trees in ("any", "projective", "beam"):
        assert not attention.decode(replace(BIAFFINE, trees=trees), made, np.zeros(2, np.int32)).any()


@pytest.mark.long
@pytest.mark.parametrize("decoder", [0, 12])
def test_a_small_network_learns_five_sentences_by_heart(decoder: int) -> None:
    shape = replace(
        BIAFFINE, units=(12,), word_size=12, case_size=3, dropout="variational", arc_size=10, relation_size=8,
        decoder=decoder, trees="beam" if decoder else "any",
    )  # fmt: skip
    data = grounded(shape)
    weights, batch = overfitted(attention, data, steps=200)
    found = attention.decode(shape, outputs_of(attention, data, weights, batch), LENGTHS)
    for sentence, (_, heads, relations) in enumerate(TREES):
        own = found[sentence, : LENGTHS[sentence]]
        assert own[:, 0].tolist() == heads
        assert [encoding().labels[code] for code in own[:, 1]] == relations
