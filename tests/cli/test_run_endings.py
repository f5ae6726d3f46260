"""What `deadheat run` ends with: failures, the verdict, and commands that can be copied."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.cli.running import Commands
from tests.study.study_cases import study_file

FAILING = """[[systems]]
name = "command"
label = "mine"
train = "sh {0}/train.sh"
predict = "sh {0}/noun.sh"
"""


def test_the_page_of_a_study_is_made_by_the_command_that_its_run_ends_with(
    commands: Commands, tmp_path: Path, ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = study_file(tmp_path)
    monkeypatch.chdir(tmp_path)
    lines = commands("run", done.name, "--quiet", "--ledger", ledger_path).err.splitlines()
    assert lines[-1] == f"page: deadheat report study.sqlite --ledger {ledger_path}"
    assert commands(*shlex.split(lines[-1])[2:]).out.endswith("The page: study.html\n")


def test_a_run_without_results_has_no_page(commands: Commands, tmp_path: Path) -> None:
    path = study_file(tmp_path, "", "", times=1)
    path.write_text(path.read_text() + FAILING.format(tmp_path))
    (tmp_path / "train.sh").write_text("false")
    failed = commands("run", path, "--quiet")
    assert failed.code == 1
    assert failed.err.endswith("verdict: The only cell failed.\n")


def test_failed_cells_run_again_with_the_same_values_and_files(
    commands: Commands, tmp_path: Path, ledger_path: Path
) -> None:
    path = study_file(tmp_path, "majority", times=2)
    path.write_text(path.read_text() + FAILING.format(tmp_path))
    (tmp_path / "train.sh").write_text(f"test -e {tmp_path}/well")
    options = ["--set", "splits.times=1", "--store", str(tmp_path / "other.sqlite"), "--ledger", str(ledger_path)]
    (line,) = [line for line in commands("run", path, "--quiet", *options).err.splitlines() if "--retry" in line]
    (tmp_path / "well").touch()
    again = commands(*shlex.split(line.partition(": deadheat ")[2]), "--quiet")
    assert (again.code, again.err.partition(";")[0]) == (0, "note: 1 cell run, 1 already in the store")


def test_errors_that_differ_in_temporary_files_alone_are_of_one_kind(commands: Commands, tmp_path: Path) -> None:
    path = study_file(tmp_path, "majority", times=3)
    path.write_text(path.read_text() + "[[systems]]\nname = 'command'\nlabel = 'mine'\npredict = 'true'\n")
    errors = commands("run", path, "--quiet").err
    assert errors.count("deadheat-run-") == 1
    assert " and 2 more like it\n" in errors


def test_files_that_a_study_needs_where_it_starts_are_missed_before_it_does(commands: Commands, tmp_path: Path) -> None:
    path = study_file(tmp_path, "majority", times=1)
    path.write_text(
        path.read_text().replace("[engine]", "[engine]\nfiles = ['study.toml', 'nosuch']")
        + "[[systems]]\nname = 'command'\nlabel = 'mine'\ntrain = 'python -u train.py {train}'\npredict = 'true'\n"
        + "[[systems]]\nname = 'command'\nlabel = 'line'\npredict = 'cd sub && sh predict.sh'\nshell = true\n"
    )
    lines = path.read_text().splitlines()
    expected = [
        (1 + lines.index("files = ['study.toml', 'nosuch']"), "engine.files: nosuch: no such file or folder"),
        (1 + lines.index("train = 'python -u train.py {train}'"), "command: train.py: no such file"),
    ]
    for more in (["--plan"], ["--slurm", "--dry-run"], []):
        refused = commands("run", path, *more)
        assert refused.code == 2
        assert refused.err.splitlines() == [
            f"{path}:{line}: {problem}; expected it beside the study file" for line, problem in sorted(expected)
        ]
    for name in ("train.py", "nosuch"):
        (tmp_path / name).touch()
    assert commands("run", path, "--plan").code == 0
