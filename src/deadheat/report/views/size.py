"""How much test data is sufficient to rank the systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deadheat.charts.chart import Figure as Drawing
from deadheat.charts.curves import Curve, CurvePlot
from deadheat.ranking.sizes import SetSizes, SizeCurve, SizePoint
from deadheat.report.model import (
    Block,
    Cell,
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
    names,
    number,
    score,
    share,
    text,
)
from deadheat.results.format import COUNT, MISSING, SHARE, Scale, interval_format, number_format
from deadheat.results.size import SizeStudy
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


def view(result: SizeStudy) -> View:
    """The smallest sufficient size, then tau by size for every test set and sampling strategy."""
    return (Verdict(_headline(result), remarks=(_criterion(result),)), *_blocks(result), Signature(result.signature))


def _headline(result: SizeStudy) -> Text:
    """About the strategies with several draws; where they differ, about the one that needs most."""
    sets = result.sets
    needed = [_needed(test_set) for test_set in sets]
    total = count(len(sets), "test set")
    if all(size is None for size in needed):
        return text("Only one sample of each size was drawn, which does not show what size is sufficient.")
    lacking = [test_set.name for test_set, size in zip(sets, needed, strict=True) if not size]
    if lacking:
        where = text("{}", names(lacking)) if len(sets) == 1 else text("{} of {}", Shown(len(lacking), COUNT), total)
        return text("No size tried is sufficient to rank the systems on {}.", where)
    largest = max(size for size in needed if size)
    words = count(largest, "word")
    if len(sets) > 1:
        return text("{} of each of {} are sufficient to rank the systems.", words, total)
    whole = sets[0]
    half = Text((", more than half of it,",)) if 2 * largest > whole.words else Text(())
    return text("{} of {}{} are sufficient to rank the systems.", words, whole.name, half)


def _needed(test_set: SetSizes) -> int | None:
    """The largest of the smallest sufficient sizes; 0 if a strategy has none, None if all have a single draw."""
    sizes = [curve.sufficient or 0 for curve in test_set.curves if curve.draws > 1]
    return None if not sizes else 0 if 0 in sizes else max(sizes)


def _criterion(result: SizeStudy) -> Text:
    settings = result.settings
    return text(
        f"Sufficient: weighted Kendall's tau with the ranking on {_reference(result)} is at least "
        f"{settings.threshold:g} in at least {100 * settings.confidence:g}% of the draws, at this size and all larger "
        "ones."
    )


def _reference(result: SizeStudy) -> str:
    return "the whole test set" if result.settings.against == "all" else "the rest of the test set"


def _blocks(result: SizeStudy) -> Iterator[Block]:
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


def _all_sets(result: SizeStudy) -> Iterator[Block]:
    yield Heading("All test sets")
    strategies = result.settings.strategies
    columns = (
        Column("test set"),
        Column("words", COUNT),
        *(Column(f"sufficient, {name}", COUNT) for name in strategies),
    )
    rows: list[tuple[Content, ...]] = [
        (test_set.name, test_set.words, *map(_sufficient_cell, test_set.curves)) for test_set in result.sets
    ]
    yield Table(columns, tuple(rows), caption="Smallest sufficient size in words.", folded=len(rows) > 30)
    if result.between and len(result.sets) <= SETS_COMPARED:
        headings = [test_set.name for test_set in result.sets]
        yield Table(
            (Column("test set"), *(Column(name, TAU) for name in headings)),
            tuple((name, *taus) for name, taus in zip(headings, result.between, strict=True)),
            caption="Weighted tau between the rankings on whole test sets. If it is low, no size of one test set shows "
            "the ranking on another.",
        )


def _sufficient_cell(curve: SizeCurve) -> Content:
    if curve.sufficient is not None:
        return curve.sufficient
    return Cell(ONE_SAMPLE if curve.draws == 1 else NO_SIZE, tone="muted")


def _test_set(result: SizeStudy, test_set: SetSizes, *, folded: bool) -> Iterator[Block]:
    name = "All test sets together" if test_set is result.overall else test_set.name
    size = text("{} in {}", count(test_set.words, "word"), count(test_set.units, test_set.unit))
    yield Heading(text("{}: {}", name, size), folded=folded)
    scores: list[Text] = [
        text("{} {}", row.system, score(row.score, result.scale)) for row in test_set.systems[:SYSTEMS]
    ]
    if len(test_set.systems) > SYSTEMS:
        scores.append(text("{} more", Shown(len(test_set.systems) - SYSTEMS, COUNT)))
    yield Paragraph(text("{} on all of it: {}.", result.metric, join_text(scores, ", ")))
    for curve in test_set.curves:
        yield Paragraph(_answer(result, test_set, curve))
    if not folded:
        yield from _figures(result, test_set)
    yield _size_table(result, test_set)
    yield from _published(test_set)


def _answer(result: SizeStudy, test_set: SetSizes, curve: SizeCurve) -> Text:
    """What one strategy shows, with the evidence for it."""
    settings = result.settings
    words = count(curve.sufficient or curve.samples[-1].words, "word")
    words_text = text("{} of each", words) if test_set is result.overall else text("{}", words)
    point = curve.at(curve.sufficient) if curve.sufficient else curve.samples[-1]
    assert point is not None
    tau = text("tau with the ranking on {} is", Text((_reference(result),)))
    if curve.draws == 1:
        return text(
            "{}: one sample only, so no size is called sufficient. At {}, {} {}.",
            curve.strategy,
            words_text,
            tau,
            number(point.tau),
        )
    reached = text(
        "{} at least {} in {} of {} (95% CI for the share of all possible draws: {} to {})",
        tau,
        Text((f"{settings.threshold:g}",)),
        Shown(point.reached, COUNT),
        count(point.draws, "draw"),
        share(point.share_low),
        share(point.share_high),
    )
    if not curve.sufficient:
        return text("{}: no size tried is sufficient. At {}, {}.", curve.strategy, words_text, reached)
    half = Text(())
    if settings.against == "all" and _is_mostly_whole(result, test_set, point):
        half = Text((" This is more than half of the test set, so the rankings are bound to be similar.",))
    return text("{}: {} are sufficient; {}, and at all larger sizes.{}", curve.strategy, words_text, reached, half)


def _is_mostly_whole(result: SizeStudy, test_set: SetSizes, point: SizePoint) -> bool:
    """Whether a sample has more than half of all words; over all test sets it has this many words of each."""
    sets = result.sets if test_set is result.overall else (test_set,)
    return 2 * sum(min(point.words, item.words) for item in sets) > sum(item.words for item in sets)


def _size_table(result: SizeStudy, test_set: SetSizes) -> Table:
    settings = result.settings
    tested = any(point.aso is not None for curve in test_set.curves for point in curve.points)
    columns = [
        Column("sampling"),
        Column("words", COUNT),
        Column(f"{test_set.unit}s", COUNT),
        Column("draws", COUNT),
        Column("mean tau", TAU),
        Column(f"{100 * settings.confidence:g}% of draws", interval_format(Scale(1.0, 3))),
        Column(f"tau >= {settings.threshold:g}", SHARE),
        *([Column("ASO differs", SHARE), Column("eps_min differs by", TAU)] if tested else []),
    ]
    rows: list[tuple[Content, ...]] = []
    for curve in test_set.curves:
        for point in curve.points:
            words = Cell("all") if point.whole else Cell(point.words, strong=point.words == curve.sufficient)
            row: list[Content] = [curve.strategy, words, point.units, point.draws, point.tau, (point.low, point.high)]
            row.append(point.share)
            if tested:
                row += [point.aso.disagreement, point.aso.distance] if point.aso is not None else [None, None]
            rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows), folded=len(rows) > ROWS)


def _published(test_set: SetSizes) -> Iterator[Table]:
    """What the published sizes give here, if any of them was tried."""
    rows: list[tuple[Content, ...]] = []
    for words, purpose in PUBLISHED.items():
        points = [curve.at(words) for curve in test_set.curves]
        if any(points):
            rows.append((purpose, words, *(_published_cell(point) for point in points)))
    if rows:
        columns = (
            Column("published as sufficient for"),
            Column("words", COUNT),
            *(Column(f"here, {curve.strategy}", TAU) for curve in test_set.curves),
        )
        caption = (
            "Mean tau at the sizes of van der Goot et al. (2024), and the share of draws that reach the threshold."
        )
        yield Table(columns, tuple(rows), caption=caption)


def _published_cell(point: SizePoint | None) -> Content:
    return MISSING if point is None else text("{} ({})", number(point.tau), share(point.share))


def _paper_table(result: SizeStudy, blocks: Sequence[SetSizes]) -> Table:
    """Mean tau by test set, strategy and size."""
    curves = [(test_set.name, curve) for test_set in blocks for curve in test_set.curves]
    sizes = sorted({point.words for _, curve in curves for point in curve.samples})
    rows: list[tuple[Content, ...]] = []
    for name, curve in curves:
        points = [curve.at(size) for size in sizes]
        cells = [None if point is None else Cell(point.tau, strong=point.words == curve.sufficient) for point in points]
        rows.append((name, curve.strategy, *cells))
    settings = result.settings
    draws = {curve.strategy: pluralize(curve.draws, "draw") for _, curve in curves}
    drawn = ", ".join(f"{number} of {strategy}" for strategy, number in draws.items())
    criterion = f"tau is at least {settings.threshold:g} in {100 * settings.confidence:g}% of the draws"
    bold = (
        f"Bold: the smallest size from which on {criterion}."
        if any(curve.sufficient for _, curve in curves)
        else (f"For no size, and all larger ones, {criterion}.")
    )
    caption = text(
        "Mean weighted tau between the rankings by {} on samples of this many words and on {} ({}). {}",
        result.metric,
        Text((_reference(result),)),
        Text((drawn,)),
        Text((bold,)),
    )
    columns = (Column("test set"), Column("sampling"), *(Column(f"{size:,}", TAU) for size in sizes))
    return Table(columns, tuple(rows), name="sizes", caption=caption, labels=2, folded=True, detail=True)


def _notes(result: SizeStudy) -> Iterator[Note]:
    strategies = "; ".join(f"{name}: {STRATEGIES[name]}" for name in result.settings.strategies)
    yield Note(
        "Tau is Vigna's weighted Kendall's tau between two rankings (1: the same order), in which the top counts most. "
        f"Sampling: {strategies}. Bands hold the middle {100 * result.settings.confidence:g}% of the draws."
    )
    if any(point.aso for test_set in result.sets for curve in test_set.curves for point in curve.points):
        yield Note(
            "ASO differs: the share of ordered pairs of systems for which almost stochastic order over runs finds a "
            "better system (eps_min < 0.5) on the sample or on the data it is compared with, but not on both."
        )
    sizes = "; ".join(f"{words:,} words for {purpose}" for words, purpose in PUBLISHED.items())
    yield Note(f"Sizes that van der Goot et al. (2024) found sufficient: {sizes}.")
    for note in result.notes:
        yield Note(note)


def _figures(result: SizeStudy, test_set: SetSizes) -> Iterator[Figure]:
    name = slug("size", test_set.name)
    taus = tuple(curve for curve in map(_tau_curve, test_set.curves) if curve is not None)
    if taus:
        title = f"{test_set.name}: tau with the ranking on {_reference(result)}"
        plot = CurvePlot(
            taus, title, "words in the sample", "weighted Kendall's tau", log_x=True, target=result.settings.threshold
        )
        yield Figure(Drawing(name, plot))
    differing = tuple(curve for curve in map(_aso_curve, test_set.curves) if curve is not None)
    if differing:
        title = f"{test_set.name}: pairs of systems on which significance differs"
        plot = CurvePlot(differing, title, "words in the sample", "pairs in percent", log_x=True)
        yield Figure(Drawing(f"{name}-significance", plot))


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
