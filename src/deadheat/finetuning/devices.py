"""The device that networks are fine-tuned on, and the state of torch that results depend on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from deadheat.finetuning.config import FinetuningConfig


def on_accelerator() -> bool:
    """Whether torch finds a GPU."""
    return bool(find_device().type != "cpu")


def find_device() -> torch.device:
    """A GPU if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def uses_bfloat16(config: FinetuningConfig, device: torch.device) -> bool:
    """Whether products of the encoder are computed in half precision: by default on a GPU."""
    return config.precision == "bfloat16" or (config.precision == "auto" and device.type == "cuda")


@contextmanager
def reproducible(config: FinetuningConfig, device: torch.device) -> Iterator[None]:
    """Run with the state of torch that results depend on, and restore that of the process afterwards."""
    before = torch.are_deterministic_algorithms_enabled(), torch.get_num_threads()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it, products on a GPU may differ
    torch.use_deterministic_algorithms(True, warn_only=True)
    if device.type == "cpu":
        torch.set_num_threads(config.threads)
    try:
        with torch.random.fork_rng(enabled=True):
            yield
    finally:
        torch.use_deterministic_algorithms(before[0])
        torch.set_num_threads(before[1])
