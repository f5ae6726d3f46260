"""Files that a study needs where it is started, besides its corpora.

They are not checked on the nodes of a cluster, which have what was sent.
"""

from __future__ import annotations

from collections.abc import Iterator

from deadheat.errors import Fault, InputError, StudyError
from deadheat.study.plan.checks import Mistake
from deadheat.study.plan.entries import SearchEntry, exists
from deadheat.study.plan.plan import Plan
from deadheat.study.plan.toml_lines import line_of
from deadheat.study.plan.user_code import missing_script
from deadheat.study.search.space import grid

BESIDE = "expected it beside the study file"


def check_files(plan: Plan) -> None:
    """Refuse a study that names files for the nodes of a cluster, or scripts, which are not there.

    Raises
    ------
    StudyError
        With every mistake, each with its line.
    """
    mistakes = [*_engine_files(plan), *_scripts(plan)]
    if mistakes:
        faults = [Fault(str(plan.path), line_of(plan.text, where), message) for where, message in mistakes]
        raise StudyError(sorted(faults, key=lambda fault: fault.line))


def _engine_files(plan: Plan) -> Iterator[Mistake]:
    for name in plan.study.engine.files:
        if not exists(plan.path.parent / name):
            yield ("engine", "files"), f"engine.files: {name}: no such file or folder; {BESIDE}"


def _scripts(plan: Plan) -> Iterator[Mistake]:
    """The first missing script of each entry."""
    study, folder = plan.study, plan.path.absolute().parent
    systems = [("systems", i, entry, entry.name, grid(entry.settings)) for i, entry in enumerate(study.systems)]
    searches = [("search", i, entry, entry.system, _candidates(entry)) for i, entry in enumerate(study.search)]
    for key, i, entry, name, variants in (*systems, *searches):
        commands = [command for settings in variants for command in plan.system(name, settings).commands]
        for command in dict.fromkeys(commands):
            if script := missing_script(command, folder):
                setting = [setting for setting, value in entry.settings.items() if command in (value, *_several(value))]
                yield (key, i, *setting[:1]), f"{name.partition('(')[0]}: {script}: no such file; {BESIDE}"
                break


def _candidates(entry: SearchEntry) -> list[dict[str, object]]:
    try:
        return entry.space.sample(1, entry.seed)
    except InputError:  # such as one that only Optuna can sample
        return []


def _several(value: object) -> list[object]:
    return value if isinstance(value, list) else []
