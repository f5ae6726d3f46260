"""What a report leaves out: sentences of sealed test sets always; all sentences, or who ran it, on request.

Results of studies and comparisons hold the sentences on which systems disagree, with the gold labels. Provenance names a
machine and a user, the ledger names who evaluated, and paths contain the names of folders. All of it is removed from the JSON
of a result, which then becomes a result again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from deadheat.errors import InputError
from deadheat.results.base import Result, from_document, to_document
from deadheat.study.ledger.ledger import Ledger

ResultType = TypeVar("ResultType", bound=Result)

PEOPLE = ("host", "user")  # fields that name a machine or a person
ERROR = "error"  # why a run failed: text of somebody else's program
OF_CORPORA = frozenset(("words", "gold"))  # the text of a corpus, which holds no paths
FILES = frozenset(("location", "system", "file", "path"))  # fields that begin with the name of a file
_STEP = r"""[^\\/\s'"=,;]+(?: [^\\/\s'"=,;-][^\\/\s'"=,;]*)*"""  # a folder, whose name may have spaces
_START = r"(?<![\w/\\<])(?<!http:)(?<!https:)(?:file:)?(?:[A-Za-z]:)?"
_HOME = re.compile(rf"{_START}[\\/]+(?:home|Users)[\\/]+[^\\/\s'\"=,;:]+[\\/]?(?![^\s'\"=,;:])")
_FOLDERS = re.compile(rf"(?:{_START}|(?<![\w/\\<])(?:~\w*|\.\.?))[\\/]+(?:{_STEP}[\\/]+)*")
_ANY_FOLDERS = re.compile(r"""(?<![^\s'"=(,;])(?!https?://)[^\s'"=(,;]*/""")  # also relative ones


def sealed_test_sets(ledger: Ledger) -> frozenset[str] | None:
    """Hashes of the test sets whose labels are sealed; None where the ledger cannot be read."""
    try:
        return frozenset(entry.test_set for entry in ledger.tallies() if entry.sealed)
    except InputError:
        return None


def without_sentences(result: ResultType) -> ResultType:
    """A result without the sentences it shows; how far systems agree stays."""
    return _rebuilt(result, _strip(to_document(result)))


def without_sealed(result: ResultType, sealed: Collection[str]) -> ResultType:
    """A result without the sentences of sealed test sets.

    A comparison knows which test sets it evaluated, and whether they were sealed then. Of a study, all sentences of a
    corpus go if a test part of it is sealed: other splits of that corpus may show the same sentences.
    """
    document = to_document(result)
    if result.kind == "compare":
        test_sets = document["evaluations"]
        if any(test_set["sealed"] or test_set["test_set"] in sealed for test_set in test_sets):
            return without_sentences(result)
    if result.kind == "study" and sealed:
        names = [str(test_set["name"]) for test_set in document["test_sets"] if test_set["hash"] in sealed]
        # A test set of a study is called `CORPUS, SPLIT NUMBER, test`.
        document["blocks"] = [
            _strip(block) if any(name.startswith(f"{block['corpus']}, ") for name in names) else block
            for block in document["blocks"]
        ]
        return _rebuilt(result, document)
    return result


def _strip(value: Any) -> Any:
    """The same without disputed sentences, wherever there is agreement of systems."""
    if isinstance(value, dict):
        if {"alpha", "oracle", "sentences"} <= value.keys():
            return {**value, "sentences": []}
        return {key: _strip(item) for key, item in value.items()}
    return [_strip(item) for item in value] if isinstance(value, list) else value


def _rebuilt(result: ResultType, document: Mapping[str, Any]) -> ResultType:
    rebuilt = from_document(document)
    assert isinstance(rebuilt, type(result))
    return rebuilt


class Anonymizer:
    """Removes folders from texts, and names of machines and users. Texts that differ only in folders stay different.

    Examples
    --------
    >>> anonymizer = Anonymizer()
    >>> anonymizer.text("read /home/ana/x.conllu:7"), anonymizer.text("sign/wilcoxon"), anonymizer.text("in /home/ana")
    ('read x.conllu:7', 'sign/wilcoxon', 'in ~')
    >>> anonymizer.text("/home/ana/a.txt"), anonymizer.text("/home/bo/a.txt"), anonymizer.text("/home/ana/a.txt")
    ('a.txt', 'a.txt (2)', 'a.txt')
    """

    def __init__(self) -> None:
        self._people: set[str] = set()
        self._users: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._taken: set[str] = set()

    def result(self, result: ResultType) -> ResultType:
        """A result with all its texts anonymized, but for the words and labels of sentences."""
        document = to_document(result)
        self._people |= set(_people(document))
        if result.kind == "ledger":
            document["ledger"] = ""  # its path may name its owner
        return _rebuilt(result, {key: self._value(key, value) for key, value in document.items()})

    def text(self, text: str, *, strict: bool = False) -> str:
        """A text with base names for paths; `strict` where a slash can only be a part of one."""
        if "/" not in text and "\\" not in text:
            return text
        if text in self._texts:
            return self._texts[text]
        plain = _FOLDERS.sub("", _HOME.sub("~", text))
        plain = _ANY_FOLDERS.sub("", plain) if strict else plain
        if plain != text:
            base, number = plain, 1
            while plain in self._taken:
                number += 1
                plain = f"{base} ({number})"
            self._taken.add(plain)
        self._texts[text] = plain
        return plain

    def _value(self, key: str, value: Any) -> Any:
        if isinstance(value, str):
            if key in PEOPLE or key == "users":
                return self._user(value) if key != "host" else ""
            return self._error(value) if key == ERROR else self.text(value, strict=key in FILES)
        if isinstance(value, Mapping):
            return {
                self.text(str(name), strict=key == "systems"): self._value(str(name), item)
                for name, item in value.items()
            }
        if isinstance(value, list) and key not in OF_CORPORA:
            return [self._value(key, item) for item in value]
        return value

    def _user(self, name: str) -> str:
        return self._users.setdefault(name, f"user {len(self._users) + 1}") if name else ""

    def _error(self, text: str) -> str:
        """Why a run failed, or nothing where that may tell who ran it."""
        names = "|".join(re.escape(name) for name in self._people if name)
        revealing = "/" in text or "\\" in text or (names and re.search(rf"(?<!\w)(?:{names})(?!\w)", text))
        return "" if revealing else text


def _people(value: Any, key: str = "") -> list[str]:
    """Names of machines and users anywhere in a document."""
    if isinstance(value, str):
        return [value] if key in (*PEOPLE, "users") else []
    if isinstance(value, dict):
        return [name for field, item in value.items() for name in _people(item, field)]
    return [name for item in value for name in _people(item, key)] if isinstance(value, list) else []
