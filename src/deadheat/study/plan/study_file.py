"""The study file: its TOML schema, and a reader that reports all mistakes with their line numbers."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from deadheat.errors import Fault, InputError, StudyError, nearest, reason
from deadheat.metrics import METRICS
from deadheat.registry import Registry
from deadheat.splits import STRATEGIES
from deadheat.stats.corrections import CORRECTIONS
from deadheat.stats.paired import TESTS
from deadheat.study.plan.protocols import PROTOCOLS
from deadheat.study.plan.toml_lines import TomlPath, line_of
from deadheat.study.search.space import Space, grid
from deadheat.systems import SYSTEMS

N_CHECKED = 20  # random settings of a search that are checked before anything runs
NonNegative = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Mistake = tuple[TomlPath, str]  # where, and what is wrong


class StrictModel(BaseModel):
    """No unknown keys, no conversion of types, immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CorpusEntry(StrictModel):
    """Files or folders that form one corpus, relative to the study file."""

    files: str | list[str]
    format: Literal["auto", "conllu", "conllx", "columns", "tagged"] = "auto"
    columns: list[str] | None = None
    separator: str | None = None
    lenient: list[str] = []
    documents: str = "auto"
    role: Literal["evaluate", "develop"] = "evaluate"  # develop: never scored on test


class EntryWithSettings(BaseModel):
    """An entry whose unknown keys are settings of what it names."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class SplitEntry(EntryWithSettings):
    """A split strategy with its settings."""

    strategy: str
    times: Positive = 1
    seed: NonNegative = 0
    corpora: list[str] = []  # to which it applies; empty: all

    def applies_to(self, corpus: str) -> bool:
        """Whether a corpus is split by this strategy."""
        return not self.corpora or corpus in self.corpora


class SystemEntry(EntryWithSettings):
    """A system with its settings; a list of values stands for each of them."""

    name: str
    label: str = ""
    seeds: Positive | list[NonNegative] | None = None


class SearchEntry(EntryWithSettings):
    """A system whose settings are searched: each is a value, a list of values or a range."""

    system: str
    label: str = ""
    method: Literal["grid", "random", "optuna"] = "grid"
    samples: Positive = 20  # settings of a random search
    seed: NonNegative = 0  # of a random search
    sampler: Literal["tpe", "random", "cmaes", "gp", "qmc"] = "tpe"  # Optuna's
    pruner: Literal["none", "median", "halving", "hyperband"] = "none"
    seeds: Positive | list[NonNegative] | None = None  # of every network
    epoch: Literal["tune", "dev"] | list[Literal["tune", "dev"]] = "tune"  # the part that selects it; several: each
    setting: Literal["dev", "tune"] = "dev"  # the part that selects the winner
    final: Literal["train", "train+tune"] = "train+tune"  # training data of the winners
    tested: Literal["winner", "all"] = "winner"
    metric: str = ""  # that selects; empty: the first of the system's

    @property
    def setups(self) -> tuple[str, ...]:
        """The parts that select epochs, each a setup of its own."""
        return (self.epoch,) if isinstance(self.epoch, str) else tuple(dict.fromkeys(self.epoch))

    @property
    def space(self) -> Space:
        return Space(self.settings)


class CompareEntry(StrictModel):
    """How systems are compared on each split."""

    test: str = ""  # on every split; empty: the clustered t-test
    correction: str = "holm"
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05


class HypothesisEntry(StrictModel):
    """What the study is meant to show, stated before it runs."""

    primary: str = ""  # "A > B", by the labels of two systems
    metric: str = ""  # of the primary hypothesis; empty: the first of its systems
    margin: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None  # points that count as no difference

    @property
    def systems(self) -> tuple[str, str] | None:
        """The system that is claimed to be better, and the other; None if no hypothesis of this form is stated.

        Examples
        --------
        >>> HypothesisEntry(primary="mine > hmm").systems
        ('mine', 'hmm')
        """
        names = tuple(name.strip() for name in self.primary.split(">"))
        return (names[0], names[1]) if len(names) == 2 and all(names) else None


class EngineEntry(StrictModel):
    """How cells are run."""

    workers: NonNegative = 0  # 0: one per core
    limit: Annotated[float, Field(gt=0)] | None = None  # seconds per cell
    device: Literal["auto", "cpu"] = "auto"  # auto: networks train on an accelerator if there is one


class Study(StrictModel):
    """What to run: every system with every setting and seed, on every split of every corpus."""

    name: str = ""
    protocol: str = ""  # the experiment of a paper that it follows
    corpora: dict[str, CorpusEntry]
    splits: Annotated[list[SplitEntry], Field(min_length=1)] = [SplitEntry(strategy="standard")]
    systems: list[SystemEntry] = []
    search: list[SearchEntry] = []
    seeds: Positive | list[NonNegative] = 1
    metrics: list[str] = []
    tune: Literal["auto", "tune", "dev", "none"] = "auto"
    evaluate: list[Literal["tune", "dev", "test"]] = []
    store: str = ""
    compare: CompareEntry = CompareEntry()
    hypothesis: HypothesisEntry = HypothesisEntry()
    engine: EngineEntry = EngineEntry()

    @field_validator("splits", "search", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return [value] if isinstance(value, dict) else value

    @property
    def develops(self) -> bool:
        """Whether some corpora are for development only."""
        return any(entry.role == "develop" for entry in self.corpora.values())

    def seeds_of(self, system: SystemEntry | SearchEntry) -> list[int]:
        """The seeds of a system, or else those of the study; a number n stands for 0 to n - 1."""
        seeds = self.seeds if system.seeds is None else system.seeds
        return list(range(seeds)) if isinstance(seeds, int) else list(dict.fromkeys(seeds))


def read_study(path: Path, overrides: Sequence[str] = ()) -> tuple[Study, str]:
    """Read and check a study file; returns the study and its text. An override is `systems.0.epochs=5`.

    Raises
    ------
    StudyError
        With every mistake, each with its line.
    """
    try:
        text = path.read_text("utf-8")
        raw = tomllib.loads(text)
    except OSError as error:
        raise StudyError([Fault(str(path), 0, f"cannot be read ({reason(error)})")]) from error
    except UnicodeDecodeError:
        raise StudyError([Fault(str(path), 0, "not a text file; expected a study file in TOML")]) from None
    except tomllib.TOMLDecodeError as error:
        raise StudyError([Fault(str(path), 0, f"not valid TOML ({str(error).lower()})")]) from None
    for override in overrides:
        _override(raw, override)
    faults: list[Fault] = []
    try:
        study = Study.model_validate(raw)
    except ValidationError as error:
        faults = list(_schema_faults(path, text, raw, error))
        study = _without_faults(raw, error, faults)
    mistakes = [(_existing_path(raw, where), message) for where, message in _check_names(study, path)]
    faults += [Fault(str(path), line_of(text, where), message) for where, message in mistakes]
    if faults:
        raise StudyError(sorted(faults, key=lambda fault: fault.line))
    return study, text


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
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
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
        else:
            complaint = details["msg"][:1].lower() + details["msg"][1:].rstrip(".")
            message = f"{name}: {complaint}, not {details['input']!r}"
        messages.setdefault(where, message)
    for where, message in messages.items():
        if not any(where == other[: len(where)] for other in messages if other != where):
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
    return list(model.model_fields)


def _check_names(study: Study, path: Path) -> Iterator[Mistake]:
    """What types cannot express: names that must exist, settings that must fit."""
    for name, entry in study.corpora.items():
        for file in [entry.files] if isinstance(entry.files, str) else entry.files:
            if not (path.parent / file).exists():
                yield ("corpora", name, "files"), f"{file}: no such file or folder; expected it beside the study file"
    if not study.corpora:
        yield ("corpora",), "no corpora; expected at least one"
    for i, split in enumerate(study.splits):
        yield from _check_settings(STRATEGIES, split.strategy, [split.settings], ("splits", i), "strategy")
    yield from _check_systems(study)
    for i, search in enumerate(study.search):
        yield from _check_search(study, search, i)
    for i, metric in enumerate(study.metrics):
        yield from _check_settings(METRICS, metric, [{}], ("metrics",), i)
    for key, name, names in (
        ("test", study.compare.test, ("", *TESTS)),
        ("correction", study.compare.correction, tuple(CORRECTIONS)),
    ):
        if name not in names:
            yield ("compare", key), f"{key} {name!r} is unknown; {nearest(name, [*filter(None, names)])}"
    if study.protocol and study.protocol not in PROTOCOLS:
        yield ("protocol",), f"protocol {study.protocol!r} is unknown; {nearest(study.protocol, list(PROTOCOLS))}"
    yield from _check_hypothesis(study)
    yield from _check_roles(study)


def _check_hypothesis(study: Study) -> Iterator[Mistake]:
    """The form of the hypothesis; whether its systems exist is known when all their settings are."""
    entry = study.hypothesis
    if entry.metric and not entry.primary:
        yield ("hypothesis", "metric"), 'hypothesis: a metric without primary; expected as primary = "A > B"'
    if entry.primary and entry.systems is None:
        where = ("hypothesis", "primary")
        yield where, f'hypothesis: primary = {entry.primary!r}; expected two systems, as "A > B"'
    if entry.systems is not None and entry.systems[0] == entry.systems[1]:
        yield ("hypothesis", "primary"), f"hypothesis: {entry.systems[0]} twice; expected two systems"


def _check_roles(study: Study) -> Iterator[Mistake]:
    """Corpora for development leave no choice of parts, and settings are not yet searched on them alone."""
    if study.develops and study.evaluate:
        parts = 'corpora with role = "develop" are scored on dev and the others on test'
        yield ("evaluate",), f"evaluate: {parts}; expected no evaluate"
    if study.develops and study.search:
        alone = 'corpora with role = "develop" cannot be searched apart from the others'
        yield ("search", 0), f"search: {alone}; expected two studies, the second with the winning settings"


def _check_systems(study: Study) -> Iterator[Mistake]:
    for i, system in enumerate(study.systems):
        empty = [key for key, value in system.settings.items() if value == []]
        yield from ((("systems", i, key), f"{key} has no values; expected at least one") for key in empty)
        yield from _check_settings(SYSTEMS, system.name, grid(system.settings), ("systems", i), "name")
        if not study.seeds_of(system):
            yield ("systems", i, "seeds"), "no seeds; expected at least one"
    if not study.systems and not study.search:
        yield ("systems",), "systems is missing; expected some, or a search"


def _check_search(study: Study, entry: SearchEntry, i: int) -> Iterator[Mistake]:
    where: TomlPath = ("search", i)
    try:
        entry.space.check()
        candidates = entry.space.all() if entry.method == "grid" else entry.space.sample(N_CHECKED, entry.seed)
    except InputError as error:
        named = [key for key in entry.settings if str(error).startswith((f"{key} ", f"{key}:"))]
        yield (*where, *named[:1]), f"search: {error}"
        return
    yield from _check_settings(SYSTEMS, entry.system, candidates, where, "system")
    if entry.metric:
        yield from _check_settings(METRICS, entry.metric, [{}], where, "metric")
    if not entry.setups:
        yield (*where, "epoch"), "search: no part selects epochs; expected tune or dev"
    if not study.seeds_of(entry):
        yield (*where, "seeds"), "no seeds; expected at least one"


def _check_settings(
    registry: Registry[Any], name: str, variants: Sequence[dict[str, Any]], where: TomlPath, key: str | int
) -> Iterator[Mistake]:
    for settings in variants:
        try:
            registry.make(name, **settings)
        except InputError as error:
            text = str(error)
            wrong: list[str | int] = [name for name in settings if repr(name) in text or f"{name}=" in text]
            yield (*where, *(wrong[:1] or [key])), text
            return
