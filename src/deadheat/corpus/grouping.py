"""Which sentences belong together: the documents of a corpus by a rule, the parts its files name, its strata."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.corpus.corpus import Corpus, Part
from deadheat.corpus.documents import DOCUMENT_ID, comment_values, genres, of_documents, said_in_comments, sent_ids
from deadheat.corpus.vocabulary import Codes
from deadheat.errors import InputError
from deadheat.text import pluralize

PARTS = ("train", "tune", "dev", "test")
_OTHER_NAMES = {"validation": "dev", "valid": "dev", "val": "dev", "devel": "dev", "development": "dev"}
_WORD = re.compile(r"[^-_. ]+")

# What a sentence's id says of its document: all before the first colon, or else before the last counter.
COLON, COUNTER = re.compile(r"([^:]+):"), re.compile(r"(.+?)[-_./]+[sS]?\d+\Z")
SENT_ID_RULE = "what stands in sent_id before the first ':', else before its last counter"
RULES = "newdoc, sent_id, sent_id:REGEX, none or auto"


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """The document of every sentence as a number, their names, and the rule that found them."""

    codes: Codes
    names: tuple[str, ...]
    rule: str

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        return f"{pluralize(len(self), 'document')}: {self.rule}"


def part_of(path: str) -> str:
    """The part that a file's name tells (`en-ud-train.conllu`), or nothing.

    Examples
    --------
    >>> part_of("ewt/en_ewt-ud-dev.conllu"), part_of("ru_taiga-ud-train-a.conllu.gz"), part_of("latest.conllu")
    ('dev', 'train', '')
    """
    words = [word.lower() for word in _WORD.findall(os.path.basename(path))]
    found = {_OTHER_NAMES.get(word, word) for word in words} & set(PARTS)
    return found.pop() if len(found) == 1 else ""


def in_order_of_parts(files: Iterable[str]) -> list[str]:
    """Files of train first, then tune, dev and test; as they are given unless each names its part."""
    given = list(files)
    parts = [part_of(path) for path in given]
    return sorted(given, key=lambda path: PARTS.index(part_of(path))) if all(parts) else given


def parts_of_sentences(corpus: Corpus) -> Codes | None:
    """For every sentence the number in `PARTS` of what its file's name tells; None unless each file tells one."""
    found = [part_of(part.path) for part in corpus.parts]
    if not found or not all(found):
        return None
    ends = [*(part.first for part in corpus.parts[1:]), corpus.sentences]
    sizes = [end - part.first for end, part in zip(ends, corpus.parts, strict=True)]
    return np.repeat(np.array([PARTS.index(name) for name in found], np.int32), sizes)


def documents_by(corpus: Corpus, rule: str = "auto") -> Documents | None:
    r"""The documents of a corpus.

    Parameters
    ----------
    rule
        `newdoc`: the marks of the files; documents of one id are one, wherever they stand. `sent_id`: what stands in
        the ids of sentences before the first `:`, or else before their last counter. `sent_id:REGEX`: what the first
        group of the expression, or all of it, matches in them. `none`: there are none. `auto`: `newdoc` where there
        are marks, else `sent_id` where that gives every sentence a document, one file at least two of them, and
        documents more than one sentence on average; else none.

    Examples
    --------
    >>> from deadheat.corpus import read
    >>> word = "1\tHi\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    >>> found = documents_by(read(text="".join(f"# sent_id = {name}\n{word}" for name in ("a-1", "a-2", "b-1"))))
    >>> print(found, found.codes)
    2 documents: what stands in sent_id before the first ':', else before its last counter [0 0 1]
    """
    kind, _, expression = rule.partition(":")
    if rule == "none":
        return None
    if rule == "newdoc" or (rule == "auto" and corpus.has_documents):
        return _from_marks(corpus)
    if kind == "sent_id":
        return _from_ids(corpus, [_compiled(expression)] if expression else [COLON, COUNTER], expression)
    if rule != "auto":
        raise InputError(f"documents {rule!r}; expected {RULES}")
    return _guessed(corpus)


def _from_marks(corpus: Corpus) -> Documents:
    if not corpus.has_documents:
        raise InputError(f"{corpus.name}: no '# newdoc' marks; expected some, or another rule for documents ({RULES})")
    ids = of_documents(corpus, comment_values(corpus, DOCUMENT_ID))
    names = [name or f"document {number}" for number, name in enumerate(ids, start=1)]
    codes, distinct = _numbered(names)
    told = "marked by # newdoc"
    if len(distinct) < len(names):
        told += f" ({len(names)} marks; one id is one document)"
    return Documents(codes[corpus.documents], distinct, told)


def _compiled(expression: str) -> re.Pattern[str]:
    try:
        return re.compile(expression)
    except re.error as error:
        raise InputError(f"documents 'sent_id:{expression}': {error}; expected a regular expression") from None


def _from_ids(corpus: Corpus, patterns: Sequence[re.Pattern[str]], expression: str) -> Documents:
    names: list[str] = []
    for sentence, name in enumerate(sent_ids(corpus)):
        matches = filter(None, (pattern.search(name or "") for pattern in patterns))
        document = next((match[min(1, match.re.groups)] for match in matches), None)
        if not document:
            path, line = corpus.line_of_word(int(corpus.offsets[sentence]))
            told = f"sent_id {name!r}" if name else "no sent_id"
            raise InputError(f"{path}:{line}: {told}; expected one that names its document ({expression or 'name-1'})")
        names.append(document)
    codes, distinct = _numbered(names)
    return Documents(codes, distinct, f"sent_id matched by {expression}" if expression else SENT_ID_RULE)


def _guessed(corpus: Corpus) -> Documents | None:
    try:
        found = _from_ids(corpus, [COLON, COUNTER], "")
    except InputError:
        return None
    starts = [part.first for part in corpus.parts] or [0]
    per_file = [len(np.unique(codes)) for codes in np.split(found.codes, starts[1:])]
    plausible = max(per_file) > 1 and len(found) < corpus.sentences and {*found.names}.isdisjoint(PARTS)
    return found if plausible else None


def _numbered(names: Sequence[str]) -> tuple[Codes, tuple[str, ...]]:
    number: dict[str, int] = {}
    codes = np.array([number.setdefault(name, len(number)) for name in names], np.int32)
    return codes, tuple(number)


def strata_by(corpus: Corpus, name: str) -> tuple[Codes, tuple[str, ...]]:
    """What to keep in proportion: a stratum for every sentence as a number, and their names.

    `genre` is found as `deadheat info` finds it, and `file` is the file a sentence stands in. Another name is a
    comment `# NAME = ...` of the sentence or of the first sentence of its document, or a column, of which the first
    word of the sentence counts.
    """
    if name == "genre":
        return genres(corpus)
    if name == "file":
        files = corpus.parts or (Part(corpus.name, 0),)
        sizes = np.diff([*(file.first for file in files), corpus.sentences])
        return np.repeat(np.arange(len(files), dtype=np.int32), sizes), tuple(file.path for file in files)
    said = said_in_comments(corpus, re.escape(name), name)
    if said is not None:
        return _numbered(said)
    if name not in corpus.columns:
        known = ", ".join(["genre", "file", *corpus.columns])
        raise InputError(f"{corpus.name}: nothing to stratify by is called {name!r}; expected {known}, or a comment")
    column = corpus.columns[name]
    used, codes = np.unique(column.codes[corpus.offsets[:-1]], return_inverse=True)
    return codes.astype(np.int32), tuple(column.vocabulary[code] for code in used.tolist())
