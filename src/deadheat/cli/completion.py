"""`deadheat completion SHELL`: a script that completes commands, options and names, generated from the parsers."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deadheat.cli.main import COMMANDS, command_parser
from deadheat.cli.options import Parser

EXAMPLES = """\
to use it:
  bash   eval "$(deadheat completion bash)"                       in ~/.bashrc
  zsh    eval "$(deadheat completion zsh)"                        in ~/.zshrc, after compinit
  fish   deadheat completion fish > ~/.config/fish/completions/deadheat.fish
It knows the metrics and systems that are installed when it is written."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command, or what its other arguments are if it has no flags."""

    flags: tuple[str, ...]
    help: str
    takes_value: bool
    words: tuple[str, ...] = ()  # its values; without any, files


def completion_parser() -> argparse.ArgumentParser:
    parser = Parser("completion", "Print a script that completes commands, options and names.", epilog=EXAMPLES)
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="the shell to complete in")
    return parser


def run_completion(arguments: argparse.Namespace) -> int:
    print("\n".join(SCRIPTS[arguments.shell](commands())))
    return 0


def commands() -> dict[str, list[Option]]:
    """The options of every command."""
    return {name: list(_options(name)) for name in COMMANDS}


def _options(command: str) -> Iterator[Option]:
    for action in command_parser(command)._actions:
        text = " ".join((action.help or "").replace("%%", "%").split())
        yield Option(tuple(action.option_strings), text, action.nargs != 0, _words(command, action))


def _words(command: str, action: argparse.Action) -> tuple[str, ...]:
    """The values that an argument can have, as far as they are names."""
    from deadheat.corpus.readers import FORMATS
    from deadheat.metrics import METRICS
    from deadheat.systems import SYSTEMS

    if action.choices is not None:
        return tuple(map(str, action.choices))
    if action.dest in ("metric", "metrics"):
        return tuple(entry.name.partition(".")[0] for entry in METRICS.entries())
    if (command, action.dest) == ("systems", "name"):
        return tuple(entry.name.partition(".")[0] for entry in SYSTEMS.entries())
    return ("auto", *FORMATS) if action.option_strings == ["--format"] else ()


def _quoted(words: Sequence[str]) -> str:
    return shlex.quote(" ".join(words))


def bash_script(options_of: dict[str, list[Option]]) -> Iterator[str]:
    """A function for bash; where it finds no words, bash completes names of files."""
    yield from (
        "_deadheat() {",
        "  local word=${COMP_WORDS[COMP_CWORD]} words=",
        "  if [ $COMP_CWORD -eq 1 ]; then",
        f"    words={_quoted([*COMMANDS, 'help'])}",
        '  elif [ "${COMP_WORDS[1]}" = help ]; then',
        f"    words={_quoted(list(COMMANDS))}",
        "  else",
        '    case "${COMP_WORDS[1]} ${COMP_WORDS[COMP_CWORD-1]}" in',
    )
    for command, options in options_of.items():
        for option in options:
            if option.flags and option.takes_value:
                patterns = "|".join(f'"{command} {flag}"' for flag in option.flags)
                yield f"      {patterns}) words={_quoted(option.words)};;"
    yield '      *) case "${COMP_WORDS[1]} $word" in'
    for command, options in options_of.items():
        flags = [flag for option in options for flag in option.flags]
        yield f'        "{command} -"*) words={_quoted(flags)};;'
        if words := [word for option in options if not option.flags for word in option.words]:
            yield f'        "{command} "*) words={_quoted(words)};;'
    yield from (
        "      esac;;",
        "    esac",
        "  fi",
        '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
        "}",
        "complete -o default -F _deadheat deadheat",
    )


def _described(pairs: Sequence[tuple[str, str]]) -> str:
    """Names and their meanings as zsh describes them."""
    return " ".join(shlex.quote(f"{name}:{text}") for name, text in pairs)


def zsh_script(options_of: dict[str, list[Option]]) -> Iterator[str]:
    """A function for zsh, with the help of commands and options beside them."""
    described = _described(list(COMMANDS.items()))
    yield from (
        "#compdef deadheat",
        "_deadheat() {",
        "  local -a names",
        "  if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then",
        f"    names=({described} 'help:explain a command'); _describe command names; return",
        "  fi",
        '  case "$words[2] $words[CURRENT-1]" in',
    )
    for command, options in options_of.items():
        for option in options:
            if option.flags and option.takes_value:
                patterns = "|".join(f'"{command} {flag}"' for flag in option.flags)
                action = f"compadd -- {shlex.join(option.words)}" if option.words else "_files"
                yield f"    ({patterns}) {action}; return;;"
    yield from ("  esac", '  case "$words[2] $PREFIX" in')
    for command, options in options_of.items():
        pairs = [(flag, option.help) for option in options for flag in option.flags]
        yield f'    ("{command} -"*) names=({_described(pairs)}); _describe -o option names; return;;'
        if words := [word for option in options if not option.flags for word in option.words]:
            yield f'    ("{command} "*) compadd -- {shlex.join(words)};;'
    yield from ("  esac", "  _files", "}", "compdef _deadheat deadheat")


def fish_script(options_of: dict[str, list[Option]]) -> Iterator[str]:
    """Rules for fish, with the help of commands and options beside them."""
    for command, question in COMMANDS.items():
        yield f"complete -c deadheat -n __fish_use_subcommand -f -a {command} -d {_fish(question)}"
    yield f"complete -c deadheat -n '__fish_seen_subcommand_from help' -f -a {_fish(' '.join(COMMANDS))}"
    for command, options in options_of.items():
        rule = f"complete -c deadheat -n '__fish_seen_subcommand_from {command}'"
        for option in options:
            flags = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
            words = f" -a {_fish(' '.join(option.words))}" if option.words else ""
            if option.flags:
                value = " -x" if option.words else " -r" * option.takes_value
                yield f"{rule} {flags}{value}{words} -d {_fish(option.help)}"
            elif words:
                yield f"{rule}{words}"


def _fish(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{quoted}'"


SCRIPTS = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}
