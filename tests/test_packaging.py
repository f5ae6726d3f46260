"""What is installed is what was meant: names, version, pins, and the files in the wheel."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import deadheat

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def pinned_versions() -> dict[str, str]:
    """Package to version, of every line of constraints.txt; a line that is no exact pin is refused."""
    lines = [line.partition("#")[0].strip() for line in (ROOT / "constraints.txt").read_text().splitlines()]
    pins = [re.fullmatch(r"([\w.-]+)==([\w.]+)", line) or pytest.fail(line) for line in lines if line]
    return {canonicalize_name(pin[1]): pin[2] for pin in pins}


def required_packages(name: str, extras: set[str]) -> set[str]:
    """Every package that one needs here, directly or not, by what the installed packages declare."""
    needed: set[str] = set()
    waiting = [(name, extras)]
    while waiting:
        package, wanted = waiting.pop()
        for line in metadata.requires(package) or []:
            requirement = Requirement(line)
            marker = requirement.marker
            applies = marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *wanted})
            key = canonicalize_name(requirement.name)
            if applies and (key not in needed or requirement.extras):
                needed.add(key)
                waiting.append((key, requirement.extras))
    return needed - {name}


def test_the_version_is_said_once() -> None:
    assert metadata.version("deadheat") == deadheat.__version__


@pytest.mark.parametrize("name", vars(deadheat)["__all__"])
def test_every_public_name_loads(name: str) -> None:
    assert getattr(deadheat, name) is not None
    assert name in dir(deadheat)


def test_the_report_function_survives_the_import_of_the_package_of_the_same_name() -> None:
    import deadheat.reporting.model

    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        deadheat.report(colour="red")  # type: ignore[call-arg]


def test_type_checkers_see_the_names_that_python_loads() -> None:
    tree = ast.parse(Path(deadheat.__file__).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 0]
    seen = {alias.name: node.module for node in imports for alias in node.names if alias.asname}
    assert seen == vars(deadheat)["_HOMES"] | {"__version__": "deadheat.version"}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'deadheat' has no attribute 'scores'"):
        _ = deadheat.scores  # type: ignore[attr-defined]


def test_the_core_is_light() -> None:
    names = {Requirement(line).name for line in PROJECT["dependencies"]}
    assert names == {"msgspec", "numpy", "numba", "polars", "pydantic", "rich", "scipy", "zstandard"}


def test_the_environment_is_the_pinned_one() -> None:
    pins = pinned_versions()
    needed = required_packages("deadheat", {"dev"})
    assert {"numpy", "pytest", "scikit-learn", "llvmlite"} <= needed
    assert needed <= pins.keys(), f"without a pin: {sorted(needed - pins.keys())}"
    installed = {name: metadata.version(name) for name in needed}
    assert installed == {name: pins[name] for name in needed}


def test_whatever_an_extra_asks_for_has_a_pin_it_accepts() -> None:
    pins = pinned_versions()
    lines = PROJECT["dependencies"] + [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
    for requirement in map(Requirement, lines):
        if requirement.name != "deadheat":
            assert pins[canonicalize_name(requirement.name)] in requirement.specifier, str(requirement)


def test_every_folder_of_the_package_is_a_package() -> None:
    folders = {path.parent for path in (ROOT / "src" / "deadheat").rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_the_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, timeout=600)
    (wheel,) = tmp_path.glob("deadheat-*.whl")
    with ZipFile(wheel) as archive:
        files = {name for name in archive.namelist() if ".dist-info/" not in name}
    sources = (ROOT / "src").rglob("*")
    wanted = {path.relative_to(ROOT / "src").as_posix() for path in sources if path.is_file()}
    assert "deadheat/py.typed" in files
    assert files == {name for name in wanted if "__pycache__" not in name}
