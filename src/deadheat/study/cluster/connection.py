"""The connection to a Ray cluster: an address is checked before Ray is, whose own messages fill a page."""

from __future__ import annotations

import importlib
import logging
import os
import signal
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from deadheat.errors import InputError
from deadheat.study.cluster.addresses import check_address, same_cluster
from deadheat.study.engine.worker import WorkerError
from deadheat.study.plan.entries import AUTO
from deadheat.study.plan.needs import Resources
from deadheat.tracebacks import describe_error

VARIABLES = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is reported to anybody
}


@dataclass(frozen=True, slots=True)
class Node:
    """A living node of a cluster."""

    id: str
    name: str
    resources: Resources


class Connection:
    """A connection to a cluster, which is closed if it was opened here."""

    def __init__(self, ray: Any, *, opened: bool) -> None:
        self.ray, self._opened = ray, opened

    def nodes(self) -> list[Node]:
        """The nodes that are alive, with all that they have."""
        with self.errors():
            living = [node for node in self.ray.nodes() if node["Alive"]]
        return [Node(node["NodeID"], node["NodeManagerHostname"], _resources(node["Resources"])) for node in living]

    def wait(self, calls: Sequence[Any], *, number: int, timeout: float) -> list[Any]:
        """The calls that have been answered, after waiting for so many of them."""
        with self.errors():
            return list(self.ray.wait(list(calls), num_returns=number, timeout=timeout)[0])

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Report a cluster that is gone in one line."""
        try:
            yield
        except Exception as error:
            text = describe_error(error).partition("\n")[0]
            raise WorkerError(f"cluster: the connection is lost ({text}); finished cells are kept") from error

    def close(self) -> None:
        if self._opened:
            self.ray.shutdown()


def _resources(values: dict[str, float]) -> Resources:
    return Resources(values.get("CPU", 0.0), values.get("memory", 0.0), values.get("GPU", 0.0))


def load_ray() -> Any:
    """The package, which is imported only for a cluster: that takes seconds."""
    for name, value in VARIABLES.items():
        os.environ.setdefault(name, value)
    try:
        ray = importlib.import_module("ray")
        # Ray prints the deaths of nodes on standard output, where results go, and has no option for it.
        with suppress(Exception):
            setattr(importlib.import_module("ray._private.worker"), "print_to_stdstream", _print_nothing)  # noqa: B010
        return ray
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "ray":
            raise
        problem = "the package ray is not installed; expected deadheat[cluster] (pip install 'deadheat[cluster]')"
        raise InputError(f"engine ray: {problem}") from error


def _print_nothing(*data: object, **options: object) -> None:
    """Take the place of a function of Ray that prints."""


def connect(address: str = AUTO) -> Connection:
    """Connect to a cluster; by default to the one that this machine is part of.

    Raises
    ------
    InputError
        If nobody answers, the token is wrong, the cluster has another version of Ray or Python, or this process is
        connected to another cluster already.
    """
    ray = load_ray()
    if ray.is_initialized():
        if not same_cluster(address, ray):
            raise InputError(
                f"address {address}: Ray is connected to another cluster here; expected ray.shutdown() first"
            )
        return Connection(ray, opened=False)
    check_address(address)
    try:
        with _kept_signal(signal.SIGTERM), warnings.catch_warnings():  # Ray would print its stack
            warnings.simplefilter("ignore")  # what they say is in the error, too
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:
        with suppress(Exception):
            ray.shutdown()
        raise InputError(_explain(address, error)) from error
    return Connection(ray, opened=True)


@contextmanager
def _kept_signal(number: signal.Signals) -> Iterator[None]:
    """Handle a signal afterwards as before."""
    handler = signal.getsignal(number)
    try:
        yield
    finally:
        with suppress(TypeError, ValueError):  # not in the main thread, or not a handler of Python
            signal.signal(number, handler)


def _explain(address: str, error: Exception) -> str:
    """An error of Ray in one line."""
    text = " ".join(str(error).split())
    if "ersion mismatch" in text or "same Ray and Python versions" in text:
        return f"address {address}: {text}; expected the same versions of Ray and Python on all nodes"
    if address == AUTO and isinstance(error, ConnectionError):
        expected = "expected one on this machine (ray start --head), or --address HOST:PORT"
        return f"address auto: no Ray cluster is running; {expected}"
    return f"address {address}: {text[:300] or type(error).__name__}; expected a Ray cluster"
