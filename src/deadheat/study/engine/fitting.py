"""Tasks that start only when a machine has what they need: a queue, and an executor that uses it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple, Self, TypeVar

from deadheat.study.engine.executor import ActiveTask, Executor
from deadheat.study.engine.worker import TaskResult
from deadheat.study.plan.needs import Resources

T = TypeVar("T")
R = TypeVar("R")


def machine(workers: int) -> Resources:
    """What cells of this machine share: one GPU, since nobody assigns them to devices."""
    return Resources(workers, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), 1)


class QueuedTask(NamedTuple, Generic[T]):
    """A task that waits, and what it needs."""

    number: int  # of all that were queued
    name: str
    task: T
    needs: Resources


class TaskQueue(Generic[T]):
    """Tasks that wait, in the order in which they came; those with the same needs share a queue."""

    def __init__(self, needs: Callable[[T], Resources]) -> None:
        self._needs = needs
        self._queues: dict[Resources, deque[QueuedTask[T]]] = {}
        self._count = 0

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def append(self, name: str, task: T) -> None:
        self._count += 1
        needs = self._needs(task)
        self._queues.setdefault(needs, deque()).append(QueuedTask(self._count, name, task, needs))

    def take(self, free: Resources, total: Resources | None = None) -> QueuedTask[T] | None:
        """Remove the first task that fits in what is free; needs beyond `total` are reduced to it, if it is given."""
        fitting = [
            queue
            for needs, queue in self._queues.items()
            if queue and free.covers(needs if total is None else needs.at_most(total))
        ]
        if not fitting:
            return None
        task = min(fitting, key=lambda queue: queue[0].number).popleft()
        return task if total is None else task._replace(needs=task.needs.at_most(total))

    def kinds(self) -> dict[Resources, int]:
        """How many tasks of each kind of needs wait."""
        return {needs: len(queue) for needs, queue in self._queues.items() if queue}

    def clear(self) -> None:
        self._queues.clear()


class FittingExecutor(Generic[T, R]):
    """Hands tasks to another executor, as many at once as fit. One that needs more than there is runs alone."""

    def __init__(self, rest: Executor[T, R], total: Resources, needs: Callable[[T], Resources]) -> None:
        self._rest, self._total, self._free = rest, total, total
        self._queue = TaskQueue[T](needs)
        self._taken: dict[str, Resources] = {}  # by tasks that the other executor has

    @property
    def workers(self) -> int:
        return self._rest.workers

    def submit(self, name: str, task: T) -> None:
        self._queue.append(name, task)

    def results(self, on_wait: Callable[[], None] | None = None) -> Iterator[TaskResult[R]]:
        while self._queue or self._taken:
            self._start()
            for result in self._rest.results(on_wait):
                self._free += self._taken.pop(result.name)
                self._start()
                yield result

    def active(self) -> list[ActiveTask]:
        return self._rest.active()

    def cancel(self) -> None:
        self._queue.clear()
        self._rest.cancel()

    def close(self) -> None:
        self._queue.clear()
        self._rest.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def _start(self) -> None:
        """Start the first task that fits, and the next, until none does."""
        while (task := self._queue.take(self._free, self._total)) is not None:
            self._free -= task.needs
            self._taken[task.name] = task.needs
            self._rest.submit(task.name, task.task)
