"""How much test data is sufficient to rank the systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deadheat.charts.chart import Figure as Drawing
from deadheat.charts.curves import Curve, CurvePlot
from deadheat.ranking.sizes import SetSizes, SizeCurve, SizePoint
from deadheat.report import model as m
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
NO_SIZE, ONE_SAMPLE = "no size tried", "one sample only"


def view(result: SizeStudy) -> m.View:
    """The smallest sufficient size, then tau by size for every test set and sampling strategy."""
    criterion = (
        f"Sufficient: weighted Kendall's tau with the ranking on {_reference(result)} is at least "
        f"{result.settings.threshold:g} in at least {100 * result.settings.confidence:g}% of the draws, at this size "
        "and all larger ones."
    )
    return (m.Verdict(_headline(result), remarks=(criterion,)), *_blocks(result))


def _headline(result: SizeStudy) -> m.Text:
    """About the strategies with several draws; where they differ, about the one that needs most."""
    sets = result.sets
    needed = [_needed(test_set) for test_set in sets]
    total = m.count(len(sets), "test set")
    if all(size is None for size in needed):
        return m.text("Only one sample of each size was drawn, which does not show what size is sufficient.")
    lacking = [test_set.name for test_set, size in zip(sets, needed, strict=True) if not size]
    if lacking:
        where = m.text("{}", m.names(lacking)) if len(sets) == 1 else m.text("{} of {}", len(lacking), total)
        return m.text("No size tried is sufficient to rank the systems on {}.", where)
    largest = max(size for size in needed if size)
    words = m.count(largest, "word")
    if len(sets) > 1:
        return m.text("{} of each of {} are sufficient to rank the systems.", words, total)
    half = ", more than half of it," if 2 * largest > sets[0].words else ""
    return m.text(f"{{}} of {{}}{half} are sufficient to rank the systems.", words, sets[0].name)


def _needed(test_set: SetSizes) -> int | None:
    """The largest of the smallest sufficient sizes; 0 if a strategy has none, None if all have a single draw."""
    sizes = [curve.sufficient or 0 for curve in test_set.curves if curve.draws > 1]
    return None if not sizes else 0 if 0 in sizes else max(sizes)


def _reference(result: SizeStudy) -> str:
    return "the whole test set" if result.settings.against == "all" else "the rest of the test set"


def _blocks(result: SizeStudy) -> Iterator[m.Block]:
    if len(result.sets) > 1:
        yield from _all_sets(result)
    hardest = {test_set.name for test_set in sorted(result.sets, key=_lowest_share)[:SETS]}
    blocks = [*([result.overall] if result.overall is not None else []), *result.sets]
    for test_set in blocks:
        folded = test_set is not result.overall and test_set.name not in hardest
        yield from _test_set(result, test_set, folded=folded)
    yield _paper_table(result, blocks)
    yield from _notes(result)


def _lowest_share(test_set: SetSizes) -> float:
    return min((curve.samples[-1].share for curve in test_set.curves if curve.samples), default=1.0)


def _all_sets(result: SizeStudy) -> Iterator[m.Block]:
    yield m.Heading("All test sets")
    sufficient = m.columns(COUNT, *(f"sufficient, {name}" for name in result.settings.strategies))
    columns = (m.Column("test set"), m.Column("words", COUNT), *sufficient)
    rows: list[m.Row] = [
        (test_set.name, test_set.words, *map(_sufficient_cell, test_set.curves)) for test_set in result.sets
    ]
    yield m.Table(columns, rows, caption="Smallest sufficient size in words.", folded=len(rows) > 30)
    if result.between and len(result.sets) <= SETS_COMPARED:
        names = [test_set.name for test_set in result.sets]
        taus: list[m.Row] = [(name, *row) for name, row in zip(names, result.between, strict=True)]
        caption = (
            "Weighted tau between the rankings on whole test sets. If it is low, no size of one test set shows the "
            "ranking on another."
        )
        yield m.Table((m.Column("test set"), *m.columns(TAU, *names)), taus, caption=caption)


def _sufficient_cell(curve: SizeCurve) -> m.Content:
    if curve.sufficient is not None:
        return curve.sufficient
    return m.Cell(ONE_SAMPLE if curve.draws == 1 else NO_SIZE, tone="muted")


def _test_set(result: SizeStudy, test_set: SetSizes, *, folded: bool) -> Iterator[m.Block]:
    size = m.text("{} in {}", m.count(test_set.words, "word"), m.count(test_set.units, test_set.unit))
    yield m.Heading(m.text("{}: {}", _name(result, test_set), size), folded=folded)
    scores = [m.text("{} {}", row.system, m.score(row.score, result.scale)) for row in test_set.systems[:SYSTEMS]]
    if len(test_set.systems) > SYSTEMS:
        scores.append(m.text("{} more", len(test_set.systems) - SYSTEMS))
    yield m.paragraph("{} on all of it: {}.", result.metric, m.join_text(scores, ", "))
    for curve in test_set.curves:
        yield m.Paragraph(_answer(result, test_set, curve))
    if not folded:
        yield from _figures(result, test_set)
    yield _size_table(result, test_set)
    yield from _published(result, test_set)


def _name(result: SizeStudy, test_set: SetSizes) -> str:
    return "All test sets together" if test_set is result.overall else test_set.name


def _answer(result: SizeStudy, test_set: SetSizes, curve: SizeCurve) -> m.Text:
    """What one strategy shows, with the evidence for it."""
    settings = result.settings
    words = m.count(curve.sufficient or curve.samples[-1].words, "word")
    size = m.text("{} of each" if test_set is result.overall else "{}", words)
    point = curve.at(curve.sufficient) if curve.sufficient else curve.samples[-1]
    assert point is not None
    tau = f"tau with the ranking on {_reference(result)} is"
    if curve.draws == 1:
        answer = f"{{}}: one sample only, so no size is called sufficient. At {{}}, {tau} {{}}."
        return m.text(answer, curve.strategy, size, m.number(point.tau))
    bounds = m.text("{} to {}", m.share(point.share_low), m.share(point.share_high))
    reached = m.text(
        f"{tau} at least {settings.threshold:g} in {{}} of {{}} (95% CI for the share of all possible draws: {{}})",
        point.reached,
        m.count(point.draws, "draw"),
        bounds,
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


def _size_table(result: SizeStudy, test_set: SetSizes) -> m.Table:
    settings = result.settings
    tested = any(point.aso is not None for curve in test_set.curves for point in curve.points)
    columns = [
        m.Column("sampling"),
        *m.columns(COUNT, "words", f"{test_set.unit}s", "draws"),
        m.Column("mean tau", TAU),
        m.Column(f"{100 * settings.confidence:g}% of draws", Scale(1.0, 3).interval),
        m.Column(f"tau >= {settings.threshold:g}", SHARE),
        *([m.Column("ASO differs", SHARE), m.Column("eps_min differs by", TAU)] if tested else []),
    ]
    rows: list[m.Row] = []
    for curve in test_set.curves:
        for point in curve.points:
            words = m.Cell("all") if point.whole else m.Cell(point.words, strong=point.words == curve.sufficient)
            row: list[m.Content] = [curve.strategy, words, point.units, point.draws, point.tau, (point.low, point.high)]
            aso = (None, None) if point.aso is None else (point.aso.disagreement, point.aso.distance)
            rows.append([*row, point.share, *(aso if tested else ())])
    caption = m.text("Rankings on samples of {} and on " + _reference(result) + ".", _name(result, test_set))
    return m.Table(columns, rows, caption=caption, folded=len(rows) > ROWS)


def _published(result: SizeStudy, test_set: SetSizes) -> Iterator[m.Table]:
    """What the published sizes give here, if any of them was tried."""
    rows: list[m.Row] = []
    for words, purpose in PUBLISHED.items():
        points = [curve.at(words) for curve in test_set.curves]
        cells = [
            None if point is None else m.text("{} ({})", m.number(point.tau), m.share(point.share)) for point in points
        ]
        rows += [(purpose, words, *cells)] if any(points) else []
    if rows:
        here = m.columns(TAU, *(f"here, {curve.strategy}" for curve in test_set.curves))
        columns = (m.Column("published as sufficient for"), m.Column("words", COUNT), *here)
        tau = (
            "{}: mean tau at the sizes of van der Goot et al. (2024), and the share of draws that reach the threshold."
        )
        yield m.Table(columns, rows, caption=m.text(tau, _name(result, test_set)))


def _paper_table(result: SizeStudy, blocks: Sequence[SetSizes]) -> m.Table:
    """Mean tau by test set, strategy and size."""
    curves = [(test_set.name, curve) for test_set in blocks for curve in test_set.curves]
    sizes = sorted({point.words for _, curve in curves for point in curve.samples})
    rows: list[m.Row] = []
    for name, curve in curves:
        points = [curve.at(size) for size in sizes]
        cells = [
            None if point is None else m.Cell(point.tau, strong=point.words == curve.sufficient) for point in points
        ]
        rows.append((name, curve.strategy, *cells))
    settings = result.settings
    draws = {curve.strategy: pluralize(curve.draws, "draw") for _, curve in curves}
    drawn = ", ".join(f"{number_of_draws} of {strategy}" for strategy, number_of_draws in draws.items())
    criterion = f"tau is at least {settings.threshold:g} in {100 * settings.confidence:g}% of the draws"
    bold = f"For no size, and all larger ones, {criterion}."
    if any(curve.sufficient for _, curve in curves):
        bold = f"Bold: the smallest size from which on {criterion}."
    caption = m.text(
        f"Mean weighted tau between the rankings by {{}} on samples of this many words and on {_reference(result)} "
        f"({drawn}). {bold}",
        result.metric,
    )
    columns = (*m.columns(NAME, "test set", "sampling"), *m.columns(TAU, *(f"{size:,}" for size in sizes)))
    return m.Table(columns, rows, "sizes", caption, labels=2, folded=True, detail=True)


def _notes(result: SizeStudy) -> Iterator[m.Note]:
    strategies = "; ".join(f"{name}: {STRATEGIES[name]}" for name in result.settings.strategies)
    yield m.Note(
        "Tau is Vigna's weighted Kendall's tau between two rankings (1: the same order), in which the top counts most. "
        f"Sampling: {strategies}. Bands hold the middle {100 * result.settings.confidence:g}% of the draws."
    )
    if any(point.aso for test_set in result.sets for curve in test_set.curves for point in curve.points):
        yield m.Note(
            "ASO differs: the share of ordered pairs of systems for which almost stochastic order over runs finds a "
            "better system (eps_min < 0.5) on the sample or on the data it is compared with, but not on both."
        )
    sizes = "; ".join(f"{words:,} words for {purpose}" for words, purpose in PUBLISHED.items())
    yield m.Note(f"Sizes that van der Goot et al. (2024) found sufficient: {sizes}.")


def _figures(result: SizeStudy, test_set: SetSizes) -> Iterator[m.Figure]:
    name = slug("size", test_set.name)
    taus = tuple(curve for curve in map(_tau_curve, test_set.curves) if curve is not None)
    if taus:
        title = f"{test_set.name}: tau with the ranking on {_reference(result)}"
        axes, threshold = ("words in the sample", "weighted Kendall's tau"), result.settings.threshold
        yield m.Figure(Drawing(name, CurvePlot(taus, title, *axes, log_x=True, target=threshold)))
    differing = tuple(curve for curve in map(_aso_curve, test_set.curves) if curve is not None)
    if differing:
        title = f"{test_set.name}: pairs of systems on which significance differs"
        plot = CurvePlot(differing, title, "words in the sample", "pairs in percent", log_x=True)
        yield m.Figure(Drawing(f"{name}-significance", plot))


def _tau_curve(curve: SizeCurve) -> Curve | None:
    points = [point for point in curve.samples if point.tau == point.tau]
    if not points:
        return None
    has_band = all(point.low == point.low for point in points)
    return Curve(
        curve.strategy,
        tuple(point.words for point in points),
        tuple(point.tau for point in points),
        tuple(point.low for point in points) if has_band else None,
        tuple(point.high for point in points) if has_band else None,
    )


def _aso_curve(curve: SizeCurve) -> Curve | None:
    points = [
        (point.words, 100 * point.aso.disagreement)
        for point in curve.samples
        if point.aso is not None and point.aso.disagreement == point.aso.disagreement
    ]
    return Curve(curve.strategy, *(tuple(values) for values in zip(*points, strict=True))) if points else None
