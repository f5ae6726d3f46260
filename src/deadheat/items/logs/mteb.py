"""Results of MTEB: `<model>/<revision>/<task>.json`, the score of a model on each task.

They have no scores of items, and so they are compared over tasks: `deadheat rank` takes them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deadheat.errors import InputError
from deadheat.items.logs.decoding import NotANumber, decode, number_of
from deadheat.items.logs.files import LogFile, walk
from deadheat.items.table import join_sources
from deadheat.tables.matrix import ScoreTable, score_table

NAME = "MTEB"
REVISION = re.compile(r"[0-9a-f]{40}|no_revision.*|external|v?[\d.]+")
SPLIT, MAIN = "test", "main_score"


def matches(file: LogFile) -> bool:
    """Whether a file has the results of one model on one task."""
    return "mteb_version" in file.keys[1] or ({"task_name", "scores"} <= file.keys[1] and "hf_subset" in file.keys[3])


def is_mteb(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a file of such results, or a folder that has some."""
    return any(matches(LogFile.open(name)) for name in walk(os.fspath(path)))


def read_mteb(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, missing: str = "refuse"
) -> ScoreTable:
    """Read results into a table of scores: a task is a data set, and its score the mean over its subsets.

    The split is `test` where there is one. With `missing="drop"`, tasks without a score of some model are left out.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = [file for path in given for name in walk(os.fspath(path)) if matches(file := LogFile.open(name))]
    if not files:
        raise InputError(f"{join_sources([os.fspath(path) for path in given])}: no results of MTEB; expected some")
    scores: dict[str, dict[str, float]] = {}
    sources: dict[tuple[str, str], str] = {}
    for file in files:
        content = decode(file.read(), dict[str, Any], file.path)
        name = content.get("task_name", content.get("mteb_dataset_name"))
        task = name if isinstance(name, str) else file.name.partition(".json")[0]
        model = _model(file)
        first = sources.setdefault((model, task), file.path)
        if first != file.path:
            raise InputError(f"{file.path}: a second score of {model} on {task}, after {first}; expected one")
        scores.setdefault(model, {})[task] = _score(file.path, content)
    return score_table(scores, metric=MAIN, missing=missing)


def _model(file: LogFile) -> str:
    """The model: as its metadata says, or the folder above that of the revision."""
    meta = file.sibling("model_meta.json")
    if meta:
        name = decode(LogFile(meta, b"").read(), dict[str, Any], meta).get("name")
        if isinstance(name, str) and name:
            return name
    folders = [*file.folders[-2:]]
    if len(folders) == 2 and REVISION.fullmatch(folders[1]):
        folders.pop()
    return folders[-1].replace("__", "/") if folders else file.name


def _score(path: str, content: Mapping[str, Any]) -> float:
    """The mean of the main scores of a split; older files have splits at the top, and subsets by name."""
    splits = content.get("scores", content)
    if not isinstance(splits, dict):
        raise InputError(f"{path}: scores are no object; expected splits with scores")
    results = {name: _main_scores(split) for name, split in splits.items()}
    results = {name: values for name, values in results.items() if values}
    values = results.get(SPLIT) or [value for part in results.values() for value in part]
    try:
        numbers = [number_of(value) for value in values]
    except NotANumber as error:
        raise InputError(f"{path}: {MAIN}: {error}; expected a number") from None
    if not numbers or None in numbers:
        raise InputError(f"{path}: no {MAIN}; expected one for every subset of a split")
    with np.errstate(over="ignore"):  # a mean that is not finite is refused with the table
        return float(np.mean([number for number in numbers if number is not None]))


def _main_scores(split: Any) -> list[Any]:
    if isinstance(split, dict) and MAIN in split:
        return [split[MAIN]]
    subsets = split if isinstance(split, list) else list(split.values()) if isinstance(split, dict) else []
    return [subset[MAIN] for subset in subsets if isinstance(subset, dict) and MAIN in subset]
