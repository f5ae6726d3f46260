"""`deadheat report STORE`"""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path

from deadheat.charts.chart import COLUMN, FULL
from deadheat.cli.looking import add_ledger_file
from deadheat.cli.options import Parser, announce_compiling, print_json
from deadheat.errors import InputError
from deadheat.pages.report import report
from deadheat.pages.writing import check_place, write_whole
from deadheat.study.ledger import Ledger

WIDTHS = {"column": COLUMN, "page": FULL}
EXAMPLES = """\
examples:
  deadheat report study.sqlite                       a page about a study: study.html
  deadheat report study.sqlite --paper paper         and tables, a paragraph, a checklist, figures
  deadheat report study.sqlite --figures figures --formats pdf --width page
  deadheat rank scores.csv --json > rank.json; deadheat report rank.json
  deadheat report scores.csv                         a table of scores: columns system, dataset, score"""


def parser() -> argparse.ArgumentParser:
    made = Parser("report", "One page to read, figures to print, tables and text for a paper.", epilog=EXAMPLES)
    made.add_argument(
        "sources",
        metavar="SOURCE",
        nargs="+",
        help="stores of studies, study files, results that commands printed with --json, tables of scores",
    )
    made.add_argument("--out", type=Path, metavar="FILE", help="the page (default: SOURCE.html in this folder)")
    made.add_argument("--title", default="", metavar="TEXT", help="above the page")
    made.add_argument("--figures", type=Path, metavar="DIR", help="write every figure as a file, with its data")
    made.add_argument("--formats", default="svg,pdf,png", metavar="NAMES", help="of figures (default: svg,pdf,png)")
    made.add_argument("--width", choices=tuple(WIDTHS), default="column", help="of figures (default: column)")
    made.add_argument("--paper", type=Path, metavar="DIR", help="write tables, a paragraph, a checklist and figures")
    made.add_argument("--open", action="store_true", help="open the page in a browser")
    made.add_argument("--json", action="store_true", help="print one JSON object: the verdict and the files written")
    add_ledger_file(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    announce_compiling()
    formats = tuple(name for name in arguments.formats.split(",") if name)
    if arguments.figures or arguments.paper:
        from deadheat.paper.figures import check_formats

        check_formats(formats)
    target = arguments.out or Path(f"{Path(arguments.sources[0]).stem}.html")
    if target.resolve() in [Path(each).resolve() for each in arguments.sources]:
        raise InputError(f"{target}: the page would replace what it is about; expected another --out")
    check_place(target)
    made = report(*arguments.sources, title=arguments.title, ledger=Ledger.at(arguments.ledger))
    written = [write_whole(target, made.html())]
    if arguments.figures:
        from deadheat.paper.figures import write_figures

        written += write_figures(made.figures, arguments.figures, formats=formats, layout=WIDTHS[arguments.width])
    if arguments.paper:
        from deadheat.paper.kit import write_kit

        written += write_kit(
            made.documents,
            arguments.paper,
            provenance=made.provenance,
            figures=made.figures,
            formats=formats,
            layout=WIDTHS[arguments.width],
        )
    if arguments.json:
        print_json({"verdicts": list(made.page.verdicts), "files": [str(each) for each in written]})
    else:
        print("\n".join([*made.page.verdicts, "", *_told(written)]))
    if arguments.open:
        webbrowser.open(target.resolve().as_uri())
    return 0


def _told(written: list[Path]) -> list[str]:
    page, *others = written
    folders = {each.parent: sum(other.parent == each.parent for other in others) for each in others}
    return [f"The page: {page}", *(f"{count} files in {folder}" for folder, count in folders.items())]
