"""Where networks train, and where their compiled programs are kept from one process to the next."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax

from deadheat.kernels.native import cache_folder
from deadheat.neural.allocation import keep_memory

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
