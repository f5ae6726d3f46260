"""Numbers of resamples, samples, draws and splits that nobody could wait for are refused at once."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from deadheat.errors import InputError, check_work
from tests.cli.running import Commands

TABLE = "treebank,A,B\n" + "".join(f"t{i:02d},{90 - i / 7:.3f},{89 - i / 6:.3f}\n" for i in range(90))
RUNS = "system,seed,score\n" + "".join(
    f"{name},{seed},{90 + seed / 7 + (name == 'B'):.3f}\n" for name in "AB" for seed in range(4)
)
GOLD = "".join(f"a{i}_X b_Y\n" for i in range(30))
HUGE = (10**12, 2**64, 10**30, 10**400)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("table.csv", TABLE), ("runs.csv", RUNS), ("gold.txt", GOLD)):
        Path(name).write_text(text)
    for name, step in (("a", 4), ("b", 6)):
        lines = [line.replace("_Y", "_X") if i % step == 0 else line for i, line in enumerate(GOLD.splitlines())]
        Path(f"{name}.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


COMMANDS = {
    "rank": ["rank", "table.csv", "--samples"],
    "rank on groups": ["rank", "table.csv", "--subset-size", "25", "--samples"],
    "seeds": ["seeds", "runs.csv", "--score", "score", "--resamples"],
    "score": ["score", "gold.txt", "a.txt", "--interval", "bootstrap", "--resamples"],
    "compare": ["compare", "gold.txt", "A=a.txt", "B=b.txt", "--test", "bootstrap", "--resamples"],
    "compare by randomization": ["compare", "gold.txt", "A=a.txt", "B=b.txt", "--test", "randomization", "--resamples"],
    "compare tables": ["compare", "--scores", "table.csv", "--test", "bootstrap", "--resamples"],
    "size": ["size", "gold.txt", "A=a.txt", "B=b.txt", "--sizes", "10,20", "--draws"],
    "split": ["split", "gold.txt", "--strategy", "random", "--out", "splits", "--times"],
    "demo": ["demo", "--out", "page", "--times"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_work_without_end_is_refused_at_once(command: str, commands: Commands) -> None:
    before = os.listdir()
    for number in HUGE:
        start = time.process_time()
        message = commands.refused(*COMMANDS[command], number)
        assert "; expected at most " in message
        assert "would take " in message or "would need " in message
        assert time.process_time() - start < 5
    assert os.listdir() == before


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "demo"])
def test_usual_numbers_are_computed(command: str, commands: Commands) -> None:
    assert commands(*COMMANDS[command], 200).code == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_numbers_below_the_least_are_refused(command: str, commands: Commands) -> None:
    for number in (0, -1):
        assert "expected" in commands.refused(*COMMANDS[command], number)


def test_numbers_that_are_not_used_need_no_time(commands: Commands) -> None:
    assert commands("compare", "gold.txt", "A=a.txt", "B=b.txt", "--resamples", 10**30).code == 0


@pytest.mark.parametrize(
    ("number", "nanoseconds", "size", "problem"),
    [
        (10**9, 10**4, 0, "1,000,000,000 draws; expected at most 360,000,000: so many would take about 3 hours"),
        (10**12, 10**4, 0, "expected at most 360,000,000: so many would take about 116 days"),
        (10**15, 10**4, 0, "so many would take about 317 years"),
        (10**30, 10**4, 0, "more than 10^29 draws; expected at most 360,000,000: so many would take millions of years"),
        (10**9, 1, 100, "expected at most 85,899,345: so many would need 100 GB of memory"),
    ],
)
def test_the_message_says_how_long_it_would_take(number: int, nanoseconds: float, size: float, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        check_work("draws", number, nanoseconds=nanoseconds, size=size)
    assert problem in str(caught.value)


def test_what_takes_an_hour_at_most_is_computed() -> None:
    check_work("draws", 360_000_000, nanoseconds=10**4)
    check_work("draws", 10_000, nanoseconds=1e30)  # estimates may be wrong, and defaults are never refused
