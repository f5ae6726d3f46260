"""Commands on scores of single items: tables, and logs of evaluations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.item_files import inspect_log, long_rows, right, write_table
from tests.cli.running import Commands


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
        assert "c shares fewer than half of the tasks or data sets with every other system" in message

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

    def test_the_last_line_says_what_came_of_the_check(self, tmp_path: Path, commands: Commands) -> None:
        systems = {"main": right(0.85), "change": right(0.55), "other": right(0.85, seed=1)}
        table = write_table(tmp_path / "items.csv", long_rows(systems))

        def last_line(name: str, *options: object) -> str:
            outcome = commands("compare", table, "--fail-if-worse", name, *options)
            assert "gate" not in outcome.out
            line = outcome.err.splitlines()[-1]
            assert line.startswith("gate FAILED: " if outcome.code else "gate passed: ")
            return line

        result = commands("compare", table, "--json")
        pairs = {(pair["a"], pair["b"]): pair for pair in json.loads(result.out)["pairs"]}
        assert "gate" not in result.err
        line = last_line("change")
        drops = [
            f"{100 * (systems[name].count(1) - systems['change'].count(1)) / 60:.2f} points"
            for name in ("main", "other")
        ]
        both = f"change is worse than main by {drops[0]} and other by {drops[1]}"
        assert line == f"gate FAILED: {both}"
        assert last_line("change", "--json") == last_line("change", "--markdown") == line
        within = last_line("change", "--margin", 90)
        assert within == f"gate passed: {both}, which is within the margin"
        passed = last_line("main")
        unseen = 100 * next(pair["detectable"] for names, pair in pairs.items() if {*names} == {"main", "other"})
        expected = f"is not shown to be worse than other (a drop of less than {unseen:.2f} points could pass unseen)"
        assert passed == f"gate passed: main is better than change by {drops[0]}; {expected}"

    def test_with_two_items_any_drop_could_pass_unseen(self, tmp_path: Path, commands: Commands) -> None:
        table = write_table(tmp_path / "few.csv", long_rows({"main": [1, 0], "change": [0, 1]}))
        line = commands("compare", table, "--fail-if-worse", "change").err.splitlines()[-1]
        assert line == (
            "gate passed: change is not shown to be worse than main (any drop could pass unseen with so few items)"
        )


ITEMS = {"alpha": right(0.8), "beta": right(0.5, seed=1)}
BROKEN = {  # what is in a file, and what is wrong with it
    "a bad score": ("item,system,correct\nq0,a,1\nq0,b,abc\n", ":3: correct 'abc'; expected a number"),
    "infinity": ("item,system,correct\nq0,a,1\nq0,b,inf\n", ":3: correct 'inf'; expected a number"),
    "nothing": ("", "an empty table"),
    "a header only": ("item,system,correct\n", "an empty table"),
    "a short row": ("item,system,correct\nq0,a\n", ":2: 2 columns; expected 3"),
    "no items": ("system,dataset,score\na,x,1\n", "no column of items among system, dataset, score; expected --item"),
    "battles": ("model_a,model_b,winner,question_id\nA,B,tie,1\n", "battles of systems; expected scores of items"),
    "one system": ("item,score\nq0,1\nq1,0\n", "1 system; expected at least two to compare"),
}


class TestUnnamedFiles:
    @pytest.mark.parametrize(("text", "problem"), BROKEN.values(), ids=BROKEN)
    def test_what_is_wrong_with_a_file_is_said(
        self, text: str, problem: str, tmp_path: Path, commands: Commands
    ) -> None:
        path = tmp_path / "scores.csv"
        path.write_text(text)
        message = commands.refused("compare", path)
        assert message.startswith(str(path))
        assert problem in message

    @pytest.mark.parametrize(
        ("name", "content", "problem"),
        [
            ("x.parquet", b"PAR1abc", "corrupt Parquet file"),
            ("x.jsonl", b'{"item": 1, "sys', ":1: not JSON"),
            ("x.jsonl", b'{"item": ' + b"[" * 100_000, ":1: not JSON (nested too deeply)"),
            ("x.eval", b"PK\x03\x04header.json", "corrupt or incomplete zip archive"),
            ("x.json", b'[{"item": 1, "score"', "not JSON"),
            ("x.json", b'{"mteb_version": "1", "task_name": "a", "scores": {}}', "scores of whole tasks (MTEB)"),
        ],
    )
    def test_what_is_wrong_with_a_damaged_file_is_said(
        self, name: str, content: bytes, problem: str, tmp_path: Path, commands: Commands
    ) -> None:
        path = tmp_path / name
        path.write_bytes(content)
        message = commands.refused("compare", path)
        assert message.startswith(str(path))
        assert problem in message

    def test_what_is_wrong_in_a_folder_is_said(self, tmp_path: Path, commands: Commands) -> None:
        path = inspect_log(tmp_path / "logs" / "a.json", "sums", right(0.8), "a")
        path.write_text(path.read_text().replace("success", "error"))
        for command in ("compare", "rank", "report"):
            message = commands.refused(command, tmp_path / "logs")
            assert message == f"{path}: the run did not finish (status error); expected success (--partial reads it)"
        message = commands.refused("compare", tmp_path / "logs", "--partial")
        assert message.endswith(": 1 system; expected at least two to compare")
        (tmp_path / "empty").mkdir()
        assert "no log that is known" in commands.refused("report", tmp_path / "empty")

    def test_predictions_without_names_are_asked_for_them(self, tmp_path: Path, commands: Commands, gold: Path) -> None:
        assert "expected NAME=FILE, such as A=" in commands.refused("compare", gold, gold)
        labels = write_table(tmp_path / "gold.tsv", [{"id": "x", "label": "A"}])
        assert "expected NAME=FILE, such as A=" in commands.refused("compare", labels, labels)

    def test_files_of_one_system_each_are_called_as_the_files(self, tmp_path: Path, commands: Commands) -> None:
        for name, values in ITEMS.items():
            rows = [{"item": f"q{item}", "score": value, "length": 7} for item, value in enumerate(values)]
            write_table(tmp_path / f"{name}.csv", rows)
        outcome = commands("compare", tmp_path / "alpha.csv", tmp_path / "beta.csv", "--json")
        assert [row["system"] for row in json.loads(outcome.out)["systems"]] == ["alpha", "beta"]

    def test_rows_may_be_a_json_array(self, tmp_path: Path, commands: Commands) -> None:
        path = tmp_path / "items.json"
        path.write_text(json.dumps(long_rows(ITEMS), indent=1))
        table = write_table(tmp_path / "items.csv", long_rows(ITEMS))
        assert (
            json.loads(commands("compare", path, "--json").out)["pairs"]
            == (json.loads(commands("compare", table, "--json").out)["pairs"])
        )


class TestColumns:
    @pytest.mark.parametrize("column", ["length", "num_tokens", "Duration", "prompt_len", "confidence_ms"])
    def test_a_column_that_is_hardly_a_system_is_asked_about(
        self, column: str, tmp_path: Path, commands: Commands
    ) -> None:
        rows = [{"item": i, "alpha": i % 2, "beta": i % 3 > 0, column: i % 2} for i in range(30)]
        table = write_table(tmp_path / "wide.csv", rows)
        message = commands.refused("compare", table)
        assert f"column {column} among the systems; expected --ignore {column}" in message
        result = json.loads(commands("compare", table, "--ignore", column, "--json").out)
        assert [row["system"] for row in result["systems"]] == ["alpha", "beta"]

    def test_columns_of_another_range_or_of_text_are_asked_about(self, tmp_path: Path, commands: Commands) -> None:
        rows = [{"item": i, "alpha": i % 2, "beta": 0.5, "other": i} for i in range(30)]
        message = commands.refused("compare", write_table(tmp_path / "wide.csv", rows))
        assert "column other goes up to 29, and alpha from 0 to 1; expected --ignore other" in message
        texts = [{"item": i, "alpha": i % 2, "beta": 0.5, "answer": "blue"} for i in range(30)]
        message = commands.refused("compare", write_table(tmp_path / "texts.csv", texts))
        assert "column answer has text where the others have scores of systems; expected --ignore answer" in message

    def test_named_columns_mean_the_same_in_every_command(self, tmp_path: Path, commands: Commands) -> None:
        rows = [
            {"T": task, "Q": f"q{item}", "M": system, "K": run, "P": item // 6, "N": "right", "S": value}
            for task in "xyz"
            for system, chance in {"alpha": 0.8, "beta": 0.4}.items()
            for run in range(3)
            for item, value in enumerate(right(chance, seed=100 * ord(task) + run))
        ]
        table = write_table(tmp_path / "odd.csv", rows)
        columns = ["--item", "Q", "--system", "M", "--score", "S", "--run", "K", "--task", "T", "--cluster", "P"]
        columns += ["--metric-column", "N"]
        more: dict[str, list[object]] = {"power": ["--difference", 5], "size": ["--sizes", "10,20"]}
        more["report"] = ["--out", tmp_path / "page.html"]
        for command in ("compare", "rank", "seeds", "size", "power", "report"):
            outcome = commands(command, table, *columns, *more.get(command, []))
            assert outcome.code == 0, (command, outcome.err)
            assert "alpha" in outcome.out

    def test_a_named_column_of_scores_is_the_only_one(self, tmp_path: Path, commands: Commands) -> None:
        rows = [{"item": i, "alpha": i % 2, "beta": 0.5} for i in range(30)]
        table = write_table(tmp_path / "wide.csv", rows)
        assert commands.refused("compare", table, "--score", "alpha") == (
            f"{table}: 1 system; expected at least two to compare"
        )


def test_power_is_about_the_tasks_of_both_systems(tmp_path: Path, commands: Commands) -> None:
    for task in ("sums", "words"):
        inspect_log(tmp_path / "a" / f"{task}.json", task, right(0.8), "a")
    inspect_log(tmp_path / "b" / "sums.json", "sums", right(0.4, seed=1), "b")
    outcome = commands("power", f"a={tmp_path / 'a'}", f"b={tmp_path / 'b'}", "--difference", 10, "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["measured_units"] == 60
    assert "note: b has no scores on words" in outcome.err


@pytest.mark.parametrize("test", ["mcnemar-midp", "mcnemar-exact", "sign", "wilcoxon", "permutation-exact"])
@pytest.mark.parametrize("metric", ["mcc", "macro-f1"])
def test_tests_of_single_items_are_refused_for_metrics_of_all_items(
    test: str, metric: str, classified: Sequence[object], commands: Commands
) -> None:
    message = commands.refused("compare", *classified, "--metric", metric, "--test", test)
    assert f"{test} compares single items, and" in message
    assert commands("compare", *classified, "--metric", metric, "--test", "bootstrap").code == 0
    assert commands("compare", *classified, "--metric", "accuracy", "--test", test).code == 0


class TestMarkdown:
    def test_the_comment_has_the_notes(self, tmp_path: Path, commands: Commands) -> None:
        rows = long_rows({"a": [*right(0.8), None], "b": [*right(0.5), 1]})
        table = write_table(tmp_path / "items.csv", rows)
        outcome = commands("compare", table, "--markdown")
        assert "\n- items without a score left out of all systems: 1 of a; --errors zero counts them as wrong\n" in (
            outcome.out
        )
        assert outcome.err == ""

    def test_one_format_at_a_time(self, tmp_path: Path, commands: Commands) -> None:
        table = write_table(tmp_path / "items.csv", long_rows(ITEMS))
        assert "--json with --markdown; expected one" in commands.refused("compare", table, "--json", "--markdown")


def test_options_of_corpora_are_refused(tmp_path: Path, classified: Sequence[object], commands: Commands) -> None:
    table = write_table(tmp_path / "items.csv", long_rows(ITEMS))
    message = "--columns is for files of predictions; expected none here"
    assert message in commands.refused("compare", table, "--columns", "form")
    assert message in commands.refused("power", table, "--difference", 5, "--columns", "form")
    assert message in commands.refused("size", table, "--columns", "form")
    assert message in commands.refused("compare", *classified, "--columns", "form")
    scored = str(classified[1]).partition("=")[2]
    assert "--columns with labels of items; expected none" in commands.refused(
        "score", classified[0], scored, "--columns", "form"
    )
