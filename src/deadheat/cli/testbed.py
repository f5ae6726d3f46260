"""`deadheat testbed --out DIR`"""

from __future__ import annotations

import argparse
from pathlib import Path

from deadheat.cli.options import Parser, whole_number
from deadheat.testbed import LANGUAGES, write_testbed


def parser() -> argparse.ArgumentParser:
    made = Parser(
        "testbed",
        "Make treebanks of invented languages, and predictions of simulated systems whose true accuracy is known\n"
        "(truth.json). The same settings give the same bytes everywhere.",
    )
    made.add_argument("--out", required=True, metavar="DIR", help="a new or empty folder to write to")
    made.add_argument("--sentences", type=int, default=3000, metavar="N", help="sentences a treebank (default: 3000)")
    made.add_argument("--language", action="append", choices=tuple(LANGUAGES), help="one language; may be repeated")
    made.add_argument("--seed", type=whole_number, default=0, help="seed of the texts (default: 0)")
    made.add_argument(
        "--seeds", type=int, default=3, metavar="N", help="predictions a system, seeds 0 to N-1 (default: 3)"
    )
    made.add_argument("--overwrite", action="store_true", help="replace files that are there")
    return made


def run(arguments: argparse.Namespace) -> int:
    files = write_testbed(
        Path(arguments.out),
        sentences=arguments.sentences,
        seed=arguments.seed,
        languages=arguments.language,
        seeds=range(arguments.seeds),
        overwrite=arguments.overwrite,
    )
    print(f"{len(files)} files in {arguments.out}")
    return 0
