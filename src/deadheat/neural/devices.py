"""Where networks train, and where their compiled programs are kept from one process to the next."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax

from deadheat.kernels.native import cache_folder
from deadheat.neural.allocation import keep_memory


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
