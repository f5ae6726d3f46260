"""The interface between a study and the machines that run its cells: submit tasks, receive results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

T = TypeVar("T")
R = TypeVar("R")
T_contra = TypeVar("T_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class TaskResult(Generic[R]):
    """How one task ended.

    `status` is one of the constants of `deadheat.study.plan.cells`. `failed` is the task's own fault and would happen
    again: an exception, a crash, an exit. `killed` came from outside (out of memory, a person, `cancel`) and may not
    happen again. `log` holds the last 64 KB that the task and its children printed.
    """

    name: str
    status: str
    value: R | None = None
    error: str = ""
    log: str = ""
    started: float = 0.0  # seconds since 1970
    wall_s: float = 0.0
    cpu_s: float = 0.0  # of the task and its child processes
    peak_mb: float = 0.0  # resident memory of its largest process


class Executor(Protocol[T_contra, R]):
    """Runs tasks: on the cores of this machine, or elsewhere."""

    def submit(self, name: str, task: T_contra) -> None:
        """Append a task to the queue; it may start at once."""
        ...

    def results(self) -> Iterator[TaskResult[R]]:
        """Each submitted task once, in the order in which they finish; ends when none is left.

        Tasks may be submitted between two results. An interrupted iteration can be continued by another.
        """
        ...

    def cancel(self) -> None:
        """Drop queued tasks and stop running ones. Running tasks are reported as killed, queued ones not at all."""
        ...

    def close(self) -> None:
        """Stop everything and release processes and files; nothing more is reported."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: Any) -> None: ...
