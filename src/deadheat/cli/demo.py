"""`deadheat demo`"""

from __future__ import annotations

import argparse
from pathlib import Path

from deadheat.analyses.demo import demo
from deadheat.cli.options import Parser, announce_compiling, whole_number
from deadheat.corpus.writing import write_bytes
from deadheat.report.demo import demo_page, demo_text


def parser() -> argparse.ArgumentParser:
    made = Parser("demo", "Score and compare simulated systems on a built-in corpus, and write a page.")
    made.add_argument(
        "--out", default="deadheat-demo", metavar="DIR", help="folder to write to (default: deadheat-demo)"
    )
    made.add_argument("--sentences", type=int, default=3000, metavar="N", help="size of the corpus (default: 3000)")
    made.add_argument("--seed", type=whole_number, default=0, help="seed of the corpus and the systems (default: 0)")
    return made


def run(arguments: argparse.Namespace) -> int:
    announce_compiling()
    folder = Path(arguments.out)
    result = demo(folder, sentences=arguments.sentences, seed=arguments.seed)
    write_bytes(folder / "index.html", demo_page(result).encode())
    print(demo_text(result))
    print(f"\nThe page: {folder / 'index.html'}")
    return 0
