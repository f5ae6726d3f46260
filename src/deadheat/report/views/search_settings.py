"""The settings of a search: how far their scores lie apart, and the scores of every one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from deadheat.charts.chart import Figure as Drawing
from deadheat.charts.distributions import Strip, StripPlot
from deadheat.report.model import (
    Block,
    Column,
    Content,
    Figure,
    Heading,
    Note,
    Paragraph,
    Shown,
    Table,
    Text,
    count,
    text,
)
from deadheat.results.format import COUNT, SHARE, number_format, score_format
from deadheat.results.search import DEV, TEST, SearchDataset, SearchResult, SettingScores
from deadheat.text import slug

STRIPS = 40  # rows of a figure
ROWS = 40  # of a table that is not folded
LISTED = 3000  # settings of all data sets together that are listed one by one


def settings_text(settings: Mapping[str, str]) -> str:
    """Settings with their values: `epochs=4, order=2`."""
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def spread_blocks(result: SearchResult) -> Iterator[Block]:
    """How settings are spread on dev, and on test where all were tested."""
    tested = result.all_tested
    rows: list[tuple[Content, ...]] = []
    for dataset in result.datasets:
        for scores in dataset.scores:
            if not scores.dev:
                continue
            row: list[Content] = [dataset.name, scores.setup, len(scores.dev), *_spread(scores.dev), scores.wins_again]
            if tested:
                best = None if scores.best_on_test is None else "yes" if scores.best_on_test else "no"
                row += [*_spread(scores.test), scores.wins_test, best, scores.rho]
            rows.append(tuple(row))
    form = score_format(result.scale)
    columns = [Column("data set"), Column("epochs by"), Column("settings", COUNT)]
    columns += [*(Column(f"dev {name}", form) for name in ("min", "median", "max")), Column("wins again", SHARE)]
    if tested:
        columns += [*(Column(f"test {name}", form) for name in ("min", "median", "max")), Column("wins on test", SHARE)]
        columns += [Column("best on test"), Column("rho", number_format(2))]
    yield Heading(text("{}: how far settings lie apart", result.system))
    yield Paragraph(
        "Each dot is one setting, the mean of its seeds; the diamond is the winner. Where dots lie close together, the "
        "winner is a matter of chance.",
        detail=True,
    )
    shown = sum(bool(scores.dev) for dataset in result.datasets for scores in dataset.scores)
    if shown > STRIPS:
        yield Paragraph(
            text("The figure has the first {} of {}.", Shown(STRIPS, COUNT), count(shown, "row")), detail=True
        )
    for part in (DEV, TEST) if tested else (DEV,):
        yield Figure(Drawing(slug("search", result.system, part), _strips(result, part)))
    caption = text("{}{} of all settings.", result.metric_name, Text((result.scale.unit,)))
    yield Table(tuple(columns), tuple(rows), caption=caption, labels=2, folded=len(rows) > ROWS)
    yield Note(
        text(
            "Wins again: probability that another sample of sentences of {} picks the same settings.",
            result.selected_on,
        ),
        detail=False,
    )
    if tested:
        yield Note(
            "Wins on test: probability that the settings that win are also the best on test, both parts resampled. "
            "Best on "
            "test: whether they are on the data at hand. rho: Spearman's correlation of dev and test over settings."
        )


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    return min(values), median(values), max(values)


def _strips(result: SearchResult, part: str) -> StripPlot:
    labels = [settings_text(candidate.settings) for candidate in result.candidates]
    strips = []
    for dataset in result.datasets:
        for scores in dataset.scores:
            values = scores.dev if part == DEV else scores.test
            if values:
                name = f"{dataset.name}, by {scores.setup}" if len(result.setups) > 1 else dataset.name
                scaled = tuple(result.scale.factor * value for value in values)
                chosen = tuple(labels[number] for number in scores.candidates)
                strips.append(Strip(name, scaled, chosen, _winning_index(result, dataset, scores)))
    title = f"{result.system}: settings on {part}, and the one that won on {result.selected_on}"
    return StripPlot(tuple(strips[:STRIPS]), title, f"{result.metric_name}{result.scale.unit}")


def _winning_index(result: SearchResult, dataset: SearchDataset, scores: SettingScores) -> int | None:
    winner = dataset.winner(scores.setup)
    systems = [result.candidates[number].system for number in scores.candidates]
    return systems.index(winner.system) if winner is not None and winner.system in systems else None


def setting_blocks(result: SearchResult) -> Iterator[Block]:
    """A folded table of every setting for each data set."""
    tables, listed = [], 0
    for dataset in result.datasets:
        table = _settings_table(result, dataset)
        if table.rows and listed + len(table.rows) <= LISTED:
            tables.append(table)
            listed += len(table.rows)
    if not tables:
        return
    yield Heading(text("{}: every setting", result.system), detail=True)
    yield Paragraph(
        text("Scores of {}, each the mean of its seeds.", count(len(result.candidates), "setting")), detail=True
    )
    if len(tables) < len(result.datasets):
        some, all_sets = Shown(len(tables), COUNT), count(len(result.datasets), "data set")
        yield Paragraph(text("Listed for {} of {}.", some, all_sets), detail=True)
    yield from tables


def _settings_table(result: SearchResult, dataset: SearchDataset) -> Table:
    parts, several = (DEV, TEST) if result.all_tested else (DEV,), len(result.setups) > 1
    values: dict[int, dict[tuple[str, str], float]] = {}
    for scores in dataset.scores:
        for part in parts:
            for number, value in zip(scores.candidates, scores.dev if part == DEV else scores.test, strict=True):
                values.setdefault(number, {})[part, scores.setup] = value
    columns = [(part, setup) for part in parts for setup in result.setups]
    rows: list[tuple[Content, ...]] = []
    for number, by_column in sorted(values.items(), key=lambda item: -max(item[1].values())):
        candidate = result.candidates[number]
        won = [winner.setup for winner in dataset.winners if winner.system == candidate.system]
        mark = ", ".join(won) if several else "yes" if won else ""
        settings = [candidate.settings[name] for name in result.varied]
        rows.append((*settings, *(by_column.get(column) for column in columns), mark))
    form = score_format(result.scale)
    headings = [f"{part}, {setup}" if several else part for part, setup in columns]
    table = (
        *(Column(name) for name in result.varied),
        *(Column(heading, form) for heading in headings),
        Column("won, epochs by" if several else "won"),
    )
    caption = text("{}: every setting, {}{}.", dataset.name, result.metric_name, Text((result.scale.unit,)))
    return Table(table, tuple(rows), caption=caption, labels=len(result.varied), folded=True, detail=True)
