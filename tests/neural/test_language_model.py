"""Character language models: against a plain loop, in windows and streams, from text to bits, and their seeds."""

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

import jax

from deadheat.errors import InputError
from deadheat.neural.contextual import LanguageModelSettings
from deadheat.neural.language_model import (
    HELD_OUT,
    NO_TARGET,
    STREAMS,
    WINDOW,
    Weights,
    bits_per_character,
    cut_streams,
    encode,
    known_characters,
    loss,
    run,
    start_state,
    train_language_model,
)
from deadheat.neural.text import UNKNOWN

SMALL = LanguageModelSettings(units=6, epochs=2, character_size=5)
KEY: Any = np.uint32(5)


def random_weights(seed: int = 0, *, characters: int = 7, size: int = 4, units: int = 3) -> Weights:
    rng = np.random.default_rng(seed)
    shapes = [(characters, size), (size, 4 * units), (units, 4 * units), (4 * units,), (units, characters)]
    arrays: Any = [rng.normal(size=shape).astype(np.float32) for shape in [*shapes, (characters,)]]
    return Weights(*arrays)


def side_by_side(*streams: list[int]) -> Any:
    """The codes of streams as a window: (T, B)."""
    return np.array(streams, np.int32).T


def plain_states(weights: Weights, codes: list[int]) -> np.ndarray:
    """States after every character of one stream, one gate after the other."""

    def squash(x: Any) -> Any:
        return 1 / (1 + np.exp(-x))

    units = len(weights.recurrent)
    state = cell = np.zeros(units)
    states = []
    for code in codes:
        vector = weights.table[code] if code >= 0 else np.zeros(weights.table.shape[1])
        i, f, g, o = np.split(vector @ weights.inputs + weights.bias + state @ weights.recurrent, 4)
        cell = squash(f) * cell + squash(i) * np.tanh(g)
        state = squash(o) * np.tanh(cell)
        states.append(state)
    return np.array(states)


def plain_loss(weights: Weights, codes: list[int]) -> float:
    """The mean number of nats that the characters after the first need."""
    total, count = 0.0, 0
    for state, target in zip(plain_states(weights, codes[:-1]), codes[1:], strict=True):
        scores = state @ weights.output + weights.output_bias
        if target >= 0:
            total += math.log(np.exp(scores).sum()) - scores[target]
            count += 1
    return total / count


def test_states_are_those_of_a_plain_loop() -> None:
    weights, codes = random_weights(), [[3, 1, 4, 1, 5], [2, 0, 6, 5, 3]]
    states, last = run(weights, side_by_side(*codes), start_state(2, 3))
    for stream, row in enumerate(codes):
        assert np.asarray(states)[:, stream] == pytest.approx(plain_states(weights, row), abs=1e-5)
    assert np.array_equal(last.output, states[-1])


def test_a_state_that_is_carried_on_is_that_of_the_whole_text() -> None:
    weights, codes = random_weights(1), side_by_side([3, 1, 4, 1, 5, 2])
    whole, _ = run(weights, codes, start_state(1, 3))
    first, carried = run(weights, codes[:2], start_state(1, 3))
    second, _ = run(weights, codes[2:], carried)
    assert np.concatenate([first, second]) == pytest.approx(np.asarray(whole), abs=1e-6)


def test_the_loss_is_that_of_a_plain_loop_without_targets_beyond_the_end() -> None:
    weights, codes = random_weights(2), [3, 1, 4, 1, 5, NO_TARGET, NO_TARGET]
    found, _ = loss(weights, side_by_side(codes), start_state(1, 3), 0.0, KEY)
    assert float(found) == pytest.approx(plain_loss(weights, codes[:5]), abs=1e-5)


def test_the_gradient_is_the_slope_of_the_plain_loss() -> None:
    weights, codes = random_weights(3), [3, 1, 4, 1, 5, 2]
    gradients, _ = jax.grad(loss, has_aux=True)(weights, side_by_side(codes), start_state(1, 3), 0.0, KEY)
    step = 1e-4
    for name in Weights._fields:
        values = np.asarray(getattr(weights, name), np.float64)
        slopes = np.zeros_like(values)
        for at in np.ndindex(values.shape):
            sides = []
            for sign in (1, -1):
                moved: Any = values.copy()
                moved[at] += sign * step
                sides.append(plain_loss(weights._replace(**{name: moved}), codes))
            slopes[at] = (sides[0] - sides[1]) / (2 * step)
        assert np.asarray(getattr(gradients, name)) == pytest.approx(slopes, abs=2e-4), name


def test_dropped_units_change_the_loss_and_depend_on_the_key() -> None:
    weights, window = random_weights(4), side_by_side([3, 1, 4, 1, 5, 2])
    losses = [float(loss(weights, window, start_state(1, 3), 0.5, KEY + np.uint32(key))[0]) for key in (1, 1, 2)]
    assert losses[0] == losses[1] != losses[2]


def test_every_character_is_predicted_once_whatever_the_length() -> None:
    for length in (2, 5, WINDOW, 1000, 4 * WINDOW * STREAMS + 17):
        codes = np.arange(1, length + 1, dtype=np.int32)
        windows = cut_streams(codes)
        assert windows.shape[1] == WINDOW + 1
        targets = windows[:, 1:]
        assert sorted(targets[targets >= 0].tolist()) == codes[1:].tolist()
        before = windows[:, :-1][targets >= 0]
        assert (before + 1 == targets[targets >= 0]).all()
        assert (windows[1:, 0] == windows[:-1, -1]).all()


def test_the_backward_model_reads_from_the_end_and_both_begin_with_a_new_line() -> None:
    characters = ("", "\n", "a", "b")
    assert encode(["ab", "b"], characters, "forward").tolist() == [1, 2, 3, 1, 3, 1]
    assert encode(["ab", "b"], characters, "backward").tolist() == [1, 3, 1, 3, 2, 1]
    assert encode(["aXb"], characters, "forward").tolist() == [1, 2, UNKNOWN, 3, 1]


def test_characters_that_are_seen_once_are_unknown() -> None:
    assert known_characters("aab\u00e9\u00e9c") == ("", "\n", "a", "\u00e9")


LINES = [f"the {word} saw the {other}" for word in ("cat", "dog", "cow", "hen") for other in ("sun", "sea", "sky")]
TEXT = "\n".join(LINES * 4)


def arrays(text: str = TEXT, settings: LanguageModelSettings = SMALL, direction: str = "forward") -> Any:
    return train_language_model(text, settings, direction)


def test_the_same_seed_gives_the_same_model_and_another_another() -> None:
    first, again = arrays(), arrays()
    for name in Weights._fields:
        assert np.array_equal(getattr(first.weights, name), getattr(again.weights, name)), name
    assert first.bits == again.bits
    for other in (
        arrays(settings=LanguageModelSettings(units=6, epochs=2, character_size=5, seed=1)),
        arrays(direction="backward"),
        arrays(TEXT.replace("hen", "pig")),
    ):
        assert not np.array_equal(first.weights.recurrent, other.weights.recurrent)


def test_lines_that_are_held_out_are_not_learned() -> None:
    lines = TEXT.split("\n")
    changed = ["zzz" if (number + 1) % HELD_OUT == 0 else line for number, line in enumerate(lines)]
    first, other = arrays(), arrays("\n".join(changed))
    assert np.array_equal(first.weights.recurrent, other.weights.recurrent)
    assert other.bits > first.bits
    assert math.isnan(arrays("\n".join(lines[:5])).bits)


def test_bits_are_those_of_the_plain_loss() -> None:
    weights, codes = random_weights(5), [3, 1, 4, 1, 5, 2, 6]
    found = bits_per_character(weights, np.array(codes, np.int32))
    assert found == pytest.approx(plain_loss(weights, codes) / math.log(2), abs=1e-5)


@pytest.mark.slow
def test_a_model_learns_its_text() -> None:
    model = arrays(settings=LanguageModelSettings(units=32, epochs=30, character_size=8, drop=0.0))
    assert model.bits < 1.0 < math.log2(len(model.characters))
    assert f"{model.bits:.3f} bits per character held out" in str(model)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"units": 0}, "lm_units=0; expected at least 1"),
        ({"epochs": 0}, "lm_epochs=0; expected at least 1"),
        ({"character_size": -1}, "lm_character_size=-1; expected at least 1"),
        ({"rate": 0.0}, "lm_rate=0; expected a number above 0"),
        ({"rate": math.nan}, "lm_rate=nan; expected a number above 0"),
        ({"drop": 1.0}, "lm_drop=1; expected a share from 0 to less than 1"),
    ],
    ids=str,
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        LanguageModelSettings(**settings)
    assert str(error.value) == message
