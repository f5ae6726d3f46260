"""What the benchmarks share: a corpus to measure on, CPU time, memory, a table."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import gettempdir

from deadheat.reporting.model import Column, Table
from deadheat.reporting.terminal import render
from deadheat.results.format import COUNT, NAME

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # idle threads spin, and would count as work

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("DEADHEAT_DATA", ROOT.parent / "shared" / "data"))
BIN = Path(sys.prefix) / "bin"
ONE_WORD = "1\tHi\t_\t_\t_\t_\t0\troot\t_\t_\n\n"


def corpus_file() -> Path:
    """English EWT's test file where it lies beside us, else a made-up treebank of the same size."""
    real = DATA / "treebanks" / "en_ewt" / "en_ewt-ud-test.conllu"
    if real.exists():
        return real
    from deadheat.testbed import generate

    made = Path(gettempdir()) / "deadheat-bench.conllu"
    made.write_text(generate("velani", sentences=2000, seed=0), encoding="utf-8")
    return made


def ten_copies(path: Path) -> Path:
    """A file with the same sentences ten times."""
    large = Path(gettempdir()) / f"deadheat-bench-{os.getpid()}-ten.conllu"
    large.write_bytes(path.read_bytes() * 10)
    return large


def cpu(call: Callable[[], object], *, repeats: int = 7) -> float:
    """The least CPU time of several calls, in seconds, after one to warm up."""
    call()
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


def cpu_of_command(command: list[str], *, repeats: int = 5) -> float:
    """The least CPU time of a whole command, started anew each time, its compiled files on disk."""
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, check=True, capture_output=True, env=usual)
    best = float("inf")
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, env=usual)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def peak_memory(code: str) -> int:
    """The most resident memory, in bytes, of a fresh interpreter that runs some code.

    From /proc, because the maximum that getrusage tells is inherited from the process that started it.
    """
    probe = code + "\nprint(next(line for line in open('/proc/self/status') if 'VmHWM' in line).split()[1])"
    done = subprocess.run([sys.executable, "-c", probe], check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-1]) * 1024


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """A table as the commands print it: the first columns to the left, the others to the right."""
    columns = tuple(Column(name, NAME if at < left else COUNT) for at, name in enumerate(header))
    return render([Table(columns, tuple(map(tuple, rows)), labels=left)])
