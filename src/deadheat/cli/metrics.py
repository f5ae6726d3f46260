"""`deadheat metrics`"""

from __future__ import annotations

import argparse
import inspect

from deadheat.cli.options import Parser, print_json
from deadheat.metrics import METRICS
from deadheat.report.terminal import table


def parser() -> argparse.ArgumentParser:
    made = Parser("metrics", "Which metrics there are, what each counts, and its settings.")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    found = []
    for name in METRICS:
        maker = METRICS[name]
        settings = {key: parameter.default for key, parameter in inspect.signature(maker).parameters.items()}
        found.append({"name": name, "counts": (maker.__doc__ or "").strip().splitlines()[0], "settings": settings})
    if arguments.json:
        print_json({"metrics": found})
    else:
        shown = [
            [str(each["name"]), str(each["counts"]), ", ".join(f"{key}={value!r}" for key, value in dict(each["settings"]).items())]
            for each in found
        ]  # fmt: skip
        print(table(["metric", "what it counts", "settings"], shown, left=3))
    return 0
