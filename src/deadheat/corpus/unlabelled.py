"""The text of a corpus without its annotation, or with a part of it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from deadheat.corpus.corpus import Comments, Corpus, Extras
from deadheat.corpus.vocabulary import Column, Vocabulary

ROWS = ("words", "tokens", "all")  # of CoNLL-U files
# Keys of MISC that belong to the text: the spacing between words (Universal Dependencies).
SPACING = frozenset({"SpaceAfter", "SpacesAfter", "SpacesBefore", "SpacesInToken"})
_SPACES = r"(?:\\[snrtp]|\\u[0-9A-Fa-f]{4})+"
_SPACING_VALUES = {"SpaceAfter": "No|Yes", "SpacesAfter": _SPACES, "SpacesBefore": _SPACES}
_MARK = re.compile(rb"(#[ \t]*new(?:doc|par))(?:(?:[ \t]+id)?[ \t]*=[ \t]*\S+)?[ \t]*")
_SENTENCE_ID = re.compile(rb"#[ \t]*sent_id[ \t]*=[ \t]*\S+[ \t]*")
_TEXT = re.compile(rb"#[ \t]*text[ \t]*=(.*)")
_DOCUMENT = re.compile(rb"-DOCSTART-(?:[ \t].*)?")


def with_rows(corpus: Corpus, rows: str) -> Corpus:
    """The corpus with its words only (`words`), also with multiword tokens (`tokens`), or with empty nodes too (`all`).

    Words keep their enhanced graphs, also where these have paths through empty nodes.
    """
    extras = corpus.extras
    chosen = np.flatnonzero((extras.span > 0) & (rows == "tokens"))
    if rows == "all" or len(chosen) == len(extras):
        return corpus
    kept = np.cumsum(np.bincount(chosen, minlength=len(extras)))
    ends = np.where(extras.ends > 0, np.append(kept, 0)[extras.ends - 1], 0).astype(np.int64)
    return replace(corpus, extras=Extras(extras.at[chosen], extras.span[chosen], extras.codes[chosen], ends))


def unlabelled(corpus: Corpus, *, keep: Collection[str] = (), rows: str = "tokens", blank: str = "") -> Corpus:
    """The text: words, multiword tokens, and comments about the text. Other columns are blank, and no word has a head.

    Parameters
    ----------
    keep
        What stays as it is: columns, `head`, and `comments`.
    rows
        See `with_rows`. Empty nodes are annotation.
    blank
        What stands for no label, by default `_`, or `-` where that could not be read again.
    """
    tree_like = corpus.layout.format in ("conllu", "conllx")
    comments = corpus.comments if "comments" in keep else _text_comments(corpus)
    corpus = with_rows(corpus, rows)
    codes, blank = np.zeros_like(corpus.extras.codes), blank or no_label(corpus)
    columns: dict[str, Column] = {}
    for i, (name, column) in enumerate(corpus.columns.items()):
        if name == "form" or name in keep:
            columns[name] = column
            codes[:, i] = corpus.extras.codes[:, i]
        elif name == "misc" and tree_like:
            number, vocabulary = _spacing(column.vocabulary)
            columns[name] = Column(number[column.codes], vocabulary)
            codes[:, i] = number[corpus.extras.codes[:, i]]
        else:
            columns[name] = Column(np.zeros(corpus.words, np.int32), Vocabulary.of([blank]))
    return replace(
        corpus,
        columns=columns,
        heads=corpus.heads if "head" in keep else None,
        extras=replace(corpus.extras, codes=codes),
        comments=comments,
    )


def is_unlabelled(corpus: Corpus) -> bool:
    """Whether words have only a form (and the spacing around it)."""
    if corpus.heads is not None and corpus.words and int(corpus.heads.max()) >= 0:
        return False
    text_columns = {"form"} if corpus.layout.format == "columns" else {"form", "misc"}
    labels = (column for name, column in corpus.columns.items() if name not in text_columns)
    empty = {"_", no_label(corpus)}
    return all(column.vocabulary[code] in empty for column in labels for code in np.unique(column.codes).tolist())


def no_label(corpus: Corpus) -> str:
    """The symbol for no label: `word__` could not be read again, so tagged text with that separator has `word_-`."""
    return "-" if corpus.layout.format == "tagged" and corpus.layout.separator == "_" else "_"


def _spacing(misc: Vocabulary) -> tuple[np.ndarray, Vocabulary]:
    """MISC reduced to spacing: the new code of every code, and the new vocabulary."""
    numbers = {"_": 0}
    codes = []
    for misc_value in misc.strings:
        spacing = "|".join(filter(_is_spacing, misc_value.split("|")))
        codes.append(numbers.setdefault(spacing or "_", len(numbers)))
    return np.array(codes, np.int32), Vocabulary.of(list(numbers))


def _is_spacing(item: str) -> bool:
    """Whether an item of MISC is spacing, and white space its value."""
    key, _, value = item.partition("=")
    return key in SPACING and bool(re.fullmatch(_SPACING_VALUES.get(key, ".*"), value))


def _text_comments(corpus: Corpus) -> Comments:
    """The comments about text, documents and paragraphs, without what they say beside that."""
    blob, bounds = corpus.comments.blob.tobytes(), corpus.comments.offsets.tolist()
    spelled = _Spelling.of(corpus)
    kept = [
        b"".join(_comment(line, spelled, sentence) for line in blob[a:b].splitlines(keepends=True))
        for sentence, (a, b) in enumerate(pairwise(bounds))
    ]
    return Comments(np.frombuffer(b"".join(kept), np.uint8), np.cumsum([0, *map(len, kept)]).astype(np.int64))


def _comment(line: bytes, spelled: _Spelling, sentence: int) -> bytes:
    """What a copy has of a line before a sentence; any comment that is not on this list may be a label."""
    content = line.rstrip(b"\r\n")
    end = line[len(content) :]
    if not content.strip() or _SENTENCE_ID.fullmatch(content) or _MARK.fullmatch(content):
        return line
    if mark := re.match(rb"#[ \t]*new(?:doc|par)(?![^\s=])", content):
        return mark[0] + end
    if _DOCUMENT.fullmatch(content):
        return re.sub(rb"(?<=[ \t])(?!(?:O|-X-|_|-)(?![^ \t]))[^ \t]+", b"_", content) + end
    text = _TEXT.fullmatch(content)
    return line if text and _letters(text[1].decode()) == spelled.letters(sentence) else b""


@dataclass(frozen=True, slots=True)
class _Spelling:
    """The text of sentences: their words, or multiword tokens where there are some."""

    corpus: Corpus
    strings: tuple[str, ...]
    form: int  # the number of this column

    @classmethod
    def of(cls, corpus: Corpus) -> _Spelling:
        return cls(corpus, corpus.column("form").vocabulary.strings, list(corpus.columns).index("form"))

    def letters(self, sentence: int) -> str:
        """The letters and digits of a sentence."""
        extras, (first, end) = self.corpus.extras, self.corpus.offsets[sentence : sentence + 2].tolist()
        codes: list[int] = self.corpus.column("form").codes[first:end].tolist()
        rows = range(extras.ends[sentence - 1] if sentence else 0, extras.ends[sentence])
        for row in reversed([row for row in rows if extras.span[row] > 0]):
            at = int(extras.at[row]) - first
            codes[at : at + int(extras.span[row])] = [int(extras.codes[row, self.form])]
        return _letters("".join(map(self.strings.__getitem__, codes)))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))
