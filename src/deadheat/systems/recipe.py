"""Other people's programs as systems: what a recipe file says, and the command lines that it stands for.

A recipe is a file of `recipes/`, such as `supar.toml`. In a study its name is that of the file: `name = "supar"`.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from inspect import Parameter, Signature
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from deadheat.corpus.corpus import Corpus
from deadheat.errors import InputError, NameUnknown
from deadheat.systems import environments
from deadheat.systems.command import PREDICT, command
from deadheat.systems.system import RANDOMNESS, SYSTEMS, TREES, Model, System

FOLDER = Path(__file__).parent / "recipes"
ANY = "any"  # instead of a column: the program predicts whatever column it is given
OF_SCRIPTS = "text_files.py"  # what scripts import
OF_RECIPES = ("python", "bin", "script", "column")  # placeholders that are filled in here, besides the settings
OF_COMMAND: Mapping[str, Any] = {"reads": "", "threads": 1, "limit": 0}  # settings that all recipes have besides
OF_COMMAND_EXPLAINED = {
    "column": "what it predicts",
    "reads": "annotation that it may see in the text to label, as upos; none by default",
    "threads": "threads that it may use",
    "limit": "seconds for each of its commands; 0 for no limit",
}
# Of programs in environments of their own: nothing of the user's Python, and no chance but that of the seed.
ENVIRONMENT = {"PYTHONPATH": "", "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "{threads}"}
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z_0-9]*)\}")


class Setting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A setting with its default; a file or folder that only the user can name has none."""

    what: str
    default: str | int | float | bool | None = None
    contains: str = ""  # it names a folder with this file
    is_file: bool = False  # it names a file
    words: bool = False  # its words are arguments of their own

    @property
    def is_path(self) -> bool:
        return self.is_file or bool(self.contains)


class Commands(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The command lines that predict a column or trees, with settings of `command` that belong to them."""

    predict: str
    train: str = ""
    format: str = "conllu"
    rows: str = "tokens"
    input: str = "blank"
    environment: dict[str, str] = {}
    shell: bool = False


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program: where it comes from, how it is installed, what it predicts, and how it is run."""

    name: str
    title: str
    source: str
    licence: str
    seed: str  # one of RANDOMNESS
    seed_note: str
    versions: tuple[str, ...]  # that have been run with it
    commands: dict[str, Commands]  # by the column that they predict, `trees` or `any`
    version: int = 1  # of the recipe
    packages: tuple[str, ...] = ()  # that pip installs into an environment of its own
    without_dependencies: tuple[str, ...] = ()  # those of them whose dependencies pip leaves out
    imports: str = ""  # a module that can be imported once all is installed
    programs: dict[str, str] = {}  # that must be on the PATH, and how to get them
    settings: dict[str, Setting] = {}
    script: str = ""
    tested: bool = True  # whether its command lines have been run with the program, and not just with a stub
    note: str = ""

    def __post_init__(self) -> None:
        if self.seed not in RANDOMNESS:
            raise NameUnknown(f"{self.name}: seed", self.seed, RANDOMNESS)
        for name in set(self.placeholders) - {*PREDICT, *OF_RECIPES, *self.settings}:
            raise NameUnknown(f"{self.name}: placeholder", name, [*PREDICT, *OF_RECIPES, *self.settings])

    @property
    def placeholders(self) -> list[str]:
        """All placeholders of its command lines and environments."""
        lines = [line for item in self.commands.values() for line in (item.train, item.predict)]
        values = [value for item in self.commands.values() for value in item.environment.values()]
        return [name for text in (*lines, *values) for name in _PLACEHOLDER.findall(text)]

    @property
    def scripts(self) -> tuple[str, ...]:
        """The files of ours that it runs."""
        return (self.script, OF_SCRIPTS) if self.script else ()

    @property
    def full_name(self) -> str:
        return f"{self.name}.v{self.version}"

    @property
    def column(self) -> str:
        """What it predicts unless another column is asked for."""
        first = next(iter(self.commands))
        return "upos" if first == ANY else first

    @property
    def predicts(self) -> str:
        """What it predicts, in words."""
        return " or ".join("any column" if column == ANY else column for column in self.commands)

    @property
    def missing(self) -> str:
        """What has to be done before it can run, as a message; empty if everything is there."""
        if self.packages and not environments.is_installed(self.name):
            return f"{self.name} is not installed; expected it after: deadheat systems install {self.name}"
        for program, remedy in self.programs.items():
            if shutil.which(program) is None:
                return f"{self.name}: no program {program!r} on the PATH; expected it after: {remedy}"
        return ""

    @property
    def needs(self) -> str:
        """What it needs that `deadheat systems install` does not bring."""
        files = [f"{name}: {setting.what}" for name, setting in self.settings.items() if setting.default is None]
        return "; ".join([*self.programs, *files])

    def explain(self, setting: str) -> str:
        """What a setting is."""
        return self.settings[setting].what if setting in self.settings else OF_COMMAND_EXPLAINED[setting]


def state_of(recipe: Recipe) -> str:
    """Whether a program can be run: `installed`, `not installed`, or what it needs."""
    if recipe.packages and recipe.missing:
        return "not installed"
    paths = {name: item.default for name, item in recipe.settings.items() if item.is_path or item.default is None}
    needed = [name for name, path in paths.items() if path is None or not Path(str(path)).exists()]
    needed = [*(program for program in recipe.programs if shutil.which(program) is None), *needed]
    return f"needs {', '.join(needed)}" if needed else "installed"


def read_recipe(path: Path) -> Recipe:
    """The recipe in a file; its name is that of the file."""
    raw = {"name": path.stem, **msgspec.toml.decode(path.read_bytes())}
    return msgspec.convert(raw, Recipe)


def system_of(recipe: Recipe, **settings: Any) -> System:
    """The system that runs a program by its command lines."""
    column = settings.pop("column", recipe.column)
    commands = recipe.commands.get(column)
    if commands is None and column != TREES and "," not in column:
        commands = recipe.commands.get(ANY)
    if commands is None:
        raise NameUnknown(f"{recipe.full_name}: column", column, list(recipe.commands))
    values = {name: settings.pop(name, setting.default) for name, setting in recipe.settings.items()}
    several = {name: shlex.split(str(values[name])) for name, setting in recipe.settings.items() if setting.words}
    python = environments.python_of(recipe.name)
    own = {"python": python, "bin": python.parent, "script": FOLDER / recipe.script, "column": column}
    words = {name: [str(value)] for name, value in {**values, **own}.items()} | several
    defaults = ENVIRONMENT if recipe.packages else {}
    system = command(
        train=_fill(commands.train, words), predict=_fill(commands.predict, words), column=column,
        format=commands.format, rows=commands.rows, input=commands.input, shell=commands.shell,
        environment={**defaults, **commands.environment}, randomness=recipe.seed, **settings,
    )  # fmt: skip
    named = [Path(str(values[name]), item.contains) for name, item in recipe.settings.items() if item.is_path]
    files = [FOLDER / f"{recipe.name}.toml", *(FOLDER / name for name in recipe.scripts), *named]
    problem = recipe.missing
    return replace(
        system, train=partial(_refuse, problem) if problem else system.train, missing=problem,
        code=(*files, environments.packages_file(recipe.name)) if recipe.packages else tuple(files),
        packages=environments.packages_of(recipe.name),
    )  # fmt: skip


def _refuse(problem: str, train: Corpus, tune: Corpus | None, seed: int) -> Model:
    raise InputError(problem)


def _fill(line: str, words: Mapping[str, Sequence[str]]) -> str:
    """A command line with the names in it that `command` does not know; their values are quoted."""
    return _PLACEHOLDER.sub(lambda match: shlex.join(words[match[1]]) if match[1] in words else match[0], line)


def _factory(recipe: Recipe) -> Callable[..., System]:
    """A factory for the registry: its signature has the settings of the recipe."""

    def make(**settings: Any) -> System:
        return system_of(recipe, **settings)

    defaults = {"column": recipe.column, **{name: setting.default for name, setting in recipe.settings.items()}}
    defaults |= OF_COMMAND
    parameters = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=Parameter.empty if value is None else value, annotation=str)
        for name, value in defaults.items()
    ]
    make.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    make.__doc__, make.__qualname__ = recipe.title, recipe.full_name
    return make


RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {path.stem: read_recipe(path) for path in sorted(FOLDER.glob("*.toml"))}
)
for _recipe in RECIPES.values():
    SYSTEMS.add(_recipe.full_name)(_factory(_recipe))


def recipe_of(name: str) -> Recipe:
    """The recipe of a program, by its name with or without a version."""
    base = name.partition("(")[0].partition(".v")[0]
    if base not in RECIPES:
        raise NameUnknown("recipe", base, list(RECIPES))
    return RECIPES[base]


def is_of_recipe(file: Path) -> bool:
    """Whether a file comes with a recipe or with an installed program, and not from a user."""
    return file.is_relative_to(FOLDER) or file.is_relative_to(environments.systems_folder())
