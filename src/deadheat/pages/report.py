"""From what there is (stores, tables of scores, results of commands) to one page."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from deadheat.charts.chart import NARROW, Figure, unique
from deadheat.documents import Document, plain
from deadheat.errors import InputError, NameUnknown
from deadheat.pages.opening import KINDS, opened
from deadheat.pages.section import Page, Section
from deadheat.pages.wording import listed
from deadheat.questions.pathless import Pathless
from deadheat.questions.search_names import failed_systems
from deadheat.questions.sources import Stored, Tabled
from deadheat.questions.verdicts import verdicts
from deadheat.questions.withheld import nameless, sealed_test_sets, without_people, without_sealed, without_sentences
from deadheat.study.ledger.ledger import Ledger
from deadheat.version import __version__

if TYPE_CHECKING:
    import polars as pl

OVER_DATA_SETS = "Over data sets"
# What each kind of result is shown under, on a page of several.
CHAPTERS = {
    "study": "Scores and differences",
    "search": "Settings searched",
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
LEFT_OUT = "What is left out"
UNREADABLE = ("No sentences: which test sets are sealed cannot be told, because the ledger cannot be read.",)
MOST_NAMES = 3  # of sources, in a title
# What a document of another origin may lead to where a section is made of it.
UNFIT = (KeyError, IndexError, TypeError, ValueError, AttributeError, AssertionError, ArithmeticError)


@runtime_checkable
class Result(Protocol):
    """What `deadheat.score` and the others return."""

    def to_dict(self) -> dict[str, Any]: ...


Source = str | os.PathLike[str] | Document | Result | Stored | Tabled


@dataclass(frozen=True, slots=True)
class Took:
    """What the runs of studies took together."""

    runs: int = 0
    cpu_s: float = 0.0
    wall_s: float = 0.0  # of all runs one after the other
    peak_mb: float = 0.0  # of the largest

    @classmethod
    def of(cls, runs: pl.DataFrame) -> Took:
        """The rows of `Store.runs()`."""
        cpu, wall = (float(runs[name].sum()) for name in ("cpu_s", "wall_s"))
        return cls(runs.height, cpu, wall, float(runs["peak_mb"].max() or 0.0))  # type: ignore[arg-type]

    def __add__(self, other: Took) -> Took:
        cpu, wall = self.cpu_s + other.cpu_s, self.wall_s + other.wall_s
        return Took(self.runs + other.runs, cpu, wall, max(self.peak_mb, other.peak_mb))


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """What a report is made from, and the page that it makes."""

    page: Page
    documents: tuple[Document, ...]
    provenance: tuple[Document, ...] = ()  # what runs were made with
    took: Took = Took()

    @property
    def figures(self) -> list[Figure]:
        """All figures of the page, each under a name of its own."""
        return unique([figure for section in self.page.sections for figure in section.figures])

    def html(self) -> str:
        """The page as one self-contained file."""
        from deadheat.pages.html import html

        return html(self.page)


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """What one source comes to. A whole piece has its own verdicts; single results are judged one by one."""

    name: str
    documents: tuple[Document, ...]
    sections: tuple[Section, ...]
    provenance: tuple[Document, ...] = ()
    said: tuple[str, ...] = ()
    took: Took = Took()
    notes: tuple[str, ...] = ()  # what is left out
    whole: bool = False


def report(
    *sources: Source,
    title: str = "",
    ledger: Ledger | None = None,
    metric: str = "",
    sentences: bool = True,
    anonymous: bool = False,
) -> Report:
    r"""One page about stores of studies, tables of scores and results, with a verdict in words first.

    Parameters
    ----------
    sources
        Files: stores that `deadheat run` wrote, study files, results that a command printed with `--json`, tables of
        scores. Or what `deadheat.score` and the others returned.
    title
        Above the page; by default the names of the studies and files.
    ledger
        Where looks at test sets were recorded, and which of these are sealed: sentences of such are never shown.
    metric
        Which of several, in tables of scores; the first by default.
    sentences
        Show the sentences on which systems disagree.
    anonymous
        Leave out the names of machines and of users, and the folders of files, for a review that is blind.

    Raises
    ------
    InputError
        If a file cannot be read or is none of these, or a result is not as this version makes it.

    Examples
    --------
    >>> import deadheat
    >>> gold = deadheat.read(text="a_X b_Y c_Z\n" * 20)
    >>> good, bad = deadheat.read(text="a_X b_Y c_X\n" * 20), deadheat.read(text="a_X b_X c_X\n" * 20)
    >>> made = report(deadheat.compare(gold, {"good": good, "bad": bad}))
    >>> print(made.page.verdicts[0])
    good is better than bad: it holds over sentences (33.33 points of Accuracy (tag), p = 1.9e-06).
    >>> made.html().startswith("<!doctype html>"), [figure.name for figure in made.figures][:2]
    (True, ['compare-differences', 'compare-scores'])
    """
    if not sources:
        raise InputError("nothing to report on; expected a store, a table of scores or a result")
    sealed = sealed_test_sets(ledger) if ledger is not None else frozenset()
    shown = _Shown(sentences and sealed is not None, sealed or frozenset(), people=not anonymous)
    pieces = [_piece(source, shown, ledger, metric) for source in sources]
    pieces = _named(pieces)
    documents = [document for piece in pieces for document in piece.documents]
    sections = [section for piece in pieces for section in piece.sections]
    signatures = [str(document["signature"]) for document in documents if document.get("signature")]
    foot = (*dict.fromkeys(signatures), f"deadheat {__version__}")
    if len({section.chapter for section in sections}) == 1:
        sections = [replace(section, chapter="", folded=False) for section in sections]
    sections += _left_out(pieces, UNREADABLE if sealed is None else ())
    named = title or listed(dict.fromkeys(piece.name for piece in pieces), most=MOST_NAMES)
    page = Page(named, _verdicts(pieces), tuple(sections), foot)
    provenance = tuple(each for piece in pieces for each in piece.provenance)
    return Report(page, tuple(documents), provenance, sum((piece.took for piece in pieces), Took()))


def sections_of(document: Document) -> list[Section]:
    """What a result has to show."""
    kind = str(document.get("kind", ""))
    if kind not in KINDS:
        raise NameUnknown("kind of result", kind, KINDS)
    made: list[Section] = import_module(f"deadheat.pages.{kind}").sections(document)
    return with_searches(document, made) if kind == "study" else in_chapter(made, _chapter(document))


def with_searches(study: Document, sections: Sequence[Section]) -> list[Section]:
    """The sections of a study and of its searches; where it is nothing but searches, what was run stands with them."""
    searched = [section for each in study.get("searches") or () for section in sections_of(each)]
    if searched and not study["blocks"]:
        return searched + in_chapter(sections, CHAPTERS["search"])
    return in_chapter(sections, CHAPTERS["study"]) + searched


def in_chapter(sections: Sequence[Section], chapter: str) -> list[Section]:
    """Sections under a title; of those about one of several things, only those about the first are open."""
    first = next((section.about for section in sections if section.about), "")
    return [replace(each, chapter=chapter, folded=bool(each.about) and each.about != first) for each in sections]


def _chapter(document: Document) -> str:
    kind = str(document["kind"])
    return OVER_DATA_SETS if kind == "compare" and document.get("unit") == "data set" else CHAPTERS[kind]


@dataclass(frozen=True, slots=True)
class _Shown:
    """What is shown: sentences, but for those of sealed test sets, or none; and the names of people, or not."""

    sentences: bool
    sealed: frozenset[str]
    people: bool

    def __call__(self, document: Document, pathless: Pathless | None = None) -> dict[str, Any]:
        found = without_sealed(document, self.sealed) if self.sentences else without_sentences(document)
        return dict(found) if self.people else (pathless or Pathless()).document(without_people(found))

    def stored(self, found: Stored) -> Stored:
        """All of a store that is shown."""
        if self.people:
            study, documents = (None if found.study is None else self(found.study)), map(self, found.documents)
            return replace(found, study=study, documents=tuple(documents))
        pathless = Pathless({str(each.get(name, "")) for each in found.provenance for name in ("host", "user")})
        return replace(
            found,
            study=None if found.study is None else self(found.study, pathless),
            scores=pathless.frame(found.scores),
            runs=pathless.frame(found.runs),
            provenance=tuple(pathless.document(nameless(each)) for each in found.provenance),
            documents=tuple(self(each, pathless) for each in found.documents),
            notes=tuple(map(pathless.text, found.notes)),
        )

    def tabled(self, found: Tabled) -> Tabled:
        """All of a table that is shown."""
        if self.people:
            return found
        pathless = Pathless()
        systems, datasets, notes = (
            tuple(map(pathless.text, each)) for each in (found.systems, found.datasets, found.notes)
        )
        documents = tuple(self(each, pathless) for each in found.documents)
        return replace(found, systems=systems, datasets=datasets, notes=notes, documents=documents)


def _piece(source: Source, shown: _Shown, ledger: Ledger | None, metric: str) -> _Piece:
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    found = source if path is None else opened(path, ledger=ledger, metric=metric)
    if isinstance(found, Stored):
        return _stored(shown.stored(found))
    if isinstance(found, Tabled):
        return _tabled(shown.tabled(found))
    if isinstance(found, Mapping):
        document = shown(found)
        name = path.stem if path is not None else f"deadheat {document.get('kind', '')}"
        return _Piece(name, (document,), tuple(_checked(document, str(path or "the result"))))
    document = shown(plain(found.to_dict()))  # type: ignore[union-attr]
    return _Piece(f"deadheat {document.get('kind', '')}", (document,), tuple(sections_of(document)))


def _checked(document: Document, where: str) -> list[Section]:
    """The sections of a document that somebody else may have written; all that it lacks shows here and not later."""
    kind = str(document.get("kind", ""))
    if kind not in KINDS:
        raise NameUnknown(f"{where}: kind of result", kind, KINDS)
    try:
        made = sections_of(document)
        _judged([document])
        for section in made:
            for figure in section.figures:
                figure.draw(NARROW)
    except UNFIT as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        told = f"a result of {kind} that cannot be shown ({said})"
        raise InputError(f"{where}: {told}; expected it as this version of Deadheat prints it") from error
    return made


def _stored(found: Stored) -> _Piece:
    from deadheat.pages.study import sections

    study, provenance, besides = found.study, found.provenance, found.documents
    document = {**(study or {"kind": "study", "study": found.name, "blocks": []}), "provenance": provenance}
    made = with_searches(document, sections(document, found.scores, found.runs))
    made += [section for each in besides for section in sections_of(each)]
    documents = (*([study] if study else []), *besides)
    said = () if study else (f"The study has not come to its end: {_cells(found)}; no test was made on splits.",)
    return _Piece(
        found.name,
        documents,
        tuple(made),
        provenance,
        (*said, *_judged(documents)),
        Took.of(found.runs),
        found.notes,
        whole=True,
    )


def _cells(found: Stored) -> str:
    """How many cells there are, from `NAME: 7 cells done; ...`."""
    return str(found).removeprefix(f"{found.name}: ").partition(";")[0]


def _tabled(found: Tabled) -> _Piece:
    from deadheat.pages.tabled import scores_section

    made = in_chapter([scores_section(found)], CHAPTERS["score"])
    made += [section for each in found.documents for section in sections_of(each)]
    said = verdicts(found.documents)
    return _Piece(found.name, found.documents, tuple(made), said=said, notes=found.notes, whole=True)


def _left_out(pieces: Sequence[_Piece], more: Sequence[str]) -> list[Section]:
    """What the page says of what it does not show; the notes begin with words of ours, never with a name."""
    several = sum(bool(piece.notes) for piece in pieces) > 1
    notes = [
        f"{piece.name}: {note}." if several else f"{note[:1].upper()}{note[1:]}."
        for piece in pieces
        for note in piece.notes
    ]
    notes += more
    said = ("Not all that could be said was worked out, or is shown here.",)
    return [Section(LEFT_OUT, said, notes=tuple(notes))] if notes else []


def _named(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Pieces whose chapters tell what they are about, where others of the page have the same."""
    wholes = sum(piece.whole for piece in pieces)
    chapters = Counter(chapter for piece in pieces for chapter in {section.chapter for section in piece.sections})
    found = []
    for piece in pieces:
        several = wholes > 1 and piece.whole
        sections = tuple(
            replace(each, chapter=f"{piece.name}: {each.chapter}")
            if each.chapter and (several or chapters[each.chapter] > 1)
            else each
            for each in piece.sections
        )
        said = tuple(f"{piece.name} \u2013 {each}" for each in piece.said) if several else piece.said
        found.append(replace(piece, sections=sections, said=said))
    return found


def _verdicts(pieces: Sequence[_Piece]) -> tuple[str, ...]:
    """What each study and table comes to, and then what all single results do."""
    single = [document for piece in pieces if not piece.whole for document in piece.documents]
    whole = [said for piece in pieces for said in piece.said]
    return tuple(dict.fromkeys([*whole, *(said for document in single for said in _judged([document]))]))


def _judged(documents: Sequence[Document]) -> tuple[str, ...]:
    """What results of one origin come to, searches and systems; the systems first where there are some."""
    searches = [each for each in documents if each.get("kind") == "search"]
    searches += [search for each in documents for search in each.get("searches") or ()]
    if not searches:
        return verdicts(documents)
    from deadheat.pages.search_told import verdict

    searched = [said for each in searches for said in verdict(plain(each))]
    others = verdicts([{**each, "failed": failed_systems(each)} for each in documents])
    first = any(document.get("blocks") for document in documents)
    return (*others, *searched) if first else (*searched, *others)
