"""Other questions on scores of items: seeds, size, power and rank, metrics, and items without a score."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.item_files import inspect_log, long_rows, right, write_table
from tests.cli.running import Commands
from tests.items.logs.samples import lm_eval, sample


class TestSeeds:
    def test_the_runs_are_means_over_items_and_tasks(self, tmp_path: Path, commands: Commands) -> None:
        """By hand: alpha has 2 of 4 and 4 of 4 on x, 1 of 4 and 2 of 4 on y: its runs score 37.5 and 75."""
        scores = {
            ("x", "alpha"): ([1, 1, 0, 0], [1, 1, 1, 1]),
            ("y", "alpha"): ([1, 0, 0, 0], [1, 1, 0, 0]),
            ("x", "beta"): ([0, 0, 0, 0], [1, 0, 0, 0]),
            ("y", "beta"): ([1, 0, 0, 0], [0, 0, 0, 0]),
        }
        rows = [
            {"task": task, "item": f"q{item}", "system": system, "seed": seed, "correct": value}
            for (task, system), runs in scores.items()
            for seed, values in enumerate(runs)
            for item, value in enumerate(values)
        ]
        table = write_table(tmp_path / "items.csv", rows)
        (block,) = json.loads(commands("seeds", table, "--score", "correct", "--json").out)["blocks"]
        assert {row["system"]: row["scores"] for row in block["systems"]} == {
            "alpha": [0.375, 0.75],
            "beta": [0.125, 0.125],
        }
        blocks = json.loads(commands("seeds", table, "--by", "task", "--json").out)["blocks"]
        assert [(block["level"], block["systems"][0]["scores"]) for block in blocks] == [
            ("x", [0.5, 1.0]),
            ("y", [0.25, 0.5]),
        ]
        assert "--by item with scores of items; expected --by task" in commands.refused("seeds", table, "--by", "item")
        assert "--dev with scores of items" in commands.refused("seeds", table, "--dev", "correct")

    def test_logs_have_runs_if_there_are_several(self, tmp_path: Path, commands: Commands) -> None:
        for system, rate in {"a": 0.8, "b": 0.5}.items():
            inspect_log(tmp_path / f"{system}1.json", "sums", right(rate), system)
        assert "one run of every system; expected several" in commands.refused("seeds", tmp_path)
        for system, rate in {"a": 0.8, "b": 0.5}.items():
            inspect_log(tmp_path / f"{system}2.json", "sums", right(rate, seed=2), system)
        outcome = commands("seeds", tmp_path, "--json")
        (block,) = json.loads(outcome.out)["blocks"]
        assert [len(row["scores"]) for row in block["systems"]] == [2, 2]
        assert "--unit" not in outcome.err  # which this command does not have

    def test_a_table_of_runs_with_an_id_or_a_prompt_is_no_table_of_items(
        self, tmp_path: Path, commands: Commands
    ) -> None:
        rows = [
            {
                "id": f"{system}{seed}",
                "system": system,
                "seed": seed,
                "prompt": "short",
                "score": seed + (system == "a"),
            }
            for system in "ab"
            for seed in range(4)
        ]
        table = write_table(tmp_path / "runs.csv", rows)
        (block,) = json.loads(commands("seeds", table, "--score", "score", "--json").out)["blocks"]
        assert [len(row["scores"]) for row in block["systems"]] == [4, 4]
        assert "--cluster is for scores of items" in commands.refused(
            "seeds", table, "--score", "score", "--cluster", "prompt"
        )


class TestUnscored:
    """Items without a score: of main, the last ten, which it would have had wrong."""

    def table(self, path: Path) -> Path:
        scores = {"main": [*right(0.75, 50), *[None] * 10], "change": [*right(0.45, 50, seed=1), *[1] * 10]}
        return write_table(path, long_rows(scores))

    def test_both_verdicts_and_the_numbers_are_said(self, tmp_path: Path, commands: Commands) -> None:
        table = self.table(tmp_path / "items.csv")
        left_out, zero = commands("compare", table), commands("compare", table, "--errors", "zero")
        assert "items without a score left out of all systems: 10 of main" in left_out.err
        assert "main and change: main is better without the items that have no score, but they are not told" in (
            left_out.err
        )
        assert "items without a score count as wrong: 10 of main" in zero.err
        assert "main and change: they are not told apart with these items as wrong, but main is better if they" in (
            zero.err
        )

    def test_scores_below_0_have_no_worst_one(self, tmp_path: Path, commands: Commands) -> None:
        rows = long_rows({"a": [-1.0, -2.5, None, -0.5] * 10, "b": [-2.0, -1.5, -1.0, 0.0] * 10})
        table = write_table(tmp_path / "items.csv", [{"mqm": row.pop("correct"), **row} for row in rows])
        columns = ["--score", "mqm"]
        assert "--errors" not in commands("compare", table, *columns).err
        message = commands.refused("compare", table, *columns, "--errors", "zero")
        assert "--errors zero with mqm, which goes down to -2.5; expected scores of which 0 is the lowest" in message

    def test_attempts_without_a_score_are_counted(self, tmp_path: Path, commands: Commands) -> None:
        rows = [
            {
                "item": i,
                "system": system,
                "epoch": k,
                "score": None if k == 0 and i < 7 and system == "a" else (i + k) % 2,
            }
            for i in range(30)
            for k in range(3)
            for system in "ab"
        ]
        table = write_table(tmp_path / "items.csv", rows)
        assert "attempts without a score left out: 7 of a" in commands("compare", table).err
        assert "attempts without a score count as wrong: 7 of a" in commands("compare", table, "--errors", "zero").err


class TestSizeAndPower:
    def test_sizes_are_in_items(self, tmp_path: Path, commands: Commands) -> None:
        table = write_table(tmp_path / "items.csv", long_rows({"a": right(0.9, 300), "b": right(0.4, 300, seed=1)}))
        result = json.loads(commands("size", table, "--json").out)
        (test_set,) = result["sets"]
        assert (test_set["unit"], test_set["units"], result["settings"]["sizes"][:3]) == ("item", 300, [10, 20, 50])
        (rand,) = [curve for curve in test_set["curves"] if curve["strategy"] == "rand"]
        assert rand["sufficient"] == 10
        out = commands("size", table, "--sizes", "30,60").out
        assert out.startswith("30 items of items.csv are sufficient")
        assert "word" not in out
        assert "all sizes are larger than 299 items" in commands.refused("size", table, "--sizes", "900")
        assert "--save is for files of predictions" in commands.refused("size", table, "--save", tmp_path / "x.npz")

    def test_labels_are_items_in_size_and_power_too(self, classified: Sequence[object], commands: Commands) -> None:
        result = json.loads(commands("size", *classified, "--json").out)
        assert (result["sets"][0]["unit"], result["sets"][0]["units"]) == ("item", 80)
        result = json.loads(commands("power", *classified, "--difference", 5, "--json").out)
        assert (result["unit"], result["measured_units"]) == ("item", 80)
        for command in ("size", "power"):
            assert "alone; expected GOLD NAME=PRED" in commands.refused(
                command, classified[0], *(["--difference", 5] if command == "power" else [])
            )


class TestMetrics:
    def logs(self, folder: Path) -> Path:
        for model in ("a", "b"):
            lines = [
                sample(
                    number,
                    {"acc": float((number + len(model)) % 3 > 0), "acc_norm": 1.0 * (number % 2)},
                    filter_name=name,
                )
                for number in range(20)
                for name in ("strict", "flexible")
            ]
            lm_eval(folder, model, "sums", lines)
            lm_eval(folder, model, "words", [sample(number, {"f1": number / 20}) for number in range(20)])
        return folder

    def test_a_metric_may_be_named_without_its_filter(self, tmp_path: Path, commands: Commands) -> None:
        logs = self.logs(tmp_path / "logs")
        assert json.loads(commands("compare", logs, "--metric", "F1", "--json").out)["metric"] == "f1,none"
        message = commands.refused("compare", logs, "--metric", "acc")
        assert "metric acc with several filters; expected one of acc,strict, acc,flexible" in message
        assert "metric 'bleu'" in commands.refused("compare", logs, "--metric", "bleu")

    def test_rank_says_what_it_took_and_what_it_left_out(self, tmp_path: Path, commands: Commands) -> None:
        rows = [*long_rows({"a": [*right(0.7), None], "b": [*right(0.5), 1]}, "x")]
        rows += long_rows({"a": right(0.7), "b": right(0.4)}, "y") + long_rows(
            {"a": right(0.7), "b": right(0.6)[:50]}, "z"
        )
        outcome = commands("rank", write_table(tmp_path / "items.csv", rows))
        assert "note: x: items without a score left out of all systems: 1 of a\n" in outcome.err
        assert "note: z: 10 items that not all systems were asked left out of 60" in outcome.err
        outcome = commands("rank", self.logs(tmp_path / "logs"))
        assert "the first metric of every task: acc,strict on sums, f1,none on words" in outcome.err


def test_contrasts_are_of_runs_not_of_items(tmp_path: Path, commands: Commands) -> None:
    rows = [{**row, "seed": seed} for seed in range(3) for row in long_rows({"a": right(0.8), "b": right(0.5)})]
    table = write_table(tmp_path / "items.csv", rows)
    message = commands.refused("contrast", table, "--factor", "system", "--score", "correct")
    assert "items.csv: scores of items (column item); expected one row per run" in message


@pytest.mark.parametrize("name", ["id", "index"])
@pytest.mark.parametrize("command", ["rank", "report"])
def test_numbered_rows_of_data_sets_are_no_items(name: str, command: str, tmp_path: Path, commands: Commands) -> None:
    cells = [(text, system) for text in ("en", "de", "fi") for system in "AB"]
    rows: list[dict[str, object]] = [
        {name: row, "treebank": text, "system": system, "score": 90 - row} for row, (text, system) in enumerate(cells)
    ]
    options = ["--out", tmp_path / "page.html"] if command == "report" else []
    outcome = commands(command, write_table(tmp_path / "scores.csv", rows), *options)
    assert outcome.code == 0, outcome.err
    assert "data sets" in outcome.out
