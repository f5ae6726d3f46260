"""How many networks fit: what one of them takes is reckoned before anything is put on the device."""

from __future__ import annotations

import math

import jax
import numpy as np
from numpy.typing import NDArray

from deadheat.neural.batches import PREDICTED, length_of
from deadheat.neural.devices import accelerated
from deadheat.neural.parser_shape import AttentionShape
from deadheat.neural.shape import CASES, Shape
from deadheat.neural.text import LONGEST_WORD, Text
from deadheat.neural.transition_shape import TransitionShape

# Copies of the weights: themselves, their gradient, the best so far, what the optimizer remembers, and room to move.
MEMORIES = {"sgd": 0, "adagrad": 1, "adadelta": 2, "rmsprop": 1, "adam": 2, "nadam": 2, "adam-short": 2}
USED = 0.75  # of the device's memory; the rest is for programs and for what they pass on to each other
BYTES = 4
LOOKED_AT = 12  # words that a state of a transition-based parser looks at


def weights_of(shape: Shape, words: int, characters: int, labels: int) -> int:
    """How many numbers a network is.

    Examples
    --------
    >>> weights_of(Shape(units=(100,), characters="none", case_size=0, classifier="softmax"), 1000, 50, 10)
    262810
    """
    count = words * shape.word_size + CASES * shape.case_size + characters * shape.character_size
    if shape.characters == "none":
        count -= characters * shape.character_size
    if shape.characters == "cnn":
        count += (shape.width * shape.character_size + 1) * shape.filters
    inputs = shape.inputs
    for units in (shape.filters,) if shape.characters == "lstm" else ():
        count += 2 * 4 * units * (shape.character_size + units + 1)
    for units in shape.units:
        count += 2 * 4 * units * (inputs + units + 1)
        inputs = 2 * units
    if isinstance(shape, AttentionShape):
        pointing = shape.decoder or inputs
        count += 4 * shape.decoder * (inputs + shape.decoder + 1) + shape.inputs
        count += (inputs + pointing + 2) * (shape.arc_size + shape.relation_size)
        return count + (shape.arc_size + 1) * shape.arc_size + labels * (shape.relation_size + 1) ** 2
    if isinstance(shape, TransitionShape):
        return count + 2 * shape.hidden * (LOOKED_AT * inputs + labels + 4)
    count += (inputs + 1) * labels
    return count + (labels * labels + 2 * labels if shape.classifier == "crf" else 0)


def passed_on(shape: Shape, longest: int, characters: int, labels: int) -> int:
    """How many numbers a step keeps for its backward pass, at the longest sentences, with ones that pick characters."""
    tokens = shape.batch * longest
    each = 3 * shape.inputs + sum(2 * (4 + 4 + 4) * units for units in shape.units) + 6 * labels
    if shape.characters != "none":
        each += 4 * LONGEST_WORD * max(shape.filters * (8 if shape.characters == "lstm" else 1), shape.character_size)
        each += LONGEST_WORD * characters * (shape.width if shape.characters == "cnn" else 1)
    if isinstance(shape, AttentionShape):
        each += 3 * longest + 4 * (shape.arc_size + shape.relation_size) + 2 * labels * shape.relation_size
    if isinstance(shape, TransitionShape):
        each += 3 * LOOKED_AT * 2 * shape.hidden
    return tokens * each


def labelling(shape: Shape, longest: int) -> int:
    """How many numbers there are at once when sentences of the longest are labelled."""
    each = shape.inputs + max(2 * (4 + 4) * units for units in shape.units)
    if shape.characters != "none":
        each += 2 * LONGEST_WORD * shape.filters * (8 if shape.characters == "lstm" else 1)
    if isinstance(shape, AttentionShape):
        each += 2 * longest
    if isinstance(shape, TransitionShape):
        each += LOOKED_AT * 2 * shape.hidden
    return PREDICTED * longest * each


def fitting(shape: Shape, words: int, characters: int, labels: int, longest: int, *, memory: int) -> int:
    """How many networks of a shape fit into so many bytes; at least one."""
    copies = 4 + MEMORIES[shape.optimizer]
    step = max(passed_on(shape, longest, characters, labels), labelling(shape, longest))
    each = copies * weights_of(shape, words, characters, labels) + step
    return max(1, math.floor(USED * memory / (BYTES * each)))


def device_memory() -> int | None:
    """Bytes of the device that networks train on; None on a CPU, where stacks do not pay."""
    if not accelerated():
        return None
    told = jax.devices()[0].memory_stats() or {}
    return int(told.get("bytes_limit", 8 << 30))


def stack_size(shape: Shape, text: Text, lengths: NDArray[np.integer]) -> int:
    """How many networks to train at once: as many as fit; one on a CPU, where stacks do not pay."""
    memory = device_memory()
    if memory is None:
        return 1
    words, characters, labels = (each.shape[1] for each in (text.seen, text.legible, text.possible))
    return fitting(shape, words, characters, labels, length_of(int(lengths.max(initial=1))), memory=memory)
