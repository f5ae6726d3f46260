"""The kernels that a wheel brings along: a shared library, made when the wheel is built.

It calls nothing but `memset` and the like, so it depends neither on the version of Python nor on a compiler. Each
kernel is found by a name that contains the hash of its source: a kernel that was changed since is not in the library,
and is compiled as if there were none. `docs/design/kernels.md` says why, and for which processors.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("compiled.so")
PROCESSOR = "x86-64-v2"  # every x86-64 processor since 2009; numpy's wheels need the same
COMPILER = "cc"
EXPORTS = "{ global: deadheat_*; local: *; };"


def symbol_of(name: str, identity: str) -> str:
    """The name of a kernel in the library."""
    return f"deadheat_{name}_{identity}"


def find_compiled(symbol: str) -> int | None:
    """The address of a kernel in the library; None if it is not there, or there is no library."""
    library = _library()
    try:
        return None if library is None else ctypes.cast(library[symbol], ctypes.c_void_p).value
    except AttributeError:
        return None


@cache
def _library() -> Any:
    try:
        return ctypes.CDLL(str(FILE))
    except OSError:  # not a wheel, or one for other machines
        return None


def link_library(target: Path, modules: Iterable[tuple[str, str, str]], called: Iterable[str]) -> None:
    """Link kernels into a shared library, each given by its name there, its entry point, and its optimized LLVM code.

    What they call is `called`; every other name leads to the error path that numba wraps around functions, which is
    never taken, and ends in a trap.
    """
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    options = {"cpu": PROCESSOR, "features": "", "opt": 3, "reloc": "pic", "codemodel": "small"}
    machine = llvm.Target.from_default_triple().create_target_machine(**options)
    objects: list[Path] = []
    missing: dict[str, str] = {}
    for at, (symbol, entry, code) in enumerate(modules):
        module = llvm.parse_assembly(code)
        for value in (*module.functions, *module.global_variables):
            if value.name == entry:
                value.name = symbol
            elif not value.is_declaration:
                value.linkage = "internal"
            elif not value.name.startswith("llvm.") and value.name not in called:
                missing[value.name] = "function" if value in module.functions else "variable"
        objects.append(target.with_suffix(f".{at}.o"))
        objects[-1].write_bytes(machine.emit_object(module))
    traps = "\n".join(_trap(name, kind) for name, kind in sorted(missing.items()))
    objects.append(target.with_suffix(".traps.o"))
    objects[-1].write_bytes(machine.emit_object(llvm.parse_assembly(f"declare void @llvm.trap()\n{traps}")))
    exports = target.with_suffix(".exports")
    exports.write_text(EXPORTS)
    flags = ["-shared", "-nostdlib", "-s", "-Wl,-z,noexecstack,-z,relro,-z,now,--build-id=none"]
    command = [COMPILER, *flags, f"-Wl,--version-script={exports}", "-o", str(target), *map(str, objects)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    for path in (*objects, exports):
        path.unlink()


def _trap(name: str, kind: str) -> str:
    if kind == "variable":
        return f'@"{name}" = hidden global ptr null'
    return f'define hidden void @"{name}"() {{\n call void @llvm.trap()\n unreachable\n}}'
