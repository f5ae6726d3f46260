"""The files that a program of `command.v1` reads and writes: made in its format, blanked, read back and checked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from deadheat.corpus.corpus import Comments, Corpus, Extras, Layout
from deadheat.corpus.reading import LENIENT_MODES, read
from deadheat.corpus.vocabulary import Codes, Column, Vocabulary
from deadheat.errors import AlignmentError, InputError, NameUnknown
from deadheat.kernels.scanning import STRING_COLUMNS
from deadheat.text import pluralize

FORMATS = ("auto", "conllu", "columns", "tagged")
_SUFFIXES = {"columns": ".tsv", "tagged": ".tagged"}


def suffix_of(corpus: Corpus) -> str:
    """How the name of a file with this corpus ends."""
    return _SUFFIXES.get(corpus.layout.format, f".{corpus.layout.format}")


def in_format(corpus: Corpus, column: str, format: str) -> Corpus:
    """A corpus as it is if it has the format; else its words and one column of it in that format."""
    labels = corpus.column(column)
    if format in ("auto", corpus.layout.format):
        return corpus
    columns = {"form": corpus.column("form"), column: labels}
    layout = Layout(format, separator="_" if format == "tagged" else "\t")
    if format == "conllu":
        if column not in STRING_COLUMNS:
            raise NameUnknown("command.v1: column of format='conllu'", column, STRING_COLUMNS)
        nothing = Column(np.zeros(corpus.words, np.int32), Vocabulary.of(["_"]))
        columns = {name: columns.get(name, nothing) for name in STRING_COLUMNS}
    if format == "tagged":
        _check_parts(corpus, columns)
        columns = {"form": columns["form"], "tag": labels}
    return replace(
        corpus,
        columns=columns,
        heads=None,
        extras=Extras(
            np.empty(0, np.int64),
            np.empty(0, np.int32),
            np.empty((0, len(columns)), np.int32),
            np.zeros(corpus.sentences, np.int64),
        ),
        comments=Comments(np.empty(0, np.uint8), np.zeros(corpus.sentences + 1, np.int64)),
        newdoc=np.zeros(corpus.sentences, bool),
        layout=layout,
    )


def _check_parts(corpus: Corpus, columns: dict[str, Column]) -> None:
    """Tagged text has spaces between words, and `_` between a word and its label."""
    for (name, column), forbidden in zip(columns.items(), (" \t", " \t_"), strict=True):
        frequencies = column.frequencies()
        for code, text in enumerate(column.vocabulary.strings):
            if frequencies[code] and (not text or not set(forbidden).isdisjoint(text)):
                path, line = corpus.line_of_word(int(np.argmax(column.codes == code)))
                expected = "no space in words and labels, and no `_` in labels"
                raise InputError(f"{path}:{line}: {name} {text!r}; expected {expected}, to write tagged text")


def label_column(corpus: Corpus, column: str) -> str:
    """The name of the labels in a corpus that `in_format` made."""
    return "tag" if corpus.layout.format == "tagged" else column


def blank_in(corpus: Corpus, format: str) -> str:
    """What stands for no label: `_`, but in tagged text, whose mark that is, it would read as a part of the word."""
    if corpus.layout.format == "tagged" and format in ("auto", "tagged"):
        return "-" if corpus.layout.separator == "_" else "_"
    return "-" if format == "tagged" else "_"


def without_labels(corpus: Corpus, column: str, blank: str) -> Corpus:
    """The corpus with no label on any word, multiword token or empty node."""
    codes = corpus.extras.codes.copy()
    codes[:, list(corpus.columns).index(column)] = 0
    nothing = Column(np.zeros(corpus.words, np.int32), Vocabulary.of([blank]))
    return replace(corpus, columns={**corpus.columns, column: nothing}, extras=replace(corpus.extras, codes=codes))


def read_back(path: Path, request: Corpus) -> Corpus:
    """What a program wrote, in the format of what it was given. Of trees nothing is asked: they are not looked at."""
    if not path.is_file():
        raise InputError(f"{path}: was not written; expected the words of the input with labels")
    format = request.layout.format
    if format in ("conllu", "conllx"):
        return read(path, format=format, lenient=LENIENT_MODES)
    columns = tuple(request.columns) if format == "columns" else None
    return read(path, format=format, columns=columns, separator=request.layout.separator)


def check_same_words(request: Corpus, response: Corpus) -> None:
    """Whether a program wrote the words it was given, in the same sentences."""
    forms, others = request.column("form"), response.column("form")
    renumbered: Codes = forms.vocabulary.codes_of(others.vocabulary)[others.codes]
    size = min(len(forms), len(others))
    different = np.flatnonzero(forms.codes[:size] != renumbered[:size])
    sentences = min(request.sentences, response.sentences)
    misaligned = np.flatnonzero(request.offsets[1 : sentences + 1] != response.offsets[1 : sentences + 1])
    ends = np.minimum(request.offsets[misaligned + 1], response.offsets[misaligned + 1])
    if len(different) and (not len(ends) or different[0] < ends[0]):
        word = int(different[0])
        path, line = response.line_of_word(word)
        wrong, right = others.vocabulary[int(others.codes[word])], forms.vocabulary[int(forms.codes[word])]
        raise AlignmentError(f"{path}:{line}: word {wrong!r}; expected {right!r} as in the input")
    if len(misaligned):
        sentence = int(misaligned[0])
        path, line = response.line_of_word(int(response.offsets[sentence]))
        actual, expected = (int(np.diff(corpus.offsets)[sentence]) for corpus in (response, request))
        has = f"sentence {sentence + 1} has {pluralize(actual, 'word')}"
        raise AlignmentError(f"{path}:{line}: {has}; expected {expected} as in the input")
    if request.sentences != response.sentences:
        has = pluralize(response.sentences, "sentence")
        raise AlignmentError(f"{response.name}: {has}; expected {request.sentences:,} as in the input")
