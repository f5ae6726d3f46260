"""Give damaged inputs to commands in this process, and print what went wrong with each as a line of JSON.

`python -m tests.fuzz.worker MATERIALS SCRATCH SEED START STOP` with the materials made by `tests.fuzz.materials`.
"""

from __future__ import annotations

import faulthandler
import io
import json
import os
import re
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from deadheat.cli import main as program
from deadheat.errors import InputError
from deadheat.neural.vectors import read_vectors
from tests.fuzz.mutations import mutate
from tests.fuzz.structured import CHANGES
from tests.fuzz.targets import TARGETS, command_line

CPU_LIMIT_S, WALL_LIMIT_S = 20.0, 240.0
MEMORY_LIMIT_MB = 2048
ADDRESS_SPACE = 6 << 30
STRANGE = 0.03  # share of the inputs in which a file is none
MANY_LINES = 60  # of standard error


@dataclass(frozen=True)
class Input:
    """One damaged input: its command line, the damaged file, and what is wrong with the outcome ("" if nothing)."""

    number: int
    command: str
    file: str
    code: int
    seconds: float
    memory_mb: float
    problem: str = ""
    detail: str = ""


def main() -> None:
    materials, scratch, seed, start, stop = sys.argv[1:]
    allowed = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = ADDRESS_SPACE if allowed == resource.RLIM_INFINITY else min(allowed, ADDRESS_SPACE)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for number in range(int(start), int(stop)):
        print(number, file=lines, flush=True)  # whoever waits for us knows which one hangs
        result = run_input(Path(materials), Path(scratch), int(seed), number)
        print(json.dumps(asdict(result)), file=lines, flush=True)


def run_input(materials: Path, scratch: Path, seed: int, number: int) -> Input:
    """Damage a file for one of the targets, run it, and judge the outcome."""
    rng = np.random.default_rng([seed, number])
    weights = np.array([target.weight for target in TARGETS])
    target = TARGETS[int(rng.choice(len(TARGETS), p=weights / weights.sum()))]
    file = target.files[int(rng.integers(len(target.files)))]
    folder = scratch / "input"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(materials, folder)
    damaged = min(folder.glob(file))  # a name or a pattern
    change = CHANGES.get(damaged.suffix)
    arguments = command_line(target, rng)
    if rng.random() < STRANGE and "-" not in arguments:
        make_strange(damaged, rng)
    elif change and rng.random() < 0.6:
        change(damaged, rng)
    elif rng.random() < 0.95:  # else only the options are odd
        damaged.write_bytes(mutate(damaged.read_bytes(), rng))
    os.environ["DEADHEAT_LEDGER"] = str(folder / "ledger.jsonl")
    os.environ.pop("DEADHEAT_MAX_SIZE", None)
    _reset_peak_memory()
    started = time.process_time()
    with _in_folder(folder), _captured(damaged if "-" in arguments else None) as output:
        faulthandler.dump_traceback_later(WALL_LIMIT_S, exit=True, file=2)
        code, trace = _run(arguments)
        if number % 20 == 0:  # a reader without a command of its own
            code, trace = _read_vectors(mutate(Path("vectors.txt").read_bytes(), rng)) or (code, trace)
        faulthandler.cancel_dump_traceback_later()
    seconds, memory = time.process_time() - started, _peak_memory_mb()
    out, errors = output
    problem, detail = judge(arguments, code, out, errors, trace)
    if not problem and seconds > CPU_LIMIT_S:
        problem = "slow"
    if not problem and (memory > MEMORY_LIMIT_MB or "not enough memory" in errors):
        problem = "memory"
    return Input(
        number, " ".join(arguments), file, code, round(seconds, 2), round(memory), problem, detail or errors[-300:]
    )


def make_strange(path: Path, rng: np.random.Generator) -> None:
    """Put something else in the place of a file: a device, a folder, a link to nothing or to itself."""
    path.unlink()
    kind = int(rng.integers(6))
    if kind == 0:
        path.mkdir()
    elif kind < 5:
        path.symlink_to(("/dev/zero", "/dev/urandom", path.name, "nowhere")[kind - 1])


def judge(arguments: Sequence[str], code: int, out: str, errors: str, trace: str) -> tuple[str, str]:
    """What is wrong with an outcome: a word or a signature, and the evidence."""
    if trace:
        frames = re.findall(r'deadheat/(\S+?)", line (\d+)', trace)
        return f"traceback {trace.strip().splitlines()[-1][:80]} at {':'.join(frames[-1]) if frames else '?'}", trace[
            -3000:
        ]
    if code not in (0, 2):
        return f"exit {code}", errors[-300:]
    if "Traceback" in errors or "panicked" in errors:
        return "noise on standard error", errors[-2000:]
    if code == 2 and not errors.strip():
        return "nothing said", out[-300:]
    if errors.count("\n") > MANY_LINES or len(errors) > 100_000:
        return "a screenful of errors", errors[:600]
    if any(ord(mark) < 32 and mark not in "\n\t" for mark in errors) or "\x1b" in out.replace("\x1b[0m", ""):
        return "control characters", repr(errors[-300:])
    if code == 0 and "--json" in arguments:
        try:
            json.loads(out, parse_constant=lambda name: 1 / 0)
        except (ValueError, ZeroDivisionError) as error:
            return "invalid JSON", f"{error}: {out[-300:]}"
    return "", ""


def _run(arguments: Sequence[str]) -> tuple[int, str]:
    """The exit code of a command, and the traceback of an unexpected error."""
    traces: list[str] = []

    def note(program_name: str, error: BaseException) -> int:
        traces.append("".join(traceback.format_exception(error)))
        return program.BUG

    original, program._report_bug = program._report_bug, note
    try:
        code = program.main(arguments)
    except SystemExit as stop:  # argparse ends so after --help
        code = int(stop.code or 0)
    except BaseException:
        return program.BUG, traceback.format_exc()
    finally:
        program._report_bug = original
    return code, "".join(traces)


def _read_vectors(content: bytes) -> tuple[int, str] | None:
    Path("mutated.txt").write_bytes(content)
    try:
        with suppress(InputError):
            read_vectors("mutated.txt", ["the", "heat"])
    except Exception:
        return program.BUG, traceback.format_exc()
    return None


@contextmanager
def _in_folder(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _captured(source: Path | None) -> Iterator[list[str]]:
    """Catch standard output and error, what compiled libraries print included; standard input is a file."""
    texts: list[str] = []
    saved = [os.dup(number) for number in (0, 1, 2)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors, open(source or os.devnull, "rb") as given:
        try:
            sys.stdout.flush()
            for number, file in enumerate((given, out, errors)):
                os.dup2(file.fileno(), number)
            sys.stdin = io.TextIOWrapper(io.FileIO(os.dup(0)))
            yield texts
        finally:
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    stream.flush()
            for number, copy in enumerate(saved):
                os.dup2(copy, number)
                os.close(copy)
            for file in (out, errors):
                file.seek(0)
                texts.append(file.read(10_000_000).decode(errors="replace"))


def _reset_peak_memory() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak_memory_mb() -> float:
    status = Path("/proc/self/status").read_text()
    peak = re.search(r"VmHWM:\s+(\d+)", status)
    assert peak
    return int(peak[1]) / 1024


if __name__ == "__main__":
    main()
