"""Files between us and a program: what it learns from, the text that it gets to label, and what it writes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from deadheat.corpus.corpus import Comments, Corpus, Extras, Layout
from deadheat.corpus.reading import LENIENT_MODES, read
from deadheat.corpus.transforms import with_labels
from deadheat.corpus.unlabelled import ROWS, no_label, unlabelled, with_rows
from deadheat.corpus.vocabulary import Codes, Column, Vocabulary
from deadheat.corpus.writing import to_bytes, write_bytes
from deadheat.errors import AlignmentError, CorpusError, InputError, NameUnknown
from deadheat.kernels.scanning import STRING_COLUMNS
from deadheat.systems.baselines import sorted_labels
from deadheat.systems.system import TREE_COLUMNS, TREES, split_names
from deadheat.text import pluralize
from deadheat.trees import require_trees

FORMATS = ("auto", "conllu", "columns", "tagged")
INPUTS = ("blank", "chain", "words")
SUFFIXES = {"columns": ".tsv", "tagged": ".tagged"}  # where they are not the name of the format
TREE_FORMATS = ("conllu", "conllx")
HEAD, RELATION, COMMENTS, ALL = "head", "deprel", "comments", "all"
CHAIN = ("root", "dep")  # relations of the chain that stands for a tree: of the first word, and of the others
LONG = 3  # words of a sentence for which nobody predicts this chain by chance


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a program predicts and may read, and how its files look; see the settings of `command`."""

    predicts: tuple[str, ...]
    reads: tuple[str, ...] = ()
    rows: str = "tokens"
    input: str = "blank"
    format: str = "auto"

    @classmethod
    def of(cls, column: str, reads: str, **settings: str) -> Exchange:
        """An exchange by its settings."""
        seen = (part for name in split_names(reads) for part in ((HEAD, RELATION) if name == TREES else (name,)))
        exchange = cls(split_names(column), tuple(seen), **settings)
        exchange._check_settings()
        return exchange

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are predicted, with the relations of trees."""
        return tuple(RELATION if name == TREES else name for name in self.predicts)

    @property
    def hidden(self) -> frozenset[str]:
        """What the program must not see in a text to label: the columns, and `head`; the enhanced graphs have both."""
        graphs = TREE_COLUMNS if RELATION in self.columns else ()
        return frozenset({*self.columns, *graphs, *([HEAD] if TREES in self.predicts else [])})

    def _check_settings(self) -> None:
        for setting, value, known in (
            ("rows", self.rows, ROWS),
            ("input", self.input, INPUTS),
            ("format", self.format, FORMATS),
        ):
            if value not in known:
                raise NameUnknown(setting, value, known)
        columns, trees = f"column={','.join(self.predicts)!r}", TREES in self.predicts
        if not self.columns or len(set(self.columns)) < len(self.columns) or {"form", HEAD} & {*self.columns}:
            raise InputError(f"{columns}; expected each name once, as in 'upos,feats', and 'trees' for heads")
        if trees and self.format in SUFFIXES:
            raise InputError(f"{columns}, format={self.format!r}; expected CoNLL-U for trees")
        if self.format == "tagged" and len(self.columns) > 1:
            raise InputError(f"{columns}, format='tagged'; expected one column in tagged text")
        for name in self.reads:
            if name in self.hidden:
                raise InputError(f"reads: {name} shows what is predicted ({columns}); expected other columns")
        needs_trees = self.input == "chain"
        if (needs_trees and self.format in SUFFIXES) or (self.input == "words" and self.format == "conllu"):
            expected = "CoNLL-U" if needs_trees else "columns or tagged text"
            raise InputError(f"input={self.input!r}, format={self.format!r}; expected {expected}")
        unseen = {"blank": set(), "chain": set() if trees else {HEAD, RELATION, ALL}, "words": {*self.reads}}[
            self.input
        ]
        for name in self.reads:
            if name in unseen:
                raise InputError(f"reads={name!r}, which input={self.input!r} does not show; expected input='blank'")

    def check(self, corpus: Corpus) -> None:
        """Refuse a corpus without what is to be learned or read."""
        for name in (*self.columns, *self.reads):
            if name not in (HEAD, ALL, COMMENTS):
                corpus.column(name)
        if TREES in self.predicts or HEAD in self.reads:
            _ = corpus.trees  # raises where words have no heads
        format = corpus.layout.format if self.format == "auto" else self.format
        if self.input != "blank" and (self.input == "chain") != (format in TREE_FORMATS):
            expected = "CoNLL-U" if self.input == "chain" else "columns or tagged text"
            raise InputError(f"{corpus.name}: input={self.input!r} for files in format {format}; expected {expected}")

    def for_training(self, corpus: Corpus) -> Corpus:
        """A corpus to learn from, with all its columns where the format has them."""
        return self._in_format(with_rows(corpus, self.rows))

    def request(self, corpus: Corpus) -> Corpus:
        """A corpus to label: its text and what the program may read."""
        keep = {COMMENTS, HEAD, *corpus.columns} if ALL in self.reads else {*self.reads}
        same = self.format in ("auto", corpus.layout.format)
        blank = no_label(corpus) if same else "-" if self.format == "tagged" else "_"
        text = unlabelled(corpus, keep=keep - self.hidden, rows=self.rows, blank=blank)
        if self.input == "chain":
            heads = np.arange(corpus.words) - np.repeat(corpus.offsets[:-1], np.diff(corpus.offsets))
            relations = Column((heads > 0).astype(np.int32), Vocabulary.of(CHAIN))
            text = replace(with_labels(text, RELATION, relations), heads=heads.astype(np.int32))
        return self._in_format(text)

    def write_request(self, request: Corpus, path: Path) -> None:
        """Write a text to label; words alone have no blanks either."""
        data = to_bytes(request, mend=True)
        if self.input == "words":
            words = request.column("form").strings()
            between, end = (" ", "\n") if request.layout.format == "tagged" else ("\n", "\n\n")
            sentences = (between.join(words[a:b]) + end for a, b in pairwise(request.offsets.tolist()))
            data = "".join(sentences).encode()
        write_bytes(path, data)

    def _in_format(self, corpus: Corpus) -> Corpus:
        """A corpus as it is if it has the format; else its words, what is read, and what is predicted."""
        if self.format in ("auto", corpus.layout.format):
            return corpus
        if self.format == "conllu" and corpus.layout.format in TREE_FORMATS:
            return replace(corpus, layout=replace(corpus.layout, format="conllu"))
        read = [name for name in corpus.columns if name in self.reads or ALL in self.reads]
        columns = {name: corpus.column(name) for name in dict.fromkeys(["form", *read, *self.columns])}
        layout = Layout(self.format, separator="_" if self.format == "tagged" else "\t")
        if self.format == "conllu":
            for name in self.columns:
                if name not in STRING_COLUMNS:
                    raise NameUnknown("column of format='conllu'", name, STRING_COLUMNS)
            nothing = Column(np.zeros(corpus.words, np.int32), Vocabulary.of(["_"]))
            columns = {name: columns.get(name, nothing) for name in STRING_COLUMNS}
        if self.format == "tagged":
            columns = {name: columns[name] for name in ("form", *self.columns)}
            _check_parts(corpus, columns)
            columns = dict(zip(("form", "tag"), columns.values(), strict=True))
        ends, codes = np.zeros(corpus.sentences, np.int64), np.empty((0, len(columns)), np.int32)
        extras = Extras(np.empty(0, np.int64), np.empty(0, np.int32), codes, ends)
        comments = Comments(np.empty(0, np.uint8), np.zeros(corpus.sentences + 1, np.int64))
        newdoc = np.zeros(corpus.sentences, bool)
        return replace(
            corpus, columns=columns, heads=None, extras=extras, comments=comments, newdoc=newdoc, layout=layout
        )

    def read_back(self, path: Path, request: Corpus, labels: Mapping[str, frozenset[str]], *, roots: bool) -> Corpus:
        """What a program wrote, in the format of what it was given, with the same words.

        Parameters
        ----------
        labels
            The labels of training by column. A program that gives every word a blank, which is none of them, has not
            labelled the text.
        roots
            Whether a predicted tree may have several roots. Trees that are not asked for may have them, or be missing.
        """
        if not path.is_file():
            raise InputError(f"{path}: was not written; expected the words of the input with labels")
        try:
            response = self._read(path, request)
            check_same_words(request, response)
            if TREES in self.predicts and not roots:
                require_trees(response)
        except CorpusError as error:
            raise InputError(_in_one_line(error)) from error
        for name, column in self._predicted(response).items():
            if set(sorted_labels(column)[0]) == {no_label(request)} - labels[name]:
                where = f" in {name}" if len(self.columns) > 1 else ""
                raise InputError(f"{path}: no word has a label{where}; expected one on every word")
        if self.input == "chain" and TREES in self.predicts and _same_trees(request, response):
            raise InputError(f"{path}: every tree is the chain of the input; expected predicted trees")
        return response

    def _read(self, path: Path, request: Corpus) -> Corpus:
        format = request.layout.format
        if format in TREE_FORMATS:
            modes = {*LENIENT_MODES} - ({"missing-heads"} if TREES in self.predicts else set())
            return read(path, format=format, lenient=modes)
        columns = tuple(request.columns) if format == "columns" else None
        return read(path, format=format, columns=columns, separator=request.layout.separator)

    def _predicted(self, response: Corpus) -> dict[str, Column]:
        """The columns that a program predicted, by their names in the corpus; tagged text has one, `tag`."""
        tagged = response.layout.format == "tagged"
        return {name: response.column("tag" if tagged else name) for name in self.columns}

    def apply(self, response: Corpus, corpus: Corpus) -> Corpus:
        """The corpus with what the program predicted. All else stays, also rows that the program did not see."""
        for name, column in self._predicted(response).items():
            corpus = with_labels(corpus, name, column)
        return replace(corpus, heads=response.trees) if TREES in self.predicts else corpus


def suffix_of(corpus: Corpus) -> str:
    """How the name of a file with this corpus ends."""
    return SUFFIXES.get(corpus.layout.format, f".{corpus.layout.format}")


def _check_parts(corpus: Corpus, columns: dict[str, Column]) -> None:
    """Tagged text has spaces between words, and `_` between a word and its label."""
    for (name, column), forbidden in zip(columns.items(), (" \t", " \t_"), strict=True):
        frequencies = column.frequencies()
        for code, text in enumerate(column.vocabulary.strings):
            if frequencies[code] and (not text or not set(forbidden).isdisjoint(text)):
                path, line = corpus.line_of_word(int(np.argmax(column.codes == code)))
                expected = "no space in words and labels, and no `_` in labels"
                raise InputError(f"{path}:{line}: {name} {text!r}; expected {expected}, to write tagged text")


def _in_one_line(error: CorpusError) -> str:
    """The first error of a file, and how many more there are."""
    more = len(error.faults) - 1 + sum(error.more.values())
    return f"{error.faults[0]} (and {pluralize(more, 'more error')})" if more else str(error.faults[0])


def _same_trees(request: Corpus, response: Corpus) -> bool:
    """Whether all trees came back as they were given, and one is so long that nobody predicts it by chance."""
    same = np.array_equal(request.trees, response.trees)
    labels = (corpus.column(RELATION).strings() for corpus in (request, response))
    return same and bool(np.diff(request.offsets).max() >= LONG) and next(labels) == next(labels)


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
