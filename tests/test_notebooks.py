"""Notebooks are executed: the outputs that they hold are those of their cells.

    python -m tests.test_notebooks

executes them and stores the outputs. A cell is run as Jupyter runs it, without its packages: what it prints is kept,
and the value of its last line.
"""

import ast
import contextlib
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))


def outputs(source: str, namespace: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Run a cell; its outputs as a notebook stores them."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, f"<cell {count}>", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"<cell {count}>", "eval"), namespace)
    result: list[dict[str, Any]] = []
    if printed.getvalue():
        result.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data = {"text/html": lines(value._repr_html_())} | data
        result.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return result


def lines(text: str) -> list[str]:
    """Text as notebooks store it."""
    return text.splitlines(keepends=True)


def execute(notebook: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The notebook with the outputs of its cells, run in a folder."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    with contextlib.chdir(folder):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                count += 1
                cell = cell | {"execution_count": count}
                cell |= {"outputs": outputs("".join(cell["source"]), namespace, count)}
            cells.append(cell)
    return notebook | {"cells": cells}


def dump(notebook: dict[str, Any]) -> str:
    """A notebook as Jupyter saves it."""
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_holds_the_outputs_of_its_cells(path: Path, tmp_path: Path) -> None:
    stored = json.loads(path.read_text("utf-8"))
    executed = execute(stored, tmp_path)
    for before, after in zip(stored["cells"], executed["cells"], strict=True):
        assert after == before, "".join(before["source"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_saved_as_jupyter_does(path: Path) -> None:
    text = path.read_text("utf-8")
    notebook = json.loads(text)
    assert text == dump(notebook)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    names = [cell["id"] for cell in notebook["cells"]]
    assert len(set(names)) == len(names)
    assert len(text) < 200_000


def test_cells_are_run_as_jupyter_runs_them(tmp_path: Path) -> None:
    sources = [
        "x = 1\nprint(x)\nprint('two')",
        "x",
        "None",
        "class Shown:\n    def _repr_html_(self):\n        return '<b>'",
    ]
    sources += ["[x, x]", "print(3)\nx + 1"]
    cells = [{"cell_type": "code", "source": lines(source)} for source in sources]
    cells.insert(1, {"cell_type": "markdown", "source": ["Text"]})
    result = execute({"cells": cells}, tmp_path)["cells"]
    assert result[0]["outputs"] == [{"name": "stdout", "output_type": "stream", "text": ["1\n", "two\n"]}]
    assert result[1] == {"cell_type": "markdown", "source": ["Text"]}
    assert [output["data"] for output in result[2]["outputs"]] == [{"text/plain": ["1"]}]
    assert (result[2]["execution_count"], result[3]["outputs"], result[4]["outputs"]) == (2, [], [])
    assert [output["output_type"] for output in result[6]["outputs"]] == ["stream", "execute_result"]
    with pytest.raises(ZeroDivisionError):
        execute({"cells": [{"cell_type": "code", "source": ["1 / 0"]}]}, tmp_path)


if __name__ == "__main__":
    for path in NOTEBOOKS:
        with tempfile.TemporaryDirectory() as folder:
            path.write_text(dump(execute(json.loads(path.read_text("utf-8")), Path(folder))), "utf-8")
