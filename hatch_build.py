"""Build step of wheels: compile the kernels for Linux on x86-64, so that users need no compiler.

Other wheels, editable installations and `DEADHEAT_KERNELS=none` have no compiled kernels, and depend on numba instead.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILER = "numba>=0.61"
TAG = "py3-none-manylinux_2_17_x86_64"
IN_WHEEL = "deadheat/kernels/compiled.so"


class KernelHook(BuildHookInterface):
    """Add the library of kernels to a wheel, or else numba to what it requires."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "standard" or os.environ.get("DEADHEAT_KERNELS") == "none" or not is_common_platform():
            build_data["dependencies"].append(COMPILER)
            return
        library = Path(self.directory, "kernels", "compiled.so")
        library.parent.mkdir(parents=True, exist_ok=True)
        compile_kernels(Path(self.root), library)
        build_data["force_include"][str(library)] = IN_WHEEL
        build_data["pure_python"] = False
        build_data["tag"] = TAG

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        library = Path(self.directory, "kernels", "compiled.so")
        library.unlink(missing_ok=True)
        if library.parent.is_dir():
            library.parent.rmdir()


def is_common_platform() -> bool:
    """Whether the wheel is made on the platform that its kernels are compiled for."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def compile_kernels(root: Path, library: Path) -> None:
    """Compile in a process of its own: numba reads at its import for which processor it compiles."""
    sys.path.insert(0, str(root / "src"))
    try:
        from deadheat.kernels.library import PROCESSOR
    finally:
        sys.path.pop(0)
    environment = {"PYTHONPATH": str(root / "src"), "NUMBA_CPU_NAME": PROCESSOR, "NUMBA_CPU_FEATURES": ""}
    command = [sys.executable, "-m", "deadheat.kernels", str(library)]
    subprocess.run(command, check=True, env={**os.environ, **environment}, stdout=subprocess.DEVNULL)
