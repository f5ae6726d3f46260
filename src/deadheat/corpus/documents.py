"""Groups of sentences: documents, genres, strata, and the parts that file names tell."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Codes
from deadheat.errors import InputError
from deadheat.text import pluralize

MOST_GENRES = 20
# Ids often start with the name of a part: `train-s1` has no genre.
PART_NAMES = frozenset({"train", "dev", "test", "tune", "text"})

DOCUMENT_ID = r"newdoc(?:[ \t]+id)?"


def sent_ids(corpus: Corpus) -> tuple[str | None, ...]:
    """Return the id of every sentence, from `# sent_id = ...`; None where there is none."""
    return comment_values(corpus, "sent_id")


def document_names(corpus: Corpus) -> tuple[str, ...]:
    """Return a unique name for every document of `corpus.documents`, from `# newdoc id = ...`.

    A document without an id is called `document 3` after its number, and the second one of a name `name (2)`.
    """
    names = _marked_names(corpus)
    taken = set(names)
    seen: set[str] = set()
    for i, name in enumerate(names):
        copy = 1
        while names[i] in seen or (copy > 1 and names[i] in taken):
            copy += 1
            names[i] = f"{name} ({copy})"
        seen.add(names[i])
    return tuple(names)


def _marked_names(corpus: Corpus) -> list[str]:
    ids = first_in_documents(corpus, comment_values(corpus, DOCUMENT_ID))
    return [name or f"document {number}" for number, name in enumerate(ids, start=1)]


def genres(corpus: Corpus) -> tuple[Codes, tuple[str, ...]]:
    """Return the genre of every sentence as a number, and the sorted names of the genres.

    Genres come from comments `# genre = ...` or `# meta::genre = ...`, on the sentence itself or on the first one of
    its document. Without any such comment, the genre is the part of the document's id before the first `-`
    (`weblog-...`), or that of the ids of its sentences, if every document has one and these look like genres: two to
    twenty of them, fewer than half as many as documents, and not the names of the parts of a corpus.
    """
    per_sentence = sentence_values(corpus, r"(?:meta::)?genre", "genre") or _genres_from_ids(corpus)
    if per_sentence is None:
        raise InputError(
            f"{corpus.name}: no genres; looked for comments '# genre = ...' and '# meta::genre = ...', and "
            f"for document ids that begin with one of 2 to {MOST_GENRES} genres as 'weblog-...'"
        )
    names, codes = np.unique(per_sentence, return_inverse=True)
    return codes.astype(np.int32), tuple(names.tolist())


def comment_values(corpus: Corpus, key: str) -> tuple[str | None, ...]:
    """Return the value of the first comment `# key = value` of each sentence."""
    comments = corpus.comments
    values: list[str | None] = [None] * corpus.sentences
    pattern = re.compile(rb"^#[ \t]*" + key.encode() + rb"[ \t]*=[ \t]*([^\n]*)", re.MULTILINE)
    matches = list(pattern.finditer(comments.blob.tobytes()))
    at = np.array([match.start() for match in matches], np.int64)
    sentences = np.searchsorted(comments.offsets, at, side="right") - 1
    for sentence, match in zip(sentences.tolist(), matches, strict=True):
        if values[sentence] is None:
            values[sentence] = match[1].decode().strip(" \t\r") or None
    return tuple(values)


def first_in_documents(corpus: Corpus, values: Sequence[str | None]) -> list[str | None]:
    """Return the value of the first sentence of each document."""
    first = np.flatnonzero(np.diff(corpus.documents, prepend=-1))
    return [values[sentence] for sentence in first.tolist()]


def sentence_values(corpus: Corpus, key: str, name: str) -> list[str] | None:
    """Return the value of `# key = value` for every sentence, its own or that of the first one of its document.

    None if no sentence has such a comment; `key` is a regular expression, `name` is for messages.
    """
    comments = comment_values(corpus, key)
    if not any(comments):
        return None
    of_document = first_in_documents(corpus, comments)
    documents = corpus.documents.tolist()
    values = [value or of_document[document] for value, document in zip(comments, documents, strict=True)]
    filled = [value for value in values if value is not None]
    if len(filled) < len(values):
        raise InputError(
            f"{corpus.location(values.index(None))}: a sentence without a {name}, the first of "
            f"{len(values) - len(filled):,}; expected a comment '# {name} = ...' before it or before the first "
            "sentence of its document"
        )
    return filled


def _genres_from_ids(corpus: Corpus) -> list[str] | None:
    document_ids = first_in_documents(corpus, comment_values(corpus, DOCUMENT_ID))
    prefixes = _prefixes(document_ids) or _from_sentence_ids(corpus) or []
    distinct = set(prefixes)
    few = 2 <= len(distinct) <= MOST_GENRES and 2 * len(distinct) < len(prefixes)
    return [prefixes[document] for document in corpus.documents.tolist()] if few and distinct - PART_NAMES else None


def _from_sentence_ids(corpus: Corpus) -> list[str] | None:
    """Return for each document the common prefix of its sentence ids; nothing if a document has none."""
    prefixes = _prefixes(sent_ids(corpus))
    pairs = set(zip(corpus.documents.tolist(), prefixes, strict=True)) if prefixes else set()
    of_document = dict(pairs)
    return [of_document[document] for document in sorted(of_document)] if len(pairs) == len(of_document) else None


def _prefixes(ids: Sequence[str | None]) -> list[str] | None:
    """Return the part of every id before its first `-`, or None if an id has no such part."""
    prefixes = [prefix for prefix, mark, _ in ((name or "").partition("-") for name in ids) if prefix and mark]
    return prefixes if prefixes and len(prefixes) == len(ids) else None


PARTS = ("train", "tune", "dev", "test")
_OTHER_NAMES = {"validation": "dev", "valid": "dev", "val": "dev", "devel": "dev", "development": "dev"}
_WORD = re.compile(r"[^-_. ]+")

# The document in a sentence id: all before the first colon, or else before the last counter.
COLON, COUNTER = re.compile(r"([^:]+):"), re.compile(r"(.+?)[-_./]+[sS]?\d+\Z")
SENT_ID_RULE = "the part of sent_id before the first ':', else before its last counter"
RULES = "newdoc, sent_id, sent_id:REGEX, none or auto"


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """The document of every sentence as a number, the names of the documents, and how they were found."""

    codes: Codes
    names: tuple[str, ...]
    rule: str

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        return f"{pluralize(len(self), 'document')}: {self.rule}"


def part_from_name(path: str) -> str:
    """Return the part named in a file name (`en-ud-train.conllu`), or the empty string."""
    words = [word.lower() for word in _WORD.findall(os.path.basename(path))]
    parts = {_OTHER_NAMES.get(word, word) for word in words} & set(PARTS)
    return parts.pop() if len(parts) == 1 else ""


def sort_by_part(files: Iterable[str]) -> list[str]:
    """Sort files by part (train, tune, dev, test); unchanged unless every file name has a part."""
    paths = list(files)
    named = all(map(part_from_name, paths))
    return sorted(paths, key=lambda path: PARTS.index(part_from_name(path))) if named else paths


def sentence_parts(corpus: Corpus) -> Codes | None:
    """Return the index in `PARTS` of every sentence's file; None unless every file name has a part."""
    parts = [part_from_name(part.path) for part in corpus.parts]
    if not parts or not all(parts):
        return None
    sizes = [end - first for _, first, end in corpus.files]
    return np.repeat(np.array([PARTS.index(name) for name in parts], np.int32), sizes)


def find_documents(corpus: Corpus, rule: str = "auto") -> Documents | None:
    """Find the documents of a corpus by a rule.

    `newdoc`: the marks in the files; documents with the same id are one. `sent_id`: the part of the sentence ids
    before the first `:`, or else before their last counter. `sent_id:REGEX`: what the first group of the expression,
    or all of it, matches in them. `none`: no documents. `auto`: `newdoc` where there are marks, else `sent_id` where
    that gives every sentence a document, some file at least two of them, and documents more than one sentence on
    average; else none.
    """
    kind, _, expression = rule.partition(":")
    if rule == "none":
        return None
    if rule == "newdoc" or (rule == "auto" and corpus.has_documents):
        return _documents_from_marks(corpus)
    if kind == "sent_id":
        return _documents_from_ids(corpus, expression)
    if rule != "auto":
        raise InputError(f"documents {rule!r}; expected {RULES}")
    return _guess_documents(corpus)


def _documents_from_marks(corpus: Corpus) -> Documents:
    if not corpus.has_documents:
        raise InputError(f"{corpus.name}: no '# newdoc' marks; expected some, or another rule for documents ({RULES})")
    names = _marked_names(corpus)
    codes, distinct = _number(names)
    joined = f" ({len(names)} marks; one id is one document)" if len(distinct) < len(names) else ""
    return Documents(codes[corpus.documents], distinct, f"marked by # newdoc{joined}")


def _documents_from_ids(corpus: Corpus, expression: str = "") -> Documents:
    try:
        patterns = [re.compile(expression)] if expression else [COLON, COUNTER]
    except re.error as error:
        raise InputError(f"documents 'sent_id:{expression}': {error}; expected a regular expression") from None
    names: list[str] = []
    for sentence, name in enumerate(sent_ids(corpus)):
        matches = filter(None, (pattern.search(name or "") for pattern in patterns))
        document = next((match[min(1, match.re.groups)] for match in matches), None)
        if not document:
            problem = f"{corpus.location(sentence)}: {f'sent_id {name!r}' if name else 'no sent_id'}"
            raise InputError(f"{problem}; expected one that names its document ({expression or 'name-1'})")
        names.append(document)
    codes, distinct = _number(names)
    return Documents(codes, distinct, f"sent_id matched by {expression}" if expression else SENT_ID_RULE)


def _guess_documents(corpus: Corpus) -> Documents | None:
    try:
        documents = _documents_from_ids(corpus)
    except InputError:
        return None
    per_file = [len(np.unique(documents.codes[first:end])) for _, first, end in corpus.files]
    plausible = max(per_file) > 1 and len(documents) < corpus.sentences and {*documents.names}.isdisjoint(PARTS)
    return documents if plausible else None


def _number(names: Sequence[str]) -> tuple[Codes, tuple[str, ...]]:
    number: dict[str, int] = {}
    codes = np.array([number.setdefault(name, len(number)) for name in names], np.int32)
    return codes, tuple(number)


def find_strata(corpus: Corpus, name: str) -> tuple[Codes, tuple[str, ...]]:
    """Return the stratum of every sentence as a number, and the names of the strata.

    `genre` is found as `deadheat info` finds it, and `file` is the file of the sentence. Another name is a comment
    `# NAME = ...` of the sentence or of the first sentence of its document, or a column, whose value for the first
    word of the sentence is used.
    """
    if name == "genre":
        return genres(corpus)
    if name == "file":
        sizes = [end - first for _, first, end in corpus.files]
        return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), tuple(path for path, _, _ in corpus.files)
    values = sentence_values(corpus, re.escape(name), name)
    if values is not None:
        return _number(values)
    if name not in corpus.columns:
        names = ", ".join(["genre", "file", *corpus.columns])
        raise InputError(f"{corpus.name}: cannot stratify by {name!r}; expected {names}, or a comment")
    column = corpus.columns[name]
    used, codes = np.unique(column.codes[corpus.offsets[:-1]], return_inverse=True)
    return codes.astype(np.int32), tuple(column.vocabulary[code] for code in used.tolist())
