"""Size and annotation of a corpus, and what is missing from it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.documents import find_documents, genres, sent_ids
from deadheat.corpus.vocabulary import Column
from deadheat.errors import InputError
from deadheat.kernels.trees import PROJECTIVITY_ARRAYS, non_projective

TAG_COLUMNS = ("upos", "xpos", "tag", "chunk", "ner")
NAMES = {"form": "forms", "lemma": "lemmas", "upos": "UPOS", "xpos": "XPOS", "feats": "features", "deprel": "relations"}


@dataclass(frozen=True, slots=True)
class Info:
    """The size and annotation of a corpus."""

    name: str
    files: tuple[str, ...]
    format: str
    sentences: int
    words: int
    tokens: int  # a multiword token counts as one
    multiword_tokens: int
    empty_nodes: int
    documents: int | None  # None if the files do not mark documents; those with the same id are one
    document_marks: int
    genres: Mapping[str, int]  # words by genre
    types: int  # distinct forms
    tags: Mapping[str, int]  # number of different tags by column
    relations: int
    nonprojective_sentences: float | None  # share; None without heads
    nonprojective_words: float | None  # share of words with a non-projective arc to their head
    longest: int
    longest_at: str  # file and line of the longest sentence
    mean_length: float
    missing: tuple[str, ...]  # missing annotation, as short phrases

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; the mean length is None if there are no sentences."""
        return asdict(self) | {"mean_length": None if math.isnan(self.mean_length) else self.mean_length}

    def __str__(self) -> str:
        lines = list(self._lines())
        wide = max(len(label) for label, _, _ in lines)
        digits = max(len(figure) for _, figure, _ in lines)
        body = [f"  {label:<{wide}}  {figure:>{digits}}  {note}".rstrip() for label, figure, note in lines]
        missing = [f"  missing: {', '.join(self.missing)}"] if self.missing else []
        return "\n".join([f"{self.name} ({self.format})", *body, *missing])

    def _lines(self) -> Iterator[tuple[str, str, str]]:
        """Yield label, figure and note of each line of the listing."""
        if len(self.files) > 1:
            yield "files", f"{len(self.files):,}", ""
        if self.documents is not None:
            repeated = (
                f"in {self.document_marks:,} pieces, by their ids" if self.document_marks > self.documents else ""
            )
            yield "documents", f"{self.documents:,}", repeated
        average = f"{self.mean_length:.1f} words on average" if self.sentences else ""
        yield "sentences", f"{self.sentences:,}", average
        if self.sentences:
            yield "longest sentence", f"{self.longest:,}", f"words, at {self.longest_at}"
        yield "words", f"{self.words:,}", ""
        if self.multiword_tokens:
            yield "tokens", f"{self.tokens:,}", f"of which {self.multiword_tokens:,} of several words"
        if self.empty_nodes:
            yield "empty nodes", f"{self.empty_nodes:,}", ""
        yield "types", f"{self.types:,}", ""
        for column, number in self.tags.items():
            yield "tags" if column == "tag" else f"{NAMES.get(column, column)} tags", f"{number:,}", ""
        if self.relations:
            yield "relations", f"{self.relations:,}", ""
        if self.nonprojective_sentences is not None and self.nonprojective_words is not None:
            arcs = f"of sentences, {self.nonprojective_words:.1%} of words"
            yield "non-projective", f"{self.nonprojective_sentences:.1%}", arcs
        if self.genres:
            yield "genres", f"{len(self.genres):,}", ""
        for name, words in self.genres.items():
            yield f"  {name}", f"{words:,}", "words"


def info(corpus: Corpus) -> Info:
    r"""Describe the size and annotation of a corpus.

    Examples
    --------
    >>> from deadheat.corpus import read
    >>> print(info(read(text="The_DT heat_NN is_VBZ dead_JJ\nDead_JJ heat_NN\n")))
    text (tagged)
      sentences         2  3.0 words on average
      longest sentence  4  words, at text:1
      words             6
      types             5
      tags              4
    """
    lengths = np.diff(corpus.offsets)
    longest = int(np.argmax(lengths)) if corpus.sentences else None
    spans = corpus.extras.span
    multiword = int(np.count_nonzero(spans > 0))
    in_multiword = int(spans[spans > 0].sum(dtype=np.int64))
    distinct = {name: _distinct(column) for name, column in corpus.columns.items()}
    tags = {name: distinct[name] for name in TAG_COLUMNS if distinct.get(name)}
    sentences_share, words_share = _non_projective(corpus)
    return Info(
        name=corpus.name,
        files=tuple(part.path for part in corpus.parts),
        format=corpus.layout.format,
        sentences=corpus.sentences,
        words=corpus.words,
        tokens=corpus.words - in_multiword + multiword,
        multiword_tokens=multiword,
        empty_nodes=len(spans) - multiword,
        documents=len(find_documents(corpus, "newdoc") or ()) if corpus.has_documents else None,
        document_marks=int(corpus.documents[-1]) + 1 if corpus.has_documents else 0,
        genres=_words_by_genre(corpus),
        types=int(np.count_nonzero(corpus.column("form").frequencies())),
        tags=tags,
        relations=distinct.get("deprel", 0),
        nonprojective_sentences=sentences_share,
        nonprojective_words=words_share,
        longest=0 if longest is None else int(lengths[longest]),
        longest_at="" if longest is None else corpus.location(longest),
        mean_length=corpus.words / corpus.sentences if corpus.sentences else math.nan,
        missing=tuple(_missing(corpus, distinct)),
    )


def _distinct(column: Column) -> int:
    """Count the different values in a column, without `_`."""
    counts = column.frequencies()
    nothing = column.vocabulary.find("_")
    return int(np.count_nonzero(counts)) - bool(nothing >= 0 and counts[nothing])


def _words_by_genre(corpus: Corpus) -> dict[str, int]:
    try:
        codes, names = genres(corpus)
    except InputError:
        return {}
    words = np.bincount(codes, weights=np.diff(corpus.offsets), minlength=len(names))
    return dict(zip(names, words.astype(int).tolist(), strict=True))


def _non_projective(corpus: Corpus) -> tuple[float | None, float | None]:
    """Return the shares of sentences and of words, among those with heads."""
    if corpus.heads is None or not corpus.words:
        return None, None
    longest = int(np.diff(corpus.offsets).max())
    arcs = np.empty(corpus.sentences, np.int32)
    workspace = np.empty(PROJECTIVITY_ARRAYS * (longest + 1), np.int32)
    crossing = non_projective(corpus.heads, corpus.offsets, workspace, arcs)
    parsed = corpus.heads[corpus.offsets[:-1]] >= 0
    words = int(np.count_nonzero(corpus.heads >= 0))
    return np.count_nonzero(arcs) / int(parsed.sum()), crossing / words


def _missing(corpus: Corpus, distinct: Mapping[str, int]) -> Iterator[str]:
    if not corpus.words:
        yield "no words"
        return
    for column, number in distinct.items():
        if not number and column not in ("deps", "misc"):
            yield f"no {NAMES.get(column, column)}"
    if corpus.layout.format in ("conllu", "conllx"):
        headless = corpus.sentences
        if corpus.heads is not None:
            headless = int(np.count_nonzero(corpus.heads[corpus.offsets[:-1]] < 0))
        if headless:
            yield "no heads" if headless == corpus.sentences else f"no heads in {headless:,} sentences"
    if corpus.layout.format == "conllu" and not any(sent_ids(corpus)):
        yield "no sentence ids"
    if corpus.layout.format != "tagged" and not corpus.has_documents:
        yield "no document marks"
    if corpus.layout.missing_end:
        whole = corpus.layout.format == "tagged" or corpus.comments.tail
        yield "final newline missing" if whole else "final empty line missing"
