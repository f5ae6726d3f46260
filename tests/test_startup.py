"""Commands start fast: each imports no more than it needs. Imports are counted, since times depend on the machine."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

COMMAND = str(Path(sys.prefix) / "bin" / "deadheat")
SENTENCE = "1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_\n\n"


def imported_modules(arguments: Sequence[str | Path]) -> set[str]:
    """Modules that Python imports when it is started with these arguments."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def third_party(modules: set[str]) -> set[str]:
    """Packages that are neither ours nor Python's; names with an underscore belong to the installer or to a package."""
    packages = {module.partition(".")[0] for module in modules}
    installed = {path.name.partition(".")[0] for folder in sys.path for path in Path(folder).glob("*")}
    return {name for name in packages & installed if name[0] != "_"} - {"deadheat"} - sys.stdlib_module_names


def ours(modules: set[str]) -> list[str]:
    return sorted(module for module in modules if module.partition(".")[0] == "deadheat")


@pytest.mark.parametrize("arguments", [[COMMAND, "--version"], [COMMAND, "--help"], ["-c", "import deadheat"]])
def test_help_and_version_need_python_only(arguments: list[str]) -> None:
    modules = imported_modules(arguments)
    assert third_party(modules) == set()
    assert 1 < len(ours(modules)) <= 8, ours(modules)


def test_a_score_needs_numpy_and_the_compiled_kernels_only(tmp_path: Path) -> None:
    gold, predicted = tmp_path / "gold.conllu", tmp_path / "predicted.conllu"
    gold.write_text(9 * SENTENCE)
    predicted.write_text(4 * SENTENCE + 5 * SENTENCE.replace("INTJ", "NOUN"))
    modules = imported_modules([COMMAND, "score", gold, predicted])
    assert third_party(modules) <= {"numpy", "llvmlite"}
    assert len(ours(modules)) <= 64, ours(modules)
    assert not {"numpy.random", "statistics", "msgspec", "deadheat.splits"} & modules


def test_a_heavy_import_is_noticed() -> None:
    assert third_party(imported_modules(["-c", "import numpy.linalg"])) == {"numpy"}
