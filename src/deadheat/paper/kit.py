"""The whole kit for a paper in one folder: tables, a paragraph, a checklist, references and figures."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deadheat.charts.chart import COLUMN, Figure, Layout
from deadheat.corpus.writing import write_bytes
from deadheat.documents import Document
from deadheat.errors import InputError, reason
from deadheat.paper.checklist import checklist
from deadheat.paper.checklist_answers import Compute
from deadheat.paper.documents import checked
from deadheat.paper.figures import FORMATS, figure_files
from deadheat.paper.paragraph import paragraph
from deadheat.paper.tables import latex_tables
from deadheat.text import pluralize

LIST = ".deadheat-kit.json"
KIND = "deadheat-kit.v1"
MOST_SHOWN = 5


def write_kit(  # noqa: PLR0913 (what a report has to give)
    documents: Iterable[Document],
    folder: str | os.PathLike[str],
    *,
    provenance: Sequence[Mapping[str, Any]] = (),
    compute: Compute | None = None,
    figures: Sequence[Figure] = (),
    formats: Iterable[str] = FORMATS,
    layout: Layout = COLUMN,
    overwrite: bool = False,
) -> list[Path]:
    r"""Write `tables/*.tex`, `paragraph.txt`, `paragraph.tex`, `checklist.md`, `refs.bib` and `figures/*`.

    The folder may exist. Files that an earlier kit wrote there are replaced, or removed where they are no longer part
    of it; but not those that were changed since, nor others that stand in the way: then nothing is written. Other
    files are left alone. The list of what is the kit's own is kept in `.deadheat-kit.json`.

    Parameters
    ----------
    documents
        What commands print with `--json`.
    provenance, compute
        What runs were made with, and what they took; for the checklist.
    figures, formats, layout
        Passed on to `write_figures`.
    overwrite
        Replace files that were changed or are not the kit's.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    InputError
        If a document is of no known kind, a figure cannot be drawn, or a file stands in the way.
    """
    files = kit_files(
        documents, provenance=provenance, compute=compute, figures=figures, formats=formats, layout=layout
    )
    place = Path(folder)
    before = _list(place)
    if not overwrite:
        _check_free(place, files, before)
    try:
        for name in files:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
        # Whatever happens now, the files are known to be the kit's, as they were or as they will be.
        now = {name: _digest(data) for name, data in files.items()}
        names = list(dict.fromkeys([*before, *now]))
        _write_list(place, {name: [*before.get(name, []), *([now[name]] if name in now else [])] for name in names})
        for name, data in files.items():
            write_bytes(place / name, data)
        for name, digests in before.items():
            if name not in files and _is(place / name, digests):
                (place / name).unlink()
        _write_list(place, {name: [digest] for name, digest in now.items()})
    except OSError as error:
        raise InputError(f"{place}: cannot be written ({reason(error)})") from error
    return [place / name for name in files]


def kit_files(
    documents: Iterable[Document],
    *,
    provenance: Sequence[Mapping[str, Any]] = (),
    compute: Compute | None = None,
    figures: Sequence[Figure] = (),
    formats: Iterable[str] = FORMATS,
    layout: Layout = COLUMN,
) -> dict[str, bytes]:
    """What a kit is made of, by the names of files, not yet written."""
    found = [checked(document) for document in documents]
    said = paragraph(found, provenance=provenance)
    texts = {f"tables/{name}.tex": text for name, text in latex_tables(*found).items()}
    texts["paragraph.txt"] = f"{said.text}\n"
    texts["paragraph.tex"] = f"% Needs \\usepackage{{natbib}} and refs.bib.\n{said.latex}\n"
    texts["refs.bib"] = said.bibtex()
    drawn = figure_files(figures, formats=formats, layout=layout)
    texts["checklist.md"] = checklist(found, provenance=provenance, compute=compute).markdown
    files = {name: text.encode("utf-8", "replace") for name, text in texts.items()}
    return files | {f"figures/{name}": data for name, data in drawn.files.items()}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _is(path: Path, digests: Sequence[str]) -> bool:
    """Whether a file is there and is as the kit wrote it."""
    return path.is_file() and _digest(path.read_bytes()) in digests


def _list(place: Path) -> dict[str, list[str]]:
    """What an earlier kit wrote, each with the hashes it may have; nothing if there was none."""
    try:
        if place.exists() and not place.is_dir():
            raise InputError(f"{place}: a file; expected a folder, or nothing")
        text = (place / LIST).read_text("utf-8") if (place / LIST).exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        told = reason(error) if isinstance(error, OSError) else "not a text"
        raise InputError(f"{place / LIST}: cannot be read ({told})") from error
    if not text:
        return {}
    try:
        found = json.loads(text)
        files = {str(name): [str(each) for each in digests] for name, digests in found["files"].items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError(f"{place / LIST}: not a list of the files of a kit; expected it unchanged, or gone") from None
    inside = {name: digests for name, digests in files.items() if _is_inside(name)}
    if found.get("kind") != KIND or inside != files:
        raise InputError(f"{place / LIST}: not a list of the files of a kit; expected it unchanged, or gone")
    return files


def _is_inside(name: str) -> bool:
    """A file of the folder or of one in it; never one elsewhere."""
    parts = name.split("/")
    return 1 <= len(parts) <= 2 and all(part and part not in (".", "..") for part in parts) and "\\" not in name


def _write_list(place: Path, files: Mapping[str, Sequence[str]]) -> None:
    text = json.dumps({"kind": KIND, "files": files}, ensure_ascii=False, indent=1)
    write_bytes(place / LIST, f"{text}\n".encode())


def _check_free(place: Path, files: Mapping[str, bytes], before: Mapping[str, Sequence[str]]) -> None:
    """Refuse to write over what is not ours, or is not as we wrote it."""
    found = [
        name
        for name, data in files.items()
        if os.path.lexists(place / name) and not _is(place / name, [*before.get(name, []), _digest(data)])
    ]
    if not found:
        return
    changed = [name for name in found if name in before]
    shown = (
        f"{', '.join(found[:MOST_SHOWN])}{f' and {len(found) - MOST_SHOWN} more' if len(found) > MOST_SHOWN else ''}"
    )
    what = "was changed since it was written" if changed == found else "not written by an earlier kit, or changed since"
    many = pluralize(len(found), "file")
    raise InputError(f"{place}: {many} in the way ({shown}: {what}); expected another folder, or them moved away")
