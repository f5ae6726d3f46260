"""How often test sets were looked at, as sections of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deadheat.documents import Document, plain
from deadheat.pages.section import Section, Table
from deadheat.pages.wording import NONE, listed
from deadheat.study.ledger.ledger import SHORT
from deadheat.terminal.ledger import minute
from deadheat.text import pluralize

MOST_SENTENCES = 8  # test sets that are told in words
MOST_ROWS = 30  # of a table that is not folded
MOST_LINES = 500  # looks of a test set that are listed

Row = Mapping[str, Any]


def sections(document: Document) -> list[Section]:
    """Each test set with its looks, those looked at most first; of a single one every line of the ledger."""
    told = plain(document)
    sets = sorted(told["test_sets"], key=lambda each: -each["looks"])
    made = [_looks(told, sets)]
    return [*made, _lines(told)] if told.get("lines") else made


def in_words(test_set: Row) -> str:
    """How often a test set was looked at, with how many systems, by how many users, and what its budget says.

    Examples
    --------
    >>> seen = {"name": "en-test.conllu", "looks": 12, "systems": ["a", "b"], "users": ["ana"], "over_budget": 0}
    >>> in_words(seen | {"budget": None})
    'en-test.conllu was looked at 12 times, with 2 systems, by 1 user.'
    """
    told = f"{test_set['name']} was looked at {pluralize(test_set['looks'], 'time')}"
    if test_set["looks"]:
        told += (
            f", with {pluralize(len(test_set['systems']), 'system')}, by {pluralize(len(test_set['users']), 'user')}"
        )
    budget = test_set["budget"]
    if budget is None:
        return f"{told}."
    left = budget - test_set["looks"]
    if left > 0:
        return f"{told}. Of a budget of {pluralize(budget, 'look')}, {left:,} {'is' if left == 1 else 'are'} left."
    past = f"; {pluralize(test_set['over_budget'], 'look')} went past it" if test_set["over_budget"] else ""
    return f"{told}. Its budget of {pluralize(budget, 'look')} is spent{past}."


def _looks(document: Document, sets: Sequence[Row]) -> Section:
    said = [in_words(each) for each in sets[:MOST_SENTENCES]]
    if len(sets) > MOST_SENTENCES:
        rest = sum(each["looks"] for each in sets[MOST_SENTENCES:])
        others = pluralize(len(sets) - MOST_SENTENCES, "other test set")
        said.append(f"{others} had {pluralize(rest, 'look')} together.")
    over = [each["name"] for each in sets if each["over_budget"]]
    if over:
        said.append(f"Looked at past the budget: {listed(over)}.")
    if not sets:
        said = ["No look at a test set was recorded."]
    said.append(
        "Every look lets what is known of a test set leak into choices between systems: the more looks, the less the "
        "best score on it says of new data."
    )
    where = (f"Ledger: {document['ledger']}.",) if document.get("ledger") else ()
    meant = (
        "A look is recorded for each system that a command scores on a test set. Looks are at the same system if its "
        "name or its prediction is the same. Looks that other programs take are not known."
    )
    return Section("Looks at test sets", tuple(said), (), _table(sets), (meant, *where))


def _table(sets: Sequence[Row]) -> tuple[Table, ...]:
    header = ("test set", "hash", "first look", "last look", "users", "sealed")
    numbers = ("looks", "systems", "predictions", "budget", "left", "over budget")
    rows = tuple(
        (
            each["name"],
            each["test_set"][:SHORT],
            minute(each["first"]) or NONE,
            minute(each["last"]) or NONE,
            listed(each["users"]) or NONE,
            "yes" if each["sealed"] else "no",
            f"{each['looks']:,}",
            f"{len(each['systems']):,}",
            f"{each['predictions']:,}",
            *_budget(each),
        )
        for each in sets
    )
    return (Table((*header, *numbers), rows, left=len(header), folded=len(rows) > MOST_ROWS),) if rows else ()


def _budget(test_set: Row) -> tuple[str, str, str]:
    budget = test_set["budget"]
    if budget is None:
        return "none", NONE, NONE
    return f"{budget:,}", f"{max(budget - test_set['looks'], 0):,}", f"{test_set['over_budget']:,}"


def _lines(document: Document) -> Section:
    """The lines of the ledger about one test set, the last ones where there are very many."""
    lines = document["lines"]
    rows = tuple(
        (
            minute(str(each.get("time", ""))),
            str(each.get("user", "")),
            str(each.get("event", "")),
            str(each.get("system", NONE)),
            str(each.get("prediction", NONE))[:SHORT],
            listed(map(str, each.get("metrics") or ()), most=3) or NONE,
            str(each.get("purpose") or NONE),
            str(each.get("over_budget") or NONE),
        )
        for each in lines[-MOST_LINES:]
    )
    header = ("time", "user", "event", "system", "prediction", "metrics", "purpose", "reason to go over budget")
    few = f"The last {MOST_LINES} of {len(lines):,} lines." if len(lines) > MOST_LINES else "Every line."
    table = Table(header, rows, left=len(header), caption=few, folded=len(rows) > MOST_ROWS)
    said = f"What the ledger says of {document['name']}, in the order in which it was written."
    return Section("Every look", (said,), (), (table,))
