"""Code of users: functions in their files and packages, named as `mine.py:tagger` or `package.module:tagger`.

A function is identified by the hash of the code it comes from: its file, and the modules beside it that this file
imports. Installed packages are not hashed; their versions are in the provenance of a run.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib
import importlib.util
import linecache
import os
import re
import site
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from deadheat.errors import InputError, NameUnknown, reason
from deadheat.files import FileError, hash_content, read_small
from deadheat.tracebacks import USERS_MODULE

DIGITS = 8  # hexadecimal, of a hash: enough to tell the versions of a file apart
EXPECTED = "expected mine.py:name or package.module:name"
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\Z")


@dataclass(frozen=True, slots=True)
class UserFunction:
    """What a reference such as `mine.py:tagger` stands for; `files` are hashed, the named one first."""

    reference: str
    value: Any
    digest: str
    files: tuple[Path, ...]


def load_function(reference: str, folder: Path) -> UserFunction:
    """Import the file or module of a reference, and return what it names; a file is relative to the folder.

    Raises
    ------
    InputError
        If there is no such file, module or name, or if importing it fails.
    """
    source, _, name = reference.rpartition(":")
    folder = folder.absolute()
    code = _code_of_file(source, folder) if source.endswith(".py") else _code_of_module(source, folder, reference)
    module = code.load(reference)
    if not hasattr(module, name):
        defined = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        raise NameUnknown(f"{source}: function", name, defined)
    return UserFunction(reference, getattr(module, name), getattr(module, USERS_MODULE), code.files)


def source_files(path: Path, root: Path | None = None, package: str = "") -> tuple[Path, ...]:
    """A Python file, and the files that it imports, directly or through each other, from its own folder or `root`.

    Modules of Python and of installed packages are not among them: they are imported even if a file there has the same
    name. `package` restricts the files to those of one package.
    """
    root = root or path.parent
    files: dict[Path, None] = {}
    waiting = [path]
    while waiting:
        file = waiting.pop(0)
        if file not in files:
            files[file] = None
            waiting += _imported_files(file, root, package)
    return tuple(files)


def _imported_files(file: Path, root: Path, package: str) -> Iterator[Path]:
    """The files under a root that a Python file imports."""
    for level, name in _imports(file):
        start = file.parents[level - 1] if level else root
        top = name.partition(".")[0]
        if not level and ((package and top != package) or _is_installed(top, root)):
            continue
        for depth in range(1, name.count(".") + 2):
            part = start.joinpath(*name.split(".")[:depth])
            yield from (path for path in (part.with_name(f"{part.name}.py"), part / "__init__.py") if path.is_file())


def imported_modules(file: Path) -> list[str]:
    """The top-level modules that a Python file imports, each once."""
    return list(dict.fromkeys(name.partition(".")[0] for level, name in _imports(file) if not level))


def _imports(file: Path) -> Iterator[tuple[int, str]]:
    """What a Python file imports, as levels of relative imports and dotted names; what is no Python imports nothing."""
    try:
        tree = ast.parse(_read(file))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested too deeply
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = f"{node.module}." if node.module else ""
            yield from ((node.level, f"{start}{alias.name}") for alias in node.names)  # which may be modules


def _is_installed(name: str, root: Path) -> bool:
    """Whether a top-level module is one of Python or of an installed package, and not just a file under the root."""
    if name in sys.stdlib_module_names:
        return True
    spec = PathFinder.find_spec(name, _installed_path())
    return spec is not None and spec.origin not in {str(root / f"{name}.py"), str(root / name / "__init__.py"), None}


def _installed_path() -> list[str]:
    """The folders of sys.path that packages are installed in: not the current folder, nor that of a script."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    installed = tuple(set(sysconfig.get_paths().values()) | {site.getusersitepackages()})
    return [path for path in sys.path if path and (path in named or path.startswith(installed))]


def hash_files(files: Iterable[Path]) -> str:
    """A short hash of the contents of some files."""
    try:
        return hashlib.sha256("".join(map(hash_file, files)).encode()).hexdigest()[:DIGITS]
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be read ({reason(error)}); expected a Python file") from error


def hash_file(path: Path) -> str:
    """The hash of a file; one that has changed is hashed again."""
    status = path.stat()
    return _hash_file(path, status.st_mtime_ns, status.st_size)


@functools.cache
def _hash_file(path: Path, _changed_ns: int, _size: int) -> str:
    return hash_content(path)


def _read(file: Path) -> bytes:
    try:
        return read_small(file)
    except FileError as error:
        raise InputError(f"{error}; expected a Python file") from error


@dataclass(frozen=True, slots=True)
class _Code:
    """A module of a user: the file that is executed first, and all that belong to it."""

    name: str
    files: tuple[Path, ...]
    root: Path  # that absolute imports are relative to
    is_file: bool  # named by its path

    def load(self, reference: str) -> ModuleType:
        """The module; it is executed again if one of its files has changed."""
        digest = hash_files(self.files)
        loaded = sys.modules.get(self.name)
        if loaded is not None and getattr(loaded, USERS_MODULE, "") == digest and self._is_current(loaded):
            return loaded
        named = {name: file for file in self.files if (name := self._module_of(file))}
        paths = set(map(str, self.files))
        for name, other in list(sys.modules.items()):  # those of another folder, or of an earlier state
            if name == self.name or name in named or getattr(other, "__file__", None) in paths:
                del sys.modules[name]
        _FINDER.add(self.root, named)
        linecache.checkcache()
        importlib.invalidate_caches()
        try:
            with contextlib.redirect_stdout(sys.stderr):  # results alone are on standard output
                module = _execute(self.name, self.files[0]) if self.is_file else importlib.import_module(self.name)
        except BaseException as error:
            sys.modules.pop(self.name, None)
            if isinstance(error, KeyboardInterrupt):
                raise
            problem = _describe(error, self.files[0] if self.is_file else None)
            what = reference.rpartition(":")[0] if self.is_file else reference
            raise InputError(f"{what}: cannot be imported ({problem}); {EXPECTED}") from error
        setattr(module, USERS_MODULE, digest)
        return module

    def _is_current(self, module: ModuleType) -> bool:
        """Whether a module that is loaded is that of this file, and not another one of the same name."""
        return not self.files or getattr(module, "__file__", None) == str(self.files[0])

    def _module_of(self, file: Path) -> str:
        """The name that a file is imported by; empty for the one that is executed by its path."""
        if not file.is_relative_to(self.root) or (self.is_file and file == self.files[0]):
            return ""
        parts = file.relative_to(self.root).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class _Finder:
    """Finds the modules of users' code where it was hashed, whatever has the same name in other folders."""

    def __init__(self) -> None:
        self._files: dict[str, Path] = {}
        self._roots: dict[str, None] = {}

    def add(self, root: Path, modules: Mapping[str, Path]) -> None:
        """Let modules be found; what no file is known to import is looked for in the roots."""
        self._files |= modules
        self._roots = {str(root): None} | self._roots
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """The interface of import."""
        file = self._files.get(name)
        if file is not None:
            return spec_from_file_location(name, file)
        if path is not None or name in sys.stdlib_module_names or PathFinder.find_spec(name, _installed_path()):
            return None
        return PathFinder.find_spec(name, list(self._roots))


_FINDER = _Finder()


def _execute(name: str, path: Path) -> ModuleType:
    """The module of a file, whatever its suffix or name."""
    module = ModuleType(name)
    module.__dict__.update({"__file__": str(path)})
    sys.modules[name] = module
    exec(compile(_read(path), str(path), "exec", dont_inherit=True), module.__dict__)
    return module


def _code_of_file(source: str, folder: Path) -> _Code:
    path = folder / source
    path = Path(os.path.normpath(path))
    return _Code(_module_name(path), source_files(path), path.parent, is_file=True)


def _code_of_module(name: str, folder: Path, reference: str) -> _Code:
    """A module in the folder of a study, or one that is installed."""
    if not _MODULE.match(name):
        raise InputError(f"{reference!r}; {EXPECTED}")
    top = name.partition(".")[0]
    if not _is_installed(top, folder):
        part = folder.joinpath(*name.split("."))
        for path in (part.with_name(f"{part.name}.py"), part / "__init__.py"):
            if path.is_file():
                packages = [
                    folder.joinpath(*name.split(".")[:depth], "__init__.py") for depth in range(1, name.count(".") + 1)
                ]
                files = source_files(path, folder)
                others = [file for package in packages if package.is_file() for file in source_files(package, folder)]
                return _Code(name, tuple(dict.fromkeys([*files, *others])), folder, is_file=False)
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        spec = None
    origin = spec.origin if spec and spec.origin and spec.origin.endswith(".py") else ""
    if not origin:
        return _Code(name, (), folder, is_file=False)
    root = Path(origin).parents[name.count(".") + (Path(origin).stem == "__init__")]
    return _Code(name, source_files(Path(origin), root, top), root, is_file=False)


def _module_name(path: Path) -> str:
    """The name of the file, so that what it defines can be pickled; longer if an installed module has that name."""
    name = path.stem
    if name.isidentifier() and not _is_installed(name, path.parent) and name != "deadheat":
        return name
    return f"{name}_{hashlib.sha256(os.fsencode(path)).hexdigest()[:DIGITS]}"


def _describe(error: BaseException, path: Path | None = None) -> str:
    """An error in one line, with the last line of the file that led to it."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if path and frame.filename == str(path)]
    return f"line {lines[-1]}: {text}" if lines else text


def call_function(function: Callable[..., Any], settings: dict[str, Any], what: str, files: tuple[Path, ...]) -> Any:
    """Call a function of a user; an error in it is one line."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return function(**settings)
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as error:  # it may also want to exit
        raise InputError(f"{what} cannot be called: {_describe(error, files[0] if files else None)}") from error
