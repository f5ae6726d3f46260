"""`deadheat demo`"""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path

from deadheat.cli.options import Parser, announce_compiling, print_json, whole_number
from deadheat.errors import InputError
from deadheat.questions.demo import LARGE, demo
from deadheat.report.demo import demo_report, truth_blocks
from deadheat.report.files import check_target, write_file
from deadheat.report.model import Verdict
from deadheat.report.terminal import print_blocks
from deadheat.screen import visible
from deadheat.study.engine.worker import WorkerError

SMALLEST = 300  # sentences: with fewer, some genre has no document to spare for test


def parser() -> argparse.ArgumentParser:
    made = Parser(
        "demo", "All of Deadheat on made-up treebanks, in about a minute: splits, taggers, tests, rankings, a page."
    )
    made.add_argument(
        "--out", default="deadheat-demo", metavar="DIR", help="folder to write to (default: deadheat-demo)"
    )
    made.add_argument(
        "--sentences", type=whole_number, default=LARGE, metavar="N", help=f"of the main corpus (default: {LARGE})"
    )
    made.add_argument("--times", type=whole_number, default=10, metavar="N", help="random splits (default: 10)")
    made.add_argument("--seeds", type=whole_number, default=5, metavar="N", help="of the taggers (default: 5)")
    made.add_argument("--seed", type=whole_number, default=0, help="seed of the corpora (default: 0)")
    made.add_argument("--quiet", action="store_true", help="no progress")
    made.add_argument("--open", action="store_true", help="open the page in a browser")
    made.add_argument("--json", action="store_true", help="print one JSON object: the verdict and the page")
    return made


def run(arguments: argparse.Namespace) -> int:
    for name, least in (("sentences", SMALLEST), ("times", 1), ("seeds", 1)):
        if getattr(arguments, name) < least:
            raise InputError(f"deadheat demo: --{name} {getattr(arguments, name)}; expected at least {least}")
    announce_compiling()
    folder = Path(arguments.out)
    target = folder / "index.html"
    check_target(target)

    def on_message(step: str) -> None:
        if not arguments.quiet:
            print(f"{step} ...", file=sys.stderr)

    try:
        result = demo(
            folder,
            sentences=arguments.sentences,
            times=arguments.times,
            seeds=arguments.seeds,
            seed=arguments.seed,
            quiet=arguments.quiet,
            on_message=on_message,
        )
    except WorkerError as error:
        print(f"deadheat demo: {str(error).strip()}", file=sys.stderr)
        return 1
    on_message("writing the page")
    made = demo_report(result)
    write_file(target, made.html())
    if arguments.json:
        print_json({"verdicts": made.verdicts, "page": str(target)})
    else:
        print_blocks([*(block for block in made.page.blocks if isinstance(block, Verdict)), *truth_blocks(result)])
        print(f"\nThe page: {visible(str(target))}")
    if arguments.open:
        webbrowser.open(target.resolve().as_uri())
    return 0
