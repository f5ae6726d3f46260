"""`deadheat info FILE...`"""

from __future__ import annotations

import argparse

from deadheat.cli.options import Parser, add_reading, print_json, reading
from deadheat.corpus import read
from deadheat.corpus.info import info


def parser() -> argparse.ArgumentParser:
    made = Parser("info", "What is in a corpus, and what is missing. Several files are one corpus.")
    made.add_argument("files", metavar="FILE", nargs="+", help="files or folders; - is standard input")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    add_reading(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    found = info(read(arguments.files, **reading(arguments)))
    if arguments.json:
        print_json(found.to_dict())
    else:
        print(found)
    return 0
