"""Files that a study needs where it is started, besides its corpora.

They are not checked on the nodes of a cluster, which have what was sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from deadheat.errors import Fault, InputError, StudyError
from deadheat.study.plan.checks import Mistake
from deadheat.study.plan.entries import SearchEntry, exists
from deadheat.study.plan.plan import Plan
from deadheat.study.plan.toml_lines import line_of
from deadheat.study.plan.user_code import missing_script
from deadheat.study.search.space import grid
from deadheat.systems import System

BESIDE = "expected it beside the study file"


def check_files(plan: Plan) -> None:
    """Refuse a study that names programs, scripts, or files for the nodes of a cluster, which are not there.

    Raises
    ------
    StudyError
        With every mistake, each with its line.
    """
    mistakes = [*_engine_files(plan), *_programs(plan)]
    if mistakes:
        faults = [Fault(str(plan.path), line_of(plan.text, where), message) for where, message in mistakes]
        raise StudyError(sorted(faults, key=lambda fault: fault.line))


def _engine_files(plan: Plan) -> Iterator[Mistake]:
    for name in plan.study.engine.files:
        if not exists(plan.path.parent / name):
            yield ("engine", "files"), f"engine.files: {name}: no such file or folder; {BESIDE}"


def _programs(plan: Plan) -> Iterator[Mistake]:
    """The first thing that is missing of each entry: a program, a file that it reads, or a script."""
    study, folder = plan.study, plan.path.absolute().parent
    systems = [("systems", i, entry, entry.name, grid(entry.settings)) for i, entry in enumerate(study.systems)]
    searches = [("search", i, entry, entry.system, _candidates(entry)) for i, entry in enumerate(study.search)]
    for key, i, entry, name, variants in (*systems, *searches):
        for system in (plan.system(name, settings) for settings in variants):
            if system.missing:
                yield (key, i), system.missing
            elif file := _missing_file(system, folder):
                named = [key for key, value in entry.settings.items() if _names(value, file)]
                expected = "expected it there, or a setting that names another" if Path(file).is_absolute() else BESIDE
                yield (key, i, *named[:1]), f"{name.partition('(')[0]}: {file}: no such file; {expected}"
            else:
                continue
            break


def _missing_file(system: System, folder: Path) -> str:
    """The first file or script of a system that does not exist; empty if there is none."""
    files = (str(file) for file in system.code if not (folder / file).is_file())
    scripts = (missing_script(command, folder) for command in system.commands)
    return next((file for file in (*files, *scripts) if file), "")


def _names(value: object, file: str) -> bool:
    """Whether a setting names a file, its folder, or a command line with it."""
    texts = [text for text in (value, *_several(value)) if isinstance(text, str) and text]
    return any(file in text or file.startswith(text) for text in texts)


def _candidates(entry: SearchEntry) -> list[dict[str, object]]:
    try:
        return entry.space.sample(1, entry.seed)
    except InputError:  # such as one that only Optuna can sample
        return []


def _several(value: object) -> list[object]:
    return value if isinstance(value, list) else []
