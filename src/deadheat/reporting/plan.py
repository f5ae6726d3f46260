"""What a study will run, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deadheat.reporting import model as m
from deadheat.results.format import COUNT, DURATION, NAME
from deadheat.study.plan.plan import Plan
from deadheat.study.plan.protocols import PROTOCOLS
from deadheat.study.plan.sizes import default_sizes
from deadheat.study.search.search import BOTH, TUNE, Search, searches_of
from deadheat.text import join_names


@dataclass(frozen=True, slots=True)
class WorkLeft:
    """How many cells a run would train, and how many it would score from stored predictions only."""

    cells: int
    to_run: int
    stored: int
    to_score: int = 0
    metrics: tuple[str, ...] = ()  # that these lack
    failed: int = 0  # before, which are not run again

    def summary(self) -> m.Text:
        text = m.text("{}: {} to run", m.count(self.cells, "cell"), self.to_run)
        if self.to_score:
            text += m.text(", {} to score by {}", self.to_score, join_names(self.metrics))
        if self.stored:
            text += m.text(", {} in the store", self.stored)
        return text + (
            m.text(", {} failed before (--retry-failed runs them again)", self.failed) if self.failed else ""
        )


def plan_view(
    plan: Plan, work: WorkLeft, *, finals: int, evaluations: int, test_sets: int, seconds: float | None
) -> Iterator[m.Block]:
    """Corpora, splits, systems with their seeds, cells, evaluations of test sets, and the time that it may take.

    `finals` is the highest number of final networks of searches that are still to be trained.
    """
    yield from _stated_blocks(plan)
    corpora = [
        (name, item.corpus.sentences, item.corpus.words, plan.study.corpora[name].role)
        for name, item in plan.materials.items()
    ]
    columns = (m.Column("corpus"), *m.columns(COUNT, "sentences", "words"))
    columns += (m.Column("role" if plan.study.develops else ""),)
    yield m.Table(columns, corpora).without_unnamed()
    if plan.study.develops:
        yield m.paragraph("Corpora to develop on are scored on dev and never on test; the others on test.")
    splits = [(strategy.name, times, str(seed)) for strategy, times, seed in plan.strategies]
    yield m.Table((m.Column("split"), m.Column("times", COUNT), m.Column("seed")), splits)
    systems = [(plan.labels[name], name, ", ".join(map(str, seeds))) for name, seeds in plan.systems.items()]
    if systems:
        yield m.Table(m.columns(NAME, "system", "name", "seeds"), systems, labels=3)
    yield from map(m.paragraph, sizes_in_use(plan))
    for search in searches_of(plan):
        yield m.Paragraph(search_plan(search))
    summary = work.summary()
    summary += m.text("; then at most {}", m.count(finals, "final network")) if finals else ""
    if evaluations:
        summary += m.text("; {} of {}", m.count(evaluations, "evaluation"), m.count(test_sets, "test set"))
    else:
        summary += "; no test set is evaluated"
    if seconds is not None:
        summary += m.text("; about {}, by the time of earlier cells", m.Shown(seconds, DURATION))
    yield m.Paragraph(summary + ".")


def sizes_in_use(plan: Plan) -> Iterator[str]:
    """For systems whose defaults depend on the training part, those of the first split of each corpus."""
    for name in plan.systems:
        by_size: dict[str, list[str]] = {}
        for corpus, words, size in default_sizes(plan, name):
            by_size.setdefault(size, []).append(f"{corpus} ({words:,} words in train)")
        if by_size:
            sizes = "; ".join(f"{size} on {join_names(corpora)}" for size, corpora in by_size.items())
            yield f"{plan.labels[name]} has the defaults of size {sizes}."


def _stated_blocks(plan: Plan) -> Iterator[m.Block]:
    """The protocol that the study follows, and its hypothesis."""
    if plan.study.protocol:
        protocol = PROTOCOLS[plan.study.protocol]
        yield m.paragraph("Protocol {}, after {}. {}", protocol.name, protocol.paper, protocol.question)
    hypothesis, metric = plan.study.hypothesis, plan.hypothesis_metric
    if hypothesis.systems is not None and metric is not None:
        better, worse = hypothesis.systems
        yield m.paragraph("Primary hypothesis: {} > {} by {}.", better, worse, metric.label)
    if hypothesis.margin is not None:
        yield m.paragraph(f"Margin: differences of at most {hypothesis.margin:g} points count as none.")


def search_plan(search: Search) -> m.Text:
    """How many networks a search will train, and how many of them it will score on test."""
    entry = search.entry
    first = len(search.candidates) * len(entry.setups) * len(search.plan.corpus_splits) * len(search.seeds)
    last = len(search.possible_finals())
    learned = dict.fromkeys(entry.final if setup == TUNE else BOTH for setup in entry.setups)
    evaluated = last + (first if entry.tested == "all" else 0)
    return m.text(
        "Search of {}: {} of {} ({}), on {}, {}, epochs picked by {}: {}{}. Then the winners by {} on {}: at most {} "
        "on {}, {} of test sets.",
        search.label,
        m.count(len(search.candidates), "setting"),
        ", ".join(entry.space.varied),
        entry.method,
        m.count(len(search.plan.corpus_splits), "data set"),
        m.count(len(search.seeds), "seed"),
        " and ".join(entry.setups),
        m.Text(("at most ",)) if entry.method == "optuna" else None,
        m.count(first, "training"),
        search.metric.label,
        entry.setting,
        m.count(last, "training"),
        " and ".join(learned),
        m.count(evaluated, "evaluation"),
    )
