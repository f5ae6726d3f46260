"""From what there is (stores, tables of scores, results of commands) to one page."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypeAlias

from deadheat.arguments import Argument
from deadheat.charts.chart import Figure as Drawing
from deadheat.errors import InputError
from deadheat.questions.table_report import SourceReport
from deadheat.report.html import Page, page_html
from deadheat.report.model import Block, Heading, Note, Paragraph, Signature, Verdict, Words, text
from deadheat.report.privacy import Anonymizer, sealed_test_sets, without_sealed, without_sentences
from deadheat.report.sources import open_source
from deadheat.report.verdict import verdict_block
from deadheat.report.views import view
from deadheat.results.base import Result
from deadheat.results.verdict import Claim, merge_claims
from deadheat.results.verdict import Verdict as Claims
from deadheat.study.ledger.ledger import Ledger
from deadheat.text import join_names
from deadheat.version import __version__

ReportedMetric: TypeAlias = Annotated[
    str,
    Argument("the metric to report of tables with several (default: the first)", short="-m", metavar="NAME"),
]

CHAPTERS = {
    "study": "Scores and differences",
    "table": "Scores",
    "search": "Settings searched",
    "score": "Scores",
    "compare": "Systems compared",
    "power": "Power",
    "seeds": "Over runs",
    "contrast": "Over settings",
    "rank": "Over data sets",
    "size": "How much test data is enough",
    "split": "How the data were split",
    "ledger": "Evaluations of the test sets",
}
CLAIMS = 12  # rows of the table of claims about one source
TITLE_NAMES = 3
UNREADABLE = "No sentences: which test sets are sealed is unknown, because the ledger cannot be read."


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A page, and the results that it was made from."""

    page: Page
    results: tuple[Result, ...]

    @property
    def verdicts(self) -> list[str]:
        """The sentences that the page opens with."""
        return [str(block.headline) for block in self.page.blocks if isinstance(block, Verdict)]

    @property
    def figures(self) -> list[Drawing]:
        """All figures of the page, each under a name of its own."""
        return self.page.drawings

    def html(self) -> str:
        """The page as one self-contained file."""
        return page_html(self.page)


@dataclass(frozen=True, slots=True)
class _Piece:
    """What one source comes to: a single result, or several of one study or table, which have one verdict."""

    name: str
    results: tuple[Result, ...]
    notes: tuple[str, ...] = ()
    is_whole: bool = False


def report(
    *sources: str | os.PathLike[str] | Result | SourceReport,
    title: Annotated[str, Argument("title of the page (default: the names of the sources)", metavar="TEXT")] = "",
    ledger: Ledger | None = None,
    metric: ReportedMetric = "",
    sentences: bool = True,
    anonymous: Annotated[bool, Argument("leave out machines, users and folders, for a blind review")] = False,
) -> Report:
    r"""One page about stores of studies, tables of scores and results, with the verdict first.

    Parameters
    ----------
    sources
        Files: stores that `deadheat run` wrote, study files, results that a command printed with `--json`, tables of
        scores. Or what `deadheat.score` and the others returned.
    title
        Above the page; by default the names of the studies and files.
    ledger
        Where evaluations of test sets were recorded, and which test sets are sealed: their sentences are never shown.
    metric
        Which of several, in tables of scores; the first by default.
    sentences
        Show the sentences on which systems disagree.
    anonymous
        Leave out the names of machines and users, and the folders of files, for a blind review.

    Raises
    ------
    InputError
        If a file cannot be read or is none of these.

    Examples
    --------
    >>> import deadheat
    >>> gold = deadheat.read(text="a_X b_Y c_Z\n" * 20)
    >>> good, bad = deadheat.read(text="a_X b_Y c_X\n" * 20), deadheat.read(text="a_X b_X c_X\n" * 20)
    >>> page = report(deadheat.compare(gold, {"good": good, "bad": bad}))
    >>> print(page.verdicts[0])
    good is better than bad by 33.33 points of Accuracy (tag) (95% CI [+33.33, +33.33], p = 1.9e-06).
    >>> page.html().startswith("<!doctype html>"), [figure.name for figure in page.figures]
    (True, ['compare-scores', 'compare-differences', 'compare-disagreement-1', ...])
    """
    if not sources:
        raise InputError("nothing to report on; expected a store, a table of scores or a result")
    sealed = sealed_test_sets(ledger) if ledger is not None else frozenset()
    pieces = [_piece(source, ledger, metric) for source in sources]
    if anonymous:
        anonymizer = Anonymizer()
        pieces = [_anonymous(piece, anonymizer) for piece in pieces]
    show_sentences = sentences and sealed is not None
    pieces = [
        replace(
            piece,
            results=tuple(
                without_sealed(result, sealed or ()) if show_sentences else without_sentences(result)
                for result in piece.results
            ),
        )
        for piece in pieces
    ]
    name = title or join_names(dict.fromkeys(piece.name for piece in pieces), limit=TITLE_NAMES)
    blocks = [*_verdicts(pieces), *_chapters(pieces), *_left_out(pieces, [UNREADABLE] if sealed is None else [])]
    page = Page(name, (*blocks, Signature(f"deadheat {__version__}")))
    return Report(page, tuple(result for piece in pieces for result in piece.results))


def _piece(source: str | os.PathLike[str] | Result | SourceReport, ledger: Ledger | None, metric: str) -> _Piece:
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    opened = open_source(path, ledger=ledger, metric=metric) if path is not None else source
    if isinstance(opened, Result):
        return _Piece(path.stem if path is not None else f"deadheat {opened.kind}", (opened,))
    assert not isinstance(opened, str | os.PathLike)
    return _Piece(opened.name, opened.results, opened.notes, is_whole=True)


def _anonymous(piece: _Piece, anonymizer: Anonymizer) -> _Piece:
    results = tuple(map(anonymizer.result, piece.results))
    return replace(piece, results=results, notes=tuple(map(anonymizer.text, piece.notes)))


def _verdicts(pieces: Sequence[_Piece]) -> Iterator[Verdict]:
    """One verdict for each study or table, and for each single result; each names its source where there are several."""
    for piece in pieces:
        verdicts = list(_whole_verdicts(piece) if piece.is_whole else _own_verdicts(piece.results))
        for verdict in verdicts:
            yield replace(verdict, headline=_about(piece.name, verdict.headline)) if len(pieces) > 1 else verdict


def _about(name: str, headline: Words) -> Words:
    return text("{}: ", name) + headline


def _own_verdicts(results: Sequence[Result]) -> Iterator[Verdict]:
    for result in results:
        yield from (block for block in view(result) if isinstance(block, Verdict))


def _whole_verdicts(piece: _Piece) -> Iterator[Verdict]:
    """The claims of all results in one table; results that compare no systems have their own sentences."""
    main, *others = piece.results
    own, *searches = [block for block in view(main) if isinstance(block, Verdict)] or [Verdict("")]
    claims = merge_claims(claim for result in piece.results for claim in _claims(result))
    if claims:
        systems = max(getattr(result, "verdict", Claims()).systems for result in piece.results)
        shown = Claims(claims[:CLAIMS], omitted=max(0, len(claims) - CLAIMS), systems=systems)
        yield verdict_block(shown, remarks=own.remarks)
    else:
        yield own
    yield from searches
    yield from _own_verdicts([result for result in others if not _claims(result) and result.kind != "ledger"])


def _claims(result: Result) -> tuple[Claim, ...]:
    """The claims of a result; those over all data sets say so."""
    if result.kind == "search":
        return ()
    verdict: Claims = getattr(result, "verdict", Claims())
    if result.kind != "compare":
        return verdict.claims
    return tuple(
        replace(claim, dataset=f"all {evidence.count:,} data sets")
        if (evidence := claim.evidence[0]).source == "data sets" and not claim.dataset
        else claim
        for claim in verdict.claims
    )


def _chapters(pieces: Sequence[_Piece]) -> Iterator[Block]:
    """The views of all results, each under a chapter; chapters are named after their source where titles repeat."""
    titles = Counter(CHAPTERS[result.kind] for piece in pieces for result in piece.results)
    alone = sum(titles.values()) == 1
    wholes = sum(piece.is_whole for piece in pieces)
    for piece in pieces:
        for kind in dict.fromkeys(result.kind for result in piece.results):
            title = CHAPTERS[kind]
            named = titles[title] > 1 or (wholes > 1 and piece.is_whole)
            if not alone:
                yield Heading(text("{}: {}", piece.name, title) if named else title, level=1)
            for result in piece.results:
                if result.kind == kind:
                    yield from (block for block in view(result) if not isinstance(block, Verdict))


def _left_out(pieces: Sequence[_Piece], more: Sequence[str]) -> Iterator[Block]:
    several = sum(bool(piece.notes) for piece in pieces) > 1
    notes = [
        f"{piece.name}: {note}." if several else f"{note[:1].upper()}{note[1:]}."
        for piece in pieces
        for note in piece.notes
    ]
    if notes or more:
        yield Heading("What is left out")
        yield Paragraph("Not everything was computed, or is shown here.")
        for note in (*notes, *more):
            yield Note(note)
