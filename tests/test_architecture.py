"""Rules for the source tree: the direction of imports, declared dependencies, and the length of files and functions."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "deadheat"
RECIPES = PACKAGE / "systems" / "recipes"

# From the bottom up. Packages on one line do not import each other.
LAYERS = (
    ("text", "version"),
    ("arguments", "errors"),
    ("compression", "screen", "settings", "tracebacks"),
    ("files",),
    ("user_code",),
    ("registry",),
    ("kernels",),
    ("corpus", "tables"),
    ("testbed",),
    ("splits",),
    ("metrics",),
    ("items",),
    ("trees",),
    ("neural", "stats"),
    ("encoders",),
    ("finetuning",),
    ("systems",),
    ("ranking",),
    ("results",),
    ("study",),
    ("charts",),
    ("questions",),
    ("reporting",),
    ("paper",),
    ("cli",),
    ("__main__",),
)
RANKS = {name: rank for rank, names in enumerate(LAYERS) for name in names}
# A result renders itself (`str(result)`, `result.to_latex()`), and loads the renderer when it does.
DEFERRED_IMPORTS = {("deadheat.results.base", "reporting")}

# Programs that the tests compare with. Several are GPL.
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
# numba and pydantic require one exact version of llvmlite and pydantic_core; the others are imported under another name
# than they are installed.
DISTRIBUTIONS = {
    "llvmlite": "numba",
    "pydantic_core": "pydantic",
    "fontTools": "fonttools",
    "grpc": "grpcio",
    "vl_convert": "vl_convert_python",
}

FILE_LIMIT, FUNCTION_LIMIT, KERNEL_LIMIT = 400, 80, 160  # lines
SOURCE_FILES_LIMIT, SOURCE_LINES_LIMIT = 410, 71_500  # of all of src; to be lowered when it shrinks

_parse = cache(ast.parse)
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Import:
    """An imported module, or a name from `deadheat` that may be one."""

    target: str
    line: int
    at_start: bool  # executed when the module is imported: not in a function, not under TYPE_CHECKING

    @property
    def package(self) -> str:
        return self.target.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Source:
    """A module of the package."""

    name: str
    text: str
    is_package: bool = False

    def imports(self) -> tuple[Import, ...]:
        """All imports, with relative ones made absolute."""
        return _imports(self)

    def foreign_imports(self) -> list[Import]:
        """Imports from neither Deadheat nor the standard library."""
        ours = {"deadheat", *sys.stdlib_module_names}
        return [imported for imported in self.imports() if imported.package not in ours]


@cache
def _imports(source: Source) -> tuple[Import, ...]:
    parts = source.name.split(".") + ["__init__"] * source.is_package
    return tuple(_walk(_parse(source.text), parts, at_start=True))


@cache
def sources() -> tuple[Source, ...]:
    """All modules of the package; the scripts of recipes are none: other people's Pythons run them."""
    modules = []
    for path in sorted(set(PACKAGE.rglob("*.py")) - set(RECIPES.glob("*.py"))):
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        is_package = parts[-1] == "__init__"
        modules.append(Source(".".join(parts[:-1] if is_package else parts), path.read_text(), is_package))
    return tuple(modules)


def _walk(node: ast.AST, parts: list[str], *, at_start: bool) -> Iterator[Import]:
    for target in _targets(node, parts):
        yield Import(target, getattr(node, "lineno", 0), at_start)
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        negated = isinstance(node.test, ast.UnaryOp)
        for branch, at_run_time in ((node.body, negated), (node.orelse, not negated)):
            for statement in branch:
                yield from _walk(statement, parts, at_start=at_start and at_run_time)
        return
    inside = isinstance(node, Function | ast.Lambda)
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, parts, at_start=at_start and not inside)


def _targets(node: ast.AST, parts: list[str]) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=base, names=names, level=level):
            start = parts[: len(parts) - level] if level else []
            base = ".".join([*start, base] if base else start)
            # `from deadheat import corpus` imports a layer; with a longer base the layer is in the base.
            yield from (f"{base}.{alias.name}" for alias in names) if base == "deadheat" else (base,)
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            yield name


def misdirected_imports(source: Source) -> list[str]:
    """Imports that do not point down the layers, one message each."""
    ours = [imported for imported in source.imports() if imported.package == "deadheat"]
    if source.name == "deadheat":
        return [
            f"deadheat:{imported.line}: imports {imported.target} at start-up; only deadheat.version is allowed"
            for imported in ours
            if imported.at_start and not imported.target.startswith("deadheat.version")
        ]
    layer = source.name.split(".")[1]
    if layer not in RANKS:
        return [f"{source.name}: {layer!r} is in no layer; add it to LAYERS"]
    messages = []
    for imported in ours:
        target = imported.target.partition(".")[2].partition(".")[0]
        if target not in RANKS:
            problem = "is in no layer; import from the package that defines it"
        elif target != layer and RANKS[target] >= RANKS[layer] and not _is_deferred(source, target, imported):
            problem = f"is not below {layer!r}"
        else:
            continue
        messages.append(f"{source.name}:{imported.line}: {imported.target} {problem}")
    return messages


def _is_deferred(source: Source, target: str, imported: Import) -> bool:
    return (source.name, target) in DEFERRED_IMPORTS and not imported.at_start


def declared_dependencies() -> set[str]:
    """Packages required by the core and by every extra for users."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *(r for name in extras if name != "dev" for r in extras[name])]
    names = (re.match(r"[\w.-]+", requirement) for requirement in requirements)
    return {name[0].replace("-", "_").lower() for name in names if name}


def long_functions(source: str, limit: int) -> list[str]:
    """Functions with more lines than the limit, docstrings not counted, as `line: name has n lines`."""
    functions = [node for node in ast.walk(_parse(source)) if isinstance(node, Function)]
    lengths = [(node, _line_count(node) - _docstring_lines(node)) for node in functions]
    return [f"{node.lineno}: {node.name} has {lines} lines" for node, lines in lengths if lines > limit]


def _line_count(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _docstring_lines(function: Function) -> int:
    return 0 if ast.get_docstring(function) is None else _line_count(function.body[0])


def check_source_size() -> list[str]:
    """What is too large about `src`: the number of its files, or of their lines."""
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    messages = []
    if len(files) > SOURCE_FILES_LIMIT:
        messages.append(f"src has {len(files)} files; at most {SOURCE_FILES_LIMIT}")
    if lines > SOURCE_LINES_LIMIT:
        messages.append(f"src has {lines} lines; at most {SOURCE_LINES_LIMIT}")
    return messages


def assert_none(messages: list[str]) -> None:
    assert not messages, "\n" + "\n".join(messages)


def test_imports_point_down_the_layers() -> None:
    assert_none([message for source in sources() for message in misdirected_imports(source)])


def test_imported_packages_are_declared_and_no_oracle_is_imported() -> None:
    declared = declared_dependencies()
    messages = []
    for source in sources():
        for imported in source.foreign_imports():
            where = f"{source.name}:{imported.line}: {imported.target}"
            if imported.package in ORACLES:
                messages.append(f"{where} is for tests only")
            elif DISTRIBUTIONS.get(imported.package, imported.package) not in declared:
                messages.append(f"{where} is not in pyproject.toml")
    assert_none(messages)


def test_statistics_need_only_numpy_and_scipy() -> None:
    statistics = [source for source in sources() if source.name.startswith("deadheat.stats")]
    imports = [(source.name, imported) for source in statistics for imported in source.foreign_imports()]
    assert_none([f"{name}: {one.target}" for name, one in imports if one.package not in {"numpy", "scipy"}])


def test_the_source_does_not_grow_unnoticed() -> None:
    assert_none(check_source_size())


def test_files_are_short() -> None:
    messages = []
    for folder in ("src", "tests", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            lines = len(path.read_text().splitlines())
            if lines > FILE_LIMIT:
                messages.append(f"{path.relative_to(ROOT)} has {lines} lines; at most {FILE_LIMIT}")
    assert_none(messages)


def test_functions_are_short() -> None:
    messages = []
    for source in sources():
        limit = KERNEL_LIMIT if source.name.startswith("deadheat.kernels") else FUNCTION_LIMIT
        messages += [f"{source.name}:{message}; at most {limit}" for message in long_functions(source.text, limit)]
    assert_none(messages)


UPWARD = {
    "absolute": "import deadheat.cli.main",
    "from": "from deadheat.reporting import table",
    "layer as a name": "from deadheat import reporting",
    "relative": "from ..reporting import table",
    "relative layer as a name": "from .. import reporting",
    "in a function": "def f():\n    from deadheat.reporting import table",
    "in a method": "class A:\n    def f(self):\n        import deadheat.reporting",
    "in a branch": "try:\n    pass\nexcept ImportError:\n    import deadheat.reporting",
    "for types": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from deadheat.reporting import table",
    "by its name": "import importlib\nimportlib.import_module('deadheat.reporting')",
    "public name": "from deadheat import score",
    "the whole package": "import deadheat",
    "unknown package": "from deadheat.utils import helper",
}
DOWNWARD = {
    "absolute": "import deadheat.corpus.read",
    "same package": "from deadheat.metrics.metric import METRICS",
    "same package, relative": "from . import registry\nfrom .registry import METRICS",
    "two up": "from .. import corpus\nfrom ..kernels import kernel",
    "error": "from deadheat.errors import InputError",
    "similar name": "import deadheat_report",
}


@pytest.mark.parametrize("text", UPWARD.values(), ids=UPWARD)
def test_an_import_that_does_not_point_down_is_found(text: str) -> None:
    (message,) = misdirected_imports(Source("deadheat.metrics.las", text))
    assert message.startswith("deadheat.metrics.las:")


@pytest.mark.parametrize("text", DOWNWARD.values(), ids=DOWNWARD)
def test_an_import_that_points_down_is_accepted(text: str) -> None:
    assert misdirected_imports(Source("deadheat.metrics.las", text)) == []


@pytest.mark.parametrize(
    ("name", "text", "accepted"),
    [
        ("deadheat", "from deadheat.version import __version__", True),
        ("deadheat", "def __getattr__(name):\n    import deadheat.reporting", True),
        ("deadheat", "if TYPE_CHECKING:\n    from deadheat.questions.score import score", True),
        ("deadheat", "if not TYPE_CHECKING:\n    from deadheat.questions.score import score", False),
        ("deadheat", "if TYPE_CHECKING:\n    pass\nelse:\n    import deadheat.corpus", False),
        ("deadheat", "from deadheat.corpus import read", False),
        ("deadheat.metrics", "from ..reporting import table", False),
        ("deadheat.metrics", "from .las import las", True),
        ("deadheat.errors", "from deadheat.arguments import Argument", False),  # on the same layer
        ("deadheat.utils", "", False),  # in no layer
        ("deadheat.results.base", "def f():\n    from deadheat.reporting.terminal import render", True),
        ("deadheat.results.base", "from deadheat.reporting.terminal import render", False),
        ("deadheat.results.base", "def f():\n    from deadheat.paper import kit", False),
        ("deadheat.results.score", "def f():\n    from deadheat.reporting.terminal import render", False),
    ],
)
def test_which_imports_a_module_may_have(name: str, text: str, *, accepted: bool) -> None:
    source = Source(name, text, is_package=name.count(".") < 2)
    assert (misdirected_imports(source) == []) is accepted


def test_foreign_imports_are_found_anywhere() -> None:
    text = "import os.path, numpy as np\nfrom deadheat import errors\ndef f():\n    from udtools.cli import main"
    imports = Source("deadheat.stats.power", text).foreign_imports()
    assert [imported.package for imported in imports] == ["numpy", "udtools"]


def test_a_long_function_is_found_and_its_docstring_is_not_counted() -> None:
    plain = "class A:\n    def f(self):\n" + "        pass\n" * 9
    documented = 'async def g():\n    """One.\n\n    Two.\n    """\n' + "    pass\n" * 9
    assert long_functions(plain, 9) == ["2: f has 10 lines"]
    assert long_functions(plain, 10) == []
    assert long_functions(documented, 9) == ["1: g has 10 lines"]
    assert long_functions(documented, 10) == []
