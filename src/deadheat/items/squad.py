"""Answers to the questions of a SQuAD data set, with the exact match and the F1 of the official evaluation."""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from deadheat.errors import InputError
from deadheat.files import read_content
from deadheat.items.options import RUNS
from deadheat.items.table import ItemTable, item_table
from deadheat.text import pluralize

LEAST = 0.5  # of the items of gold that a prediction has to have
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its gold answers; no answer is an empty one."""

    name: str
    answers: tuple[str, ...]
    paragraph: str
    title: str


def read_squad(gold: str, systems: Mapping[str, Sequence[str]]) -> ItemTable:
    """The exact match and F1 of every answer; paragraphs are clusters, and titles may be."""
    questions, rows = list(_questions(gold)), []
    names = Counter(question.name for question in questions)
    twice = next((name for name, times in names.items() if times > 1), None)
    if not questions or twice is not None:
        problem, expected = (
            ("no questions", "some") if twice is None else (f"question {twice} is there twice", "it once")
        )
        raise InputError(f"{gold}: {problem}; expected {expected}")
    for system, runs in systems.items():
        for run, path in enumerate(runs, start=1):
            answers = _answers(path)
            other = next((name for name in answers if name not in names), None)
            if other is not None:
                raise InputError(f"{path}: item {other} is not in {gold}; expected only its items")
            if len(answers) < LEAST * len(questions):
                problem = f"predictions for {pluralize(len(answers), 'item')} of {len(questions):,} in {gold}"
                raise InputError(f"{path}: {problem}; expected at least half")
            for item in questions:
                where = {"item": item.name, "cluster": item.paragraph, "title": item.title}
                where |= {"system": system, "repeat": str(run)}
                for metric, value in zip(("EM", "F1"), _scores(item, answers.get(item.name)), strict=True):
                    rows.append({**where, "metric": metric, "score": value})
    frame = pl.DataFrame(rows, schema_overrides={"score": pl.Float64}, infer_schema_length=None)
    order = pl.when(pl.col("metric") == "F1").then(0).otherwise(1)
    details = {"repeats": RUNS, "cluster": "paragraph", "fields": ("title",), "paths": (gold,)}
    return item_table(gold, frame.sort(order, maintain_order=True), **details)


def read_questions(path: str) -> ItemTable:
    """The questions of a data set, without any scores."""
    names = [question.name for question in _questions(path)]
    return item_table(path, pl.DataFrame({"item": names}).with_columns(system=pl.lit(""), score=None), paths=(path,))


def _scores(question: Question, answer: str | None) -> tuple[float | None, float | None]:
    if answer is None:
        return None, None
    exact = max(float(normalize(answer) == normalize(gold)) for gold in question.answers)
    return exact, max(answer_f1(answer, gold) for gold in question.answers)


def normalize(text: str) -> str:
    """A text in small letters, without punctuation, articles and superfluous spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def answer_f1(predicted: str, gold: str) -> float:
    """The F1 of the words of an answer; where one of them has no words, whether neither has."""
    ours, theirs = normalize(predicted).split(), normalize(gold).split()
    if not ours or not theirs:
        return float(ours == theirs)
    common = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * common / (len(ours) + len(theirs))


def _questions(path: str) -> Iterator[Question]:
    data, number = _get(path, "", _read_json(path), "data", list), 0
    for i, article in enumerate(data):
        where = f"data[{i}]"
        for j, paragraph in enumerate(_get(path, where, article, "paragraphs", list)):
            number += 1
            inside = f"{where}.paragraphs[{j}]"
            for k, question in enumerate(_get(path, inside, paragraph, "qas", list)):
                at = f"{inside}.qas[{k}]"
                name, answers = _get(path, at, question, "id", str), _get(path, at, question, "answers", list)
                texts = [_get(path, f"{at}.answers[{n}]", answer, "text", str) for n, answer in enumerate(answers)]
                texts = [text for text in texts if normalize(text)] or [""]
                title = str(article.get("title", ""))
                yield Question(_encodable(name), tuple(texts), f"{number}", _encodable(title))


def _get(path: str, where: str, item: object, key: str, kind: type) -> Any:
    """The value of a key that has to be there."""
    if not isinstance(item, dict):
        raise InputError(f"{path}: {where} is {_kind(item)}; expected an object")
    value, at = item.get(key), f"{where}.{key}".strip(".")
    if value is None:
        raise InputError(f"{path}: {where}{': ' * bool(where)}no {key}; expected {_KINDS[kind]}")
    if not isinstance(value, kind):
        raise InputError(f"{path}: {at} is {_kind(value)}; expected {_KINDS[kind]}")
    return value


def _answers(path: str) -> dict[str, str]:
    """The answers by the ids of their questions."""
    document = _read_json(path, unique=True)
    if isinstance(document, list):
        pairs = []
        for at, row in enumerate(document):
            missing = next(
                (key for key in ("id", "prediction_text") if not (isinstance(row, dict) and key in row)), None
            )
            if missing:
                raise InputError(f"{path}: [{at}]: no {missing}; expected id and prediction_text")
            pairs.append((str(row["id"]), row["prediction_text"]))
        document = _unique(path, pairs)
    if not isinstance(document, dict):
        raise InputError(f"{path}: {_kind(document)}; expected an object with the answer to every question")
    wrong = next((name for name, text in document.items() if not isinstance(text, str)), None)
    if wrong is not None:
        raise InputError(f"{path}: {wrong} is {_kind(document[wrong])}; expected text, empty for no answer")
    return {_encodable(name): text for name, text in document.items()}


def _read_json(path: str, *, unique: bool = False) -> Any:
    raw = read_content(path)
    try:
        return json.loads(raw, object_pairs_hook=(lambda pairs: _unique(path, pairs)) if unique else None)
    except json.JSONDecodeError as error:
        problem = error.msg.partition(":")[0].lower()
        raise InputError(f"{path}:{error.lineno}: not JSON ({problem}); expected an object") from None
    except RecursionError:
        raise InputError(f"{path}: not JSON (nested too deeply); expected an object") from None
    except ValueError:  # bytes that are no text, numbers of thousands of digits
        raise InputError(f"{path}: not JSON (no text, or numbers that are too long); expected an object") from None


def _unique(path: str, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    twice = next((name for name, times in Counter(name for name, _ in pairs).items() if times > 1), None)
    if twice is not None:
        raise InputError(f"{path}: {twice} is there twice; expected one answer")
    return dict(pairs)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")
