"""Result files in which a field has another type or value: refused in one line, or shown."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.reporting.report import report
from deadheat.results.base import from_json, to_document
from tests.results.samples import all_samples

VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    10**400,
    1.5,
    1e308,
    "x",
    "NaN",
    "Infinity",
    "-Infinity",
    [],
    [1],
    {},
    {"a": []},
    "\ud800",
)
SAMPLES = sorted(all_samples())


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to the parts of a document; the first and the last of a list stand for all."""
    if path:
        yield path
    items = list(value.items()) if isinstance(value, dict) else []
    if isinstance(value, list) and value:
        items = list({0: value[0], len(value) - 1: value[-1]}.items())
    for key, item in items:
        yield from places(item, (*path, key))


def replaced(document: Any, path: tuple[Any, ...], value: Any) -> str:
    changed = copy.deepcopy(document)
    part = changed
    for key in path[:-1]:
        part = part[key]
    if value is KeyError:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return json.dumps(changed)


@pytest.mark.parametrize("name", SAMPLES)
def test_any_part_of_a_result_may_be_something_else(name: str, tmp_path: Path) -> None:
    document = to_document(all_samples()[name])
    every = list(places(document))
    rng, path = np.random.default_rng(0), tmp_path / "result.json"
    for number, index in enumerate(rng.choice(len(every), size=min(len(every), 40), replace=False)):
        for value in (*VALUES, KeyError):
            text = replaced(document, every[index], value)
            try:
                from_json(text)
                if number < 3:
                    path.write_text(text)
                    report(path).html()
            except InputError as error:
                assert "\n" not in str(error)  # noqa: PT017 (it need not be raised)


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_nesting_is_refused(opening: str) -> None:
    for text in (opening * 100_000, '{"kind": "rank", "schema": 1, "metric": ' + opening * 400 + "1"):
        with pytest.raises(InputError, match=r"nested too deeply|not JSON"):
            from_json(text)
    nested = opening * 200 + "1" + "]}"[opening != "["] * 200
    with pytest.raises(InputError, match="expected a rank result"):
        from_json('{"kind": "rank", "schema": 1, "metric": ' + nested + "}")


@pytest.mark.parametrize("code", [b"\\ud800", b"\xed\xa0\x80"])
def test_half_a_surrogate_pair_is_no_text(code: bytes) -> None:
    with pytest.raises(InputError, match=r"not JSON \('utf-8' codec can't"):
        from_json(b'{"kind": "rank", "schema": 1, "metric": "' + code + b'"}')


def test_results_in_utf_16_are_read() -> None:
    result = all_samples()["rank"]
    assert from_json(result.to_json().encode("utf-16")) == result
