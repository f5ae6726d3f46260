"""How systems compare over the splits and seeds of a study, where they agree, and what was run."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from statistics import fmean

from deadheat.reporting import model as m
from deadheat.reporting.verdict import verdict_block
from deadheat.reporting.views.compare import disputed_sentences, over_corpora
from deadheat.reporting.views.search import search_blocks, search_verdict, training
from deadheat.reporting.views.study_details import evidence_blocks
from deadheat.reporting.views.study_families import over
from deadheat.results.format import COUNT, DURATION, NAME, SHARE, number_format
from deadheat.results.study import FailedCell, StudyResult
from deadheat.text import join_names

ROWS = 20  # of a table that is not folded
FAILURES, REASON = 100, 300  # failed cells that are listed, and characters of an error message


def view(result: StudyResult) -> Iterator[m.Block]:
    """The verdict, scores and pairs of every corpus and part, searches, and what was run."""
    if result.blocks or not result.searches:
        yield _verdict(result)
    yield from map(search_verdict, result.searches)
    searched = [block for search in result.searches for block in search_blocks(search)]
    searched += [m.Signature(search.signature) for search in result.searches]
    if result.blocks:
        chapter = [m.Heading("Settings searched", level=1)] if searched else []
        yield from _together(result)
        yield from (*evidence_blocks(result), *_agreement(result), *_runs(result), *chapter, *searched)
    else:
        yield from (*searched, *_runs(result))


def _together(result: StudyResult) -> Iterator[m.Block]:
    """All corpora together, by every strategy that several of them share."""
    parts = [*result.parts, *(item.dataset for item in result.comparisons)]
    for comparison in sorted(result.comparisons, key=lambda item: parts.index(item.dataset)):
        splits = "over random splits" if comparison.unit == "split" else "on single splits"
        corpora = m.Shown(len(comparison.datasets), COUNT, suffix=" corpora")
        title = m.text(f"{{}} together: {{}} on {{}} {splits}", corpora, comparison.metric, comparison.dataset)
        yield from over_corpora(comparison, title, detail=comparison.dataset != result.parts[0])


def _verdict(result: StudyResult) -> m.Verdict:
    failed = len(result.failed_systems)
    if not result.finished:
        done = m.count(result.runs.done if result.runs is not None else 0, "cell")
        more = m.text(", {} failed", failed) if failed else None
        progress = m.text("The study is not finished: {} done{}. Nothing was tested.", done, more)
        command = f"deadheat run STUDY.toml --store {shlex.quote(result.store) if result.store else 'STORE'}"
        remark = m.text("For tests and a verdict: {} (cells that are there are not trained again).", command)
        return m.Verdict(progress, remarks=(remark,))
    all_failed = failed == result.cells and not result.blocks and failed > 0
    headline: m.Words = "" if result.blocks else "The study has no results yet."
    if all_failed:
        headline = m.text("All {} failed.", m.count(failed, "cell")) if failed > 1 else "The only cell failed."
    if result.blocks and not result.verdict:
        headline = _best(result)
    left_out = m.text("{} of {} failed and are left out.", failed, m.count(result.cells, "cell"))
    remarks = [left_out] if failed and not all_failed else []
    if any(pair.about_runs for comparison in result.comparisons for pair in comparison.pairs):
        remarks.append(
            m.text("Some systems have one seed: over these data sets, claims about them are about these models.")
        )
    if any(claim.is_planned for claim in result.verdict.claims):
        words = "{} was planned before the study ran, and is tested alone. The other claims were found in the data."
        remarks.append(m.text(words, result.hypothesis))
    return verdict_block(result.verdict, headline=headline, remarks=remarks)


def _best(result: StudyResult) -> m.Text:
    """The best score where no two systems were compared."""
    block = next(block for block in result.blocks if block.part == result.parts[0])
    best = block.ranked[0]
    metric = result.metric_name(best.metric)
    where = m.text("{} of {}, {}", block.part, block.corpus, over(block))
    if math.isnan(best.mean):
        return m.text("{} has no {} on {}: there was nothing to get right.", best.system, metric, where)
    return m.text("{} has {} {} on {}.", best.system, metric, m.score(best.mean, result.scale), where)


def _agreement(result: StudyResult) -> Iterator[m.Block]:
    """How far systems agree, and the sentences of the first split on which they agree least."""
    blocks = [block for part in result.parts for block in result.blocks if block.part == part and block.agreement]
    if not blocks:
        return
    yield m.Heading("Where the systems agree")
    rows: list[m.Row] = []
    for block in blocks:
        for labels in dict.fromkeys(item.labels for item in block.agreement):
            splits = [(item.alpha, item.oracle, item.majority) for item in block.agreement if item.labels == labels]
            rows.append((block.corpus, block.part, block.split_label, labels, *map(_mean, zip(*splits, strict=True))))
    columns = [*m.columns(NAME, "corpus", "part", "split", "labels"), m.Column("alpha", number_format())]
    columns += m.columns(SHARE, "some system right", "majority right")
    what = "Krippendorff's alpha, and the share of words that some system or the majority has right; means over splits."
    yield m.Table(columns, rows, caption=what, labels=4, folded=len(rows) > ROWS)
    first = blocks[0]
    figures = list(disputed_sentences(first.agreement[0], "study", detail=True))
    if figures:
        where = m.text("{}, {}, split {}", first.corpus, first.part, first.numbers[0])
        yield m.explanation("The sentences of {} on which the systems agree least, not a representative sample.", where)
    yield from figures
    yield m.Note("Agreement is that of the first seeds, over all words.")


def _mean(values: Sequence[float]) -> float:
    finite = [value for value in values if not math.isnan(value)]
    return fmean(finite) if finite else math.nan


def _runs(result: StudyResult) -> Iterator[m.Block]:
    """Corpora, splits, systems with their settings and seeds, what they took, and what failed."""
    if result.missing:
        yield m.paragraph("{} of the plan without a result.", m.count(result.missing, "cell"))
    yield m.Heading("What was run", detail=True)
    for sentence in _summary(result):
        yield m.explanation("{}", sentence)
    tables = [_corpora(result), _strategies(result), _systems(result), _failures(result.failed), _machines(result)]
    yield from (table for table in tables if table.rows)


def _corpora(result: StudyResult) -> m.Table:
    rows = [(corpus.name, corpus.sentences, corpus.words) for corpus in result.corpora]
    columns = (m.Column("corpus"), *m.columns(COUNT, "sentences", "words"))
    return m.Table(columns, rows, folded=len(rows) > ROWS, detail=True)


def _strategies(result: StudyResult) -> m.Table:
    rows = [(item.split, item.times, str(item.seed)) for item in result.strategies]
    return m.Table((m.Column("split"), m.Column("times", COUNT), m.Column("seed")), rows, detail=True)


def _summary(result: StudyResult) -> Iterator[m.Text]:
    if result.cells:
        failed = len(result.failed_systems)
        others = {"{} failed": failed, "{} were not run": result.missing - failed}
        parts = [m.text("{} are done", result.cells - result.missing)]
        parts += [m.text(words, number) for words, number in others.items() if number > 0]
        words = "Of {} (one training with its predictions each), {}."
        yield m.text(words, m.count(result.cells, "cell"), m.join_text(parts, ", "))
    for search in result.searches:
        finals = ", and then the final networks of its winners" if search.retrained else ""
        yield m.text(f"The search of {{}} trained {{}}{finals}.", search.system, training(search))
    if result.runs is not None:
        started = m.text("; the first cell started at {} (UTC)", result.runs.started) if result.runs.started else None
        yield m.text("All cells took {} of CPU time{}.", m.Shown(result.runs.cpu_s, DURATION), started)
    if result.damaged:
        cells = m.count(len(result.damaged), "cell")
        yield m.text("The predictions of {} are gone or changed; they are not compared.", cells)


def _systems(result: StudyResult) -> m.Table:
    """Systems with their settings and seeds, and what a cell of each took."""
    took = {} if result.runs is None else {row.system: row for row in result.runs.systems}
    systems = [(system.label, system.name, seeds_text(system.seeds)) for system in result.systems]
    searches = {search.run_label: search for search in result.searches}
    systems = systems or [(name, "", "") for name in took if name not in searches]
    for label, search in searches.items():
        varied = f"{len(search.candidates):,} settings of {join_names(search.varied)}"
        systems.append((label, varied, seeds_text(search.seeds)))
    rows: list[m.Row] = []
    for label, settings, seeds in systems:
        runs = took.get(label)
        cost = (0, 0, None, None) if runs is None else (runs.done, runs.failed, runs.cpu_s, runs.peak_mb)
        rows.append((label, settings or None, seeds or None, *(cost if took else ())))
    columns = m.columns(NAME, "system", "name with settings", "seeds")
    if took:
        columns += m.columns(COUNT, "done", "failed")
        columns += [m.Column("CPU s per cell", number_format(1)), m.Column("peak MB", number_format(0))]
    return m.Table(columns, rows, labels=3, folded=len(rows) > 2 * ROWS, detail=True)


def seeds_text(seeds: Sequence[int]) -> str:
    """Seeds, as a range where they are one.

    Examples
    --------
    >>> seeds_text([0, 1, 2]), seeds_text([4, 7])
    ('0 to 2', '4 and 7')
    """
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return join_names(map(str, seeds), limit=12)


def _failures(failed: Sequence[FailedCell]) -> m.Table:
    rows: list[m.Row] = []
    for cell in failed[:FAILURES]:
        reason = " ".join(cell.error.split())[:REASON]
        rows.append((cell.system, cell.corpus, cell.split, cell.number, cell.seed, cell.status, reason))
    columns = [*m.columns(NAME, "system", "corpus", "split"), *m.columns(COUNT, "number", "seed")]
    columns += m.columns(NAME, "status", "reason")
    more = f" The first {FAILURES} of {len(failed):,}." if len(failed) > FAILURES else ""
    return m.Table(columns, rows, caption=f"Cells that failed.{more}", labels=3, folded=len(rows) > ROWS, detail=True)


def _machines(result: StudyResult) -> m.Table:
    """What cells were run with."""
    rows: list[m.Row] = []
    for item in result.provenance:
        versions = ", ".join(f"{package} {version}" for package, version in item.versions.items())
        revision = item.revision[:12] + (" (changed)" if item.changed else "")
        machine = m.text("{}, {}", item.platform, m.count(item.processors, "processor"))
        rows.append((item.host or None, item.user or None, machine, versions, revision or None))
    columns = m.columns(NAME, "host", "user", "machine", "versions", "revision")
    return m.Table(columns, rows, caption="What it ran on.", labels=5, folded=len(rows) > 3, detail=True)
