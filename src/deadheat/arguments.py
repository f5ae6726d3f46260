"""Arguments of questions: declared once, in the signature of the function, for Python and for the command line.

A parameter that the command line offers is annotated with an `Argument`, as in
`alpha: Annotated[float, Argument("level")] = 0.05`. Its name, type and default are those of the parameter. Arguments
that several questions have are defined in `questions/inputs.py`: the same thing has the same name everywhere.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin, get_type_hints


@dataclass(frozen=True, slots=True)
class Argument:
    """How a parameter appears on the command line."""

    help: str
    short: str = ""  # -m
    aliases: tuple[str, ...] = ()  # other names that go on working: --correct
    flag: str = ""  # where it is not that of the parameter: --left-out
    metavar: str = ""
    choices: Sequence[str] = ()
    repeat: bool = False  # may be given several times
    several: bool = False  # takes several values
    parse: Callable[[str], Any] | None = None


def arguments_of(function: Callable[..., Any]) -> dict[str, tuple[Argument, Any, Any]]:
    """The declared arguments of a function by the names of its parameters, each with type and default."""
    hints = get_type_hints(function, include_extras=True)
    declared = {}
    for name, parameter in inspect.signature(function).parameters.items():
        kind, *extras = get_args(hints.get(name)) or (None,)
        argument = next((extra for extra in extras if isinstance(extra, Argument)), None)
        if argument is not None:
            declared[name] = argument, kind, parameter.default
    return declared


def add_arguments(
    parser: argparse._ActionsContainer, function: Callable[..., Any], *, skip: Sequence[str] = ()
) -> None:
    """Offer the declared arguments of a function that the parser does not have yet."""
    taken = {action.dest for action in parser._actions}
    for name, (argument, kind, default) in arguments_of(function).items():
        if name in taken or name in skip:
            continue
        flag = argument.flag or f"--{name.replace('_', '-')}"
        flags = [*filter(None, [argument.short]), flag, *argument.aliases]
        options: dict[str, Any] = {"dest": name, "help": _help(argument, default)}
        options |= {"required": True} if default is inspect.Parameter.empty else {"default": default}
        if kind is bool:
            options["action"] = "store_true"
        else:
            options |= {"choices": argument.choices} if argument.choices else {"metavar": argument.metavar or "VALUE"}
            options["type"] = argument.parse or _parser(kind)
            options |= {"action": "append", "default": None if default is None else []} if argument.repeat else {}
            options |= {"nargs": "+"} if argument.several else {}
            options |= {} if argument.repeat or argument.several else {"action": _Once}
        parser.add_argument(*flags, **options)


class _Once(argparse.Action):
    """An option that takes one value, and refuses a second one instead of forgetting the first."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        given: set[str] = vars(namespace).setdefault("_given", set())
        if self.dest in given:
            parser.error(f"argument {'/'.join(self.option_strings)}: given twice; expected one value")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


def values_of(
    function: Callable[..., Any], arguments: argparse.Namespace, *, skip: Sequence[str] = ()
) -> dict[str, Any]:
    """What the command line said, as keyword arguments of the function."""
    return {name: getattr(arguments, name) for name in arguments_of(function) if name not in skip}


def whole_number(text: str) -> int:
    """An argument that is 0 or more."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r}; expected a whole number, 0 or more")
    return int(text)


def number_above_zero(text: str) -> int:
    """An argument that is 1 or more."""
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r}; expected a whole number, 1 or more")
    return int(text)


def given_options(
    parser: argparse.ArgumentParser, arguments: argparse.Namespace, *, without: Collection[str] = ()
) -> Iterator[str]:
    """The options of a command line that are not at their defaults, as words of another one.

    They are taken from the parser, so that a new option cannot be forgotten where a command is repeated.
    """
    for action in parser._actions:
        value = getattr(arguments, action.dest, action.default)
        if not action.option_strings or action.dest in without or value == action.default:
            continue
        option = next(option for option in reversed(action.option_strings) if option.startswith("--"))
        if action.nargs == 0:
            yield option
            continue
        for text in map(str, value if isinstance(value, list) else [value]):
            yield from [f"{option}={text}"] if text.startswith("-") else [option, text]


def _parser(kind: Any) -> Callable[[str], Any]:
    """What turns text into a value of a type; of `float | None` the first."""
    members = [member for member in get_args(kind) if member is not type(None)] if get_origin(kind) else []
    kind = members[0] if members else kind
    return kind if kind in (int, float) else str


def _help(argument: Argument, default: Any) -> str:
    if argument.repeat:
        return f"{argument.help} (repeatable)"
    shown = default not in (None, "", (), False, inspect.Parameter.empty) and "default" not in argument.help
    return f"{argument.help} (default: {default})" if shown else argument.help
