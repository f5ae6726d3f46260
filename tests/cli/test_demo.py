from __future__ import annotations

import json
import os
import re
import webbrowser
from functools import wraps
from pathlib import Path

import pytest

from deadheat.cli import pages as command
from deadheat.questions.demo import Demo, demo
from deadheat.reporting.report import is_page
from deadheat.study.engine.worker import WorkerError
from tests.cli.running import Commands
from tests.questions.report_cases import quick_demo as quick_demo

QUICK = ("--sentences", "300", "--times", "2", "--seeds", "2")


def test_what_ran_before_is_not_run_again(
    quick_demo: Demo, commands: Commands, monkeypatch: pytest.MonkeyPatch, ledger_path: Path
) -> None:
    folder = quick_demo.folder.name
    monkeypatch.chdir(quick_demo.folder.parent)
    again = commands("demo", "--out", folder, *QUICK, "--full")
    assert again.code == 0
    assert again.err.splitlines() == [
        f"making six treebanks of invented languages in {folder} ...",
        "training four taggers on standard and random splits, with several seeds ...",
        "comparing three simulated parsers whose true scores are known ...",
        "writing the page ...",
    ]  # no progress: there was nothing to train
    assert is_page(quick_demo.folder / "index.html")
    assert not ledger_path.exists()  # the demo's evaluations are in its own ledger
    assert sum(tally.evaluations for tally in quick_demo.ledger.tallies()) == 48
    lines = again.out.splitlines()
    assert lines[0].startswith(
        "Four taggers: lookahead has the best Accuracy (upos) on these 6 data sets and is shown to be"
    )
    assert "data sets like these" in lines[0]
    assert [line.split()[:3] for line in lines[3:6]] == [
        ["lookahead", ">", name] for name in ("perceptron", "loglinear", "hmm")
    ]
    assert "velani, simulated parsers: Of these runs, A has the best LAS, but is not told apart from C and B." in lines
    truth = {line.split()[0]: line.split()[-1] for line in lines[-5:-2]}
    assert truth == {"A": "84.10", "B": "83.07", "C": "83.07"}
    assert lines[-1] == f"The page: {folder}/index.html"
    headlines = [line for line in commands("demo", "--out", folder, *QUICK).out.splitlines() if line]
    assert len(headlines) < 15
    assert headlines[0] == lines[0]  # the verdicts in one sentence each, without their tables
    assert not any(" > " in line for line in headlines)
    assert headlines[-1] == lines[-1]


def test_quiet_says_nothing_and_json_names_the_page(
    quick_demo: Demo, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(command, "demo", wraps(demo)(lambda *_, **__: quick_demo))  # it ran often enough
    done = commands("demo", "--out", quick_demo.folder, *QUICK, "--quiet", "--json", "--open")
    assert (done.code, done.err) == (0, "")
    summary = json.loads(done.out)
    page = quick_demo.folder / "index.html"
    assert summary["page"] == str(page)
    assert summary["verdicts"][0].startswith("Four taggers: lookahead has the best Accuracy (upos)")
    assert opened == [page.as_uri()]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--sentences", "299"], "deadheat demo: --sentences 299; expected at least 300"),
        (["--times", "0"], "deadheat demo: --times 0; expected at least 1"),
        (["--seeds", "0"], "deadheat demo: --seeds 0; expected at least 1"),
        (["--seed", "-1"], "deadheat demo: argument --seed: '-1'; expected a whole number, 0 or more"),
        (["--sentences", "many"], "deadheat demo: argument --sentences: 'many'; expected a whole number, 0 or more"),
        (["extra"], "deadheat demo: unrecognized arguments: extra"),
        (["--out", "file"], "file/index.html: "),
        (
            ["--out", "taken"],
            "taken: exists and is not from an earlier demo; expected a new folder, or an empty one",
        ),
        (["--out", "taken/index.html"], "taken/index.html/index.html: "),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_made(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "index.html").write_text("mine too")
    assert commands.refused("demo", *options).startswith(told)
    assert sorted(os.listdir(tmp_path)) == ["file", "taken"]
    assert os.listdir(tmp_path / "taken") == ["index.html"]
    assert (tmp_path / "taken" / "index.html").read_text() == "mine too"


def test_workers_that_fail_are_reported_without_a_traceback(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @wraps(demo)
    def fails(*_: object, **__: object) -> None:
        raise WorkerError("no process could be started\n")

    monkeypatch.setattr(command, "demo", fails)
    done = commands("demo", "--out", tmp_path / "new")
    assert (done.code, done.out, done.err) == (1, "", "deadheat demo: no process could be started\n")


@pytest.mark.slow
def test_the_whole_demo_takes_about_a_minute_of_two_cores(commands: Commands, tmp_path: Path) -> None:
    before = os.times()
    done = commands("demo", "--out", tmp_path / "demo", "--quiet", "--full")
    after = os.times()
    assert done.code == 0
    # As it is in truth: A is better than the others, which are equally good.
    assert "A has the best LAS and is shown to be better than both others." in done.out
    assert re.search(r"^(B > C|C > B) +(not told apart|equal within 0.50): ", done.out, re.MULTILINE)
    cpu = sum(after[:4]) - sum(before[:4])
    assert cpu < 200  # it takes 64 seconds
    assert (tmp_path / "demo" / "index.html").stat().st_size < 2_000_000
