"""`deadheat metrics`"""

from __future__ import annotations

import argparse
import inspect
from typing import Any

from deadheat.cli.options import Parser, print_json
from deadheat.metrics import METRICS
from deadheat.report.model import Column, Table
from deadheat.report.terminal import print_blocks


def parser() -> argparse.ArgumentParser:
    made = Parser("metrics", "Which metrics there are, what each counts, and its settings.")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    metrics: list[dict[str, Any]] = []
    for name in METRICS:
        maker = METRICS[name]
        settings = {key: parameter.default for key, parameter in inspect.signature(maker).parameters.items()}
        metrics.append({"name": name, "counts": (maker.__doc__ or "").strip().splitlines()[0], "settings": settings})
    if arguments.json:
        print_json({"metrics": metrics})
        return 0
    rows = tuple(
        (metric["name"], metric["counts"], ", ".join(f"{key}={value!r}" for key, value in metric["settings"].items()))
        for metric in metrics
    )
    print_blocks([Table((Column("metric"), Column("what it counts"), Column("settings")), rows, labels=3)])
    return 0
