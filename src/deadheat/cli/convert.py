"""`deadheat convert IN... OUT`"""

from __future__ import annotations

import argparse
import sys

from deadheat.cli.options import Parser, add_reading, reading
from deadheat.corpus import read, to_bytes, write


def parser() -> argparse.ArgumentParser:
    made = Parser(
        "convert",
        "Read a corpus strictly and write it again, byte for byte: checked, joined, compressed (by the name's ending:\n"
        ".gz, .xz, .zst) or, with --mend, with the newline its end lacked.",
    )
    made.add_argument("files", metavar="IN", nargs="+", help="files or folders; - is standard input")
    made.add_argument("out", metavar="OUT", help="the file to write; - is standard output")
    made.add_argument("--mend", action="store_true", help="end the file as its format wants it")
    add_reading(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    options = reading(arguments)
    if arguments.mend:
        options["lenient"] = (*options["lenient"], "final-newline")
    corpus = read(arguments.files, **options)
    if arguments.out == "-":
        sys.stdout.buffer.write(to_bytes(corpus, mend=arguments.mend))
    else:
        write(corpus, arguments.out, mend=arguments.mend)
    return 0
