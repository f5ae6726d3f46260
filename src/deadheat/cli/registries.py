"""Commands that list what has a name: metrics, systems."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Sequence
from typing import Any

from deadheat.cli.options import JSON, Parser, print_json
from deadheat.errors import InputError
from deadheat.metrics import METRICS
from deadheat.registry import Entry
from deadheat.reporting.model import Column, Paragraph, Table
from deadheat.reporting.terminal import print_blocks
from deadheat.systems import SYSTEMS
from deadheat.systems.system import RANDOMNESS

SEEDS = dict(zip(RANDOMNESS, ("varies the result", "noise besides", "fixed in the program", "no effect"), strict=True))


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
        "entry points; one of your own is a function in a file (mine.py:tagger) or a module (package.module:tagger).",
    )
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="the settings of one system")
    return parser.add_options(json=JSON)


def run_systems(arguments: argparse.Namespace) -> int:
    entries = [SYSTEMS.entry(arguments.name)] if arguments.name else SYSTEMS.entries()
    if arguments.json:
        print_json({"systems": [_described(entry, does=entry.summary, seed=_seed(entry)) for entry in entries]})
    elif arguments.name:
        entry = entries[0]
        seed = f", seed: {SEEDS[_seed(entry)]}" if _seed(entry) else ""
        about = Paragraph(f"{entry.name}, from {entry.source}{seed}. {entry.summary}")
        settings = [(name, "-" if _required(value) else repr(value)) for name, value in entry.settings.items()]
        print_blocks([about, *([_table(("setting", "default"), settings)] if settings else [])])
    else:
        rows = [(entry.name, entry.source, SEEDS.get(_seed(entry), "-"), entry.summary) for entry in entries]
        print_blocks([_table(("system", "from", "seed", "what it is"), rows)])
    return 0


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
