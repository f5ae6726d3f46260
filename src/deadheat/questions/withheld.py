"""What a page does not show: sentences of sealed test sets ever; all sentences, or who ran it, where that is asked for.

Results of studies and comparisons bring along the sentences on which systems disagree, with the labels of gold. What
runs were made with names a machine and a user, and the ledger names who looked.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from deadheat.documents import Document
from deadheat.errors import InputError
from deadheat.study.ledger.ledger import Ledger


def sealed_test_sets(ledger: Ledger) -> frozenset[str] | None:
    """Hashes of the test sets whose labels were put away; None where the ledger cannot be read."""
    try:
        return frozenset(each.test_set for each in ledger.tallies() if each.sealed)
    except InputError:
        return None


def without_sentences(document: Document) -> Document:
    """A result without the sentences it shows; how far systems agree stays.

    Examples
    --------
    >>> without_sentences({"kind": "compare", "agreement": {"alpha": 0.9, "sentences": [{"words": ["a"]}]}})
    {'kind': 'compare', 'agreement': {'alpha': 0.9, 'sentences': []}}
    """
    if document.get("blocks") and document.get("kind") == "study":
        return {**document, "blocks": [_block(block) for block in document["blocks"]]}
    if document.get("agreement"):
        return {**document, "agreement": {**document["agreement"], "sentences": []}}
    return document


def without_sealed(document: Document, sealed: Collection[str]) -> Document:
    """A result without the sentences of sealed test sets.

    A comparison tells which test sets it looked at, and whether they were sealed then. Of a study, all sentences of a
    corpus go if a test part of it is sealed: other splits of that corpus may show the same sentences.
    """
    if document.get("kind") == "compare":
        looks = document.get("looks") or ()
        hidden = any(each.get("sealed") or each.get("test_set") in sealed for each in looks)
        return without_sentences(document) if hidden else document
    if document.get("kind") != "study" or not sealed:
        return document
    names = [str(each.get("name")) for each in document.get("test_sets") or () if each.get("hash") in sealed]
    if not names:
        return document
    blocks = [_block(block) if _is_of(block["corpus"], names) else block for block in document["blocks"]]
    return {**document, "blocks": blocks}


def without_people(document: Document) -> Document:
    """What the ledger says, with numbers for the names of those who looked.

    Examples
    --------
    >>> seen = [{"name": "a", "users": ["ana", "bo"]}, {"name": "b", "users": ["bo"]}]
    >>> without_people({"kind": "ledger", "test_sets": seen})["test_sets"][1]
    {'name': 'b', 'users': ['user 2']}
    """
    if document.get("kind") != "ledger":
        return document
    numbers: dict[str, str] = {}

    def number(name: Any) -> str:
        return numbers.setdefault(str(name), f"user {len(numbers) + 1}")

    found = {key: value for key, value in document.items() if key != "ledger"}  # a path may name its owner
    found["test_sets"] = [{**each, "users": list(map(number, each.get("users", ())))} for each in found["test_sets"]]
    if "lines" in found:
        found["lines"] = [{**each, "user": number(each.get("user", ""))} for each in found["lines"]]
    return found


def nameless(provenance: Document) -> Document:
    """What a run was made with, without the names of the machine and of the user."""
    return {key: value for key, value in provenance.items() if key not in ("host", "user")}


def _is_of(corpus: str, names: Collection[str]) -> bool:
    """Whether one of these test sets, called `CORPUS, SPLIT NUMBER, test`, is of a corpus."""
    return any(name.startswith(f"{corpus}, ") for name in names)


def _block(block: Document) -> Document:
    return {**block, "agreement": [{**each, "sentences": []} for each in block.get("agreement") or ()]}
