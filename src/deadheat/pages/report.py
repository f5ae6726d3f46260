"""From what there is (stores, tables of scores, results of commands) to one page."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from deadheat.analyses.stored import Stored, stored
from deadheat.analyses.tabled import tabled
from deadheat.analyses.verdicts import verdicts
from deadheat.charts.chart import Figure, unique
from deadheat.documents import plain
from deadheat.errors import InputError, NameUnknown, reason
from deadheat.pages.section import Document, Page, Section
from deadheat.study.config import read_study
from deadheat.study.ledger import Ledger
from deadheat.version import __version__

OVER_DATA_SETS = "Over data sets"
# What each kind of result is shown under, on a page of several; each has a module of its name in this package.
CHAPTERS = {
    "study": "Scores and differences",
    "score": "Scores",
    "compare": "Systems compared",
    "power": "Power",
    "seeds": "Over seeds",
    "contrast": "Over settings",
    "rank": OVER_DATA_SETS,
    "size": "How much test data is enough",
    "split": "How the data were split",
    "ledger": "How often the test sets were used",
}
KINDS = tuple(CHAPTERS)
SQLITE = b"SQLite format 3\x00"


@runtime_checkable
class Result(Protocol):
    """What `deadheat.score` and the others return."""

    def to_dict(self) -> dict[str, Any]: ...


Source = str | os.PathLike[str] | Document | Result | Stored


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """What a report is made from, and the page that it makes."""

    page: Page
    documents: tuple[Document, ...]
    provenance: tuple[Document, ...] = field(default=())

    @property
    def figures(self) -> list[Figure]:
        """All figures of the page, each under a name of its own."""
        return unique([figure for section in self.page.sections for figure in section.figures])

    def html(self) -> str:
        """The page as one self-contained file."""
        from deadheat.pages.html import html

        return html(self.page)


def report(*sources: Source, title: str = "", ledger: Ledger | None = None) -> Report:
    """One page about stores of studies, tables of scores and results, with a verdict in words first.

    Parameters
    ----------
    sources
        Files: stores that `deadheat run` wrote, study files, results that a command printed with `--json`, tables of
        scores. Or what `deadheat.score` and the others returned.
    title
        Above the page; by default the name of the study or of the file.
    ledger
        Where looks at the test sets of a study were recorded.
    """
    if not sources:
        raise InputError("nothing to report on; expected a store, a table of scores or a result")
    opened = [_opened(source, ledger) for source in sources]
    documents: list[Document] = []
    sections: list[Section] = []
    provenance: list[Document] = []
    for each in opened:
        if isinstance(each, Stored):
            documents += [*([each.study] if each.study else []), *each.documents]
            provenance += each.provenance
            sections += _study_sections(each)
        else:
            documents.append(each)
            sections += sections_of(each)
    signatures = [str(document["signature"]) for document in documents if document.get("signature")]
    foot = (*dict.fromkeys(signatures), f"deadheat {__version__}")
    plain_page = len({section.chapter for section in sections}) == 1
    shown = [replace(section, chapter="", folded=False) for section in sections] if plain_page else sections
    page = Page(title or _title(opened, sources), verdicts(documents), tuple(shown), foot)
    return Report(page, tuple(documents), tuple(provenance))


def sections_of(document: Document) -> list[Section]:
    """What a result has to show."""
    kind = str(document.get("kind", ""))
    if kind not in KINDS:
        raise NameUnknown("kind of result", kind, KINDS)
    made: list[Section] = import_module(f"deadheat.pages.{kind}").sections(document)
    return in_chapter(made, _chapter(document))


def in_chapter(sections: Sequence[Section], chapter: str) -> list[Section]:
    """Sections under a title; of those about one of several things, only those about the first are open."""
    first = next((section.about for section in sections if section.about), "")
    return [replace(each, chapter=chapter, folded=bool(each.about) and each.about != first) for each in sections]


def _chapter(document: Document) -> str:
    kind = str(document["kind"])
    return OVER_DATA_SETS if kind == "compare" and document.get("unit") == "data set" else CHAPTERS[kind]


def _study_sections(found: Stored) -> list[Section]:
    from deadheat.pages.study import sections

    document = {**(found.study or {"kind": "study", "study": found.name, "blocks": []}), "provenance": found.provenance}
    made = in_chapter(sections(document, found.scores, found.runs), CHAPTERS["study"])
    return [*made, *(section for document in found.documents for section in sections_of(document))]


def _opened(source: Source, ledger: Ledger | None) -> Stored | Document:
    if isinstance(source, Stored | Mapping):
        return source
    if not isinstance(source, str | os.PathLike):
        document: Document = plain(source.to_dict())
        return document
    path = Path(source)
    try:
        with path.open("rb") as file:
            start = file.read(len(SQLITE))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from error
    if start == SQLITE:
        return stored(path, ledger=ledger)
    if path.suffix == ".toml":
        study, _ = read_study(path)
        store = path.parent / (study.store or f"{path.stem}.sqlite")
        if not store.exists():
            raise InputError(f"{path}: no store {store}; expected deadheat run {path} first")
        return stored(store, ledger=ledger)
    return _document(path) or tabled(path)


def _document(path: Path) -> Document | None:
    """A result that a command printed; None if the file holds something else."""
    if path.suffix != ".json":
        return None
    try:
        found = json.loads(path.read_text("utf-8"))
    except (ValueError, OSError) as error:
        told = str(error).partition(":")[0].lower()
        raise InputError(f"{path}: not JSON ({told}); expected what a command printed with --json") from None
    if not isinstance(found, dict) or found.get("kind") not in KINDS:
        raise InputError(f"{path}: no result to report; expected what a command printed with --json")
    try:
        sections_of(found)
        verdicts([found])
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        told = f"a result of {found['kind']} that cannot be shown ({type(error).__name__}: {error})"
        raise InputError(f"{path}: {told}; expected it as this version of Deadheat prints it") from error
    return found


def _title(opened: Sequence[Stored | Document], sources: Sequence[Source]) -> str:
    first, source = opened[0], sources[0]
    if isinstance(first, Stored):
        return first.name
    return Path(source).stem if isinstance(source, str | os.PathLike) else f"deadheat {first.get('kind', '')}"
