"""Write splits to a folder with a manifest, and check such a folder."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.compression import without_suffix
from deadheat.corpus.corpus import Corpus
from deadheat.corpus.documents import PARTS, find_documents, part_from_name, sentence_parts, sort_by_part
from deadheat.corpus.reading import SUFFIXES, expand, read, reading_options
from deadheat.corpus.vocabulary import Indices
from deadheat.corpus.writing import stream
from deadheat.errors import InputError, SplitError, reason
from deadheat.files import STDIN, FileError, hash_content, read_content
from deadheat.splits.leaks import Leak, leaks
from deadheat.splits.splitting import Partition, Splits, shared_documents
from deadheat.version import __version__

MANIFEST = "manifest.json"
MANIFEST_FORMAT = "deadheat splits 1"
ANY_NAME = "surrogateescape"  # file names may not be UTF-8


def _manifest_hash(manifest: dict[str, Any]) -> str:
    text = json.dumps({key: manifest[key] for key in manifest if key != "sha256"}, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode(errors=ANY_NAME)).hexdigest()


def _inputs(corpus: Corpus) -> list[dict[str, Any]]:
    """List the input files with the hashes of their bytes; for other input, the hash of the corpus as written."""
    inputs = []
    for path, first, end in corpus.files:
        if path != STDIN and Path(path).is_file():
            digest = hash_content(Path(path))
        else:
            blocks = hashlib.sha256()
            for block in stream(corpus, np.arange(first, end)):
                blocks.update(block)
            digest = blocks.hexdigest()
        words = int(corpus.offsets[end] - corpus.offsets[first])
        inputs.append({"file": path, "sha256": digest, "sentences": end - first, "words": words})
    return inputs


def load_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a folder; raise if it is invalid or was changed."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(read_content(path).decode(errors=ANY_NAME))
        digest = _manifest_hash(manifest) if isinstance(manifest, dict) else ""
    except FileError as error:
        raise SplitError(str(error)) from error
    except (ValueError, RecursionError) as error:
        raise SplitError(f"{path}: not a manifest ({str(error).lower()}); expected what deadheat split wrote") from None
    # The first manifests had their format as their kind.
    if not isinstance(manifest, dict) or MANIFEST_FORMAT not in (manifest.get("format"), manifest.get("kind")):
        raise SplitError(f"{path}: not a manifest of splits; expected what deadheat split wrote")
    if manifest.get("sha256") != digest:
        raise SplitError(f"{path}: was changed after it was written; expected the hash {manifest.get('sha256')}")
    return manifest


def write_splits(splits: Splits, folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Write `0/train.conllu`, `0/dev.conllu`, ... and `manifest.json` to a new or empty folder; return the manifest.

    Everything is written to a temporary folder first and renamed at the end, the manifest last.
    """
    target = Path(os.path.realpath(folder))
    try:
        if target.is_dir() and any(target.iterdir()):
            raise SplitError(f"{folder}: the folder is not empty; expected a new or an empty one")
        if target.exists() and not target.is_dir():
            raise SplitError(f"{folder}: a file; expected a new or an empty folder")
        exists = target.is_dir()
        scratch = (target / "new" if exists else target).with_name(f".{target.name}.{os.getpid()}.tmp")
        scratch.mkdir(parents=True)
        try:
            manifest = _write(splits, scratch)
            for item in sorted(scratch.iterdir()) if exists else ():
                item.replace(target / item.name)
            if not exists:
                scratch.replace(target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        raise SplitError(f"{folder}: cannot be written ({reason(error)})") from error
    return manifest


def _write(splits: Splits, scratch: Path) -> dict[str, Any]:
    corpus, documents, suffix = splits.corpus, splits.documents, _suffix(splits.corpus)

    def write_part(partition: Partition, name: str, sentences: Indices) -> dict[str, Any]:
        """Write some sentences in blocks; return the file, its hash and its size."""
        path, digest = f"{partition.name}/{name}{suffix}", hashlib.sha256()
        with open(scratch / path, "wb") as file:
            for block in stream(corpus, sentences):
                digest.update(block)
                file.write(block)
        return {"file": path, "sha256": digest.hexdigest(), **splits.sizes_of(sentences)}

    descriptions = []
    for partition in splits:
        (scratch / partition.name).mkdir()
        sets = {name: write_part(partition, name, sentences) for name, sentences in partition.sets.items()}
        parts = {name: sets.pop(name) for name in partition.parts}
        shared = splits.shared_documents(partition)
        descriptions.append({"split": partition.name, "parts": parts, "nested": sets, "shared_documents": shared})
    manifest = {
        "kind": "split",
        "format": MANIFEST_FORMAT,
        "deadheat": __version__,
        "corpus": corpus.name,
        "sentences": corpus.sentences,
        "words": corpus.words,
        "strategy": splits.strategy.name,
        "settings": dict(splits.strategy.settings),
        "seed": splits.seed,
        "times": len(splits),
        "documents": {
            "asked": splits.document_rule,
            "rule": documents.rule if documents else "none",
            "count": len(documents) if documents else 0,
        },
        "nested": list(splits.nested),
        "splits": descriptions,
        "notes": list(splits.notes),
        "inputs": _inputs(corpus),
        "reading": reading_options(corpus),
    }
    manifest["sha256"] = _manifest_hash(manifest)
    text = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
    (scratch / MANIFEST).write_bytes(text.encode(errors=ANY_NAME))
    return manifest


def _suffix(corpus: Corpus) -> str:
    """Return the file suffix of the format, or that of the first input file."""
    if corpus.layout.format in ("conllu", "conllx"):
        return f".{corpus.layout.format}"
    name = corpus.parts[0].path if corpus.parts else ""
    suffix = Path(without_suffix(name)).suffix
    return suffix if suffix in SUFFIXES else ".txt"


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """Result of checking a folder: the number of verified files, and the leaks of every split."""

    folder: str
    verified: int  # files with the hash of the manifest; 0 without a manifest
    leaks: dict[str, list[Leak]]
    notes: tuple[str, ...] = ()


def check_folder(folder: str | os.PathLike[str], **reading: Any) -> FolderCheck:
    """Compare a folder with its manifest, and look for leaks between its parts.

    A folder without a manifest, such as a treebank, is checked for leaks only; `reading` is passed to `deadheat.read`.
    """
    path = Path(folder)
    if not path.is_dir():
        raise SplitError(
            f"{folder}: not a folder; expected one written by deadheat split, or a treebank with its parts"
        )
    if not (path / MANIFEST).exists():
        return _check_treebank(folder, reading)
    manifest = load_manifest(path)
    hashes = {
        part["file"]: part["sha256"]
        for split in manifest["splits"]
        for part in (*split["parts"].values(), *split["nested"].values())
    }
    _verify(path, hashes)
    files = (file.relative_to(path).as_posix() for file in sorted(path.rglob("*")) if file.is_file())
    notes = tuple(f"{path / file}: not in the manifest" for file in files if file not in {*hashes, MANIFEST})
    results = {}
    for split in manifest["splits"]:
        corpus = read([path / part["file"] for part in split["parts"].values()], **manifest["reading"])
        ends = np.cumsum([0, *(part["sentences"] for part in split["parts"].values())])
        parts = {name: np.arange(ends[i], ends[i + 1]) for i, name in enumerate(split["parts"])}
        shared = split["shared_documents"] or None
        results[split["split"]] = leaks(corpus, Partition(split["split"], parts, corpus.sentences).parts, shared)
    return FolderCheck(str(folder), len(hashes), results, notes)


def _verify(folder: Path, files: dict[str, str]) -> None:
    """Raise if files are missing or were changed, naming all of them."""
    faults = []
    for name, expected in files.items():
        try:
            actual = hash_content(folder / name)
        except OSError as error:
            faults.append(f"{folder / name}: cannot be read ({reason(error)}); expected the file of the manifest")
            continue
        if actual != expected:
            faults.append(f"{folder / name}: was changed after it was written; expected the hash {expected}")
    if faults:
        raise SplitError("\n".join(faults))


def _check_treebank(folder: str | os.PathLike[str], reading: dict[str, Any]) -> FolderCheck:
    files = sort_by_part(expand(folder))
    if not all(map(part_from_name, files)):
        expected = "one of the two, such as en-train.conllu and en-test.conllu"
        raise InputError(f"{folder}: no {MANIFEST}, and file names without a part; expected {expected}")
    corpus = read(files, **reading)
    codes = sentence_parts(corpus)
    assert codes is not None
    present = set(map(part_from_name, files))
    parts = {part: np.flatnonzero(codes == i) for i, part in enumerate(PARTS) if part in present}
    if len(parts) < 2:
        raise SplitError(f"{folder}: only {next(iter(parts))}; expected another part to compare it with")
    partition = Partition("0", parts, corpus.sentences)
    documents = find_documents(corpus)
    shared = None if documents is None else shared_documents(documents, partition)
    note = f"{folder}: no {MANIFEST}; checked for leaks only"
    return FolderCheck(str(folder), 0, {partition.name: leaks(corpus, partition.parts, shared)}, (note,))
