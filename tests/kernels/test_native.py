"""Machine code is made once, kept, and used again only while it is whole and fits."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from deadheat.kernels import cache, native
from deadheat.kernels.native import Kernel, helper, kernel

SCRIPT = """
import sys
import numpy as np
from deadheat.kernels import kernel

@kernel("i8 int")
def count_above(values, bound):
    hits = 0
    for value in values:
        hits += value > bound
    return hits

print(count_above(np.array([1, 5, 9]), 4), "numba" in sys.modules)
"""
BOUND = 4


@helper
def is_large(value: int) -> bool:
    return value > BOUND


def count_large(values: Any) -> int:
    hits = 0
    for value in values:
        hits += is_large(value)
    return hits


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of kernels in a cache that does not exist yet."""
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "kernels"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said when a kernel is compiled, one line each time."""
    said: list[str] = []
    monkeypatch.setattr(native, "announce", lambda name, problem: said.extend(filter(None, (name, problem))))
    return said


def run_fresh(function: Callable[..., int] = count_large) -> int:
    """The answer of a kernel that has not been loaded yet in this process."""
    return Kernel(function, ("i8",))(np.array([1, 5, 9]))


def run_script(path: Path, folder: str) -> str:
    path.write_text(SCRIPT)
    environment = {**os.environ, "DEADHEAT_CACHE": folder}
    done = subprocess.run(
        [sys.executable, str(path)], env=environment, check=True, capture_output=True, text=True, timeout=600
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_the_second_run_does_not_import_the_compiler(tmp_path: Path) -> None:
    first = run_script(tmp_path / "script.py", str(tmp_path / "cache"))
    second = run_script(tmp_path / "script.py", str(tmp_path / "cache"))
    assert (first, second) == ("2 True", "2 False")


def test_a_cache_that_cannot_be_written_means_compiling_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert run_script(tmp_path / "script.py", str(tmp_path / "file" / "cache")) == "2 True"
    assert (tmp_path / "file").read_text() == ""


def test_kept_code_is_used_again(folder: Path, compiled: list[str]) -> None:
    assert [run_fresh(), run_fresh()] == [2, 2]
    assert compiled == ["count_large"]
    assert len(list(folder.iterdir())) == 1


SPOILERS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda code: b"",
    "one byte": lambda code: code[:1],
    "half": lambda code: code[: len(code) // 2],
    "all but one byte": lambda code: code[:-1],
    "rubbish": lambda code: bytes(range(256)) * 16,
    "rubbish at the end": lambda code: code + b"\0",
    "without its checksum": lambda code: code[32:],
    "one bit": lambda code: code[:400] + bytes([code[400] ^ 1]) + code[401:],
    "zeros, as a full disk may leave": lambda code: bytes(len(code)),
}


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(spoil, id=name, marks=[] if name in ("half", "one bit") else pytest.mark.slow)
        for name, spoil in SPOILERS.items()
    ],
)
def test_spoiled_code_is_made_again(spoil: Callable[[bytes], bytes], folder: Path, compiled: list[str]) -> None:
    assert run_fresh() == 2
    (path,) = folder.iterdir()
    good = path.read_bytes()
    path.write_bytes(spoil(good))
    assert run_fresh() == 2
    assert len(compiled) == 2
    assert run_fresh() == 2
    assert len(compiled) == 2


def test_a_folder_in_the_place_of_the_code_is_left_alone(folder: Path, compiled: list[str]) -> None:
    name = f"count_large-{Kernel(count_large, ('i8',))._identity(native._machine())}.o"
    folder.parent.mkdir(0o700)
    folder.mkdir(0o700)
    (folder / name).mkdir()
    assert [run_fresh(), run_fresh()] == [2, 2]
    assert len(compiled) == 2
    assert [path.name for path in folder.iterdir()] == [name]


def test_a_user_without_a_home_compiles_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("DEADHEAT_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    base = cache.cache_folder.__wrapped__()
    monkeypatch.setattr(cache, "cache_folder", lambda: base)
    assert run_fresh() == 2
    assert not base.exists()


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    where = cache.cache_folder.__wrapped__
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("DEADHEAT_CACHE", raising=False)
    assert where() == tmp_path / "deadheat"
    monkeypatch.setenv("DEADHEAT_CACHE", str(tmp_path / "here"))
    assert where() == tmp_path / "here"


def module(tmp_path: Path, name: str, text: str) -> ModuleType:
    """A module made of a text."""
    path = tmp_path / f"{name}.py"
    path.write_text(text)
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The identity of a kernel in a module, whose helper and constant come from two others."""
    for name in ("its_own", "its_helper", "its_constant"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))

    def find(
        body: str = "return double(value)", factor: str = "2", limit: str = "9", types: tuple[str, ...] = ("int",)
    ) -> str:
        module(tmp_path, "its_constant", f"LIMIT = {limit}\n")
        mark = "from deadheat.kernels import helper\n@helper\n"
        module(tmp_path, "its_helper", f"{mark}def double(value):\n    return value * {factor}\n")
        imports = "from its_helper import double\nfrom its_constant import LIMIT\n"
        made = module(tmp_path, "its_own", f"{imports}def act(value):\n    value += LIMIT\n    {body}\n")
        return Kernel(made.act, types)._identity(native._machine())

    return find


def test_the_name_of_kept_code_says_all_that_it_depends_on(
    identity: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = identity()
    assert identity() == plain
    others = [
        identity(body="return double(value) + 1"),
        identity(factor="3"),
        identity(limit="10"),
        identity(types=("i8",)),
    ]
    monkeypatch.setattr(native, "_machine", lambda: b"another processor")
    others.append(identity())
    assert len({plain, *others}) == 6


def test_what_is_typed_at_a_prompt_has_a_name_too(
    identity: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    identity()
    act = sys.modules["its_own"].act
    monkeypatch.delattr(sys.modules["its_own"], "__file__")
    first = Kernel(act, ("int",))._identity()
    assert first == Kernel(act, ("int",))._identity()
    identity(body="return double(value) - 1")
    monkeypatch.delattr(sys.modules["its_own"], "__file__")
    assert first != Kernel(sys.modules["its_own"].act, ("int",))._identity()


def test_arrays_of_another_type_or_with_gaps_are_not_taken() -> None:
    large = Kernel(count_large, ("i8",))
    for wrong in (np.array([1], np.int32), np.arange(9)[::2], [1, 2]):
        with pytest.raises(AssertionError, match="count_large: expected"):
            large(wrong)
    nothing: list[Any] = []
    with pytest.raises(ValueError, match="shorter"):
        large(*nothing)


def test_all_kernels_can_be_made_ready(folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_registry", [])
    large = kernel("i8")(count_large)
    assert native.precompile() == 1
    assert len(list(folder.iterdir())) == len(compiled) == 1
    assert large(np.array([7])) == 1
    assert len(compiled) == 1
