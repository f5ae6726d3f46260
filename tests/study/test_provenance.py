"""What a run was made with is recorded, and no program that a repository names is started for it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from deadheat.study.store import provenance as provenance_module
from deadheat.study.store.provenance import provenance, revision
from deadheat.version import __version__


def git(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    names = ["-c", "user.name=somebody", "-c", "user.email=somebody"]
    command = ["git", "-C", str(folder), *names, *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()


def test_the_revision_of_the_code_is_told_and_whether_it_was_changed(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "study.toml").write_text("a = 1\n")
    assert revision(tmp_path) == {}  # nothing was committed yet
    git(tmp_path, "add", "study.toml")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    (tmp_path / "sub").mkdir()
    commit = git(tmp_path, "rev-parse", "HEAD")
    assert revision(tmp_path / "sub") == {"revision": commit, "changed": False}
    (tmp_path / "study.toml").write_text("a = 2\n")
    assert revision(tmp_path) == {"revision": commit, "changed": True}


def test_without_git_or_an_answer_in_time_there_is_no_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert revision(tmp_path / "absent") == {}
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "first")
    assert revision(tmp_path)
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 20\n")
    slow.chmod(0o755)
    monkeypatch.setattr(provenance_module, "GIT_LIMIT_S", 0.1)
    with monkeypatch.context() as changed:
        changed.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
        assert revision(tmp_path) == {}
    monkeypatch.setenv("PATH", str(tmp_path))
    assert revision(tmp_path) == {}


def test_provenance_says_what_a_run_was_made_with(tmp_path: Path) -> None:
    record = provenance(tmp_path)
    assert record["deadheat"] == __version__
    assert record["numpy"] == np.__version__
    assert record["host"] == os.uname().nodename
    assert {"python", "platform", "processors", "user"} <= set(record)


def test_no_program_of_a_repository_is_started(tmp_path: Path) -> None:
    repository, marks = tmp_path / "repository", tmp_path / "marks"
    repository.mkdir()
    marks.mkdir()
    git(repository, "init", "--quiet")
    (repository / "study.toml").write_text("a = 1\n")
    (repository / ".gitattributes").write_text("*.toml filter=some=thing\n")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message", "first")
    commit = git(repository, "rev-parse", "HEAD")
    hooks = repository / ".git" / "hooks"
    for name in ("post-index-change", "fsmonitor-watchman", "filter"):
        script = hooks / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"#!/bin/sh\ntouch {marks / name}\ncat\n")
        script.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(hooks / "fsmonitor-watchman"))
    git(repository, "config", "filter.some=thing.clean", str(hooks / "filter"))
    git(repository, "config", "filter.some=thing.required", "true")
    os.utime(repository / "study.toml", (1, 1))  # so that git reads the file again
    assert revision(repository) == {"revision": commit, "changed": False}
    (repository / "study.toml").write_text("a = 2\n")
    assert revision(repository) == {"revision": commit, "changed": True}
    assert [path.name for path in marks.iterdir()] == []
    git(repository, "status")  # the same configuration without our care
    assert {path.name for path in marks.iterdir()} >= {"fsmonitor-watchman", "filter"}
