"""What a user's metric returns is checked wherever it is called; an error in it is one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deadheat.corpus import read
from deadheat.errors import InputError
from deadheat.metrics import METRICS, Metric, Pair, align
from deadheat.metrics.metric import accuracy, f1

CORPUS = read(text="the_DT heat_NN\nit_PRP\n")
PAIR = align(CORPUS, CORPUS)
ROWS = [[1, 2, 2], [1, 1, 1]]


def metric(returned: Any = ROWS, value: Callable[..., Any] = accuracy, **more: Any) -> Metric:
    def counts(pair: Pair) -> Any:
        return returned() if callable(returned) else returned

    return Metric("mine", "Mine", counts, value, **more)


@pytest.mark.parametrize("rows", [ROWS, np.array(ROWS), np.array(ROWS, np.uint8), np.array(ROWS) > 0])
def test_integers_and_truth_values_are_counts(rows: Any) -> None:
    counted = metric(rows).counts(PAIR)
    assert counted.dtype == np.int64
    np.testing.assert_array_equal(counted, np.array(rows, int))


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (None, "its counts failed (it returned None)"),
        ("word", "its counts are 'str'; expected integers of shape (2, 3), a row per sentence: correct, gold, pred"),
        (3, "its counts have shape (); expected integers of shape (2, 3)"),
        (np.ones(2, int), "its counts have shape (2,); expected integers of shape (2, 3)"),
        (np.ones((3, 3), int), "its counts have shape (3, 3); expected integers of shape (2, 3)"),
        (np.ones((2, 2), int), "its counts have shape (2, 2); expected integers of shape (2, 3)"),
        (np.ones((2, 5), int), "its counts have shape (2, 5); expected integers of shape (2, 3)"),
        (np.ones((2, 3)), "its counts are float64; expected integers of shape (2, 3)"),
        ([["a", "b", "c"]] * 2, "its counts are an array of <U1; expected integers"),
        ([[1, 2, 2], [-1, 1, 1]], "its counts of sentence 2 are [-1, 1, 1]; expected 0 or more"),
        ([[1, 2], [1, 2, 3]], "its counts failed (ValueError: "),
        (lambda: dict[str, int]()["foo"], "its counts failed (KeyError: 'foo')"),
    ],
)
def test_other_counts_are_refused(rows: Any, problem: str) -> None:
    with pytest.raises(InputError, match=f"^mine: {re.escape(problem)}"):
        metric(rows).counts(PAIR)


@pytest.mark.usefixtures("own_code")
def test_an_error_has_the_line_of_the_users_file(tmp_path: Path) -> None:
    code = "from deadheat import Metric\ndef lost():\n    def counts(pair):\n        return {}['foo\\nbar']\n"
    (tmp_path / "met.py").write_text(code + "    return Metric('lost', 'Lost', counts, lambda sums: sums)\n")
    lost = METRICS.find("met.py:lost", tmp_path)
    with pytest.raises(InputError, match=r"^met\.py:lost: its counts failed \(met\.py line 4: KeyError: 'foo.*bar'\)$"):
        lost.counts(PAIR)


def test_rows_are_those_of_the_unit() -> None:
    by_word = align(CORPUS, CORPUS, unit="token")
    with pytest.raises(InputError, match=r"shape \(2, 3\); expected integers of shape \(3, 3\), a row per token"):
        metric().counts(by_word)


def test_more_fields_are_counted_and_enter_the_value() -> None:
    fields = ("correct", "gold", "predicted", "partly", "spans")
    longer = metric([[1, 2, 2, 1, 4]] * 2, lambda sums: sums[..., 3] / sums[..., 4], fields=fields)
    assert longer.width == 5
    assert float(longer.value(longer.counts(PAIR).sum(axis=0))) == 0.25
    with pytest.raises(InputError, match="fields"):
        metric([[1, 2]] * 2, fields=("correct", "gold")).counts(PAIR)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (lambda sums: sums[9], "its value failed (IndexError: "),
        (lambda sums: None, "its value failed (it returned None)"),
        (
            lambda sums: sums,
            "its value of sums of shape (4, 3) has shape (4, 3); expected (4,), a number for every sum",
        ),
        (lambda sums: sums[0] / sums[1], "its value of sums of shape (4, 3) has shape (3,); expected (4,)"),
    ],
)
def test_other_values_are_refused(value: Callable[..., Any], problem: str) -> None:
    with pytest.raises(InputError, match=f"^mine: {re.escape(problem)}"):
        metric(value=value).value(np.ones((4, 3)))


def test_the_name_in_errors_is_the_current_one_and_built_in_functions_are_called_directly() -> None:
    renamed = replace(metric(None), name="met.py:mine@3fa94c21")
    with pytest.raises(InputError, match=r"^met\.py:mine: its counts"):
        renamed.counts(PAIR)
    assert metric().value is accuracy
    assert METRICS.make("las").value is f1
