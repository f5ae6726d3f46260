"""A reader finishes a file in one sitting."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted(path for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
FILE_LIMIT, FUNCTION_LIMIT, KERNEL_LIMIT = 400, 80, 160

Function = ast.FunctionDef | ast.AsyncFunctionDef


def long_functions(source: str, limit: int) -> list[str]:
    """Functions of more lines than the limit, as `line: name has n lines`."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, Function)]
    lengths = {function: count_lines(function) for function in functions}
    return [f"{node.lineno}: {node.name} has {lines} lines" for node, lines in lengths.items() if lines > limit]


def count_lines(function: Function) -> int:
    """Lines from `def` to the last one, without the docstring."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    if ast.get_docstring(function) is not None:
        docstring = function.body[0]
        lines -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
    return lines


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_a_file_is_short_enough(path: Path) -> None:
    lines = len(path.read_text().splitlines())
    assert lines <= FILE_LIMIT, f"{relative(path)} has {lines} lines; what is the second idea in it?"


@pytest.mark.parametrize("path", [path for path in FILES if "src" in path.parts], ids=relative)
def test_functions_are_short_enough(path: Path) -> None:
    limit = KERNEL_LIMIT if relative(path).startswith("src/deadheat/kernels/") else FUNCTION_LIMIT
    assert long_functions(path.read_text(), limit) == []


def test_a_long_function_is_found_and_its_docstring_is_free() -> None:
    plain = "class A:\n    def f(self):\n" + "        pass\n" * 9
    described = 'async def g():\n    """One.\n\n    Two.\n    """\n' + "    pass\n" * 9
    assert long_functions(plain, 9) == ["2: f has 10 lines"]
    assert long_functions(plain, 10) == []
    assert long_functions(described, 9) == ["1: g has 10 lines"]
    assert long_functions(described, 10) == []
