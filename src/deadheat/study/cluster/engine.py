"""Which engine runs the cells of a study: this machine, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from deadheat.errors import InputError
from deadheat.study.engine.executor import Executor
from deadheat.study.engine.running import local_executor
from deadheat.study.engine.training import CellResult
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan

LOCAL, RAY = ENGINES = ("local", "ray")
MakeExecutor = Callable[[Plan, Path], Executor[Cell, CellResult]]  # from a plan and the path of its store


def engine_of(
    plan: Plan,
    *,
    engine: str | None = None,
    address: str | None = None,
    on_message: Callable[[str], None] | None = None,
) -> MakeExecutor:
    """What makes the executor of a study: that of its file, unless another engine or address is given.

    A cluster is connected to at once, so that a study with a wrong address leaves no store.
    """
    entry = plan.study.engine
    engine = engine or (RAY if address else entry.type)
    if engine == LOCAL:
        if address:
            raise InputError(f"address {address!r} with the local engine; expected the engine ray")
        return local_executor
    from deadheat.study.cluster.connection import connect
    from deadheat.study.cluster.executor import RayExecutor, ignore

    return partial(RayExecutor, connection=connect(address or entry.address), on_message=on_message or ignore)
