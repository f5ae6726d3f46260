"""What a study file may say: its TOML schema, as frozen models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from deadheat.files import match_files
from deadheat.study.search.space import Space
from deadheat.text import parse_size

NonNegative = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
WILDCARDS = frozenset("*?[")
AUTO, CLIENT = "auto", "ray://"  # addresses of Ray clusters: that of this machine, and how those for clients begin
_ADDRESS = re.compile(r"(ray://)?(?P<host>\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):(?P<port>\d{1,5})")


def exists(path: Path) -> bool:
    """Whether there is a file or folder; a name that the system does not accept is that of none."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def address_problem(address: str) -> str:
    """What is wrong with the form of an address; empty if nothing is."""
    parsed = _ADDRESS.fullmatch(address)
    if address == AUTO or (parsed is not None and int(parsed["port"]) <= 65535):
        return ""
    return f"address {address!r}; expected auto, HOST:PORT or ray://HOST:PORT"


class StrictModel(BaseModel):
    """No unknown keys, no conversion of types, immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CorpusEntry(StrictModel):
    """Files, folders or patterns that form one corpus, relative to the study file; alone, or with how to read them."""

    files: str | list[str]
    format: str = "auto"
    columns: list[str] | None = None
    separator: str | None = None
    lenient: list[str] = []
    documents: str = "auto"
    role: Literal["evaluate", "develop"] = "evaluate"  # develop: never scored on test

    @model_validator(mode="before")
    @classmethod
    def _files_alone(cls, value: Any) -> Any:
        return {"files": value} if isinstance(value, str | list) else value

    def paths(self, folder: Path) -> Iterator[tuple[str, list[Path]]]:
        """The files and folders of each entry of `files`: none if nothing has its name or matches its pattern."""
        for name in [self.files] if isinstance(self.files, str) else self.files:
            paths = [folder / name] if exists(folder / name) else []
            if not paths and not WILDCARDS.isdisjoint(name):
                paths = [folder / match for match in sorted(match_files(name, folder, recursive=True))]
            yield name, paths


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


class Needs(StrictModel):
    """What one cell of a system occupies while it runs."""

    cores: Positive = 1
    memory: str = ""  # such as "4 GB"; empty: not known
    gpus: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0

    @field_validator("memory")
    @classmethod
    def _is_size(cls, value: str) -> str:
        if value and parse_size(value) is None:
            raise PydanticCustomError("size", "expected a size such as 4 GB")
        return value

    @property
    def bytes(self) -> int:
        """The memory that it needs, 0 if that is not known."""
        return parse_size(self.memory) or 0


class SystemEntry(EntryWithSettings):
    """A system with its settings; a list of values stands for each of them."""

    name: str
    label: str = ""
    seeds: Positive | list[NonNegative] | None = None
    needs: Needs = Needs()


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
    needs: Needs = Needs()
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
    """How and where cells are run."""

    type: Literal["local", "ray"] = "local"
    address: str = AUTO  # of the Ray cluster
    files: list[str] = []  # more that systems read, beside the study file: sent to the nodes of a cluster
    workers: NonNegative = 0  # 0: one per core; on a cluster those of each node
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
