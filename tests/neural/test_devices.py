"""Options of the compiler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

import jax

from deadheat.kernels import cache
from deadheat.neural import devices
from deadheat.neural.devices import NO_AUTOTUNING, compile_program, is_supported

PINNED = "0.10.2"


def test_the_pinned_compiler_has_all_options() -> None:
    if jax.__version__ != PINNED:
        pytest.skip(f"jax is {jax.__version__}, and names of options change")
    assert all(is_supported(*option) for option in NO_AUTOTUNING.items())


def test_an_option_of_another_release_is_not_supported() -> None:
    assert is_supported("xla_gpu_autotune_level", 0)
    assert not is_supported("xla_gpu_no_such_option", 1)


@pytest.mark.parametrize(("backend", "expected"), [("gpu", NO_AUTOTUNING), ("tpu", None), ("cpu", None)])
def test_programs_are_not_autotuned_on_a_gpu(
    backend: str, expected: dict[str, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []

    def jit(call: Any, **how: Any) -> Any:
        given.append(how)
        return call

    for option in NO_AUTOTUNING.items():
        is_supported(*option)  # cached, as the real compiler answers
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    monkeypatch.setattr(jax, "jit", jit)
    assert compile_program(abs, donate_argnums=(0,))(-1) == 1
    assert given == [{"compiler_options": expected, "donate_argnums": (0,)}]


@pytest.mark.parametrize("ours", [True, False])
def test_programs_on_disk_have_a_limit_but_in_a_folder_of_somebody_else(
    ours: bool,  # noqa: FBT001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path / "cache")
    folder = cache.create_folder("networks") if ours else tmp_path / "other"
    assert folder is not None
    folder.mkdir(exist_ok=True)
    (folder / "program").write_bytes(b"x" * 100)
    monkeypatch.setattr(devices, "PROGRAMS_ON_DISK", 50)
    before = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    jax.config.update("jax_compilation_cache_dir", str(folder))  # type: ignore[no-untyped-call]
    try:
        devices.trim_programs()
    finally:
        jax.config.update("jax_compilation_cache_dir", before)  # type: ignore[no-untyped-call]
    assert (folder / "program").exists() != ours
