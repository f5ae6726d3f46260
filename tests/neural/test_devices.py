"""What the compiler is told."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

import jax

from deadheat.neural.config import AttentionShape, BracketShape, Shape
from deadheat.neural.devices import NO_AUTOTUNING, compile_program, supported

PINNED = "0.10.2"


def test_the_compiler_that_is_pinned_knows_its_options() -> None:
    if jax.__version__ != PINNED:
        pytest.skip(f"jax is {jax.__version__}, and names of options change")
    assert supported(NO_AUTOTUNING) == NO_AUTOTUNING


def test_an_option_of_another_release_is_left_out() -> None:
    assert supported({"xla_gpu_no_such_option": 1, "xla_gpu_autotune_level": 0}) == {"xla_gpu_autotune_level": 0}


@pytest.mark.parametrize(("backend", "shape", "told"), [
    ("gpu", AttentionShape, NO_AUTOTUNING), ("gpu", Shape, None), ("tpu", AttentionShape, None),
    ("cpu", BracketShape, None),
])  # fmt: skip
def test_on_a_gpu_nothing_is_tried_out_for_parsers(
    backend: str, shape: type[Shape], told: dict[str, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []

    def jit(call: Any, **how: Any) -> Any:
        given.append(how)
        return call

    supported(NO_AUTOTUNING)  # what is known is found out with the true compiler
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    monkeypatch.setattr(jax, "jit", jit)
    assert compile_program(abs, tuned=shape.tuned, donate_argnums=(0,))(-1) == 1
    assert given == [{"compiler_options": told, "donate_argnums": (0,)}]
