"""The study file: TOML, checked as a whole, all mistakes with their places."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from deadheat.errors import Fault, InputError, StudyError, nearest, reason
from deadheat.metrics import METRICS
from deadheat.registry import Registry
from deadheat.splits import STRATEGIES
from deadheat.stats.corrections import CORRECTIONS
from deadheat.stats.paired import TESTS
from deadheat.study.search.space import Space, grid
from deadheat.systems import SYSTEMS

PART_NAMES = ("tune", "dev", "test")
Count = Annotated[int, Field(ge=0)]
Some = Annotated[int, Field(ge=1)]
T = TypeVar("T", bound=BaseModel)


class Strict(BaseModel):
    """No unknown keys, no guessing of types, nothing changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CorpusEntry(Strict):
    """Files or folders that are one corpus, relative to the study file."""

    files: str | list[str]
    format: Literal["auto", "conllu", "conllx", "columns", "tagged"] = "auto"
    columns: list[str] | None = None
    separator: str | None = None
    lenient: list[str] = []
    documents: str = "auto"


class Settable(BaseModel):
    """A name with settings besides."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class SplitEntry(Settable):
    """A strategy with its settings."""

    strategy: str
    times: Some = 1
    seed: Count = 0
    corpora: list[str] = []  # those that are split so; all where none is named

    def splits(self, corpus: str) -> bool:
        """Whether a corpus is split in this way."""
        return not self.corpora or corpus in self.corpora


class SystemEntry(Settable):
    """A system with its settings; a list of values stands for each of them."""

    name: str
    label: str = ""
    seeds: Some | list[Count] | None = None


class SearchEntry(Settable):
    """A system whose settings are searched: each is a value, a list of values or a range."""

    system: str
    label: str = ""
    method: Literal["grid", "random", "optuna"] = "grid"
    samples: Some = 20  # of a random search: settings
    seed: Count = 0  # of what is drawn
    sampler: Literal["tpe", "random", "cmaes", "gp", "qmc"] = "tpe"  # Optuna's
    pruner: Literal["none", "median", "halving", "hyperband"] = "none"
    seeds: Some | list[Count] | None = None  # of every network
    epoch: Literal["tune", "dev"] | list[Literal["tune", "dev"]] = "tune"  # the part that picks it; several: each way
    setting: Literal["dev", "tune"] = "dev"  # the part that picks the winner
    final: Literal["train", "train+tune"] = "train+tune"  # what winners learn from
    tested: Literal["winner", "all"] = "winner"
    metric: str = ""  # that picks; the first of the system's

    @property
    def setups(self) -> tuple[str, ...]:
        """The parts that pick epochs, each a setup of its own."""
        return (self.epoch,) if isinstance(self.epoch, str) else tuple(dict.fromkeys(self.epoch))

    @property
    def space(self) -> Space:
        """What is searched."""
        return Space(self.settings)


class CompareEntry(Strict):
    """How systems are compared on each split."""

    test: str = ""  # what fits
    correction: str = "bonferroni"
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05


class EngineEntry(Strict):
    """How the work is done."""

    workers: Count = 0  # as many as there are cores
    limit: Annotated[float, Field(gt=0)] | None = None  # seconds a cell
    device: Literal["auto", "cpu"] = "auto"  # where networks train: on an accelerator if there is one


class Study(Strict):
    """What is to be run: every system with every setting and seed, on every split of every corpus."""

    name: str = ""
    corpora: dict[str, CorpusEntry]
    splits: Annotated[list[SplitEntry], Field(min_length=1)] = [SplitEntry(strategy="standard")]
    systems: list[SystemEntry] = []
    search: list[SearchEntry] = []
    seeds: Some | list[Count] = 1
    metrics: list[str] = []
    tune: Literal["auto", "tune", "dev", "none"] = "auto"
    evaluate: list[Literal["tune", "dev", "test"]] = []
    store: str = ""
    compare: CompareEntry = CompareEntry()
    engine: EngineEntry = EngineEntry()

    @field_validator("splits", "search", mode="before")
    @classmethod
    def _one_or_several(cls, given: Any) -> Any:
        return [given] if isinstance(given, dict) else given

    def seeds_of(self, system: SystemEntry | SearchEntry) -> list[int]:
        """The seeds of a system: its own, or those of the study; a number stands for 0 and up."""
        given = self.seeds if system.seeds is None else system.seeds
        return list(range(given)) if isinstance(given, int) else list(dict.fromkeys(given))


def read_study(path: Path, overrides: Sequence[str] = ()) -> tuple[Study, str]:
    """A study file, checked, and its text. Overrides are as `systems.0.epochs=5`.

    Raises
    ------
    StudyError
        With every mistake, each with its line.
    """
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise StudyError([Fault(str(path), 0, f"cannot be read ({reason(error)})")]) from error
    except UnicodeDecodeError:
        raise StudyError([Fault(str(path), 0, "not a text; expected a study file in TOML")]) from None
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError([Fault(str(path), 0, f"not TOML ({str(error).lower()})")]) from None
    for override in overrides:
        _override(raw, override)
    faults: list[Fault] = []
    try:
        study = Study.model_validate(raw)
    except ValidationError as error:
        faults = list(_faults(path, text, raw, error))
        study = _remaining(raw, error, faults)
    found = checks(study, path)
    faults += [Fault(str(path), line_of(text, _steps(raw, place)), message) for place, message in found]
    if faults:
        raise StudyError(sorted(faults, key=lambda fault: fault.line))
    return study, text


def _remaining(raw: Mapping[str, Any], error: ValidationError, faults: Sequence[Fault]) -> Study:
    """The study without the values that are wrong, so that the others can be checked too; else the faults so far."""
    rest = deepcopy(dict(raw))
    try:
        for place in sorted({tuple(_steps(raw, each["loc"])) for each in error.errors()}, key=len, reverse=True):
            target: Any = rest
            for step in place[:-1]:
                target = target[step]
            if isinstance(target, dict) and place:
                target.pop(place[-1], None)
        return Study.model_validate(rest)
    except ValidationError:
        raise StudyError(faults) from None


def _override(raw: dict[str, Any], override: str) -> None:
    """Put a value in the place that `a.0.b=value` names; the value is TOML, or a string if it is none."""
    where, mark, value = override.partition("=")
    if not mark:
        raise InputError(f"--set {override}; expected as systems.0.epochs=5")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value
    *path, last = where.strip().split(".")
    target: Any = raw
    for step in path:
        target = _step(target, step, override)
    _step(target, last, override)
    target[int(last) if isinstance(target, list) else last] = parsed


def _step(target: Any, step: str, override: str) -> Any:
    if isinstance(target, list):
        if not step.isdigit() or int(step) >= len(target):
            raise InputError(f"--set {override}: no entry {step!r}; expected 0 to {len(target) - 1}")
        return target[int(step)]
    if not isinstance(target, dict):
        raise InputError(f"--set {override}: nothing is inside {step!r}; expected a key of the study file")
    return target.setdefault(step, {})


def _faults(path: Path, text: str, raw: Mapping[str, Any], error: ValidationError) -> Iterator[Fault]:
    """Pydantic's findings in our words, one a place; where several types would do, what is wrong deepest inside."""
    found: dict[tuple[str | int, ...], str] = {}
    for each in error.errors():
        place = tuple(_steps(raw, each["loc"]))
        name = ".".join(map(str, place)) or "the study"
        if each["type"] == "extra_forbidden":
            message = f"{name} is unknown; {nearest(str(place[-1]), _known(place))}"
        elif each["type"] == "missing":
            place = (*place, each["loc"][-1])
            message = f"{'.'.join(map(str, place))} is missing; expected it"
        else:
            message = f"{name}: {_lowered(each['msg'])}, not {each['input']!r}"
        found.setdefault(place, message)
    for place, message in found.items():
        if not any(place == other[: len(place)] for other in found if other != place):
            yield Fault(str(path), line_of(text, place), message)


def _steps(raw: Any, location: Sequence[str | int]) -> list[str | int]:
    """The steps of a location that lead somewhere in the file; pydantic adds names of types to them."""
    found: list[str | int] = []
    for part in location:
        inside = part in raw if isinstance(raw, dict) else isinstance(raw, list) and part in range(len(raw))
        if inside:
            raw = raw[part]
            found.append(part)
    return found


def _known(place: Sequence[str | int]) -> list[str]:
    models: dict[str, type[BaseModel]] = {"corpora": CorpusEntry, "compare": CompareEntry, "engine": EngineEntry}
    model = models.get(str(place[0]), Study) if len(place) > 1 else Study
    return list(model.model_fields)


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:].rstrip(".")


TRIED = 20  # of settings that would be drawn, before anything runs
Mistake = tuple[tuple[str | int, ...], str]  # where, and what


def checks(study: Study, path: Path) -> Iterator[Mistake]:
    """What types cannot say: names that must exist, settings that must fit."""
    for name, entry in study.corpora.items():
        for file in [entry.files] if isinstance(entry.files, str) else entry.files:
            if not (path.parent / file).exists():
                yield ("corpora", name, "files"), f"{file}: no such file or folder; expected it beside the study file"
    if not study.corpora:
        yield ("corpora",), "no corpora; expected at least one"
    for i, split in enumerate(study.splits):
        yield from _fits(STRATEGIES, split.strategy, [split.settings], ("splits", i), "strategy")
    yield from _system_checks(study)
    for i, search in enumerate(study.search):
        yield from _search_checks(study, search, i)
    for i, metric in enumerate(study.metrics):
        yield from _fits(METRICS, metric, [{}], ("metrics",), i)
    if study.compare.test and study.compare.test not in TESTS:
        yield ("compare", "test"), f"test {study.compare.test!r} is unknown; {nearest(study.compare.test, TESTS)}"
    if study.compare.correction not in CORRECTIONS:
        told = nearest(study.compare.correction, list(CORRECTIONS))
        yield ("compare", "correction"), f"correction {study.compare.correction!r} is unknown; {told}"


def _system_checks(study: Study) -> Iterator[Mistake]:
    for i, system in enumerate(study.systems):
        empty = [key for key, value in system.settings.items() if value == []]
        yield from ((("systems", i, key), f"{key} has no values; expected at least one") for key in empty)
        yield from _fits(SYSTEMS, system.name, grid(system.settings), ("systems", i), "name")
        if not study.seeds_of(system):
            yield ("systems", i, "seeds"), "no seeds; expected at least one"
    if not study.systems and not study.search:
        yield ("systems",), "systems is missing; expected some, or a search"


def _search_checks(study: Study, entry: SearchEntry, i: int) -> Iterator[Mistake]:
    place: tuple[str | int, ...] = ("search", i)
    try:
        entry.space.check()
        if entry.method == "grid":
            entry.space.all()
    except InputError as error:
        named = [key for key in entry.settings if str(error).startswith((f"{key} ", f"{key}:"))]
        yield (*place, *named[:1]), f"search: {error}"
        return
    drawn = entry.space.all() if entry.method == "grid" else entry.space.drawn(TRIED, entry.seed)
    yield from _fits(SYSTEMS, entry.system, drawn, place, "system")
    if entry.metric:
        yield from _fits(METRICS, entry.metric, [{}], place, "metric")
    if not entry.setups:
        yield (*place, "epoch"), "search: no part picks epochs; expected tune or dev"
    if not study.seeds_of(entry):
        yield (*place, "seeds"), "no seeds; expected at least one"


def _fits(
    registry: Registry[Any], name: str, variants: Sequence[dict[str, Any]], place: tuple[str | int, ...], key: str | int
) -> Iterator[Mistake]:
    for settings in variants:
        try:
            registry.make(name, **settings)
        except InputError as error:
            told: list[str | int] = [
                setting for setting in settings if repr(setting) in str(error) or f"{setting}=" in str(error)
            ]
            yield (*place, *(told[:1] or [key])), str(error)
            return


_WORD = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_WORD}(?:\s*\.\s*{_WORD})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*(?P<name>{_DOTTED})\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(rf"\s*(?P<key>{_DOTTED})\s*=")


def line_of(text: str, path: Sequence[str | int]) -> int:
    r"""The line of what a path leads to, or of the innermost part of the path that has a line; 0 if none has.

    Examples
    --------
    >>> text = "seeds = 3\n[[systems]]\nname = 'hmm'\n[[systems]]\nname = 'oops'\n"
    >>> line_of(text, ["systems", 1, "name"]), line_of(text, ["systems", 1, "beam"]), line_of(text, ["seeds"])
    (5, 4, 1)
    """
    places: dict[tuple[str | int, ...], int] = {}
    here: tuple[str | int, ...] = ()
    for number, line in enumerate(text.split("\n"), start=1):
        header = _HEADER.match(line)
        if header is not None:
            names = _parts(header["name"])
            here = tuple(names)
            if header[1] == "[[":
                count = sum(1 for place in places if place[:-1] == here and isinstance(place[-1], int))
                here = (*here, count)
            places.setdefault(here, number)
            for end in range(1, len(here)):
                places.setdefault(here[:end], number)
            continue
        key = _KEY.match(line)
        if key is not None:
            places.setdefault((*here, *_parts(key["key"])), number)
    wanted = tuple(path)
    while wanted and wanted not in places:
        wanted = wanted[:-1]
    return places.get(wanted, 0)


def _parts(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(_WORD, dotted)]
