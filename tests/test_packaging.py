"""What is installed is what was meant: names, version, pins, and the files in the wheel."""

import ast
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
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
    assert names == {"msgspec", "numpy", "polars", "pydantic", "rich", "scipy", "zstandard"}


def test_the_environment_is_the_pinned_one() -> None:
    pins = pinned_versions()
    needed = required_packages("deadheat", {"dev"})
    assert {"numpy", "pytest", "scikit-learn", "llvmlite"} <= needed
    assert needed <= pins.keys(), f"without a pin: {sorted(needed - pins.keys())}"
    installed = {name: metadata.version(name).partition("+")[0] for name in needed}  # torch: 2.13.0+cpu
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


def build(target: str, folder: Path, **environment: str) -> Path:
    """Build a wheel or an sdist; the kernels of a wheel are taken from the cache if they are there."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env=os.environ | environment, timeout=600)
    (made,) = folder.glob("deadheat-*")
    return made


def test_the_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    with ZipFile(build("wheel", tmp_path, DEADHEAT_KERNELS="none")) as archive:
        files = {name for name in archive.namelist() if ".dist-info/" not in name}
        (described,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith("/METADATA"))
    assert "Requires-Dist: numba>=0.61\n" in described  # without compiled kernels
    sources = (ROOT / "src").rglob("*")
    wanted = {path.relative_to(ROOT / "src").as_posix() for path in sources if path.is_file()}
    assert "deadheat/py.typed" in files
    assert files == {name for name in wanted if "__pycache__" not in name}


def test_the_sdist_can_be_built_from(tmp_path: Path) -> None:
    with tarfile.open(build("sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "hatch_build.py", "CITATION.cff", "LICENSE", "src/deadheat/py.typed"} <= names


def test_the_citation_is_of_this_version() -> None:
    assert f"\nversion: {deadheat.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def empty_environment(folder: Path, wheel: Path) -> Path:
    """An environment with the wheel and what it requires, which is taken from here; the folder of its programs."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=300)
    (packages,) = folder.glob("lib/python*/site-packages")
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(pip, check=True, timeout=300, capture_output=True)
    for name in wheel_requirements(wheel):
        files = [file for file in metadata.files(name) or [] if file.parts[0] not in ("..", "__pycache__")]
        for top in {file.parts[0] for file in files}:
            (packages / top).symlink_to(str(metadata.distribution(name).locate_file(top)))
    return folder / "bin"


def wheel_requirements(wheel: Path) -> set[str]:
    """All packages that a wheel needs without extras, directly or not."""
    with ZipFile(wheel) as archive:
        (text,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith("/METADATA"))
    lines = [line.partition(": ")[2] for line in text.splitlines() if line.startswith("Requires-Dist: ")]
    direct = [Requirement(line) for line in lines]
    names = {canonicalize_name(one.name) for one in direct if one.marker is None or one.marker.evaluate({"extra": ""})}
    return names.union(*(required_packages(name, set()) for name in names))


@pytest.mark.slow
@pytest.mark.skipif(
    not (sys.platform == "linux" and platform.machine() == "x86_64" and shutil.which("cc")),
    reason="kernels are compiled for Linux on x86-64, with a linker",
)
def test_the_wheel_works_without_a_compiler_and_without_the_checkout(tmp_path: Path) -> None:
    wheel = build("wheel", tmp_path / "dist")
    assert wheel.name.endswith("-py3-none-manylinux_2_17_x86_64.whl")
    programs = empty_environment(tmp_path / "environment", wheel)
    environment = {"PATH": os.defpath, "HOME": str(tmp_path), "DEADHEAT_LEDGER": str(tmp_path / "ledger.jsonl")}

    def run(*command: str | Path) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "compiling" not in done.stderr
        return done.stdout

    probe = (
        "import deadheat, importlib.util as u; print(deadheat.__file__, u.find_spec('numba'), u.find_spec('llvmlite'))"
    )
    where, *missing = run(programs / "python", "-c", probe).split()
    assert Path(where).is_relative_to(tmp_path / "environment")
    assert missing == ["None", "None"]
    assert run(programs / "python", "-m", "deadheat", "--version") == f"deadheat {deadheat.__version__}\n"
    shown = run(programs / "deadheat", "demo", "--quiet", "--sentences", "300", "--times", "1", "--seeds", "1")
    assert shown.endswith("The page: deadheat-demo/index.html\n")
    run(programs / "deadheat", "testbed", "--out", "bed", "--sentences", "300", "--language", "velani", "--seeds", "2")
    names = ("velani-ud-test", "predictions/strong.seed0", "predictions/weak.seed0")
    gold, first, second = (f"bed/velani/{name}.conllu" for name in names)
    assert run(programs / "deadheat", "compare", gold, f"A={first}", f"B={second}").startswith(
        "This run of A is better"
    )
    assert not (tmp_path / ".cache" / "deadheat" / "kernels").exists()
