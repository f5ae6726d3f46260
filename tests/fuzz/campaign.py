"""Run workers over many damaged inputs, start them again after a hang or a crash, and collect what went wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from tests.fuzz.materials import make_materials
from tests.fuzz.worker import Input

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass
class Campaign:
    """What came of all inputs."""

    inputs: int = 0
    refused: int = 0
    slowest: float = 0.0
    largest_mb: float = 0.0
    failures: list[Input] = field(default_factory=list)
    log: TextIO | None = None  # for those who wait

    def add(self, result: Input) -> None:
        self.inputs += 1
        self.refused += result.code == 2
        self.slowest, self.largest_mb = max(self.slowest, result.seconds), max(self.largest_mb, result.memory_mb)
        if result.problem:
            self.failures.append(result)
        if self.log and (result.problem or self.inputs % 1000 == 0):
            print(f"{self.inputs:,} inputs, {len(self.failures)} failures {result.problem}", file=self.log, flush=True)

    def __str__(self) -> str:
        lines = [
            f"{self.inputs:,} inputs: {self.refused:,} refused, {len(self.failures)} failures; "
            f"at most {self.slowest:.1f} s of CPU and {self.largest_mb:,.0f} MB"
        ]
        signatures: dict[str, list[Input]] = {}
        for failure in self.failures:
            signatures.setdefault(failure.problem, []).append(failure)
        for problem, found in sorted(signatures.items(), key=lambda item: -len(item[1])):
            first = found[0]
            lines += [
                "",
                f"{len(found)} x {problem}",
                f"  input {first.number}: deadheat {first.command[:300]!r}, {first.file}",
            ]
            lines += [f"    {line}" for line in first.detail.strip().splitlines()[-14:]]
        return "\n".join(lines)


def run_campaign(
    inputs: int, *, seed: int = 0, start: int = 0, processes: int = 1, log: TextIO | None = None
) -> Campaign:
    """Run inputs `start` to `start + inputs` of a seed."""
    with tempfile.TemporaryDirectory(prefix="deadheat-fuzz-") as name:
        materials = Path(name, "materials")
        materials.mkdir()
        with chdir(materials):
            os.environ["DEADHEAT_LEDGER"] = "ledger.jsonl"
            make_materials(Path())
        bounds = [start + inputs * i // processes for i in range(processes + 1)]
        shares = [_Share(materials, Path(name, str(i)), seed, *bounds[i : i + 2]) for i in range(processes)]
        campaign = Campaign(log=log)
        running = [iter(share) for share in shares]
        while running:
            for results in list(running):
                result = next(results, None)
                if result is None:
                    running.remove(results)
                else:
                    campaign.add(result)
        return campaign


@dataclass
class _Share:
    """A range of inputs, by one process after another."""

    materials: Path
    scratch: Path
    seed: int
    start: int
    stop: int

    def __iter__(self) -> Iterator[Input]:
        self.scratch.mkdir()
        at = self.start
        while at < self.stop:
            before = at
            for result in self._until_it_dies(at):
                at = result.number + 1
                yield result
            if at == before:
                raise RuntimeError((self.scratch / "errors").read_text(errors="replace"))

    def _until_it_dies(self, start: int) -> Iterator[Input]:
        numbers = (str(self.seed), str(start), str(self.stop))
        command = (sys.executable, "-m", "tests.fuzz.worker", str(self.materials), str(self.scratch), *numbers)
        errors = self.scratch / "errors"
        environment = {**os.environ, "TMPDIR": str(self.scratch), "PYTHONWARNINGS": "ignore"}
        with (
            errors.open("wb") as stderr,
            subprocess.Popen(
                command, cwd=ROOT, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment
            ) as process,
        ):
            assert process.stdout is not None
            for line in process.stdout:
                number = int(line)
                answer = process.stdout.readline()
                if answer:
                    yield Input(**json.loads(answer))
                else:
                    process.wait()
                    death = f"hang or crash (exit {process.returncode})"
                    detail = errors.read_text(errors="replace")[-3000:]
                    yield Input(number, "", "", process.returncode, 0, 0, death, detail)
