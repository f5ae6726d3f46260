"""From what there is (stores, tables of scores, results of commands) to one page."""

from __future__ import annotations

import json
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from deadheat.arguments import Argument
from deadheat.charts.chart import Figure as Drawing
from deadheat.errors import InputError
from deadheat.files import STDIN, FileError, read_content, read_start
from deadheat.questions.demo import Demo
from deadheat.questions.table_report import SourceReport
from deadheat.reporting import model as m
from deadheat.reporting.html import MOTTO, Page, fragment, page_html
from deadheat.reporting.privacy import Anonymizer, sealed_test_sets, without_sealed, without_sentences
from deadheat.reporting.views import view
from deadheat.results.base import KINDS, Result, from_json
from deadheat.results.compare import Comparison
from deadheat.results.data import SplitReport
from deadheat.results.format import PERCENT
from deadheat.results.ledger import Tally
from deadheat.results.study import StudyResult
from deadheat.results.verdict import NO_CLAIMS
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
    "battles": "Over battles",
    "size": "How much test data is enough",
    "split": "How the data were split",
    "treebanks": "How large the treebanks are",
    "ledger": "Evaluations of the test sets",
}
TITLE_NAMES = 3
PROBLEM = 100  # characters of an unexpected error
SQLITE = b"SQLite format 3\x00"
DECIDING = (
    "study",
    "compare",
    "rank",
    "battles",
    "seeds",
    "contrast",
    "search",
)  # whose verdict opens a page, the first that is there
START = 1 << 16  # bytes that tell what a file is
PAGE_START = 1 << 18  # of a page, which begins with its style
UNREADABLE = "No sentences: which test sets are sealed is unknown, because the ledger cannot be read."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Report:
    """A page, and the results that it was made from."""

    page: Page
    results: tuple[Result, ...]
    warnings: tuple[str, ...] = ()  # what may be wrong with the scores

    @property
    def verdicts(self) -> list[str]:
        """The sentences that the page opens with."""
        return [str(block.headline) for block in self.page.blocks if isinstance(block, m.Verdict)]

    @property
    def figures(self) -> list[Drawing]:
        """All figures of the page, each under a name of its own."""
        return self.page.drawings

    def html(self) -> str:
        """The page as one self-contained file."""
        return page_html(self.page)

    def __repr__(self) -> str:
        return f"<Report: {' '.join(self.verdicts) or self.page.title}>"

    def _repr_html_(self) -> str:
        verdicts = [block for block in self.page.blocks if isinstance(block, m.Verdict)]
        return f'<div class="deadheat">{fragment(verdicts or [m.Heading(self.page.title)])}</div>'


@dataclass(frozen=True, slots=True)
class _Piece:
    """What one source comes to: a single result, or several of one study or table, which have one verdict."""

    name: str
    results: tuple[Result, ...]
    notes: tuple[str, ...] = ()
    protocol: str = ""
    warnings: tuple[str, ...] = ()
    is_whole: bool = False


def report(
    *sources: str | os.PathLike[str] | Result | SourceReport,
    title: Annotated[str, Argument("title of the page (default: the names of the sources)", metavar="TEXT")] = "",
    ledger: Ledger | None = None,
    metric: ReportedMetric = "",
    items: Mapping[str, Any] | None = None,
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
    items
        How to read scores of items: columns of tables, and `partial`, as in `deadheat.compare_items`.
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
    >>> print(page.verdicts[0])  # doctest: +NORMALIZE_WHITESPACE
    This run of good is better than this run of bad by 33.33 points of Accuracy (tag)
    (95% CI [+33.33, +33.33], p = 1.9e-06).
    >>> page.html().startswith("<!doctype html>"), [figure.name for figure in page.figures]
    (True, ['compare-scores', 'compare-differences', 'compare-disagreement-1', ...])
    """
    if not sources:
        raise InputError("nothing to report on; expected a store, a table of scores or a result")
    sealed = sealed_test_sets(ledger) if ledger is not None else frozenset()
    pieces = [_piece(source, ledger, metric, items or {}) for source in sources]
    if anonymous:
        anonymizer = Anonymizer()
        pieces = [_anonymous(piece, anonymizer) for piece in pieces]
    hide = partial(without_sealed, sealed=sealed) if sentences and sealed is not None else without_sentences
    pieces = [replace(piece, results=tuple(map(hide, piece.results))) for piece in pieces]
    name = title or join_names(dict.fromkeys(piece.name for piece in pieces), limit=TITLE_NAMES)
    left_out = _left_out(pieces, [UNREADABLE] if sealed is None else [])
    blocks = [*_verdicts(pieces), *_protocols(pieces), *_chapters(pieces), *left_out]
    page = Page(name, (*blocks, m.Signature(f"deadheat {__version__}")))
    warnings = tuple(dict.fromkeys(warning for piece in pieces for warning in piece.warnings))
    return Report(page, tuple(result for piece in pieces for result in piece.results), warnings)


def _piece(
    source: str | os.PathLike[str] | Result | SourceReport,
    ledger: Ledger | None,
    metric: str,
    reading: Mapping[str, Any],
) -> _Piece:
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    opened = _open(path, ledger, metric, reading) if path is not None else source
    if isinstance(opened, Result):
        return _Piece(path.stem if path is not None else _source_name(opened), (opened,))
    assert not isinstance(opened, str | os.PathLike)
    return _Piece(opened.name, opened.results, opened.notes, opened.protocol, opened.warnings, is_whole=True)


def _source_name(result: Result) -> str:
    """What a result is about, as far as it is known: the corpus or the test sets."""
    if isinstance(result, SplitReport):
        return result.corpus
    if isinstance(result, Comparison) and result.dataset:
        return result.dataset
    test_sets: tuple[Tally, ...] = getattr(result, "evaluations", ())
    return join_names(dict.fromkeys(test_set.name for test_set in test_sets)) or f"deadheat {result.kind}"


def _anonymous(piece: _Piece, anonymizer: Anonymizer) -> _Piece:
    results = tuple(map(anonymizer.result, piece.results))
    return replace(piece, results=results, notes=tuple(map(anonymizer.text, piece.notes)))


def _verdicts(pieces: Sequence[_Piece]) -> Iterator[m.Block]:
    """One verdict for each study or table, and for each single result."""
    for piece in pieces:
        verdicts = _merged_verdicts(piece) if piece.is_whole else _verdicts_of(piece.results)
        yield from _about(piece.name, verdicts) if len(pieces) > 1 else verdicts


def _about(source: str, blocks: Iterable[m.Block]) -> Iterator[m.Block]:
    """Blocks whose tables, and whose sentences with values in them, name their source."""

    def named(words: m.Words) -> m.Words:
        pieces = words.pieces if isinstance(words, m.Text) else ()
        if any(isinstance(piece, m.Shown) and piece.value == source for piece in pieces):
            return words
        return m.text("{}: ", source) + words if words else m.text("{}", source)

    for block in blocks:
        match block:
            case m.Verdict():
                yield replace(block, headline=named(block.headline))  # which stands above the table of claims
            case m.Table():
                yield replace(block, caption=named(block.caption))
            case m.Paragraph(text=m.Text(pieces=pieces)) if any(isinstance(piece, m.Shown) for piece in pieces):
                yield replace(block, text=named(block.text))
            case _:
                yield block


def _verdicts_of(results: Iterable[Result]) -> Iterator[m.Verdict]:
    for result in results:
        yield from (block for block in view(result) if isinstance(block, m.Verdict))


def _merged_verdicts(piece: _Piece) -> Iterator[m.Verdict]:
    """The verdict of the result that can tell most; results that compare no systems have their own sentences."""
    main, *others = piece.results
    first, *searches = _verdicts_of([main])
    compared = [result for result in piece.results if getattr(result, "verdict", NO_CLAIMS)]
    if compared:
        if isinstance(main, StudyResult) and not main.finished:
            yield first
        deciding = min(compared, key=lambda result: DECIDING.index(result.kind))
        first = next(_verdicts_of([deciding]))
    yield from (first, *searches)
    yield from _verdicts_of(result for result in others if result not in compared and result.kind != "ledger")


def _protocols(pieces: Sequence[_Piece]) -> Iterator[m.Block]:
    """The papers whose experiments were followed."""
    for piece in pieces:
        if piece.protocol:
            paragraph = m.Paragraph(piece.protocol)
            yield from _about(piece.name, [paragraph]) if len(pieces) > 1 else [paragraph]


def _chapters(pieces: Sequence[_Piece]) -> Iterator[m.Block]:
    """The views of all results, each under a chapter; chapters are named after their source where titles repeat."""
    titles = Counter(CHAPTERS[result.kind] for piece in pieces for result in piece.results)
    wholes = sum(piece.is_whole for piece in pieces)
    for piece in pieces:
        for kind in dict.fromkeys(result.kind for result in piece.results):
            title = CHAPTERS[kind]
            named = titles[title] > 1 or (wholes > 1 and piece.is_whole)
            if titles.total() > 1:
                yield m.Heading(m.text("{}: {}", piece.name, title) if named else title, level=1)
            views = [view(result) for result in piece.results if result.kind == kind]
            blocks = [block for blocks in views for block in blocks if not isinstance(block, m.Verdict)]
            yield from _about(piece.name, blocks) if len(pieces) > 1 else blocks


def _left_out(pieces: Sequence[_Piece], more: Sequence[str]) -> Iterator[m.Block]:
    several = sum(bool(piece.notes) for piece in pieces) > 1
    notes = [f"{piece.name}: {note}" if several else note for piece in pieces for note in piece.notes]
    if notes or more:
        yield m.Heading("What was left out", level=1)
        yield m.Paragraph("Not everything was computed, or is shown here.")
        yield from map(m.note, (*notes, *more))


def _open(path: Path, ledger: Ledger | None, metric: str, reading: Mapping[str, Any]) -> SourceReport | Result:
    """What the file holds, recognized by its first bytes; of a study file, its store."""
    from deadheat.reporting.opening import has_scores, open_table, refuse_columns  # with polars

    content = None
    if path.is_dir():
        return open_table(os.fspath(path), path, ledger, metric, reading)
    if os.fspath(path) == STDIN or path.is_fifo():  # read once
        content = read_content(path)
        start = content[:START]
    else:
        start = read_start(path, START)
    if start.startswith(SQLITE) or path.suffix == ".toml":
        if content is not None:
            raise InputError(f"{path}: a store or a study in a pipe; expected a file")
        refuse_columns(path, reading)
        from deadheat.questions.store_report import store_report  # with polars and all that studies need

        return store_report(path if start.startswith(SQLITE) else _store_of(path), ledger=ledger)
    if (".json" in path.suffixes or _is_json_result(start)) and (b'"kind"' in start or not has_scores(path, start)):
        refuse_columns(path, reading)
        return _shown(from_json(read_content(path) if content is None else content, source=str(path)), path)
    from deadheat.tables.table import read_table

    is_table = content is not None or not has_scores(path, start)
    return open_table(read_table(path, content) if is_table else os.fspath(path), path, ledger, metric, reading)


def _shown(result: Result, path: Path) -> Result:
    """A result that was read from a file, if it can be shown: its fields may contradict each other."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            report(result).html()
    except Exception as error:
        problem = f"{type(error).__name__}: {' '.join(str(error).split())[:PROBLEM]}"
        expected = f"expected a {result.kind} result as Deadheat writes it"
        raise InputError(f"{path}: cannot be shown, as if its fields were changed ({problem}); {expected}") from error
    return result


def is_page(path: Path) -> bool:
    """Whether a file is a page of Deadheat's, and so may be replaced by another."""
    try:
        start = read_start(path, PAGE_START)
    except FileError:
        return False
    return start.startswith(b"<!doctype html>") and MOTTO.encode() in start


def _store_of(path: Path) -> Path:
    """The store of a study file; its corpora may be gone."""
    from deadheat.study.plan.toml_lines import read_toml

    name = read_toml(path)[1].get("store") or f"{path.stem}.sqlite"
    store = path.parent / str(name)
    if not store.exists():
        raise InputError(f"{path}: no store {store}; expected deadheat run {path} first, or the store itself")
    return store


def _is_json_result(start: bytes) -> bool:
    """Whether a text is one object, as results are, and not a table with one object per line."""
    if not start.lstrip().startswith(b"{"):
        return False
    first = start.lstrip().partition(b"\n")[0]
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return True
    return isinstance(row, dict) and str(row.get("kind")) in KINDS


def demo_report(demo: Demo) -> Report:
    """The report of the demo's store, its splits and its parsers; at the end, the truth about the parsers."""
    made = report(demo.store, SplitReport.of(demo.splits), demo.parsers, title="Deadheat demo", ledger=demo.ledger)
    return replace(made, page=replace(made.page, blocks=(*made.page.blocks, *truth_blocks(demo))))


def truth_blocks(demo: Demo) -> Iterator[m.Block]:
    """What is true of the simulated parsers, beside what was measured."""
    yield m.Heading("The truth about the simulated parsers", level=1)
    truth = "B and C are equally good, and A is better by one point of LAS"
    yield m.Paragraph(f"Their predictions are generated, so their true scores are known: {truth}.")
    columns = (m.Column("parser"), m.Column("measured LAS", PERCENT.score), m.Column("true LAS", PERCENT.score))
    yield m.Table(columns, tuple((row.system, row.value, demo.truth[row.system]) for row in demo.parsers.ranked))
