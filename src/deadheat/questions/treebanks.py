"""Treebanks: how large the parts of many treebanks are, from a folder with a folder for each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Unpack

from deadheat.compression import without_suffix
from deadheat.corpus.documents import PARTS, part_from_name
from deadheat.corpus.reading import SUFFIXES, ReadingOptions, expand
from deadheat.errors import InputError
from deadheat.questions.inputs import open_corpora
from deadheat.results.data import PartSize, TreebankParts, TreebankSizes

OTHER = "other"  # files whose names have no part


def has_treebanks(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder of treebanks: a folder without corpus files, but with such folders in it."""
    return os.path.isdir(path) and not _has_files(Path(path)) and bool(_treebanks(Path(path)))


def treebank_sizes(folder: str | os.PathLike[str], **reading: Unpack[ReadingOptions]) -> TreebankSizes:
    """Words, sentences and documents in the parts (train, dev, test) of every treebank in a folder.

    Parameters
    ----------
    folder
        With a folder for each treebank, in which the names of files have the part: `en_ewt/en_ewt-ud-train.conllu`.
    reading
        Options of `deadheat.read`.
    """
    folders = _treebanks(Path(folder)) if os.path.isdir(folder) else []
    if not folders:
        raise InputError(f"{os.fspath(folder)}: no treebanks; expected a folder with a folder for each of them")
    files: dict[tuple[str, str], list[str]] = {}
    for treebank in folders:
        for path in expand(treebank):
            files.setdefault((treebank.name, part_from_name(path) or OTHER), []).append(path)
    sizes: dict[str, dict[str, PartSize]] = {}
    for (name, part), corpus in zip(files, open_corpora(list(files.values()), reading), strict=True):
        documents = int(corpus.documents[-1]) + 1 if corpus.has_documents else None
        sizes.setdefault(name, {})[part] = PartSize(part, corpus.sentences, corpus.words, documents)
    treebanks = tuple(
        TreebankParts(name, tuple(parts[part] for part in (*PARTS, OTHER) if part in parts))
        for name, parts in sizes.items()
    )
    return TreebankSizes(os.fspath(folder), treebanks)


def _treebanks(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and _has_files(path))


def _has_files(folder: Path) -> bool:
    return any(without_suffix(name).endswith(SUFFIXES) for name in os.listdir(folder))
