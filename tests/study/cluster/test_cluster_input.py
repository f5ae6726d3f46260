"""Mistakes about clusters are one line: addresses, versions, needs, and options."""

from __future__ import annotations

import importlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from deadheat.cli.main import main
from deadheat.errors import InputError
from deadheat.kernels.cache import cache_folder
from deadheat.study.cluster import agent, executor, fleet
from deadheat.study.cluster.addresses import TOKEN
from deadheat.study.cluster.connection import _explain, connect
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from tests.study.cluster.cluster_cases import LocalCluster, cluster_study, stop


def refused(capsys: pytest.CaptureFixture[str], arguments: Sequence[str | Path]) -> str:
    """The only line that a command prints which refuses its input."""
    assert main([str(argument) for argument in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    [line] = err.splitlines()
    return line


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.mark.parametrize("address", ["here", "host", "http://host:1", "host:port", "host:99999", "ray://", ":6379"])
def test_an_address_that_is_none_is_refused(address: str, ray_home: Path) -> None:
    with pytest.raises(InputError, match=r"expected auto, HOST:PORT or ray://HOST:PORT"):
        connect(address)


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_an_address_where_nobody_answers_is_refused_and_leaves_no_store(
    tmp_path: Path, ray_home: Path, capsys: pytest.CaptureFixture[str], scheme: str
) -> None:
    path = cluster_study(tmp_path)
    address = f"{scheme}127.0.0.1:{free_port()}"
    line = refused(capsys, ["run", path, "--engine", "ray", "--address", address])
    expected = "nobody answers (connection refused); expected the head of a Ray cluster (ray start --head)"
    assert line == f"address {address}: {expected}"
    assert not path.with_suffix(".sqlite").exists()


@pytest.mark.slow
def test_a_wrong_token_or_port_is_one_line(ray_home: Path, tmp_path: Path) -> None:
    """In processes of their own, since Ray reads its settings once."""
    port, client = 20_000 + os.getpid() % 2_000, 25_000 + os.getpid() % 5_000
    head = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", f"--port={port}", "--block"]
    head += [f"--ray-client-server-port={client}", "--include-dashboard=false", "--num-cpus=1"]
    (tmp_path / "wrong").write_text("0" * 64)
    path = cluster_study(tmp_path, "unigram", times=1)

    def refusal(address: str, **changes: str) -> str:
        command = [sys.executable, "-m", "deadheat", "run", str(path), "--address", address]
        changed = os.environ | changes
        done = subprocess.run(command, env=changed, capture_output=True, text=True, check=False, timeout=300)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        return done.stderr.rstrip("\n")

    with subprocess.Popen(head, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as server:
        try:
            for number in (port, client):
                wait_for(number)
            # A token may be in the user's own; the kernels that are compiled are.
            home = {"HOME": str(tmp_path), "DEADHEAT_CACHE": str(cache_folder())}
            for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{client}"):
                another = refusal(address, RAY_AUTH_TOKEN_PATH=str(tmp_path / "wrong"))
                assert another == f"address {address}: the cluster asks for another token; {TOKEN}"
                none = refusal(address, **home, RAY_AUTH_MODE="disabled")
                assert none == f"address {address}: the cluster asks for a token; {TOKEN}"
                missing = refusal(address, **home, RAY_AUTH_TOKEN_PATH=str(tmp_path / "missing"))
                assert missing == f"address {address}: RAY_AUTH_MODE is token, and there is none; {TOKEN}"
            wrong_port = refusal(f"ray://127.0.0.1:{port}")
            assert f"this is the port of `ray start`; expected --address 127.0.0.1:{port}, or " in wrong_port
            wrong_port = refusal(f"127.0.0.1:{client}")
            assert f"this is the port for clients; expected --address ray://127.0.0.1:{client}, or " in wrong_port
        finally:
            stop(server)
    assert not path.with_suffix(".sqlite").exists()


def wait_for(port: int) -> None:
    """Wait until a server listens."""
    for _ in range(600):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise AssertionError(f"nobody listens on port {port}")


@pytest.mark.slow
def test_a_process_that_is_connected_does_not_take_another_cluster_for_it(cluster: LocalCluster) -> None:
    connection = connect(cluster.address)
    try:
        connect(cluster.address).close()
        connect("auto").close()
        with pytest.raises(
            InputError, match=r"Ray is connected to another cluster here; expected ray.shutdown\(\) first"
        ):
            connect(f"127.0.0.1:{free_port()}")
    finally:
        connection.close()


def test_a_study_file_names_the_engine_and_an_option_overrides_it(
    tmp_path: Path, ray_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cluster_study(tmp_path, more="evaluate = ['dev']\n", times=1)
    path.write_text(path.read_text() + f"[engine]\ntype = 'ray'\naddress = '127.0.0.1:{free_port()}'\nworkers = 1\n")
    assert "nobody answers" in refused(capsys, ["run", path])
    assert not path.with_suffix(".sqlite").exists()
    assert main(["run", str(path), "--engine", "local", "--quiet"]) == 0
    assert main(["run", str(path), "--quiet"]) == 0, "a finished study needs no cluster"
    capsys.readouterr()
    assert "nobody answers" in refused(capsys, ["run", path, "--set", "splits.times=2"])
    assert "with the local engine" in refused(capsys, ["run", path, "--engine", "local", "--address", "auto"])


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError) as error:
        connect()
    problem = "the package ray is not installed; expected deadheat[cluster] (pip install 'deadheat[cluster]')"
    assert str(error.value) == f"engine ray: {problem}"


def test_errors_of_ray_are_one_line() -> None:
    mismatch = RuntimeError("Version mismatch: The cluster was started with:\n    Ray: 2.50.0\n    Python: 3.12.1\n")
    line = _explain("host:6379", mismatch)
    assert line.startswith("address host:6379: Version mismatch: The cluster was started with: Ray: 2.50.0 Python")
    assert line.endswith("expected the same versions of Ray and Python on all nodes")
    assert _explain("auto", ConnectionError("Could not find any running Ray instance.")).startswith(
        "address auto: no Ray cluster is running; expected one on this machine (ray start --head)"
    )


@pytest.mark.slow
def test_another_version_on_a_node_is_refused(
    tmp_path: Path, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.add(1)
    versions = agent.versions()
    for name in ("Deadheat", "Python", "numpy"):
        monkeypatch.setattr(fleet, "versions", lambda name=name: versions | {name: "7.0"})
        with pytest.raises(InputError) as error:
            cluster.run(cluster_study(tmp_path))
        assert str(error.value).endswith(f": {name} {versions[name]}; expected 7.0, as where the study runs")
        assert "\n" not in str(error.value)


@pytest.mark.slow
def test_a_node_without_deadheat_is_refused(
    tmp_path: Path, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deadheat").mkdir()
    (tmp_path / "deadheat" / "__init__.py").write_text("")
    cluster.add(1)
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path))
        cluster.add(1)
    with pytest.raises(InputError) as error:
        cluster.run(cluster_study(tmp_path, times=200))
    assert "Deadheat cannot be loaded (ModuleNotFoundError: No module named 'deadheat" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_cells_that_fit_on_no_node_end_the_study_after_a_while(
    tmp_path: Path, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "START_S", 0.5)
    cluster.add(1)
    path = cluster_study(tmp_path, "unigram", times=2)
    path.write_text(path.read_text() + "[[systems]]\nname = 'majority'\nneeds = { cores = 7, memory = '1 GB' }\n")
    messages: list[str] = []
    with pytest.raises(InputError) as error:
        cluster.run(path, on_message=messages.append)
    needs = "7 cores, 1 GB of memory"
    assert (
        str(error.value) == f"cluster: no node has {needs}, which a cell needs; expected one; finished cells are kept"
    )
    assert messages == [f"waiting for a node with {needs}"]
    with Store.read(path.with_suffix(".sqlite")) as store:
        assert len(store.done()) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--nodes", "2"], "--nodes without --slurm; expected both"),
        (["--dry-run"], "--dry-run without --slurm; expected both"),
        (["--slurm", "--engine", "ray"], "--slurm with --engine or --address; expected neither"),
        (["--nodes", "0"], "argument --nodes: '0'; expected a whole number, 1 or more"),
        (["--time", ""], "--time without --slurm; expected both"),
        (["--slurm", "--nodes", "0"], "argument --nodes: '0'; expected a whole number, 1 or more"),
        (["--slurm", "--nodes", "x"], "argument --nodes: 'x'; expected a whole number, 1 or more"),
        (["--slurm", "--sbatch", "long", "--dry-run"], "--sbatch 'long'; expected an option of sbatch"),
        (["--slurm", "--sbatch=--x=1\nrm -r /", "--dry-run"], "--sbatch '--x=1\\nrm -r /'; expected an option"),
    ],
)
def test_options_of_jobs_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert message in refused(capsys, ["run", cluster_study(tmp_path), *options])


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{ cores = 0 }", "systems.0.needs.cores: input should be greater than or equal to 1"),
        ("{ coers = 2 }", "systems.0.needs.coers is unknown; did you mean 'cores'?"),
        ("{ memory = 'much' }", "systems.0.needs.memory: expected a size such as 4 GB, not 'much'"),
        ("{ gpus = -1 }", "systems.0.needs.gpus: input should be greater than or equal to 0"),
    ],
)
def test_needs_are_checked(tmp_path: Path, entry: str, message: str) -> None:
    path = tmp_path / "study.toml"
    cluster_study(tmp_path)
    path.write_text(f"corpora.small = 'small.conllu'\n[[systems]]\nname = 'majority'\nneeds = {entry}\n")
    with pytest.raises(InputError) as error:
        Plan.of(path)
    assert message in str(error.value)


def test_folders_of_the_driver_are_hidden_but_for_that_of_deadheat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, installed = str(Path(agent.__file__).parents[3]), str(tmp_path / "installed")
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), package, installed])
    monkeypatch.setenv("PYTHONPATH", installed)
    agent.hide_folders([str(tmp_path), package, installed])
    assert sys.path == [installed, package]


def test_the_package_is_not_imported_without_need(tmp_path: Path) -> None:
    loaded: dict[str, Any] = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "ray"}
    for name in loaded:
        del sys.modules[name]
    try:
        importlib.import_module("deadheat.study.cluster.executor")
        importlib.import_module("deadheat.cli.studies")
        assert "ray" not in sys.modules
    finally:
        sys.modules.update(loaded)
