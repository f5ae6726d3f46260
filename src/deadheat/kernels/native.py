"""Load the machine code of a kernel: from the wheel, else from a cache, else compile it with numba.

Importing numba costs 0.3 s of CPU, more than reading and scoring a treebank, and compiling takes seconds. A wheel
brings the kernels along (`library`). Without one, the object code of each kernel is kept in a cache folder and loaded
through llvmlite alone (0.06 s); numba is imported only when a kernel has no cached code for this source, processor and
compiler.
`docs/design/kernels.md` has the measurements.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, update_wrapper
from pathlib import Path
from types import FunctionType
from typing import Any, Generic, ParamSpec, cast

import numpy as np

from deadheat.errors import InputError
from deadheat.kernels.cache import distrust, read_cached, write_cached
from deadheat.kernels.library import PROCESSOR, find_compiled, link_library, symbol_of

P = ParamSpec("P")

FOLDER = "kernels"  # of the cache
LIBRARY_CALLS = ("memset", "memcpy", "memmove", "memcmp", "bcmp")
ERROR_PATH = (
    "numba_gil_ensure", "numba_gil_release", "numba_do_raise", "numba_unpickle", "numba_runtime_build_excinfo_struct",
    "NRT_Free", "NRT_MemInfo_call_dtor", "NRT_incref", "NRT_decref",
)  # fmt: skip

NO_COMPILER = "the compiled kernels of this installation are missing; expected numba: pip install 'deadheat[compile]'"

_CONSTANT = (int, float, tuple, np.generic, np.ndarray)
_helpers: set[Any] = set()
_registry: list[Kernel[...]] = []
_engines: list[Any] = []  # an engine owns the memory of its code, so engines are never released
# The command line may say which kernel is compiled, and why it is not kept; no name: it is done.
announce: Callable[[str, str], None] | None = None


def helper(function: Callable[P, Any]) -> Callable[P, Any]:
    """Mark a function that kernels may call; it stays plain Python for everybody else."""
    _helpers.add(function)
    return function


@helper
def load64(data: Any, at: int) -> Any:
    """Eight bytes from `at` on as one little-endian number; the array must reach seven bytes past the last one used.

    Numba has no such operation: `_jitted` replaces this function by an unaligned load.
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
        """Load the machine code from the cache, or compile it; done once per process."""
        address = find_compiled(self.symbol) or self._load_cached()
        c_types: list[Any] = []
        for dtype in self._dtypes:
            c_types += (ctypes.c_int64,) if dtype is None else (ctypes.c_void_p, ctypes.c_int64)
        self._native = native = ctypes.CFUNCTYPE(ctypes.c_int64, *c_types)(address)
        return cast(Callable[..., int], native)

    def _load_cached(self) -> int:
        name = f"{self.__name__}-{self._identity(_machine())}"
        code = read_cached(FOLDER, f"{name}.o")
        if code is None:
            code = self._compile()
            write_cached(FOLDER, f"{name}.o", code)
        return _link(code, name)

    @property
    def symbol(self) -> str:
        """Its name in the library of a wheel."""
        return symbol_of(self.__name__, self._identity())

    def _identity(self, machine: bytes = b"") -> str:
        """Hash of all that decides the machine code: sources, types, and the compiler and the processor."""
        functions = [cast(FunctionType, self.python)]
        for function in functions:
            functions += [called for called in _helpers_of(function).values() if called not in functions]
        ingredients = sorted({part for function in functions for part in _ingredients(function)})
        parts = [self.__name__.encode(), repr(self.types).encode(), *ingredients, machine]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]

    def _compile(self) -> bytes:
        with announced(self.__name__):
            compiled = self._jit()
        symbol: str = compiled.native_name
        code: bytes = compiled._library._get_compiled_object()
        return symbol.encode() + b"\0" + code

    def portable(self) -> tuple[str, str, str]:
        """The name in the library of a wheel, the entry point, and LLVM code for the processor of such libraries."""
        name = f"{self.__name__}-{self._identity(_compiler())}.ll"
        cached = read_cached(FOLDER, name)
        if cached is None:
            compiled = self._jit()
            cached = f"{compiled.native_name}\0{compiled._library.get_llvm_str()}".encode()
            write_cached(FOLDER, name, cached)
        entry, _, code = cached.decode().partition("\0")
        return self.symbol, entry, code

    def _jit(self) -> Any:
        """The kernel compiled by numba, as a function that C could call."""
        try:
            import numba
        except ImportError:
            raise InputError(NO_COMPILER) from None
        from numba import carray, cfunc
        from numba.core import types as numba_types

        parameters, arguments, c_types = [], [], []
        for i, dtype in enumerate(self._dtypes):
            if dtype is None:
                parameters.append(f"a{i}")
                arguments.append(f"a{i}")
                c_types.append(numba_types.int64)
            else:
                parameters += [f"a{i}", f"size{i}"]
                arguments.append(f"carray(a{i}, size{i})")
                c_types += [numba_types.CPointer(numba.from_dtype(dtype)), numba_types.int64]
        source = f"def entry({', '.join(parameters)}):\n    return inner({', '.join(arguments)})\n"
        namespace: dict[str, Any] = {"inner": _jitted(cast(FunctionType, self.python)), "carray": carray}
        exec(source, namespace)  # the only way to give numba a function of as many arguments as the kernel has
        compiled = cfunc(numba_types.int64(*c_types), nopython=True, error_model="numpy")(namespace["entry"])
        _check_calls(self.__name__, compiled._library.get_llvm_str())
        return compiled


def _check_calls(name: str, assembly: str) -> None:
    """A kernel calls nothing but what `_target` names: no allocation, no mathematics library, no Python."""
    declared = re.findall(r"^declare .*?@\"?([\w.$]+)\"?\(", assembly, re.MULTILINE)
    allowed = LIBRARY_CALLS + ERROR_PATH
    unknown = [call for call in declared if not call.startswith(("llvm.", "Py")) and call not in allowed]
    assert not unknown, f"kernel {name} calls {', '.join(unknown)}"


@contextmanager
def announced(name: str) -> Iterator[None]:
    """Say that a kernel is compiled, and then that it is done."""
    if announce is None:
        yield
        return
    problem = distrust(FOLDER)
    announce(name, f"the cache is not used: {problem}" if problem else "")
    try:
        yield
    finally:
        announce("", "")


def build_library(target: Path) -> int:
    """Compile all kernels into the library of a wheel; returns how many there are."""
    link_library(target, [registered.portable() for registered in _registry], LIBRARY_CALLS)
    return len(_registry)


def precompile() -> int:
    """Compile every kernel that is not yet in the cache; returns how many there are."""
    for registered in _registry:
        registered.load()
    return len(_registry)


@cache
def _machine() -> bytes:
    import llvmlite
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    return f"{llvmlite.__version__} {llvm.get_host_cpu_name()} {features} {sys.maxsize}".encode()


@cache
def _compiler() -> bytes:
    """What decides the code of the library of a wheel besides the sources."""
    import numba

    assert numba.config.CPU_NAME == PROCESSOR, f"numba is to compile for {PROCESSOR} ($NUMBA_CPU_NAME)"
    return f"{numba.__version__} {PROCESSOR}".encode()


@cache
def _target() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # The linker finds nothing by itself and would call address 0: name what compiled loops call (LLVM turns some
    # into calls of these), and let the error paths that numba wraps around every function end in abort.
    library = ctypes.CDLL(None)
    for name in LIBRARY_CALLS + ERROR_PATH:
        function = getattr(library, name if name in LIBRARY_CALLS else "abort")
        llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
    return llvm.Target.from_default_triple()


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


def _ingredients(function: FunctionType) -> tuple[bytes, bytes]:
    """What goes into machine code: the text of a function's module, and constants, which others may define."""
    code = function.__code__
    file = getattr(sys.modules.get(function.__module__), "__file__", None)
    text = Path(file).read_bytes() if file else code.co_code + repr(code.co_consts).encode()
    values = ((name, function.__globals__.get(name)) for name in code.co_names)
    plain = [(name, np.asarray(value).tobytes()) for name, value in values if isinstance(value, _CONSTANT)]
    return text, repr(plain).encode()


def _helpers_of(function: FunctionType) -> dict[str, FunctionType]:
    """The helpers that a function calls, by the names it has for them."""
    names = ((name, function.__globals__.get(name)) for name in function.__code__.co_names)
    return {name: value for name, value in names if isinstance(value, FunctionType) and value in _helpers}


def _jitted(function: FunctionType) -> Any:
    """The function compiled by numba, with the helpers it calls compiled too."""
    import numba

    if function is load64:
        return _unaligned_load()
    compiled = {name: _jitted(called) for name, called in _helpers_of(function).items()}
    copy = FunctionType(function.__code__, {**function.__globals__, **compiled}, function.__name__)
    # Without inlining, every call of a helper passes each array as seven words on the stack.
    return numba.njit(error_model="numpy", forceinline=True)(copy)


@cache
def _unaligned_load() -> Any:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    @intrinsic
    def load(_: Any, data: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
            position = builder.gep(array.data, [arguments[1]])
            word = builder.bitcast(position, ir.IntType(64).as_pointer())
            return builder.load(word, align=1)

        return types.uint64(data, types.int64), generate

    return load
