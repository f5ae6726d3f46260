"""Raw text for character language models: that of a corpus, with the places of its words, and that of files."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass

import numpy as np

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import reason
from deadheat.files import FileError, check_size, read_content
from deadheat.text import pluralize

NEWLINE = "\n"  # stands before and after every sentence or line
LEAST_CHARACTERS = 1000  # of a file
NO_SPACE = re.compile(r"(^|\|)SpaceAfter=No(\||$)")


@dataclass(frozen=True, slots=True, eq=False)
class RawSentences:
    """The sentences of a corpus as raw text, and where each word starts and ends in its sentence, in characters."""

    sentences: tuple[str, ...]
    offsets: Indices  # of the words of each sentence
    starts: Indices
    ends: Indices

    @classmethod
    def of(cls, corpus: Corpus) -> RawSentences:
        """Join the forms of each sentence by spaces, except where the corpus says that there is none."""
        forms = corpus.column("form").strings()
        spaced = _spaces_after(corpus, forms)
        starts, ends = np.zeros((2, len(forms)), np.int64)
        sentences = []
        for first, last in zip(corpus.offsets[:-1].tolist(), corpus.offsets[1:].tolist(), strict=True):
            pieces: list[str] = []
            at = 0
            for word in range(first, last):
                starts[word], ends[word] = at, at + len(forms[word])
                space = " " if spaced[word] and word + 1 < last else ""
                pieces += (forms[word], space)
                at = int(ends[word]) + len(space)
            sentences.append("".join(pieces))
        return cls(tuple(sentences), corpus.offsets, starts, ends)

    def text(self, sentences: Indices) -> str:
        """Some sentences as a text of one line each."""
        lines = (self.sentences[sentence].replace(NEWLINE, " ") for sentence in sentences.tolist())
        return NEWLINE.join(filter(None, lines))

    @property
    def hash(self) -> str:
        """A hash of the sentences and the places of their words."""
        digest = hashlib.sha256()
        for array in (self.offsets, self.starts, self.ends):
            digest.update(array.astype("<i8").tobytes() + b"|")
        for sentence in self.sentences:
            digest.update(len(sentence).to_bytes(8, "little") + sentence.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def _spaces_after(corpus: Corpus, forms: list[str]) -> list[bool]:
    """Whether there is a space after each word: CoNLL-U says so in MISC.

    A multiword token has the spacing of its last word, and none inside if its words add up to it (`do` and `n't`, but
    not `de` and `le` of `du`).
    """
    if "misc" not in corpus.columns:
        return [True] * len(forms)
    spaced: list[bool] = (~corpus.column("misc").which(lambda value: NO_SPACE.search(value) is not None)).tolist()
    names, extras = list(corpus.columns), corpus.extras
    form, misc = (corpus.column(name).vocabulary for name in ("form", "misc"))
    for at, span, codes in zip(extras.at.tolist(), extras.span.tolist(), extras.codes, strict=True):
        if span < 1:  # an empty node
            continue
        end = min(at + span, len(forms))
        if "".join(forms[at:end]) == form[codes[names.index("form")]]:
            spaced[at : end - 1] = [False] * (end - 1 - at)
        spaced[end - 1] = NO_SPACE.search(misc[codes[names.index("misc")]]) is None
    return spaced


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file, maybe compressed, without empty lines and spaces around lines.

    Raises
    ------
    InputError
        If it cannot be read, is larger than `--max-size`, is not UTF-8 or has fewer than 1,000 characters.
    """
    name = os.fspath(path)
    try:
        size = os.stat(name).st_size
    except (OSError, ValueError) as error:
        problem = reason(error) if isinstance(error, OSError) else str(error)
        raise FileError(name, f"cannot be read ({problem}); expected a text") from error
    check_size(name, size, size)
    raw = read_content(name)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise FileError(f"{name}:{line}", f"byte 0x{raw[error.start]:02x} is not UTF-8; expected a text") from None
    if "\0" in text:
        raise FileError(name, "a binary file; expected a text")
    text = NEWLINE.join(filter(None, map(str.strip, text.split(NEWLINE))))
    if len(text) < LEAST_CHARACTERS:
        raise FileError(name, f"{pluralize(len(text), 'character')}; expected a text of at least {LEAST_CHARACTERS:,}")
    return text
