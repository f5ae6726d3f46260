"""The workflow on the page about builds: its steps are run as GitHub would, with stubs for what is outside."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deadheat.cli.main import main

yaml = pytest.importorskip("yaml")
PAGE = Path(__file__).resolve().parent.parent / "docs" / "howto" / "gate-a-build.md"
EXPRESSIONS = {"github.event.number": "17", "github.token": "secret"}
STUBS = {
    "pip": '#!/bin/sh\n[ "$*" = "install deadheat" ]\n',
    "gh": '#!/bin/sh\necho "$GH_TOKEN $*" > comment.txt\nfor last; do :; done\ncp "$last" body.md\n',
    "evaluate.sh": '#!/bin/sh\nmkdir -p "$2" && cp new/* "$2"\n',
}


def steps() -> list[dict[str, Any]]:
    """The steps of the only job of the workflow."""
    blocks = re.findall(r"^```yaml\n# gate\.yml\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1
    workflow = yaml.safe_load(blocks[0])
    (job,) = workflow["jobs"].values()
    assert workflow[True] == "pull_request"  # YAML 1.1 takes `on` for true
    assert job["permissions"] == {"contents": "read", "pull-requests": "write"}
    steps: list[dict[str, Any]] = job["steps"]
    return steps


def filled(text: str) -> str:
    """A text with the values of GitHub's expressions."""
    return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda match: EXPRESSIONS[match[1]], text)


def run_job(folder: Path) -> bool:
    """Run the steps as GitHub does: after a failure, only those with `if: always()`; whether none has failed."""
    passed = True
    path = f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    for step in steps():
        if "run" not in step or not (passed or step.get("if") == "always()"):
            continue
        variables = {name: filled(value) for name, value in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "-e", "-c", filled(step["run"])],
            cwd=folder,
            env={**os.environ, **variables, "PATH": path},
            capture_output=True,
            text=True,
        )
        passed &= done.returncode == 0
    return passed


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder as the page says: the logs of the main branch, and an evaluation that writes those of the change."""
    main(["testbed", "--evaluations", "--out", str(tmp_path / "bed"), "--seed", "4"])
    for name in ("bin", "new", "logs/main"):
        (tmp_path / name).mkdir(parents=True)
    for name, text in STUBS.items():
        script = tmp_path / name if name.endswith(".sh") else tmp_path / "bin" / name
        script.write_text(text)
        script.chmod(0o755)
    for log in (tmp_path / "bed" / "inspect").glob("*_alpha.json"):
        (tmp_path / "logs" / "main" / log.name).write_bytes(log.read_bytes())
    return tmp_path


def evaluated(repository: Path, model: str, change: Callable[[str], str] = lambda text: text) -> None:
    """What the evaluation of the change will write."""
    for log in (repository / "bed" / "inspect").glob(f"*_{model}.json"):
        (repository / "new" / log.name).write_text(change(log.read_text("utf-8")), "utf-8")


def test_a_worse_change_fails_and_the_comment_says_why(repository: Path) -> None:
    evaluated(repository, "beta")
    assert not run_job(repository)
    assert (repository / "comment.txt").read_text() == "secret pr comment 17 --body-file comparison.md\n"
    assert (repository / "body.md").read_text().startswith("**main is better than change by 12.56 points")


def test_an_equal_change_passes(repository: Path) -> None:
    evaluated(repository, "alpha", lambda text: text.replace('"eval_id": "', '"eval_id": "other-'))
    assert run_job(repository)
    assert "main and change" in (repository / "body.md").read_text()


def test_an_evaluation_that_did_not_finish_fails_and_the_comment_says_so(repository: Path) -> None:
    evaluated(repository, "alpha", lambda text: text.replace('"status": "success"', '"status": "error"'))
    assert not run_job(repository)
    assert "the run did not finish (status error)" in (repository / "body.md").read_text()
