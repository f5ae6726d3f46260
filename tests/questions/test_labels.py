"""Classification: gold labels and predictions in tables."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat
from deadheat.items.labels import read_labels
from deadheat.questions.compare_items import compare_items
from tests.cli.running import Commands

# Ten items. Gold: 4 pos, 3 neg, 3 neu.
# A: 3 of 4 pos, 2 of 3 neg, 2 of 3 neu are right; predicted 4 pos (1 wrong: a neg), 3 neg (1 wrong: a neu), 3 neu (1
# wrong: a pos). F1: pos 2·3/(4+4) = 0.75, neg 2·2/(3+3) = 2/3, neu 2/3; macro 25/36. Accuracy 0.7.
# MCC = (7·10 - (4·4 + 3·3 + 3·3)) / (10² - (16 + 9 + 9)) = (70 - 34) / 66 = 6/11.
GOLD = ["pos"] * 4 + ["neg"] * 3 + ["neu"] * 3
A = ["pos", "pos", "pos", "neu", "neg", "neg", "pos", "neu", "neu", "neg"]
B = ["pos"] * 10


@pytest.fixture
def commands(capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(capsys)


def write(name: str, column: str, labels: list[str], ids: list[str] | None = None, mark: str = "\t") -> str:
    rows = zip(ids or [f"q{i}" for i in range(len(labels))], labels, strict=True)
    Path(name).write_text(f"id{mark}{column}\n" + "".join(f"{item}{mark}{label}\n" for item, label in rows))
    return name


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("gold.tsv", "label", GOLD)
    write("a.tsv", "prediction", A)
    write("b.csv", "label", B[::-1], [f"q{i}" for i in reversed(range(10))], mark=",")
    Path("a.jsonl").write_text("".join(json.dumps({"id": f"q{i}", "label": x}) + "\n" for i, x in enumerate(A)))


def test_scores_are_those_worked_out_by_hand() -> None:
    scores = deadheat.score("gold.tsv", ["a.tsv", "b.csv", "a.jsonl"])
    values = {(row.system, row.metric): row.value for row in scores.rows}
    expected = {"Accuracy": 0.7, "Macro-F1": 25 / 36, "Micro-F1": 0.7, "MCC": 6 / 11}
    for metric, value in expected.items():
        assert values["a.tsv", metric] == values["a.jsonl", metric] == pytest.approx(value)
    # B: F1 of pos is 2·4 / (4 + 10), of the others 0; it never varies, so that its MCC is 0.
    assert values["b.csv", "Macro-F1"] == pytest.approx(8 / 14 / 3)
    assert values["b.csv", "MCC"] == 0
    row = scores["Accuracy"]
    assert (row.correct, row.gold, row.predicted) == (7, 10, 10)
    assert 0 < row.interval.low < 0.7 < row.interval.high < 1
    assert "items 10" in scores.signature
    assert "unit item" in scores.signature
    assert deadheat.from_json(scores.to_json()) == scores


def test_scores_equal_those_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(4)
    for classes in (2, 3, 7):
        gold = rng.integers(classes, size=60)
        guess = np.where(rng.random(60) < 0.6, gold, rng.integers(classes + 1, size=60))
        table: Any = pl.DataFrame({"id": range(60), "gold": gold.astype(str), "guess": guess.astype(str)})
        scores = deadheat.score(table, predicted=["guess"])
        assert scores["Accuracy"].value == pytest.approx(metrics.accuracy_score(gold, guess))
        assert scores["Macro-F1"].value == pytest.approx(metrics.f1_score(gold, guess, average="macro"))
        assert scores["Micro-F1"].value == pytest.approx(metrics.f1_score(gold, guess, average="micro"))
        assert scores["MCC"].value == pytest.approx(metrics.matthews_corrcoef(gold, guess))


@pytest.mark.parametrize("method", ["clustered", "bootstrap", "wilson"])
def test_intervals_are_of_the_metric_itself(method: str) -> None:
    rng = np.random.default_rng(5)
    gold = rng.integers(3, size=300)
    guess = np.where(rng.random(300) < 0.7, gold, 0)
    table: Any = pl.DataFrame({"id": range(300), "gold": gold, "guess": guess})
    scores = deadheat.score(table, predicted="guess", interval=method, resamples=2000)
    draws = rng.integers(300, size=(600, 300))
    metrics = pytest.importorskip("sklearn.metrics")
    for metric, function in (
        ("Accuracy", metrics.accuracy_score),
        ("Macro-F1", lambda g, p: metrics.f1_score(g, p, average="macro")),
        ("MCC", metrics.matthews_corrcoef),
    ):
        slow = np.std([function(gold[rows], guess[rows]) for rows in draws])
        interval = scores[metric].interval
        assert interval.high - interval.low == pytest.approx(2 * 1.97 * slow, rel=0.12)
    if method == "wilson":
        assert scores["Accuracy"].interval.method == "wilson"
        assert scores["MCC"].interval.method != "wilson"


def test_systems_are_compared_by_item(commands: Commands) -> None:
    outcome = commands("compare", "gold.tsv", "A=a.tsv", "B=b.csv", "-m", "macro-f1", "--json")
    result = json.loads(outcome.out)
    assert [row["value"] for row in result["systems"]] == pytest.approx([25 / 36, 8 / 42])
    assert (result["units"], result["unit"]) == (10, "item")
    python = deadheat.compare("gold.tsv", {"A": "a.tsv", "B": "b.csv"}, metric="Macro-F1")
    assert python.pairs[0].p == result["pairs"][0]["p"]
    table = read_labels("gold.tsv", {"A": "a.tsv", "B": "b.csv"})
    assert compare_items(table, metric="MCC").systems[0].value == pytest.approx(6 / 11)
    assert "Accuracy" in commands("compare", "gold.tsv", "A=a.tsv", "B=b.csv", "--test", "mcnemar-exact").out


def test_runs_of_a_system_are_runs() -> None:
    result = deadheat.compare("gold.tsv", {"A": ["a.tsv", "a.jsonl"], "B": ["b.csv"]})
    assert [runs.runs for runs in result.datasets[0].systems] == [2, 1]


def test_one_table_has_gold_and_several_predictions(commands: Commands) -> None:
    pl.DataFrame({"id": range(10), "text": ["x"] * 10, "gold": GOLD, "A": A, "B": B}).write_csv("all.csv")
    outcome = commands("score", "all.csv", "--predicted", "A", "--predicted", "B", "--json")
    rows = json.loads(outcome.out)["rows"]
    assert [(row["system"], row["value"]) for row in rows if row["metric"] == "Accuracy"] == [("A", 0.7), ("B", 0.4)]
    outcome = commands("compare", "all.csv", "--predicted", "A", "--predicted", "B")
    assert outcome.code == 0
    assert "A" in outcome.out
    for name in "AB":
        frame = pl.read_csv("all.csv").select("id", pl.col("gold"), pl.col(name).alias("guess"))
        frame.write_csv(f"{name}.csv")
    own = commands("compare", "A=A.csv", "B=B.csv", "--predicted", "guess", "--gold", "gold")
    assert own.out == outcome.out
    pl.read_csv("B.csv").with_columns(gold=pl.lit("neg")).write_csv("B.csv")
    message = commands.refused("compare", "A=A.csv", "B=B.csv", "--predicted", "guess")
    assert message == "B.csv:2: gold label 'neg' of item 0; expected 'pos' as in A.csv"


def test_columns_of_labels_may_have_any_name_or_a_number(commands: Commands) -> None:
    pl.DataFrame({"id": range(10), "sense": GOLD, "A": A, "B": B}).write_csv("senses.csv")
    named = commands("score", "senses.csv", "--gold", "sense", "--predicted", "A", "-m", "accuracy")
    assert "70.00" in named.out
    numbered = commands("score", "senses.csv", "--gold", "2", "--predicted", "-2", "--item", "id", "-m", "accuracy")
    assert numbered.out == named.out
    assert commands("compare", "senses.csv", "--gold", "sense", "--predicted", "A", "--predicted", "B").code == 0
    message = commands.refused("score", "senses.csv", "--gold", "sense", "--predicted", "-9")
    assert message == "senses.csv: column '-9' is unknown; expected one of id, sense, A, B"
    pl.DataFrame({"id": range(10), "sense": GOLD}).write_csv("gold.csv")
    write("p.csv", "label", A, [str(i) for i in range(10)], mark=",")
    message = commands.refused("score", "gold.csv", "p.csv")
    assert message == "gold.csv: no column of gold labels among id, sense; expected --gold to name it"


def test_items_that_belong_together_are_clusters(commands: Commands) -> None:
    pl.DataFrame({"id": range(10), "document": [i // 2 for i in range(10)], "label": GOLD}).write_csv("gold.csv")
    write("p.csv", "label", A, [str(i) for i in range(10)], mark=",")
    scores = deadheat.score("gold.csv", "p.csv")
    assert scores.settings.unit == "document"
    assert deadheat.score("gold.csv", "p.csv", unit="item").settings.unit == "item"


def test_items_without_a_prediction_are_left_out_or_count_as_wrong(commands: Commands) -> None:
    write("few.tsv", "label", A[:8])
    outcome = commands("score", "gold.tsv", "few.tsv", "--json")
    result = json.loads(outcome.out)
    assert result["rows"][0]["value"] == 6 / 8
    assert "items without a score left out" in " ".join(result["notes"])
    rows = json.loads(commands("score", "gold.tsv", "few.tsv", "--errors", "zero", "--json").out)["rows"]
    values = {row["metric"]: row["value"] for row in rows}
    # Neither q8 (neu) nor q9 (neu) has a label: 6 of 10 right; predicted 4 pos (3 right), 2 neg (2), 2 neu (1).
    assert values["Accuracy"] == 0.6
    assert values["Micro-F1"] == pytest.approx(12 / 18)
    assert values["Macro-F1"] == pytest.approx((6 / 8 + 4 / 5 + 2 / 5) / 3)
    # Of 10 items with gold (4, 3, 3) and predictions (4, 2, 2, and 2 without): (60 - 28) / √((100-34)(100-24-4)).
    assert values["MCC"] == pytest.approx(32 / math.sqrt(66 * (100 - 16 - 4 - 4 - 4)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id\tlabel\nq0\tpos\nq1\tpos\nq0\tneg\n", "p.tsv:4: item q0 is also in line 2; expected every item once"),
        ("id\tlabel\nq0\tpos\nq99\tpos\n", "p.tsv:3: item q99 is not in gold.tsv; expected only its items"),
        ("id\tlabel\nq0\tpos\nq1\tpos\n", "p.tsv: predictions for 2 items of 10 in gold.tsv; expected at least half"),
        ("id\tlabel\n" + "".join(f"q{i}\t1\n" for i in range(10)), "p.tsv: labels 1, but neg, neu and pos in gold.tsv"),
        ("id\tscore\ttext\nq0\t1\tx\n", "p.tsv: no column of predictions among id, score, text; expected --predicted"),
        ("name\tlabel\nq0\tpos\n", "p.tsv: no column of items among name, label; expected --item"),
        ("id\tlabel\n", "p.tsv: an empty table; expected a header and rows"),
        ("id\tlabel\nq0\tpos\textra\n", "p.tsv:2: 3 columns; expected 2 as in the header"),
    ],
)
def test_mistakes_are_one_line(commands: Commands, text: str, message: str) -> None:
    Path("p.tsv").write_text(text)
    assert message in commands.refused("score", "gold.tsv", "p.tsv")
    assert message in commands.refused("compare", "gold.tsv", "A=p.tsv", "B=b.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "gold.tsv", "a.tsv", "--by", "tag"], "--by with labels of items; expected none"),
        (["score", "gold.tsv", "a.tsv", "--train", "a.tsv"], "--train with labels of items; expected none"),
        (["score", "gold.tsv", "a.tsv", "-m", "las"], "gold.tsv: metric 'las' is unknown"),
        (["score", "gold.tsv", "a.tsv", "--unit", "passage"], "gold.tsv: unit 'passage' is unknown"),
        (["score", "gold.tsv", "missing.tsv"], "missing.tsv: cannot be read"),
        (["compare", "gold.tsv", "A=a.tsv", "B=b.csv", "--align", "position"], "--align is for files of predictions"),
        (["compare", "gold.tsv", "A=a.tsv"], "1 system; expected at least two to compare"),
    ],
)
def test_options_for_corpora_are_refused(commands: Commands, arguments: list[str], message: str) -> None:
    assert message in commands.refused(*arguments)


def test_too_many_classes_leave_accuracy(commands: Commands) -> None:
    labels = [str(i) for i in range(4000)]
    write("g.tsv", "label", labels)
    write("p.tsv", "label", labels)
    outcome = commands("score", "g.tsv", "p.tsv", "--json")
    result = json.loads(outcome.out)
    assert [row["metric"] for row in result["rows"]] == ["Accuracy", "Micro-F1"]
    assert "4,000 labels" in result["notes"][0]


def test_column_files_are_still_column_files(tmp_path: Path) -> None:
    Path("words.tsv").write_text("id\tlabel\nthe\tDT\n\ncat\tNN\n")
    assert deadheat.score("words.tsv", "words.tsv").settings.sentences == 2
