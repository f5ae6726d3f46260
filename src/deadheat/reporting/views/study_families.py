"""One corpus and part of a study: scores of systems over splits and seeds, and tests of every pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deadheat.charts.chart import Plot
from deadheat.charts.comparisons import IntervalPlot, IntervalRow, PairCell, PairMatrix
from deadheat.charts.distributions import Sample, SplitRange, SplitRangePlot, ViolinPlot
from deadheat.reporting import model as m
from deadheat.reporting.verdict import MARKS, mark_meanings, outcome_cell
from deadheat.results.format import COUNT, NAME, P_VALUE, Scale, correction_words, interval_name, name_of_test
from deadheat.results.oracle import oracle_row
from deadheat.results.study import PairOverSplits, StudyBlock, StudyResult, SystemScores
from deadheat.results.verdict import opposite
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
        split = block.split_label if block is not None and len(self.blocks) > 1 else ""
        return slug("study", self.corpus, self.part, self.metric_name, about, split)


def families(result: StudyResult, corpus: str, part: str) -> list[Family]:
    """The systems on one part of one corpus, by the metric that they are compared by."""
    by_metric: dict[str, list[StudyBlock]] = {}
    for block in result.blocks:
        if (block.corpus, block.part) == (corpus, part):
            for systems in block.by_metric():
                by_metric.setdefault(systems.metrics[0], []).append(systems)
    return [Family(result, corpus, part, metric, tuple(blocks)) for metric, blocks in by_metric.items()]


def over(block: StudyBlock) -> str:
    """The splits of a block in words."""
    if block.splits == 1:
        return "on the standard split" if block.is_standard else f"on one split ({block.split_label})"
    return f"over {block.splits:,} splits ({block.split_label})"


def family_blocks(family: Family, *, folded: bool = False, detail: bool = False) -> Iterator[m.Block]:
    """Everything about one corpus, part and metric; strategies stand together."""
    heading = m.text("{}: {} on {}", family.corpus, family.metric_name, family.part)
    yield m.Heading(heading, folded=folded, detail=detail)
    yield from _figures(family)
    for block in family.blocks:
        yield _score_table(family, block, detail=detail)
        if block.pairs:
            yield _pair_table(family, block, detail=detail)
        yield from _other_metrics(family, block)
    if family.part == family.result.parts[0]:
        drawn = [block for block in family.blocks if block.pairs and 3 <= len(block.ranked) <= MATRIX]
        for block in drawn[:DRAWN]:
            yield m.figure(family.file("pairs", block), _matrix(family, block))
    if any(block.splits > 1 and block.pairs for block in family.blocks):
        yield m.Note(
            "The corrected resampled t-test (Nadeau and Bengio 2003) allows for the sentences that splits have in "
            "common. Where documents are marked and were split up, the error over documents is used if it is greater."
        )


def _figures(family: Family) -> Iterator[m.Block]:
    """The standard split beside random ones, or distributions of runs, or intervals; and how to read them."""
    standard = next((block for block in family.blocks if block.is_standard), None)
    random = next((block for block in family.blocks if block.is_random), None)
    if standard is not None and random is not None:
        yield m.explanation(
            "The figure sets the score on the standard split beside those on random splits (means over seeds), as "
            "Gorman and Bedrick (2019) do. The spread of the dots is how much a score depends on which sentences are "
            "in train and test."
        )
        yield m.figure(family.file("splits"), _split_ranges(family, standard, random))
        return
    for block in family.blocks[:DRAWN]:
        if any(row.runs > 1 for row in block.ranked):
            samples = tuple(Sample(row.system, _runs(family, row)) for row in block.ranked)
            plot: Plot = ViolinPlot(samples, family.title(over(block)), family.axis)
        else:
            plot = _intervals(family, block)
        yield m.figure(family.file("scores", block), plot)


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
    oracles = oracle_row(standard), oracle_row(random)
    if oracles[0] is not None and oracles[1] is not None:
        dots = tuple(factor * value for value in oracles[1].by_split)
        rows.append(SplitRange(oracles[0].system, factor * oracles[0].mean, None, None, dots))
    title = family.title(f"on the standard split and on {random.splits:,} random ones")
    return SplitRangePlot(tuple(rows), title, family.axis)


def _intervals(family: Family, block: StudyBlock) -> Plot:
    scale = family.result.scale
    rows = []
    for row in block.ranked:
        low, high = row.interval or (row.min, row.max)
        note = str(m.text("{} {}", m.score(row.mean, scale), m.interval((low, high), scale)))
        mean, low, high = (scale.factor * value for value in (row.mean, low, high))
        rows.append(IntervalRow(row.system, mean, low, high, note))
    return IntervalPlot(tuple(rows), family.title(over(block)), family.axis)


def _matrix(family: Family, block: StudyBlock) -> Plot:
    alpha, scale = family.result.alpha, family.result.scale
    cells = []
    for pair in block.pairs:
        gap, p = scale.factor * pair.overall.difference, pair.overall.p_corrected
        words = f"{_outcome(pair, alpha).value}, {m.p_value(p)}"
        cells.append(PairCell(pair.a, pair.b, gap, p, bool(pair.winner(alpha)), words))
    title = family.title(f"differences {over(block)}, row minus column")
    systems = tuple(row.system for row in block.ranked)
    return PairMatrix(systems, tuple(cells), title, f"difference in {family.metric_name}{scale.in_points}")


def _score_table(family: Family, block: StudyBlock, *, detail: bool) -> m.Table:
    """Means, intervals or ranges, and the means of the other metrics."""
    result, ranked = family.result, block.ranked
    scale, form, others = result.scale, result.scale.score, block.metrics[1:]
    single = block.splits == 1 and any(row.interval for row in ranked)
    several = any(row.runs > 1 for row in block.systems)
    best = m.best_cells([row.mean for row in ranked], form, marks=_marks(block, result.alpha))
    rows: list[m.Row] = []
    for row, cell in zip(ranked, best, strict=True):
        spread = row.interval if single else _value_range(row, scale)
        other_scores = (block.scores(row.system, metric) for metric in others)
        other_means = (None if scores is None else scores.mean for scores in other_scores)
        rows.append((row.system, cell, spread, row.sd, row.runs, *other_means))
    oracle = oracle_row(block)
    if oracle is not None:
        spread = None if single else _value_range(oracle, scale)
        rows.append((oracle.system, oracle.mean, spread, oracle.sd, oracle.runs, *[None] * len(others)))
    columns = [m.Column("system"), m.Column(family.metric_name, form)]
    columns += [m.Column("95% CI" if single else "min-max", scale.interval), m.Column("SD" if several else "", form)]
    columns += [m.Column("runs" if several else "", COUNT), *m.columns(form, *map(result.metric_name, others))]
    means = [*(["splits"] if block.splits > 1 else []), *(["seeds"] if block.has_more_seeds else [])]
    what = f"means over {' and '.join(means)}" if means else "scores"
    caption = f"{family.corpus}, {family.part}, {over(block)}: {what}{scale.unit}."
    caption += " Oracle: right wherever some system (first seed) is right." if oracle is not None else ""
    test = f" ({_test_words(result, block)})" if block.pairs else ""
    units = "splits" if block.splits > 1 else f"{block.pairs[0].unit}s" if block.pairs else "sentences"
    name = slug("study", block.corpus, block.strategy, block.part, _only_metric(family))
    return m.Table(columns, rows, name, caption, mark_meanings(test, units), detail=detail).without_unnamed()


def _value_range(row: SystemScores, scale: Scale) -> m.Text | None:
    """The lowest and the highest score of a system."""
    return m.text("{} to {}", m.score(row.min, scale), m.score(row.max, scale)) if row.runs else None


def _only_metric(family: Family) -> str:
    """The name of the metric, where tables of one part differ in it."""
    return family.metric_name if len(families(family.result, family.corpus, family.part)) > 1 else ""


def _marks(block: StudyBlock, alpha: float) -> list[str]:
    """How each system stands to the best one."""
    if not block.pairs:
        return [""] * len(block.ranked)
    best = block.ranked[0].system
    marks = {best: ""}
    for pair in block.pairs:
        if pair.a == best:
            marks[pair.b] = MARKS[pair.state(alpha)]
        elif pair.b == best:
            marks[pair.a] = MARKS[opposite(pair.state(alpha))]
    return [marks.get(row.system, m.CIRCLE) for row in block.ranked]


def _test_words(result: StudyResult, block: StudyBlock) -> str:
    """Which test the outcomes of a block are by, and how it was corrected."""
    test = "corrected resampled t-test over splits" if block.splits > 1 else _split_test(block)
    corrected = correction_words(result.correction, pairs_corrected_together(result, block), noun="pair")
    return f"{test}, p-values {corrected}, alpha {result.alpha:g}"


def pairs_corrected_together(result: StudyResult, block: StudyBlock) -> int:
    """Pairs on all corpora that are corrected together; on a single corpus, a planned pair is tested alone."""
    alike = [other for other in result.blocks if (other.part, other.split_label) == (block.part, block.split_label)]
    pairs = [pair for other in alike for pair in other.pairs if other.first_metrics()[pair.a] == block.metrics[0]]
    planned = [{claim.better, claim.worse} for claim in result.verdict.claims if claim.is_planned]
    if len(result.corpus_names) > 1:
        return len(pairs)
    return sum({pair.a, pair.b} not in planned for pair in pairs) or 1


def _split_test(block: StudyBlock) -> str:
    tests = "/".join(dict.fromkeys(test for pair in block.pairs for test in pair.test.split("/")))
    return f"{name_of_test(tests)} on {block.pairs[0].unit}s"


def _pair_table(family: Family, block: StudyBlock, *, detail: bool) -> m.Table:
    result, several = family.result, block.splits > 1
    scale = result.scale
    columns = [m.Column("pair"), m.Column("difference", scale.difference)]
    columns.append(m.Column(interval_name(result.alpha), scale.difference_interval))
    columns += [*m.columns(P_VALUE, "p", f"p ({result.correction})"), m.Column("outcome")]
    columns += [*m.columns(NAME, "ahead", "better", "worse"), *m.columns(P_VALUE, "min p", "max p")] if several else []
    rows: list[m.Row] = []
    for pair in block.pairs:
        test, over_splits = pair.overall, list[m.Content]()
        if several:
            counts = (test.ahead, test.splits), (pair.significant, pair.splits), (pair.reversed, pair.splits)
            over_splits = [*(m.text("{} of {}", *numbers) for numbers in counts), min(pair.p), max(pair.p)]
        tested = (test.low, test.high), test.p, test.p_corrected, _outcome(pair, result.alpha)
        rows.append((m.text("{} - {}", pair.a, pair.b), test.difference, *tested, *over_splits))
    points = " in points" if scale.is_percent else ""
    caption = f"{family.corpus}, {family.part}: differences in {family.metric_name}{points}, first minus second; "
    caption += f"{_test_words(result, block)}."
    if several:
        corrected = correction_words(result.correction, block.splits, noun="split")
        caption += (
            " Better, worse: splits on which the first system is significantly better or worse "
            f"({_split_test(block)}, p-values {corrected}). Min p, max p: of these tests, before correction."
        )
    name = slug("study-pairs", block.corpus, block.strategy, block.part, _only_metric(family))
    return m.Table(columns, rows, name, caption, folded=len(rows) > ROWS, detail=detail).without_unnamed()


def _outcome(pair: PairOverSplits, alpha: float) -> m.Cell:
    return outcome_cell(pair.winner(alpha), pair.state(alpha))


def _other_metrics(family: Family, block: StudyBlock) -> Iterator[m.Table]:
    """The other metrics of the same systems, with their ranges."""
    others, scale = block.metrics[1:], family.result.scale
    if not others or all(row.runs <= 1 for row in block.systems):
        return
    rows: list[m.Row] = []
    for row in block.ranked:
        cells: list[m.Content] = [row.system]
        for scores in (block.scores(row.system, metric) for metric in others):
            cells += [None, None] if scores is None else [scores.mean, _value_range(scores, scale)]
        rows.append(cells)
    columns = [m.Column("system")]
    for metric in others:
        columns += [m.Column(family.result.metric_name(metric), scale.score), m.Column("min-max", scale.interval)]
    caption = f"{family.corpus}, {family.part}: other metrics {over(block)}."
    yield m.Table(columns, rows, caption=caption, folded=True, detail=True)
