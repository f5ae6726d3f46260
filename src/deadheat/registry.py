"""Things by name with settings, such as metrics and ways to split: `las`, `LAS`, `las.v1`, `las.v1(subtypes=True)`."""

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
    """A frozen dataclass that carries its name and its settings."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...


T = TypeVar("T", bound=Named)


class Registry(Generic[T]):
    """Makers of one kind of thing by versioned name. The keyword arguments of a maker are the settings of the thing."""

    def __init__(self, kind: str, examples: str) -> None:
        self.kind, self._examples = kind, examples
        self._makers: dict[str, Callable[..., T]] = {}

    def add(self, name: str, *, shared: type | None = None) -> Callable[[Callable[..., T]], Callable[..., T]]:
        """Register a maker as `name.vN`; a change that can move a number is a new version.

        Settings that several makers have are the fields of a dataclass: their first argument is one of it.
        """

        def register(maker: Callable[..., T]) -> Callable[..., T]:
            assert name not in self._makers, f"{name} is registered twice"
            self._makers[name] = maker if shared is None else _sharing(maker, shared)
            return maker

        return register

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __getitem__(self, name: str) -> Callable[..., T]:
        return self._makers[name]

    def make(self, text: str, **more: object) -> T:
        """A thing from its name with settings; the newest version unless one is named.

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
        given = {**_settings(self.kind, text, parsed["settings"] or ""), **more}
        maker = self._makers[name]
        known = inspect.signature(maker).parameters
        for setting, value in given.items():
            if setting not in known:
                raise NameUnknown(f"setting of {name}", setting, list(known))
            given[setting] = _like(known[setting].default, value, f"{name}: {setting}")
        changed = {key: value for key, value in given.items() if value != known[key].default}
        settings = ", ".join(f"{key}={changed[key]!r}" for key in known if key in changed)
        made = maker(**changed)
        full = {key: given.get(key, parameter.default) for key, parameter in known.items()}
        return replace(made, name=f"{name}({settings})" if settings else name, settings=full)

    def _versioned(self, base: str, version: str | None) -> str:
        base = base.lower()
        versions = sorted(int(name.rsplit(".v", 1)[1]) for name in self._makers if name.rsplit(".v", 1)[0] == base)
        if not versions:
            raise NameUnknown(self.kind, base, [name.rsplit(".v", 1)[0] for name in self._makers])
        chosen = versions[-1] if version is None else int(version)
        if chosen not in versions:
            raise NameUnknown(self.kind, f"{base}.v{chosen}", [f"{base}.v{each}" for each in versions])
        return f"{base}.v{chosen}"


def _sharing(maker: Callable[..., T], shared: type) -> Callable[..., T]:
    """A maker whose settings are the fields of a dataclass and its own."""
    common = inspect.signature(shared).parameters
    own = list(inspect.signature(maker).parameters.values())[1:]

    @functools.wraps(maker)
    def made(**given: Any) -> T:
        rest = {name: value for name, value in given.items() if name not in common}
        return maker(shared(**{name: value for name, value in given.items() if name in common}), **rest)

    keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in common.values()]
    made.__signature__ = inspect.Signature([*keywords, *own])  # type: ignore[attr-defined]
    return made


def _settings(kind: str, text: str, inside: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        given = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}
        if len(given) < len(call.keywords):  # one of them twice, or `**`
            raise ValueError
        return given
    except (SyntaxError, TypeError, ValueError):
        raise InputError(f"{kind} {text!r}: settings are unreadable; expected name=value, ...") from None


def _like(default: object, value: object, what: str) -> object:
    """A value of the kind of the default; a whole number will do where others are expected."""
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if default is not inspect.Parameter.empty and not isinstance(value, type(default)):
        raise InputError(f"{what}={value!r}; expected a value like {default!r}")
    return value
