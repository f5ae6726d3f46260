"""Sealed test sets: the labels are beside the ledger, readable only by their owner; everybody else gets the text.

Predictions are made from the copy without labels. When they are scored against that copy, the sealed labels are found
by the hash of the text, and the evaluation is recorded.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np

from deadheat.compression import without_suffix
from deadheat.corpus import Column, Corpus, Vocabulary, read, to_bytes, write
from deadheat.corpus.corpus import Comments, Extras, Part, content_hash, text_hash
from deadheat.corpus.reading import ReadingOptions, reading_options
from deadheat.corpus.writing import replace_file
from deadheat.errors import InputError, reason
from deadheat.study.ledger.ledger import SEALED, Ledger, LedgerTestSet
from deadheat.study.ledger.tallies import evaluation_time
from deadheat.study.ledger.verification import clean
from deadheat.text import pluralize

# Keys of MISC that belong to the text: the spacing between words (Universal Dependencies).
SPACING = frozenset({"SpaceAfter", "SpacesAfter", "SpacesBefore", "SpacesInToken"})
_SPACES = r"(?:\\[snrtp]|\\u[0-9A-Fa-f]{4})+"
_SPACING_VALUES = {"SpaceAfter": "No|Yes", "SpacesAfter": _SPACES, "SpacesBefore": _SPACES}
_MARK = re.compile(rb"(#[ \t]*new(?:doc|par))(?:(?:[ \t]+id)?[ \t]*=[ \t]*\S+)?[ \t]*")
_SENTENCE_ID = re.compile(rb"#[ \t]*sent_id[ \t]*=[ \t]*\S+[ \t]*")
_TEXT = re.compile(rb"#[ \t]*text[ \t]*=(.*)")
_DOCUMENT = re.compile(rb"-DOCSTART-(?:[ \t].*)?")


@dataclass(frozen=True, slots=True)
class SealedTestSet:
    """A test set whose labels are sealed, and the copy for others."""

    test_set: LedgerTestSet
    labels: Path
    copy: Path
    notes: tuple[str, ...] = ()


def seal(
    ledger: Ledger, corpus: Corpus, copy: str | os.PathLike[str] = "", *, budget: int | None = None
) -> SealedTestSet:
    """Seal the labels of a test set, write a copy without them, and guard the test set."""
    if len(corpus.parts) != 1:
        raise InputError(f"{corpus.name}: {len(corpus.parts)} files; expected one to seal")
    path = corpus.parts[0].path
    if is_unlabelled(corpus):
        raise InputError(f"{path}: no labels; expected a test set with labels to seal")
    target = Path(copy) if copy else copy_name(path)
    if os.path.lexists(target):
        raise InputError(f"{target}: exists already; expected a new name for the copy without labels (--out)")
    test_set, labels = LedgerTestSet.of(corpus), content_hash(corpus)
    line, sealed = _seal_line(ledger, test_set.hash), _sealed_file(ledger, test_set.hash)
    if line is not None and line.get("labels") != labels:
        raise InputError(
            f"{path}: sealed already on {evaluation_time(line)}, with other labels; expected the same labels"
        )
    text = unlabelled(corpus)
    assert text_hash(text) == test_set.hash
    notes: tuple[str, ...] = ()
    write(text, target, mend=True)
    try:
        if line is None or not os.path.exists(sealed):
            _write_private(sealed, to_bytes(corpus, mend=True))
        fields = {} if budget is None else {"budget": budget}
        if line is None:
            notes = ledger.add("seal", test_set, labels=labels, reading=reading_options(corpus), **fields)
        elif fields:
            notes = ledger.add("guard", test_set, **fields)
    except InputError:
        target.unlink()
        raise
    if lost := np.count_nonzero(corpus.comments.blob == 10) - np.count_nonzero(text.comments.blob == 10):
        notes += (f"{pluralize(int(lost), 'comment')} left out of the copy, because they may hold labels",)
    return SealedTestSet(test_set, sealed, target, notes)


def sealed_labels(ledger: Ledger, corpus: Corpus) -> tuple[Corpus, str] | None:
    """The sealed labels of a text without labels, and a note for the user; None if there are none."""
    if not is_unlabelled(corpus):
        return None
    test_set = text_hash(corpus)
    line, sealed = _seal_line(ledger, test_set), _sealed_file(ledger, test_set)
    if line is None:
        return None
    try:
        if sealed.exists() and not sealed.is_file():  # reading a pipe would block
            raise OSError(errno.EINVAL, "not a plain file")
        sealed.open("rb").close()
    except OSError as error:
        raise InputError(f"{corpus.name}: its sealed labels cannot be read ({sealed}: {reason(error)})") from error
    labelled = read(sealed, **_reading(ledger, line))
    if content_hash(labelled) != line.get("labels"):
        when = evaluation_time(line) or "an unknown date"
        raise InputError(f"{sealed}: not the labels that were sealed on {when}; expected them unchanged")
    name = clean(line.get("name")) or corpus.name
    labelled = replace(labelled, name=name, parts=(Part(name, 0),))
    return labelled, f"{corpus.name}: no labels; scored against the sealed labels of {name}"


def unlabelled(corpus: Corpus) -> Corpus:
    """The text only: other columns are `_`; no heads or empty nodes; only comments about the text."""
    tree_like = corpus.layout.format in ("conllu", "conllx")
    tokens = np.flatnonzero(corpus.extras.span > 0)  # multiword tokens; empty nodes are annotation
    columns: dict[str, Column] = {}
    codes = np.zeros((len(tokens), len(corpus.columns)), np.int32)
    for i, (name, column) in enumerate(corpus.columns.items()):
        if name == "form":
            columns[name] = column
            codes[:, i] = corpus.extras.codes[tokens, i]
        elif name == "misc" and tree_like:
            number, vocabulary = _spacing(column.vocabulary)
            columns[name] = Column(number[column.codes], vocabulary)
            codes[:, i] = number[corpus.extras.codes[tokens, i]]
        else:
            columns[name] = Column(np.zeros(corpus.words, np.int32), Vocabulary.of([_no_label(corpus)]))
    kept = np.cumsum(np.bincount(tokens, minlength=len(corpus.extras)))
    ends = np.where(corpus.extras.ends > 0, np.append(kept, 0)[corpus.extras.ends - 1], 0)
    return replace(
        corpus,
        columns=columns,
        heads=None,
        extras=Extras(corpus.extras.at[tokens], corpus.extras.span[tokens], codes, ends.astype(np.int64)),
        comments=_text_comments(corpus),
    )


def is_unlabelled(corpus: Corpus) -> bool:
    """Whether words have only a form (and the spacing around it)."""
    if corpus.heads is not None and corpus.words and int(corpus.heads.max()) >= 0:
        return False
    text_columns = {"form"} if corpus.layout.format == "columns" else {"form", "misc"}
    labels = (column for name, column in corpus.columns.items() if name not in text_columns)
    empty = {"_", _no_label(corpus)}
    return all(column.vocabulary[code] in empty for column in labels for code in np.unique(column.codes).tolist())


def copy_name(path: str) -> Path:
    """The name of the copy beside a file: `test.conllu.gz` gives `test.unlabelled.conllu.gz`."""
    folder, name = os.path.split(path)
    plain = without_suffix(name)
    stem, suffix = os.path.splitext(plain)
    return Path(folder) / f"{stem}.unlabelled{suffix}{name.removeprefix(plain)}"


def _no_label(corpus: Corpus) -> str:
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


def _reading(ledger: Ledger, line: Mapping[str, Any]) -> ReadingOptions:
    """How to read sealed labels, as the ledger has it."""
    options = line.get("reading", {})
    texts = ("format", "separator")
    if (
        isinstance(options, dict)
        and options.keys() <= {*texts, "columns", "lenient"}
        and all(isinstance(options.get(key, ""), str) for key in texts)
        and all(isinstance(item, list) and all(isinstance(name, str) for name in item) for item in
                (options.get("columns", []), options.get("lenient", [])))
    ):  # fmt: skip
        return cast(ReadingOptions, options)
    raise InputError(f"{ledger.path}: no options to read the sealed labels of {clean(line.get('name'))}; expected them")


def _seal_line(ledger: Ledger, test_set: str) -> Mapping[str, Any] | None:
    return next((event for event in ledger.events(test_set) if event.get("event") == "seal"), None)


def _sealed_file(ledger: Ledger, test_set: str) -> Path:
    return ledger.path.parent / SEALED / test_set


def _write_private(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, in whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.parent.chmod(0o700)
        with replace_file(path, sync=True) as scratch:
            scratch.touch(0o600, exist_ok=False)
            scratch.write_bytes(data)
    except OSError as error:
        raise InputError(f"{path}: the labels cannot be sealed ({reason(error)})") from error
