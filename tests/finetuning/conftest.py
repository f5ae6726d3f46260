"""Where PyTorch is not installed, the tests of fine-tuning are skipped before they are imported."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

INSTALLED = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))


class SkippedModule(pytest.Module):
    """A module that is not imported."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        pytest.skip("deadheat[finetuning] is not installed")


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    return None if INSTALLED else SkippedModule.from_parent(parent, path=module_path)
