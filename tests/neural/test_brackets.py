"""The network that labels words with brackets and relations: against plain numpy, and from labels to trees."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

import jax
from jax.test_util import check_grads

from deadheat.corpus import Vocabulary
from deadheat.neural import rng, tagger, tasks
from deadheat.neural.config import BracketShape, HyperParams
from deadheat.neural.programs import DeviceData
from deadheat.trees import bracketing
from tests.neural.parser_cases import (
    HEADS,
    LENGTHS,
    OFFSETS,
    batch_of,
    begun,
    encoding,
    in_double,
    loss_of,
    outputs_of,
    overfitted,
    random_weights,
    states_by_hand,
    vectors_by_hand,
)  # fmt: skip

TINY = BracketShape(units=(3,), word_size=4, case_size=0, characters="none", dropout="none")
PLANES = bracketing.encode(HEADS, OFFSETS)
NUMBERS = HyperParams(0.0, replaced=0.0)
SPLITS = [np.arange(5), np.array([1, 3])]


def columns() -> tuple[Vocabulary, Vocabulary]:
    return PLANES[0].vocabulary, PLANES[1].vocabulary


def grounded(shape: BracketShape = TINY, unused: tuple[str, ...] = ()) -> DeviceData:
    """The five sentences, known to a network that learns from all of them and to one that learns from two.

    Labels that are in no sentence may stand at the end of those of plane 1.
    """
    own = encoding()
    relations = len(own.labels)
    planes = Vocabulary.of([*columns()[0], *unused]), columns()[1]
    more = {name: plane.codes for name, plane in zip(tagger.PLANES, PLANES, strict=True)}
    joined = replace(own, labels=tasks.label_names(own.labels, planes), extra=more)
    knowledge = joined.knowledge(SPLITS)
    first = relations
    for plane, vocabulary in zip(PLANES, planes, strict=True):
        for split, sentences in enumerate(SPLITS):
            for sentence in sentences:
                used = plane.codes[OFFSETS[sentence] : OFFSETS[sentence + 1]]
                knowledge["known_labels"][split, first + used] = True
        first += len(vocabulary)
    shape = replace(shape, relations=relations, planes=(len(planes[0]), len(planes[1])))
    return DeviceData.of(shape, joined, knowledge)


@pytest.fixture(scope="module")
def data() -> DeviceData:
    return grounded()


def scores_by_hand(weights: object, data: DeviceData, sentence: int, split: int) -> list[np.ndarray]:
    """Scores of plane 1, plane 2 and relations for all words of a sentence."""
    shape = data.shape
    assert isinstance(shape, BracketShape)
    states = states_by_hand(weights, shape, vectors_by_hand(weights, data, sentence, split))
    matrix, bias = (np.asarray(each, float) for each in weights["output"])  # type: ignore[index]
    known_labels = np.asarray(data.text.known_labels)[split]
    scores = np.where(known_labels, states @ matrix + bias, -np.inf)
    relations, (first, second) = shape.relations, shape.planes
    ends = relations, relations + first, relations + first + second
    return [scores[:, ends[0] : ends[1]], scores[:, ends[1] : ends[2]], scores[:, : ends[0]]]


@pytest.mark.parametrize("words", [5, 8])
def test_the_loss_is_that_of_a_plain_computation(data: DeviceData, words: int) -> None:
    weights = random_weights(tagger.init_weights, data)
    sentences = [4, 1, 0, -1, 2]
    gold = [PLANES[0].codes, PLANES[1].codes, np.asarray(data.text.labels)]
    total, count = 0.0, 0
    for sentence in filter(lambda each: each >= 0, sentences):
        scores = scores_by_hand(weights, data, sentence, 0)
        for word in range(LENGTHS[sentence]):
            for kind in range(3):
                own = scores[kind][word]
                total += np.log(np.exp(own).sum()) - own[gold[kind][OFFSETS[sentence] + word]]
            count += 1
    batch = batch_of(data, sentences, words)
    found = loss_of(tagger, data, batch, NUMBERS)(weights)
    assert float(found) == pytest.approx(total / count, rel=1e-5)


@pytest.mark.parametrize("split", [0, 1])
def test_each_word_gets_the_best_of_the_labels_that_are_in_train(data: DeviceData, split: int) -> None:
    weights = random_weights(tagger.init_weights, data, seed=split)
    batch = batch_of(data, [0, 3, 2], 6, split)
    made = outputs_of(tagger, data, weights, batch)
    assert made.shape == (3, 6, 3)
    assert made.dtype == np.int16
    codes = made
    for at, sentence in enumerate((0, 3, 2)):
        for kind, scores in enumerate(scores_by_hand(weights, data, sentence, split)):
            assert codes[at, : LENGTHS[sentence], kind].tolist() == scores.argmax(axis=1).tolist()


def test_labels_that_only_others_know_change_nothing(data: DeviceData) -> None:
    larger = grounded(unused=("<<<", "/>>"))
    found = []
    for own in (data, larger):
        batch = batch_of(own, range(5), 5)
        found.append(float(loss_of(tagger, own, batch, NUMBERS)(begun(tagger, own, seed=7))))
    assert found[0] == pytest.approx(found[1], rel=1e-6)


@pytest.mark.long
def test_the_gradient_is_that_of_finite_differences() -> None:
    with jax.enable_x64(True):
        own = grounded(replace(TINY, dropout="variational"))
        weights = in_double(random_weights(tagger.init_weights, own))
        batch = batch_of(own, [4, -1, 0, 3], 6)
        loss = loss_of(tagger, own, batch, HyperParams(0.0, 0.3), rng.make_key(3))
        check_grads(loss, (weights,), order=1, modes=["rev"])  # type: ignore[no-untyped-call]


def test_gold_labels_give_gold_trees_also_where_arcs_cross(data: DeviceData) -> None:
    relations = np.asarray(data.text.labels)[: OFFSETS[-1]]
    root = encoding().labels.index("root")
    codes = np.stack([PLANES[0].codes, PLANES[1].codes, relations], axis=1).astype(np.int16)
    found = tasks.decode_brackets(codes, columns(), [root], OFFSETS)
    assert found[:, 0].tolist() == HEADS.tolist()
    assert found[:, 1].tolist() == relations.tolist()
    assert (PLANES[1].codes > 0).any()


def test_labels_that_make_no_tree_are_mended_and_relations_stay() -> None:
    planes = Vocabulary.of([".", "/"]), Vocabulary.of(["."])
    codes = np.array([[0, 0, 3], [1, 0, 7], [1, 0, 8], [0, 0, 7]])
    found = tasks.decode_brackets(codes, planes, [7, 8], np.array([0, 3, 4]))
    assert found.tolist() == [[2, 3], [0, 7], [2, 8], [0, 7]]  # the second of two roots hangs from the first


def test_a_text_whose_labels_leave_out_the_planes_is_noticed() -> None:
    own = DeviceData.of(replace(TINY, relations=7, planes=(9, 3)), encoding(), encoding().knowledge(SPLITS))
    with pytest.raises(AssertionError, match="labels; expected 19: relations, then both planes"):
        tagger.init_weights(rng.make_key(0), own.shape, own.hashes)


@pytest.mark.long
def test_a_small_network_learns_five_sentences_by_heart() -> None:
    shape = replace(TINY, units=(12,), word_size=12, case_size=3, dropout="variational")
    own = grounded(shape)
    weights, batch = overfitted(tagger, own, steps=150)
    made = outputs_of(tagger, own, weights, batch)
    codes = np.concatenate([row[:length] for row, length in zip(made, LENGTHS, strict=True)])
    found = tasks.decode_brackets(codes, columns(), [encoding().labels.index("root")], OFFSETS)
    assert found[:, 0].tolist() == HEADS.tolist()
    assert found[:, 1].tolist() == np.asarray(own.text.labels)[: OFFSETS[-1]].tolist()
