"""New corpora from old ones: some of the sentences, other labels, several corpora as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from deadheat.corpus.corpus import Comments, Corpus, Extras, Part
from deadheat.corpus.vocabulary import Codes, Column, Indices, Vocabulary, offsets_of, ranges
from deadheat.errors import InputError

BLOCK = 1 << 11  # sentences copied at a time, so that memory is reused


def take(corpus: Corpus, sentences: ArrayLike) -> Corpus:
    r"""Select sentences by number or by a boolean mask, in the given order, with their comments and extra lines.

    The vocabularies are shared with the whole corpus, so a word has the same code in every selection. Lines after the
    last sentence are left out, and a selection never lacks its final newline.

    Examples
    --------
    >>> from deadheat.corpus import read, to_bytes
    >>> to_bytes(take(read(text="a_DT\nheat_NN\nis_VBZ\n"), [2, 0]))
    b'is_VBZ\na_DT\n'
    """
    selection = np.asarray(sentences)
    if selection.dtype == bool and len(selection) != corpus.sentences:
        raise InputError(f"{corpus.name}: a mask of {len(selection)} sentences; expected {corpus.sentences}")
    chosen = np.flatnonzero(selection) if selection.dtype == bool else selection.astype(np.int64)
    if len(chosen) and not 0 <= int(chosen.min()) <= int(chosen.max()) < corpus.sentences:
        worst = int(chosen.max() if chosen.max() >= corpus.sentences else chosen.min())
        raise InputError(f"{corpus.name}: sentence {worst}; expected 0 to {corpus.sentences - 1}")
    lengths = np.diff(corpus.offsets)[chosen]
    words, offsets = ranges(corpus.offsets[chosen], lengths), offsets_of(lengths)
    return replace(
        corpus,
        columns={
            name: Column(np.take(column.codes, words), column.vocabulary) for name, column in corpus.columns.items()
        },
        offsets=offsets,
        heads=None if corpus.heads is None else np.take(corpus.heads, words),
        extras=_select_extras(corpus, chosen, offsets),
        comments=_select_comments(corpus.comments, chosen),
        newdoc=np.take(corpus.newdoc, chosen),
        layout=replace(corpus.layout, missing_end=b""),
        parts=(),
    )


def _select_comments(comments: Comments, chosen: Indices) -> Comments:
    # In blocks of sentences: an index for every byte at once would take eight times the memory of the bytes.
    lengths = np.diff(comments.offsets)[chosen]
    offsets = offsets_of(lengths)
    blob = np.empty(int(offsets[-1]), np.uint8)
    for start in range(0, len(chosen), BLOCK):
        block = slice(start, start + BLOCK)
        at = ranges(comments.offsets[chosen[block]], lengths[block])
        blob[offsets[start] : offsets[start] + len(at)] = comments.blob[at]
    return Comments(blob, offsets)


def _select_extras(corpus: Corpus, chosen: Indices, offsets: Indices) -> Extras:
    extras = corpus.extras
    starts = np.concatenate([np.zeros(1, np.int64), extras.ends])
    counts = np.diff(starts)[chosen]
    selected = ranges(starts[chosen], counts)
    shift = np.repeat(offsets[:-1] - corpus.offsets[chosen], counts)
    codes = np.take(extras.codes, selected, axis=0)
    return Extras(extras.at[selected] + shift, extras.span[selected], codes, np.cumsum(counts))


def with_labels(corpus: Corpus, name: str, labels: Column) -> Corpus:
    """Replace the labels of all words in one column; empty nodes and multiword tokens keep theirs.

    These share the vocabulary of the column, so new labels are appended to the old ones.
    """
    old = corpus.column(name).vocabulary
    if len(corpus.extras):
        codes = old.codes_of(labels.vocabulary)
        new = np.flatnonzero(codes < 0)
        codes[new] = len(old) + np.arange(len(new))
        both = Vocabulary.of([*old.strings, *(labels.vocabulary[code] for code in new.tolist())]) if len(new) else old
        labels = Column(codes[labels.codes], both)
    return replace(corpus, columns={**corpus.columns, name: labels})


def with_trees(corpus: Corpus, heads: Codes, relations: Column) -> Corpus:
    """Replace the heads and relations of all words."""
    return replace(with_labels(corpus, "deprel", relations), heads=np.asarray(heads, np.int32))


def concatenate(corpora: Sequence[Corpus]) -> Corpus:
    """Join several corpora in order; their columns must have the same names."""
    first = corpora[0]
    for other in corpora[1:]:
        if other.layout.format != first.layout.format:
            expected = f"{first.layout.format} as {first.name} is"
            raise InputError(f"{other.name}: format {other.layout.format}; expected {expected}")
        if list(other.columns) != list(first.columns):
            expected = f"{', '.join(first.columns)} as in {first.name}"
            raise InputError(f"{other.name}: columns {', '.join(other.columns)}; expected {expected}")
    columns, maps = {}, []
    for name in first.columns:
        columns[name], new_codes = _join_columns([corpus.columns[name] for corpus in corpora])
        maps.append(new_codes)
    crlf = all(corpus.layout.crlf for corpus in corpora if corpus.sentences or corpus.comments.tail)
    comments = [c.comments if c.layout.crlf == crlf else _without_returns(c.comments) for c in corpora]
    return replace(
        first,
        name=f"{first.name} and {len(corpora) - 1} more",
        columns=columns,
        offsets=_join_offsets([corpus.offsets for corpus in corpora]),
        heads=_join_heads(corpora),
        extras=_join_extras(corpora, maps),
        comments=Comments(
            np.concatenate([part.blob for part in comments]),
            _join_offsets([part.offsets for part in comments]),
            b"".join(part.tail for part in comments),
        ),
        newdoc=np.concatenate([corpus.newdoc for corpus in corpora]),
        layout=replace(first.layout, crlf=crlf, missing_end=corpora[-1].layout.missing_end),
        parts=tuple(
            Part(part.path, start + part.first)
            for corpus, start in zip(corpora, np.cumsum([0, *(c.sentences for c in corpora)]).tolist(), strict=False)
            for part in corpus.parts
        ),
    )


def _join_offsets(offsets: Sequence[np.ndarray]) -> np.ndarray:
    ends = np.cumsum([0, *(part[-1] for part in offsets)])
    return np.concatenate([offsets[0][:1], *(part[1:] + end for part, end in zip(offsets, ends[:-1], strict=True))])


def _join_heads(corpora: Sequence[Corpus]) -> Codes | None:
    if all(corpus.heads is None for corpus in corpora):
        return None
    return np.concatenate([np.full(c.words, np.int32(-1)) if c.heads is None else c.heads for c in corpora])


def _without_returns(comments: Comments) -> Comments:
    """Convert lines that end in CR LF to lines that end in LF."""
    newlines = np.flatnonzero(comments.blob == 10)
    returns = newlines[comments.blob[newlines - 1] == 13] - 1
    offsets = comments.offsets - np.searchsorted(returns, comments.offsets)
    return Comments(np.delete(comments.blob, returns), offsets, comments.tail.replace(b"\r\n", b"\n"))


def _join_columns(columns: Sequence[Column]) -> tuple[Column, list[np.ndarray]]:
    """Join columns under one vocabulary; also return the new code of every old one."""
    number: dict[str, int] = {}
    maps = [
        np.array([number.setdefault(string, len(number)) for string in column.vocabulary.strings], np.int32)
        for column in columns
    ]
    codes = np.concatenate([new[column.codes] for new, column in zip(maps, columns, strict=True)])
    return Column(codes, Vocabulary.of(list(number))), maps


def _join_extras(corpora: Sequence[Corpus], maps: Sequence[Sequence[np.ndarray]]) -> Extras:
    words = np.cumsum([0, *(corpus.words for corpus in corpora)])
    counts = np.cumsum([0, *(len(corpus.extras) for corpus in corpora)])
    codes = [
        np.stack([new[i][corpus.extras.codes[:, c]] for c, new in enumerate(maps)], axis=1).astype(np.int32)
        for i, corpus in enumerate(corpora)
    ]
    return Extras(
        np.concatenate([corpus.extras.at + words[i] for i, corpus in enumerate(corpora)]),
        np.concatenate([corpus.extras.span for corpus in corpora]),
        np.concatenate(codes),
        np.concatenate([corpus.extras.ends + counts[i] for i, corpus in enumerate(corpora)]),
    )
