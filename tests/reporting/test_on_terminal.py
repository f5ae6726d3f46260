"""Real commands in a terminal: tables within its width, and what a pipe gets is what it always got."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.pseudo_terminal import COMMAND, SETTINGS, on_terminal
from tests.study.study_cases import corpus_text

FIGURE = re.compile(r"(?<![\w.])[-+]?\d+\.\d+(?:e-\d+)?(?: - [-+]?\d+\.\d+)?(?: %)?")
FOLDER = "predictions-of-a-system-with-a-long-name"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gold file, two systems of which one is worse, and scores of systems with hostile names."""
    made = tmp_path_factory.mktemp("terminal")
    gold = corpus_text(200)
    (made / FOLDER).mkdir()
    (made / "gold.conllu").write_text(gold)
    (made / FOLDER / "good.conllu").write_text(gold.replace("runs1\truns1\tVERB", "runs1\truns1\tNOUN"))
    (made / "bad.conllu").write_text(gold.replace("\tNOUN\t", "\tVERB\t"))
    scores = [f"t{n},{80 + n % 3},{79 + n % 5},{78 + n % 2}" for n in range(8)]
    (made / "hostile.csv").write_text("\n".join(["set,[red]a[/red],b\x1b[31m\x07,c\x1b]0;x\x1b\\", *scores]) + "\n")
    return made


def piped(*arguments: object, folder: Path, **environment: str) -> str:
    """What a command writes where no terminal is."""
    variables = {name: value for name, value in os.environ.items() if name not in SETTINGS} | environment
    command = [*COMMAND, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, env=variables, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout


SCORE = ("score", "gold.conllu", f"{FOLDER}/good.conllu", "bad.conllu", "-m", "upos", "-m", "las")
COMPARE = ("compare", "gold.conllu", f"good={FOLDER}/good.conllu", "a-bad-one=bad.conllu", "-m", "upos", "--full")


@pytest.mark.parametrize("arguments", [SCORE, COMPARE], ids=["score", "compare"])
@pytest.mark.parametrize("columns", [80, 40])
def test_tables_keep_to_the_width_and_no_figure_is_cut(folder: Path, arguments: tuple[str, ...], columns: int) -> None:
    shown = on_terminal(*arguments, folder=folder, columns=columns)
    assert shown.code == 0
    assert "\x1b[1m" in shown.written
    # Neither the line to quote nor a name in a sentence is broken.
    results = [line for line in shown.lines if not line.startswith(("deadheat 0", "note: ")) and FOLDER not in line]
    assert max(map(cell_len, results)) <= columns
    assert any(set(line) == {"─"} for line in results)
    tables = piped(*arguments, folder=folder).rpartition("\n\n")[0]
    figures = FIGURE.findall(tables)
    assert len(figures) > 5
    text = "\n".join(results)
    for figure in figures:
        assert re.search(rf"(?<![\w.+-]){re.escape(figure)}(?!\w|\.\d)", text), figure


def test_without_colour_there_are_no_codes_and_the_same_text(folder: Path) -> None:
    colored = on_terminal(*COMPARE, folder=folder)
    plain = on_terminal(*COMPARE, folder=folder, environment={"NO_COLOR": "1"})
    assert "\x1b[1;32mgood is better\x1b[0m" in colored.written
    assert "\x1b" not in plain.written
    counts = "note: ledger"  # one evaluation more
    for one, other in zip(plain.lines, colored.lines, strict=True):
        assert one == other or one.startswith(counts)


def test_an_encoding_without_lines_gets_ascii(folder: Path) -> None:
    shown = on_terminal(*SCORE, folder=folder, environment={"PYTHONIOENCODING": "ascii"})
    assert shown.code == 0
    assert shown.written.isascii()
    assert any(set(line) == {"-"} for line in shown.lines)


def test_a_dumb_terminal_gets_what_a_pipe_gets(folder: Path) -> None:
    shown = on_terminal("metrics", folder=folder, environment={"TERM": "dumb"})
    assert shown.written == piped("metrics", folder=folder)


def test_colour_goes_through_a_pipe_when_forced(folder: Path) -> None:
    plain = piped("metrics", folder=folder)
    assert "\x1b" not in plain
    assert "\x1b[1mmetric\x1b[0m" in piped("metrics", folder=folder, FORCE_COLOR="1")
    assert piped("metrics", folder=folder, FORCE_COLOR="1", NO_COLOR="1") == plain
    assert piped("metrics", folder=folder, FORCE_COLOR="0") == plain


@pytest.mark.parametrize("columns", [80, 40, None])
def test_names_are_text_whatever_is_in_them(folder: Path, columns: int | None) -> None:
    arguments = ("rank", "hostile.csv", "--subset-size", "3")
    if columns is None:
        written = piped(*arguments, folder=folder)
    else:
        written = on_terminal(*arguments, folder=folder, columns=columns, environment={"NO_COLOR": "1"}).written
    assert not re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", written)
    for name in ("[red]a[/red]", r"b\x1b[31m\x07", r"c\x1b]0;x\x1b"):
        assert name in written


SEES_RICH = """
import sys
from deadheat.cli.main import main
code = main(sys.argv[1:])
sys.exit(code or 10 * any(name.partition(".")[0] == "rich" for name in sys.modules))
"""


@pytest.mark.parametrize("arguments", [SCORE, COMPARE, ("rank", "hostile.csv", "--subset-size", "3")])
def test_a_pipe_does_not_wait_for_rich(folder: Path, arguments: tuple[str, ...]) -> None:
    variables = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    command = [sys.executable, "-c", SEES_RICH, *arguments]
    assert subprocess.run(command, cwd=folder, env=variables, capture_output=True).returncode == 0
    forced = subprocess.run(command, cwd=folder, env=variables | {"FORCE_COLOR": "1"}, capture_output=True)
    assert forced.returncode == 10  # so it would have been noticed
