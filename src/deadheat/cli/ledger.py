"""The command on the ledger of evaluations."""

from __future__ import annotations

import argparse
import os
import re

from deadheat.arguments import whole_number
from deadheat.cli.items import add_item_options, item_reading
from deadheat.cli.options import JSON, Parser, add_ledger_file, print_json, print_lines, reading, say, show
from deadheat.corpus import Corpus, read
from deadheat.errors import InputError
from deadheat.results.ledger import LedgerReport, PeriodCounts, Tally
from deadheat.study.ledger.ledger import PERIODS, SHORT, Ledger, LedgerTestSet
from deadheat.study.ledger.sealing import seal
from deadheat.text import pluralize

ACTIONS = ("show", "guard", "seal", "repair")
MIN_HASH = 8  # characters of a hash that may stand for it
_HASH = re.compile(rf"[0-9a-f]{{{MIN_HASH},64}}")
EXAMPLES = """\
examples:
  deadheat ledger                                       all test sets, and how often each was evaluated
  deadheat ledger show en-test.conllu                   every evaluation of one test set
  deadheat ledger guard en-test.conllu --budget 20      refuse more than 20 evaluations
  deadheat ledger guard items.csv --budget 20           the same for the items of a table or of logs
  deadheat ledger seal en-test.conllu                   hide the labels; write a copy without them
  deadheat ledger --by year                             evaluations of test sets by year
  deadheat ledger --by year --counts papers.csv         the same from a table: a row per paper, columns year and count
  deadheat ledger --verify                              was any line edited, deleted or moved?
  deadheat ledger --verify --head 3f0c2a61d0b4          is there a line with the hash that was published?
  deadheat ledger repair --reason "disk was full"       accept a changed ledger as it is, and record who did so"""


def ledger_parser() -> argparse.ArgumentParser:
    parser = Parser("ledger", epilog=EXAMPLES)
    parser.add_argument("action", nargs="?", choices=ACTIONS, help="what to do (default: list all test sets)")
    parser.add_argument("file", nargs="?", metavar="FILE", help="a test set; for show, also the beginning of its hash")
    parser.add_argument("--budget", type=whole_number, metavar="N", help="evaluations that are allowed (guard, seal)")
    parser.add_argument(
        "--out", default="", metavar="COPY", help="the copy without labels (seal; default: NAME.unlabelled.SUFFIX)"
    )
    parser.add_argument("--by", choices=tuple(PERIODS), help="evaluations by year or by month")
    parser.add_argument(
        "--counts", default="", metavar="TABLE", help="with --by year: a table with the columns year and count instead"
    )
    parser.add_argument("--verify", action="store_true", help="check every line of the ledger")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why a changed ledger is accepted (repair)")
    parser.add_argument("--head", metavar="HASH", help="with --verify: the hash of a line that must exist")
    add_ledger_file(parser)
    parser.add_options(json=JSON, reading=True)
    add_item_options(parser)
    return parser


def run_ledger(arguments: argparse.Namespace) -> int:
    _check(arguments)
    ledger = Ledger.at(arguments.ledger)
    if arguments.verify:
        return _verify(ledger, arguments)
    actions = {"show": _show, "guard": _guard, "seal": _seal, "repair": _repair, None: _table}
    return actions[arguments.action](ledger, arguments)


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    action, head = arguments.action, arguments.head
    if action not in (None, "repair") and not arguments.file:
        raise InputError(f"deadheat ledger {action}: no file; expected deadheat ledger {action} FILE")
    problems = {
        "--budget without guard or seal; expected deadheat ledger guard FILE --budget N": (
            arguments.budget is not None and action not in ("guard", "seal")
        ),
        "--out without seal; expected deadheat ledger seal FILE --out COPY": arguments.out and action != "seal",
        "repair with a file; expected deadheat ledger repair --reason TEXT": action == "repair" and arguments.file,
        "repair without a reason; expected deadheat ledger repair --reason TEXT": (
            action == "repair" and not arguments.reason.strip()
        ),
        "--reason without repair; expected deadheat ledger repair --reason TEXT": (
            arguments.reason and action != "repair"
        ),
        f"--verify beside {action}; expected one of them": arguments.verify and action,
        "--by beside an action or --verify; expected deadheat ledger --by year": (
            arguments.by and (action or arguments.verify)
        ),
        "--counts without --by year; expected deadheat ledger --by year --counts TABLE": (
            arguments.counts and arguments.by != "year"
        ),
        "--head without --verify; expected deadheat ledger --verify --head HASH": head and not arguments.verify,
        f"head {head!r}; expected {MIN_HASH} to 64 digits of a hash": head is not None and not _HASH.fullmatch(head),
    }
    for problem, is_present in problems.items():
        if is_present:
            raise InputError(f"deadheat ledger: {problem}")


def _verify(ledger: Ledger, arguments: argparse.Namespace) -> int:
    if not ledger.path.exists():
        raise InputError(f"{ledger.path}: no such ledger; expected one to verify")
    verification = ledger.verify()
    if verification.faults:
        raise InputError(str(verification))
    line = verification.find(arguments.head) if arguments.head else 0
    if arguments.head and not line:
        raise InputError(f"{ledger.path}: no line has the hash {arguments.head}; expected one of its lines")
    lines = len(verification.hashes)
    if arguments.json:
        summary = {"ledger": str(ledger.path), "lines": lines, "last": verification.last}
        print_json(summary | ({"head": line} if arguments.head else {}))
    else:
        print_lines(str(verification))
        if arguments.head:
            print(f"{arguments.head} is line {line:,} of {lines:,}")
    say(verification.notes)
    return 0


def _table(ledger: Ledger, arguments: argparse.Namespace) -> int:
    if arguments.counts:
        periods = _tabled(arguments.counts)
        return show(LedgerReport((), periods=periods, counted="row"), as_json=arguments.json)
    periods = ledger.periods(arguments.by) if arguments.by else ()
    by = arguments.by or "year"
    report = LedgerReport(ledger.tallies(), str(ledger.path), periods=periods, by=by, notes=ledger.warnings)
    return show(report, as_json=arguments.json)


def _tabled(path: str) -> tuple[PeriodCounts, ...]:
    """Counts by year from a table with a row per paper, say."""
    from deadheat.tables.table import read_table

    table = read_table(path)
    years = table.names(table.column("year"), "year").to_list()
    counts: dict[str, list[int]] = {}
    for row, (year, count) in enumerate(zip(years, table.numbers(table.column("count")).to_list(), strict=True)):
        if count is None or count < 0 or count != int(count):
            raise InputError(f"{table.location(row)}: count {count}; expected a whole number, 0 or more")
        counts.setdefault(year, []).append(int(count))
    return tuple(PeriodCounts(year, tuple(counts[year])) for year in sorted(counts))


def _show(ledger: Ledger, arguments: argparse.Namespace) -> int:
    notes: tuple[str, ...] = ()
    if _HASH.fullmatch(arguments.file) and not os.path.exists(arguments.file):
        tally = _by_hash(ledger, arguments.file)
    else:
        test_set = ledger.find(_test_set(arguments))
        tally, notes = ledger.tally(test_set.hash), test_set.notes
    report = LedgerReport((tally,), str(ledger.path), ledger.lines(tally.test_set), notes=(*notes, *ledger.warnings))
    return show(report, as_json=arguments.json)


def _by_hash(ledger: Ledger, start: str) -> Tally:
    tallies = [tally for tally in ledger.tallies() if tally.test_set.startswith(start)]
    if len(tallies) != 1:
        number = pluralize(len(tallies), "test set") if tallies else "no test set"
        raise InputError(f"{start}: {number} of {ledger.path} with such a hash; expected a file, or the hash of one")
    return tallies[0]


def _guard(ledger: Ledger, arguments: argparse.Namespace) -> int:
    test_set = _test_set(arguments)
    before = ledger.tally(test_set.hash)
    unchanged = before.guarded and arguments.budget in (None, before.budget)
    say(ledger.warnings if unchanged else ledger.guard(test_set, budget=arguments.budget))
    tally = ledger.tally(test_set.hash)
    if arguments.json:
        return show(LedgerReport((tally,), str(ledger.path)), as_json=True)
    budget = "no budget" if tally.budget is None else f"a budget of {pluralize(tally.budget, 'evaluation')}"
    guarded = "guarded already" if unchanged else "guarded"
    so_far = f"{pluralize(tally.evaluations, 'evaluation')} so far (test set {tally.test_set[:SHORT]})"
    print_lines(f"{test_set.name}: {guarded}, {budget}, {so_far}")
    return 0


def _seal(ledger: Ledger, arguments: argparse.Namespace) -> int:
    if _holds_items(arguments):
        raise InputError(f"{arguments.file}: items; expected a corpus to seal, or deadheat ledger guard")
    corpus, _ = _read(arguments)
    sealed = seal(ledger, corpus, arguments.out, budget=arguments.budget)
    if arguments.json:
        name, test_set = sealed.test_set.name, sealed.test_set.hash
        print_json({"name": name, "test_set": test_set, "labels": str(sealed.labels), "copy": str(sealed.copy)})
    else:
        print_lines(f"sealed labels: {sealed.labels} (readable by their owner only)")
        print_lines(f"copy without labels, to hand out: {sealed.copy}")
    say((*sealed.notes, f"{arguments.file} still exists with its labels; delete it or move it away yourself"))
    return 0


def _repair(ledger: Ledger, arguments: argparse.Namespace) -> int:
    accepted = ledger.repair(arguments.reason)
    if arguments.json:
        print_json({"ledger": str(ledger.path), "accepted": list(accepted)})
    else:
        print_lines(f"{ledger.path}: accepted as it is; check the budgets (deadheat ledger)", *accepted)
    return 0


def _test_set(arguments: argparse.Namespace) -> LedgerTestSet:
    """The test set of a command: a corpus, a table of items with gold labels or with scores, or logs."""
    if not _holds_items(arguments):
        return _read(arguments)[1]
    from deadheat.items.detection import has_labels, is_squad
    from deadheat.items.labels import read_gold
    from deadheat.items.sources import open_items
    from deadheat.items.squad import read_questions
    from deadheat.questions.item_ledger import test_set_of

    path = arguments.file
    if is_squad(path):
        return test_set_of(read_questions(path))
    if has_labels(path):
        return test_set_of(read_gold(path, **({"item": arguments.item} if arguments.item else {})))
    return test_set_of(open_items(path, **item_reading(arguments)))


def _holds_items(arguments: argparse.Namespace) -> bool:
    """Whether the test set is a table of items or logs."""
    from deadheat.items.detection import is_table
    from deadheat.items.logs.read import is_log

    path = arguments.file
    return is_log(path) if os.path.isdir(path) else os.path.isfile(path) and not arguments.columns and is_table(path)


def _read(arguments: argparse.Namespace) -> tuple[Corpus, LedgerTestSet]:
    """The test set of a command, with labels or without."""
    options = reading(arguments)
    if arguments.action != "seal":
        options["lenient"] = {*options["lenient"], "missing-heads"}
    corpus = read(arguments.file, **options)
    if len(corpus.parts) > 1:
        raise InputError(f"{arguments.file}: {len(corpus.parts)} files; expected one test set at a time")
    if not corpus.words:
        raise InputError(f"{arguments.file}: no words; expected a test set")
    return corpus, LedgerTestSet.of(corpus)
