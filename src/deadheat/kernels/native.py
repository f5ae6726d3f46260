"""Compile a kernel with numba once; afterwards load its machine code without importing numba.

Importing numba costs 0.3 s of CPU, more than reading and scoring a treebank. So the object code of each kernel
is kept in a cache folder and loaded through llvmlite alone (0.06 s); numba is imported only when a kernel has
no cached code for this source, processor and compiler. `docs/design/kernels.md` has the measurements.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, update_wrapper
from pathlib import Path
from types import FunctionType
from typing import Any, Generic, ParamSpec

import numpy as np

P = ParamSpec("P")

LIBRARY_CALLS = ("memset", "memcpy", "memmove", "memcmp", "bcmp")
ERROR_PATH = (
    "numba_gil_ensure", "numba_gil_release", "numba_do_raise", "numba_unpickle", "numba_runtime_build_excinfo_struct",
    "NRT_Free", "NRT_MemInfo_call_dtor", "NRT_incref", "NRT_decref",
)  # fmt: skip

_CONSTANT = (int, float, tuple, np.generic, np.ndarray)
_HELPER_MARK = "__deadheat_helper__"
_registry: list[Kernel[...]] = []
announce: Callable[[str], None] | None = None  # the command line may say that a first run compiles


def helper(function: Callable[P, Any]) -> Callable[P, Any]:
    """Mark a function that kernels may call; it stays plain Python for everybody else."""
    setattr(function, _HELPER_MARK, True)
    return function


@helper
def load64(data: Any, at: int) -> Any:
    """Eight bytes from `at` on as one little-endian number; the array must reach seven bytes past the last one used.

    The only thing kernels need that numba has no word for: `_jitted` puts an unaligned load in its place.
    """
    return np.uint64(int.from_bytes(data[at : at + 8].tobytes(), "little"))


def kernel(types: str) -> Callable[[Callable[P, int]], Kernel[P]]:
    """Make a kernel of a function whose arguments have these types.

    A type is a numpy code such as `u1` or `i4` for an array of it, or `int` for a 64-bit integer; the string has one
    per argument. The function returns an integer.
    """

    def make(function: Callable[P, int]) -> Kernel[P]:
        registered = Kernel(function, tuple(types.split()))
        _registry.append(registered)
        return registered

    return make


class Kernel(Generic[P]):
    """A function over arrays that runs as machine code; `.python` is the same in plain Python."""

    __name__: str

    def __init__(self, function: Callable[P, int], types: tuple[str, ...]) -> None:
        self.python = function
        self.types = types
        self._dtypes = tuple(None if kind == "int" else np.dtype(kind) for kind in types)
        self._native: Callable[..., int] | None = None
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **_: P.kwargs) -> int:
        native = self._native or self.load()
        flat: list[int] = []
        for dtype, arg in zip(self._dtypes, args, strict=True):
            if dtype is None:
                flat.append(int(arg))  # type: ignore[call-overload]
                continue
            assert isinstance(arg, np.ndarray), f"{self.__name__}: expected an array"
            assert arg.dtype == dtype and arg.flags.c_contiguous, (
                f"{self.__name__}: expected contiguous {dtype}, got {arg.dtype}"
            )
            flat += (arg.__array_interface__["data"][0], arg.size)
        return native(*flat)

    def load(self) -> Callable[..., int]:
        """Find or make the machine code; done once a process."""
        name = f"{self.__name__}-{self._identity()}"
        path = cache_folder() / f"{name}.o"
        code = _kept(path)
        if code is None:
            code = self._compile()
            _keep(path, code)
        address = _link(code, name)
        native: Callable[..., int] = ctypes.CFUNCTYPE(ctypes.c_int64, *self._c_types())(address)
        self._native = native
        return native

    def _c_types(self) -> list[Any]:
        per_argument = ((ctypes.c_int64,) if d is None else (ctypes.c_void_p, ctypes.c_int64) for d in self._dtypes)
        return [c_type for group in per_argument for c_type in group]

    def _identity(self) -> str:
        """Hash of all that decides the machine code: sources, types, compiler, processor."""
        functions = _with_helpers(self.python)
        ingredients = sorted({part for function in functions for part in _ingredients(function)})
        parts = [self.__name__.encode(), repr(self.types).encode(), *ingredients, _machine()]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]

    def _compile(self) -> bytes:
        import numba
        from numba import carray, cfunc, njit
        from numba.core import types as numba_types

        if announce is not None:
            announce(f"compiling {self.__name__} (first run on this machine only)")
        inner = _jitted(self.python, njit)
        names = [f"a{i}" for i in range(len(self.types))]
        parameters, arguments, c_types = [], [], []
        for name, dtype in zip(names, self._dtypes, strict=True):
            if dtype is None:
                parameters.append(name)
                arguments.append(name)
                c_types.append(numba_types.int64)
            else:
                parameters += [name, f"{name}_size"]
                arguments.append(f"carray({name}, {name}_size)")
                c_types += [numba_types.CPointer(numba.from_dtype(dtype)), numba_types.int64]
        source = f"def entry({', '.join(parameters)}):\n    return inner({', '.join(arguments)})\n"
        namespace: dict[str, Any] = {"inner": inner, "carray": carray}
        exec(source, namespace)  # the only way to give numba a function of as many arguments as the kernel has
        signature = numba_types.int64(*c_types)
        compiled = cfunc(signature, nopython=True, error_model="numpy")(namespace["entry"])
        _check_calls(self.__name__, compiled._library.get_llvm_str())
        code: bytes = compiled._library._get_compiled_object()
        symbol: str = compiled.native_name
        return symbol.encode() + b"\0" + code


def _check_calls(name: str, assembly: str) -> None:
    """A kernel calls nothing but what `_target` names: no allocation, no mathematics library, no Python."""
    declared = re.findall(r"^declare .*?@\"?([\w.$]+)\"?\(", assembly, re.MULTILINE)
    allowed = LIBRARY_CALLS + ERROR_PATH
    strange = [name for name in declared if not name.startswith(("llvm.", "Py")) and name not in allowed]
    assert not strange, f"kernel {name} calls {', '.join(strange)}"


def precompile() -> int:
    """Compile every kernel that is not yet in the cache; returns how many there are."""
    for registered in _registry:
        registered.load()
    return len(_registry)


@cache
def cache_folder() -> Path:
    """Where machine code is kept: `$DEADHEAT_CACHE`, else the user's cache folder."""
    folder = os.environ.get("DEADHEAT_CACHE")
    if folder:
        return Path(folder)
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home
        base = Path(os.devnull)
    return base / "deadheat" / "kernels"


@cache
def _machine() -> bytes:
    import llvmlite
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    return f"{llvmlite.__version__} {llvm.get_host_cpu_name()} {features} {sys.maxsize}".encode()


@cache
def _target() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # The linker finds nothing by itself and would call address 0: name what compiled loops call (LLVM turns some
    # into calls of these), and let the error paths that numba wraps around every function end in abort.
    library = ctypes.CDLL(None)
    for name in LIBRARY_CALLS:
        llvm.add_symbol(name, _address(getattr(library, name)))
    for name in ERROR_PATH:
        llvm.add_symbol(name, _address(library.abort))
    return llvm.Target.from_default_triple()


def _address(function: Any) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


_engines: list[Any] = []  # an engine owns the memory its code lies in: never let go of one


def _link(code: bytes, module_name: str) -> int:
    """Put object code into memory and return the address of its entry point."""
    import llvmlite.binding as llvm

    symbol, _, objects = code.partition(b"\0")
    machine = _target().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(f'; ModuleID = "{module_name}"'), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(objects))
    engine.finalize_object()
    _engines.append(engine)
    address: int = engine.get_function_address(symbol.decode())
    assert address, f"no entry point in the machine code of {module_name}"
    return address


def _kept(path: Path) -> bytes | None:
    """Machine code from the cache, if it is there and whole; the linker would kill the process otherwise."""
    try:
        stored = path.read_bytes()
    except OSError:
        return None
    digest, code = stored[:32], stored[32:]
    return code if hashlib.sha256(code).digest() == digest else None


def _keep(path: Path, code: bytes) -> None:
    """Write to the cache if we may; a read-only home only means compiling again."""
    scratch = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_bytes(hashlib.sha256(code).digest() + code)
        scratch.replace(path)
    except OSError:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)


def _ingredients(function: Callable[..., Any]) -> tuple[bytes, bytes]:
    """What goes into machine code: the text of a function's module, and constants, which others may define."""
    assert isinstance(function, FunctionType)
    code = function.__code__
    file = getattr(sys.modules.get(function.__module__), "__file__", None)
    text = Path(file).read_bytes() if file else code.co_code + repr(code.co_consts).encode()
    values = ((name, function.__globals__.get(name)) for name in code.co_names)
    plain = [(name, np.asarray(value).tobytes()) for name, value in values if isinstance(value, _CONSTANT)]
    return text, repr(plain).encode()


def _helpers_of(function: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    assert isinstance(function, FunctionType)
    if function is load64:
        return {}
    names = ((name, function.__globals__.get(name)) for name in function.__code__.co_names)
    return {name: value for name, value in names if callable(value) and hasattr(value, _HELPER_MARK)}


def _with_helpers(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    reached = [function]
    for caller in reached:
        reached += [called for called in _helpers_of(caller).values() if called not in reached]
    return reached


def _jitted(function: Callable[..., Any], njit: Any) -> Any:
    """The function compiled by numba, with the helpers it calls compiled too."""
    assert isinstance(function, FunctionType)
    if function is load64:
        return _unaligned_load()
    compiled = {name: _jitted(called, njit) for name, called in _helpers_of(function).items()}
    copy = FunctionType(function.__code__, {**function.__globals__, **compiled}, function.__name__)
    # Without inlining, every call of a helper passes each array as seven words on the stack.
    return njit(error_model="numpy", forceinline=True)(copy)


@cache
def _unaligned_load() -> Any:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    @intrinsic
    def load(typing_context: Any, data: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
            position = builder.gep(array.data, [arguments[1]])
            word = builder.bitcast(position, ir.IntType(64).as_pointer())
            return builder.load(word, align=1)

        return types.uint64(data, types.int64), generate

    return load
