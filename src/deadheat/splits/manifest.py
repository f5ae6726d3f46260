"""The manifest of a folder of splits: what it was made from, by what, and the hash of every file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.reading import as_read
from deadheat.corpus.source import STDIN
from deadheat.corpus.writing import stream
from deadheat.errors import SplitError, reason
from deadheat.splits.making import Splits
from deadheat.version import __version__

NAME = "manifest.json"
FORMAT = "deadheat splits 1"
NAMES = "surrogateescape"  # names of files need not be UTF-8


def described(splits: Splits, files: Mapping[str, Mapping[str, Mapping[str, str]]]) -> dict[str, Any]:
    """All that is needed to make the splits again and to see whether they were changed.

    `files` has the name and the hash of the file of every set of sentences of every split.
    """
    corpus = splits.corpus
    own = splits.to_dict()
    told = {
        "kind": own.pop("kind"),
        "format": FORMAT,
        "deadheat": __version__,
        **own,
        "inputs": _inputs(corpus),
        "reading": as_read(corpus),
    }
    for one in told["splits"]:
        for sets in (one["parts"], one["nested"]):
            for name in sets:
                sets[name] = {**files[one["split"]][name], **sets[name]}
    return told | {"sha256": _own_hash(told)}


def to_bytes(manifest: dict[str, Any]) -> bytes:
    """The manifest as it stands in its file."""
    return (json.dumps(manifest, ensure_ascii=False, indent=1) + "\n").encode(errors=NAMES)


def _own_hash(manifest: dict[str, Any]) -> str:
    text = json.dumps({key: manifest[key] for key in manifest if key != "sha256"}, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode(errors=NAMES)).hexdigest()


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


def load(folder: Path) -> dict[str, Any]:
    """The manifest of a folder, if it is one and nobody changed it."""
    path = folder / NAME
    try:
        found = json.loads(path.read_bytes().decode(errors=NAMES))
    except OSError as error:
        raise SplitError(f"{path}: cannot be read ({reason(error)})") from error
    except ValueError as error:
        raise SplitError(f"{path}: not a manifest ({str(error).lower()}); expected what deadheat split wrote") from None
    # The first manifests had their format as their kind.
    if not isinstance(found, dict) or FORMAT not in (found.get("format"), found.get("kind")):
        raise SplitError(f"{path}: not a manifest of splits; expected what deadheat split wrote")
    if found.get("sha256") != _own_hash(found):
        raise SplitError(f"{path}: was changed after it was written; expected the hash {found.get('sha256')}")
    return found
