"""Registries of named objects with settings, such as metrics and strategies: `las`, `las.v1(subtypes=True)`.

A name is that of a built-in object, one of an installed package (an entry point), or a function in a user's code:
`mine.py:tagger`. The names of the latter two end in the hash of their code: `mine.py:tagger@3fa94c21(length=3)`.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from deadheat.errors import InputError, NameUnknown
from deadheat.settings import coerce, parameters_of, parse_settings

if TYPE_CHECKING:
    from deadheat.user_code import UserFunction

_CALL = re.compile(
    r"(?P<base>[A-Za-z0-9_-]+|[^():@]+:[A-Za-z_]\w*)(\.v(?P<version>\d+))?(@(?P<digest>[0-9a-f]+))?"
    r"(\((?P<settings>.*)\))?\Z",
    re.DOTALL,
)
BUILT_IN = "Deadheat"


class Named(Protocol):
    """A frozen dataclass with a name and settings."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...


T = TypeVar("T", bound=Named)


class Entry(NamedTuple):
    """Something registered: its name, where it comes from, and its factory, or why it cannot be loaded."""

    name: str
    source: str
    factory: Callable[..., Any] | None
    problem: str = ""

    @property
    def summary(self) -> str:
        """The first line of its documentation."""
        return self.problem or (inspect.getdoc(self.factory) or "").partition("\n")[0]

    @property
    def settings(self) -> dict[str, Any]:
        """Its settings with their defaults."""
        parameters = inspect.signature(self.factory).parameters.values() if self.factory else ()
        return {item.name: item.default for item in parameters if item.kind is not inspect.Parameter.VAR_KEYWORD}


@dataclass(frozen=True, slots=True)
class ParsedName:
    """A name in its parts: `mine.py:tagger@3fa94c21(length=3)`."""

    base: str
    version: str | None
    digest: str
    settings: str

    @classmethod
    def of(cls, text: str) -> ParsedName | None:
        parsed = _CALL.match(text.strip())
        return parsed and cls(parsed["base"], parsed["version"], parsed["digest"] or "", parsed["settings"] or "")


def base_name(name: str) -> str:
    """A name without version, hash and settings; of a function in a user's code, the name of the function.

    Examples
    --------
    >>> base_name("las.v1(subtypes=True)"), base_name("code/mine.py:tagger@3fa94c21(length=3)")
    ('las', 'tagger')
    """
    parsed = ParsedName.of(name)
    return parsed.base.rpartition(":")[2] if parsed else name


def digest_of(name: str) -> str:
    """The hash of the code in a name; empty if there is none."""
    parsed = ParsedName.of(name)
    return parsed.digest if parsed else ""


def code_of(name: str) -> str:
    """A name with the hash of its code, without its settings; empty if it has no hash.

    Examples
    --------
    >>> code_of("mine.py:tagger@3fa94c21(length=3)"), code_of("las.v1(subtypes=True)")
    ('mine.py:tagger@3fa94c21', '')
    """
    head = name.partition("(")[0]
    return head if digest_of(name) else ""


def with_digest(name: str, digest: str) -> str:
    """A name with another hash of its code, or with none.

    Examples
    --------
    >>> with_digest("command.v2(predict='sh tag.sh')", "3fa94c21")
    "command.v2@3fa94c21(predict='sh tag.sh')"
    """
    head, parenthesis, settings = name.partition("(")
    return f"{head.partition('@')[0]}{'@' if digest else ''}{digest}{parenthesis}{settings}"


class Registry(Generic[T]):
    """Factories of one kind of object by versioned name; the keyword arguments of a factory are its settings.

    Packages add to it by entry points of its group, such as `deadheat.metrics`.
    """

    def __init__(self, kind: str, examples: str, *, made: type[T], group: str) -> None:
        self.kind, self._examples, self._made, self._group = kind, examples, made, f"deadheat.{group}"
        self._factories: dict[str, Callable[..., T]] = {}
        self._user_functions: dict[str, UserFunction] = {}  # by name with hash

    def add(self, name: str, *, shared: type | None = None) -> Callable[[Callable[..., T]], Callable[..., T]]:
        """Register a factory as `name.vN`; a change that can change a number needs a new version.

        `shared` is a dataclass of settings that several factories have in common; their first argument is an instance.
        """

        def register(factory: Callable[..., T]) -> Callable[..., T]:
            before = self._factories.get(name)
            assert before is None or _same_place(before, factory), f"{name} is registered twice"
            self._factories[name] = factory if shared is None else _with_shared(factory, shared)
            return factory

        return register

    def __iter__(self) -> Iterator[str]:
        return iter(self._factories)

    def __getitem__(self, name: str) -> Callable[..., T]:
        return self._factories[name]

    def entries(self) -> list[Entry]:
        """All that has a name: what is built in, and what installed packages add."""
        entries = [Entry(name, BUILT_IN, factory) for name, factory in self._factories.items()]
        for name, point in _entry_points(self._group).items():
            package = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
            try:
                self._check_usable(name)
                entries.append(Entry(name, package, _load_entry_point(point.value).value))
            except InputError as error:
                entries.append(Entry(name, package, None, str(error)))
        return entries

    def _check_usable(self, name: str) -> None:
        """Refuse an entry point that no name stands for: it looks like no name, or a built-in object comes first."""
        base = name.rsplit(".v", 1)[0]
        parsed = ParsedName.of(name)
        if parsed is None or parsed.base != base:
            raise InputError(f"{base!r} is not a name; expected letters, digits, '-' and '_'")
        if versions := _versions(base, self._factories):
            raise InputError(f"hidden by {base}.v{versions[-1]} of {BUILT_IN}; expected another name")

    def entry(self, text: str) -> Entry:
        """What a name stands for, as a user writes it: its settings need not be given."""
        name, factory, files = self._factory(self._parse(self.resolve(text)))
        known = {entry.name: entry for entry in reversed(self.entries())}  # the first of a name is what runs
        return known.get(name.partition("@")[0]) or Entry(name, str(files[0]) if files else name, factory)

    def resolve(self, text: str, folder: Path | None = None) -> str:
        """A name as a user writes it, with the hash of the code that it names, which is imported.

        A file is relative to the folder, by default the current one. Names that come from files, such as those in a
        store, must not be resolved: they could name any code.
        """
        parsed = ParsedName.of(text)
        if parsed is None or ":" not in parsed.base or f"{parsed.base}@{parsed.digest}" in self._user_functions:
            return text
        if parsed.version:
            raise InputError(f"{self.kind} {text!r}: a function in a file has no versions; expected {parsed.base}")
        from deadheat.user_code import load_function  # not needed for built-in names

        function = load_function(parsed.base, folder or Path())
        name = f"{parsed.base}@{function.digest}"
        self._user_functions[name] = function
        if parsed.digest not in ("", function.digest):
            raise InputError(f"{self.kind} {text!r}: its code has changed; expected {parsed.base}, which is now {name}")
        return with_digest(text.strip(), function.digest)

    def find(self, text: str, folder: Path | None = None, **more: object) -> T:
        """Make an object from its name as a user writes it: `resolve`, then `make`."""
        return self.make(self.resolve(text, folder), **more)

    def accept(self, name: str, digest: str) -> None:
        """Let code that is loaded also be found under the hash of an earlier state."""
        function = self._user_functions.get(code_of(name))
        if function is not None:
            self._user_functions[with_digest(code_of(name), digest)] = function

    def files_of(self, name: str) -> tuple[Path, ...]:
        """The files of the code that a name stands for; none if it is built in."""
        function = self._user_functions.get(code_of(name))
        return function.files if function else ()

    def check_importable(self, name: str) -> None:
        """Refuse what this program has registered: other processes do not know it, and its code has no hash."""
        _, made_by, files = self._factory(self._parse(name))
        factory = inspect.unwrap(made_by)
        module = getattr(factory, "__module__", "")
        if module.partition(".")[0] != "deadheat" and not files:
            file = inspect.getsourcefile(factory) or f"{module}.py"
            expected = f'expected "{file}:{getattr(factory, "__name__", "")}", which they can import'
            raise InputError(
                f"{self.kind} {name!r} is registered in this process only, and workers lack it; {expected}"
            )

    def make(self, text: str, **more: object) -> T:
        """Make an object from its name with settings; the newest version unless one is named.

        Examples
        --------
        >>> from deadheat.metrics import METRICS
        >>> METRICS.make("LAS").name, METRICS.make("las(subtypes=True)").name
        ('las.v1', 'las.v1(subtypes=True)')
        """
        parsed = self._parse(text)
        name, factory, files = self._factory(parsed)
        values = parse_settings(self.kind, text, parsed.settings)
        if twice := [key for key in values if key in more]:
            raise InputError(
                f"{self.kind} {text!r}: setting {twice[0]!r} is given in the name and beside it; expected one"
            )
        values |= more
        parameters = parameters_of(factory, name, values)
        for setting, value in values.items():
            if setting not in parameters:
                raise NameUnknown(f"setting of {name}", setting, list(parameters))
            values[setting] = coerce(parameters[setting], value, f"{name}: {setting}")
        full = {key: values.get(key, parameter.default) for key, parameter in parameters.items()}
        if missing := [key for key, value in full.items() if value is inspect.Parameter.empty]:
            raise InputError(f"{name}: setting {missing[0]!r} is missing; expected a value")
        changed = {key: value for key, value in values.items() if value != parameters[key].default}
        settings = ", ".join(f"{key}={changed[key]!r}" for key in parameters if key in changed)
        result = _call_own(factory, changed, name, files) if files else factory(**changed)
        if not isinstance(result, self._made):
            returned = f"{parsed.base} returned {type(result).__name__!r}"
            raise InputError(f"{self.kind} {text!r}: {returned}; expected {self._made.__name__!r}")
        return replace(result, name=f"{name}({settings})" if settings else name, settings=full)

    def _parse(self, text: str) -> ParsedName:
        parsed = ParsedName.of(text)
        if parsed is None:
            raise InputError(f"{self.kind} {text!r}; expected a name such as {self._examples}")
        return parsed

    def _factory(self, parsed: ParsedName) -> tuple[str, Callable[..., T], tuple[Path, ...]]:
        """The full name of an object without its settings, its factory, and the files of its code."""
        digest = f"@{parsed.digest}" if parsed.digest else ""
        if ":" in parsed.base:
            name = f"{parsed.base}{digest}"
            if (function := self._user_functions.get(name)) is None:
                raise InputError(f"{self.kind} {name!r} is not loaded; expected code that is named here, unchanged")
            return name, _as_factory(function.value, name), function.files
        name = self._versioned(parsed.base, parsed.version)
        if name in self._factories:
            return f"{name}{digest}", self._factories[name], ()
        function = _load_entry_point(_entry_points(self._group)[name].value)
        if parsed.digest not in ("", function.digest):
            raise InputError(f"{self.kind} {name}@{parsed.digest}: its package has changed; expected {function.digest}")
        full = f"{name}@{function.digest}"
        self._user_functions[full] = function
        return full, _as_factory(function.value, name), function.files or (Path(name),)

    def _versioned(self, base: str, version: str | None) -> str:
        base = base.lower()
        versions = _versions(base, self._factories)
        names = self._factories if versions else {**self._factories, **_entry_points(self._group)}
        versions = versions or _versions(base, names)
        if not versions:
            raise NameUnknown(self.kind, base, [name.rsplit(".v", 1)[0] for name in names])
        number = versions[-1] if version is None else int(version)
        if number not in versions:
            raise NameUnknown(self.kind, f"{base}.v{number}", [f"{base}.v{version}" for version in versions])
        return f"{base}.v{number}"


@functools.cache
def _entry_points(group: str) -> dict[str, Any]:
    """What installed packages add, by versioned name; a name without a version has version 1."""
    from importlib.metadata import entry_points  # not needed for built-in names

    points = {point.name.lower(): point for point in entry_points(group=group)}
    return {name if re.search(r"\.v\d+\Z", name) else f"{name}.v1": point for name, point in points.items()}


@functools.cache
def _load_entry_point(value: str) -> UserFunction:
    from deadheat.user_code import load_function

    return load_function(value.replace(" ", "").partition("[")[0], Path())


def _call_own(factory: Callable[..., Any], settings: dict[str, Any], name: str, files: tuple[Path, ...]) -> Any:
    from deadheat.user_code import call_function

    return call_function(factory, settings, name, files)


def _versions(base: str, names: Mapping[str, Any]) -> list[int]:
    """The versions of a name, in ascending order."""
    return sorted(int(name.rsplit(".v", 1)[1]) for name in names if name.rsplit(".v", 1)[0] == base)


def _as_factory(value: Any, name: str) -> Callable[..., Any]:
    """A user's function, or a function that returns the object that a user has made."""
    if not callable(value) and hasattr(type(value), "__dataclass_fields__"):
        return lambda: value
    if not callable(value):
        raise InputError(f"{name} is {type(value).__name__!r}; expected a function with settings as keyword arguments")
    return value  # type: ignore[no-any-return]


def _same_place(first: Callable[..., Any], second: Callable[..., Any]) -> bool:
    """Whether two functions are the same one, of a module that was imported again."""
    names = [(function.__module__, function.__qualname__) for function in (first, second)]
    return names[0] == names[1] and not names[0][1].endswith("<lambda>")


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
