"""What Python users have: DataFrames of several libraries, arrays and dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
import polars as pl
import pytest

from deadheat.errors import InputError
from deadheat.items.sources import open_items
from deadheat.questions.compare_items import compare_items
from deadheat.questions.power_items import power_items
from deadheat.questions.rank import rank
from deadheat.questions.seeds import seeds

ALPHA, BETA = ([float((7 * item) % 10 < right) for item in range(40)] for right in (7, 5))
LONG = pl.DataFrame(
    {
        "item": [f"{item}" for item in range(40)] * 2,
        "system": ["a"] * 40 + ["b"] * 40,
        "score": ALPHA + BETA,
    }
)
WIDE = pl.DataFrame({"item": range(40), "a": ALPHA, "b": BETA})


def structured() -> np.ndarray:
    array = np.zeros(40, dtype=[("item", "i8"), ("a", "f8"), ("b", "f8")])
    array["item"], array["a"], array["b"] = range(40), ALPHA, BETA
    return array


SOURCES: Mapping[str, Callable[[], Any]] = {
    "polars": lambda: LONG,
    "polars, a column per system": lambda: WIDE,
    "polars, lazy": LONG.lazy,
    "a structured array": structured,
    "arrays by system": lambda: {"a": np.array(ALPHA), "b": np.array(BETA)},
    "lists by system": lambda: {"a": ALPHA, "b": BETA},
    "true and false by system": lambda: {"a": np.array(ALPHA) > 0, "b": np.array(BETA) > 0},
    "series by system": lambda: {"a": pl.Series(ALPHA), "b": pl.Series(BETA)},
    "scores by system and item": lambda: {"a": dict(enumerate(ALPHA)), "b": dict(enumerate(BETA))},
    "columns": lambda: LONG.to_dict(as_series=False),
    "rows": LONG.to_dicts,
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_all_of_these_are_the_same_comparison(source: Callable[[], Any]) -> None:
    result = compare_items(source())
    (expected,) = compare_items(LONG).pairs
    assert result.units == 40
    (pair,) = result.pairs
    assert (pair.a, pair.b) == ("a", "b")
    assert (pair.difference, pair.p) == pytest.approx((expected.difference, expected.p))


def test_the_columns_of_an_array_are_systems() -> None:
    result = compare_items(np.array([ALPHA, BETA]).T)
    assert [row.system for row in result.systems] == ["system 1", "system 2"]
    assert result.pairs[0].difference == pytest.approx(compare_items(LONG).pairs[0].difference)
    with pytest.raises(InputError, match="an array of 1 dimensions; expected a row per item and a column per system"):
        compare_items(np.array(ALPHA))


def test_pandas_and_pyarrow_if_they_are_installed() -> None:
    pandas, pyarrow = (pytest.importorskip(name) for name in ("pandas", "pyarrow"))
    frame = pandas.DataFrame(LONG.to_dict(as_series=False))
    table = pyarrow.table(LONG.to_dict(as_series=False))
    for source in (frame, table):
        assert compare_items(source).pairs[0].p == pytest.approx(compare_items(LONG).pairs[0].p)


def test_the_interchange_protocol_needs_pyarrow() -> None:
    class Protocol:
        def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> None:  # noqa: FBT001, FBT002
            raise NotImplementedError("nothing")

    needed = "nothing; expected columns" if find_spec("pyarrow") else "pip install pyarrow to read it"
    with pytest.raises(InputError, match=needed):
        compare_items(Protocol())


def test_missing_items_of_a_dictionary_are_counted() -> None:
    result = compare_items({"a": dict(enumerate(ALPHA)), "b": dict(enumerate(BETA[:38]))})
    assert "2 items that not all systems were asked left out of 40" in result.notes
    assert result.units == 38


def test_other_questions_take_them_too() -> None:
    tasks = pl.concat([LONG.with_columns(task=pl.lit(task)) for task in "xyz"])
    assert [row.system for row in rank(tasks).systems] == ["a", "b"]
    assert power_items({"a": ALPHA, "b": BETA}, difference=5).measured_units == 40
    runs = pl.concat([LONG.with_columns(seed=pl.lit(seed)) for seed in range(3)])
    assert seeds(runs).blocks[0].systems[0].scores == pytest.approx([sum(ALPHA) / 40] * 3)


def test_what_has_neither_items_nor_numbers_is_refused() -> None:
    with pytest.raises(InputError, match="no column of items among a, b; expected one named by --item"):
        open_items({"a": ["x", "y"], "b": ["y", "x"]})
    with pytest.raises(InputError, match="int; expected a DataFrame, rows of a table, or files"):
        open_items(7)
