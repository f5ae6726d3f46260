"""`deadheat init CORPUS...`"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from deadheat.cli.options import Parser, add_reading, reading
from deadheat.corpus.documents import sort_by_part
from deadheat.corpus.reading import STDIN, expand, read
from deadheat.corpus.writing import write_bytes
from deadheat.errors import InputError
from deadheat.study.plan.starter import starter_study


def parser() -> argparse.ArgumentParser:
    made = Parser("init", "Write a study file to begin with, for the corpora it is pointed at.")
    made.add_argument("corpora", metavar="CORPUS", nargs="+", help="a file or folder; each is a corpus of its own")
    made.add_argument("--out", type=Path, default=Path("study.toml"), metavar="FILE", help="default: study.toml")
    add_reading(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    if arguments.out.exists():
        raise InputError(f"{arguments.out}: exists already; expected a new name (--out)")
    if STDIN in arguments.corpora:
        raise InputError("standard input cannot be read again by a study; expected files or folders")
    options = reading(arguments)
    corpora = [(path, read(sort_by_part(expand(path)), **options)) for path in arguments.corpora]
    write_bytes(arguments.out, starter_study(corpora, arguments.out, options).encode())
    print(f"{arguments.out}: look at it, then deadheat run {shlex.quote(str(arguments.out))} --plan")
    return 0
