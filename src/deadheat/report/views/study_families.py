"""One corpus and part of a study: scores of systems over splits and seeds, and tests of every pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deadheat.charts.chart import Figure as Drawing
from deadheat.charts.chart import Plot
from deadheat.charts.comparisons import IntervalPlot, IntervalRow, PairCell, PairMatrix
from deadheat.charts.distributions import Sample, SplitRange, SplitRangePlot, ViolinPlot
from deadheat.report.model import (
    CIRCLE,
    DAGGER,
    DOUBLE_DAGGER,
    STAR,
    Block,
    Cell,
    Column,
    Content,
    Figure,
    Heading,
    Mark,
    Note,
    Paragraph,
    Shown,
    Table,
    Text,
    best_cells,
    interval,
    p_value,
    score,
    text,
)
from deadheat.report.words import correction_words, name_of_test
from deadheat.results.format import (
    COUNT,
    P_VALUE,
    Scale,
    interval_format,
    interval_name,
    points_format,
    score_format,
)
from deadheat.results.study import PairOverSplits, StudyBlock, StudyResult, SystemScores
from deadheat.results.verdict import State
from deadheat.text import slug

DRAWN = 3  # strategies with figures of their own
MATRIX = 40  # systems in a matrix
ROWS = 28  # pairs of a table that is not folded: all of eight systems


@dataclass(frozen=True, slots=True)
class Family:
    """Systems with the same first metric, on one part of one corpus: one block for each strategy."""

    result: StudyResult
    corpus: str
    part: str
    metric: str
    blocks: tuple[StudyBlock, ...]

    @property
    def metric_name(self) -> str:
        return self.result.metric_name(self.metric)

    @property
    def axis(self) -> str:
        return f"{self.metric_name}{self.result.scale.unit}"

    def title(self, about: str) -> str:
        """The title of a figure."""
        return f"{self.corpus}, {self.part}: {self.metric_name} {about}"

    def file(self, about: str, block: StudyBlock | None = None) -> str:
        """The name of a figure or table."""
        way = block.way if block is not None and len(self.blocks) > 1 else ""
        return slug("study", self.corpus, self.part, self.metric_name, about, way)


def families(result: StudyResult, corpus: str, part: str) -> list[Family]:
    """The systems on one part of one corpus, by the metric that they are compared by."""
    own = [block for block in result.blocks if (block.corpus, block.part) == (corpus, part)]
    by_metric: dict[str, list[StudyBlock]] = {}
    for block in own:
        for one in block.by_metric():
            by_metric.setdefault(one.metrics[0], []).append(one)
    return [Family(result, corpus, part, metric, tuple(blocks)) for metric, blocks in by_metric.items()]


def over(block: StudyBlock) -> str:
    """The splits of a block in words."""
    if block.splits == 1:
        return "on the standard split" if block.is_standard else f"on one split ({block.way})"
    return f"over {block.splits:,} splits ({block.way})"


def family_blocks(family: Family, *, folded: bool = False, detail: bool = False) -> Iterator[Block]:
    """Everything about one corpus, part and metric; strategies stand together."""
    result = family.result
    yield Heading(text("{}: {} on {}", family.corpus, family.metric_name, family.part), folded=folded, detail=detail)
    yield from _figures(family)
    for block in family.blocks:
        yield _score_table(family, block, detail=detail)
        if block.pairs:
            yield _pair_table(family, block, detail=detail)
        yield from _other_metrics(family, block)
    if family.part == result.parts[0]:
        drawn = [block for block in family.blocks if block.pairs and 3 <= len(block.ranked) <= MATRIX]
        for block in drawn[:DRAWN]:
            yield Figure(Drawing(family.file("pairs", block), _matrix(family, block)))
    if any(block.splits > 1 and block.pairs for block in family.blocks):
        yield Note(
            "The corrected resampled t-test (Nadeau and Bengio 2003) allows for the sentences that splits have in "
            "common."
        )
    if any(row.interval for block in family.blocks for row in block.ranked):
        yield Note(
            "Intervals on a single split are Wilson's, which treat words as independent; with several seeds, that of "
            "their mean."
        )
    if any(block.has_more_seeds and block.pairs for block in family.blocks):
        yield Note(
            "Tests on single splits compare the first seed of each system; means and tests over splits use all seeds."
        )
    for note in result.notes:
        if note.startswith(f"{family.part} "):
            yield Note(f"{note[:1].upper()}{note[1:]}.")


def _figures(family: Family) -> Iterator[Block]:
    """The standard split beside random ones, or distributions of runs, or intervals; and how to read them."""
    standard = next((block for block in family.blocks if block.is_standard), None)
    random = next((block for block in family.blocks if block.is_random), None)
    if standard is not None and random is not None:
        yield Paragraph(
            "The figure sets the score on the standard split beside those on random splits (means over seeds), as "
            "Gorman and "
            "Bedrick (2019) do. The spread of the dots is how much a score depends on which sentences are in train "
            "and test.",
            detail=True,
        )
        yield Figure(Drawing(family.file("splits"), _split_ranges(family, standard, random)))
        return
    for block in family.blocks[:DRAWN]:
        if any(row.runs > 1 for row in block.ranked):
            samples = tuple(Sample(row.system, _runs(family, row)) for row in block.ranked)
            plot: Plot = ViolinPlot(samples, family.title(over(block)), family.axis)
        else:
            plot = _intervals(family, block)
        yield Figure(Drawing(family.file("scores", block), plot))


def _runs(family: Family, row: SystemScores) -> tuple[float, ...]:
    """Scores of all runs, or of splits where those of runs are not kept."""
    values = [value for split in row.by_run for value in split] if row.by_run else row.by_split
    return tuple(family.result.scale.factor * value for value in values)


def _split_ranges(family: Family, standard: StudyBlock, random: StudyBlock) -> Plot:
    factor = family.result.scale.factor
    single = {row.system: row for row in standard.ranked}
    several = {row.system: row for row in random.ranked}
    rows = []
    for name in dict.fromkeys([*several, *single]):
        row, by_split = single.get(name), several[name].by_split if name in several else ()
        low, high = (factor * end for end in row.interval) if row is not None and row.interval else (None, None)
        mean = None if row is None else factor * row.mean
        rows.append(SplitRange(name, mean, low, high, tuple(factor * value for value in by_split)))
    title = family.title(f"on the standard split and on {random.splits:,} random ones")
    return SplitRangePlot(tuple(rows), title, family.axis)


def _intervals(family: Family, block: StudyBlock) -> Plot:
    scale = family.result.scale
    rows = []
    for row in block.ranked:
        low, high = row.interval or (row.min, row.max)
        note = str(text("{} {}", score(row.mean, scale), interval((low, high), scale)))
        mean, low, high = (scale.factor * value for value in (row.mean, low, high))
        rows.append(IntervalRow(row.system, mean, low, high, note))
    return IntervalPlot(tuple(rows), family.title(over(block)), family.axis)


def _matrix(family: Family, block: StudyBlock) -> Plot:
    result = family.result
    factor, points = result.scale.factor, ", in points" if result.scale.is_percent else ""
    cells = tuple(
        PairCell(
            pair.a,
            pair.b,
            factor * pair.overall.difference,
            pair.overall.p_corrected,
            pair.state(result.alpha) in (State.SHOWN, State.OPPOSITE),
            f"{_outcome(pair, result.alpha).value}, {p_value(pair.overall.p_corrected)}",
        )
        for pair in block.pairs
    )
    title = family.title(f"differences {over(block)}, row minus column")
    systems = tuple(row.system for row in block.ranked)
    return PairMatrix(systems, cells, title, f"difference in {family.metric_name}{points}")


def _score_table(family: Family, block: StudyBlock, *, detail: bool) -> Table:
    """Means, intervals or ranges, and the means of the other metrics."""
    result, ranked = family.result, block.ranked
    scale, form = result.scale, score_format(result.scale)
    single = block.splits == 1 and any(row.interval for row in ranked)
    several = any(row.runs > 1 for row in block.systems)
    others = block.metrics[1:]
    best = best_cells([row.mean for row in ranked], form, marks=_marks(block, result.alpha))
    rows: list[tuple[Content, ...]] = []
    for row, cell in zip(ranked, best, strict=True):
        spread = row.interval if single else value_range(row, scale)
        besides = [block.scores(row.system, metric) for metric in others]
        rows.append(
            (
                row.system,
                cell,
                spread,
                *((row.sd, row.runs) if several else ()),
                *(None if scores is None else scores.mean for scores in besides),
            )
        )
    columns = (
        Column("system"),
        Column(family.metric_name, form),
        Column("95% CI" if single else "min-max", interval_format(scale)),
        *((Column("SD", form), Column("runs", COUNT)) if several else ()),
        *(Column(result.metric_name(metric), form) for metric in others),
    )
    means = [*(["splits"] if block.splits > 1 else []), *(["seeds"] if block.has_more_seeds else [])]
    what = f"means over {' and '.join(means)}" if means else "scores"
    caption = f"{family.corpus}, {family.part}, {over(block)}: {what}{scale.unit}."
    tested = f" ({test_words(result, block)})" if block.pairs else ""
    marks = (
        Mark(DAGGER, f"not shown to differ from the best{tested}"),
        Mark(DOUBLE_DAGGER, f"too few {_units(block)} to show a difference from the best{tested}"),
        Mark(STAR, f"shown to be better than the system with the best score{tested}"),
        Mark(CIRCLE, "not tested against the best"),
    )
    name = slug("study", block.corpus, block.strategy, block.part, _only_metric(family))
    return Table(columns, tuple(rows), name, caption, marks, detail=detail)


def value_range(row: SystemScores, scale: Scale) -> Text | None:
    """The lowest and the highest score of a system."""
    return text("{} to {}", score(row.min, scale), score(row.max, scale)) if row.runs else None


def _only_metric(family: Family) -> str:
    """The name of the metric, where tables of one part differ in it."""
    return family.metric_name if len(families(family.result, family.corpus, family.part)) > 1 else ""


def _units(block: StudyBlock) -> str:
    return "splits" if block.splits > 1 else f"{block.pairs[0].unit}s" if block.pairs else "sentences"


def _marks(block: StudyBlock, alpha: float) -> list[str]:
    """How each system stands to the best one."""
    best = block.ranked[0].system
    states = {}
    for pair in block.pairs:
        if best in (pair.a, pair.b):
            state = pair.state(alpha)
            if pair.b == best:
                state = {State.SHOWN: State.OPPOSITE, State.OPPOSITE: State.SHOWN}.get(state, state)
            states[pair.b if pair.a == best else pair.a] = state
    symbols = {State.NOT_SHOWN: DAGGER, State.TOO_FEW: DOUBLE_DAGGER, State.OPPOSITE: STAR, State.SHOWN: ""}
    untested = CIRCLE if block.pairs else ""
    return ["", *(symbols[states[row.system]] if row.system in states else untested for row in block.ranked[1:])]


def test_words(result: StudyResult, block: StudyBlock) -> str:
    """Which test the outcomes of a block are by, and how it was corrected."""
    test = "corrected resampled t-test over splits"
    if block.splits == 1:
        test = _split_test(block)
    corrected = correction_words(result.correction, len(block.pairs), noun="pair")
    return f"{test}, p-values {corrected}, alpha {result.alpha:g}"


def _split_test(block: StudyBlock) -> str:
    tests = "/".join(dict.fromkeys(test for pair in block.pairs for test in pair.test.split("/")))
    return f"{name_of_test(tests)} on {block.pairs[0].unit}s"


def _pair_table(family: Family, block: StudyBlock, *, detail: bool) -> Table:
    result, several = family.result, block.splits > 1
    scale = result.scale
    columns = [Column("pair"), Column("difference", points_format(scale))]
    columns += [Column(interval_name(result.alpha), interval_format(scale, signed=True))] if several else []
    columns += [Column("p", P_VALUE), Column(f"p ({result.correction})", P_VALUE), Column("outcome")]
    columns += (
        [*map(Column, ("ahead", "better", "worse")), Column("min p", P_VALUE), Column("max p", P_VALUE)]
        if several
        else []
    )
    rows: list[tuple[Content, ...]] = []
    for pair in block.pairs:
        test = pair.overall
        row: list[Content] = [text("{} - {}", pair.a, pair.b), test.difference]
        row += [(test.low, test.high)] if several else []
        row += [test.p, test.p_corrected, _outcome(pair, result.alpha)]
        if several:
            row.append(_of(test.ahead, test.splits))
            row += [_of(number, pair.splits) for number in (pair.significant, pair.reversed)]
            row += [min(pair.p), max(pair.p)]
        rows.append(tuple(row))
    points = " in points" if scale.is_percent else ""
    caption = f"{family.corpus}, {family.part}: differences in {family.metric_name}{points}, first minus second; "
    caption += f"{test_words(result, block)}."
    if several:
        corrected = correction_words(result.correction, block.splits, noun="split")
        caption += (
            " Better, worse: splits on which the first system is significantly better or worse "
            f"({_split_test(block)}, p-values {corrected}). Min p, max p: of these tests, before correction."
        )
    name = slug("study-pairs", block.corpus, block.strategy, block.part, _only_metric(family))
    return Table(tuple(columns), tuple(rows), name, caption, folded=len(rows) > ROWS, detail=detail)


def _of(number: int, total: int) -> Text:
    return text("{} of {}", Shown(number, COUNT), Shown(total, COUNT))


def _outcome(pair: PairOverSplits, alpha: float) -> Cell:
    """What all splits together say of a pair, in words."""
    state = pair.state(alpha)
    if state in (State.SHOWN, State.OPPOSITE):
        return Cell(text("{} is better", pair.a if state is State.SHOWN else pair.b), tone="good")
    return Cell(state.value, tone="muted")


def _other_metrics(family: Family, block: StudyBlock) -> Iterator[Table]:
    """The other metrics of the same systems, with their ranges."""
    others: Sequence[str] = block.metrics[1:]
    if not others or all(row.runs <= 1 for row in block.systems):
        return
    rows: list[tuple[Content, ...]] = []
    for row in block.ranked:
        cells: list[Content] = [row.system]
        for scores in (block.scores(row.system, metric) for metric in others):
            cells += [None, None] if scores is None else [scores.mean, value_range(scores, family.result.scale)]
        rows.append(tuple(cells))
    scale = family.result.scale
    columns = [Column("system")]
    for metric in others:
        columns += [
            Column(family.result.metric_name(metric), score_format(scale)),
            Column("min-max", interval_format(scale)),
        ]
    caption = f"Other metrics {over(block)}."
    yield Table(tuple(columns), tuple(rows), caption=caption, folded=True, detail=True)
