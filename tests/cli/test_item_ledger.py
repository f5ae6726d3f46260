"""Tables, labels and logs of items as test sets in the ledger."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.item_files import inspect_log, labels, long_rows, right, write_table
from tests.cli.running import Commands

SCORES = {"a": right(0.8), "b": right(0.5, seed=1)}


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


def evaluations(ledger: Path) -> list[dict[str, object]]:
    lines = map(json.loads, ledger.read_text().splitlines()) if ledger.exists() else ()
    return [line for line in lines if line["event"] == "look"]


@pytest.mark.parametrize(
    ("command", "number"),
    [
        (["compare"], 2),
        (["power", "--difference", "5"], 2),
        (["size", "--sizes", "20"], 2),
        (["rank"], 2),
        (["report"], 2),
    ],
)
def test_every_command_records_a_guarded_table(
    command: Sequence[str], number: int, tmp_path: Path, ledger: Path, commands: Commands
) -> None:
    table = write_table(tmp_path / "items.csv", long_rows(SCORES))
    name, *options = command
    options += ["--out", str(tmp_path / "page.html")] if name == "report" else []
    assert commands(name, table, *options, "--ledger", ledger).code == 0
    assert not evaluations(ledger)
    assert commands("ledger", "guard", table, "--ledger", ledger).out.startswith("items.csv: guarded, no budget")
    assert commands(name, table, *options, "--ledger", ledger).code == 0
    assert [line["system"] for line in evaluations(ledger)] == ["a", "b"][:number]


def test_every_run_is_an_evaluation(tmp_path: Path, ledger: Path, commands: Commands) -> None:
    rows = [{**row, "seed": seed} for seed in range(3) for row in long_rows({"a": right(0.8, seed=seed)})]
    table = write_table(tmp_path / "runs-test.csv", rows)
    assert commands("seeds", table, "--ledger", ledger, "--purpose", "three seeds").code == 0
    assert [line["purpose"] for line in evaluations(ledger)] == ["three seeds"] * 3


def test_a_budget_is_kept_and_reasons_are_recorded(tmp_path: Path, ledger: Path, commands: Commands) -> None:
    table = write_table(tmp_path / "items.csv", long_rows(SCORES))
    commands("ledger", "guard", table, "--budget", 3, "--ledger", ledger)
    outcome = commands("compare", table, "--ledger", ledger)
    assert "1 left of a budget of 3" in outcome.err
    message = commands.refused("compare", table, "--ledger", ledger)
    assert "items.csv: 2 evaluations requested, 1 left of a budget of 3" in message
    outcome = commands("compare", table, "--ledger", ledger, "--over-budget", "a mistake before")
    assert outcome.code == 0
    assert evaluations(ledger)[-1]["over_budget"] == "a mistake before"


def test_parts_other_orders_and_other_files_are_the_same_test_set(
    tmp_path: Path, ledger: Path, commands: Commands
) -> None:
    table = write_table(tmp_path / "items.csv", long_rows(SCORES))
    commands("ledger", "guard", table, "--ledger", ledger)
    wide = [{"item": f"q{item}", "a": item % 2, "b": item % 3 > 0} for item in reversed(range(40))]
    outcome = commands("compare", write_table(tmp_path / "wide.csv", wide), "--ledger", ledger)
    assert "100 % of its items are items of items.csv, which are 67 % of that test set" in outcome.err
    assert len(evaluations(ledger)) == 2
    others = [{"item": f"other{item}", "a": item % 2, "b": item % 3 > 0} for item in range(40)]
    commands("compare", write_table(tmp_path / "other.csv", others), "--ledger", ledger)
    named = [{"task": "another", **row} for row in wide]
    commands("compare", write_table(tmp_path / "named.csv", named), "--ledger", ledger)
    assert len(evaluations(ledger)) == 2


def test_a_table_that_is_named_test_is_recorded(tmp_path: Path, ledger: Path, commands: Commands) -> None:
    table = write_table(tmp_path / "qa-test.csv", long_rows(SCORES))
    assert "ledger: 2 evaluations of this test set so far" in commands("compare", table, "--ledger", ledger).err


def test_looks_are_counted_and_alpha_is_spent(tmp_path: Path, ledger: Path, commands: Commands) -> None:
    table = write_table(tmp_path / "qa-test.csv", long_rows(SCORES))
    commands("compare", table, "--ledger", ledger)
    better = write_table(tmp_path / "qa2-test.csv", long_rows({**SCORES, "c": right(0.7, seed=3)}))
    outcome = commands("compare", better, "--ledger", ledger, "--spend-alpha", "--json")
    assert "look 2 at this test set, tested at alpha 0.0083 of 0.05 (alpha spending)" in outcome.err
    assert json.loads(outcome.out)["settings"]["alpha"] == pytest.approx(0.05 / 6)


def test_gold_labels_are_a_test_set(tmp_path: Path, ledger: Path, commands: Commands) -> None:
    gold = labels(tmp_path / "gold.csv", "label", list("ABAB" * 10))
    first, second = (labels(tmp_path / f"{n}.csv", "prediction", list(n * 10)) for n in ("ABBB", "ABAA"))
    commands("ledger", "guard", gold, "--ledger", ledger)
    assert commands("score", gold, first, "--ledger", ledger).code == 0
    assert commands("compare", gold, f"a={first}", f"b={second}", "--ledger", ledger).code == 0
    assert len(evaluations(ledger)) == 3
    other = labels(tmp_path / "other.csv", "label", list("BABA" * 10))  # the same keys, and other content
    commands("score", other, second, "--ledger", ledger)
    assert len(evaluations(ledger)) == 3


def test_logs_are_a_test_set(tmp_path: Path, ledger: Path, commands: Commands) -> None:
    for system, scores in SCORES.items():
        for task in ("sums", "words"):
            inspect_log(tmp_path / "logs" / f"{task}-{system}.json", task, scores, system)
    commands("ledger", "guard", tmp_path / "logs", "--ledger", ledger, "--budget", 9)
    files = [f"{system}={tmp_path / 'logs' / f'sums-{system}.json'}" for system in SCORES]
    outcome = commands("compare", *files, "--ledger", ledger)
    assert "100 % of its items are items of logs, which are 50 % of that test set" in outcome.err
    assert "7 left of a budget of 9" in outcome.err
    assert commands("ledger", "show", tmp_path / "logs", "--ledger", ledger).out.startswith("logs: 2 evaluations")


@pytest.mark.parametrize("command", [["rank"], ["seeds", "--score", "score"], ["compare", "--scores"]])
def test_a_ledger_is_refused_where_nothing_is_recorded(
    command: Sequence[str], tmp_path: Path, ledger: Path, commands: Commands
) -> None:
    rows = [{"dataset": d, "system": s, "score": len(d) + (s == "A")} for d in ("x", "yy", "zzz") for s in "AB"]
    table = write_table(tmp_path / "scores.csv", rows)
    message = commands.refused(*command, table, "--ledger", ledger)
    assert "--ledger is for" in message


def test_items_cannot_be_sealed(tmp_path: Path, ledger: Path, commands: Commands) -> None:
    gold = labels(tmp_path / "gold.csv", "label", list("ABAB"))
    message = commands.refused("ledger", "seal", gold, "--ledger", ledger)
    assert message == f"{gold}: items; expected a corpus to seal, or deadheat ledger guard"
