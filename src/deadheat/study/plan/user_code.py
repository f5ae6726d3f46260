"""The code of users that a study names: functions in Python files, and files in command lines."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from deadheat.corpus.readers import READERS
from deadheat.metrics import METRICS
from deadheat.splits import STRATEGIES
from deadheat.study.plan.entries import Study
from deadheat.systems import SYSTEMS, System
from deadheat.user_code import source_files

SHELL = frozenset(";&|<>$`*?~\n")  # what only a shell understands
SCRIPTS = (".py", ".sh", ".pl", ".rb", ".jl", ".R", ".lua", ".js")  # of files that are named by an absolute path


def with_code(study: Study, folder: Path) -> Study:
    """The study with the hash of its code in every name of a function of a user; their modules are imported."""
    systems = [entry.model_copy(update={"name": SYSTEMS.resolve(entry.name, folder)}) for entry in study.systems]
    search = [entry.model_copy(update={"system": SYSTEMS.resolve(entry.system, folder)}) for entry in study.search]
    splits = [
        entry.model_copy(update={"strategy": STRATEGIES.resolve(entry.strategy, folder)}) for entry in study.splits
    ]
    metrics = [METRICS.resolve(name, folder) for name in study.metrics]
    corpora = {
        name: entry.model_copy(update={"format": READERS.resolve(entry.format, folder)})
        for name, entry in study.corpora.items()
    }
    resolved = {"corpora": corpora, "systems": systems, "search": search, "splits": splits, "metrics": metrics}
    return study.model_copy(update=resolved)


def command_files(commands: Iterable[str], folder: Path) -> tuple[Path, ...]:
    """The files that command lines name: by a path relative to the folder, or scripts by an absolute path.

    Programs that are found by their names alone, such as `python`, are not among them.
    """
    files: dict[Path, None] = {}
    for command in commands:
        for path in _paths(_words(command)):
            named = folder / path
            if (not path.is_absolute() or path.suffix in SCRIPTS) and _is_file(named):
                files |= dict.fromkeys(source_files(named) if named.suffix == ".py" else [named])
    return tuple(files)


def files_of(system: System, folder: Path) -> tuple[Path, ...]:
    """The files that belong to the commands of a system: those that they name, and those that it reads besides."""
    files = dict.fromkeys(command_files(system.commands, folder))
    for path in (folder / file for file in system.code):
        if _is_file(path):
            files |= dict.fromkeys(source_files(path) if path.suffix == ".py" else [path])
    return tuple(files)


def missing_script(command: str, folder: Path) -> str:
    """The script that a command line runs, if it is a file that does not exist; empty if it is there or not known.

    Of a line for a shell, nothing is known. Later scripts in a line may be what the program writes.

    Examples
    --------
    >>> missing_script("python -u nowhere/train.py {train}", Path()), missing_script("cd a && python b.py", Path())
    ('nowhere/train.py', '')
    """
    if not SHELL.isdisjoint(command):
        return ""
    words = [word for word in _words(command) if "{" not in word]
    script = next((word for word in words if Path(word).suffix in SCRIPTS or word.startswith(("./", "../"))), "")
    return script if script and not _is_file(folder / script) else ""


def _words(command: str) -> Sequence[str]:
    try:
        return shlex.split(command)
    except ValueError:  # for a shell: quotes that are not closed, as in here documents
        return command.split()


def _paths(words: Sequence[str]) -> Iterator[Path]:
    """What may be a path: words, values of options, and modules that are run by -m."""
    for before, word in zip(["", *words], words, strict=False):
        for text in dict.fromkeys([word, word.partition("=")[2]]):
            if text and "{" not in text:
                yield Path(text)
        if before == "-m":
            yield Path(*word.split(".")).with_suffix(".py")
            yield Path(*word.split("."), "__main__.py")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
