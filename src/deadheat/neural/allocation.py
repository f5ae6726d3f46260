"""Memory that is freed and asked for again, step after step."""

from __future__ import annotations

import ctypes

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
