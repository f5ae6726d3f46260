"""Code of users: functions in their files and packages, named as `mine.py:tagger` or `package.module:tagger`.

A function is identified by the hash of the code it comes from: its file, and the modules beside it that this file
imports. Installed packages are not hashed; their versions are in the provenance of a run.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import linecache
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from deadheat.errors import InputError, NameUnknown, reason
from deadheat.files import FileError, hash_content, read_small

DIGITS = 8  # hexadecimal, of a hash: enough to tell the versions of a file apart
EXPECTED = "expected mine.py:name or package.module:name"
_DIGEST = "__deadheat_digest__"  # an attribute of imported modules
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
    if source.endswith(".py"):
        files = source_files(folder / source)
        module = _import_file(source, files)
    else:
        module, files = _import_module(source, folder, reference)
    if not hasattr(module, name):
        defined = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        raise NameUnknown(f"{source}: function", name, defined)
    return UserFunction(reference, getattr(module, name), getattr(module, _DIGEST), files)


def source_files(path: Path) -> tuple[Path, ...]:
    """A Python file, and the files beside it that it imports, directly or through each other."""
    files: dict[Path, None] = {}
    waiting = [path]
    while waiting:
        file = waiting.pop(0)
        if file not in files:
            files[file] = None
            waiting += _imported_beside(file)
    return tuple(files)


def _imported_beside(file: Path) -> Iterator[Path]:
    """The files that a Python file imports from its own folder."""
    for name in imported_modules(file):
        if (file.parent / f"{name}.py").is_file():
            yield file.parent / f"{name}.py"
        elif (file.parent / name / "__init__.py").is_file():
            yield from sorted((file.parent / name).rglob("*.py"))


def imported_modules(file: Path) -> Iterator[str]:
    """The top-level modules that a Python file imports, each once; what is no Python imports nothing."""
    try:
        tree = ast.parse(_read(file))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested too deeply
        return
    modules: dict[str, None] = {}
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module] if node.module else [alias.name for alias in node.names] if node.level else []
        modules |= dict.fromkeys(name.partition(".")[0] for name in names)
    yield from modules


def hash_files(files: Iterable[Path]) -> str:
    """A short hash of the contents of some files."""
    try:
        return hashlib.sha256("".join(map(hash_file, files)).encode()).hexdigest()[:DIGITS]
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be read ({reason(error)}); expected a file of code") from error


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
        raise InputError(f"{error}; expected a file of code") from error


def _import_file(source: str, files: tuple[Path, ...]) -> ModuleType:
    """The module of a file; it is executed again if the file, or one that it imports, has changed."""
    path, *others = files
    code, digest, name = _read(path), hash_files(files), _module_name(path)
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, _DIGEST, "") == digest:
        return loaded
    imported = set(map(str, others))
    for key in [key for key, value in sys.modules.items() if getattr(value, "__file__", None) in imported]:
        del sys.modules[key]
    if (beside := str(path.parent)) not in sys.path:
        sys.path.append(beside)  # last: a file must not hide a module of Python or of a package
    module = ModuleType(name)
    module.__dict__.update({"__file__": str(path), _DIGEST: digest})
    sys.modules[name] = module
    linecache.checkcache(str(path))
    try:
        exec(compile(code, str(path), "exec"), module.__dict__)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise InputError(f"{source}: cannot be imported ({_describe(error, path)}); {EXPECTED}") from error
    return module


def _module_name(path: Path) -> str:
    """The name of the file, so that what it defines can be pickled; a longer one if another module has that name."""
    name = path.stem
    spec = PathFinder.find_spec(name) if name.isidentifier() else None
    origins = {getattr(sys.modules.get(name), "__file__", str(path)), spec.origin if spec else str(path)}
    if origins == {str(path)} and name.isidentifier() and name not in sys.stdlib_module_names:
        return name
    return f"{name}_{hashlib.sha256(os.fsencode(path)).hexdigest()[:DIGITS]}"


def _import_module(name: str, folder: Path, reference: str) -> tuple[ModuleType, tuple[Path, ...]]:
    """An installed module, or one in a folder, and its files."""
    if not _MODULE.match(name):
        raise InputError(f"{reference!r}; {EXPECTED}")
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        module = importlib.import_module(name)
        file = getattr(module, "__file__", None) or ""
        files = source_files(Path(file)) if file.endswith(".py") else ()
        digest = hash_files(files)
        if getattr(module, _DIGEST, digest) != digest:
            module = importlib.reload(module)
    except InputError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise InputError(f"{reference}: cannot be imported ({_describe(error)}); {EXPECTED}") from error
    setattr(module, _DIGEST, digest)
    return module, files


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
        return function(**settings)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{what}: {_describe(error, files[0] if files else None)}; expected it to be made") from error
