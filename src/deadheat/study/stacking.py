"""Networks in stacks on the accelerator of this machine; everything else goes to another executor."""

from __future__ import annotations

import contextlib
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from deadheat.neural.jobs import BatchTrainer
from deadheat.study.bench import Worked, examined, order_of
from deadheat.study.cells import DONE, FAILED, Cell
from deadheat.study.executor import Executor, Finished
from deadheat.study.plan import Plan
from deadheat.study.worker import described, largest_mb
from deadheat.systems import SYSTEMS

Keep = Callable[[Cell, str, bytes], dict[str, Any]]
Group = dict[str, tuple[Cell, BatchTrainer]]  # cells that train together, by name; those that are finished leave it


class StackedExecutor:
    """Trains cells whose systems can train together, group by group, in this process, and reports each by itself.

    Groups are found from the cells: those of one corpus whose settings differ in numbers alone. A network that fails is
    reported and the others go on; an error that ends a group is reported for each of its cells that is not finished.
    What is no network waits for the executor `rest`.
    """

    def __init__(self, plan: Plan, keep: Keep | None, rest: Executor[Cell, Worked]) -> None:
        self._plan, self._keep, self._rest = plan, keep, rest
        self._groups: dict[Any, Group] = {}

    def submit(self, name: str, task: Cell) -> None:
        """Put a cell where it belongs."""
        batch_trainer = SYSTEMS.make(task.system).batch_trainer
        if batch_trainer is None:
            self._rest.submit(name, task)
        else:
            self._groups.setdefault((task.corpus, batch_trainer.group), {})[name] = (task, batch_trainer)

    def results(self) -> Iterator[Finished[Worked]]:
        """Each cell once: networks as they leave their stack, then the rest."""
        while self._groups:
            place, group = next(iter(self._groups.items()))
            yield from self._trained(group)
            if not group:  # nothing has been added to it meanwhile
                self._groups.pop(place, None)
        yield from self._rest.results()

    def cancel(self) -> None:
        self._forget()
        self._rest.cancel()

    def close(self) -> None:
        self._forget()
        self._rest.close()

    def __enter__(self) -> Self:
        self._rest.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._forget()
        self._rest.__exit__(kind, error, trace)

    def _forget(self) -> None:
        for group in self._groups.values():
            group.clear()  # the one that trains ends with this
        self._groups.clear()

    def _trained(self, group: Group) -> Iterator[Finished[Worked]]:
        all_of_it = list(group.items())
        first, batch_trainer = all_of_it[0][1]
        corpus = self._plan.materials[first.corpus].corpus
        started, clock, cpu = time.time(), time.perf_counter(), time.process_time()

        def finished(name: str, value: Worked | None, error: str = "", log: str = "") -> Finished[Worked]:
            del group[name]
            wall, share = time.perf_counter() - clock, (time.process_time() - cpu) / len(all_of_it)
            status = FAILED if error else DONE
            return Finished(name, status, value, error, log, started, wall, share, largest_mb())

        try:
            for cell, _ in group.values():
                self._plan.check_unchanged(cell)
            orders = [order_of(self._plan, cell, own) for _, (cell, own) in all_of_it]
            arriving = batch_trainer.train(corpus, orders)
            while group and (each := _next(arriving, self._plan.path.parent)) is not None:
                at, done = each
                name, (cell, _) = all_of_it[at]
                try:
                    value = examined(self._plan, cell, done, self._keeper(cell))
                except Exception as error:
                    yield finished(name, None, described(error))
                else:
                    yield finished(name, value)
            assert not any(name in group for name, _ in all_of_it), "a network has not been heard of"
        except Exception as error:
            for name in [name for name, _ in all_of_it if name in group]:
                yield finished(name, None, described(error), traceback.format_exc())

    def _keeper(self, cell: Cell) -> Callable[[str, bytes], dict[str, Any]] | None:
        keep = self._keep
        return None if keep is None else lambda part, data: keep(cell, part, data)


def _next(arriving: Iterator[Any], folder: Path) -> Any:
    """What comes next, worked out in the study's folder, to which the files that settings name are relative."""
    with contextlib.chdir(folder):
        return next(arriving, None)
