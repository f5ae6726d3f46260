"""Options of a network: each changes what it says it changes, and nothing else."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

import jax
import jax.numpy as jnp
from jax import Array

from deadheat.neural import batches, rng
from deadheat.neural.config import CASES, OPTIMIZERS, HyperParams, Shape
from deadheat.neural.devices import configure_jax, parameter_count
from deadheat.neural.encoder import (
    Batch,
    StringHashes,
    drop_outputs,
    make_batch,
    omit_vectors,
    recurrent_mask,
    run_layers,
    take_rows,
    take_rows_by_product,
    word_vectors,
)
from deadheat.neural.programs import DeviceData, Programs, optimizer
from deadheat.neural.tagger import init_weights, label_scores, loss, outputs
from deadheat.neural.text import UNKNOWN
from tests.neural.test_text import encode, tagged

SHAPE = Shape(units=(3,), word_size=4, case_size=2, characters="none", classifier="softmax", dropout="none", batch=3)
CALM = HyperParams(0.1, drop=0.0, replaced=0.0)
WORDS = 6  # of a batch's sentences
# `dog` and `ran` are seen twice in train, `Once` and `rare` once; `new` and the label X are not in train.
CORPUS = tagged("dog/N ran/V Once/D dog/N", "rare/N ran/V", "new/X dog/N")
TRAIN = np.array([0, 1])


@dataclass(frozen=True)
class Scene:
    """A network before training, and three sentences for it, of which it learns from two."""

    shape: Shape
    data: DeviceData
    weights: Any
    batch: Any

    def judged(self) -> tuple[np.ndarray, float, np.ndarray]:
        """Scores of all labels, the loss, and the best labels."""
        scores, lost, labels = _judged(self.weights, self.shape, self.batch)
        return np.asarray(scores, np.float64), float(lost), np.asarray(labels)

    def vectors(self, hyper: HyperParams = CALM, key: Array | None = None) -> np.ndarray:
        found = _vectors(self.weights, self.shape, self.batch, hyper, key)
        return np.asarray(found)

    @property
    def inside(self) -> np.ndarray:
        return np.asarray(self.batch.inside)


@partial(jax.jit, static_argnums=1)
def _judged(weights: Any, shape: Shape, batch: Batch) -> tuple[Array, Array, Array]:
    own = (weights, shape, batch)
    return label_scores(*own, CALM, None), loss(*own, CALM, None), outputs(*own)


configure_jax()
_vectors = jax.jit(word_vectors, static_argnums=1)
_layered = jax.jit(run_layers, static_argnums=1)
_dropped = jax.jit(drop_outputs, static_argnums=(1, 4))
_kept = jax.jit(recurrent_mask, static_argnums=(0, 3, 4))
_begun = jax.jit(init_weights, static_argnums=1)
_gathered = jax.jit(make_batch, static_argnums=3)


def scene(**changes: Any) -> Scene:
    shape = replace(SHAPE, **changes)
    data = DeviceData.of(shape, ENCODING, ENCODING.knowledge([TRAIN]))
    batch = _gathered(data.text, 0, np.array([0, 1, 2]), WORDS)
    return Scene(shape, data, _begun(rng.make_key(0, 1), shape, data.hashes), batch)


ENCODING = encode(CORPUS)
LABEL = {name: code for code, name in enumerate(ENCODING.labels)}


@pytest.fixture(scope="module")
def plain() -> Scene:
    return scene()


def weights_like(shape: Shape, words: int = 70, characters: int = 9, labels: int = 5) -> Any:
    """Shapes of all weights; nothing is computed."""
    hashes = [np.zeros(size, np.uint32) for size in (words, characters, labels)]
    begin = lambda key, *given: init_weights(key, shape, StringHashes(*given))  # noqa: E731
    return jax.eval_shape(begin, np.uint32(0), *hashes)


def sizes(weights: Any) -> dict[str, tuple[int, ...]]:
    leaves = jax.tree_util.tree_leaves_with_path(weights)
    return {jax.tree_util.keystr(path): leaf.shape for path, leaf in leaves}


@pytest.mark.parametrize("units", [(3,), (4, 2), (5, 4, 3)])
@pytest.mark.parametrize("characters", ["none", "cnn", "lstm"])
@pytest.mark.parametrize("classifier", ["softmax", "crf"])
@pytest.mark.parametrize("casing", [0, 3])
def test_the_number_of_weights_is_reckoned_right(
    units: tuple[int, ...], characters: str, classifier: str, casing: int
) -> None:
    shape = Shape(units=units, word_size=7, case_size=casing, characters=characters, character_size=5, filters=4,
                  classifier=classifier)  # fmt: skip
    real = sum(math.prod(size) for size in sizes(weights_like(shape)).values())
    assert parameter_count(shape, 70, 9, 5) == real


def test_a_random_field_adds_its_own_weights_and_no_others() -> None:
    softmax, crf = (sizes(weights_like(Shape(classifier=each))) for each in ("softmax", "crf"))
    assert {name: crf[name] for name in softmax} == softmax
    added = {name: size for name, size in crf.items() if name not in softmax}
    assert all("crf" in name for name in added)
    assert sorted(added.values()) == [(5,), (5,), (5, 5)]


@pytest.mark.parametrize(("characters", "more"), [("cnn", 30), ("lstm", 60)])
def test_characters_change_what_enters_the_first_layer_and_nothing_after_it(characters: str, more: int) -> None:
    none, some = (sizes(weights_like(Shape(characters=each))) for each in ("none", characters))
    changed = {name for name in none if some[name] != none[name]}
    assert changed == {"['layer0'].inputs"}
    (_, before, _), (_, after, _) = none["['layer0'].inputs"], some["['layer0'].inputs"]
    assert after - before == more
    assert all(name.startswith("['characters']") for name in some if name not in none)


def test_casing_is_a_table_that_0_leaves_out() -> None:
    without, some = (sizes(weights_like(Shape(case_size=size))) for size in (0, 10))
    assert set(some) - set(without) == {"['cases']"}
    assert some["['cases']"] == (CASES, 10)
    assert {name for name in without if some[name] != without[name]} == {"['layer0'].inputs"}


@pytest.mark.slow
def test_a_random_field_without_preferences_is_a_softmax(plain: Scene) -> None:
    # With zeros between neighbours, the sum over sequences is the product over words of the sums over labels.
    field = scene(classifier="crf")
    assert all(np.array_equal(field.weights[name][0], plain.weights[name][0]) for name in ("words", "output"))
    (scores, lost, best), (_, field_lost, field_best) = plain.judged(), field.judged()
    gold = np.asarray(plain.batch.labels)
    unlikely = np.log(np.exp(scores).sum(axis=-1)) - np.take_along_axis(scores, gold[..., None], axis=-1)[..., 0]
    assert lost == pytest.approx(unlikely[plain.inside].mean(), rel=1e-5)
    assert field_lost == pytest.approx(lost, rel=1e-5)
    assert np.array_equal(best[plain.inside], scores.argmax(axis=-1)[plain.inside])
    assert np.array_equal(field_best[plain.inside], best[plain.inside])
    assert LABEL["X"] not in best[plain.inside].tolist()  # a label that training has not seen


def test_rows_that_learn_by_products_learn_what_picked_rows_learn() -> None:
    table, weight = (jax.random.normal(jax.random.key(at), size) for at, size in enumerate([(5, 3), (2, 4, 3)]))
    codes = jnp.array([[0, 4, -1, 0], [2, 2, 2, -1]])

    def squares(rows: Array, pick: Callable[[Array, Array], Array]) -> Array:
        return jnp.sum(weight * pick(rows, codes) ** 2)

    gradients = jax.jit(jax.grad(squares), static_argnums=1)
    by_products, by_picking = (np.asarray(gradients(table, pick)) for pick in (take_rows_by_product, take_rows))
    np.testing.assert_allclose(by_products, by_picking, rtol=1e-6)
    np.testing.assert_array_equal(by_products[[1, 3]], 0.0)
    tables = jnp.stack([table, 2 * table])
    stacked, alone = (jax.vmap(gradients, (0, None))(tables, pick) for pick in (take_rows_by_product, take_rows))
    np.testing.assert_allclose(np.asarray(stacked), np.asarray(alone), rtol=1e-6)
    np.testing.assert_array_equal(take_rows_by_product(table, codes), take_rows(table, codes))


@pytest.mark.slow
def test_a_word_enters_with_its_vector_its_casing_and_its_characters(plain: Scene) -> None:
    whole = scene(characters="cnn", character_size=2, filters=3)
    found = whole.vectors()
    assert found.shape == (3, WORDS, 4 + 2 + 3)
    table, cases = (np.asarray(whole.weights[name]) for name in ("words", "cases"))
    code = {word: at for at, word in enumerate(ENCODING.words)}
    assert np.array_equal(found[0, 0, :4], table[code["dog"]])
    assert found[0, 2, 4:6] == pytest.approx(cases[5])  # a capital letter first
    assert found[0, 0, 4:6] == pytest.approx(cases[3])  # lower case
    # The same letters give the same vector, others do not, and letters have no say in the rest.
    assert np.array_equal(found[0, 0, 6:], found[0, 3, 6:])
    assert not np.array_equal(found[0, 0, 6:], found[0, 1, 6:])
    assert np.array_equal(found[..., :6], plain.vectors())
    assert np.array_equal(scene(case_size=0).vectors(), found[..., :4])


def test_a_word_that_training_has_not_seen_is_unknown(plain: Scene) -> None:
    table = np.asarray(plain.weights["words"])
    assert np.array_equal(plain.vectors()[2, 0, :4], table[UNKNOWN])
    known = plain.vectors()[plain.inside][:-2, :4]
    assert not (known == table[UNKNOWN]).all(axis=1).any()


def replaced_share(place: Scene, share: float, updates: int = 40) -> np.ndarray:
    """How often each word is taken for unknown in so many updates."""
    table = np.asarray(place.weights["words"])
    hyper = CALM._replace(replaced=share)
    found = [
        (place.vectors(hyper, rng.make_key(1, 0, update))[..., :4] == table[UNKNOWN]).all(axis=-1)
        for update in range(updates)
    ]
    return np.asarray(np.mean(found, axis=0))


def test_only_words_seen_once_are_replaced_and_as_often_as_asked(plain: Scene) -> None:
    once = np.array([[0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]], bool)
    unseen = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]], bool)
    inside = plain.inside[:, :4]
    for share in (0.0, 0.5, 1.0):
        found = replaced_share(plain, share)[:, :4]
        assert (found[inside & ~once & ~unseen] == 0).all()
        assert (found[unseen] == 1).all()
        # 40 draws of two words: outside of these bounds once in a million times.
        least, most = {0.0: (0, 0), 0.5: (0.24, 0.76), 1.0: (1, 1)}[share]
        assert least <= found[once].mean() <= most


@pytest.mark.parametrize("dropout", ["none", "naive", "variational"])
@pytest.mark.parametrize("dropped", ["outputs", "recurrent", "both"])
def test_dropout_is_where_and_how_it_is_said_to_be(dropout: str, dropped: str) -> None:
    shape = replace(SHAPE, dropout=dropout, dropped=dropped)
    key, hyper = rng.make_key(1, 2, 3), HyperParams(0.1, drop=0.5)
    x = jnp.ones((4, 5, 50))
    masked = np.asarray(_dropped(x, shape, hyper, key, 1))
    units = _kept(shape, hyper, key, 2, (5, 4, 50))
    if dropout == "none" or dropped == "recurrent":
        assert np.array_equal(masked, x)
    else:
        assert set(np.unique(masked)) == {0.0, 2.0}
        assert_masks(masked, alike=dropout == "variational")
    if dropout == "none" or dropped == "outputs":
        assert units is None
    else:
        assert units is not None
        assert units.shape == (1 if dropout == "variational" else 5, 2, 4, 50)
        over_words = np.moveaxis(np.broadcast_to(units, (5, 2, 4, 50)), (0, 1, 2), (1, 2, 0)).reshape(4, 5, 100)
        assert_masks(over_words, alike=dropout == "variational")
    assert np.array_equal(drop_outputs(x, shape, hyper, None, 1), x)  # not when labelling
    assert recurrent_mask(shape, hyper, None, 2, (5, 4, 50)) is None


def assert_masks(masks: np.ndarray, *, alike: bool) -> None:
    """Sentences have masks of their own; words of a sentence have one mask if they should be alike."""
    assert len(np.unique(masks[:, 0], axis=0)) == len(masks)
    for sentence in masks:
        assert len(np.unique(sentence, axis=0)) == (1 if alike else len(sentence))


@pytest.mark.parametrize("dropout", ["naive", "variational"])
def test_to_drop_nothing_is_to_have_no_dropout(plain: Scene, dropout: str) -> None:
    shape = replace(SHAPE, dropout=dropout)
    x, key = jnp.asarray(plain.vectors()), rng.make_key(1, 0, 0)
    given = (x, plain.batch.lengths)
    without = np.asarray(_layered(plain.weights, plain.shape, *given, CALM, key))
    assert np.array_equal(_layered(plain.weights, shape, *given, CALM, key), without)
    other = np.asarray(_layered(plain.weights, shape, *given, CALM._replace(drop=0.5), key))
    assert not np.allclose(other, without)


def test_frozen_word_vectors_are_not_learned_and_all_else_is(plain: Scene) -> None:
    def squares(weights: Any, shape: Shape) -> Array:
        return jnp.sum(word_vectors(weights, shape, plain.batch, CALM, None) ** 2)

    gradients = jax.jit(jax.grad(squares), static_argnums=1)
    free, frozen = (
        gradients(plain.weights, plain.shape),
        gradients(plain.weights, replace(plain.shape, fixed_words=True)),
    )
    moved = np.flatnonzero(np.any(np.asarray(free["words"]), axis=1))
    assert {ENCODING.words[code] for code in moved} == {"", "dog", "ran", "once", "rare"}
    assert not np.any(frozen["words"])
    assert np.any(free["cases"])
    assert np.array_equal(free["cases"], frozen["cases"])


SLOPES = (np.array([0.3, -0.2, 0.0, 1.5]), np.array([-0.1, -0.4, 0.0, 0.5]))
Steps = Callable[[float], list[np.ndarray]]


def sgd(rate: float) -> list[np.ndarray]:
    return [-rate * g for g in SLOPES]


def adagrad(rate: float) -> list[np.ndarray]:
    total, steps = np.zeros(4), []
    for g in SLOPES:
        total = total + g**2
        steps.append(-rate * g / np.sqrt(total + 1e-7))
    return steps


def adadelta(rate: float) -> list[np.ndarray]:
    gradients, moves, steps = np.zeros(4), np.zeros(4), []
    for g in SLOPES:
        gradients = 0.95 * gradients + 0.05 * g**2
        step = np.sqrt(moves + 1e-6) / np.sqrt(gradients + 1e-6) * g
        moves = 0.95 * moves + 0.05 * step**2
        steps.append(-rate * step)
    return steps


def rmsprop(rate: float) -> list[np.ndarray]:
    gradients, steps = np.zeros(4), []
    for g in SLOPES:
        gradients = 0.9 * gradients + 0.1 * g**2
        steps.append(-rate * g / np.sqrt(gradients + 1e-7))
    return steps


def adam(rate: float, *, nesterov: bool = False, memory: float = 0.999) -> list[np.ndarray]:
    first, second, steps = np.zeros(4), np.zeros(4), []
    for t, g in enumerate(SLOPES, 1):
        first, second = 0.9 * first + 0.1 * g, memory * second + (1 - memory) * g**2
        if nesterov:  # a look ahead: the mean as it will be after the next step (Dozat 2016)
            ahead = 0.9 * first / (1 - 0.9 ** (t + 1)) + 0.1 * g / (1 - 0.9**t)
        else:
            ahead = first / (1 - 0.9**t)
        steps.append(-rate * ahead / (np.sqrt(second / (1 - memory**t)) + 1e-8))
    return steps


def nadam(rate: float) -> list[np.ndarray]:
    return adam(rate, nesterov=True)


BY_HAND: dict[str, Steps] = {each.__name__: each for each in (sgd, adagrad, adadelta, rmsprop, adam, nadam)}
BY_HAND["adam-short"] = functools.partial(adam, memory=0.9)


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_the_first_updates_of_every_optimizer_are_those_of_its_formula(kind: str) -> None:
    programs = Programs(replace(SHAPE, optimizer=kind), 2)
    hyper = HyperParams(0.05, norm=math.inf)
    weights = {"a": jnp.array([1.0, 2.0, 3.0, 4.0])}
    state = optimizer(kind, hyper).init(weights)
    move = jax.jit(programs._update)
    busy, idle = (0, np.array([4, -1, -1])), (0, np.full(3, -1))
    for gradients, expected in zip(SLOPES, BY_HAND[kind](0.05), strict=True):
        # A network of a stack that has no sentences in this step stays as it is, its optimizer too.
        still, same = move(weights, state, {"a": jnp.asarray(gradients, jnp.float32)}, hyper, idle)
        assert jax.tree.all(jax.tree.map(np.array_equal, (still, same), (weights, state)))
        before = np.asarray(weights["a"], np.float64)
        weights, state = move(weights, state, {"a": jnp.asarray(gradients, jnp.float32)}, hyper, busy)
        assert np.asarray(weights["a"], np.float64) - before == pytest.approx(expected, rel=1e-4, abs=1e-6)
        assert float(weights["a"][2]) == 3.0  # without a slope there is no step: frozen vectors stay


@pytest.mark.parametrize(("clip", "norm"), [(math.inf, math.inf), (0.25, math.inf), (math.inf, 0.5), (0.25, 0.1)])
def test_slopes_are_clipped_one_by_one_and_then_scaled_together(clip: float, norm: float) -> None:
    one, other = np.array([0.3, -0.4], np.float32), np.array([[0.1], [-0.2]], np.float32)
    clipped = [np.clip(each, -clip, clip) for each in (one, other)]
    length = math.sqrt(sum(float((each**2).sum()) for each in clipped))
    expected = [-0.1 * each * min(1, norm / length) for each in clipped]
    weights = [jnp.zeros_like(each) for each in (one, other)]
    programs = Programs(replace(SHAPE, optimizer="sgd"), 1)
    hyper = HyperParams(0.1, clip=clip, norm=norm)
    state = optimizer("sgd", hyper).init(weights)
    moved, _ = jax.jit(programs._update)(weights, state, [one, other], hyper, (0, np.array([0])))
    for found, wanted in zip(moved, expected, strict=True):
        assert np.asarray(found) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize(("batch", "updates"), [(1, 40), (8, 5), (16, 3), (64, 1)])
def test_a_batch_is_so_many_sentences_an_update(batch: int, updates: int) -> None:
    groups = batches.group_by_length(np.full(40, 5), np.arange(40), batch)
    steps = batches.epoch_batches(groups, batch, 0, 0)
    assert len(steps) == updates
    assert {len(row) for row in steps.values()} == {batch}


@pytest.mark.slow
def test_vectors_of_a_word_are_left_out_one_by_one_and_the_others_make_up_for_them() -> None:
    x = [jnp.full((200, 50, size), float(size)) for size in (2, 3)]
    kept = [np.asarray(each) for each in omit_vectors(x, HyperParams(0.1, omitted=0.25), rng.make_key(7))]
    there = np.stack([each[:, :, 0] > 0 for each in kept])
    assert [np.ptp(each, axis=2).max() for each in kept] == [0, 0]  # a vector is there as a whole, or not at all
    assert there.mean(axis=(1, 2)) == pytest.approx(0.75, abs=0.02)
    assert there.all(axis=0).mean() == pytest.approx(0.75**2, abs=0.02)  # independently
    both, one = there.all(axis=0), there.sum(axis=0) == 1
    for each, own in zip(kept, there, strict=True):
        size = each.shape[2]
        assert (each[both] == size).all()
        assert (each[one & own] == 2 * size).all()
    none = omit_vectors(x, HyperParams(0.1, omitted=0.0), rng.make_key(7))
    assert all(np.array_equal(a, b) for a, b in zip(none, x, strict=True))
