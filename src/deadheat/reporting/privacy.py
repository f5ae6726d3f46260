"""What a report leaves out: sentences of sealed test sets always; all sentences, or who ran it, on request.

Results of studies and comparisons hold the sentences on which systems disagree, with the gold labels. Provenance names
a machine and a user, the ledger names who evaluated, and paths contain the names of folders.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from deadheat.errors import InputError
from deadheat.results.base import Result
from deadheat.results.compare import Comparison
from deadheat.results.ledger import LedgerReport
from deadheat.results.study import StudyBlock, StudyResult
from deadheat.study.ledger.ledger import Ledger

T = TypeVar("T")

PEOPLE = ("host", "user", "users")  # fields that name a machine or a person
ERROR = "error"  # why a run failed: text of somebody else's program
OF_CORPORA = frozenset(("words", "gold"))  # the text of a corpus, which holds no paths
FILES = frozenset(("location", "system", "systems", "name"))  # fields that may be, or contain, the name of a file
_STEP = r"""[^\\/\s'"=,;]+(?: [^\\/\s'"=,;-][^\\/\s'"=,;]*)*"""  # a folder, whose name may have spaces
_START = r"(?<![\w/\\<])(?<!http:)(?<!https:)(?:file:)?(?:[A-Za-z]:)?"
_HOME = re.compile(rf"{_START}[\\/]+(?:home|Users)[\\/]+[^\\/\s'\"=,;:]+[\\/]?(?![^\s'\"=,;:])")
_FOLDERS = re.compile(rf"(?:{_START}|(?<![\w/\\<])(?:~\w*|\.\.?))[\\/]+(?:{_STEP}[\\/]+)*")
_ANY_FOLDERS = re.compile(r"""(?<![^\s'"=(,;])(?!https?://)[^\s'"=(,;]*/""")  # also relative ones


def sealed_test_sets(ledger: Ledger) -> frozenset[str] | None:
    """Hashes of the texts whose labels are sealed; None where the ledger cannot be read."""
    try:
        return ledger.sealed_texts()
    except InputError:
        return None


def without_sentences(result: Result) -> Result:
    """A result without the sentences it shows; how far systems agree stays."""
    if isinstance(result, Comparison) and result.agreement is not None:
        return replace(result, agreement=replace(result.agreement, sentences=()))
    if isinstance(result, StudyResult):
        return replace(result, blocks=tuple(map(_strip_block, result.blocks)))
    return result


def without_sealed(result: Result, sealed: Collection[str]) -> Result:
    """A result without the sentences of sealed test sets.

    A comparison knows which test sets it evaluated, and whether they were sealed then. Of a study, all sentences of a
    corpus go if a test part of it is sealed: other splits of that corpus may show the same sentences.
    """
    if isinstance(result, Comparison):
        hidden = any(tally.sealed or tally.test_set in sealed for tally in result.evaluations)
        return without_sentences(result) if hidden else result
    if not isinstance(result, StudyResult):
        return result
    # A test set of a study is called `CORPUS, SPLIT NUMBER, test`.
    names = [test_set.name for test_set in result.test_sets if test_set.hash in sealed]
    blocks = [
        _strip_block(block) if any(name.startswith(f"{block.corpus}, ") for name in names) else block
        for block in result.blocks
    ]
    return replace(result, blocks=tuple(blocks))


def _strip_block(block: StudyBlock) -> StudyBlock:
    return replace(block, agreement=tuple(replace(agreement, sentences=()) for agreement in block.agreement))


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

    def result(self, result: Result) -> Result:
        """A result with all its texts anonymized, but for the words and labels of sentences."""
        self._people |= set(_people(result))
        if isinstance(result, LedgerReport):
            result = replace(result, ledger="")  # its path may name its owner
        return self._anonymized(result)

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

    def _anonymized(self, value: T, field: str = "") -> T:
        """The same value with other texts, whatever it consists of; `field` is the name of the field that holds it."""
        changed: object = value
        if isinstance(value, str):
            changed = self._field_text(value, field)
        elif isinstance(value, Mapping):
            strict = field in FILES
            changed = {self.text(key, strict=strict): self._anonymized(item, str(key)) for key, item in value.items()}
        elif isinstance(value, tuple) and field not in OF_CORPORA:
            changed = tuple(self._anonymized(item, field) for item in value)
        elif is_dataclass(value) and not isinstance(value, type):
            names = [item.name for item in fields(value)]
            changed = replace(value, **{name: self._anonymized(getattr(value, name), name) for name in names})
        return cast(T, changed)

    def _field_text(self, text: str, field: str) -> str:
        if field == "host":
            return ""
        if field in PEOPLE:
            return self._users.setdefault(text, f"user {len(self._users) + 1}") if text else ""
        return self._error(text) if field == ERROR else self.text(text, strict=field in FILES)

    def _error(self, text: str) -> str:
        """Why a run failed, or nothing where that may tell who ran it."""
        names = "|".join(re.escape(name) for name in self._people if name)
        revealing = "/" in text or "\\" in text or (names and re.search(rf"(?<!\w)(?:{names})(?!\w)", text))
        return "" if revealing else text


def _people(value: object, field: str = "") -> Iterator[str]:
    """Names of machines and users anywhere in a result."""
    if isinstance(value, str):
        if field in PEOPLE:
            yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _people(item, field)
    elif is_dataclass(value):
        for item in fields(value):
            yield from _people(getattr(value, item.name), item.name)
