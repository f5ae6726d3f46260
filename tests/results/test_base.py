"""Results as JSON and back, equality, and how a result prints."""

import json
import math
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from deadheat.errors import InputError
from deadheat.questions.power import assumed_power
from deadheat.reporting.views import headline
from deadheat.results.base import KINDS, Result, from_document, from_json, result_type, to_document
from deadheat.results.data import Power
from deadheat.results.ledger import LedgerReport, Tally
from deadheat.results.score import ScoreTable, SystemMeans
from tests.results.samples import all_samples

TABLE = ScoreTable("F1", "", ("all",), (SystemMeans("A", (0.5,), (1,)),))
HOSTILE = ["null", "NaN", "Infinity", "true", "1", "", "\x00", "\ud800x", "汉字 \u202e", '"}', "a\nb"]


def test_every_kind_has_a_sample_and_every_sample_a_kind() -> None:
    samples = all_samples().values()
    assert {result.kind for result in samples} == set(KINDS)
    assert all(type(result) is result_type(result.kind) for result in samples)


@pytest.mark.parametrize("name", sorted(all_samples()))
def test_json_becomes_the_same_result_again(name: str) -> None:
    result = all_samples()[name]
    again = from_json(result.to_json())
    assert again == result
    assert hash(again) == hash(result)
    assert again.to_json() == result.to_json()
    assert from_json(result.to_json(indent=1).encode()) == result
    document = json.loads(result.to_json())
    assert list(document)[:2] == ["kind", "schema"]
    assert (document["kind"], document["schema"]) == (result.kind, result.schema)
    assert document == to_document(result)
    assert repr(result) == f"<{type(result).__name__}: {headline(result)}>"
    assert "\n" not in repr(result)


@pytest.mark.parametrize(
    ("value", "written"),
    [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity"), (-0.0, -0.0), (5e-324, 5e-324)],
)
def test_numbers_that_are_not_finite_travel_as_strings(value: float, written: object) -> None:
    result = replace(assumed_power(100, 0.9, 0.8, agreement=0.85), needed=value, by_units=((1.0, value),))
    document = json.loads(result.to_json(), parse_constant=pytest.fail)
    assert (document["needed"], document["by_units"]) == (written, [[1.0, written]])
    again = from_json(result.to_json())
    assert isinstance(again, Power)
    assert repr(again.needed) == repr(again.by_units[0][1]) == repr(value)
    assert again == result


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_never_taken_for_numbers_or_null(name: str) -> None:
    result = LedgerReport((Tally(name, name, systems=(name,), users=(name, name), budget=None),), name)
    again = from_json(result.to_json())
    assert again == result
    assert isinstance(again, LedgerReport)
    assert (again.test_sets[0].name, again.test_sets[0].users, again.test_sets[0].budget) == (name, (name, name), None)


@settings(phases=[Phase.generate], max_examples=30)
@given(st.lists(st.floats(width=64), min_size=1, max_size=4), st.text(max_size=20))
def test_any_numbers_and_names_come_back(means: list[float], name: str) -> None:
    table = ScoreTable(
        name, name, tuple(map(str, range(len(means)))), (SystemMeans(name, tuple(means), (1,) * len(means)),)
    )
    again = from_json(table.to_json())
    assert again == table
    assert isinstance(again, ScoreTable)
    assert repr(again.systems) == repr(table.systems)


def test_results_are_equal_if_their_contents_are() -> None:
    nan = replace(TABLE, systems=(SystemMeans("A", (math.nan,), (0,)),))
    assert nan == replace(nan)
    assert len({TABLE, replace(TABLE), nan, replace(nan)}) == 2
    assert replace(TABLE, metric="F2") != TABLE
    assert assumed_power(100, 0.9, 0.8, agreement=0.85) != TABLE
    assert to_document(TABLE) != TABLE


def changed(change: Any) -> str:
    document = to_document(TABLE)
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON (expecting value); expected what a command printed with --json"),
        (b"\xff\xfe\xfa", "not JSON ('utf-16-le' codec can't decode byte"),
        ("{} {}", "not JSON (extra data)"),
        ("[" * 100_000, "JSON is nested too deeply; expected what a command printed with --json"),
        ("{}", "not a result of Deadheat (no field 'kind')"),
        ("[1, 2]", "not a result of Deadheat (no field 'kind')"),
        ('{"kind": 3}', "not a result of Deadheat (no field 'kind')"),
        ('{"kind": "tabel"}', "kind of result 'tabel' is unknown; did you mean 'table'?"),
        (changed(lambda d: d.pop("schema")), "field 'schema' is missing: written by Deadheat 0.1; expected"),
        (changed(lambda d: d.update(schema=True)), "field 'schema' is missing"),
        (changed(lambda d: d.update(schema=99)), "schema 99 is from a later version of Deadheat; this version"),
        (changed(lambda d: d.pop("metric")), "object missing required field `metric`; expected a table result as"),
        (changed(lambda d: d.update(metric=None)), "field 'metric': expected `str`, got `null`"),
        (changed(lambda d: d.update(systems=7)), "field 'systems': expected `array`, got `int`"),
        (changed(lambda d: d["systems"][0].update(means=["x"])), "field 'systems[0].means[0]': expected `float`"),
        (changed(lambda d: d["scale"].update(decimals=1.5)), "field 'scale.decimals': expected `int`, got `float`"),
    ],
)  # fmt: skip
def test_what_is_no_result_is_refused_with_the_source_and_the_field(text: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"my.json: {message}")) as refused:
        from_json(text, source="my.json")
    assert "\n" not in str(refused.value)


def test_deep_nesting_inside_a_result_is_refused() -> None:
    text = TABLE.to_json().replace('"F1"', "[" * 3000 + "]" * 3000)
    with pytest.raises(InputError, match=r"my\.json: "):
        from_json(text, source="my.json")


def test_fields_of_a_later_minor_version_are_ignored() -> None:
    assert from_document({**to_document(TABLE), "later": 1}) == TABLE


def test_what_json_cannot_hold_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match="a result holds object; expected plain values"):
        to_document(replace(TABLE, metric=object()))  # type: ignore[arg-type]


def test_a_result_prints_as_its_verdict() -> None:
    result: Result = TABLE
    assert repr(result) == "<ScoreTable: The mean F1 of A is 50.00.>"
    assert str(result).startswith("The mean F1 of A is 50.00.\n\n")
