"""What the compiler is told."""

from __future__ import annotations

import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

from deadheat.neural.devices import UNTRIED, known


def test_the_compiler_knows_its_options() -> None:
    assert known(UNTRIED) == UNTRIED


def test_an_option_of_another_release_is_left_out() -> None:
    assert known({"xla_gpu_no_such_option": 1, "xla_gpu_autotune_level": 0}) == {"xla_gpu_autotune_level": 0}
