"""What comments say of sentences: their ids, the names of their documents, their genres."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Codes
from deadheat.errors import InputError

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
    per_sentence = said_in_comments(corpus, _GENRE, "genre") or _from_ids(corpus)
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


def _from_ids(corpus: Corpus) -> list[str] | None:
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
