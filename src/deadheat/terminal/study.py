"""A study on a terminal: what it will run, and what it found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deadheat.questions.study import Block, Standing, StudyResult
from deadheat.study.engine.progress import duration
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import searches_of
from deadheat.terminal.search import search_plan
from deadheat.terminal.tables import Toned, percent, prose, table
from deadheat.text import pluralize


def plan_text(plan: Plan, missing: int, finals: int, looks: int, test_sets: int, seconds: float | None) -> str:
    """What will run: corpora, splits, systems with their seeds, cells, looks at test sets, and how long it takes.

    `finals` are the networks of winners that are still to be trained, at most.
    """
    corpora = [
        [name, f"{material.corpus.sentences:,}", f"{material.corpus.words:,}"]
        for name, material in plan.materials.items()
    ]
    splits = [[strategy.name, f"{times:,}", str(seed)] for strategy, times, seed in plan.strategies]
    searches = searches_of(plan)
    systems = [[plan.labels[name], name, ", ".join(map(str, seeds))] for name, seeds in plan.systems.items()]
    cells = len(plan.cells) + sum(len(search.first_cells()) for search in searches)
    there = cells - missing
    told = f"{pluralize(cells, 'cell')}: {missing:,} to run" + (f", {there:,} there already" if there else "")
    told += f"; then {pluralize(finals, 'final network')} at most" if finals else ""
    spent = f"{pluralize(looks, 'look')} at {pluralize(test_sets, 'test set')}" if looks else "no look at a test set"
    time = "" if seconds is None else f"; about {duration(seconds)} by what its cells took so far"
    return "\n\n".join(
        [
            table(["corpus", "sentences", "words"], corpora),
            table(["split", "times", "seed"], splits),
            *([table(["system", "name", "seeds"], systems, left=3)] if systems else []),
            *map(search_plan, searches),
            prose(f"{told}; {spent}{time}"),
        ]
    )


def study_text(result: StudyResult) -> str:
    """Every block: the standings, the pairs, and how far the systems agree."""
    shown = [_block(block, result) for block in result.blocks]
    if result.missing:
        shown.append(f"{pluralize(result.missing, 'cell')} of the plan without a result")
    return "\n\n".join(shown)


def _block(block: Block, result: StudyResult) -> str:
    parts = [prose(str(block)), _standings(block)]
    if block.pairs:
        parts.append(_pairs(block, result))
    for labels in dict.fromkeys(each.labels for each in block.agreement):
        own = [each for each in block.agreement if each.labels == labels]
        alphas, oracles = ([getattr(each, name) for each in own] for name in ("alpha", "oracle"))
        some = f"some system is right on {percent(float(np.mean(oracles)))} % of the words"
        parts.append(prose(f"agreement of all systems on {labels}: alpha {np.mean(alphas):.3f}; {some}"))
    return "\n".join(parts)


def _standings(block: Block) -> str:
    systems = list(dict.fromkeys(each.system for each in block.standings))
    found = {(each.system, each.metric): each for each in block.standings}
    single = all(each.runs <= 1 for each in block.standings)
    rows = []
    for system in systems:
        row = [system]
        for each in (found.get((system, metric)) for metric in block.metrics):
            row += ["", ""] if each is None else [percent(each.mean), _spread(each, single=single)]
        rows.append(row)
    spread = "95 % interval" if single else "least - most"
    header = ["system", *(cell for metric in block.metrics for cell in (short(metric), spread))]
    return table(header, rows)


def _spread(standing: Standing, *, single: bool) -> str:
    bounds = standing.interval if single else (standing.least, standing.most)
    return f"{percent(bounds[0])} - {percent(bounds[1])}" if bounds is not None and standing.runs else ""


def short(metric: str) -> str:
    """A metric's name without version, and its column."""
    base, _, rest = metric.partition(".v")
    column = rest.partition("column='")[2].partition("'")[0]
    return f"{base} {column}".strip()


def _better(significant: int, splits: int) -> Toned:
    return Toned(f"{significant} of {splits}", "win" if significant == splits else "" if significant else "tie")


def _pairs(block: Block, result: StudyResult) -> str:
    rows: list[Sequence[str]] = [
        [
            f"{pair.a} - {pair.b}",
            f"{100 * pair.difference:+.2f}",
            f"{pair.ahead} of {pair.splits}",
            _better(pair.significant, pair.splits),
            f"{pair.reversed} of {pair.splits}",
            f"{min(pair.p):.2g} - {max(pair.p):.2g}" if pair.splits > 1 else f"{pair.p[0]:.2g}",
        ]
        for pair in block.pairs
    ]
    tested = ", ".join(dict.fromkeys(pair.test for pair in block.pairs))
    told = f"{tested}, {result.correction} over the splits, alpha {result.alpha:g}"
    return prose(f"{told}\n") + table(["pair", "difference", "ahead", "better", "worse", "p"], rows)
