"""How much test data is sufficient to rank the systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from deadheat.charts.curves import Curve, CurvePlot
from deadheat.ranking.sizes import SetSizes, SizeCurve, SizePoint
from deadheat.reporting import model as m
from deadheat.reporting.views.size_cross import across_sets
from deadheat.results.format import COUNT, NAME, SHARE, Scale, number_format
from deadheat.results.rank import SizeStudy
from deadheat.text import pluralize, slug

SETS = 6  # test sets that are shown in full on a page
SYSTEMS = 10  # named with their scores
SETS_COMPARED = 12  # whose rankings are compared with each other
ROWS = 12  # of a table that is not folded
STRATEGIES = {
    "seq": "the last sentences",
    "rand": "random sentences",
    "rand-seq": "consecutive sentences from a random start",
}
# Sizes in words that van der Goot et al. (2024) found sufficient, and for what.
PUBLISHED = {
    2_000: "a language other than that of training",
    5_000: "the language of training, in any domain, if the test data are distant from the training data",
    10_000: "the language of training, in any domain, if the test data may be close to the training data",
}
TAU = number_format(3)


def view(result: SizeStudy) -> Iterator[m.Block]:
    """The smallest sufficient size, then tau by size for every test set and sampling strategy."""
    criterion = (
        f"Sufficient: weighted Kendall's tau with the ranking on {_reference(result)} is at least "
        f"{result.settings.threshold:g} in at least {100 * result.settings.confidence:g}% of the draws, at this size "
        "and all larger ones."
    )
    yield m.Verdict(_headline(result), remarks=(criterion,))
    if len(result.sets) > 1:
        yield from _all_sets(result)
    if result.cross:
        yield from across_sets(result)
    hardest = sorted(result.sets, key=_lowest_share)[:SETS]
    blocks = [*([result.overall] if result.overall is not None else []), *result.sets]
    for test_set in blocks:
        folded = test_set is not result.overall and test_set not in hardest
        yield from _test_set(result, test_set, folded=folded)
    yield _paper_table(result, blocks)
    yield from _notes(result)


def _lowest_share(test_set: SetSizes) -> float:
    return min((curve.samples[-1].share for curve in test_set.curves if curve.samples), default=1.0)


def _headline(result: SizeStudy) -> m.Text:
    """About the strategies with several draws; where they differ, about the one that needs most."""
    sets, total = result.sets, m.count(len(result.sets), "test set")
    repeated = [[curve for curve in test_set.curves if curve.draws > 1] for test_set in sets]
    if not any(repeated):
        return m.text("Only one sample of each size was drawn, which does not show what size is sufficient.")
    lacking = [
        test_set.name
        for test_set, curves in zip(sets, repeated, strict=True)
        if not curves or not all(curve.sufficient for curve in curves)
    ]
    if lacking:
        where = m.names(lacking) if len(sets) == 1 else m.text("{} of {}", len(lacking), total)
        partly = any(curve.sufficient for test_set in sets if test_set.name in lacking for curve in test_set.curves)
        how = " under every sampling strategy" if partly else ""
        return m.text(f"No size tried is sufficient{how} to rank the systems on {{}}.", where)
    largest = max(curve.sufficient or 0 for curves in repeated for curve in curves)
    words = m.count(largest, result.measure)
    if len(sets) > 1:
        return m.text("{} of each of {} are sufficient to rank the systems.", words, total)
    half = ", more than half of it," if 2 * largest > sets[0].words else ""
    return m.text(f"{{}} of {{}}{half} are sufficient to rank the systems.", words, sets[0].name)


def _reference(result: SizeStudy) -> str:
    return "the whole test set" if result.settings.against == "all" else "the rest of the test set"


def _all_sets(result: SizeStudy) -> Iterator[m.Block]:
    yield m.Heading("All test sets")
    sufficient = (f"sufficient, {name}" for name in result.settings.strategies)
    columns = (m.Column("test set"), *m.columns(COUNT, f"{result.measure}s", *sufficient))
    rows: list[m.Row] = [
        (test_set.name, test_set.words, *map(_sufficient_cell, test_set.curves)) for test_set in result.sets
    ]
    yield m.Table(columns, rows, caption=f"Smallest sufficient size in {result.measure}s.", folded=len(rows) > 30)
    if result.between and len(result.sets) <= SETS_COMPARED:
        names = [test_set.name for test_set in result.sets]
        caption = (
            "Weighted tau between the rankings on whole test sets. If it is low, no size of one test set shows the "
            "ranking on another."
        )
        taus: list[m.Row] = [(name, *row) for name, row in zip(names, result.between, strict=True)]
        yield m.Table((m.Column("test set"), *m.columns(TAU, *names)), taus, caption=caption)


def _sufficient_cell(curve: SizeCurve) -> m.Content:
    return curve.sufficient or m.Cell("one sample only" if curve.draws == 1 else "no size tried", tone="muted")


def _test_set(result: SizeStudy, test_set: SetSizes, *, folded: bool) -> Iterator[m.Block]:
    name = "All test sets together" if test_set is result.overall else test_set.name
    units = m.count(test_set.units, test_set.unit)
    size = units if result.measure == test_set.unit else m.text("{} in {}", m.count(test_set.words, "word"), units)
    yield m.Heading(m.text("{}: {}", name, size), folded=folded)
    scores = [m.text("{} {}", row.system, m.score(row.score, result.scale)) for row in test_set.systems[:SYSTEMS]]
    if len(test_set.systems) > SYSTEMS:
        scores.append(m.text("{} more", len(test_set.systems) - SYSTEMS))
    yield m.paragraph("{} on the whole test set: {}.", result.metric, m.join_text(scores, ", "))
    for curve in test_set.curves:
        yield m.Paragraph(_answer(result, test_set, curve))
    if not folded:
        yield from _figures(result, test_set)
    yield _size_table(result, test_set, name)
    if result.measure == "word":
        yield from _published(test_set, name)


def _answer(result: SizeStudy, test_set: SetSizes, curve: SizeCurve) -> m.Text:
    """What one strategy shows, with the evidence for it."""
    settings = result.settings
    point = curve.at(curve.sufficient) if curve.sufficient else curve.samples[-1]
    assert point is not None
    size = m.text("{} of each" if test_set is result.overall else "{}", m.count(point.words, result.measure))
    tau = f"tau with the ranking on {_reference(result)} is"
    if curve.draws == 1:
        answer = f"{{}}: one sample only, so no size is called sufficient. At {{}}, {tau} {{}}."
        return m.text(answer, curve.strategy, size, m.number(point.tau))
    reached = m.text(
        f"{tau} at least {settings.threshold:g} in {{}} of {{}} (95% CI for the share of all possible draws: {{}} to "
        "{})",
        point.reached,
        m.count(point.draws, "draw"),
        m.share(point.share_low),
        m.share(point.share_high),
    )
    if not curve.sufficient:
        return m.text("{}: no size tried is sufficient. At {}, {}.", curve.strategy, size, reached)
    half = ""
    if settings.against == "all" and _is_mostly_whole(result, test_set, point):
        half = " This is more than half of the test set, so the rankings are bound to be similar."
    return m.text(f"{{}}: {{}} are sufficient; {{}}, and at all larger sizes.{half}", curve.strategy, size, reached)


def _is_mostly_whole(result: SizeStudy, test_set: SetSizes, point: SizePoint) -> bool:
    """Whether a sample has more than half of all words; over all test sets it has this many words of each."""
    sets = result.sets if test_set is result.overall else (test_set,)
    return 2 * sum(min(point.words, item.words) for item in sets) > sum(item.words for item in sets)


def _size_table(result: SizeStudy, test_set: SetSizes, name: str) -> m.Table:
    settings, is_measure = result.settings, result.measure == test_set.unit
    tested = any(point.aso is not None for curve in test_set.curves for point in curve.points)
    columns = [
        m.Column("sampling"),
        *m.columns(COUNT, f"{result.measure}s", "" if is_measure else f"{test_set.unit}s", "draws"),
        m.Column("mean tau", TAU),
        m.Column(f"{100 * settings.confidence:g}% of draws", Scale(1.0, 3).interval),
        *m.columns(SHARE, f"tau >= {settings.threshold:g}", "ASO differs" if tested else ""),
        m.Column("eps_min differs by" if tested else "", TAU),
    ]
    rows: list[m.Row] = []
    for curve in test_set.curves:
        for point in curve.points:
            words = m.Cell("all") if point.whole else m.Cell(point.words, strong=point.words == curve.sufficient)
            aso = (None, None) if point.aso is None else (point.aso.disagreement, point.aso.distance)
            taus = point.tau, (point.low, point.high), point.share
            rows.append((curve.strategy, words, None if is_measure else point.units, point.draws, *taus, *aso))
    caption = m.text(f"Rankings on samples of {{}} and on {_reference(result)}.", name)
    return m.Table(columns, rows, caption=caption, folded=len(rows) > ROWS).without_unnamed()


def _published(test_set: SetSizes, name: str) -> Iterator[m.Table]:
    """What the published sizes give here, if any of them was tried."""
    rows: list[m.Row] = []
    for words, purpose in PUBLISHED.items():
        points = [curve.at(words) for curve in test_set.curves]
        taus = [m.text("{} ({})", m.number(point.tau), m.share(point.share)) if point else None for point in points]
        rows += [(purpose, words, *taus)] if any(points) else []
    if rows:
        here = m.columns(TAU, *(f"here, {curve.strategy}" for curve in test_set.curves))
        columns = (m.Column("published as sufficient for"), m.Column("words", COUNT), *here)
        tau = (
            "{}: mean tau at the sizes of van der Goot et al. (2024), and the share of draws that reach the threshold."
        )
        yield m.Table(columns, rows, caption=m.text(tau, name))


def _paper_table(result: SizeStudy, blocks: Sequence[SetSizes]) -> m.Table:
    """Mean tau by test set, strategy and size."""
    curves = [(test_set.name, curve) for test_set in blocks for curve in test_set.curves]
    sizes = sorted({point.words for _, curve in curves for point in curve.samples})
    rows: list[m.Row] = []
    for name, curve in curves:
        points = [curve.at(size) for size in sizes]
        cells = [m.Cell(point.tau, strong=point.words == curve.sufficient) if point else None for point in points]
        rows.append((name, curve.strategy, *cells))
    settings = result.settings
    draws = {curve.strategy: pluralize(curve.draws, "draw") for _, curve in curves}
    drawn = ", ".join(f"{number_of_draws} of {strategy}" for strategy, number_of_draws in draws.items())
    criterion = f"tau is at least {settings.threshold:g} in {100 * settings.confidence:g}% of the draws"
    bold = f"For no size, and all larger ones, {criterion}."
    if any(curve.sufficient for _, curve in curves):
        bold = f"Bold: the smallest size at and above which {criterion}."
    caption = m.text(
        f"Mean weighted tau between the rankings by {{}} on samples of this many {result.measure}s and on "
        f"{_reference(result)} ({drawn}). {bold}",
        result.metric,
    )
    columns = (*m.columns(NAME, "test set", "sampling"), *m.columns(TAU, *(f"{size:,}" for size in sizes)))
    return m.Table(columns, rows, "sizes", caption, labels=2, folded=True, detail=True)


def _notes(result: SizeStudy) -> Iterator[m.Note]:
    strategies = "; ".join(f"{name}: {STRATEGIES[name]}" for name in result.settings.strategies)
    strategies = strategies.replace("sentences", "items") if result.measure == "item" else strategies
    yield m.Note(
        "Tau is Vigna's weighted Kendall's tau between two rankings (1: the same order), in which the top counts most. "
        f"Sampling: {strategies}. Bands hold the middle {100 * result.settings.confidence:g}% of the draws."
    )
    if any(point.aso for test_set in result.sets for curve in test_set.curves for point in curve.points):
        yield m.Note(
            "ASO differs: the share of ordered pairs of systems for which almost stochastic order over runs finds a "
            "better system (eps_min < 0.5) on the sample or on the data it is compared with, but not on both."
        )
    if result.measure == "item":
        return
    sizes = "; ".join(f"{words:,} words for {purpose}" for words, purpose in PUBLISHED.items())
    yield m.Note(f"Sizes that van der Goot et al. (2024) found sufficient: {sizes}.")


def _figures(result: SizeStudy, test_set: SetSizes) -> Iterator[m.Figure]:
    name = slug("size", test_set.name)
    if taus := _curves(test_set, lambda point: (point.tau, point.low, point.high)):
        title = f"{test_set.name}: tau with the ranking on {_reference(result)}"
        axes, threshold = (f"{result.measure}s in the sample", "weighted Kendall's tau"), result.settings.threshold
        yield m.figure(name, CurvePlot(taus, title, *axes, log_x=True, target=threshold))
    if differing := _curves(test_set, lambda point: (100 * point.aso.disagreement,) if point.aso is not None else ()):
        title = f"{test_set.name}: pairs of systems on which significance differs"
        plot = CurvePlot(differing, title, f"{result.measure}s in the sample", "pairs in percent", log_x=True)
        yield m.figure(f"{name}-significance", plot)


def _curves(test_set: SetSizes, values_at: Callable[[SizePoint], Sequence[float]]) -> tuple[Curve, ...]:
    """One for each strategy: a value by the words of the sample, with a band if there are bounds at every size."""
    curves = []
    for curve in test_set.curves:
        points = [(point.words, *values) for point in curve.samples if (values := values_at(point))]
        points = [point for point in points if point[1] == point[1]]
        if points:
            words, values, *bounds = (tuple(column) for column in zip(*points, strict=True))
            has_band = all(low == low for column in bounds[:1] for low in column)
            curves.append(Curve(curve.strategy, words, values, *(bounds if has_band else ())))
    return tuple(curves)
