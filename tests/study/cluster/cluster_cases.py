"""A Ray cluster of several nodes on this machine, and studies for it."""

from __future__ import annotations

import importlib
import os
import secrets
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from deadheat.questions.run import StudyRun, run_plan
from deadheat.study.cluster.connection import connect
from deadheat.study.cluster.executor import RayExecutor
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from tests.study.study_cases import study_file

# Systems and a metric of a user, and how a system can take its worker or its node with it.
MINE = """\
import os, signal, time
import deadheat
from deadheat import Metric
from rules import SUFFIXES


def tagger(*, length: int = 2, seconds: float = 0.0):
    def learn(train, tune, seed):
        time.sleep(seconds)
        tags = {word[-length:]: tag for words, labels in train for word, tag in zip(words, labels)}
        return lambda words: [tags.get(word[-length:], SUFFIXES.get(word[-1], "X")) for word in words]

    return deadheat.tagger(learn, randomness="none")


def guesses():
    def learn(train, tune, seed):
        return lambda words: [os.urandom(4).hex() for _ in words]

    return deadheat.tagger(learn)


def kills_worker():
    def learn(train, tune, seed):
        print("the end is near", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

    return deadheat.tagger(learn, randomness="none")


def kills_agent():
    def learn(train, tune, seed):
        server = int(open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()[1])
        os.kill(server, signal.SIGKILL)
        time.sleep(60)

    return deadheat.tagger(learn, randomness="none")


def shows_devices():
    def learn(train, tune, seed):
        print("devices:", os.environ.get("CUDA_VISIBLE_DEVICES"), flush=True)
        return lambda words: ["X" for _ in words]

    return deadheat.tagger(learn, randomness="none")


def right():
    accuracy = deadheat.METRICS.make("accuracy")
    return Metric("right", "Right", accuracy.counts, accuracy.value, compares="upos")
"""


def ray_settings(folder: Path) -> dict[str, str]:
    """Environment variables for Ray: a token of its own, and no statistics."""
    token = folder / "token"
    token.write_text(secrets.token_hex(32))
    token.chmod(0o600)
    temporary = folder / "temporary"  # of agents and their workers; sockets of Ray need a shorter path
    temporary.mkdir()
    return {
        "TMPDIR": str(temporary),
        "RAY_TMPDIR": "/tmp",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_memory_monitor_refresh_ms": "0",
        "RAY_health_check_initial_delay_ms": "1000",
        "RAY_health_check_period_ms": "1000",
    }


class LocalCluster:
    """Several nodes on this machine. The head runs no cells."""

    def __init__(self) -> None:
        self._cluster = importlib.import_module("ray.cluster_utils").Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
        )
        self.address = str(self._cluster.address)
        self.nodes: list[Any] = []

    def add(self, cores: int, *, gpus: int = 0) -> Any:
        node = self._cluster.add_node(num_cpus=cores, num_gpus=gpus, include_dashboard=False)
        self.nodes.append(node)
        return node

    def kill(self, node: Any) -> None:
        """Kill a node at once, with all that runs on it."""
        self.nodes.remove(node)
        self._cluster.remove_node(node, allow_graceful=False)

    def remove_all(self) -> None:
        for node in list(self.nodes):
            self.kill(node)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._cluster.shutdown()

    def run(
        self,
        path: Path,
        store: Path | None = None,
        on_message: Callable[[str], None] = lambda message: None,
        **options: Any,
    ) -> StudyRun:
        """Run a study here."""
        connection = connect(self.address)

        def executor(plan: Plan, store: Path) -> RayExecutor:
            return RayExecutor(plan, store, connection, on_message=on_message)

        try:
            return run_plan(Plan.of(path), store, executor=executor, **options)
        finally:
            connection.close()


def cluster_study(folder: Path, systems: str = "majority unigram", more: str = "", *, times: int = 3) -> Path:
    """A study that may use the user's code of this module; without a number of workers."""
    path = study_file(folder, systems, times=times)
    (folder / "mine.py").write_text(MINE)
    (folder / "rules.py").write_text("SUFFIXES = {'s': 'NOUN'}\n")
    path.write_text(more + path.read_text().replace("[engine]\nworkers = 2\n", ""))
    return path


def contents(path: Path) -> dict[str, Any]:
    """All of a store that does not depend on the time or the machine; it must be whole."""
    with Store.read(path) as store:
        assert store.verify() == []
        runs = store.runs()
        keys = runs["key"].to_list()
        assert len(set(keys)) == len(keys)
        shapes = sorted(store.count_shapes().iter_rows())
        done = store.done()
        parts = sorted({part for _, part, *_ in shapes})
        return {
            "runs": sorted(runs.select("key", "system", "seed", "status", "error").iter_rows()),
            "scores": repr(sorted(store.scores().select("key", "part", "metric", "value", "words").iter_rows())),
            "counts": [store.counts([key], part=part, metric=metric).tobytes() for key, part, metric, *_ in shapes],
            "texts": {(key, part): store.prediction(key, part) for key in sorted(done) for part in parts},
        }


def stop(server: subprocess.Popen[bytes]) -> None:
    """End `ray start --block`, which has a session of its own, and all that it started."""
    server.terminate()
    with suppress(subprocess.TimeoutExpired):
        server.wait(60)
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)


def worker_processes() -> list[int]:
    """Processes that run cells on the nodes of this test, found by their temporary folder."""
    pids = []
    for process in Path("/proc").iterdir():
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            command = (process / "cmdline").read_bytes()
        except (OSError, ValueError):
            continue
        token = f"RAY_AUTH_TOKEN_PATH={os.environ['RAY_AUTH_TOKEN_PATH']}".encode()
        if token in environment and b"deadheat-run-" in command:
            pids.append(int(process.name))
    return pids
