"""Which engine runs the cells of a study: this machine, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from deadheat.errors import InputError
from deadheat.study.engine.executor import Executor
from deadheat.study.engine.running import check_importable, local_executor
from deadheat.study.engine.training import CellResult
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan

LOCAL, RAY = ENGINES = ("local", "ray")
MakeExecutor = Callable[[Plan, Path], Executor[Cell, CellResult]]  # from a plan and the path of its store


def engine_of(
    plan: Plan,
    store: Path,
    *,
    engine: str | None = None,
    address: str | None = None,
    on_message: Callable[[str], None] | None = None,
) -> MakeExecutor:
    """What makes the executor of a study: that of its file, unless another engine or address is given.

    If there is no store yet, a cluster is connected to at once, so that a study with a wrong address leaves none. Else
    it is connected to when the first cell runs: a finished study needs no cluster.
    """
    entry = plan.study.engine
    engine = engine or (RAY if address else entry.type)
    if engine == LOCAL:
        if address:
            raise InputError(f"address {address!r} with the local engine; expected the engine ray")
        return local_executor
    from deadheat.study.cluster.connection import connect
    from deadheat.study.cluster.executor import RayExecutor, ignore

    cluster = address or entry.address
    connection = None if store.exists() else connect(cluster)

    def ray_executor(plan: Plan, store: Path) -> Executor[Cell, CellResult]:
        check_importable(plan)
        return RayExecutor(plan, store, connection or connect(cluster), on_message=on_message or ignore)

    return ray_executor
