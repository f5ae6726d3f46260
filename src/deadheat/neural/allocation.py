"""Memory that is freed and asked for again, step after step; and how many pieces of it a process may have."""

from __future__ import annotations

import ctypes
from pathlib import Path

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
