"""`deadheat export STORE`"""

from __future__ import annotations

import argparse
import sys

from deadheat.cli.options import Parser
from deadheat.errors import InputError
from deadheat.study.store.store import open_store
from deadheat.study.store.tables import FORMATS, TABLES, format_of, write_table, write_text

EXAMPLES = """\
examples:
  deadheat export study.db                                        every score, as CSV
  deadheat export study.db --out scores.parquet                   the format is what the name says
  deadheat export study.db --table runs --format jsonl            how every run ended, and what it took
  deadheat export study.db --table counts --out counts.parquet    a row a run, metric and sentence"""


def parser() -> argparse.ArgumentParser:
    made = Parser("export", "The runs of a store as a table that other programs read.", epilog=EXAMPLES)
    made.add_argument("store", metavar="STORE", help="the file that deadheat run wrote; it may be running still")
    made.add_argument("--table", choices=TABLES, default=TABLES[0], help=f"what to export (default: {TABLES[0]})")
    made.add_argument("--format", choices=FORMATS, default="", help="default: by the name of FILE, else CSV")
    made.add_argument("--out", default="", metavar="FILE", help="a file to write to (default: standard output)")
    return made


def run(arguments: argparse.Namespace) -> int:
    format = format_of(arguments.out, arguments.format)
    if format == "parquet" and not arguments.out:
        raise InputError("deadheat export: Parquet is no text; expected --out FILE")
    with open_store(arguments.store) as store:
        if arguments.out:
            write_table(store, arguments.table, format, arguments.out)
        else:
            write_text(store, arguments.table, format, sys.stdout)
    return 0
