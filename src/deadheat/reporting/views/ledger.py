"""How often test sets were evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from deadheat.charts.distributions import Sample, ViolinPlot
from deadheat.reporting import model as m
from deadheat.results.format import COUNT, MISSING, NAME, RANK
from deadheat.results.ledger import LedgerReport, Tally
from deadheat.study.ledger.ledger import SHORT
from deadheat.text import join_names, pluralize

ROWS = 30  # of a table that is not folded
LINES = 500  # of the ledger that are listed


def view(result: LedgerReport) -> Iterator[m.Block]:
    """Each test set with its evaluations, the most used first; of a single one every line of the ledger."""
    yield m.Verdict(_headline(result))
    if result.periods and not result.test_sets:
        yield from _by_period(result)
        return
    test_sets = sorted(result.test_sets, key=lambda test_set: -test_set.evaluations)
    yield m.Heading("Evaluations of test sets", detail=True)
    yield m.explanation(
        "Every evaluation lets knowledge of the test set leak into choices between systems: the more there are, the "
        "less the best score says about new data."
    )
    over = [test_set.name for test_set in test_sets if test_set.over_budget]
    if over:
        yield m.explanation("Evaluated past the budget: {}.", m.names(over))
    if test_sets:
        yield _table(test_sets)
    if result.periods:
        yield from _by_period(result)
    yield m.Note(
        "One evaluation is recorded for each system that a command scores on a test set. Two evaluations are of the "
        "same system if its name or its prediction is the same. A look is all that one command or study evaluates; the "
        "same predictions with the same settings once more are no new look. What other programs do is not recorded."
    )
    if result.ledger:
        yield m.Note(f"Ledger: {result.ledger}.")
    if result.lines:
        yield m.Heading("Every line of the ledger about this test set", detail=True)
        yield _lines(result)


def _by_period(result: LedgerReport) -> Iterator[m.Block]:
    """Evaluations by year or month: a table, and their distribution over test sets or rows as a figure."""
    title = f"Evaluations by {result.by}"
    yield m.Heading(title, detail=True)
    samples = tuple(Sample(item.period, tuple(map(float, item.counts))) for item in result.periods)
    yield m.figure("evaluations-by-period", ViolinPlot(samples, title, f"evaluations per {result.counted}"))
    columns = (m.Column(result.by), *m.columns(COUNT, f"{result.counted}s", "evaluations"))
    columns += (m.Column(f"median per {result.counted}", RANK), m.Column("most", COUNT))
    rows = [
        (item.period, len(item.counts), sum(item.counts), float(median(item.counts)), max(item.counts))
        for item in result.periods
    ]
    yield m.Table(columns, rows, name="evaluations-by-period", caption=title + ".", folded=len(rows) > ROWS)


def _headline(result: LedgerReport) -> m.Text:
    if result.periods and not result.test_sets:
        number = sum(sum(item.counts) for item in result.periods)
        return m.text("{} in {}.", m.count(number, "evaluation"), m.count(len(result.periods), result.by))
    evaluated = [test_set for test_set in result.test_sets if test_set.evaluations]
    if not evaluated:
        return m.text("No evaluation of a test set is recorded.")
    over = sum(test_set.over_budget for test_set in evaluated)
    past = m.text(", {} past a budget", m.count(over, "evaluation")) if over else None
    if len(evaluated) == 1:
        return m.text("{}: {}{}.", evaluated[0].name, m.count(evaluated[0].evaluations, "evaluation"), past)
    most = max(evaluated, key=lambda test_set: test_set.evaluations)
    total = m.count(sum(test_set.evaluations for test_set in evaluated), "evaluation")
    test_sets = m.count(len(evaluated), "test set")
    return m.text("{} of {}, {} of them of {}{}.", total, test_sets, most.evaluations, most.name, past)


def _table(test_sets: list[Tally]) -> m.Table:
    texts = ("test set", "hash", "first", "last", "users", "sealed")
    numbers = ("evaluations", "looks", "systems", "predictions", "budget", "left", "over budget")
    rows: list[m.Row] = []
    for item in test_sets:
        left: list[m.Content] = ["none", None, None]
        if item.budget is not None and item.left is not None:
            left = [item.budget, m.Cell(max(item.left, 0), tone="" if item.left > 0 else "bad"), item.over_budget]
        users, sealed = join_names(item.users) or MISSING, "yes" if item.sealed else "no"
        names = (item.name, item.test_set[:SHORT], _minute(item.first), _minute(item.last), users, sealed)
        rows.append((*names, item.evaluations, item.looks, len(item.systems), item.predictions, *left))
    columns = (*m.columns(NAME, *texts), *m.columns(COUNT, *numbers))
    return m.Table(columns, rows, labels=len(texts), folded=len(rows) > ROWS)


def _lines(result: LedgerReport) -> m.Table:
    columns = m.columns(NAME, "time", "user", "event", "system", "prediction", "metrics", "remark")
    rows = [
        (
            _minute(line.time),
            line.user,
            line.event,
            line.system or MISSING,
            line.prediction[:SHORT] or MISSING,
            join_names(line.metrics, limit=3) or MISSING,
            _remark(line.purpose, line.budget, line.over_budget),
        )
        for line in result.lines[-LINES:]
    ]
    caption = f"The last {LINES:,} of {len(result.lines):,} lines." if len(result.lines) > LINES else ""
    return m.Table(columns, rows, labels=len(columns), caption=caption, folded=len(rows) > ROWS)


def _minute(time: str) -> str:
    """A time without its seconds."""
    return time[:16].replace("T", " ") or MISSING


def _remark(purpose: str, budget: int | None, over_budget: str) -> str:
    parts = [purpose] if purpose else []
    parts += [f"budget {pluralize(budget, 'evaluation')}"] if budget is not None else []
    parts += [f"over budget: {over_budget}"] if over_budget else []
    return " ".join("; ".join(parts).split()) or MISSING  # on one line, whatever was typed
