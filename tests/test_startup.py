"""The command line answers at once: nothing heavy is loaded before it is needed."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = str(Path(sys.prefix) / "bin" / "deadheat")
HEAVY = {"numba", "numpy", "polars", "rich", "scipy"}
LIMIT_S = 0.5


def cpu_seconds(command: list[str]) -> float:
    """Processor time of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imported_packages(arguments: list[str]) -> set[str]:
    """Top-level packages that Python imports when it is started with these arguments."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_command_answers_in_half_a_second(option: str) -> None:
    best = min(cpu_seconds([COMMAND, option]) for _ in range(3))
    assert best < LIMIT_S, f"deadheat {option} took {best:.2f} s of CPU"


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_nothing_heavy_is_imported_to_answer(option: str) -> None:
    packages = imported_packages([COMMAND, option])
    assert "deadheat" in packages
    assert packages.isdisjoint(HEAVY)


def test_importing_the_package_imports_nothing_heavy() -> None:
    packages = imported_packages(["-c", "import deadheat"])
    assert "deadheat" in packages
    assert packages.isdisjoint(HEAVY)


def test_a_heavy_import_is_noticed() -> None:
    assert "numpy" in imported_packages(["-c", "import numpy.linalg"])


def test_processor_time_is_measured() -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    assert cpu_seconds([sys.executable, "-c", busy]) >= 0.3
