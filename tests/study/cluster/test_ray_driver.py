"""A study that runs on a cluster as a command: it is killed and started again, from inside the cluster or outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from deadheat.errors import InputError
from deadheat.questions.run import run_plan
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from tests.study.cluster.cluster_cases import LocalCluster, cluster_study, contents, stop, worker_processes

pytestmark = pytest.mark.slow


def start(path: Path, address: str, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "deadheat", "run", str(path), "--engine", "ray", "--address", address, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def stored(path: Path) -> set[str]:
    store_path = path.with_suffix(".sqlite")
    if store_path.exists():
        with suppress(InputError), Store.read(store_path) as store:  # it may be in the making
            return store.done()
    return set()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_study_that_is_killed_goes_on_with_the_same_command(
    tmp_path: Path, cluster: LocalCluster, number: signal.Signals, code: int
) -> None:
    for _ in range(2):
        cluster.add(2)
    path = cluster_study(tmp_path, "majority unigram", times=8)
    path.write_text(path.read_text() + "[[systems]]\nname = 'mine.py:tagger'\nseconds = 0.3\n")
    expected = contents(run_plan(Plan.of(path), tmp_path / "local.sqlite").store)
    with start(path, cluster.address, "--json", "--quiet") as process:
        while len(stored(path)) < 6:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(number)
        _, err = process.communicate(timeout=300)
    assert process.returncode == code
    assert "***" not in err
    before = stored(path)
    assert 6 <= len(before) < 24
    for _ in range(600):
        if not worker_processes():
            break
        time.sleep(0.1)
    assert not worker_processes(), "workers outlive the study"
    with start(path, cluster.address, "--json", "--quiet") as process:
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert json.loads(out)["store"] == str(path.with_suffix(".sqlite"))
    assert f"{24 - len(before)} cells run, {len(before)} already in the store" in err
    assert contents(path.with_suffix(".sqlite")) == expected


@pytest.mark.long
def test_a_study_reaches_a_cluster_from_outside(tmp_path: Path, ray_home: Path) -> None:
    """By an address ray://HOST:PORT: this machine is no node of the cluster, and has no files in common with it."""
    # Ray starts a server per client from port 23,000 on.
    port, client_port = 20_000 + os.getpid() % 2_000, 25_000 + os.getpid() % 5_000
    head = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", f"--port={port}", "--block"]
    head += [f"--ray-client-server-port={client_port}", "--include-dashboard=false", "--num-cpus=1"]
    path = cluster_study(tmp_path, "unigram mine.py:tagger", times=2)
    with subprocess.Popen(head, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as server:
        try:
            out, err, code = "", "nobody answers", 2
            for _ in range(60):
                if "nobody answers" not in err and "server failed" not in err and "from server" not in err:
                    break  # a busy machine may take longer to start it than Ray waits
                time.sleep(1)
                process = start(path, f"ray://127.0.0.1:{client_port}", "--quiet")
                out, err = process.communicate(timeout=300)
                code = process.returncode
            assert code == 0, out + err
        finally:
            stop(server)
    assert "4 cells run" in err
    assert len(stored(path)) == 4
