"""Outcomes made up for tests, each known by its number; and as a program, a writer that can be killed."""

from __future__ import annotations

import os
import select
import signal
import sqlite3
import sys
import time
from collections.abc import Callable

import numpy as np

from deadheat.metrics.metric import Counts
from deadheat.study.plan.cells import DONE, Cell, Outcome, PartScores
from deadheat.study.store.store import Store

UNITS = 300


def cell(number: int, *, system: str = "perceptron.v2") -> Cell:
    return Cell("english", "0f" * 32, "random.v1(unit='document')", 7, number % 3, system, number)


def counts(number: int, units: int = UNITS) -> Counts:
    """Gold is the same for all; what is correct differs from run to run."""
    gold = np.arange(units) % 40 + 1
    correct = gold - (np.arange(units) * (number + 3) // 7) % 2
    return np.stack([correct, gold, gold], axis=1)


def outcome(number: int, *, status: str = DONE, units: int = UNITS, **more: object) -> Outcome:
    scores: tuple[PartScores, ...] = ()
    if status == DONE:
        found = counts(number, units)
        value = float(found[:, 0].sum() / found[:, 1].sum())
        scores = (PartScores("test", units, int(found[:, 1].sum()), {"upos.v1": value}, {"upos.v1": found}),)
    error = "" if status == DONE else f"number {number} went wrong"
    given = {"started": 1.8e9 + number, "wall_s": 2.5, "log": f"log of {number}\n", "error": error, "scores": scores}
    return Outcome(cell(number), status, **(given | more))  # type: ignore[arg-type]


def vouch(connection: sqlite3.Connection) -> None:
    """Let rows that a test has changed look as if they were written by a version without checksums."""
    connection.execute("DELETE FROM checksums WHERE kind = 'result' AND id NOT IN (SELECT id FROM results)")
    connection.execute("UPDATE checksums SET digest = x''")


def write_until_killed(path: str, tell: Callable[[str], object]) -> None:
    """Add outcomes for ever, and tell each key after its commit."""
    with Store.open(path, create=True) as store:
        number = len(store.done())
        while True:
            store.add(outcome(number))
            tell(f"{cell(number).key}\n")
            number += 1


def killed_writer(path: str, seconds: float, *, since_told: bool) -> bytes:
    """What a process told that wrote to a store and was killed after some time, from its start or its first word."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        write_until_killed(path, lambda line: os.write(into, line.encode()))
    os.close(into)
    if since_told:
        select.select([out], [], [], 60)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with open(out, "rb") as told:
        return told.read()


def main() -> None:
    """For every line `start|told SECONDS PATH` kill a writer, and print the keys that it told, on one line."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        since, seconds, path = line.rstrip("\n").split(" ", 2)
        told = killed_writer(path, float(seconds), since_told=since == "told")
        sys.stdout.write(" ".join(told.decode().split()) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
