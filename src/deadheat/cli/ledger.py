"""`deadheat ledger`"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping
from typing import Any

from deadheat.arguments import whole_number
from deadheat.cli.options import Parser, add_json, add_ledger_file, add_reading, print_json, reading, say, show
from deadheat.corpus import Corpus, read
from deadheat.errors import InputError
from deadheat.results.ledger import LedgerLine, LedgerReport, Tally
from deadheat.study.ledger.ledger import SHORT, Ledger, LedgerTestSet
from deadheat.study.ledger.sealing import seal
from deadheat.text import pluralize

ACTIONS = ("show", "guard", "seal")
SHORTEST = 8  # characters of a hash that may stand for it
_HASH = re.compile(rf"[0-9a-f]{{{SHORTEST},64}}")
EXAMPLES = """\
examples:
  deadheat ledger                                       all test sets, and how often each was evaluated
  deadheat ledger show en-test.conllu                   every evaluation of this one (a hash will do)
  deadheat ledger guard en-test.conllu --budget 20      refuse more than 20 evaluations
  deadheat ledger seal en-test.conllu                   put the labels away; write a copy without them
  deadheat ledger --verify                              was any line edited, dropped or moved?
  deadheat ledger --verify --head 3f0c2a61d0b4          is the hash we published a line of it?"""


def ledger_parser() -> argparse.ArgumentParser:
    parser = Parser("ledger", "How often was this test set evaluated, and by whom?", epilog=EXAMPLES)
    parser.add_argument("action", nargs="?", choices=ACTIONS, help="what to do with FILE (default: a table of all)")
    parser.add_argument("file", nargs="?", metavar="FILE", help="a test set; for show, its hash will do")
    parser.add_argument(
        "--budget", type=whole_number, metavar="N", help="how many evaluations there may be (guard, seal)"
    )
    parser.add_argument(
        "--out", default="", metavar="COPY", help="the copy without labels (seal; NAME.unlabelled.SUFFIX)"
    )
    parser.add_argument("--verify", action="store_true", help="check every line of the ledger")
    parser.add_argument("--head", metavar="HASH", help="with --verify: a hash that must be that of a line")
    add_ledger_file(parser)
    add_json(parser)
    add_reading(parser)
    return parser


def run_ledger(arguments: argparse.Namespace) -> int:
    _check(arguments)
    ledger = Ledger.at(arguments.ledger)
    if arguments.verify:
        return _verify(ledger, arguments)
    if arguments.action == "show":
        return _show(ledger, arguments)
    if arguments.action == "guard":
        return _guard(ledger, arguments)
    if arguments.action == "seal":
        return _seal(ledger, arguments)
    return _table(ledger, arguments)


def _check(arguments: argparse.Namespace) -> None:
    """Options that do not go together."""
    action = arguments.action
    if action and not arguments.file:
        raise InputError(f"deadheat ledger {action}: no file; expected deadheat ledger {action} FILE")
    if arguments.budget is not None and action not in ("guard", "seal"):
        raise InputError(
            "deadheat ledger: --budget without guard or seal; expected deadheat ledger guard FILE --budget N"
        )
    if arguments.out and action != "seal":
        raise InputError("deadheat ledger: --out without seal; expected deadheat ledger seal FILE --out COPY")
    if arguments.verify and action:
        raise InputError(f"deadheat ledger: --verify beside {action}; expected one of them")
    if arguments.head is not None and not arguments.verify:
        raise InputError("deadheat ledger: --head without --verify; expected deadheat ledger --verify --head HASH")
    if arguments.head is not None and not _HASH.fullmatch(arguments.head):
        raise InputError(f"deadheat ledger: head {arguments.head!r}; expected {SHORTEST} to 64 digits of a hash")


def _verify(ledger: Ledger, arguments: argparse.Namespace) -> int:
    if not ledger.path.exists():
        raise InputError(f"{ledger.path}: no such ledger; expected one to verify")
    found = ledger.verify()
    at = ledger.chain.find(arguments.head) if arguments.head else 0
    if found.faults:
        raise InputError(str(found))
    if arguments.head and not at:
        raise InputError(f"{ledger.path}: no line has the hash {arguments.head}; expected one of its lines")
    if arguments.json:
        place = {"head": at} if arguments.head else {}
        print_json({"ledger": str(ledger.path), "lines": found.head.lines, "last": found.head.last} | place)
    else:
        print(found)
        if arguments.head:
            print(f"{arguments.head} is line {at:,} of {found.head.lines:,}")
    say(found.notes)
    return 0


def _table(ledger: Ledger, arguments: argparse.Namespace) -> int:
    return show(LedgerReport(ledger.tallies(), str(ledger.path)), as_json=arguments.json)


def _show(ledger: Ledger, arguments: argparse.Namespace) -> int:
    if _HASH.fullmatch(arguments.file) and not os.path.exists(arguments.file):
        test_set = _by_hash(ledger, arguments.file)
    else:
        test_set = ledger.tally(_read(arguments)[1].hash)
    events = [event for event in ledger.events(test_set.test_set) if event.get("test_set") == test_set.test_set]
    lines = tuple(map(_line, events))
    return show(LedgerReport((test_set,), str(ledger.path), lines), as_json=arguments.json)


def _line(event: Mapping[str, Any]) -> LedgerLine:
    budget = event.get("budget")
    return LedgerLine(
        str(event.get("time", "")),
        str(event.get("user", "")),
        "evaluation" if event.get("event") == "look" else str(event.get("event", "")),
        str(event.get("system", "")),
        str(event.get("prediction", "")),
        tuple(map(str, event.get("metrics") or ())),
        str(event.get("purpose") or ""),
        budget if isinstance(budget, int) else None,
        str(event.get("over_budget") or ""),
    )


def _by_hash(ledger: Ledger, start: str) -> Tally:
    found = [each for each in ledger.tallies() if each.test_set.startswith(start)]
    if len(found) != 1:
        many = pluralize(len(found), "test set") if found else "no test set"
        raise InputError(f"{start}: {many} of {ledger.path} with such a hash; expected a file, or the hash of one")
    return found[0]


def _guard(ledger: Ledger, arguments: argparse.Namespace) -> int:
    _, watched = _read(arguments)
    before = ledger.tally(watched.hash)
    again = before.guarded and arguments.budget in (None, before.budget)
    say(() if again else ledger.guard(watched, budget=arguments.budget))
    tally = ledger.tally(watched.hash)
    if arguments.json:
        return show(LedgerReport((tally,), str(ledger.path)), as_json=True)
    budget = "no budget" if tally.budget is None else f"a budget of {pluralize(tally.budget, 'evaluation')}"
    already = "guarded already" if again else "guarded"
    looks = f"{pluralize(tally.evaluations, 'evaluation')} so far (test set {tally.test_set[:SHORT]})"
    print(f"{watched.name}: {already}, {budget}, {looks}")
    return 0


def _seal(ledger: Ledger, arguments: argparse.Namespace) -> int:
    corpus, _ = _read(arguments)
    sealed = seal(ledger, corpus, arguments.out, budget=arguments.budget)
    if arguments.json:
        print_json(sealed.to_dict())
    else:
        print(f"labels put away: {sealed.labels} (readable by their owner alone)")
        print(f"copy without labels, to hand out: {sealed.copy}")
    still = f"{arguments.file} still lies where it was, labels and all; put it away yourself"
    say((*sealed.notes, still))
    return 0


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
