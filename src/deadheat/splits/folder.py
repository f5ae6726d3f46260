"""Write splits to a folder with a manifest, and check such a folder."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.compression import without_suffix
from deadheat.corpus.corpus import Corpus
from deadheat.corpus.documents import PARTS, find_documents, part_from_name, sentence_parts, sort_by_part
from deadheat.corpus.reading import STDIN, SUFFIXES, expand, read, reading_options
from deadheat.corpus.vocabulary import Indices
from deadheat.corpus.writing import stream
from deadheat.errors import InputError, SplitError, reason
from deadheat.splits.leaks import Leak, leaks
from deadheat.splits.splitting import Partition, Splits, shared_documents
from deadheat.version import __version__

MANIFEST = "manifest.json"
MANIFEST_FORMAT = "deadheat splits 1"
ANY_NAME = "surrogateescape"  # names of files need not be UTF-8


def make_manifest(splits: Splits, files: Mapping[str, Mapping[str, Mapping[str, str]]]) -> dict[str, Any]:
    """All that is needed to make the splits again and to see whether they were changed.

    `files` has the name and the hash of the file of every set of sentences of every split.
    """
    corpus = splits.corpus
    own = splits.to_dict()
    told = {
        "kind": own.pop("kind"),
        "format": MANIFEST_FORMAT,
        "deadheat": __version__,
        **own,
        "inputs": _inputs(corpus),
        "reading": reading_options(corpus),
    }
    for one in told["splits"]:
        for sets in (one["parts"], one["nested"]):
            for name in sets:
                sets[name] = {**files[one["split"]][name], **sets[name]}
    return told | {"sha256": _own_hash(told)}


def _manifest_bytes(manifest: dict[str, Any]) -> bytes:
    """The manifest as it stands in its file."""
    return (json.dumps(manifest, ensure_ascii=False, indent=1) + "\n").encode(errors=ANY_NAME)


def _own_hash(manifest: dict[str, Any]) -> str:
    text = json.dumps({key: manifest[key] for key in manifest if key != "sha256"}, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode(errors=ANY_NAME)).hexdigest()


def _inputs(corpus: Corpus) -> list[dict[str, Any]]:
    """Every input file with the hash of its bytes; of what is no file, the hash of the corpus in its own format."""
    starts = [part.first for part in corpus.parts] or [0]
    found = []
    for start, end, path in zip(
        starts, [*starts[1:], corpus.sentences], [part.path for part in corpus.parts] or [corpus.name], strict=True
    ):
        digest = hashlib.sha256()
        if path != STDIN and Path(path).is_file():
            with open(path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256")
        else:
            for block in stream(corpus, np.arange(start, end)):
                digest.update(block)
        words = int(corpus.offsets[end] - corpus.offsets[start])
        found.append({"file": path, "sha256": digest.hexdigest(), "sentences": end - start, "words": words})
    return found


def load_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder, if it is one and nobody changed it."""
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_bytes().decode(errors=ANY_NAME))
    except OSError as error:
        raise SplitError(f"{path}: cannot be read ({reason(error)})") from error
    except ValueError as error:
        raise SplitError(f"{path}: not a manifest ({str(error).lower()}); expected what deadheat split wrote") from None
    # The first manifests had their format as their kind.
    if not isinstance(found, dict) or MANIFEST_FORMAT not in (found.get("format"), found.get("kind")):
        raise SplitError(f"{path}: not a manifest of splits; expected what deadheat split wrote")
    if found.get("sha256") != _own_hash(found):
        raise SplitError(f"{path}: was changed after it was written; expected the hash {found.get('sha256')}")
    return found


_SUFFIXES = {"conllu": ".conllu", "conllx": ".conllx"}


def write_splits(splits: Splits, folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Write `0/train.conllu`, `0/dev.conllu`, ... and `manifest.json`; returns the manifest.

    The folder must not exist, or be empty. All is written elsewhere first, beside a new folder or in an empty one, and
    renamed at the end, the manifest last.
    """
    target = Path(os.path.realpath(folder))
    try:
        if target.is_dir() and any(target.iterdir()):
            raise SplitError(f"{folder}: a folder that is not empty; expected a new or an empty one")
        if target.exists() and not target.is_dir():
            raise SplitError(f"{folder}: a file; expected a new or an empty folder")
        there = target.is_dir()
        scratch = (target / "new" if there else target).with_name(f".{target.name}.{os.getpid()}.tmp")
        scratch.mkdir(parents=True)
        try:
            made = _write(splits, scratch)
            for each in sorted(scratch.iterdir()) if there else ():
                each.replace(target / each.name)
            if not there:
                scratch.replace(target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        raise SplitError(f"{folder}: cannot be written ({reason(error)})") from error
    return made


def _write(splits: Splits, scratch: Path) -> dict[str, Any]:
    suffix = _suffix(splits.corpus)
    files: dict[str, dict[str, dict[str, str]]] = {}
    for partition in splits:
        (scratch / partition.name).mkdir()
        for name, sentences in partition.sets.items():
            file = f"{partition.name}/{name}{suffix}"
            digest = _write_part(splits.corpus, sentences, scratch / file)
            files.setdefault(partition.name, {})[name] = {"file": file, "sha256": digest}
    made = make_manifest(splits, files)
    (scratch / MANIFEST).write_bytes(_manifest_bytes(made))
    return made


def _write_part(corpus: Corpus, sentences: Indices, path: Path) -> str:
    """Write some sentences, a block at a time; returns the hash of the file."""
    digest = hashlib.sha256()
    with open(path, "wb") as file:
        for block in stream(corpus, sentences):
            digest.update(block)
            file.write(block)
    return digest.hexdigest()


def _suffix(corpus: Corpus) -> str:
    """How names of corpora of this format end: as that of the first file where the format does not say it."""
    if corpus.layout.format in _SUFFIXES:
        return _SUFFIXES[corpus.layout.format]
    name = corpus.parts[0].path if corpus.parts else ""
    suffix = Path(without_suffix(name)).suffix
    return suffix if suffix in SUFFIXES else ".txt"


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """What was found in a folder: the leaks of every split, and whether its files are those of its manifest."""

    folder: str
    verified: int  # files whose hash was compared; 0 where there is no manifest
    leaks: dict[str, list[Leak]]
    notes: tuple[str, ...] = ()


def check_folder(folder: str | os.PathLike[str], **reading: Any) -> FolderCheck:
    """Compare a folder with its manifest, and look for what leaks between its parts.

    A folder without a manifest, such as a treebank with its own train, dev and test, is looked at for leaks alone;
    `reading` is passed on to `deadheat.read` there.
    """
    place = Path(folder)
    if not place.is_dir():
        raise SplitError(
            f"{folder}: not a folder; expected one that deadheat split wrote, or a treebank with its parts"
        )
    if not (place / MANIFEST).exists():
        return _unmarked(folder, reading)
    found = load_manifest(place)
    hashes = {
        each["file"]: each["sha256"]
        for one in found["splits"]
        for each in (*one["parts"].values(), *one["nested"].values())
    }
    _verify(place, hashes)
    notes = _strangers(place, set(hashes))
    results = {}
    for one in found["splits"]:
        files = [str(place / each["file"]) for each in one["parts"].values()]
        corpus = read(files, **found["reading"])
        ends = np.cumsum([0, *(each["sentences"] for each in one["parts"].values())])
        parts = {name: np.arange(ends[i], ends[i + 1]) for i, name in enumerate(one["parts"])}
        shared = one["shared_documents"] or None
        results[one["split"]] = leaks(corpus, Partition(one["split"], parts, corpus.sentences).parts, shared)
    return FolderCheck(str(folder), len(hashes), results, notes)


def _verify(place: Path, files: dict[str, str]) -> None:
    """Every file that is missing or has another hash is told."""
    faults = []
    for name, expected in files.items():
        try:
            with open(place / name, "rb") as file:
                actual = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            faults.append(f"{place / name}: cannot be read ({reason(error)}); the manifest names it")
            continue
        if actual != expected:
            faults.append(f"{place / name}: was changed after it was written; expected the hash {expected}")
    if faults:
        raise SplitError("\n".join(faults))


def _strangers(place: Path, known: set[str]) -> tuple[str, ...]:
    names = (each.relative_to(place).as_posix() for each in sorted(place.rglob("*")) if each.is_file())
    return tuple(f"{place / name}: not in the manifest" for name in names if name not in {*known, MANIFEST})


def _unmarked(folder: str | os.PathLike[str], reading: dict[str, Any]) -> FolderCheck:
    files = sort_by_part(expand(folder))
    if not all(map(part_from_name, files)):
        expected = "either, as en-train.conllu and en-test.conllu"
        raise InputError(f"{folder}: no {MANIFEST}, and files without a part in their name; expected {expected}")
    corpus = read(files, **reading)
    codes = sentence_parts(corpus)
    assert codes is not None
    present = set(map(part_from_name, files))
    parts = {part: np.flatnonzero(codes == i) for i, part in enumerate(PARTS) if part in present}
    if len(parts) < 2:
        raise SplitError(f"{folder}: {next(iter(parts))} alone; expected another part to compare it with")
    partition = Partition("0", parts, corpus.sentences)
    documents = find_documents(corpus)
    shared = None if documents is None else shared_documents(documents, partition)
    note = f"{folder}: no {MANIFEST}; looked for leaks, verified nothing"
    return FolderCheck(str(folder), 0, {partition.name: leaks(corpus, partition.parts, shared)}, (note,))
