from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import deadheat
from deadheat.cli import main as program
from tests.cli.running import Commands


def test_help_is_the_same_however_it_is_asked_for(commands: Commands) -> None:
    assert commands("--help").out == commands("-h").out == commands("help").out
    assert commands("help", "score").out == commands("score", "--help").out
    assert commands.refused("help", "scroe") == commands.refused("scroe")


def test_without_arguments_the_next_step_is_shown_for_each_situation(commands: Commands) -> None:
    outcome = commands()
    assert outcome.code == 0
    assert len(outcome.out.splitlines()) < 15
    lines = [line.partition("  deadheat ") for line in outcome.out.splitlines() if "  deadheat " in line]
    examples = {situation.strip(): words.split()[0] for situation, _, words in lines}
    assert examples["predictions"] == examples["a table of scores"] == examples["logs of evaluations"] == "compare"
    assert examples["a study file"] == "run"
    assert set(examples.values()) <= set(program.COMMANDS)


def test_help_names_every_command_and_what_it_answers(commands: Commands) -> None:
    shown = commands("--help").out
    assert all(name in shown and question in shown for name, question in program.COMMANDS.items())


@pytest.mark.parametrize("name", list(program.COMMANDS))
def test_every_command_has_help_of_its_own(name: str, commands: Commands) -> None:
    outcome = commands(name, "--help")
    assert outcome.code == 0
    assert f"usage: deadheat {name}" in outcome.out


def test_the_version_is_told(commands: Commands) -> None:
    assert commands("--version").out == f"deadheat {deadheat.__version__}\n"


def test_an_unknown_command_is_refused_with_the_nearest(commands: Commands) -> None:
    assert commands.refused("scroe") == "deadheat: 'scroe' is not a command; did you mean 'score'?"


def test_an_unknown_unit_is_refused_before_files_are_read(commands: Commands) -> None:
    message = commands.refused("score", "a", "b", "--unit", "word")
    assert message == "unit 'word' is unknown; expected one of auto, sentence, document, token"


@pytest.mark.parametrize(
    "arguments", [["score"], ["score", "gold"], ["info"], ["testbed"], ["score", "a", "b", "--by", "word"]]
)
def test_wrong_arguments_are_one_line(arguments: list[str], commands: Commands) -> None:
    assert f"see deadheat {arguments[0]} --help" in commands.refused(*arguments)


@pytest.mark.parametrize(
    ("option", "suggestion"),
    [
        ("--metrik", "; did you mean '--metric'?"),
        ("--metrik=las", "; did you mean '--metric'?"),
        ("--zzz", ""),
        ("-z", ""),
    ],
)
def test_an_unknown_option_is_refused_with_the_nearest(commands: Commands, option: str, suggestion: str) -> None:
    message = f"deadheat score: unrecognized arguments: {option}{suggestion}; see deadheat score --help"
    assert commands.refused("score", "a", "b", option) == message


def test_an_unknown_setting_is_refused_with_the_nearest(commands: Commands, gold: Path) -> None:
    assert commands.refused("score", gold, gold, "-m", "las(subtype=False)").endswith("did you mean 'subtypes'?")


def test_an_abbreviated_option_is_no_option(commands: Commands) -> None:
    assert "--met" in commands.refused("score", "a", "b", "--met", "las")


def test_a_reader_that_stops_early_is_no_error(gold: Path) -> None:
    command = f"{sys.executable} -m deadheat.cli.main score {gold} {gold} | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.parametrize("option", [(), ("--json",), ("--markdown",)])
def test_notes_and_the_exit_code_do_not_depend_on_the_reader(tmp_path: Path, option: tuple[str, ...]) -> None:
    rows = [f"{item},a,1\n{item},b,{item % 3 % 2}\n" for item in range(60)]
    Path(tmp_path, "items.csv").write_text("item,model,correct\n" + "".join(rows) + "60,a,1\n")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "deadheat.cli.main", "compare", "items.csv", "--fail-if-worse", "b", *option]
    done = subprocess.run(command, cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr.startswith("note: ")
    assert "left out" in done.stderr


def test_an_interrupt_ends_without_a_traceback(commands: Commands, gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("deadheat.cli.corpora.read", interrupted)
    outcome = commands("info", gold)
    assert (outcome.code, outcome.err) == (130, "interrupted\n")


def test_too_little_memory_is_said(commands: Commands, gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("deadheat.cli.corpora.read", full)
    assert commands.refused("info", gold) == "deadheat info: not enough memory for this input"


def break_command(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(arguments: object) -> int:
        raise error

    monkeypatch.setattr("deadheat.cli.registries.run_metrics", fail)


class Panic(BaseException):
    """What compiled libraries raise: no Exception."""


@pytest.mark.parametrize(
    "error",
    [
        OverflowError("int too large\nto convert"),
        RecursionError("maximum recursion depth exceeded"),
        UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
        Panic("called `Option::unwrap()` on a `None` value"),
        AssertionError("x" * 10_000),
    ],
)
def test_a_bug_is_one_line_with_a_saved_traceback(
    error: BaseException, commands: Commands, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    break_command(monkeypatch, error)
    outcome = commands("metrics")
    (saved,) = tmp_path.iterdir()
    assert (outcome.code, outcome.out) == (1, "")
    line, _, rest = outcome.err.partition("\n")
    assert rest == ""
    assert len(line) < 600
    assert line.startswith(f"deadheat metrics: a bug in Deadheat ({type(error).__name__}: ")
    assert line.endswith(f"; please report it with the traceback in {saved}")
    traceback = saved.read_text()
    assert type(error).__name__ in traceback
    assert "in fail" in traceback


def test_a_bug_on_a_full_disk_is_one_line_too(
    commands: Commands, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    break_command(monkeypatch, ZeroDivisionError("division by zero"))
    outcome = commands("metrics")
    assert outcome.code == 1
    assert outcome.err == (
        "deadheat metrics: a bug in Deadheat (ZeroDivisionError: division by zero); its traceback could not be saved\n"
    )


def test_a_file_that_the_system_refuses_is_named(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    break_command(monkeypatch, PermissionError(13, "Permission denied", "results/page.html"))
    assert commands.refused("metrics") == "deadheat metrics: results/page.html: permission denied"


@pytest.mark.parametrize("arguments", ["--help", "--version", "score --help", "metrics", "report --help", "nonsense"])
def test_a_full_disk_is_said_in_one_line(arguments: str) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "deadheat.cli.main", *arguments.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert arguments == "nonsense" or "the output cannot be written (no space left on device)" in done.stderr


def test_long_names_and_many_faults_do_not_fill_the_screen(commands: Commands, tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("x" * 100_000 + ",y\n1,2\n")
    line = commands.refused("contrast", path, "--score", "z", "--factor", "y")
    assert len(line) < 1200
    assert "more characters" in line
    files = [tmp_path / f"{i}.conllu" for i in range(80)]
    for file in files:
        file.write_text("1\ta\n\n")
    outcome = commands("info", *files)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 51
    assert outcome.err.endswith("... and 30 more lines\n")
