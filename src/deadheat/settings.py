"""Settings: the keyword arguments of a factory, as they are given in a name or a study file."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from deadheat.errors import InputError

LONGEST = 200  # characters of a name in an error
# Annotations that are checked where there is no default: the type, and what it is called in messages.
_TYPES = {
    "int": (int, "an integer"),
    "float": (float, "a number"),
    "str": (str, "text"),
    "bool": (bool, "True or False"),
}


def parse_settings(kind: str, text: str, inside: str) -> dict[str, Any]:
    """The settings in the parentheses of a name."""
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        settings = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}
        if len(settings) < len(call.keywords):  # a setting twice, or `**`
            raise ValueError
        return settings
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError):  # the last two: nested too deeply
        shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
        raise InputError(f"{kind} {shown!r}: invalid settings; expected name=value, ...") from None


def parameters_of(factory: Callable[..., Any], name: str, given: Mapping[str, Any]) -> dict[str, inspect.Parameter]:
    """The settings of a factory; where it takes any (`**settings`), those that are given belong to them."""
    try:
        parameters = dict(inspect.signature(factory).parameters)
    except (TypeError, ValueError):
        raise InputError(f"{name} has no signature; expected a function with settings as keyword arguments") from None
    for key, parameter in list(parameters.items()):
        if parameter.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL):
            raise InputError(f"{name}: {key!r} is a positional argument; expected settings as keyword arguments")
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            del parameters[key]
            others = sorted(given.keys() - parameters.keys())
            parameters |= {other: inspect.Parameter(other, inspect.Parameter.KEYWORD_ONLY) for other in others}
    return parameters


def coerce(parameter: inspect.Parameter, value: object, what: str) -> object:
    """Check that a value has the type of the default, or of the annotation if there is no default.

    Integers are converted to floats where needed, and lists to tuples, which TOML does not have.
    """
    default, annotation = parameter.default, parameter.annotation
    if default is None:
        return value
    kind, expected = type(default), f"a value like {default!r}"
    if default is inspect.Parameter.empty:
        kind, expected = _TYPES.get(getattr(annotation, "__name__", str(annotation)).strip("'\""), (object, ""))
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is tuple and isinstance(value, list):
        return tuple(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        several = "" if kind not in (tuple, list) else "; a list in a study file stands for several values"
        raise InputError(f"{what}={value!r}; expected {expected}{several}")
    return value
