"""Entries of BibTeX: whole, balanced, and agreeing with how they are cited."""

import re

import pytest

from deadheat.paper.methods import OF_CORRECTIONS, OF_SYSTEMS, OF_TESTS, REFERENCES, authors_and_year, bibtex
from deadheat.stats.corrections import CORRECTIONS
from deadheat.stats.paired import TESTS
from deadheat.systems import SYSTEMS

REQUIRED = {
    "article": {"author", "title", "journal", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "book": {"author", "title", "publisher", "year"},
}


@pytest.mark.parametrize("key", REFERENCES)
def test_an_entry_has_what_its_kind_needs_and_is_cited_by_its_own_year(key: str) -> None:
    entry = REFERENCES[key]
    kind, name = re.match(r"@(\w+)\{([\w-]+),\n", entry).groups()  # type: ignore[union-attr]
    fields = dict(re.findall(r"(\w+) = \{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}", entry))
    assert name == key
    assert fields.keys() >= REQUIRED[kind]
    assert entry.count("{") == entry.count("}")
    year = authors_and_year(key).rpartition(", ")[2]
    assert fields["year"] == year == key.rpartition("-")[2]
    authors = fields["author"].split(" and ")
    names = authors_and_year(key).rpartition(", ")[0]
    assert names.count(" and ") == (len(authors) == 2)
    assert names.endswith(" et al.") == (len(authors) > 2)


def test_methods_that_are_cited_are_methods_there_are() -> None:
    assert OF_TESTS.keys() <= set(TESTS)
    assert OF_CORRECTIONS.keys() <= CORRECTIONS.keys()
    assert {SYSTEMS.make(name).name.partition(".v")[0] for name in OF_SYSTEMS} == OF_SYSTEMS.keys()
    cited = {key for keys in (*OF_TESTS.values(), *OF_CORRECTIONS.values()) for key in keys} | {*OF_SYSTEMS.values()}
    assert cited <= REFERENCES.keys()


def test_entries_are_written_once_and_in_order() -> None:
    text = bibtex(["wilson-1927", "holm-1979", "wilson-1927"])
    assert re.findall(r"^@\w+\{(.*),$", text, re.MULTILINE) == ["holm-1979", "wilson-1927"]
    assert bibtex([]) == ""
