"""Sealed test sets: the labels lie beside the ledger, readable by their owner alone; everybody else gets the text.

Predictions are made from the copy without labels. Scored against that copy, they are scored against the sealed labels,
which are found by the hash of the text, and the look is counted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.compression import without_suffix
from deadheat.corpus import Column, Corpus, Vocabulary, read, to_bytes, write
from deadheat.corpus.corpus import Comments, Extras, Part, content_hash, text_hash
from deadheat.corpus.reading import reading_options
from deadheat.errors import InputError, reason
from deadheat.study.ledger.ledger import Ledger, Watched

FOLDER = "sealed"
# What of MISC is text: how words are parted (Universal Dependencies).
SPACING = frozenset({"SpaceAfter", "SpacesAfter", "SpacesBefore", "SpacesInToken"})
KEPT_COMMENT = re.compile(rb"#[ \t]*(text|sent_id|newdoc|newpar)\b(?!_)")


@dataclass(frozen=True, slots=True)
class Sealed:
    """A test set whose labels were put away, and the copy that can be handed out."""

    watched: Watched
    labels: Path
    copy: Path
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the command prints them under `--json`."""
        return {
            "name": self.watched.name,
            "test_set": self.watched.hash,
            "labels": str(self.labels),
            "copy": str(self.copy),
        }


def seal(ledger: Ledger, corpus: Corpus, copy: str | os.PathLike[str] = "", *, budget: int | None = None) -> Sealed:
    """Put the labels of a test set away, write a copy without them, and guard the test set."""
    if len(corpus.parts) != 1:
        raise InputError(f"{corpus.name}: {len(corpus.parts)} files; expected one to seal")
    path = corpus.parts[0].path
    if is_unlabelled(corpus):
        raise InputError(f"{path}: no labels; expected a test set with labels to seal")
    target = Path(copy) if copy else copy_name(path)
    if os.path.lexists(target):
        raise InputError(f"{target}: exists already; expected a new name for the copy without labels (--out)")
    watched, labels = Watched.of(corpus), content_hash(corpus)
    line, place = _seal_line(ledger, watched.hash), _place(ledger, watched.hash)
    if line is not None and line.get("labels") != labels:
        raise InputError(f"{path}: sealed already on {line.get('time')}, with other labels; expected the same labels")
    text = unlabelled(corpus)
    assert text_hash(text) == watched.hash
    notes: tuple[str, ...] = ()
    write(text, target, mend=True)
    try:
        if line is None or not os.path.exists(place):
            _put_away(place, to_bytes(corpus, mend=True))
        more = {} if budget is None else {"budget": budget}
        if line is None:
            notes = ledger.add("seal", watched, labels=labels, reading=reading_options(corpus), **more)
        elif more:
            notes = ledger.add("guard", watched, **more)
    except InputError:
        target.unlink()
        raise
    return Sealed(watched, place, target, notes)


def sealed_labels(ledger: Ledger, corpus: Corpus) -> tuple[Corpus, str] | None:
    """The sealed labels of a text that has none, and what a person should be told; None if there are none."""
    if not is_unlabelled(corpus):
        return None
    found = text_hash(corpus)
    line, place = _seal_line(ledger, found), _place(ledger, found)
    if line is None:
        return None
    try:
        place.open("rb").close()
    except OSError as error:
        raise InputError(f"{corpus.name}: its sealed labels cannot be read ({place}: {reason(error)})") from error
    labelled = read(place, **line.get("reading", {}))
    if content_hash(labelled) != line.get("labels"):
        raise InputError(f"{place}: not the labels that were sealed on {line.get('time')}; expected them unchanged")
    name = str(line.get("name"))
    labelled = replace(labelled, name=name, parts=(Part(name, 0),))
    return labelled, f"{corpus.name}: no labels; scored against the sealed labels of {name}"


def has_sealed(ledger: Ledger) -> bool:
    """Whether any labels were ever sealed beside a ledger."""
    return os.path.isdir(ledger.path.parent / FOLDER)


def unlabelled(corpus: Corpus) -> Corpus:
    """The text alone: other columns `_`, no heads, no empty nodes, of the comments those about the text."""
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
        comments=_text_comments(corpus.comments) if tree_like else corpus.comments,
    )


def is_unlabelled(corpus: Corpus) -> bool:
    """Whether no word has anything but its form (and the spacing around it)."""
    if corpus.heads is not None and corpus.words and int(corpus.heads.max()) >= 0:
        return False
    labels = [
        name for name in corpus.columns if name != "form" and (name != "misc" or corpus.layout.format == "columns")
    ]
    nothing = {"_", _no_label(corpus)}
    used = (corpus.columns[name] for name in labels)
    return all(column.vocabulary[code] in nothing for column in used for code in np.unique(column.codes).tolist())


def copy_name(path: str) -> Path:
    """The name of the copy beside a file: `test.conllu.gz` gives `test.unlabelled.conllu.gz`.

    Examples
    --------
    >>> str(copy_name("data/en-test.conllu")), str(copy_name("plain")), str(copy_name("a.txt.gz"))
    ('data/en-test.unlabelled.conllu', 'plain.unlabelled', 'a.unlabelled.txt.gz')
    """
    folder, name = os.path.split(path)
    plain = without_suffix(name)
    stem, suffix = os.path.splitext(plain)
    return Path(folder) / f"{stem}.unlabelled{suffix}{name.removeprefix(plain)}"


def _no_label(corpus: Corpus) -> str:
    """What stands for no label; `word__` could not be read again, so tagged text with that mark has `word_-`."""
    return "-" if corpus.layout.format == "tagged" and corpus.layout.separator == "_" else "_"


def _spacing(misc: Vocabulary) -> tuple[np.ndarray, Vocabulary]:
    """MISC with the spacing alone: for every code the new one, and what those stand for."""
    numbers = {"_": 0}
    found = []
    for each in misc.strings:
        kept = "|".join(item for item in each.split("|") if item.partition("=")[0] in SPACING)
        found.append(numbers.setdefault(kept or "_", len(numbers)))
    return np.array(found, np.int32), Vocabulary.of(list(numbers))


def _text_comments(comments: Comments) -> Comments:
    """The lines about text, documents and paragraphs, sentence by sentence."""
    blob, bounds = comments.blob.tobytes(), comments.offsets.tolist()
    kept = [
        b"".join(line for line in blob[a:b].splitlines(keepends=True) if KEPT_COMMENT.match(line))
        for a, b in pairwise(bounds)
    ]
    offsets = np.cumsum([0, *map(len, kept)]).astype(np.int64)
    return Comments(np.frombuffer(b"".join(kept), np.uint8), offsets)


def _seal_line(ledger: Ledger, test_set: str) -> Mapping[str, Any] | None:
    own = (event for event in ledger.events(test_set) if event.get("test_set") == test_set)
    return next((event for event in own if event.get("event") == "seal"), None)


def _place(ledger: Ledger, test_set: str) -> Path:
    return ledger.path.parent / FOLDER / test_set


def _put_away(place: Path, data: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    scratch = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        place.parent.chmod(0o700)
        try:
            file = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(file, "wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            scratch.replace(place)
        finally:
            scratch.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{place}: the labels cannot be put away ({reason(error)})") from error
