"""Everything for a paper in one folder: tables, a paragraph, a checklist, references and figures."""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import msgspec

from deadheat.charts.chart import COLUMN, Figure, Layout
from deadheat.corpus.writing import write_bytes
from deadheat.errors import InputError, reason
from deadheat.files import read_small
from deadheat.paper.checklist import checklist
from deadheat.paper.figures import FORMATS, figure_files
from deadheat.paper.paragraph import paragraph
from deadheat.reporting.latex import PAGE_CHARACTERS, float_environment, one_line, paper_tables, table_width
from deadheat.reporting.model import Signature, Table, cell_text
from deadheat.reporting.views import headline, view
from deadheat.results.base import Result
from deadheat.text import join_names, pluralize

MANIFEST = ".deadheat-kit.json"
KIND = "deadheat-kit.v1"
NAMES = 5  # files that a message names


def write_kit(
    results: Sequence[Result],
    folder: str | os.PathLike[str],
    *,
    figures: Sequence[Figure] = (),
    formats: Iterable[str] = FORMATS,
    layout: Layout = COLUMN,
    overwrite: bool = False,
) -> list[Path]:
    r"""Write `tables/*.tex`, `paragraph.txt`, `paragraph.tex`, `checklist.md`, `refs.bib` and `figures/*`.

    The folder may exist. Files that an earlier kit wrote there are replaced, or removed if they are no longer part of
    it. If one of them was changed since, or another file has the name of one, nothing is written. Other files are left
    alone. `.deadheat-kit.json` lists the files of the kit.

    Parameters
    ----------
    results
        What `deadheat.compare` and the others returned.
    figures, formats, layout
        See `write_figures`.
    overwrite
        Replace files that were changed or are not the kit's.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    InputError
        If a figure cannot be drawn, or a file would be overwritten that is not the kit's.
    """
    files = kit_files(results, figures=figures, formats=formats, layout=layout)
    root = Path(folder)
    before = _manifest(root)
    if not overwrite:
        _check_free(root, files, before)
    try:
        for name in files:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
        # If this is interrupted, the files are still known to be the kit's, in their old or their new state.
        now = {name: _digest(data) for name, data in files.items()}
        names = list(dict.fromkeys([*before, *now]))
        _write_manifest(root, {name: [*before.get(name, []), *([now[name]] if name in now else [])] for name in names})
        for name, data in files.items():
            write_bytes(root / name, data)
        for name, digests in before.items():
            if name not in files and _is_unchanged(root / name, digests):
                (root / name).unlink()
        _write_manifest(root, {name: [digest] for name, digest in now.items()})
    except OSError as error:
        raise InputError(f"{root}: cannot be written ({reason(error)})") from error
    return [root / name for name in files]


def kit_files(
    results: Sequence[Result],
    *,
    figures: Sequence[Figure] = (),
    formats: Iterable[str] = FORMATS,
    layout: Layout = COLUMN,
) -> dict[str, bytes]:
    """The contents of a kit by the names of its files."""
    section = paragraph(results)
    texts = {f"tables/{name}.tex": table for name, table in latex_tables(results).items()}
    texts["paragraph.txt"] = f"{section}\n"
    texts["paragraph.tex"] = f"% Needs \\usepackage{{natbib}} and refs.bib.\n{section.latex}\n"
    texts["refs.bib"] = section.bibtex()
    texts["checklist.md"] = checklist(results).markdown
    files = {name: content.encode("utf-8", "replace") for name, content in texts.items()}
    drawings = figure_files(figures, formats=formats, layout=layout)
    return files | {f"figures/{name}": data for name, data in drawings.items()}


def latex_tables(results: Iterable[Result]) -> dict[str, str]:
    """The tables of results by name, each in a float; if a name is taken, it gets a number.

    A table without a caption gets the verdict of its result.
    """
    tables: dict[str, str] = {}
    for result in results:
        blocks = view(result)
        comments = [f"% {one_line(block.text)}" for block in blocks if isinstance(block, Signature)]
        for table in paper_tables(blocks):
            candidates = (table.name if number == 1 else f"{table.name}-{number}" for number in count(1))
            name = next(candidate for candidate in candidates if candidate not in tables)
            captioned = replace(table, caption=table.caption or headline(result))
            tables[name] = "\n".join([*comments, *_advice(table), float_environment(captioned, f"tab:{name}"), ""])
    return tables


def _advice(table: Table) -> list[str]:
    """What a table needs, as comments."""
    lines = [r"% Needs \usepackage{booktabs}."]
    if table_width(table) > PAGE_CHARACTERS:
        lines.append("% May be wider than a page: shorten names, or leave columns out.")
    texts = [cell_text(cell) for row in table.cells() for cell in row]
    if any(unicodedata.bidirectional(character) in ("R", "AL") for content in texts for character in content):
        lines.append("% Names are written from right to left: use LuaLaTeX or XeLaTeX with babel or polyglossia.")
    return lines


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _is_unchanged(path: Path, digests: Sequence[str]) -> bool:
    """Whether a file is there and is as the kit wrote it."""
    return path.is_file() and _digest(path.read_bytes()) in digests


@dataclass(frozen=True, slots=True)
class _Manifest:
    kind: str
    files: dict[str, list[str]]


def _manifest(root: Path) -> dict[str, list[str]]:
    """What an earlier kit wrote, each with the hashes it may have; nothing if there was none."""
    path = root / MANIFEST
    try:
        if root.exists() and not root.is_dir():
            raise InputError(f"{root}: a file; expected a folder, or nothing")
        data = read_small(path) if path.exists() else b""
        manifest = msgspec.json.decode(data, type=_Manifest) if data else _Manifest(KIND, {})
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from error
    except (msgspec.DecodeError, UnicodeDecodeError):
        manifest = None
    if manifest is None or manifest.kind != KIND or not all(map(_is_inside, manifest.files)):
        raise InputError(f"{path}: not a list of the files of a kit; expected it unchanged, or no such file")
    return manifest.files


def _is_inside(name: str) -> bool:
    """A file of the folder or of one in it; never one elsewhere."""
    parts = name.split("/")
    return 1 <= len(parts) <= 2 and all(part and part not in (".", "..") for part in parts) and "\\" not in name


def _write_manifest(root: Path, files: Mapping[str, Sequence[str]]) -> None:
    text = json.dumps({"kind": KIND, "files": files}, ensure_ascii=False, indent=1)
    write_bytes(root / MANIFEST, f"{text}\n".encode())


def _check_free(root: Path, files: Mapping[str, bytes], before: Mapping[str, Sequence[str]]) -> None:
    """Refuse to overwrite files that are not the kit's, or were changed since."""
    taken = [
        name
        for name, data in files.items()
        if os.path.lexists(root / name) and not _is_unchanged(root / name, [*before.get(name, []), _digest(data)])
    ]
    if taken:
        changed = all(name in before for name in taken)
        why = "changed since the kit was written" if changed else "not written by an earlier kit, or changed since"
        files_text = f"{pluralize(len(taken), 'file')} would be overwritten ({join_names(taken, NAMES)}: {why})"
        raise InputError(f"{root}: {files_text}; expected another folder, or these files moved away")
