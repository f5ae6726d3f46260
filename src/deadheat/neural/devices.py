"""Devices that networks train on: compiler settings, memory, and how many networks fit.

Memory that is freed and asked for again, step after step; and how many pieces of it a process may have.

Where networks train, and where their compiled programs are kept from one process to the next.

How many networks fit: what one of them takes is reckoned before anything is put on the device.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from deadheat.kernels.native import cache_folder
from deadheat.neural.batches import PREDICTED, length_of
from deadheat.neural.config import CASES, AttentionShape, Shape, TransitionShape
from deadheat.neural.text import LONGEST_WORD, Text

# Settings of the GNU C library's allocator (malloc.h). All memory comes from one heap that never shrinks: by default
# large pieces are mapped afresh for every program that runs, and threads have small heaps of their own.
TRIM_THRESHOLD, MAPPED_PIECES, HEAPS = -1, -4, -8
SETTINGS = ((MAPPED_PIECES, 0), (TRIM_THRESHOLD, 2**31 - 1), (HEAPS, 1))


def keep_memory() -> bool:
    """Have this process keep freed memory instead of giving it back; whether that could be arranged.

    A training step on a CPU asks for 50 to 200 megabytes and frees them at its end. Where they are given back, every
    page has to be found and cleared again, which takes a third of the step. To be called before jax starts its threads.
    """
    adjust = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
    return adjust is not None and all(adjust(setting, value) for setting, value in SETTINGS)


def pieces_in_use() -> float:
    """The share of the pieces of memory a process may have that are in use; 0 where the system does not say.

    A program that is compiled for a CPU takes a few for each of its loops. Linux allows some 65,000 in all, and ends a
    process that cannot have another.
    """
    try:
        most = int(Path("/proc/sys/vm/max_map_count").read_bytes())
        return Path("/proc/self/maps").read_bytes().count(b"\n") / most
    except (OSError, ValueError, ZeroDivisionError):
        return 0.0


# Left to itself, XLA tries out ways to write every product and every fusion while it compiles.
UNTRIED = {
    "xla_gpu_autotune_level": 0,
    "xla_gpu_experimental_enable_fusion_autotuner": False,
    "xla_gpu_enable_triton_gemm": False,
}


@cache
def settle() -> None:
    """Keep compiled programs on disk, unless jax was told where to keep its own, and memory for the next step.

    A program is not begun before the one before it has ended: on a CPU there is nothing to gain by it, and memory would
    be asked for twice.
    """
    config: Any = jax.config
    keep_memory()
    config.update("jax_cpu_enable_async_dispatch", False)
    if not config.jax_compilation_cache_dir:
        config.update("jax_compilation_cache_dir", str(cache_folder().parent / "networks"))
        config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        config.update("jax_persistent_cache_min_entry_size_bytes", 0)


def accelerated() -> bool:
    """Whether there is a device on which stacks pay."""
    return jax.default_backend() != "cpu"


def as_program(call: Callable[..., Any], *, tuned: bool, **how: Any) -> Any:
    """`jax.jit`; on a GPU the compiler tries out how to compute what is to be tuned, and nothing else."""
    untried = not tuned and jax.default_backend() == "gpu"
    return jax.jit(call, compiler_options=known(UNTRIED) if untried else None, **how)


def known(options: dict[str, int]) -> dict[str, int]:
    """Those options that the compiler at hand knows: their names change from one release to the next."""
    return {name: value for name, value in options.items() if _is_known(name, value)}


@cache
def _is_known(name: str, value: int) -> bool:
    try:
        jax.jit(lambda: 0, compiler_options={name: value})()
    except jax.errors.JaxRuntimeError:
        return False
    return True


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
