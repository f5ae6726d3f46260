"""Commands on stores: merge."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from deadheat.cli.options import Parser, print_json, print_lines, say
from deadheat.study.store.merging import merge_stores

MERGE_EXAMPLES = """\
examples:
  deadheat merge a.sqlite b.sqlite --out all.sqlite
  deadheat merge parts/*.sqlite --out all.sqlite
  deadheat merge a.sqlite b.sqlite --out all.sqlite --prefer b.sqlite     where cells differ, take those of b"""


def merge_parser() -> argparse.ArgumentParser:
    about = (
        "Merge the stores of a study that was run in pieces: each cell once, with its scores and predictions. Cells "
        "that differ between stores are listed, and nothing is written (exit code 2)."
    )
    parser = Parser("merge", about, epilog=MERGE_EXAMPLES)
    parser.add_argument(
        "stores", metavar="STORE", nargs="+", type=Path, help="the stores to merge, which stay as they are"
    )
    return parser.add_options(merge_stores, json="print the numbers of cells as JSON")


def run_merge(arguments: argparse.Namespace) -> int:
    merged = merge_stores(arguments.stores, arguments.out, prefer=arguments.prefer)
    if arguments.json:
        print_json(merged.to_dict())
    say(merged.notes)
    if not arguments.json:
        command = f"deadheat run STUDY.toml --store {shlex.quote(str(arguments.out))}"
        print_lines(str(merged), f"for its tests and verdict: {command} (cells that are there are not trained again)")
    return 0
