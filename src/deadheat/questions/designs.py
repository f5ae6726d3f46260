"""Designs: which prediction is of which system, run and data set, and the gold file it is scored against.

A design comes from a table (`read_sets_table`), from file names with fields such as `{system}` (`match_pattern`), or
from arguments NAME=FILE (`named_runs`).
"""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from deadheat.errors import InputError, NameUnknown
from deadheat.files import match_files
from deadheat.items.detection import is_item_source
from deadheat.questions.inputs import CorpusSource, CorpusSources, sources_of
from deadheat.text import join_names, pluralize

FIELDS = ("dataset", "system", "run")
FIELD = re.compile(r"\{([^{}]*)\}")
SET_NAMES = ("set", "dataset")
COLUMNS = ("set", "gold", "system", "prediction")
SHOWN = 3  # names in an error message
AnyPath: TypeAlias = str | os.PathLike[str]
Values: TypeAlias = Mapping[str, str]  # of the fields in a file name


@dataclass(frozen=True, slots=True)
class Prediction:
    """One run of a system on a data set, and the gold file it is scored against."""

    dataset: str
    gold: CorpusSources
    system: str
    run: str
    predicted: CorpusSource


def by_dataset(predictions: Iterable[Prediction]) -> dict[str, list[Prediction]]:
    """Predictions by data set, in order of first appearance."""
    groups: dict[str, list[Prediction]] = {}
    for prediction in predictions:
        groups.setdefault(prediction.dataset, []).append(prediction)
    return groups


def is_about_items(predictions: Sequence[Prediction], labels: Sequence[str] = ()) -> bool:
    """Whether predictions are of items, in tables whose columns of labels may be named, and not corpora."""
    return any(is_item_source(source, labels) for item in predictions[:1] for source in (item.gold, item.predicted))


def read_sets_table(path: AnyPath) -> list[Prediction]:
    """Predictions from a table with the columns set (or dataset), gold, system, prediction and optionally run.

    Files are relative to the table. Without a column of runs, a system that is listed several times for a data set has
    runs 1, 2, ...
    """
    from deadheat.tables.table import read_table

    table = read_table(path)
    sets = table.find("", SET_NAMES, what="the set") or table.column(COLUMNS[0])
    names = [sets, *map(table.column, COLUMNS[1:]), table.find("", ("run",), what="the run")]
    columns = [table.texts(name).to_list() if name else [""] * len(table.frame) for name in names]
    folder, located = Path(path).parent, list[tuple[str, Prediction]]()
    for row, cells in enumerate(zip(*columns, strict=True)):
        where = table.location(row)
        empty = next((name for name, cell in zip(names, cells, strict=True) if name and not cell), None)
        if empty is not None:
            raise InputError(f"{where}: no {empty}; expected {', '.join(filter(None, names))} in every row")
        dataset, gold, system, predicted, run = cells
        prediction = Prediction(dataset, str(folder / gold), system, run, str(folder / predicted))
        located.append((f"{where}: {predicted}", prediction))
    return _with_runs(located)


def is_pattern(text: str) -> bool:
    """Whether a file name has fields in braces, as `match_pattern` reads them."""
    return bool(FIELD.search(text))


def match_pattern(gold_pattern: str, prediction_patterns: Sequence[str]) -> list[Prediction]:
    """Predictions from file names that match a pattern, each with the gold file that has the same fields.

    Parameters
    ----------
    gold_pattern
        Such as `gold/{dataset}.conllu`. It may have `{system}`, if parsers come with their own gold files.
    prediction_patterns
        Such as `pred/{dataset}/{system}.{run}.conllu.gz`. Without `{system}` the name of the system precedes the
        pattern, as in `ours=pred/{dataset}.conllu`. Files without `{run}` are runs 1, 2, ... in the order of their
        names.

    Notes
    -----
    A field matches one or more characters except `/`, as few as possible. A field that is repeated matches the same
    text. `*` and `?` match as in a shell. Gold files are never predictions. The result is sorted by data set, then by
    system in the order of the patterns, then by run; numbers in names are sorted by their value.
    """
    golds: dict[tuple[str, ...], str] = {}
    gold_fields = _fields(gold_pattern)
    for path, values in _matches(gold_pattern):
        key = tuple(values[field] for field in gold_fields)
        if key in golds:
            same = f"both are the gold file of {' '.join(key)}"
            raise InputError(f"{gold_pattern}: {golds[key]} and {path}: {same}; expected one file")
        golds[key] = path
    gold_files = set(map(os.path.realpath, golds.values()))
    located: list[tuple[str, Prediction]] = []
    for pattern in prediction_patterns:
        system, pattern = _system_of(pattern)
        matches = [match for match in _matches(pattern) if os.path.realpath(match[0]) not in gold_files]
        if not matches:
            raise InputError(f"{pattern}: only gold files match; expected predictions")
        for path, values in matches:
            fields = {"system": system, "run": "", **values}
            gold = _gold_of(path, fields, gold_pattern, gold_fields, golds)
            located.append((path, Prediction(fields["dataset"], gold, fields["system"], fields["run"], path)))
    if not located:
        raise InputError(f"{gold_pattern}: no patterns of predictions; expected some, such as {{dataset}}/{{system}}")
    predictions = _with_runs(located)
    order = {name: at for at, name in enumerate(dict.fromkeys(prediction.system for prediction in predictions))}
    return sorted(
        predictions, key=lambda item: (_by_number(item.dataset), order[item.system], _by_number(item.run), item.run)
    )


def _gold_of(
    path: str, values: Values, pattern: str, fields: Sequence[str], golds: Mapping[tuple[str, ...], str]
) -> str:
    missing = next((field for field in fields if not values[field]), None)
    if missing:
        raise InputError(f"{pattern}: {{{missing}}} in the gold pattern only; expected it in the other patterns, too")
    key = tuple(values[field] for field in fields)
    if key not in golds:
        names = join_names(dict.fromkeys(" ".join(values) for values in golds), SHOWN)
        raise InputError(f"{path}: no gold file of {' '.join(key)}; {pattern} matches those of {names}")
    return golds[key]


def _system_of(pattern: str) -> tuple[str, str]:
    """The name of a system before a pattern, and the pattern; a pattern with `{system}` has no name before it."""
    if "system" in _fields(pattern):
        return "", pattern
    name, equals, files = pattern.partition("=")
    if not (name and equals and files):
        raise InputError(f"{pattern}: no {{system}} in the pattern; expected it, or a name: NAME={pattern}")
    return name, files


def _fields(pattern: str) -> tuple[str, ...]:
    """The fields of a pattern, each once; unknown ones and a pattern without data sets are refused."""
    fields = tuple(dict.fromkeys(FIELD.findall(pattern)))
    for field in fields:
        if field not in FIELDS:
            raise NameUnknown(f"{pattern}: field", field, FIELDS)
    if "dataset" not in fields:
        raise InputError(f"{pattern}: no {{dataset}} in the pattern; expected it where file names have the data set")
    return fields


def _matches(pattern: str) -> list[tuple[str, dict[str, str]]]:
    """The files that match a pattern, with the values of its fields; sorted."""
    _fields(pattern)
    pattern = re.sub("//+", "/", pattern)
    pieces = re.split(r"(\{[^{}]*\}|[*?])", pattern)
    # A field in braces is a named group, and a reference to it where it is repeated.
    wildcards, expression, seen = {"*": "[^/]*?", "?": "[^/]"}, "", set[str]()
    for piece in pieces:
        field = piece[1:-1] if piece.startswith("{") else ""
        group = f"(?P={field})" if field in seen else f"(?P<{field}>[^/]+?)"
        expression += group if field else wildcards.get(piece, re.escape(piece))
        seen |= {field}
    wanted = "".join("*" if piece.startswith("{") else piece.replace("[", "[[]") for piece in pieces)
    files = (path for path in sorted(match_files(wanted), key=_by_number) if os.path.isfile(path))
    matches = [(path, match.groupdict()) for path in files if (match := re.fullmatch(expression, path))]
    if not matches:
        raise InputError(f"{pattern}: no file matches; {_contents(pattern)}")
    return matches


def _contents(pattern: str) -> str:
    """The nearest folder of a pattern that exists, and what is in it."""
    folder = Path(re.split(r"[{*?]", pattern)[0] + "x").parent
    while not folder.is_dir():
        folder = folder.parent
    names = sorted((path.name + "/" * path.is_dir() for path in folder.iterdir()), key=_by_number)
    return f"folder {folder} has {join_names(names, SHOWN) if names else 'no files'}"


def named_runs(gold: CorpusSources, arguments: Iterable[str], *, dataset: str = "") -> list[Prediction]:
    """Predictions of one data set from arguments NAME=FILE; a name that is repeated has several runs.

    A pattern such as `NAME=pred/*.conllu` or a folder stands for all files in it, in the order of their names, but for
    the gold file. If gold is a folder, too, a folder is one prediction in several files.
    """
    located: list[tuple[str, Prediction]] = []
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not (name and equals and path):
            raise InputError(f"{argument!r}; expected NAME=FILE, such as A={argument}")
        files = _files_of(argument, path, gold)
        located += [(argument, Prediction(dataset, gold, name, "", file)) for file in files]
    return _with_runs(located)


def _files_of(argument: str, path: str, gold: CorpusSources) -> list[str]:
    if os.path.isdir(path) and not any(map(os.path.isdir, _paths(gold))):
        folder = os.path.join(glob.escape(path), "*")
        return files_matching(folder, gold, problem=f"{argument}: no prediction in the folder")
    return files_matching(path, gold, problem=f"{argument}: no file matches")


def expand_patterns(sources: CorpusSources, gold: CorpusSources) -> list[CorpusSource]:
    """The runs of a system, where a path may be a pattern such as `pred/*.conllu`."""
    runs: list[CorpusSource] = []
    for source in sources_of(sources):
        is_path = isinstance(source, str | os.PathLike)
        runs += files_matching(os.fspath(source), gold) if is_path else [source]  # type: ignore[arg-type]
    return runs


def files_matching(path: str, gold: CorpusSources = (), *, problem: str = "") -> list[str]:
    """The files that a pattern stands for, in the order of their names and without gold; any other path is itself."""
    if os.path.exists(path) or not glob.has_magic(path):
        return [path]
    gold_files = set(map(os.path.realpath, _paths(gold)))
    files = [file for file in match_files(path) if os.path.isfile(file) and os.path.realpath(file) not in gold_files]
    if not files:
        raise InputError(f"{problem or f'{path}: no file matches'}; expected at least one")
    return sorted(files, key=_by_number)


def _paths(sources: CorpusSources) -> list[str]:
    return [os.fspath(source) for source in sources_of(sources) if isinstance(source, str | os.PathLike)]


def _with_runs(located: Iterable[tuple[str, Prediction]]) -> list[Prediction]:
    """Number the runs that have no name; a run or a file that is there twice is reported with its location."""
    predictions: list[Prediction] = []
    runs: dict[tuple[str, str], dict[str, CorpusSource]] = {}
    for where, prediction in located:
        system = f"{prediction.system} on {prediction.dataset}" if prediction.dataset else prediction.system
        earlier = runs.setdefault((prediction.dataset, prediction.system), {})
        run = prediction.run or str(len(earlier) + 1)
        if prediction.predicted in earlier.values():
            raise InputError(f"{where}: the same file for two runs of {system}; expected a file for each")
        if run in earlier:
            raise InputError(f"{where}: run {run} of {system} is also in {earlier[run]}; expected every run once")
        earlier[run] = prediction.predicted
        predictions.append(replace(prediction, run=run))
    return predictions


def missing_combinations(predictions: Iterable[Prediction]) -> list[str]:
    """What a design lacks, in words: systems without predictions on a data set, and unequal numbers of runs.

    Examples
    --------
    >>> cells = [("en", "A", "1"), ("en", "A", "2"), ("en", "B", "1"), ("de", "A", "1")]
    >>> missing_combinations(Prediction(dataset, "", system, run, "") for dataset, system, run in cells)
    ['B has no predictions on de', 'A has 2 runs on en, but 1 run on de']
    """
    runs = Counter((prediction.system, prediction.dataset) for prediction in predictions)
    systems, datasets = dict.fromkeys(system for system, _ in runs), dict.fromkeys(dataset for _, dataset in runs)
    lacking, uneven, numbers = list[str](), list[str](), dict[str, int]()
    for system in systems:
        by_number: dict[int, list[str]] = {}
        for dataset in datasets:
            by_number.setdefault(runs[system, dataset], []).append(dataset)
        if 0 in by_number:
            lacking.append(f"{system} has no predictions on {join_names(by_number.pop(0))}")
        counts = [f"{pluralize(count, 'run')} on {join_names(names)}" for count, names in by_number.items()]
        uneven += [f"{system} has {', but '.join(counts)}"] if len(counts) > 1 else []
        numbers[system] = max(by_number)
    if len(set(numbers.values())) > 1 and not uneven:
        uneven.append(join_names(f"{system} has {pluralize(number, 'run')}" for system, number in numbers.items()))
    return lacking + uneven


def _by_number(name: str) -> list[tuple[str, int]]:
    """A key that sorts run2 before run10."""
    pieces = re.findall(r"([^0-9]*)([0-9]*)", name)
    return [(text, int(digits or -1)) for text, digits in pieces]
