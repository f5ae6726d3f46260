"""Commands that list what has a name: metrics, systems."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Sequence
from typing import Any

from deadheat.cli.options import JSON, Parser, print_json, print_lines
from deadheat.errors import InputError
from deadheat.metrics import METRICS
from deadheat.registry import Entry
from deadheat.reporting.model import Block, Column, Heading, Paragraph, Table
from deadheat.reporting.terminal import print_blocks
from deadheat.systems import SYSTEMS
from deadheat.systems.environments import install, is_installed, packages_of, remove, systems_folder
from deadheat.systems.recipe import RECIPES, Recipe, recipe_of, state_of
from deadheat.systems.system import RANDOMNESS

SEEDS = dict(zip(RANDOMNESS, ("varies the result", "noise besides", "fixed in the program", "no effect"), strict=True))

SYSTEMS_EXAMPLES = """\
examples:
  deadheat systems
  deadheat systems supar                what it is, what it needs, and its settings
  deadheat systems install supar        with the versions that are known to work; pip's own settings apply
  deadheat systems remove supar"""


def metrics_parser() -> argparse.ArgumentParser:
    return Parser("metrics", "All metrics, with what they count and their settings.").add_options(json=JSON)


def run_metrics(arguments: argparse.Namespace) -> int:
    entries = METRICS.entries()
    if arguments.json:
        print_json({"metrics": [_described(entry, counts=entry.summary) for entry in entries]})
        return 0
    rows = [(entry.name, entry.source, entry.summary, _settings(entry)) for entry in entries]
    print_blocks([_table(("metric", "from", "what it counts", "settings"), rows)])
    return 0


def systems_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "systems",
        "All systems that a study can train: where they come from, and what their seed does. Packages add systems by\n"
        "entry points; one of your own is a function in a file (mine.py:tagger) or a module (package.module:tagger).\n"
        "Other people's programs are installed into environments of their own, in $DEADHEAT_SYSTEMS or the folder of\n"
        "the user's data.",
        epilog=SYSTEMS_EXAMPLES,
    )
    parser.add_argument(
        "name", metavar="NAME", nargs="*", default=[], help="the settings of one system; install NAME; remove NAME"
    )
    return parser.add_options(json=JSON)


def run_systems(arguments: argparse.Namespace) -> int:
    words: list[str] = arguments.name
    if words and words[0] in ACTIONS:
        if len(words) != 2:
            raise InputError(f"deadheat systems {words[0]}: {len(words) - 1} names; expected the name of one program")
        return ACTIONS[words[0]](recipe_of(words[1]))
    if len(words) > 1:
        raise InputError(f"deadheat systems: {len(words)} names; expected one, or install NAME, or remove NAME")
    entries = [SYSTEMS.entry(words[0])] if words else SYSTEMS.entries()
    if arguments.json:
        described = [_described(entry, does=entry.summary, seed=_seed(entry)) for entry in entries]
        print_json({"systems": [item | _of_recipe(entry) for item, entry in zip(described, entries, strict=True)]})
    elif words:
        print_blocks(_about(entries[0]))
    else:
        programs = [recipe for entry in entries if (recipe := _recipe(entry))]
        rows = [(entry.name, entry.source, SEEDS.get(_seed(entry), "-"), entry.summary) for entry in entries
                if not _recipe(entry)]  # fmt: skip
        others = [
            (recipe.name, recipe.predicts, SEEDS[recipe.seed], state_of(recipe), recipe.title) for recipe in programs
        ]
        print_blocks([
            _table(("system", "from", "seed", "what it is"), rows), Heading("Other people's programs"),
            _table(("system", "predicts", "seed", "state", "what it is"), others),
        ])  # fmt: skip
    return 0


def _about(entry: Entry) -> list[Block]:
    """One system: where it comes from, its settings, and of another program what it needs."""
    seed = f", seed: {SEEDS[_seed(entry)]}" if _seed(entry) else ""
    blocks: list[Block] = [Paragraph(f"{entry.name}, from {entry.source}{seed}. {entry.summary}")]
    settings = [(name, "-" if _required(value) else repr(value)) for name, value in entry.settings.items()]
    recipe = _recipe(entry)
    if recipe is None:
        return [*blocks, *([_table(("setting", "default"), settings)] if settings else [])]
    facts = {
        "predicts": recipe.predicts, "state": state_of(recipe), "needs": recipe.needs, "seed": recipe.seed_note,
        "versions": ", ".join(recipe.versions), "licence": recipe.licence, "from": recipe.source,
        "note": recipe.note, "tried": "" if recipe.tested else "with a stand-in only, not with the program itself",
    }  # fmt: skip
    blocks.append(_table(("about", recipe.name), [(name, text) for name, text in facts.items() if text]))
    explained = [(*setting, recipe.explain(setting[0])) for setting in settings]
    return [*blocks, _table(("setting", "default", "what it is"), explained)]


def _recipe(entry: Entry) -> Recipe | None:
    """The recipe that an entry stands for."""
    return next((recipe for recipe in RECIPES.values() if recipe.full_name == entry.name), None)


def _of_recipe(entry: Entry) -> dict[str, Any]:
    """What JSON says of another program besides."""
    recipe = _recipe(entry)
    if recipe is None:
        return {}
    return {
        "seed": recipe.seed, "predicts": list(recipe.commands), "missing": recipe.missing, "needs": recipe.needs,
        "packages": packages_of(recipe.name), "licence": recipe.licence, "from": recipe.source,
        "tested": recipe.tested,
    }  # fmt: skip


def _install(recipe: Recipe) -> int:
    if not recipe.packages:
        needs = recipe.needs or "nothing"
        raise InputError(f"{recipe.name}: cannot be installed by this command; expected you to have {needs}")
    if is_installed(recipe.name):
        print_lines(f"{recipe.name} is installed in {systems_folder() / recipe.name}")
        return 0
    print(f"{recipe.name}: installing {', '.join([*recipe.packages, *recipe.without_dependencies])}", file=sys.stderr)
    folder = install(recipe.name, recipe.packages, recipe.without_dependencies, recipe.imports)
    print_lines(f"{recipe.name} is installed in {folder}")
    if recipe.needs:
        print(f"{recipe.name} also needs {recipe.needs}", file=sys.stderr)
    return 0


def _remove(recipe: Recipe) -> int:
    if not (systems_folder() / recipe.name).exists():
        raise InputError(f"{recipe.name} is not installed; nothing to remove")
    remove(recipe.name)
    print_lines(f"{recipe.name} is removed")
    return 0


ACTIONS = {"install": _install, "remove": _remove}


def _described(entry: Entry, **about: str) -> dict[str, Any]:
    settings = {key: None if _required(value) else value for key, value in entry.settings.items()}
    return {"name": entry.name, "source": entry.source, **about, "settings": settings}


def _settings(entry: Entry) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in entry.settings.items() if not _required(value))


def _required(default: object) -> bool:
    return default is inspect.Parameter.empty


def _seed(entry: Entry) -> str:
    """What the seed of a system does, by its usual settings; empty if it needs others, or cannot be loaded."""
    try:
        return "" if entry.problem else SYSTEMS.make(entry.name).randomness
    except InputError:
        return ""


def _table(names: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Table:
    return Table(tuple(map(Column, names)), tuple(rows), labels=len(names))
