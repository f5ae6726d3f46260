"""`python -m deadheat.kernels`: compile all kernels now, so that no command has to wait for it."""

import pkgutil
from importlib import import_module

import deadheat.kernels

for module in pkgutil.iter_modules(deadheat.kernels.__path__):
    if module.name != "__main__":
        import_module(f"deadheat.kernels.{module.name}")
print(f"{deadheat.kernels.precompile()} kernels ready")
