"""What a study will run, before anything runs."""

from __future__ import annotations

from deadheat.report.model import Block, Column, Paragraph, Shown, Table, Text, View, count, text
from deadheat.results.format import COUNT, DURATION
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import BOTH, TUNE, Search, searches_of


def plan_view(
    plan: Plan, *, missing: int, finals: int, evaluations: int, test_sets: int, seconds: float | None
) -> View:
    """Corpora, splits, systems with their seeds, cells, evaluations of test sets, and the time that it may take.

    `finals` is the highest number of final networks of searches that are still to be trained.
    """
    corpora = tuple((name, item.corpus.sentences, item.corpus.words) for name, item in plan.materials.items())
    splits = tuple((strategy.name, times, str(seed)) for strategy, times, seed in plan.strategies)
    systems = tuple((plan.labels[name], name, ", ".join(map(str, seeds))) for name, seeds in plan.systems.items())
    searches = searches_of(plan)
    cells = len(plan.cells) + sum(len(search.first_cells()) for search in searches)
    summary = text("{}: {} to run", count(cells, "cell"), Shown(missing, COUNT))
    summary += text(", {} in the store", Shown(cells - missing, COUNT)) if cells > missing else ""
    summary += text("; then at most {}", count(finals, "final network")) if finals else ""
    if evaluations:
        summary += text("; {} of {}", count(evaluations, "evaluation"), count(test_sets, "test set"))
    else:
        summary += "; no test set is evaluated"
    if seconds is not None:
        summary += text("; about {}, by the time of earlier cells", Shown(seconds, DURATION))
    blocks: list[Block] = [
        Table((Column("corpus"), Column("sentences", COUNT), Column("words", COUNT)), corpora),
        Table((Column("split"), Column("times", COUNT), Column("seed")), splits),
    ]
    if systems:
        blocks.append(Table((Column("system"), Column("name"), Column("seeds")), systems, labels=3))
    blocks += [Paragraph(search_plan(search)) for search in searches]
    return (*blocks, Paragraph(summary + "."))


def search_plan(search: Search) -> Text:
    """How many networks a search will train, and how many of them it will score on test."""
    entry = search.entry
    first = len(search.candidates) * len(entry.setups) * len(search.corpus_splits) * len(search.seeds)
    last = len(search.possible_finals())
    learned = dict.fromkeys(entry.final if setup == TUNE else BOTH for setup in entry.setups)
    evaluated = last + (first if entry.tested == "all" else 0)
    return text(
        "Search of {}: {} of {} ({}), on {}, {}, epochs picked by {}: {}{}. Then the winners by {} on {}: at most {} on {}, {} "
        "of test sets.",
        search.label,
        count(len(search.candidates), "setting"),
        ", ".join(entry.space.varied),
        entry.method,
        count(len(search.corpus_splits), "data set"),
        count(len(search.seeds), "seed"),
        " and ".join(entry.setups),
        Text(("at most ",)) if entry.method == "optuna" else Text(()),
        count(first, "training"),
        search.metric.label,
        entry.setting,
        count(last, "training"),
        " and ".join(learned),
        count(evaluated, "evaluation"),
    )
