"""Logs of HELM: `per_instance_stats.json`, with `run_spec.json` beside it.

Train trials are attempts: they choose other examples for the prompt, and the model is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from deadheat.errors import InputError
from deadheat.items.logs.decoding import decode, shorten
from deadheat.items.logs.files import LogFile
from deadheat.items.logs.log import Harness, Log, log_of

NAME = "HELM"
# Statistics that describe prompts, answers and costs, and say nothing on how good an answer is.
BOOKKEEPING = re.compile(r"(num_|training_|inference_|finish_reason_).*|batch_size|prompt_truncated|max_prob|logprob")
MODEL = re.compile(r"(?<=[:,])model(_deployment)?=[^,]*,?")
PLAIN = ("name", "robustness", "fairness", "computed_on")


class _Name(msgspec.Struct):
    name: str


class _Stat(msgspec.Struct):
    name: _Name
    count: int | float = 0
    sum: Any = None
    mean: Any = None


class _Instance(msgspec.Struct):
    instance_id: str
    stats: list[_Stat]
    train_trial_index: int = 0
    perturbation: dict[str, Any] | None = None


class _Adapter(msgspec.Struct):
    model: str


class _Run(msgspec.Struct):
    name: str
    adapter_spec: _Adapter


def matches(file: LogFile) -> bool:
    """Whether a file has statistics of instances."""
    return {"instance_id", "stats"} <= file.keys[2] and file.head.lstrip().startswith(b"[")


def read(files: Sequence[LogFile], *, partial: bool) -> Iterator[Log]:
    """One log per file."""
    for file in files:
        spec = file.sibling("run_spec.json")
        if not spec:
            raise InputError(f"{file.path}: no run_spec.json beside it; expected one, which names the model")
        run = decode(LogFile(spec, b"").read(), _Run, spec)
        task = MODEL.sub("", run.name).rstrip(",:")
        instances = decode(file.read(), list[_Instance], file.path)
        rows = [(_item(one), str(one.train_trial_index + 1), _values(one.stats)) for one in instances]
        yield log_of(file.path, NAME, task, run.adapter_spec.model, rows)


def _item(instance: _Instance) -> str:
    """An instance and how it was perturbed."""
    change = instance.perturbation
    if not change:
        return shorten(instance.instance_id)
    settings = ",".join(f"{key}={value}" for key, value in sorted(change.items()) if key not in PLAIN)
    return shorten(f"{instance.instance_id} {change.get('name', 'perturbed')}{f'({settings})' if settings else ''}")


def _values(stats: Sequence[_Stat]) -> Mapping[str, Any]:
    values = {}
    for stat in stats:
        if not BOOKKEEPING.fullmatch(stat.name.name):
            values[stat.name.name] = (stat.sum if stat.mean is None else stat.mean) if stat.count else None
    return values


HARNESS = Harness(NAME, matches, read)
