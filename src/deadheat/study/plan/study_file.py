"""Read a study file; all mistakes are reported together, with their line numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from deadheat.errors import Fault, InputError, StudyError, nearest
from deadheat.study.plan.checks import Mistake, check_names, check_size, shorten
from deadheat.study.plan.entries import CompareEntry, CorpusEntry, EngineEntry, HypothesisEntry, Needs, Study
from deadheat.study.plan.toml_lines import TomlPath, line_of, parse_toml, read_toml
from deadheat.study.plan.user_code import with_code

_BRACKETS = re.compile(r"\[.*\]|\{.*\}", re.DOTALL)  # a list or a table of TOML, and no plain string


def read_study(path: Path, overrides: Sequence[str] = ()) -> tuple[Study, str]:
    """Read and check a study file; returns the study and its text. An override is `systems.0.epochs=5`.

    Raises
    ------
    StudyError
        With every mistake, each with its line.
    """
    try:
        text, raw = read_toml(path)
        for override in overrides:
            _override(raw, override)
        if faults := [Fault(str(path), line_of(text, where), message) for where, message in _large_numbers(raw)]:
            raise StudyError(faults)
        return _checked(path, text, raw), text
    except RecursionError:
        raise StudyError([Fault(str(path), 0, "nested too deeply; expected a study file")]) from None


def _large_numbers(raw: Mapping[str, Any]) -> Iterator[Mistake]:
    """Integers that TOML does not have, but its reader accepts."""
    values: list[tuple[TomlPath, Any]] = [((), raw)]
    while values:
        where, value = values.pop()
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            yield where, f"{'.'.join(map(str, where))}: a number beyond 64 bits; expected less than 2^63"
        steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        values += [((*where, step), inner) for step, inner in steps]


def _checked(path: Path, text: str, raw: Mapping[str, Any]) -> Study:
    faults: list[Fault] = []
    try:
        study = Study.model_validate(raw)
    except ValidationError as error:
        faults = list(_schema_faults(path, text, raw, error))
        study = _without_faults(raw, error, faults)
    mistakes = [(_existing_path(raw, where), message) for where, message in check_size(study)]
    if not mistakes:  # or looking at every setting would not end
        mistakes = [(_existing_path(raw, where), message) for where, message in check_names(study, path.parent)]
    faults += [Fault(str(path), line_of(text, where), message) for where, message in mistakes]
    if faults:
        raise StudyError(sorted(faults, key=lambda fault: fault.line))
    return with_code(study, path.parent)


def _without_faults(raw: Mapping[str, Any], error: ValidationError, faults: Sequence[Fault]) -> Study:
    """The study without its wrong values, so that the others can be checked too; raises the faults if that fails."""
    rest = deepcopy(dict(raw))
    try:
        wrong = {tuple(_existing_path(raw, details["loc"])) for details in error.errors()}
        for path in sorted(wrong, key=len, reverse=True):
            target: Any = rest
            for step in path[:-1]:
                target = target[step]
            if isinstance(target, dict) and path:
                target.pop(path[-1], None)
        return Study.model_validate(rest)
    except ValidationError:
        raise StudyError(faults) from None


def _override(raw: dict[str, Any], override: str) -> None:
    """Set the value of the key in `a.0.b=value`; the value is TOML, or else a string."""
    key, equals, value = override.partition("=")
    if not equals:
        raise InputError(f"--set {override}; expected as systems.0.epochs=5")
    try:
        parsed = parse_toml(f"value = {value}")["value"]
    except ValueError as error:
        if _BRACKETS.fullmatch(value.strip()):
            problem = str(error).partition(" (at ")[0].removeprefix("not valid TOML (").lower()
            raise InputError(f"--set {override}: not valid TOML ({problem}); expected a value of TOML") from None
        parsed = value
    *path, last = key.strip().split(".")
    target: Any = raw
    for step in path:
        target = _descend(target, step, override)
    _descend(target, last, override)
    target[int(last) if isinstance(target, list) else last] = parsed


def _descend(target: Any, step: str, override: str) -> Any:
    if isinstance(target, list):
        if not step.isdigit() or int(step) >= len(target):
            raise InputError(f"--set {override}: no entry {step!r}; expected 0 to {len(target) - 1}")
        return target[int(step)]
    if not isinstance(target, dict):
        raise InputError(f"--set {override}: {step!r} is not inside a table; expected a key of the study file")
    return target.setdefault(step, {})


def _schema_faults(path: Path, text: str, raw: Mapping[str, Any], error: ValidationError) -> Iterator[Fault]:
    """Pydantic's errors in our words, one per key; of the alternatives of a union, the most specific."""
    messages: dict[TomlPath, str] = {}
    for details in error.errors():
        where = tuple(_existing_path(raw, details["loc"]))
        name = ".".join(map(str, where)) or "the study"
        if details["type"] == "extra_forbidden":
            message = f"{name} is unknown; {nearest(str(where[-1]), _known_keys(where))}"
        elif details["type"] == "missing":
            where = (*where, details["loc"][-1])
            message = f"{'.'.join(map(str, where))} is missing; expected it"
        elif details["type"] in ("model_type", "model_attributes_type", "dict_type"):  # they name our classes
            message = f"{name}: expected a table of keys and values, not {shorten(repr(details['input']))}"
        else:
            complaint = details["msg"][:1].lower() + details["msg"][1:].rstrip(".")
            message = f"{name}: {complaint}, not {shorten(repr(details['input']))}"
        messages.setdefault(where, message)
    parents = {where[:end] for where in messages for end in range(len(where))}
    for where, message in messages.items():
        if where not in parents:
            yield Fault(str(path), line_of(text, where), message)


def _existing_path(raw: Any, location: Sequence[str | int]) -> list[str | int]:
    """The steps of a location that exist in the file; pydantic adds names of types to them."""
    path: list[str | int] = []
    for step in location:
        exists = step in raw if isinstance(raw, dict) else isinstance(raw, list) and step in range(len(raw))
        if exists:
            raw = raw[step]
            path.append(step)
    return path


def _known_keys(where: TomlPath) -> list[str]:
    models: dict[str, type[BaseModel]] = {
        "corpora": CorpusEntry,
        "compare": CompareEntry,
        "hypothesis": HypothesisEntry,
        "engine": EngineEntry,
    }
    model = models.get(str(where[0]), Study) if len(where) > 1 else Study
    model = Needs if "needs" in where[:-1] else model
    return list(model.model_fields)
