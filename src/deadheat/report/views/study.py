"""How systems compare over the splits and seeds of a study, where they agree, and what was run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from deadheat.report.model import (
    Block,
    Column,
    Content,
    Figure,
    Heading,
    Note,
    Paragraph,
    Shown,
    Signature,
    Table,
    Text,
    Verdict,
    View,
    count,
    join_text,
    score,
    text,
)
from deadheat.report.verdict import verdict_block
from deadheat.report.views.compare import agreement_blocks as sentence_blocks
from deadheat.report.views.search import search_blocks, search_verdict, training
from deadheat.report.views.study_details import evidence_blocks
from deadheat.report.views.study_families import over
from deadheat.results.compare import Agreement
from deadheat.results.format import COUNT, DURATION, SHARE, number_format
from deadheat.results.search import SearchResult
from deadheat.results.study import FailedCell, StudyBlock, StudyResult
from deadheat.text import join_names

ROWS = 20  # of a table that is not folded
FAILURES, REASON = 100, 300  # failed cells that are listed, and characters of an error message
NUMBER = number_format(1)


def view(result: StudyResult) -> View:
    """The verdict, scores and pairs of every corpus and part, searches, and what was run."""
    blocks: list[Block] = []
    if result.blocks or not result.searches:
        blocks.append(_verdict(result))
    blocks += map(search_verdict, result.searches)
    searched = [block for search in result.searches for block in search_blocks(search)]
    signatures = [Signature(each.signature) for each in (result, *result.searches)]
    if not result.blocks:
        return (*blocks, *searched, *run_blocks(result), *signatures)
    blocks += [*evidence_blocks(result), *agreement_blocks(result), *run_blocks(result)]
    blocks += [Heading("Settings searched", level=1), *searched] if searched else []
    return (*blocks, *signatures)


def _verdict(result: StudyResult) -> Verdict:
    failed, remarks = len(result.failed_systems), []
    if failed and result.finished:
        remarks.append(text("{} of {} failed and are left out.", Shown(failed, COUNT), count(result.cells, "cell")))
    if not result.finished:
        done = result.runs.done if result.runs is not None else 0
        more = text(", {} failed", Shown(failed, COUNT)) if failed else Text(())
        unfinished = text("The study is not finished: {} done{}. Nothing was tested.", count(done, "cell"), more)
        return Verdict(unfinished)
    if not result.verdict and result.blocks:
        return Verdict(_best(result), remarks=tuple(remarks))
    if not result.blocks:
        return Verdict("The study has no results yet.", remarks=tuple(remarks))
    return verdict_block(result.verdict, remarks=remarks)


def _best(result: StudyResult) -> Text:
    """The best score where no two systems were compared."""
    block = next(block for block in result.blocks if block.part == result.parts[0])
    best = block.ranked[0]
    metric = result.metric_name(best.metric)
    where = text("{} of {}, {}", block.part, block.corpus, Text((over(block),)))
    if math.isnan(best.mean):
        return text("{} has no {} on {}: there was nothing to get right.", best.system, metric, where)
    return text("{} has {} {} on {}.", best.system, metric, score(best.mean, result.scale), where)


def agreement_blocks(result: StudyResult) -> Iterator[Block]:
    """How far systems agree, and the sentences of the first split on which they agree least."""
    blocks = [block for part in result.parts for block in result.blocks if block.part == part and block.agreement]
    if not blocks:
        return
    yield Heading("Where the systems agree")
    rows: list[tuple[Content, ...]] = []
    for block in blocks:
        for labels, found in _by_labels(block).items():
            means = [_mean([getattr(item, field) for item in found]) for field in ("alpha", "oracle", "majority")]
            rows.append((block.corpus, block.part, block.way, labels, *means))
    columns = [Column("corpus"), Column("part"), Column("split"), Column("labels"), Column("alpha", number_format())]
    columns += [Column("some system right", SHARE), Column("majority right", SHARE)]
    caption = (
        "Krippendorff's alpha, and the share of words that some system or the majority has right; means over splits."
    )
    yield Table(tuple(columns), tuple(rows), caption=caption, labels=4, folded=len(rows) > ROWS)
    first = blocks[0]
    figures = [item for item in sentence_blocks(first.agreement[0], label="study") if isinstance(item, Figure)]
    if figures:
        where = text("{}, {}, split {}", first.corpus, first.part, Shown(first.numbers[0], COUNT))
        yield Paragraph(
            text("The sentences of {} on which the systems agree least, not a fair sample.", where), detail=True
        )
    for figure in figures:
        yield Figure(figure.drawing)
    yield Note("Agreement is that of the first seeds, over all words.")


def _by_labels(block: StudyBlock) -> dict[str, list[Agreement]]:
    groups: dict[str, list[Agreement]] = {}
    for agreement in block.agreement:
        groups.setdefault(agreement.labels, []).append(agreement)
    return groups


def _mean(values: Sequence[float]) -> float:
    finite = [value for value in values if not math.isnan(value)]
    return fmean(finite) if finite else math.nan


def run_blocks(result: StudyResult) -> Iterator[Block]:
    """Corpora, splits, systems with their settings and seeds, what they took, and what failed."""
    if result.missing:
        yield Paragraph(text("{} of the plan without a result.", count(result.missing, "cell")))
    yield Heading("What was run", detail=True)
    for sentence in _summary(result):
        yield Paragraph(sentence, detail=True)
    if result.corpora:
        rows = tuple((corpus.name, corpus.sentences, corpus.words) for corpus in result.corpora)
        columns = (Column("corpus"), Column("sentences", COUNT), Column("words", COUNT))
        yield Table(tuple(columns), rows, folded=len(rows) > ROWS, detail=True)
    if result.strategies:
        splits = tuple((item.split, item.times, str(item.seed)) for item in result.strategies)
        yield Table((Column("split"), Column("times", COUNT), Column("seed")), splits, detail=True)
    yield from _systems(result)
    yield from _failures(result.failed)
    yield from _machines(result)
    for note in result.notes:
        yield Note(f"{note[:1].upper()}{note[1:]}.")


def _summary(result: StudyResult) -> Iterator[Text]:
    if result.cells:
        failed = len(result.failed_systems)
        never = max(result.missing - failed, 0)
        parts = [text("{} are done", Shown(result.cells - result.missing, COUNT))]
        parts += [text("{} failed", Shown(failed, COUNT))] if failed else []
        parts += [text("{} were not run", Shown(never, COUNT))] if never else []
        yield text(
            "Of {} (one training with its predictions each), {}.", count(result.cells, "cell"), join_text(parts, ", ")
        )
    for search in result.searches:
        finals = ", and then the final networks of its winners" if search.retrained else ""
        yield text("The search of {} trained {}{}.", search.system, training(search), Text((finals,)))
    if result.runs is not None:
        started = text("; the first cell started at {} (UTC)", result.runs.started) if result.runs.started else Text(())
        yield text("All cells took {} of CPU time{}.", Shown(result.runs.cpu_s, DURATION), started)
    if result.damaged:
        cells = count(len(result.damaged), "cell")
        yield text("The predictions of {} are gone or changed; they are not compared.", cells)


def _systems(result: StudyResult) -> Iterator[Block]:
    """Systems with their settings and seeds, and what a cell of each took."""
    took = {} if result.runs is None else {row.system: row for row in result.runs.systems}
    systems = [(system.label, system.name, seeds_text(system.seeds)) for system in result.systems]
    systems = systems or [(name, "", "") for name in took if name not in _search_labels(result.searches)]
    for search in result.searches:
        varied = f"{len(search.candidates):,} settings of {join_names(search.varied)}"
        systems.append((search.run_label, varied, seeds_text(search.seeds)))
    rows: list[tuple[Content, ...]] = []
    for label, settings, seeds in systems:
        row: list[Content] = [label, settings or None, seeds or None]
        if took:
            own = took.get(label)
            row += [0, 0, None, None] if own is None else [own.done, own.failed, own.cpu_s, own.peak_mb]
        rows.append(tuple(row))
    columns = [Column("system"), Column("name with settings"), Column("seeds")]
    if took:
        columns += [Column("done", COUNT), Column("failed", COUNT)]
        columns += [Column("CPU s per cell", NUMBER), Column("peak MB", number_format(0))]
    if rows:
        yield Table(tuple(columns), tuple(rows), labels=3, folded=len(rows) > 2 * ROWS, detail=True)


def _search_labels(searches: Sequence[SearchResult]) -> set[str]:
    return {search.run_label for search in searches}


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


def _failures(failed: Sequence[FailedCell]) -> Iterator[Block]:
    if not failed:
        return
    rows = tuple(
        (
            cell.system,
            cell.corpus,
            cell.split,
            cell.number,
            cell.seed,
            cell.status,
            " ".join(cell.error.split())[:REASON],
        )
        for cell in failed[:FAILURES]
    )
    columns = [Column("system"), Column("corpus"), Column("split"), Column("number", COUNT), Column("seed", COUNT)]
    columns += [Column("status"), Column("reason")]
    more = f" The first {FAILURES} of {len(failed):,}." if len(failed) > FAILURES else ""
    yield Table(
        tuple(columns), rows, caption=f"Cells that failed.{more}", labels=3, folded=len(rows) > ROWS, detail=True
    )


def _machines(result: StudyResult) -> Iterator[Block]:
    """What cells were run with."""
    rows: list[tuple[Content, ...]] = []
    for item in result.provenance:
        versions = ", ".join(f"{package} {version}" for package, version in item.versions.items())
        revision = item.revision[:12] + (" (changed)" if item.changed else "")
        machine = text("{}, {}", item.platform, count(item.processors, "processor"))
        rows.append((item.host or None, item.user or None, machine, versions, revision or None))
    columns = tuple(map(Column, ("host", "user", "machine", "versions", "revision")))
    if rows:
        yield Table(tuple(columns), tuple(rows), caption="What it ran on.", labels=5, folded=len(rows) > 3, detail=True)
