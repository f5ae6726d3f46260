from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import deadheat
from deadheat.cli import main as program
from tests.cli.running import Commands


def test_without_arguments_the_help_is_shown(commands: Commands) -> None:
    assert commands().out == commands("--help").out == commands("-h").out


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


@pytest.mark.parametrize(
    "arguments", [["score"], ["score", "gold"], ["info"], ["testbed"], ["score", "a", "b", "--unit", "word"]]
)
def test_wrong_arguments_are_one_line(arguments: list[str], commands: Commands) -> None:
    assert f"see deadheat {arguments[0]} --help" in commands.refused(*arguments)


def test_an_abbreviated_option_is_no_option(commands: Commands) -> None:
    assert "--met" in commands.refused("score", "a", "b", "--met", "las")


def test_a_reader_that_stops_early_is_no_error(gold: Path) -> None:
    command = f"{sys.executable} -m deadheat.cli.main score {gold} {gold} | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr == ""


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
