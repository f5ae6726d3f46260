"""`python -m deadheat.kernels`: compile all kernels now, so that no command has to wait for it.

With the name of a file, they go into a shared library of this name, which a wheel brings along.
"""

import pkgutil
import sys
from importlib import import_module
from pathlib import Path

import deadheat.kernels
from deadheat.kernels.native import build_library

for module in pkgutil.iter_modules(deadheat.kernels.__path__):
    if module.name != "__main__":
        import_module(f"deadheat.kernels.{module.name}")
if sys.argv[1:]:
    print(f"{build_library(Path(sys.argv[1]))} kernels in {sys.argv[1]}")
else:
    print(f"{deadheat.kernels.precompile()} kernels ready")
