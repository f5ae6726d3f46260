"""Registries of named objects with settings, such as metrics and strategies: `las`, `las.v1(subtypes=True)`."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from deadheat.errors import InputError, NameUnknown

_CALL = re.compile(r"(?P<name>[A-Za-z0-9_-]+)(\.v(?P<version>\d+))?(\((?P<settings>.*)\))?\Z", re.DOTALL)


class Named(Protocol):
    """A frozen dataclass with a name and settings."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...


T = TypeVar("T", bound=Named)


class Registry(Generic[T]):
    """Factories of one kind of object by versioned name; the keyword arguments of a factory are its settings."""

    def __init__(self, kind: str, examples: str) -> None:
        self.kind, self._examples = kind, examples
        self._factories: dict[str, Callable[..., T]] = {}

    def add(self, name: str, *, shared: type | None = None) -> Callable[[Callable[..., T]], Callable[..., T]]:
        """Register a factory as `name.vN`; a change that can change a number needs a new version.

        `shared` is a dataclass of settings that several factories have in common; their first argument is an instance.
        """

        def register(factory: Callable[..., T]) -> Callable[..., T]:
            assert name not in self._factories, f"{name} is registered twice"
            self._factories[name] = factory if shared is None else _with_shared(factory, shared)
            return factory

        return register

    def __iter__(self) -> Iterator[str]:
        return iter(self._factories)

    def __getitem__(self, name: str) -> Callable[..., T]:
        return self._factories[name]

    def make(self, text: str, **more: object) -> T:
        """Make an object from its name with settings; the newest version unless one is named.

        Examples
        --------
        >>> from deadheat.metrics import METRICS
        >>> METRICS.make("LAS").name, METRICS.make("las(subtypes=True)").name
        ('las.v1', 'las.v1(subtypes=True)')
        """
        parsed = _CALL.match(text.strip())
        if parsed is None:
            raise InputError(f"{self.kind} {text!r}; expected a name such as {self._examples}")
        name = self._versioned(parsed["name"], parsed["version"])
        values = {**_parse_settings(self.kind, text, parsed["settings"] or ""), **more}
        factory = self._factories[name]
        parameters = inspect.signature(factory).parameters
        for setting, value in values.items():
            if setting not in parameters:
                raise NameUnknown(f"setting of {name}", setting, list(parameters))
            values[setting] = _coerce(parameters[setting].default, value, f"{name}: {setting}")
        changed = {key: value for key, value in values.items() if value != parameters[key].default}
        settings = ", ".join(f"{key}={changed[key]!r}" for key in parameters if key in changed)
        result = factory(**changed)
        full = {key: values.get(key, parameter.default) for key, parameter in parameters.items()}
        return replace(result, name=f"{name}({settings})" if settings else name, settings=full)

    def _versioned(self, base: str, version: str | None) -> str:
        base = base.lower()
        versions = sorted(int(name.rsplit(".v", 1)[1]) for name in self._factories if name.rsplit(".v", 1)[0] == base)
        if not versions:
            raise NameUnknown(self.kind, base, [name.rsplit(".v", 1)[0] for name in self._factories])
        number = versions[-1] if version is None else int(version)
        if number not in versions:
            raise NameUnknown(self.kind, f"{base}.v{number}", [f"{base}.v{version}" for version in versions])
        return f"{base}.v{number}"


def _with_shared(factory: Callable[..., T], shared: type) -> Callable[..., T]:
    """Return a factory whose settings are the fields of a dataclass and its own settings."""
    common = inspect.signature(shared).parameters
    specific = list(inspect.signature(factory).parameters.values())[1:]

    @functools.wraps(factory)
    def make(**settings: Any) -> T:
        others = {name: value for name, value in settings.items() if name not in common}
        return factory(shared(**{name: value for name, value in settings.items() if name in common}), **others)

    keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in common.values()]
    make.__signature__ = inspect.Signature([*keywords, *specific])  # type: ignore[attr-defined]
    return make


def _parse_settings(kind: str, text: str, inside: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        settings = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}
        if len(settings) < len(call.keywords):  # a setting twice, or `**`
            raise ValueError
        return settings
    except (SyntaxError, TypeError, ValueError):
        raise InputError(f"{kind} {text!r}: invalid settings; expected name=value, ...") from None


def _coerce(default: object, value: object, what: str) -> object:
    """Check that a value has the type of the default; integers are converted to floats where needed."""
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if default is not inspect.Parameter.empty and not isinstance(value, type(default)):
        raise InputError(f"{what}={value!r}; expected a value like {default!r}")
    return value
