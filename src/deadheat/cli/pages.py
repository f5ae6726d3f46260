"""Commands that write pages: report and demo."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from deadheat.arguments import whole_number
from deadheat.charts.chart import COLUMN, FULL
from deadheat.cli.options import Parser, add_ledger_file, announce_compiling, print_json
from deadheat.errors import InputError
from deadheat.questions.demo import LARGE, demo
from deadheat.report.demo import demo_report, truth_blocks
from deadheat.report.files import check_target, write_file
from deadheat.report.model import Verdict
from deadheat.report.report import Report, report
from deadheat.report.sources import is_page
from deadheat.report.terminal import print_blocks
from deadheat.screen import visible
from deadheat.study.engine.worker import WorkerError
from deadheat.study.ledger.ledger import Ledger
from deadheat.text import pluralize

LEDGER = "ledger.jsonl"
WIDTHS = {"column": COLUMN, "page": FULL}
EXAMPLES = """\
examples:
  deadheat report study.sqlite                       a page about a study: study.html
  deadheat report study.sqlite --paper paper         and tables, a paragraph, a checklist, figures
  deadheat report study.sqlite --figures figures --formats pdf --width page
  deadheat rank scores.csv --json > rank.json; deadheat report rank.json
  deadheat report scores.csv                         a table of scores: columns system, dataset, score"""
SMALLEST = 300  # sentences: with fewer, some genre has no document to spare for test


def report_parser() -> argparse.ArgumentParser:
    parser = Parser("report", "One page to read, figures to print, tables and text for a paper.", epilog=EXAMPLES)
    parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs="+",
        help="stores of studies, study files, results that commands printed with --json, tables of scores",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the page (default: SOURCE.html in this folder)")
    parser.add_argument("--title", default="", metavar="TEXT", help="above the page")
    parser.add_argument(
        "-m", "--metric", default="", metavar="NAME", help="of a table of scores with several (default: its first)"
    )
    parser.add_argument(
        "--no-sentences", action="store_true", help="leave out the sentences that systems disagree on, for their text"
    )
    parser.add_argument(
        "--anonymous", action="store_true", help="leave out machines, users and folders, for a blind review"
    )
    parser.add_argument("--figures", type=Path, metavar="DIR", help="write every figure as a file, with its data")
    parser.add_argument("--formats", default="svg,pdf,png", metavar="NAMES", help="of figures (default: svg,pdf,png)")
    parser.add_argument("--width", choices=tuple(WIDTHS), default="column", help="of figures (default: column)")
    parser.add_argument("--paper", type=Path, metavar="DIR", help="write tables, a paragraph, a checklist and figures")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument("--json", action="store_true", help="print one JSON object: the verdict and the files written")
    add_ledger_file(parser)
    return parser


def run_report(arguments: argparse.Namespace) -> int:
    announce_compiling()
    formats = [name.strip().lower() for name in arguments.formats.split(",") if name.strip()]
    _check(arguments, formats)
    target = arguments.out or _page_of(arguments.sources)
    _check_target(target, arguments.sources, chosen=arguments.out is not None)
    made = report(
        *arguments.sources,
        title=arguments.title,
        ledger=Ledger.at(arguments.ledger or _beside(arguments.sources)),
        metric=arguments.metric,
        sentences=not arguments.no_sentences,
        anonymous=arguments.anonymous,
    )
    page = made.html()
    # What may still be refused comes first, and the page last: it is there only if all is.
    others = [*_write_kit(made, arguments, formats), *_write_figures(made, arguments, formats)]
    written = [write_file(target, page), *others]
    if arguments.json:
        print_json({"verdicts": made.verdicts, "files": [str(path) for path in written]})
    else:
        if made.verdicts:
            print_blocks(block for block in made.page.blocks if isinstance(block, Verdict))
            print()
        print("\n".join(map(visible, _summary(written))))
    if arguments.open:
        webbrowser.open(target.resolve().as_uri())
    return 0


def _check(arguments: argparse.Namespace, formats: Sequence[str]) -> None:
    """Refuse before anything is worked out what could not be written."""
    if not (arguments.figures or arguments.paper):
        return
    from deadheat.paper.figures import figure_files

    if not formats:
        raise InputError("deadheat report: no format of figures; expected some of svg, pdf, png")
    figure_files([], formats=formats)
    for folder in filter(None, (arguments.figures, arguments.paper)):
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder}: a file; expected a folder, or nothing")
        check_target(folder / ".deadheat")


def _page_of(sources: Sequence[str]) -> Path:
    return Path(f"{Path(sources[0]).stem or 'report'}.html")


def _check_target(target: Path, sources: Sequence[str], *, chosen: bool) -> None:
    if target.resolve() in [Path(source).resolve() for source in sources]:
        raise InputError(f"{target}: the page would replace its source; expected another --out")
    check_target(target)
    if not chosen and target.exists() and not is_page(target):
        raise InputError(f"{target}: exists and is not a page of Deadheat; expected another name (--out)")


def _write_kit(made: Report, arguments: argparse.Namespace, formats: Sequence[str]) -> list[Path]:
    if not arguments.paper:
        return []
    from deadheat.paper.kit import write_kit

    return write_kit(
        made.results,
        arguments.paper,
        figures=made.figures,
        formats=formats,
        layout=WIDTHS[arguments.width],
    )


def _write_figures(made: Report, arguments: argparse.Namespace, formats: Sequence[str]) -> list[Path]:
    if not arguments.figures:
        return []
    from deadheat.paper.figures import write_figures

    return write_figures(made.figures, arguments.figures, formats=formats, layout=WIDTHS[arguments.width])


def _summary(written: Sequence[Path]) -> list[str]:
    page, *others = written
    folders = Counter(path.parent for path in others)
    return [f"The page: {page}", *(f"{pluralize(count, 'file')} in {folder}" for folder, count in folders.items())]


def _beside(sources: list[str]) -> str:
    """A ledger beside a source, as the demo's is beside its store; else the user's own."""
    ledgers = [path for source in sources if (path := Path(source).parent / LEDGER).is_file()]
    return str(ledgers[0]) if ledgers else ""


def demo_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "demo", "All of Deadheat on made-up treebanks, in about a minute: splits, taggers, tests, rankings, a page."
    )
    parser.add_argument(
        "--out", default="deadheat-demo", metavar="DIR", help="folder to write to (default: deadheat-demo)"
    )
    parser.add_argument(
        "--sentences", type=whole_number, default=LARGE, metavar="N", help=f"of the main corpus (default: {LARGE})"
    )
    parser.add_argument("--times", type=whole_number, default=10, metavar="N", help="random splits (default: 10)")
    parser.add_argument("--seeds", type=whole_number, default=5, metavar="N", help="of the taggers (default: 5)")
    parser.add_argument("--seed", type=whole_number, default=0, help="seed of the corpora (default: 0)")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument("--json", action="store_true", help="print one JSON object: the verdict and the page")
    return parser


def run_demo(arguments: argparse.Namespace) -> int:
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
