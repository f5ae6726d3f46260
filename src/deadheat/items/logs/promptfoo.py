"""Logs of promptfoo: the JSON of `promptfoo eval --output`.

A repeat of a test has an index of its own, so that only the variables tell which test it is of. Repeats are attempts:
the same provider is asked the same prompt again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from deadheat.errors import InputError
from deadheat.items.logs.decoding import decode, shorten, text_of
from deadheat.items.logs.files import LogFile
from deadheat.items.logs.log import Harness, Log, field_name, log_of

NAME = "promptfoo"
ERROR = 2  # the failure reason of an answer that there is none of


class _Provider(msgspec.Struct):
    id: str = ""
    label: str | None = None


class _Prompt(msgspec.Struct):
    label: str | None = None
    raw: str | None = None


class _Result(msgspec.Struct, rename="camel"):
    provider: _Provider | str
    test_idx: int = 0
    prompt_id: str | None = None
    prompt: _Prompt | None = None
    vars: dict[str, Any] | None = None
    score: Any = None
    success: Any = None
    named_scores: dict[str, Any] | None = None
    failure_reason: int | None = None


class _Results(msgspec.Struct):
    results: list[_Result]


class _Config(msgspec.Struct):
    description: str | None = None


class _Evaluation(msgspec.Struct):
    results: _Results
    config: _Config | None = None


def matches(file: LogFile) -> bool:
    """Whether a file is an evaluation of promptfoo."""
    return (
        "results" in file.keys[1]
        and {"version", "timestamp"} <= file.keys[2]
        and bool({"prompts", "results"} & file.keys[2])
    )


def read(files: Sequence[LogFile], *, partial: bool) -> Iterator[Log]:
    """One log per provider and prompt of each file."""
    for file in files:
        evaluation = decode(file.read(), _Evaluation, file.path)
        results = sorted(evaluation.results.results, key=lambda result: result.test_idx)
        if not results:
            raise InputError(f"{file.path}: no results; expected some")
        task = (evaluation.config.description if evaluation.config else None) or NAME
        prompts = dict.fromkeys(_prompt(result) for result in results)
        by_system: dict[str, list[_Result]] = {}
        for result in results:
            prompt = f": {shorten(_prompt(result), 60)}" if len(prompts) > 1 else ""
            by_system.setdefault(f"{_provider(result)}{prompt}", []).append(result)
        for system, members in by_system.items():
            yield _log(file.path, task, system, members)


def _log(path: str, task: str, system: str, results: Sequence[_Result]) -> Log:
    attempts: Counter[str] = Counter()
    rows = []
    for result in results:
        item = _item(result)
        attempts[item] += 1
        rows.append((item, str(attempts[item]), _values(result)))
    names = dict.fromkeys(name for result in results for name in result.vars or ())
    fields = {
        column: [text_of((result.vars or {}).get(name)) for result in results]
        for name in names
        if (column := field_name(name))
    }
    return log_of(path, NAME, task, system, rows, fields)


def _item(result: _Result) -> str:
    """The variables of a test, or its number if it has none."""
    if not result.vars:
        return f"test {result.test_idx + 1}"
    return shorten(json.dumps(result.vars, sort_keys=True, ensure_ascii=False))


def _provider(result: _Result) -> str:
    provider = result.provider
    return provider if isinstance(provider, str) else provider.label or provider.id


def _prompt(result: _Result) -> str:
    prompt = result.prompt
    return (prompt and (prompt.label or prompt.raw)) or result.prompt_id or ""


def _values(result: _Result) -> dict[str, Any]:
    named = result.named_scores or {}
    values = {"score": result.score, "success": result.success, **named}
    return dict.fromkeys(values) if result.failure_reason == ERROR else values


HARNESS = Harness(NAME, matches, read)
