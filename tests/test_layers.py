"""Imports point down only, and come from what is declared."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src" / "deadheat").rglob("*.py"))

# From the bottom; names on one line do not import each other.
LAYERS = (
    ("text", "version"),
    ("errors",),
    ("compression", "documents", "registry", "screen"),
    ("kernels",),
    ("corpus", "tables"),
    ("testbed",),
    ("splits",),
    ("metrics",),
    ("trees",),
    ("neural", "stats"),
    ("systems",),
    ("ranking",),
    ("study",),
    ("analyses", "charts"),
    ("terminal",),
    ("pages",),
    ("paper",),
    ("cli",),
)
RANKS = {name: rank for rank, names in enumerate(LAYERS) for name in names}

# Programs the tests compare with; several are GPL.
ORACLES = {
    "baycomp",
    "deepsig",
    "krippendorff",
    "scikit_posthocs",
    "seqeval",
    "sklearn",
    "statsmodels",
    "udapi",
    "udtools",
}
# numba requires one exact version of llvmlite, so a bound of ours could only be in its way; others are named otherwise.
COMES_WITH = {"llvmlite": "numba", "fontTools": "fonttools", "vl_convert": "vl_convert_python"}


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module (or, after `from ... import`, a name that may be one), and where it stands."""

    target: str
    line: int
    at_start: bool  # when the module is imported: not in a function and not for type checkers only

    @property
    def package(self) -> str:
        return self.target.partition(".")[0]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def find_imports(source: str, module: str, *, is_package: bool = False) -> list[Import]:
    """All imports of a module, wherever they stand, with relative ones made absolute."""
    return list(_walk(ast.parse(source), module.split(".") + ["__init__"] * is_package, at_start=True))


def _walk(node: ast.AST, parts: list[str], *, at_start: bool) -> Iterator[Import]:
    for target in _targets(node, parts):
        yield Import(target, getattr(node, "lineno", 0), at_start)
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        negated = isinstance(node.test, ast.UnaryOp)
        for branch, at_run_time in ((node.body, negated), (node.orelse, not negated)):
            for statement in branch:
                yield from _walk(statement, parts, at_start=at_start and at_run_time)
        return
    inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, parts, at_start=at_start and not inside)


def _targets(node: ast.AST, parts: list[str]) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=base, names=names, level=level):
            start = parts[: len(parts) - level] if level else []
            base = ".".join([*start, base] if base else start)
            # `from deadheat import corpus` names a layer; deeper, the base has already said which one it is.
            yield from (f"{base}.{alias.name}" for alias in names) if base == "deadheat" else (base,)
        case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]):
            if ast.unparse(function).rpartition(".")[2] in {"import_module", "__import__"}:
                yield name


def misdirected(source: str, module: str, *, is_package: bool = False) -> list[str]:
    """What is wrong with the imports of one module of ours, one line each."""
    found = find_imports(source, module, is_package=is_package)
    ours = [imported for imported in found if imported.package == "deadheat"]
    if module == "deadheat":
        return [
            f"deadheat:{imported.line}: imports {imported.target} at start-up; only deadheat.version may be"
            for imported in ours
            if imported.at_start and not imported.target.startswith("deadheat.version")
        ]
    layer = module.split(".")[1]
    if layer not in RANKS:
        return [f"{module}: {layer!r} is in no layer; give it a place in LAYERS"]
    complaints = []
    for imported in ours:
        target = imported.target.partition(".")[2].partition(".")[0]
        if target not in RANKS:
            problem = "is in no layer; import from the package that defines it"
        elif target != layer and RANKS[target] >= RANKS[layer]:
            problem = f"is not below {layer!r}"
        else:
            continue
        complaints.append(f"{module}:{imported.line}: {imported.target} {problem}")
    return complaints


def foreign(source: str, module: str) -> list[Import]:
    """What a module imports that is neither ours nor in the standard library."""
    known = {"deadheat", *sys.stdlib_module_names}
    return [imported for imported in find_imports(source, module) if imported.package not in known]


def declared_dependencies() -> set[str]:
    """Names of the packages of the core and of every extra for users."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *(r for name in extras if name != "dev" for r in extras[name])]
    names = (re.match(r"[\w.-]+", requirement) for requirement in requirements)
    return {name[0].replace("-", "_").lower() for name in names if name}


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_imports_point_down(path: Path) -> None:
    complaints = misdirected(path.read_text(), module_name(path), is_package=path.name == "__init__.py")
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_what_is_imported_is_declared(path: Path) -> None:
    declared = declared_dependencies()
    for imported in foreign(path.read_text(), module_name(path)):
        name = COMES_WITH.get(imported.package, imported.package)
        assert imported.package not in ORACLES, f"{path}:{imported.line}: {imported.target} is for tests only"
        assert name in declared, f"{path}:{imported.line}: {imported.target} is not in pyproject.toml"


def test_statistics_need_only_numpy_and_scipy() -> None:
    for path in SOURCES:
        module = module_name(path)
        if module.startswith("deadheat.stats"):
            outside = {imported.package for imported in foreign(path.read_text(), module)}
            assert outside <= {"numpy", "scipy"}, f"{path}: imports {outside}"


UPWARD = {
    "absolute": "import deadheat.cli.main",
    "from": "from deadheat.terminal import table",
    "layer as a name": "from deadheat import terminal",
    "relative": "from ..terminal import table",
    "relative layer as a name": "from .. import terminal",
    "in a function": "def f():\n    from deadheat.terminal import table",
    "in a method": "class A:\n    def f(self):\n        import deadheat.terminal",
    "in a branch": "try:\n    pass\nexcept ImportError:\n    import deadheat.terminal",
    "for types": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from deadheat.terminal import table",
    "by its name": "import importlib\nimportlib.import_module('deadheat.terminal')",
    "through the front door": "from deadheat import score",
    "the whole package": "import deadheat",
    "unknown package": "from deadheat.utils import helper",
}
DOWNWARD = {
    "absolute": "import deadheat.corpus.read",
    "same package": "from deadheat.metrics.metric import METRICS",
    "same package, relative": "from . import registry\nfrom .registry import METRICS",
    "two up": "from .. import corpus\nfrom ..kernels import kernel",
    "error": "from deadheat.errors import InputError",
    "look-alike": "import deadheat_terminal",
}


@pytest.mark.parametrize("source", UPWARD.values(), ids=UPWARD)
def test_an_import_that_does_not_point_down_is_found(source: str) -> None:
    (complaint,) = misdirected(source, "deadheat.metrics.las")
    assert complaint.startswith("deadheat.metrics.las:")


@pytest.mark.parametrize("source", DOWNWARD.values(), ids=DOWNWARD)
def test_an_import_that_points_down_is_accepted(source: str) -> None:
    assert misdirected(source, "deadheat.metrics.las") == []


def test_relative_imports_of_a_package_start_at_itself() -> None:
    assert misdirected("from ..terminal import table", "deadheat.metrics", is_package=True)
    assert misdirected("from .las import las", "deadheat.metrics", is_package=True) == []


def test_neighbours_on_one_layer_do_not_import_each_other() -> None:
    assert misdirected("from deadheat.version import __version__", "deadheat.text")


def test_a_package_without_a_layer_is_found() -> None:
    assert misdirected("", "deadheat.utils.text") == [
        "deadheat.utils.text: 'utils' is in no layer; give it a place in LAYERS"
    ]


@pytest.mark.parametrize(
    ("source", "accepted"),
    [
        ("from deadheat.version import __version__", True),
        ("def __getattr__(name):\n    import deadheat.terminal", True),
        ("if TYPE_CHECKING:\n    from deadheat.questions.score import score", True),
        ("if not TYPE_CHECKING:\n    from deadheat.questions.score import score", False),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    import deadheat.corpus", False),
        ("from deadheat.corpus import read", False),
    ],
)
def test_the_front_door_opens_only_when_asked(source: str, *, accepted: bool) -> None:
    assert (misdirected(source, "deadheat", is_package=True) == []) is accepted


def test_foreign_imports_are_found_wherever_they_stand() -> None:
    source = "import os.path, numpy as np\nfrom deadheat import errors\ndef f():\n    from udtools.cli import main"
    assert [imported.package for imported in foreign(source, "deadheat.stats.power")] == ["numpy", "udtools"]
