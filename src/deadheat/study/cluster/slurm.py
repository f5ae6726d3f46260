"""A Slurm job that starts Ray on its nodes and runs a study there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deadheat.errors import InputError, reason

START_S = 300  # how long Ray may take to start
DIRECTIVE = re.compile(r"--?[A-Za-z][\w-]*([= ].*)?")
SCRIPT = """\
#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --output={output}
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@120
{directives}\
# Written by `deadheat run --slurm`. The job can be submitted again: it runs the cells that are missing.

cd {folder} || exit 1
export python={python}
for head in $(hostname --ip-address) $(hostname --all-ip-addresses) 127.0.0.1; do
  [[ $head = 127.* || $head = *:* ]] || break
done
export head port=$((20000 + SLURM_JOB_ID % 10000))
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH="$PWD/.ray-token-$SLURM_JOB_ID"
export RAY_USAGE_STATS_ENABLED=0 RAY_memory_monitor_refresh_ms=0 RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S=0
answers() {{ timeout 5 bash -c 'exec 3<> "/dev/tcp/$head/$port"' 2> /dev/null; }}
export -f answers
messages=ray-$SLURM_JOB_ID.log
(umask 077 && head -c 32 /dev/urandom | sha256sum | cut -c 1-64 > "$RAY_AUTH_TOKEN_PATH") || exit 1

# Ray on every node. The first task runs on this node; it is the head.
srun --ntasks="$SLURM_NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 bash -c '
  cores=${{SLURM_CPUS_ON_NODE:-$(nproc)}}
  if [ "$SLURM_PROCID" = 0 ]; then
    exec "$python" -m ray.scripts.scripts start --head --node-ip-address="$head" --port="$port" \\
      --include-dashboard=false --num-cpus="$cores" --block
  fi
  for _ in $(seq {wait}); do answers && break; sleep 1; done
  exec "$python" -m ray.scripts.scripts start --address="$head:$port" --num-cpus="$cores" --block
' > "$messages" 2>&1 &
cluster=$!

finish() {{
  code=$?
  kill "$cluster" 2> /dev/null
  for _ in $(seq 60); do kill -0 "$cluster" 2> /dev/null || break; sleep 1; done
  kill -9 "$cluster" 2> /dev/null
  rm -f "$RAY_AUTH_TOKEN_PATH"
  exit "$code"
}}
trap finish EXIT

for _ in $(seq {wait}); do
  answers && break
  kill -0 "$cluster" 2> /dev/null || break
  sleep 1
done
if ! answers; then
  echo "Ray did not start on $head; see $messages" >&2
  exit 1
fi

trap 'kill "$study"; wait "$study"; exit' TERM
"$python" -m deadheat run {arguments} --engine ray --address "$head:$port" &
study=$!
wait "$study"
"""


@dataclass(frozen=True, slots=True)
class SlurmJob:
    """A job for a study: how many nodes, for how long, and other options of sbatch."""

    study: Path
    arguments: Sequence[str] = ()  # of `deadheat run`, besides the study
    nodes: int = 1
    time: str = ""
    options: Sequence[str] = ()

    def script(self) -> str:
        """The job script, for the Python that runs now."""
        options = [f"--time={self.time}"] if self.time else []
        for option in self.options:
            if not DIRECTIVE.fullmatch(option):
                raise InputError(f"--sbatch {option!r}; expected an option of sbatch, as --sbatch=--partition=long")
            options.append(option)
        name = self.study.stem
        return SCRIPT.format(
            name=shlex.quote(name),
            nodes=self.nodes,
            output=shlex.quote(f"{name}.slurm-%j.log"),
            directives="".join(f"#SBATCH {option}\n" for option in options),
            folder=shlex.quote(os.path.abspath(self.study.parent)),
            python=shlex.quote(sys.executable),
            wait=START_S,
            arguments=shlex.join([self.study.name, *self.arguments]),
        )


def submit(script: str, folder: Path) -> str:
    """Give a job script to sbatch; returns what it answers."""
    try:
        done = subprocess.run(
            ["sbatch"], input=script, cwd=folder, capture_output=True, text=True, errors="replace", check=True
        )
    except OSError as error:
        expected = "run this where sbatch is available, such as a login node, or use --dry-run"
        raise InputError(f"sbatch: cannot be started ({reason(error)}); {expected}") from error
    except subprocess.CalledProcessError as error:
        message = " ".join((error.stderr or error.stdout).split()) or f"exit code {error.returncode}"
        raise InputError(f"sbatch: {message}") from error
    return done.stdout.strip()
