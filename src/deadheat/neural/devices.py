"""The device that networks train on: settings of jax and the compiler, memory, and how many networks fit."""

from __future__ import annotations

import ctypes
import importlib
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from deadheat.kernels.cache import create_folder, trim_folder
from deadheat.neural.batches import PREDICTION_BATCH, padded_length
from deadheat.neural.config import AttentionShape, Shape, TransitionShape
from deadheat.neural.text import AFFIX_LENGTHS, LONGEST_WORD, MOST_FEATURES, Text

# Settings of the GNU C library's allocator (malloc.h): no mapped blocks, never trim the heap, one arena. By default
# large blocks are mapped anew for every program that runs, and threads have small heaps of their own.
ALLOCATOR_SETTINGS = ((-4, 0), (-1, 2**31 - 1), (-8, 1))
# By default XLA's autotuner tries alternatives for every matrix product and fusion while it compiles.
NO_AUTOTUNING = {
    "xla_gpu_autotune_level": 0,
    "xla_gpu_experimental_enable_fusion_autotuner": False,
    "xla_gpu_enable_triton_gemm": False,
}
# Arrays of the weights' size that each optimizer keeps.
OPTIMIZER_COPIES = {"sgd": 0, "adagrad": 1, "adadelta": 2, "rmsprop": 1, "adam": 2, "nadam": 2, "adam-short": 2}
OTHER_COPIES = 4  # the weights, their gradient, the best weights so far, and a temporary copy
MEMORY_SHARE = 0.75  # of the device's memory; the rest is for programs and intermediate results
FLOAT_BYTES = 4
PROGRAMS_ON_DISK = 1 << 30  # bytes of compiled programs that stay in the cache folder
TRANSITION_WORDS = 12  # words that a state of a transition-based parser looks at


def keep_freed_memory() -> bool:
    """Let this process keep freed memory for reuse; returns whether the C library supports it.

    A training step on a CPU allocates 50 to 200 megabytes and frees them at its end. If they go back to the system, a
    third of the step is spent on clearing pages. Call it before jax starts its threads.
    """
    adjust = getattr(ctypes.CDLL(None), "mallopt", None)
    return adjust is not None and all(adjust(setting, value) for setting, value in ALLOCATOR_SETTINGS)


def memory_map_usage() -> float:
    """The share of this process's memory maps in use; 0 where the system does not tell.

    A program compiled for a CPU takes a few maps per loop. Linux allows about 65,000, and kills a process that needs
    more.
    """
    try:
        limit = int(Path("/proc/sys/vm/max_map_count").read_bytes())
        return Path("/proc/self/maps").read_bytes().count(b"\n") / limit
    except (OSError, ValueError, ZeroDivisionError):
        return 0.0


@cache
def configure_jax() -> None:
    """Cache compiled programs on disk, unless jax has a cache folder already, and keep freed memory.

    Asynchronous dispatch is off: on a CPU it gains nothing, and memory would be allocated twice.
    """
    config: Any = jax.config
    keep_freed_memory()
    config.update("jax_cpu_enable_async_dispatch", False)
    folder = None if config.jax_compilation_cache_dir else create_folder("networks")
    if folder is not None:
        config.update("jax_compilation_cache_dir", str(folder))
        config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        config.update("jax_persistent_cache_min_entry_size_bytes", 0)


def trim_programs() -> None:
    """Keep the compiled programs on disk within their limit, by deleting those that were used longest ago.

    A cache folder that jax was given by somebody else is left alone.
    """
    folder = create_folder("networks")
    if folder is not None and jax.config.jax_compilation_cache_dir == str(folder):  # type: ignore[attr-defined]
        trim_folder(folder, PROGRAMS_ON_DISK)


def on_accelerator() -> bool:
    """Whether jax runs on a GPU or TPU, where stacks pay off."""
    return jax.default_backend() != "cpu"


def compile_program(function: Callable[..., Any], **options: Any) -> Any:
    """`jax.jit`; on a GPU, without autotuning, which takes longer than it saves (docs/design/networks.md)."""
    settings = None
    if jax.default_backend() == "gpu":
        settings = {name: value for name, value in NO_AUTOTUNING.items() if is_supported(name, value)}
    return jax.jit(function, compiler_options=settings, **options)


@cache
def is_supported(option: str, value: int) -> bool:
    """Whether this release of XLA has a compiler option."""
    try:
        jax.jit(lambda: 0, compiler_options={option: value})()
    except jax.errors.JaxRuntimeError:
        return False
    return True


@cache
def parameter_count(shape: Shape, words: int, characters: int, labels: int) -> int:
    """The number of weights of a network."""
    from deadheat.neural.encoder import StringHashes  # which imports this module

    network = importlib.import_module(shape.network)
    hashes = [np.empty(size, np.uint32) for size in (words, characters, labels, 1)]
    weights = jax.eval_shape(lambda *hashes: network.init_weights(np.uint32(0), shape, StringHashes(*hashes)), *hashes)
    return sum(leaf.size for leaf in jax.tree.leaves(weights))


def training_activations(shape: Shape, longest: int, characters: int, labels: int) -> int:
    """The number of values that a training step keeps for its backward pass, with sentences of the longest length."""
    per_word = 3 * shape.inputs + sum(2 * (4 + 4 + 4) * units for units in shape.units) + 6 * labels
    per_word += 2 * shape.feature_layers * shape.feature_size
    per_word += 2 * summed_values(shape)
    if shape.characters != "none":
        states = shape.filters * (8 if shape.characters == "lstm" else 1)
        per_word += 4 * LONGEST_WORD * max(states, shape.character_size)
        per_word += LONGEST_WORD * characters * (shape.width if shape.characters == "cnn" else 1)
    if isinstance(shape, AttentionShape):
        per_word += 3 * longest + 4 * (shape.arc_size + shape.relation_size) + 2 * labels * shape.relation_size
    if isinstance(shape, TransitionShape):
        per_word += 3 * TRANSITION_WORDS * 2 * shape.hidden
    return shape.batch * longest * per_word


def summed_values(shape: Shape) -> int:
    """The number of values of a word that are added up: those of vectors of its affixes and features."""
    return 2 * len(AFFIX_LENGTHS) * shape.affix_size + MOST_FEATURES * shape.morphology_size


def prediction_activations(shape: Shape, longest: int) -> int:
    """The number of values that exist at once while sentences of the longest length are labelled."""
    per_word = shape.inputs + max((2 * (4 + 4) * units for units in shape.units), default=0) + summed_values(shape)
    if shape.characters != "none":
        per_word += 2 * LONGEST_WORD * shape.filters * (8 if shape.characters == "lstm" else 1)
    if isinstance(shape, AttentionShape):
        per_word += 2 * longest
    if isinstance(shape, TransitionShape):
        per_word += TRANSITION_WORDS * 2 * shape.hidden
    return PREDICTION_BATCH * longest * per_word


def networks_that_fit(shape: Shape, words: int, characters: int, labels: int, longest: int, *, memory: int) -> int:
    """How many networks of a shape fit into so many bytes; at least one."""
    copies = OTHER_COPIES + OPTIMIZER_COPIES[shape.optimizer]
    activations = max(training_activations(shape, longest, characters, labels), prediction_activations(shape, longest))
    values = copies * parameter_count(shape, words, characters, labels) + activations
    return max(1, math.floor(MEMORY_SHARE * memory / (FLOAT_BYTES * values)))


def device_memory() -> int | None:
    """The device's memory in bytes; None on a CPU."""
    if not on_accelerator():
        return None
    stats = jax.devices()[0].memory_stats() or {}
    return int(stats.get("bytes_limit", 8 << 30))


def stack_size(shape: Shape, text: Text, lengths: NDArray[np.integer]) -> int:
    """How many networks to train at once: as many as fit; one on a CPU, where stacks do not pay off."""
    memory = device_memory()
    if memory is None:
        return 1
    memory -= text.extra["features"].nbytes if "features" in text.extra else 0
    words, characters, labels = (a.shape[1] for a in (text.train_counts, text.known_characters, text.known_labels))
    longest = padded_length(int(lengths.max(initial=1)))
    return networks_that_fit(shape, words, characters, labels, longest, memory=memory)
