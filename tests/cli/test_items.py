"""Commands on scores of single items: tables, and logs of evaluations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import Commands

Scores = Mapping[str, Sequence[float | None]]


def write_table(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """A CSV file with the columns of the first row; None is an empty cell."""
    lines = [",".join(rows[0])]
    lines += [",".join("" if value is None else str(value) for value in row.values()) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def long_rows(scores: Scores, task: str = "") -> list[dict[str, object]]:
    """One row per item and system."""
    named = {"task": task} if task else {}
    return [
        {**named, "item": f"q{item}", "system": system, "correct": value}
        for system, values in scores.items()
        for item, value in enumerate(values)
    ]


def right(rate: float, items: int = 60, seed: int = 0) -> list[float | None]:
    """Simulated right and wrong answers."""
    return [float(value) for value in np.random.default_rng(seed).random(items) < rate]


def inspect_log(path: Path, task: str, scores: Sequence[float | None], model: str) -> Path:
    """A log of Inspect; None is a sample that was not scored."""
    samples = [
        {"id": f"q{item}", "epoch": 1, "scores": {"match": {"value": float("nan") if value is None else value}}}
        for item, value in enumerate(scores)
    ]
    spec = {"eval_id": f"{path}", "run_id": "r", "task": task, "model": model}
    header = {"version": 2, "status": "success", "eval": spec}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**header, "samples": samples}))
    return path


class TestGate:
    def test_systems_without_a_common_task_are_refused(self, tmp_path: Path, commands: Commands) -> None:
        inspect_log(tmp_path / "a" / "log.json", "sums", right(0.8), "a")
        inspect_log(tmp_path / "b" / "log.json", "words", right(0.4), "b")
        files = [f"main={tmp_path / 'a'}", f"change={tmp_path / 'b'}"]
        message = commands.refused("compare", *files, "--fail-if-worse", "change")
        assert "no task with scores of both main and change (sums of main, words of change)" in message
        assert commands.refused("compare", *files) == message

    def test_fewer_than_half_of_the_tasks_in_common_are_refused(self, tmp_path: Path, commands: Commands) -> None:
        for task in ("sums", "words", "more"):
            inspect_log(tmp_path / "a" / f"{task}.json", task, right(0.8), "a")
        inspect_log(tmp_path / "b" / "sums.json", "sums", right(0.4, seed=1), "b")
        files = [f"main={tmp_path / 'a'}", f"change={tmp_path / 'b'}"]
        message = commands.refused("compare", *files)
        assert "1 of 3 tasks has scores of both main and change (more and words of main only)" in message
        inspect_log(tmp_path / "b" / "words.json", "words", right(0.4, seed=2), "b")
        outcome = commands("compare", *files, "--fail-if-worse", "change")
        assert outcome.code == 1
        assert "note: change has no scores on more" in outcome.err

    def test_a_system_of_three_that_shares_too_few_tasks_cannot_pass_a_gate(
        self, tmp_path: Path, commands: Commands
    ) -> None:
        for system in "ab":
            for task in ("sums", "words", "more"):
                inspect_log(tmp_path / system / f"{task}.json", task, right(0.8, seed=ord(system)), system)
        inspect_log(tmp_path / "c" / "sums.json", "sums", right(0.4, seed=1), "c")
        files = [f"{name}={tmp_path / name}" for name in "abc"]
        assert "note: a and c share 1 task of 3" in commands("compare", *files).err
        assert commands("compare", *files, "--fail-if-worse", "a").code == 0
        message = commands.refused("compare", *files, "--fail-if-worse", "c")
        assert "c shares fewer than half of the tasks with every other system" in message

    def test_a_single_item_cannot_pass_a_gate(self, tmp_path: Path, commands: Commands) -> None:
        table = write_table(tmp_path / "one.csv", long_rows({"main": [1], "change": [0]}))
        assert commands("compare", table).code == 0
        message = commands.refused("compare", table, "--fail-if-worse", "change")
        assert "change could not be compared with any system" in message

    def test_predictions_of_different_data_sets_are_refused(self, tmp_path: Path, commands: Commands) -> None:
        for name in ("one", "two"):
            (tmp_path / f"{name}.gold").write_text("a_X b_Y\n" * 20)
        (tmp_path / "one.a").write_text("a_X b_Y\n" * 20)
        (tmp_path / "two.b").write_text("a_X b_Y\n" * 20)
        patterns = [f"a={tmp_path}/{{dataset}}.a", f"b={tmp_path}/{{dataset}}.b"]
        message = commands.refused("compare", f"{tmp_path}/{{dataset}}.gold", *patterns, "--fail-if-worse", "b")
        assert "no data set with scores of two systems" in message

    @pytest.mark.parametrize(("margin", "code"), [(0, 1), (None, 1), (15, 1), (60, 0)])
    def test_a_loss_within_the_margin_passes(
        self, margin: float | None, code: int, tmp_path: Path, commands: Commands
    ) -> None:
        """The loss is 30 points, with an interval of about 13 to 47."""
        table = write_table(tmp_path / "items.csv", long_rows({"main": right(0.85), "change": right(0.55)}))
        options = [] if margin is None else ["--margin", margin]
        outcome = commands("compare", table, "--fail-if-worse", "change", *options)
        assert outcome.code == code
        assert "main is better than change" in outcome.out
        assert commands("compare", table, "--fail-if-worse", "main", *options).code == 0


def test_power_is_about_the_tasks_of_both_systems(tmp_path: Path, commands: Commands) -> None:
    for task in ("sums", "words"):
        inspect_log(tmp_path / "a" / f"{task}.json", task, right(0.8), "a")
    inspect_log(tmp_path / "b" / "sums.json", "sums", right(0.4, seed=1), "b")
    outcome = commands("power", f"a={tmp_path / 'a'}", f"b={tmp_path / 'b'}", "--difference", 10, "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["measured_units"] == 60
    assert "note: b has no scores on words" in outcome.err
