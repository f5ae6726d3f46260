"""Answers to the questions of a SQuAD data set: exact match and F1, as the official evaluation computes them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import deadheat
from deadheat.items.squad import answer_f1, normalize
from tests.cli.running import Commands


def question(name: str, *answers: str) -> dict[str, Any]:
    return {"id": name, "question": "?", "answers": [{"text": text, "answer_start": 0} for text in answers]}


GOLD = {
    "version": "v2.0",
    "data": [
        {
            "title": "Normans",
            "paragraphs": [
                {
                    "context": "...",
                    "qas": [question("q1", "the Norse", "Norse leader Rollo"), question("q2", "France")],
                },
                {"context": "...", "qas": [question("q3", "10th century"), {**question("q4"), "is_impossible": True}]},
            ],
        },
        {"title": "Oxygen", "paragraphs": [{"context": "...", "qas": [question("q5", "the"), question("q6", "8")]}]},
    ],
}
# q1: {norse, leader} against {norse}: 2·1/3 = 2/3; against {norse, leader, rollo}: precision 1, recall 2/3: F1 0.8.
# q2: `france` is exact. q3: {in, the 10th, century} without the article: precision 2/3, recall 1: 0.8. q4: no answer is
# right. q5: `the` is no word after normalisation, so that gold has no answer: 0. q6: exact but for punctuation.
A = {"q1": "Norse leader", "q2": "France.", "q3": "in the 10th  century", "q4": "", "q5": "gas", "q6": "(8)"}
F1_A = {"q1": 0.8, "q2": 1, "q3": 0.8, "q4": 1, "q5": 0, "q6": 1}
EXACT_A = {"q1": 0, "q2": 1, "q3": 0, "q4": 1, "q5": 0, "q6": 1}
B = {"q1": "Rollo", "q2": "Spain", "q3": "10th century", "q4": "Rollo", "q5": "", "q6": "eight"}
# q1: 1 of 1 and of 3: 0.5. q3, q5 are right.
F1_B = [0.5, 0, 1, 0, 1, 0]


@pytest.fixture
def commands(capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(capsys)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in (("dev", GOLD), ("a", A), ("b", B)):
        Path(f"{name}.json").write_text(json.dumps(content))


def test_answers_are_normalised_as_officially() -> None:
    assert normalize(" The  cat's  U.S. hat, an apple ") == "cats us hat apple"
    assert normalize("theatre A. the") == "theatre"
    assert answer_f1("a cat sat", "the cat cat") == pytest.approx(2 * (1 / 2) * (1 / 2))
    assert answer_f1("the", "a") == 1
    assert answer_f1("", "cat") == 0


def test_scores_are_those_worked_out_by_hand() -> None:
    scores = deadheat.score("dev.json", ["a.json", "b.json"], unit="item")
    values = {(row.system, row.metric): row.value for row in scores.rows}
    assert values["a.json", "EM"] == pytest.approx(sum(EXACT_A.values()) / 6)
    assert values["a.json", "F1"] == pytest.approx(sum(F1_A.values()) / 6)
    assert values["b.json", "F1"] == pytest.approx(sum(F1_B) / 6)
    assert values["b.json", "EM"] == pytest.approx(2 / 6)
    assert [(row.correct, row.gold) for row in scores.rows[:2]] == [(0, 0), (3, 6)]  # nothing is just right by F1
    assert "a.json  F1" in str(scores)


def test_questions_on_the_same_paragraph_belong_together(commands: Commands) -> None:
    result = json.loads(commands("compare", "dev.json", "A=a.json", "B=b.json", "-m", "f1", "--json").out)
    assert (result["unit"], result["units"]) == ("paragraph", 3)
    by_title = deadheat.compare("dev.json", {"A": "a.json", "B": "b.json"}, unit="title")
    assert (by_title.unit, by_title.units) == ("title", 2)


def test_other_forms_of_predictions_are_read() -> None:
    Path("list.json").write_text(json.dumps([{"id": name, "prediction_text": text} for name, text in A.items()]))
    assert deadheat.score("dev.json", "list.json")["F1"].value == pytest.approx(sum(F1_A.values()) / 6)


def test_questions_without_a_prediction_are_left_out_or_wrong(commands: Commands) -> None:
    Path("few.json").write_text(json.dumps({name: A[name] for name in ("q1", "q2", "q3", "q4")}))
    assert deadheat.score("dev.json", "few.json")["EM"].value == 2 / 4
    assert deadheat.score("dev.json", "few.json", errors="zero")["EM"].value == pytest.approx(2 / 6)
    Path("few.json").write_text(json.dumps({name: A[name] for name in ("q1", "q2")}))
    message = commands.refused("score", "dev.json", "few.json")
    assert message == "few.json: predictions for 2 items of 6 in dev.json; expected at least half"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q1": "x", "q1": "y"}', "p.json: q1 is there twice; expected one answer"),
        ('{"q1": "x", "q9": "y"}', "p.json: item q9 is not in dev.json; expected only its items"),
        ('{"q1": ["x"]}', "p.json: q1 is a list; expected text, empty for no answer"),
        ('{"q1": null}', "p.json: q1 is null; expected text, empty for no answer"),
        ('{"q1": "x",\n', "p.json:2: not JSON ("),
        ('"q1"', "p.json: text; expected an object with the answer to every question"),
        ('[{"id": 3}]', "p.json: [0]: no prediction_text; expected id and prediction_text"),
        ("[" * 100_000, "p.json: not JSON (nested too deeply)"),
    ],
)
def test_wrong_predictions_are_one_line(commands: Commands, text: str, message: str) -> None:
    Path("p.json").write_text(text)
    assert message in commands.refused("score", "dev.json", "p.json")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["data"], {"paragraphs": []}, "dev.json: data is an object; expected a list"),
        (["data", 0, "paragraphs"], None, "dev.json: data[0]: no paragraphs; expected a list"),
        (["data", 0, "paragraphs", 1, "qas", 0], 5, "dev.json: data[0].paragraphs[1].qas[0] is a number; expected an"),
        (["data", 0, "paragraphs", 1, "qas", 0, "id"], 5, "data[0].paragraphs[1].qas[0].id is a number; expected text"),
        (["data", 0, "paragraphs", 1, "qas", 0, "id"], "q1", "dev.json: question q1 is there twice; expected it once"),
        (["data", 0, "paragraphs", 0, "qas", 1, "answers", 0], {}, "qas[1].answers[0]: no text; expected text"),
        (["data"], [], "dev.json: no questions; expected some"),
    ],
)
def test_wrong_gold_is_one_line(commands: Commands, path: list[Any], value: Any, message: str) -> None:
    changed: Any = copy.deepcopy({**GOLD, "note": '"paragraphs"'})
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    Path("dev.json").write_text(json.dumps(changed).replace('"note": "\\"paragraphs\\""', '"paragraphs": 1'))
    assert message in commands.refused("score", "dev.json", "a.json")


def test_options_for_tables_are_refused(commands: Commands) -> None:
    message = commands.refused("score", "dev.json", "a.json", "--predicted", "x")
    assert message == "dev.json: --predicted with a SQuAD file; expected none"
    assert "without a file of gold" not in message
