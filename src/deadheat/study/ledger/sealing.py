"""Sealed test sets: the labels are beside the ledger, readable only by their owner; everybody else gets the text.

Predictions are made from the copy without labels. When they are scored against that copy, the sealed labels are found
by the hash of the text, and the evaluation is recorded.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from deadheat.compression import without_suffix
from deadheat.corpus import Corpus, read, to_bytes, write
from deadheat.corpus.corpus import Part, content_hash, text_hash
from deadheat.corpus.reading import ReadingOptions, reading_options
from deadheat.corpus.unlabelled import is_unlabelled, unlabelled
from deadheat.corpus.writing import replace_file
from deadheat.errors import InputError, reason
from deadheat.study.ledger.ledger import SEALED, Ledger, LedgerTestSet
from deadheat.study.ledger.tallies import evaluation_time
from deadheat.study.ledger.verification import clean
from deadheat.text import pluralize


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


def copy_name(path: str) -> Path:
    """The name of the copy beside a file: `test.conllu.gz` gives `test.unlabelled.conllu.gz`."""
    folder, name = os.path.split(path)
    plain = without_suffix(name)
    stem, suffix = os.path.splitext(plain)
    return Path(folder) / f"{stem}.unlabelled{suffix}{name.removeprefix(plain)}"


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
