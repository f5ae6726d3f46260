"""New corpora from old ones: some of the sentences, other labels, several corpora as one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from deadheat.corpus.corpus import Comments, Corpus, Extras
from deadheat.corpus.vocabulary import Codes, Column, Indices, Vocabulary
from deadheat.errors import InputError

BLOCK = 1 << 11  # sentences: small enough that memory is used again and not asked for anew


def take(corpus: Corpus, sentences: ArrayLike) -> Corpus:
    r"""The sentences of these numbers (or where a mask is true), in this order, each with its comments and extras.

    The vocabularies are shared with the whole, so a word has the same code in every selection. Lines after the last
    sentence belong to none and stay behind, and no selection lacks the newline at its end.

    Examples
    --------
    >>> from deadheat.corpus import read, to_bytes
    >>> to_bytes(take(read(text="a_DT\nheat_NN\nis_VBZ\n"), [2, 0]))
    b'is_VBZ\na_DT\n'
    """
    given = np.asarray(sentences)
    if given.dtype == bool and len(given) != corpus.sentences:
        raise InputError(f"{corpus.name}: a mask of {len(given)} sentences; expected {corpus.sentences}")
    chosen = np.flatnonzero(given) if given.dtype == bool else given.astype(np.int64)
    if len(chosen) and not 0 <= int(chosen.min()) <= int(chosen.max()) < corpus.sentences:
        worst = int(chosen.max() if chosen.max() >= corpus.sentences else chosen.min())
        raise InputError(f"{corpus.name}: sentence {worst}; expected 0 to {corpus.sentences - 1}")
    words, offsets = _gathered(corpus.offsets, chosen)
    return replace(
        corpus,
        columns={
            name: Column(np.take(column.codes, words), column.vocabulary) for name, column in corpus.columns.items()
        },
        offsets=offsets,
        heads=None if corpus.heads is None else np.take(corpus.heads, words),
        extras=_extras(corpus, chosen, offsets),
        comments=_comments(corpus.comments, chosen),
        newdoc=np.take(corpus.newdoc, chosen),
        layout=replace(corpus.layout, missing_end=b""),
        parts=(),
    )


def _gathered(offsets: Indices, chosen: Indices) -> tuple[Indices, Indices]:
    """The items of the chosen ranges, one after the other, and the offsets of the ranges among them."""
    lengths = offsets[chosen + 1] - offsets[chosen]
    new = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(lengths, out=new[1:])
    shift = np.repeat(offsets[chosen] - new[:-1], lengths)
    return shift + np.arange(len(shift)), new


def _comments(comments: Comments, chosen: Indices) -> Comments:
    """Copied a block of sentences at a time: the place of every byte at once would take eight times the bytes."""
    offsets = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(comments.offsets[chosen + 1] - comments.offsets[chosen], out=offsets[1:])
    blob = np.empty(int(offsets[-1]), np.uint8)
    for start in range(0, len(chosen), BLOCK):
        here = chosen[start : start + BLOCK]
        blob[offsets[start] : offsets[start + len(here)]] = comments.blob[_gathered(comments.offsets, here)[0]]
    return Comments(blob, offsets)


def _extras(corpus: Corpus, chosen: Indices, offsets: Indices) -> Extras:
    extras = corpus.extras
    bounds = np.concatenate([np.zeros(1, np.int64), extras.ends])
    picked, ends = _gathered(bounds, chosen)
    moved = np.repeat(offsets[:-1] - corpus.offsets[chosen], bounds[chosen + 1] - bounds[chosen])
    return Extras(extras.at[picked] + moved, extras.span[picked], np.take(extras.codes, picked, axis=0), ends[1:])


def with_labels(corpus: Corpus, name: str, labels: Column) -> Corpus:
    """A corpus with other labels in one column of its words; empty nodes and multiword tokens keep theirs.

    Those share the vocabulary of the column, so new labels are put behind the old ones.
    """
    old = corpus.column(name).vocabulary
    if len(corpus.extras):
        place = old.codes_of(labels.vocabulary)
        new = np.flatnonzero(place < 0)
        place[new] = len(old) + np.arange(len(new))
        both = Vocabulary.of([*old.strings, *(labels.vocabulary[code] for code in new.tolist())]) if len(new) else old
        labels = Column(place[labels.codes], both)
    return replace(corpus, columns={**corpus.columns, name: labels})


def with_trees(corpus: Corpus, heads: Codes, relations: Column) -> Corpus:
    """A corpus with other heads and relations of its words."""
    return replace(with_labels(corpus, "deprel", relations), heads=np.asarray(heads, np.int32))
