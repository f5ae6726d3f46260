"""The obvious reader of CoNLL-U: split at newlines, split at tabs. Slow, and right for well-formed files."""

import re
from dataclasses import dataclass, field

import numpy as np

from deadheat.corpus import Corpus

STRINGS = {"form": 1, "lemma": 2, "upos": 3, "xpos": 4, "feats": 5, "deprel": 7, "deps": 8, "misc": 9}


@dataclass
class Plain:
    """What a file holds, as lists."""

    words: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # of the words
    offsets: list[int] = field(default_factory=lambda: [0])
    extras: list[list[str]] = field(default_factory=list)
    extra_at: list[int] = field(default_factory=list)
    extra_ends: list[int] = field(default_factory=list)
    comments: list[list[str]] = field(default_factory=list)
    newdoc: list[bool] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)


def read_plainly(text: str) -> Plain:
    plain = Plain()
    comments: list[str] = []
    for number, raw in enumerate(text.split("\n")[:-1], start=1):
        line = raw.removesuffix("\r")
        if not line:
            plain.offsets.append(len(plain.words))
            plain.extra_ends.append(len(plain.extras))
            plain.comments.append(comments)
            plain.newdoc.append(any(re.match(r"# *newdoc([\0- =]|$)", item) for item in comments))
            comments = []
        elif line.startswith("#"):
            comments.append(line)
        elif re.match(r"\d+\t", line):
            plain.words.append(line.split("\t"))
            plain.lines.append(number)
        else:
            plain.extra_at.append(len(plain.words))
            plain.extras.append(line.split("\t"))
    plain.tail = comments
    return plain


def assert_same(corpus: Corpus, plain: Plain) -> None:
    """Everything that reading gave is what the plain reader found."""
    assert corpus.offsets.tolist() == plain.offsets
    for name, column in STRINGS.items():
        assert corpus.column(name).strings() == [word[column] for word in plain.words], name
    assert np.array_equal(corpus.trees, [int(word[6]) for word in plain.words])
    assert [corpus.comments.of(i) for i in range(corpus.sentences)] == plain.comments
    assert corpus.newdoc.tolist() == plain.newdoc
    assert corpus.comments.tail.decode().replace("\r\n", "\n").split("\n")[:-1] == plain.tail
    assert_same_extras(corpus, plain)


def assert_same_extras(corpus: Corpus, plain: Plain) -> None:
    extras = corpus.extras
    assert extras.at.tolist() == plain.extra_at
    assert extras.ends.tolist() == plain.extra_ends
    assert extras.span.tolist() == [span_of(fields[0]) for fields in plain.extras]
    for i, name in enumerate(STRINGS):
        strings = corpus.column(name).vocabulary.strings
        result = [strings[code] for code in extras.codes[:, i].tolist()]
        assert result == [fields[STRINGS[name]] for fields in plain.extras], name


def span_of(number: str) -> int:
    """Words of a multiword token; minus the second number of an empty node."""
    if "-" in number:
        first, last = map(int, number.split("-"))
        return last - first + 1
    return -int(number.partition(".")[2])
