"""Logs of Inspect: `.eval` archives, and the older `.json`.

The epochs of a sample are attempts: the same model is asked the same question again, and nothing is trained between
them. More of them make the score of an item more precise, but do not add items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from deadheat.errors import InputError
from deadheat.items.logs.decoding import decode, shorten, text_of
from deadheat.items.logs.files import LogFile
from deadheat.items.logs.log import CLUSTER, Harness, Log, field_name, listed, log_of
from deadheat.items.logs.zips import MAGIC, Archive

NAME = "Inspect"
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partial, incorrect, no answer
HEADER, START, SUMMARIES, REDUCTIONS = "header.json", "_journal/start.json", "summaries.json", "reductions.json"
PART = re.compile(r"_journal/summaries/(\d{1,9})\.json")
DONE = "success"
NO_SCORER = "score"  # of logs that have one score without a name


class _Spec(msgspec.Struct):
    task: str
    model: str
    eval_id: str | None = None
    scorers: Any = None


class _Header(msgspec.Struct):
    eval: _Spec
    status: str = "started"
    results: Any = None


class _Score(msgspec.Struct):
    value: Any = None


class _Sample(msgspec.Struct):
    id: int | str
    epoch: int = 1
    metadata: dict[str, Any] | None = None
    scores: dict[str, _Score] | None = None
    score: _Score | None = None  # of logs before several scorers


class _Metadata(msgspec.Struct):
    metadata: dict[str, Any] | None = None


class _Reduced(msgspec.Struct):
    sample_id: int | str | None = None
    value: Any = None


class _Reduction(msgspec.Struct):
    scorer: str
    samples: list[_Reduced]
    reducer: str | None = None


class _Log(_Header):
    samples: list[_Sample] | None = None
    reductions: list[_Reduction] | None = None


def matches(file: LogFile) -> bool:
    """Whether a file is a log of Inspect."""
    if file.head.startswith(MAGIC):
        return any(name.encode() in file.head for name in (START, HEADER))
    return {"eval", "status"} <= file.keys[1] and {"task", "run_id"} <= file.keys[2]


def read(files: Sequence[LogFile], *, partial: bool) -> Iterator[Log]:
    """One log per file."""
    for file in files:
        log = (_open_archive if file.head.startswith(MAGIC) else _open_json)(file)
        if log.status != DONE and not partial:
            problem = f"the run did not finish (status {log.status[:20]})"
            raise InputError(f"{file.path}: {problem}; expected success (--partial reads it)")
        cluster = _declared_cluster(log)
        if log.samples:
            rows = [(shorten(str(one.id)), str(one.epoch), _values(one)) for one in log.samples]
            fields, notes = _fields(log.samples, cluster), []
        else:
            rows = [(item, "1", values) for item, values in _reduced(log.reductions or ()).items()]
            fields, notes = {}, [f"{file.path}: no samples, and so no {cluster} of an item"] if cluster else []
        if log.status != DONE:
            notes.append(f"{file.path}: the run did not finish (status {log.status[:20]})")
        details = {"cluster": cluster, "identity": log.eval.eval_id or "", "notes": tuple(notes)}
        yield log_of(file.path, NAME, log.eval.task, log.eval.model, rows, fields, **details)


def _open_json(file: LogFile) -> _Log:
    return decode(file.read(), _Log, file.path)


def _open_archive(file: LogFile) -> _Log:
    """What an archive says in its directory of summaries; samples are opened for clusters only."""
    archive = Archive(file.path, file.read())
    name = HEADER if HEADER in archive.names else START  # a run that was killed has a journal only
    header = decode(archive.read(name), _Header, f"{file.path}: {name}")
    parts = sorted((int(match[1]), name) for name in archive.names if (match := PART.fullmatch(name)))
    names = [SUMMARIES] if SUMMARIES in archive.names else [name for _, name in parts]
    samples = [sample for name in names for sample in decode(archive.read(name), list[_Sample], f"{file.path}: {name}")]
    log = _Log(header.eval, header.status, header.results, samples)
    cluster = _declared_cluster(log)
    for sample in samples if cluster else ():  # what is longer than a kilobyte is not in the summaries
        member = f"samples/{sample.id}_epoch_{sample.epoch}.json"
        if cluster not in (sample.metadata or {}) and member in archive.names:
            sample.metadata = decode(archive.read(member), _Metadata, f"{file.path}: {member[:100]}").metadata
    if not samples and REDUCTIONS in archive.names:
        log.reductions = decode(archive.read(REDUCTIONS), list[_Reduction], f"{file.path}: {REDUCTIONS}")
    return log


def _values(sample: _Sample) -> dict[str, Any]:
    """The scores of a sample by metric; a scorer may give several."""
    scores = sample.scores or ({NO_SCORER: sample.score} if sample.score else {})
    return _metrics({name: score.value for name, score in scores.items()})


def _metrics(values: Mapping[str, Any]) -> dict[str, Any]:
    metrics: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            metrics |= {f"{name}.{key}": _number(part) for key, part in value.items()}
        else:
            metrics[name] = _number(value)
    return metrics


def _number(value: Any) -> Any:
    return GRADES.get(value, value) if isinstance(value, str) else value


def _reduced(reductions: Sequence[_Reduction]) -> dict[str, dict[str, Any]]:
    """The mean over epochs of every sample by scorer, or what else a scorer reduces epochs to first."""
    chosen: dict[str, _Reduction] = {}
    for reduction in reductions:
        if reduction.scorer not in chosen or reduction.reducer == "mean":
            chosen[reduction.scorer] = reduction
    values: dict[str, dict[str, Any]] = {}
    for scorer, reduction in chosen.items():
        for number, sample in enumerate(reduction.samples, start=1):
            item = shorten(str(number if sample.sample_id is None else sample.sample_id))
            values.setdefault(item, {}).update(_metrics({scorer: sample.value}))
    return values


def _declared_cluster(log: _Header) -> str:
    """The field of metadata that a scorer's standard error takes for clusters; "" if there is none."""
    names = list(dict.fromkeys(_cluster_options(log.eval.scorers))) or list(
        dict.fromkeys(_cluster_options(log.results))
    )
    if len(names) > 1:
        raise InputError(f"{log.eval.task} by {log.eval.model}: clusters by {listed(names)}; expected one kind")
    return names[0] if names else ""


def _cluster_options(value: Any, depth: int = 0) -> Iterator[str]:
    """The options `cluster` of metrics, wherever they are: they have moved between versions."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        cluster = part.get("cluster") if key in ("options", "params") and isinstance(part, dict) else None
        if isinstance(cluster, str) and cluster:
            yield cluster
        elif depth < 8:
            yield from _cluster_options(part, depth + 1)


def _fields(samples: Sequence[_Sample], cluster: str) -> dict[str, list[str | None]]:
    """The metadata by which samples may be grouped, and the declared cluster."""
    names = dict.fromkeys(name for sample in samples for name in sample.metadata or ())
    columns = {CLUSTER: cluster} if cluster else {}
    columns |= {column: name for name in names if (column := field_name(name)) and name != cluster}
    return {
        column: [text_of((sample.metadata or {}).get(name)) for sample in samples] for column, name in columns.items()
    }


HARNESS = Harness(NAME, matches, read)
