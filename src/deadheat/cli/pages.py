"""Commands that write pages: report, demo."""

from __future__ import annotations

import argparse
import os
import sys
import webbrowser
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from deadheat.arguments import values_of
from deadheat.charts.chart import COLUMN, FULL
from deadheat.cli.items import add_item_options, item_reading
from deadheat.cli.options import (
    Parser,
    add_ledger_file,
    announce_compiling,
    ledger_beside,
    print_json,
    report_worker_errors,
    say,
)
from deadheat.corpus.writing import write_bytes
from deadheat.errors import InputError, reason
from deadheat.files import STDIN
from deadheat.questions.demo import demo
from deadheat.reporting.model import Block, Paragraph, Verdict
from deadheat.reporting.report import Report, demo_report, is_page, report, truth_blocks
from deadheat.reporting.terminal import print_blocks
from deadheat.screen import visible
from deadheat.study.ledger.ledger import Ledger
from deadheat.text import pluralize

WIDTHS = {"column": COLUMN, "page": FULL}
MIN_SENTENCES = 300  # of the demo: with fewer, some genre has no document to spare for test
EXAMPLES = """\
examples:
  deadheat report study.sqlite                       a page about a study: study.html
  deadheat report study.sqlite --paper paper         and tables, a paragraph, a checklist, figures
  deadheat report study.sqlite --figures figures --formats pdf --width page
  deadheat rank scores.csv --json > rank.json; deadheat report rank.json
  deadheat report scores.csv                         a table of scores: columns system, dataset, score"""


def report_parser() -> argparse.ArgumentParser:
    parser = Parser("report", "One page to read, figures to print, tables and text for a paper.", epilog=EXAMPLES)
    parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs="+",
        help="stores, study files, results printed with --json, tables of scores, logs (- for standard input)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the page (default: SOURCE.html in this folder)")
    parser.add_argument("--no-sentences", action="store_true", help="leave out the sentences that systems disagree on")
    parser.add_argument("--figures", type=Path, metavar="DIR", help="write every figure, and its data, to a file")
    parser.add_argument(
        "--formats", default="svg,pdf,png", metavar="NAMES", help="formats of figures (default: svg,pdf,png)"
    )
    parser.add_argument("--width", choices=tuple(WIDTHS), default="column", help="width of figures (default: column)")
    parser.add_argument("--paper", type=Path, metavar="DIR", help="write tables, a paragraph, a checklist and figures")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    add_ledger_file(parser)
    parser.add_options(report, json="print the verdicts and the files written as JSON")
    add_item_options(parser)
    return parser


def run_report(arguments: argparse.Namespace) -> int:
    announce_compiling()
    formats = [name.strip().lower() for name in arguments.formats.split(",") if name.strip()]
    first = arguments.sources[0]
    target = arguments.out or Path("report.html" if first == STDIN else f"{Path(first).stem or 'report'}.html")
    _check_targets(target, arguments, formats)
    ledger = Ledger.at(arguments.ledger or ledger_beside(arguments.sources))
    options = values_of(report, arguments) | {"items": item_reading(arguments)}
    page = report(*arguments.sources, ledger=ledger, sentences=not arguments.no_sentences, **options)
    html = page.html()
    # The page comes last, so that it exists only if all other files do.
    others = list(_write_files(page, arguments, formats))
    written = [write_file(target, html), *others]
    if arguments.json:
        print_json({"verdicts": page.verdicts, "files": [str(path) for path in written]})
    else:
        if page.verdicts:
            print_blocks(_verdicts(page))
            print()
        print(f"The page: {visible(str(target))}")
        for folder, count in Counter(path.parent for path in others).items():
            print(f"{pluralize(count, 'file')} in {visible(str(folder))}")
    say(page.warnings)
    if arguments.open:
        webbrowser.open(target.resolve().as_uri())
    return 0


def _check_targets(target: Path, arguments: argparse.Namespace, formats: Sequence[str]) -> None:
    """Refuse what could not be written before anything is computed."""
    folders: list[Path] = list(filter(None, (arguments.figures, arguments.paper)))
    if folders:
        from deadheat.paper.figures import figure_files

        if not formats:
            raise InputError("deadheat report: no format of figures; expected some of svg, pdf, png")
        figure_files([], formats=formats)
    for folder in folders:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder}: a file; expected a folder, or nothing")
        check_target(folder / ".deadheat")
    if os.path.realpath(target) in map(os.path.realpath, arguments.sources):
        raise InputError(f"{target}: the page would replace its source; expected another --out")
    check_target(target)
    if arguments.out is None and target.exists() and not is_page(target):
        raise InputError(f"{target}: exists and is not a page of Deadheat; expected another name (--out)")


def _write_files(page: Report, arguments: argparse.Namespace, formats: Sequence[str]) -> Iterable[Path]:
    layout = WIDTHS[arguments.width]
    if arguments.paper:
        from deadheat.paper.kit import write_kit

        yield from write_kit(page.results, arguments.paper, figures=page.figures, formats=formats, layout=layout)
    if arguments.figures:
        from deadheat.paper.figures import write_figures

        yield from write_figures(page.figures, arguments.figures, formats=formats, layout=layout)


def _verdicts(page: Report) -> list[Block]:
    return [block for block in page.page.blocks if isinstance(block, Verdict)]


def demo_parser() -> argparse.ArgumentParser:
    question = "Deadheat on generated treebanks, in about a minute: splits, taggers, tests, rankings, and a page."
    parser = Parser("demo", question)
    parser.add_argument(
        "--out", type=Path, default=Path("deadheat-demo"), metavar="DIR", help="a new folder (default: deadheat-demo)"
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument("--full", action="store_true", help="print the tables of the verdicts, too")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    return parser.add_options(demo, json="print the verdicts and the name of the page as JSON")


def run_demo(arguments: argparse.Namespace) -> int:
    for name, least in (("sentences", MIN_SENTENCES), ("times", 1), ("seeds", 1)):
        if getattr(arguments, name) < least:
            raise InputError(f"deadheat demo: --{name} {getattr(arguments, name)}; expected at least {least}")
    announce_compiling(quiet=arguments.quiet)
    check_target(arguments.out / "index.html")
    return report_worker_errors("demo", lambda: _demo(arguments))


def _demo(arguments: argparse.Namespace) -> int:
    def on_message(step: str) -> None:
        if not arguments.quiet:
            print(f"{step} ...", file=sys.stderr)

    options = values_of(demo, arguments)
    result = demo(arguments.out, **options, quiet=arguments.quiet, on_message=on_message)
    on_message("writing the page")
    page = demo_report(result)
    target = write_file(arguments.out / "index.html", page.html())
    if arguments.json:
        print_json({"verdicts": page.verdicts, "page": str(target)})
    else:
        verdicts = _verdicts(page)
        truth = list(truth_blocks(result))
        headlines = [Paragraph(block.headline) for block in verdicts if isinstance(block, Verdict)]
        print_blocks([*verdicts, *truth] if arguments.full else [*headlines, *truth])
        print(f"\nThe page: {visible(str(target))}")
    if arguments.open:
        webbrowser.open(target.resolve().as_uri())
    return 0


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse a path that could not be written to, before anything is computed. Missing folders are not created."""
    target = _resolve(path)
    folder = next(parent for parent in target.parents if parent.exists())
    if not folder.is_dir():
        raise InputError(f"{path}: {folder} is not a folder; expected a file in a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path}: cannot be written (permission denied in {folder})")


def write_file(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write a file, creating missing folders; if that fails, what was there before is still there."""
    check_target(path)
    target = _resolve(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({reason(error)})") from error
    write_bytes(target, content.encode() if isinstance(content, str) else content)
    return Path(path)


def _resolve(path: str | os.PathLike[str]) -> Path:
    """Where the file will be, links followed; anything there that is not a file is not written over."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InputError(f"{path}: is a folder; expected the name of a file")
    if target.exists() and not target.is_file():
        raise InputError(f"{path}: is not an ordinary file; expected the name of one")
    return target
