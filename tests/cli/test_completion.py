"""The completion scripts, in the shells that they are for; a shell that is not installed is skipped."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from deadheat.cli.main import COMMANDS, command_parser
from tests.cli.running import Commands


@pytest.fixture
def scripts(commands: Commands, tmp_path: Path) -> Path:
    """A folder with the script of every shell, and a file that could be completed."""
    for shell in ("bash", "zsh", "fish"):
        (tmp_path / shell).write_text(commands("completion", shell).out)
    (tmp_path / "gold.conllu").write_text("")
    return tmp_path


def need(shell: str) -> str:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    return program


def bash_words(folder: Path, *words: str) -> list[str]:
    """What bash offers for the last word."""
    given = " ".join(f"'{word}'" for word in words)
    script = f"source ./bash; COMP_WORDS=({given}); COMP_CWORD={len(words) - 1}; _deadheat; "
    script += "printf '%s\\n' \"${COMPREPLY[@]}\""
    done = subprocess.run(
        [need("bash"), "--norc", "-c", script], cwd=folder, check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands_options_and_names(scripts: Path) -> None:
    assert bash_words(scripts, "deadheat", "co") == ["compare", "contrast", "convert", "completion"]
    assert bash_words(scripts, "deadheat", "help", "dem") == ["demo"]
    assert bash_words(scripts, "deadheat", "score", "gold", "--metr") == ["--metric"]
    assert bash_words(scripts, "deadheat", "score", "gold", "--metric", "bl") == ["blex"]
    assert bash_words(scripts, "deadheat", "score", "gold", "-m", "bl") == ["blex"]
    assert bash_words(scripts, "deadheat", "score", "--interval", "") == ["clustered", "bootstrap", "wilson"]
    assert bash_words(scripts, "deadheat", "systems", "look") == ["lookahead"]
    assert bash_words(scripts, "deadheat", "ledger", "gu") == ["guard"]
    assert bash_words(scripts, "deadheat", "completion", "f") == ["fish"]


def test_bash_leaves_files_to_readline(scripts: Path) -> None:
    assert bash_words(scripts, "deadheat", "score", "gold.") == []
    assert bash_words(scripts, "deadheat", "score", "--train", "gold.") == []
    assert (scripts / "bash").read_text().endswith("\ncomplete -o default -F _deadheat deadheat\n")


@pytest.mark.slow
def test_bash_knows_every_option_of_every_command(scripts: Path) -> None:
    for command in COMMANDS:
        flags = [flag for action in command_parser(command)._actions for flag in action.option_strings]
        assert bash_words(scripts, "deadheat", command, "-") == flags


def test_fish_completes_commands_options_and_names(scripts: Path) -> None:
    def offered(line: str) -> list[str]:
        command = [need("fish"), "--no-config", "-c", f"source ./fish; complete -C '{line}'"]
        done = subprocess.run(command, cwd=scripts, check=True, capture_output=True, text=True, timeout=60)
        assert done.stderr == ""
        return [text.partition("\t")[0] for text in done.stdout.splitlines()]

    assert offered("deadheat dem") == ["demo"]
    assert offered("deadheat score --metr") == ["--metric"]
    assert offered("deadheat score --metric bl") == ["blex"]
    assert offered("deadheat score gold.") == ["gold.conllu"]


# zsh completes in its editor only: keys are typed at a pseudo-terminal, and what the line becomes is printed.
ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; source ./zsh; print ready=1"
zpty -r -m shell ignored '*ready=1*ready=1*'
zpty -w -n shell "deadheat $1"$'\t'$'\x01'"print -r -- line="$'\n'
zpty -r -m shell shown $'*\nline=*\n*'
print -r -- "$shown"
"""


@pytest.mark.parametrize(
    ("typed", "completed"),
    [("dem", "demo"), ("score --metr", "score --metric"), ("score --metric bl", "score --metric blex"),
     ("score gold.", "score gold.conllu")],
)  # fmt: skip
def test_zsh_completes_commands_options_and_names(scripts: Path, typed: str, completed: str) -> None:
    command = [need("zsh"), "-f", "-c", ZSH, "zsh", typed]
    done = subprocess.run(command, cwd=scripts, check=True, capture_output=True, text=True, timeout=60)
    assert f"line=deadheat {completed}" in done.stdout


def test_an_unknown_shell_is_refused(commands: Commands) -> None:
    assert "invalid choice: 'tcsh' (choose from" in commands.refused("completion", "tcsh")
