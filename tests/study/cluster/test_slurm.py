"""The job for Slurm: as text, and run by stand-ins for sbatch and srun."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deadheat.cli.main import command_parser, main
from deadheat.cli.slurm import SLURM_OPTIONS
from deadheat.cli.studies import _command, run_parser
from deadheat.study.cluster.slurm import SlurmJob
from deadheat.study.store.store import Store
from tests.study.cluster.cluster_cases import cluster_study
from tests.study.study_cases import ROOT

SBATCH = """\
#!/bin/bash
cat > job.sh
echo "Submitted batch job $JOB"
export SLURM_JOB_ID=$JOB SLURM_CPUS_ON_NODE=1 SLURM_NNODES=$(sed -n 's/^#SBATCH --nodes=//p' job.sh)
bash job.sh > job.out 2> job.err
echo $? > job.code
"""
# All tasks run on this machine, as if each were on a node of its own.
# A system of a user that ends when Ray runs on both nodes: what is killed while it starts leaves processes to Slurm.
PATIENT = """
import pathlib


def patient(*, log: str):
    def learn(train, tune, seed):
        for _ in range(600):
            if pathlib.Path(log).read_text().count("Ray runtime started") == 2:
                break
            time.sleep(0.2)
        return lambda words: ["X" for _ in words]

    return deadheat.tagger(learn, randomness="none")
"""
SRUN = """\
#!/bin/bash
while [[ $1 = --* ]]; do shift; done
trap 'kill $(jobs -p) 2> /dev/null; wait' TERM
for task in $(seq 0 $((SLURM_NNODES - 1))); do SLURM_PROCID=$task "$@" & done
wait
"""


def test_the_script_asks_for_what_was_asked() -> None:
    options = ["--partition=long", "--mem=0", "-A me"]
    script = SlurmJob(Path("/home/me/my study/it's.toml"), ["--set=a='b c'"], 4, "8:00:00", options).script()
    lines = script.splitlines()
    assert lines[0] == "#!/bin/bash"
    directives = [line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH")]
    assert directives == [
        """--job-name='it'"'"'s'""", "--nodes=4", "--ntasks-per-node=1", "--exclusive",
        """--output='it'"'"'s.slurm-%j.log'""", "--open-mode=append", "--signal=B:TERM@120",
        "--time=8:00:00", "--partition=long", "--mem=0", "-A me",
    ]  # fmt: skip
    assert "cd '/home/me/my study' || exit 1" in lines
    assert f"export python={sys.executable}" in lines
    command = """"$python" -m deadheat run 'it'"'"'s.toml' '--set=a='"'"'b c'"'"'' --engine ray"""
    assert f'{command} --address "$head:$port" &' in lines
    assert "ray stop" not in script
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0


def test_dry_run_prints_the_script_and_passes_options_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = cluster_study(tmp_path)
    options = ["--set", "splits.times=2", "--store", "other.sqlite", "--retry-failed", "--quiet", "--purpose", "a b"]
    assert main(["run", str(path), "--slurm", "--dry-run", *options]) == 0
    out, _ = capsys.readouterr()
    [command] = [line for line in out.splitlines() if line.startswith('"$python"')]
    store = Path("other.sqlite").absolute()
    passed = f"--quiet --set splits.times=2 --store {store} --retry-failed --purpose 'a b'"
    assert command == f'"$python" -m deadheat run study.toml {passed} --engine ray --address "$head:$port" &'
    assert "#SBATCH --nodes=1" in out


def values_of_all_options(tmp_path: Path) -> dict[str, list[str]]:
    """Every option of `deadheat run` that is not for Slurm, with a value that is not its default."""
    without_value = ("BooleanOptionalAction", "_StoreTrueAction")
    options: dict[str, list[str]] = {}
    for action in command_parser("run")._actions:
        if not action.option_strings or action.dest in ("help", "plan", "slurm", *SLURM_OPTIONS):
            continue
        option = action.option_strings[-1]
        value = list(action.choices or ["8G" if option == "--max-size" else "seeds=2"])[-1]
        options[option] = [option] if type(action).__name__ in without_value else [option, value]
    return options


def test_all_options_of_the_study_are_passed_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = cluster_study(tmp_path)
    options = values_of_all_options(tmp_path)
    assert {"--keep-old", "--max-size", "--set", "--json"} <= options.keys()
    for option, words in options.items():
        code = main(["run", str(path), "--slurm", "--dry-run", *words])
        out, err = capsys.readouterr()
        if option in ("--engine", "--address"):
            assert (code, "expected neither" in err) == (2, True)
            continue
        [command] = [line for line in out.splitlines() if line.startswith('"$python"')]
        passed = shlex.split(command)[5:-5]
        assert passed[0] == option
        assert [Path(word).name for word in passed] == words, "files are absolute, all else is as it was given"


def test_the_command_that_is_shown_at_the_end_has_all_options(tmp_path: Path) -> None:
    words = [word for words in values_of_all_options(tmp_path).values() for word in words]
    arguments = run_parser().parse_args(["a study.toml", "--purpose=-1", *words[:-2]])
    again = run_parser().parse_args(shlex.split(_command(arguments))[2:])
    assert vars(again) == vars(arguments)
    assert run_parser().parse_args(shlex.split(_command(arguments, retry_failed=True))[2:]).retry_failed


def test_a_refusal_of_sbatch_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cluster_study(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["run", str(path), "--slurm"]) == 2
    assert (
        "sbatch: cannot be started (no such file or directory); run this where sbatch is available, "
        in capsys.readouterr().err.lower()
    )
    _program(tmp_path / "sbatch", "#!/bin/sh\necho 'sbatch: error: invalid partition' >&2\nexit 1\n")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin{os.pathsep}/usr/bin")
    assert main(["run", str(path), "--slurm"]) == 2
    assert "sbatch: sbatch: error: invalid partition" in capsys.readouterr().err


@pytest.mark.slow
def test_a_job_starts_ray_on_two_nodes_runs_the_study_and_leaves_nothing(
    tmp_path: Path, ray_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = 1 + os.getpid()  # its port depends on it
    path = cluster_study(tmp_path / "study", "unigram", times=4)
    messages_of_ray = path.parent / f"ray-{job}.log"
    path.write_text(path.read_text() + f"[[systems]]\nname = 'mine.py:patient'\nlog = '{messages_of_ray}'\n")
    with (path.parent / "mine.py").open("a") as code:
        code.write(PATIENT)
    (tmp_path / "bin").mkdir()
    for name, text in (("sbatch", SBATCH), ("srun", SRUN)):
        _program(tmp_path / "bin" / name, text)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("JOB", str(job))
    assert main(["run", str(path), "--slurm", "--nodes", "2"]) == 0
    assert capsys.readouterr().out == f"Submitted batch job {job}\n"
    messages = (path.parent / "job.err").read_text()
    assert (path.parent / "job.code").read_text() == "0\n", messages + messages_of_ray.read_text()
    assert "8 cells run; results in study.sqlite" in messages
    assert "unigram" in (path.parent / "job.out").read_text()
    with Store.read(path.with_suffix(".sqlite")) as store:
        assert len(store.done()) == 8
    assert not list(path.parent.glob(".ray-token*"))
    token = f"RAY_AUTH_TOKEN_PATH={path.parent}/.ray-token-{job}".encode()
    for _ in range(300):
        left = [process for process in Path("/proc").glob("[0-9]*/environ") if token in _bytes(process)]
        if not left:
            break
        time.sleep(0.1)
    assert not left


@pytest.mark.slow
def test_a_job_in_which_ray_does_not_start_fails(
    tmp_path: Path, ray_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cluster_study(tmp_path / "study")
    (tmp_path / "bin").mkdir()
    _program(tmp_path / "bin" / "sbatch", SBATCH)
    _program(tmp_path / "bin" / "srun", "#!/bin/sh\necho no Ray here\nexit 1\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("JOB", str(1 + os.getpid()))
    assert main(["run", str(path), "--slurm"]) == 0
    assert (path.parent / "job.code").read_text() == "1\n"
    assert "Ray did not start" in (path.parent / "job.err").read_text()
    assert not path.with_suffix(".sqlite").exists()


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o700)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_the_job_for_kubernetes_is_yaml_and_runs_a_study() -> None:
    """What the page shows: the same image and no memory monitor on all nodes, no cells on the head."""
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    page = (ROOT / "docs" / "howto" / "kubernetes.md").read_text()
    job = yaml.safe_load(page.partition("```yaml\n")[2].partition("```")[0])
    assert job["kind"] == "RayJob"
    assert job["spec"]["entrypoint"].startswith("deadheat run /study/study.toml --engine ray")
    assert job["spec"]["backoffLimit"] == 0, "cells that failed would run again on a new cluster"
    cluster = job["spec"]["rayClusterSpec"]
    assert cluster["headGroupSpec"]["rayStartParams"] == {"num-cpus": "0"}
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    containers = [group["template"]["spec"]["containers"][0] for group in groups]
    assert len({container["image"] for container in containers}) == 1
    variables = [{one["name"]: one["value"] for one in container["env"]} for container in containers]
    assert {values["RAY_memory_monitor_refresh_ms"] for values in variables} == {"0"}
