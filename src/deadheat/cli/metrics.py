"""`deadheat metrics`"""

from __future__ import annotations

import argparse
import inspect
from typing import Any

from deadheat.cli.options import Parser, print_json
from deadheat.metrics import METRICS
from deadheat.terminal.tables import table


def parser() -> argparse.ArgumentParser:
    made = Parser("metrics", "Which metrics there are, what each counts, and its settings.")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    found: list[dict[str, Any]] = []
    for name in METRICS:
        maker = METRICS[name]
        settings = {key: parameter.default for key, parameter in inspect.signature(maker).parameters.items()}
        found.append({"name": name, "counts": (maker.__doc__ or "").strip().splitlines()[0], "settings": settings})
    if arguments.json:
        print_json({"metrics": found})
    else:
        told = [", ".join(f"{key}={value!r}" for key, value in each["settings"].items()) for each in found]
        shown = [[each["name"], each["counts"], settings] for each, settings in zip(found, told, strict=True)]
        print(table(["metric", "what it counts", "settings"], shown, left=3))
    return 0
