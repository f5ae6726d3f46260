"""Groups of sentences: documents, genres, strata, and the parts that file names tell."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.corpus.corpus import Corpus, Part
from deadheat.corpus.vocabulary import Codes
from deadheat.errors import InputError
from deadheat.text import pluralize

MOST_GENRES = 20
# Names of parts, which ids often start with: `train-s1` says nothing of a genre.
PART_NAMES = frozenset({"train", "dev", "test", "tune", "text"})

_SENTENCE_ID = r"sent_id"
DOCUMENT_ID = r"newdoc(?:[ \t]+id)?"
_GENRE = r"(?:meta::)?genre"


def sent_ids(corpus: Corpus) -> tuple[str | None, ...]:
    r"""The id of every sentence, from `# sent_id = ...`; None where there is none.

    Examples
    --------
    >>> from deadheat.corpus import read
    >>> word = "1\tHi\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    >>> sent_ids(read(text="# sent_id = a-1\n" + word + word))
    ('a-1', None)
    """
    return comment_values(corpus, _SENTENCE_ID)


def document_names(corpus: Corpus) -> tuple[str, ...]:
    """A name for every document of `corpus.documents`, no two the same.

    They come from `# newdoc id = ...`. A document without an id is called `document 3` after its number,
    and the second one of a name `name (2)`.
    """
    names = [
        name or f"document {number}"
        for number, name in enumerate(of_documents(corpus, comment_values(corpus, DOCUMENT_ID)), start=1)
    ]
    taken = set(names)
    seen: set[str] = set()
    for i, name in enumerate(names):
        copy = 1
        while names[i] in seen or (copy > 1 and names[i] in taken):
            copy += 1
            names[i] = f"{name} ({copy})"
        seen.add(names[i])
    return tuple(names)


def genres(corpus: Corpus) -> tuple[Codes, tuple[str, ...]]:
    """The genre of every sentence as a number, and the names of the genres, sorted.

    A comment `# genre = ...` or `# meta::genre = ...` says it, on the sentence itself or on the first one of
    its document. Without any such comment, the part of the document's id before the first `-` does
    (`weblog-...`), or that of the ids of its sentences, if every document has one and these look like genres:
    two to twenty of them, fewer than half as many as documents, and not the names of the parts of a corpus.

    Raises
    ------
    InputError
        If neither gives every sentence a genre.
    """
    per_sentence = said_in_comments(corpus, _GENRE, "genre") or _genres_from_ids(corpus)
    if per_sentence is None:
        raise InputError(
            f"{corpus.name}: no genres; looked for comments '# genre = ...' and '# meta::genre = ...', and "
            f"for document ids that begin with one of 2 to {MOST_GENRES} genres as 'weblog-...'"
        )
    names = sorted(set(per_sentence))
    number = {name: code for code, name in enumerate(names)}
    return np.array([number[name] for name in per_sentence], np.int32), tuple(names)


def comment_values(corpus: Corpus, key: str) -> tuple[str | None, ...]:
    """What `# key = value` says before each sentence; the first one counts."""
    comments = corpus.comments
    found: list[str | None] = [None] * corpus.sentences
    pattern = re.compile(rb"^#[ \t]*" + key.encode() + rb"[ \t]*=[ \t]*([^\n]*)", re.MULTILINE)
    matches = list(pattern.finditer(comments.blob.tobytes()))
    at = np.array([match.start() for match in matches], np.int64)
    sentences = np.searchsorted(comments.offsets, at, side="right") - 1
    for sentence, match in zip(sentences.tolist(), matches, strict=True):
        if found[sentence] is None:
            found[sentence] = match[1].decode().strip(" \t\r") or None
    return tuple(found)


def of_documents(corpus: Corpus, values: Sequence[str | None]) -> list[str | None]:
    """What the first sentence of each document has."""
    first = np.flatnonzero(np.diff(corpus.documents, prepend=-1))
    return [values[sentence] for sentence in first.tolist()]


def said_in_comments(corpus: Corpus, key: str, name: str) -> list[str] | None:
    """What `# key = value` says of every sentence, before it or before the first one of its document.

    None if no sentence has such a comment; `key` is an expression, `name` what a message calls it.
    """
    own = comment_values(corpus, key)
    if not any(own):
        return None
    of_document = of_documents(corpus, own)
    documents = corpus.documents.tolist()
    found = [value or of_document[document] for value, document in zip(own, documents, strict=True)]
    known = [value for value in found if value is not None]
    if len(known) < len(found):
        path, line = corpus.line_of_word(int(corpus.offsets[found.index(None)]))
        raise InputError(
            f"{path}:{line}: a sentence without a {name}, the first of {len(found) - len(known):,}; expected "
            f"a comment '# {name} = ...' before it or before the first sentence of its document"
        )
    return known


def _genres_from_ids(corpus: Corpus) -> list[str] | None:
    found = _prefixes(of_documents(corpus, comment_values(corpus, DOCUMENT_ID))) or _from_sentence_ids(corpus)
    if found is None:
        return None
    distinct = set(found)
    few = 2 <= len(distinct) <= MOST_GENRES and 2 * len(distinct) < len(found)
    if not few or distinct <= PART_NAMES:
        return None
    return [found[document] for document in corpus.documents.tolist()]


def _from_sentence_ids(corpus: Corpus) -> list[str] | None:
    """For each document what all ids of its sentences begin with, or None if one has no such thing."""
    prefixes = _prefixes(sent_ids(corpus))
    if prefixes is None:
        return None
    pairs = set(zip(corpus.documents.tolist(), prefixes, strict=True))
    of_document = dict(pairs)
    return [of_document[document] for document in sorted(of_document)] if len(pairs) == len(of_document) else None


def _prefixes(ids: Sequence[str | None]) -> list[str] | None:
    """The part of every id before its first `-`, or None if one has no such part."""
    found = [prefix for prefix, mark, _ in ((each or "").partition("-") for each in ids) if prefix and mark]
    return found if found and len(found) == len(ids) else None


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
        return _documents_from_ids(corpus, [_compiled(expression)] if expression else [COLON, COUNTER], expression)
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


def _documents_from_ids(corpus: Corpus, patterns: Sequence[re.Pattern[str]], expression: str) -> Documents:
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
        found = _documents_from_ids(corpus, [COLON, COUNTER], "")
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
