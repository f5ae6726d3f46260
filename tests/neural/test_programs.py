"""Programs that are let go of before a process has no room for another."""

from __future__ import annotations

import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")


from deadheat.neural import devices, programs
from deadheat.neural.config import Shape
from deadheat.neural.programs import MAP_LIMIT, Programs, free_programs

SHAPE = Shape(units=(2,), word_size=3, case_size=0, characters="none", classifier="softmax")


@pytest.fixture(autouse=True)
def nothing_else() -> Iterator[None]:
    programs.programs.cache_clear()
    yield
    programs.programs.cache_clear()


def made() -> weakref.ref[Programs]:
    own = programs.programs(SHAPE, 2)
    own.extra = [own]  # as arc-hybrid's programs know those of all networks
    assert programs.programs(SHAPE, 2) is own
    return weakref.ref(own)


@pytest.mark.parametrize(("share", "stays"), [(MAP_LIMIT, True), (MAP_LIMIT + 0.01, False)])
def test_programs_go_when_half_of_the_room_is_taken(share: float, stays: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    there = made()
    monkeypatch.setattr(programs, "memory_map_usage", lambda: share)
    free_programs()
    assert (there() is not None) == stays


def test_a_system_that_does_not_say_how_much_room_there_is_is_no_reason_to_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(devices, "Path", lambda _: Path("/there/is/no/such/file"))
    assert devices.memory_map_usage() == 0.0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says it")
def test_compiled_programs_take_pieces_and_letting_go_gives_them_back() -> None:
    """In a process of its own, which compiles twenty programs."""
    code = """
import jax, jax.numpy as jnp
from deadheat.neural import devices, programs
from deadheat.neural.devices import memory_map_usage
calls = [jax.jit(lambda x, at=at: jnp.sin(x @ x.T).sum(axis=0) * at) for at in range(20)]
for call in calls: call(jnp.ones((3, 3)))
full = memory_map_usage()
programs.MAP_LIMIT = 0.0
calls.clear()
programs.free_programs()
print(full, memory_map_usage())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    before, after = map(float, done.stdout.split())
    assert 0 < after < before
    assert before - after > 20 / 65530 / 2
