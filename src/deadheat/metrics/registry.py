"""Metrics by name: `las`, `LAS`, `las.v1`, `las.v1(subtypes=True)`."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from deadheat.errors import InputError, NameUnknown
from deadheat.metrics.metric import Metric

_CALL = re.compile(r"(?P<name>[A-Za-z0-9_-]+)(\.v(?P<version>\d+))?(\((?P<settings>.*)\))?\Z", re.DOTALL)

Maker = Callable[..., Metric]


class Registry:
    """Makers of metrics by versioned name. The keyword arguments of a maker are the settings of its metric."""

    def __init__(self) -> None:
        self._makers: dict[str, Maker] = {}

    def add(self, name: str) -> Callable[[Maker], Maker]:
        """Register a maker as `name.vN`; a change that can move a number is a new version."""

        def register(maker: Maker) -> Maker:
            assert name not in self._makers, f"{name} is registered twice"
            self._makers[name] = maker
            return maker

        return register

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __getitem__(self, name: str) -> Maker:
        return self._makers[name]

    def make(self, text: str, **more: object) -> Metric:
        """A metric from its name with settings; the newest version unless one is named.

        Examples
        --------
        >>> from deadheat.metrics import METRICS
        >>> METRICS.make("LAS").name, METRICS.make("las(subtypes=True)").name
        ('las.v1', 'las.v1(subtypes=True)')
        """
        parsed = _CALL.match(text.strip())
        if parsed is None:
            raise InputError(f"metric {text!r}; expected a name such as las, las.v1 or las.v1(subtypes=True)")
        name = self._versioned(parsed["name"], parsed["version"])
        given = {**_settings(text, parsed["settings"] or ""), **more}
        maker = self._makers[name]
        known = inspect.signature(maker).parameters
        for setting, value in given.items():
            if setting not in known:
                raise NameUnknown(f"setting of {name}", setting, list(known))
            _check_kind(name, setting, value, known[setting].default)
        changed = {key: value for key, value in given.items() if value != known[key].default}
        settings = ", ".join(f"{key}={changed[key]!r}" for key in known if key in changed)
        made = maker(**changed)
        full = {key: given.get(key, parameter.default) for key, parameter in known.items()}
        return replace(made, name=f"{name}({settings})" if settings else name, settings=full)

    def _versioned(self, base: str, version: str | None) -> str:
        base = base.lower()
        versions = sorted(int(name.rsplit(".v", 1)[1]) for name in self._makers if name.rsplit(".v", 1)[0] == base)
        if not versions:
            raise NameUnknown("metric", base, [name.rsplit(".v", 1)[0] for name in self._makers])
        chosen = versions[-1] if version is None else int(version)
        if chosen not in versions:
            raise NameUnknown("metric", f"{base}.v{chosen}", [f"{base}.v{each}" for each in versions])
        return f"{base}.v{chosen}"


def _settings(text: str, inside: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        given = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}
        if len(given) < len(call.keywords):  # one of them twice, or `**`
            raise ValueError
        return given
    except (SyntaxError, TypeError, ValueError):
        raise InputError(f"metric {text!r}: settings are unreadable; expected name=value, ...") from None


def _check_kind(name: str, setting: str, value: object, default: object) -> None:
    if default is not inspect.Parameter.empty and not isinstance(value, type(default)):
        raise InputError(f"{name}: {setting}={value!r}; expected a value like {default!r}")


METRICS = Registry()
