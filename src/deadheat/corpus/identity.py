"""What a corpus is, whatever file it came from: a hash of its text, and one of all it says."""

from __future__ import annotations

import hashlib
from itertools import pairwise

import numpy as np

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Codes, Vocabulary


def text_hash(corpus: Corpus, *, first: int = 0, last: int | None = None) -> str:
    r"""The identity of a text: a hash of its words and of where its sentences end, and of nothing else.

    Labels, comments, line ends, compression and file format do not matter, so that a copy without labels is the same
    text. It is the SHA-256 of every word followed by a newline, with one more newline after each sentence, as `cut -f2`
    makes it of a CoNLL-U file without comments, multiword tokens and empty nodes.

    Parameters
    ----------
    first, last
        The sentences to hash, `last` not included; by default all.

    Examples
    --------
    >>> import hashlib
    >>> from deadheat.corpus import read
    >>> text_hash(read(text="the_DT heat_NN\n")) == hashlib.sha256(b"the\nheat\n\n").hexdigest()
    True
    """
    form, offsets = corpus.column("form"), corpus.offsets[first : None if last is None else last + 1]
    blob, bounds = form.vocabulary.blob.tobytes(), form.vocabulary.offsets.tolist()
    spelled = [blob[a:b] + b"\n" for a, b in pairwise(bounds)]
    spelled.append(b"\n")  # the end of a sentence
    words = form.codes[offsets[0] : offsets[-1]]
    codes = np.insert(words, offsets[1:] - offsets[0], len(form.vocabulary))
    return hashlib.sha256(b"".join(map(spelled.__getitem__, codes.tolist()))).hexdigest()


def content_hash(corpus: Corpus) -> str:
    r"""The identity of an annotated text: words, sentences, all columns, heads, multiword tokens and empty nodes.

    How columns are numbered, comments, line ends and compression do not matter.

    Examples
    --------
    >>> from deadheat.corpus import read
    >>> one, two = read(text="the_DT heat_NN\n"), read(text="the_DT heat_VB\n")
    >>> content_hash(one) == content_hash(two), text_hash(one) == text_hash(two)
    (False, True)
    """
    found = hashlib.sha256()
    extras = corpus.extras
    for array in (corpus.offsets, extras.at, extras.span, extras.ends):
        _add(found, array)
    _add(found, np.full(corpus.words, -1, np.int32) if corpus.heads is None else corpus.heads)
    for i, (name, column) in enumerate(corpus.columns.items()):
        found.update(name.encode() + b"\n")
        codes = np.concatenate([column.codes, extras.codes[:, i]]) if len(extras) else column.codes
        numbered, lengths, strings = _spelled_once(codes, column.vocabulary)
        _add(found, numbered)
        _add(found, lengths)
        _add(found, strings)
    return found.hexdigest()


def _add(found: hashlib._Hash, array: np.ndarray) -> None:
    """An array with its length, so that two arrays in a row are not taken for two others."""
    plain = array if array.dtype == np.uint8 else array.astype("<i4")  # no corpus has 2**31 words
    found.update(len(array).to_bytes(8, "little"))
    found.update(plain.tobytes())


def _spelled_once(codes: Codes, vocabulary: Vocabulary) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The codes numbered by where a string first occurs, and the lengths and bytes of the strings in that order."""
    first = np.full(len(vocabulary), len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last assignment stays: the first occurrence
    order = np.argsort(first, kind="stable")[: int(np.count_nonzero(first < len(codes)))]
    number = np.empty(len(vocabulary), np.int32)
    number[order] = np.arange(len(order))
    lengths = np.diff(vocabulary.offsets)[order]
    ends = np.cumsum(lengths)
    at = np.repeat(vocabulary.offsets[order] - (ends - lengths), lengths) + np.arange(int(lengths.sum()))
    return number[codes], lengths, vocabulary.blob[at]
